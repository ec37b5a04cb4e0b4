"""Which of the conversations in a file is meant."""

from __future__ import annotations

from collections.abc import Sequence

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.messages import Conversation, Source


def chosen(
    conversations: Sequence[Conversation], asked: str | None, source: Source, *, default: int = 0
) -> tuple[int, tuple[Finding, ...]]:
    """The index of the conversation with the id or number (from 1) `asked`, else `default`.

    The finding says that there are others. Raises SessionError when there is none such.
    """
    from compaction.formats.recognising import called

    count = len(conversations)
    if asked is not None:
        for index, one in enumerate(conversations):
            if asked in (one.id, str(index + 1)):
                return index, ()
        raise SessionError(
            f"{called(source)} has no conversation {asked!r}: it has {count:,}, numbered from 1."
        )
    if count < 2:
        return default, ()
    which = "the first" if not default else "the last" if default == count - 1 else "one"
    told = Finding(
        "warning",
        "several-conversations",
        f"The file holds {count:,} conversations; {which} is shown, the others stay as they are.",
        remedy="choose another one by its number or id",
    )
    return default, (told,)
