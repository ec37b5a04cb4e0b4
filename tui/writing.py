"""Small text files written whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path


def write_text(target: Path, text: str) -> str:
    """Write `text` to `target`; gives "" or one sentence that says why it was not."""
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return f"{target} was not written: {why}."
    finally:
        with suppress(OSError):
            part.unlink()
    return ""
