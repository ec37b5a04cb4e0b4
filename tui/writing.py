"""Small text files written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_text(target: Path, text: str) -> str:
    """Write `text` to `target`; gives "" or why it was not written.

    Through a symbolic link the file behind it is replaced, and the link stays.
    """
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(os.path.realpath(target))
    except UnicodeEncodeError:
        return "a name in it is no text"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    finally:
        with suppress(OSError):
            part.unlink()
    return ""
