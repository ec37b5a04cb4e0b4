"""OpenHands runs: logs of events, of which the view that the model is sent is folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compaction.formats import openhands_reading as reading
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.dialects.notes import Notes
from compaction.formats.layout import place
from compaction.formats.openhands_events import is_event, is_surely_event
from compaction.formats.openhands_files import event_list
from compaction.formats.openhands_writing import write_foreign, write_native
from compaction.messages import Message, Session, Source

#: What the outputs of evaluations have beside the events of a run.
_AROUND = frozenset(
    {"instance_id", "instance", "issue", "git_patch", "metrics", "test_result", "instruction"}
)


class OpenHands:
    """The format: lists or lines of events, outputs of evaluations, folders of events."""

    name = reading.NAME
    title = "OpenHands run"
    dialect: Dialect = "openai-chat"
    suffix = ".jsonl"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Events that name their source and time; or an output that holds a history of them."""
        whole = sample.whole
        values = whole if isinstance(whole, list) else (whole, *sample.lines)
        values = [value for value in values[:20] if isinstance(value, Mapping)]
        sure = sum(is_surely_event(value) for value in values)
        return sure * 2 > len(values) or any(_holds(value) for value in values[:3])

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The view of a run; of several the first, or the one `options` asks for."""
        return reading.read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same log with other messages; a log of the SDK for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            return write_native(messages, session, layout, notes)
        return write_foreign(messages, session, notes)


def _holds(value: Mapping[str, object]) -> bool:
    key = event_list(value)
    held = value.get(key)
    if not isinstance(held, list):
        return False
    told = [one for one in held[:20] if is_event(one)]
    if key == "history" and not _AROUND.isdisjoint(value):
        return len(told) * 2 > len(held[:20])
    return bool(told) and all(is_surely_event(one) for one in told)
