"""What options mean before the engine sees them."""

from __future__ import annotations

import click
import pytest

from tui.cli_options import KeepRecent, Settings, Tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("120k", 120_000),
        ("1.2M", 1_200_000),
        ("100_000", 100_000),
        ("100,000", 100_000),
        ("7", 7),
        (".5k", 500),
        (900, 900),
    ],
)
def test_budgets(text: str | int, tokens: int) -> None:
    assert Tokens().convert(text, None, None) == tokens


@pytest.mark.parametrize("text", ["", "k", "12x", "1e9", "-1", "0", "0.0001k", "50%", "NaN", "inf"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Tokens().convert(text, None, None)


def test_keep_recent_is_a_number_or_a_fraction() -> None:
    convert = KeepRecent().convert
    assert convert("20", None, None) == 20
    assert convert("0", None, None) == 0
    assert convert("1.5k", None, None) == 1500
    assert convert("0.3", None, None) == 0.3
    assert isinstance(convert("1.0", None, None), float)
    for wrong in ("1.5", "-3", "some"):
        with pytest.raises(click.BadParameter):
            convert(wrong, None, None)


def test_settings_take_what_a_command_offers() -> None:
    settings = Settings.of({"session": "s.json", "budget": 5, "brief": True, "pins": (3, 1)})
    assert settings == Settings(session="s.json", budget=5, pins=(3, 1))
    assert settings.history == "live"
