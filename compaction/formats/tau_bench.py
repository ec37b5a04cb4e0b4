"""tau-bench results: runs with a `traj` of chat messages, each a conversation of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.openai_chat import SHAPE as CHAT
from compaction.formats.openai_chat import is_message
from compaction.messages import Message, Session, Source


def _called(run: Mapping[str, Any]) -> str:
    """A run by its task and trial: the tasks alone repeat."""
    task, trial = run.get("task_id"), run.get("trial")
    named = "" if task is None else f"task-{task}"
    return named if trial is None or not named else f"{named}/trial-{trial}"


def _is_run(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("traj"), list):
        return False
    return "task_id" in value or "reward" in value


SHAPE = Shape(
    format="tau-bench",
    lists=(("traj",),),
    answers=(),
    parse=openai_like.parse_blocks,
    role=CHAT.role,
    is_message=is_message,
    called=_called,
    growing=False,
)


class TauBench:
    """The format."""

    name = "tau-bench"
    title = "tau-bench results"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A run, or a list of runs: a `traj` beside its task and reward."""
        if isinstance(sample.whole, list):
            return any(_is_run(value) for value in sample.whole[:20])
        return not sample.yaml and any(_is_run(value) for value in (sample.whole, *sample.lines))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The run that is asked for, else the first."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same results with other messages in the run; else a run without task and reward."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):

            def render(message: Message) -> list[dict[str, Any]]:
                return openai_like.render_message(message, Ids(verbatim=True), notes)

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        run: dict[str, Any] = {
            "task_id": 0,
            "reward": None,
            "info": {},
            "traj": openai_like.render(as_responses(messages, session, notes), notes),
            "trial": 0,
        }
        return Written((exact.dump_bytes([run], exact.PRETTY), b"\n"), notes.findings())
