"""JSON that is the text of a JSON string: encoded twice by the tool that saved it."""

from __future__ import annotations

from compaction.formats import exact
from compaction.messages import Source


def unquoted(source: Source) -> Source | None:
    """The document in a file that is one JSON string; None when it is none."""
    try:
        text = exact.loads(source.data)
    except exact.ExactError:
        return None
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return None
    return Source(text.encode("utf-8", "replace"), source.name, source.path)
