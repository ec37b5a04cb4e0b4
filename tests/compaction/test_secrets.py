"""Secrets are masked, ordinary text is not, and masking happens once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.secrets import mask, masked_kinds

# Joined here so that no scanner takes the test for a leak.
KEY = "sk-" + "a1B2" * 8
HUB = "ghp_" + "0" * 36
AWS = "AKIA" + "0" * 16


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"CARRIER_KEY={KEY}", "CARRIER_KEY=[masked API key]"),
        (f"use {HUB} now", "use [masked token] now"),
        (f"({AWS})", "([masked access key])"),
        ("password=hunter2 ok", "password=[masked password] ok"),
        ('{"db_password": "tr0ub4dor"}', '{"db_password": "[masked password]"}'),
        ("postgres://me:s3cret@db/x", "postgres://me:[masked password]@db/x"),
        ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [masked token]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
            "[masked private key]\nafter",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "[masked private key]"),
    ],
)
def test_secrets_are_masked_and_their_names_kept(text: str, masked: str) -> None:
    result = mask(text)
    assert result.text == masked
    assert len(result.kinds) == 1
    assert masked_kinds(result.text) == result.kinds


@pytest.mark.parametrize(
    "text",
    [
        "the secret: patience",
        "api_key = os.environ['KEY']",
        "password: str",
        "max_tokens=1024",
        "tokens: 12,345",
        "https://example.org:8080/a@b",
        "def login(password: Optional[str] = None)",
        "commit 3f2a9c1e5b7d4860a1c2e3f405162738495a6b7c",
        "password = <your password>",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask(text) == (text, ())


@given(
    st.lists(
        st.sampled_from(
            [KEY, HUB, "password=hunter2", "pwd: ", "'", '"', " ", "x", "://", "@", ":"]
        )
    )
)
def test_masking_twice_changes_nothing(pieces: list[str]) -> None:
    once = mask("".join(pieces)).text
    assert mask(once).text == once


@pytest.mark.parametrize(
    "text",
    ["password" * 50_000, "eyJ" * 100_000, "-----BEGIN PRIVATE KEY-----" * 10_000, "a_" * 200_000],
)
def test_hostile_text_is_one_pass(text: str) -> None:
    mask(text)
