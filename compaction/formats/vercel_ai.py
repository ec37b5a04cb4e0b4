"""The Vercel AI SDK: UI messages (versions 4 to 6) and model messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses
from compaction.formats.dialects import vercel_writing
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.dialects.vercel_model import cut_model, is_model, keep_model
from compaction.formats.dialects.vercel_ui import cut_ui, is_ui, keep_ui
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.listpaths import lists_of, paths_in, records_in
from compaction.formats.pieces import Piece, PieceBody
from compaction.formats.sketching import stands_in
from compaction.messages import Message, Part, Session, Source, Usage
from compaction.messages import message as made


def _is_message(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str):
        return False
    return isinstance(value.get("parts"), list) or "content" in value


def _telling(value: object) -> bool:
    return is_ui(value) or is_model(value)


def _is_ui(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("parts"), list) or "toolInvocations" in record


def _cut(record: Mapping[str, Any]) -> Sequence[Piece]:
    return cut_ui(record) if _is_ui(record) else cut_model(record)


def _keep(record: Mapping[str, Any], indexes: Sequence[int]) -> object:
    return keep_ui(record, indexes) if _is_ui(record) else keep_model(record, indexes)


def _parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    return tuple(part for piece in _cut(record) for part in piece.parts)


def _role(record: Mapping[str, Any], parts: Sequence[Part]) -> str:
    del parts
    return role_of(record)


def _facts(record: Mapping[str, Any]) -> Facts:
    about = record.get("metadata")
    about = about if isinstance(about, Mapping) else {}
    time, model = record.get("createdAt") or about.get("createdAt"), ""
    for key in ("model", "modelId"):
        model = model or _string(about.get(key))
    steps = sum(piece.role == "assistant" for piece in _cut(record))
    # Usage of several steps is a sum, and says nothing of the window.
    usage = _usage(about.get("usage")) if steps == 1 else None
    return Facts(id=_string(record.get("id")), time=_string(time), model=model, usage=usage)


def _usage(value: object) -> Usage | None:
    if not isinstance(value, Mapping):
        return None
    counts = [value.get(key) for key in ("inputTokens", "outputTokens", "cachedInputTokens")]
    context, output, cached = (
        one if isinstance(one, int) and not isinstance(one, bool) else None for one in counts
    )
    return Usage(context, output or 0, cached or 0) if context is not None else None


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


SHAPE = Shape(
    format="vercel-ai",
    lists=(),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=_is_message,
    facts=_facts,
    cut=_cut,
    keep=_keep,
)


class VercelAI:
    """The format."""

    name = "vercel-ai"
    title = "Vercel AI SDK messages"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A list of messages with parts or blocks as only this SDK has them."""
        return not sample.yaml and any(True for _ in lists_of(sample, _telling))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The longest list of messages, each turn cut into its steps and their results."""
        document = open_document(source, frozenset())
        paths = dict.fromkeys(
            path for root in document.roots for path in paths_in(root.value, _telling)
        )
        paths = paths or dict.fromkeys([("messages",)])
        shape = replace(SHAPE, lists=tuple(paths))
        return chatfile.read(open_document(source, shape.structural), options, shape)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; a list of UI messages for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            ui, old = _style(session)
            turns, ready = messages, dict[int, dict[str, Any]]()
            if ui:
                turns, ready = _whole_turns(messages, session, notes, old)

            def render(message: Message) -> list[dict[str, Any]]:
                if id(message) in ready:
                    return [ready[id(message)]]
                if ui:
                    return [vercel_writing.ui_message([message], notes, old=old)]
                return vercel_writing.model_messages(message, notes, old=old)

            written = write_back(turns, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        out: list[dict[str, Any]] = []
        at = 0
        for run in _runs(as_responses(messages, session, notes)):
            notes.at(at)
            at += len(run)
            # Equal turns at different places have different ids.
            made_of = vercel_writing.ui_message(run, notes)
            out.append({**made_of, "id": f"{made_of['id']}-{len(out)}"})
        notes.at(None)
        if session.tools.text:
            notes.tell("tools", "the tool definitions")
        return Written((exact.dump_bytes(out, exact.PRETTY), b"\n"), notes.findings())


def _style(session: Session) -> tuple[bool, bool]:
    """Whether the file holds UI messages, and whether it is spelled as version 4 does."""
    ui, old = False, False
    for record in records_in(session):
        ui = ui or _is_ui(record)
        parts = record.get("parts", record.get("content"))
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, Mapping):
                old = old or part.get("type") == "tool-invocation" or "args" in part
        old = old or (ui and "toolInvocations" in record)
    return ui, old


def _runs(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Turns: what the assistant said and was answered between two messages of others."""
    run: list[Message] = []
    for message in messages:
        spoken = message.role in ("assistant", "tool")
        if run and not (spoken and run[-1].role in ("assistant", "tool")):
            yield run
            run = []
        run.append(message)
    if run:
        yield run


def _steps(run: Sequence[Message]) -> Iterator[list[Message]]:
    """A turn by its responses, each with the results of its calls."""
    step: list[Message] = []
    for message in run:
        if step and message.role == "assistant":
            yield step
            step = []
        step.append(message)
    if step:
        yield step


def _whole_turns(
    messages: Sequence[Message], session: Session, notes: Notes, old: bool
) -> tuple[list[Message], dict[int, dict[str, Any]]]:
    """Messages, where calls and results of which one was changed are one; and those as records.

    A UI message holds a call and its result in one part, so neither can be written alone.
    """
    out: list[Message] = []
    ready: dict[int, dict[str, Any]] = {}
    for run in _runs(messages):
        for step in _steps(run) if len(run) > 1 else [run]:
            kept = all(stands_in(one, session.source) for one in step)
            if kept or (len(step) == 1 and not step[0].results):
                out += step
                continue
            merged = made("assistant", [part for one in step for part in one.parts])
            ready[id(merged)] = _step(step, session.source, notes, old)
            out.append(merged)
    return out, ready


def _step(step: Sequence[Message], source: Source, notes: Notes, old: bool) -> dict[str, Any]:
    """A response and its results as one UI message; what was not changed as the file has it."""
    body = step[0].body
    if not isinstance(body, PieceBody) or not stands_in(step[0], source):
        name = next((one.id for one in step if one.id), "")
        return vercel_writing.ui_message(step, notes, old=old, name=name)
    kept = [one.body.index for one in step if isinstance(one.body, PieceBody)]
    record = body.kept(kept)
    assert isinstance(record, dict)
    changed = [one for one in step if not isinstance(one.body, PieceBody)]
    return vercel_writing.answered(record, changed, notes)
