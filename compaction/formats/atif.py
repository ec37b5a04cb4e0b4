"""ATIF trajectories: steps that hold what was said, what was called and what came back."""

from __future__ import annotations

import codecs
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.findings import Finding
from compaction.formats import chatfile, exact
from compaction.formats.atif_steps import cut, keep, rendered, settled
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.exact import ExactError
from compaction.formats.jsonspans import Bytes, Node, scan
from compaction.formats.layout import Listing, lay_out_json, place, write_back
from compaction.messages import Message, Part, Session, Source, Usage

Step = Mapping[str, Any]

#: The version new trajectories are written in: the first that holds images.
_VERSION = "ATIF-v1.6"

_NAMESPACE = uuid.UUID("0d5f6c1e-7f2b-5c0a-8f8d-3a1c5f0f9b42")


def is_step(value: object) -> bool:
    """Whether a value can be a step."""
    return isinstance(value, Mapping) and isinstance(value.get("source"), str)


def _parse(step: Step) -> tuple[Part, ...]:
    return tuple(part for piece in cut(step) for part in piece.parts)


def _role(step: Step, parts: Sequence[Part]) -> str:
    del parts
    return cut(step)[0].role


def _facts(step: Step) -> Facts:
    model, first = step.get("model_name"), step.get("step_id") == 1
    return Facts(
        model=model if isinstance(model, str) else "",
        usage=_usage(step.get("metrics")),
        # What is repeated from the trajectory before was typed there, if it was.
        injected=step.get("is_copied_context") is True and not first,
    )


def _usage(metrics: object) -> Usage | None:
    if not isinstance(metrics, Mapping):
        return None
    read, wrote, cached = (
        found if isinstance(found := metrics.get(key), int) else 0
        for key in ("prompt_tokens", "completion_tokens", "cached_tokens")
    )
    return Usage(read, wrote, cached) if read or wrote else None


def _mark(value: object) -> Mapping[str, Any]:
    """What a step says of a compaction that was made there; empty for any other."""
    extra = value.get("extra") if isinstance(value, Mapping) else None
    held = extra.get("context_management") if isinstance(extra, Mapping) else None
    return held if isinstance(held, Mapping) and held.get("type") == "compaction" else {}


def _live_from(values: Sequence[object]) -> int:
    """Behind the last compaction that replaced what was before, where anything follows it."""
    for index in range(len(values) - 2, -1, -1):
        if _mark(values[index]).get("boundary") == "replace":
            return index + 1
    return 0


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    del holder
    return {
        index: "marks of compactions"
        for index, value in enumerate(values)
        if _mark(value) and isinstance(value, Mapping) and value.get("source") == "system"
    }


def _look(holder: Mapping[str, Any]) -> Iterator[Finding]:
    then = holder.get("continued_trajectory_ref")
    if isinstance(then, str) and then:
        yield Finding("info", "continued", f"The trajectory goes on in another file: {then}.")


def _about(trajectory: Mapping[str, Any], document: object) -> dict[str, Any]:
    del document
    agent = trajectory.get("agent")
    agent = agent if isinstance(agent, Mapping) else {}
    return {"model": agent.get("model_name"), "tools": agent.get("tool_definitions")}


def _called(trajectory: Mapping[str, Any]) -> str:
    names = (trajectory.get(key) for key in ("trajectory_id", "session_id"))
    return next((name for name in names if isinstance(name, str)), "")


SHAPE = Shape(
    format="atif",
    lists=(("steps",),),
    answers=(),
    parse=_parse,
    role=_role,
    is_message=is_step,
    live_from=_live_from,
    hidden=_hidden,
    look=_look,
    facts=_facts,
    cut=cut,
    keep=keep,
    about=_about,
    called=_called,
    growing=False,
)


class Atif:
    """The format, versions 1.0 to 1.8: one trajectory, or a list or lines of them."""

    name = "atif"
    title = "ATIF trajectory"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """The version it names, beside its steps."""
        values = sample.whole if isinstance(sample.whole, list) else (sample.whole, *sample.lines)
        return any(
            isinstance(value, Mapping)
            and str(value.get("schema_version")).startswith("ATIF")
            and isinstance(value.get("steps"), list)
            for value in values[:3]
        )

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages of a trajectory; those of the agents it called are their own."""
        document = open_document(source, SHAPE.structural)
        session = chatfile.read(document, options, SHAPE)
        root = document.roots[0].value
        inner = root.get("subagent_trajectories") if isinstance(root, Mapping) else None
        if isinstance(inner, list) and inner and not document.lines:
            left = {**session.left_out, "side conversations": len(inner)}
            return replace(session, left_out=left)
        return session

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same trajectory with other steps; a new one for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            ids = Ids(verbatim=True)
            written = write_back(messages, session, layout, lambda m: rendered(m, ids, notes))
            chunks = tuple(written.chunks)
            if len(chunks) == 3:
                chunks = (chunks[0], _numbered(chunks[1]), chunks[2])
            return Written(chunks, (*written.findings, *notes.findings()))
        ids = Ids(unique=True)
        steps = [
            step
            for number, message in enumerate(as_responses(messages, session, notes))
            for step in rendered(message, ids, notes.at(number))
        ]
        notes.tell_ids(ids.changed)
        return whole(self._trajectory(steps, session, notes), notes)

    def _trajectory(
        self, steps: Sequence[object], session: Session, notes: Notes
    ) -> dict[str, Any]:
        made = [
            {**step, "step_id": number}
            for number, (_, step, _) in enumerate(settled(steps), 1)
            if isinstance(step, Mapping)
        ]
        agent: dict[str, Any] = {"name": session.format, "version": "unknown"}
        if session.model:
            agent["model_name"] = session.model
        if tools := tools_for(session.tools, self.dialect, notes):
            agent["tool_definitions"] = tools
        name = uuid.uuid5(_NAMESPACE, exact.dumps(made).encode("utf-8", "replace").decode())
        return {
            "schema_version": _VERSION,
            "session_id": str(name),
            "agent": agent,
            "steps": made,
            "final_metrics": {"total_steps": len(made)},
        }


def _numbered(body: bytes) -> bytes:
    """A trajectory with its steps numbered from 1, and every result beside its call."""
    if body.startswith(codecs.BOM_UTF8):
        return codecs.BOM_UTF8 + _numbered(body[3:])
    text = body.decode("utf-8", "replace")
    try:
        root = scan(text, ("steps", "final_metrics"))
    except ExactError:
        # A file that breaks off stays as it is.
        return body
    listed = root.get("steps")
    if listed is None or not listed.items:
        return body
    items = listed.items
    offsets = Bytes(text, body)
    listing = Listing(
        offsets.at(listed.start + 1),
        offsets.at(listed.end - 1),
        tuple(offsets.span(item.start, item.end) for item in items),
    )
    left = settled([item.value for item in items])
    stay = {index for index, _, _ in left}
    edits = [
        (items[index - 1].end, items[index].end, "")
        for index in range(1, len(items))
        if index not in stay
    ]
    for number, (index, step, changed) in enumerate(left, 1):
        item = items[index]
        if changed and isinstance(step, Mapping):
            new = lay_out_json({**step, "step_id": number}, listing, body).decode()
            edits.append((item.start, item.end, new))
        elif node := _differing(scan(text, (), item.start), "step_id", number):
            edits.append((node.start, node.end, str(number)))
    total = root.get("final_metrics")
    if total is not None and (node := _differing(total, "total_steps", len(left))):
        edits.append((node.start, node.end, str(len(left))))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text.encode()


def _differing(inside: Node, key: str, number: int) -> Node | None:
    """The member `key` of an object, where it holds another number."""
    found = inside.get(key)
    value = found.value if found is not None else None
    return found if isinstance(value, int) and value != number else None
