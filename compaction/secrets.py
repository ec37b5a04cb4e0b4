"""Secrets in text: API keys, tokens, passwords, private keys, masked where they would be copied."""

from __future__ import annotations

import re
from typing import NamedTuple


class Masked(NamedTuple):
    """`text` with every secret replaced; `kinds` names each one found, in order of the text."""

    text: str
    kinds: tuple[str, ...]


# Every pattern starts at a literal or at the edge of a word and repeats one bounded or disjoint
# class, so that matching is linear whatever the text.
_SHAPES: tuple[tuple[str, str], ...] = (
    (
        "private_key",
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----).){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
    ),
    (
        "api_key",
        (
            r"(?<![A-Za-z0-9])(?:sk-(?:ant-|proj-|or-|test-|live-|svcacct-)?[A-Za-z0-9_-]{16,200}"
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,100}|AIza[A-Za-z0-9_-]{30,50}"
            r"|gsk_[A-Za-z0-9]{20,100}|xai-[A-Za-z0-9]{20,120}"
            r"|SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80})"
        ),
    ),
    (
        "token",
        (
            r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}"
            r"|glpat-[A-Za-z0-9_-]{16,64}|xox[abeprs]-[A-Za-z0-9-]{10,200}|xapp-[A-Za-z0-9-]{10,200}"
            r"|hf_[A-Za-z0-9]{20,64}|npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{40,300}"
            r"|dop_v1_[a-f0-9]{40,80}"
            r"|eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{8,2000})"
        ),
    ),
    ("access_key", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (
        "bearer",
        (
            r"(?<![A-Za-z])(?i:bearer|basic)["
            r" \t]{1,4}(?P<bearer_value>[A-Za-z0-9+/_.~-]{16,4000}={0,2})"
        ),
    ),
    ("login", r"://[^\s/:@'\"<>]{0,100}:(?P<login_value>[^\s/:@'\"<>\[]{1,200})@"),
    (
        "password",
        (
            r"(?<![A-Za-z0-9])(?i:[A-Za-z0-9_.-]{0,40}?(?:passwo?r?d|passwd|pwd|passphrase|secret"
            r"|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token"
            r"|private[_-]?key|credentials?)(?:[_-][A-Za-z0-9_]{1,20})?)['\"]{0,2}[ \t]{0,3}(?::="
            r"|=>|=|:)[ \t]{0,3}"
            r"['\"]{0,2}(?P<password_value>(?![\[<${(*]|(?i:none|null|true|false|undefined|str|string|bool|int|optional|"
            r"your|changeme|process\.|os\.|env\.|self\.|config\.|settings\.)(?![A-Za-z0-9]*\d))"
            r"[^\s'\"`,;&<>(){}\[\]|]{4,400})"
        ),
    ),
)
_SECRET = re.compile("|".join(f"(?P<{kind}>{shape})" for kind, shape in _SHAPES), re.DOTALL)

# What a text must hold (in small letters) to hold any secret: all shapes above need one of these.
_HINTS = (
    "-----begin", "sk-", "sk_", "rk_", "aiza", "gsk_", "xai-", "sg.", "ghp_", "gho_", "ghu_",
    "ghs_", "ghr_", "github_pat", "glpat", "xox", "xapp", "hf_", "npm_", "pypi-", "dop_v1", "eyj",
    "akia", "asia", "://", "bearer", "basic", "passw", "passphrase", "pwd", "secret", "key",
    "token", "credential",
)  # fmt: skip

_SHOWN = {
    "private_key": "private key",
    "api_key": "API key",
    "token": "token",
    "access_key": "access key",
    "bearer": "token",
    "login": "password",
    "password": "password",
}


def mask(text: str) -> Masked:
    """`text` with what looks like a secret replaced by `[masked …]`, the name before it kept.

    Masking a masked text changes nothing.
    """
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return Masked(text, ())
    kinds: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        kind = kind.removesuffix("_value")
        shown = _SHOWN[kind]
        start, end = match.span()
        if kind in {"bearer", "login", "password"}:
            inner, stop = match.span(f"{kind}_value")
            if kind == "password" and _plain(match[f"{kind}_value"], match[0]):
                return match[0]
            kinds.append(shown)
            whole = match[0]
            return f"{whole[: inner - start]}[masked {shown}]{whole[stop - start : end - start]}"
        kinds.append(shown)
        return f"[masked {shown}]"

    return Masked(_SECRET.sub(replaced, text), tuple(kinds))


_NAME = re.compile(r"[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]+)*\.?\Z")


def _plain(value: str, whole: str) -> bool:
    """Whether `value` after a telling name is a word of prose or code, not a secret.

    After `password` any value counts when the name stands directly before it (`password=hunter`);
    after a colon and a space a plain word is prose ("the secret: patience").
    """
    if not _NAME.match(value):
        return False
    name = whole[: whole.rfind(value)]
    if name[-1:] in {"'", '"'} and "pass" in name.lower() and "." not in value:
        return False
    return not name.rstrip("'\"").endswith("=") or " =" in name or "." in value


_MASKED = re.compile(r"\[masked (private key|API key|token|access key|password)\]")


def masked_kinds(text: str) -> tuple[str, ...]:
    """The kinds of the secrets that stand masked in `text`, in order."""
    return tuple(_MASKED.findall(text)) if "[masked " in text else ()
