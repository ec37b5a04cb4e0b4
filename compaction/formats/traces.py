"""Sessions in traces: of the model calls that were recorded, the last one is the context window.

Each call has in its input all that was said before, so earlier calls, and the runs around them,
say nothing that the last one does not say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats.base import ReadOptions
from compaction.formats.choosing import chosen
from compaction.formats.documents import where
from compaction.formats.leaving import LeftOut
from compaction.formats.sketching import HeldBody, sketch
from compaction.messages import (
    Conversation,
    Message,
    Part,
    RecordedCompaction,
    Session,
    Source,
    Span,
    ToolResult,
    Tools,
    Usage,
    preview_of,
)

#: Why records of a trace are not in the window.
EARLIER = "earlier requests"
NO_CALL = "records that call no model"
OTHERS = "requests of other agents"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a call, and the value it was read from."""

    role: str
    parts: tuple[Part, ...]
    value: object = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model: what it was sent, what it answered, and where the record of it stands.

    `order` sorts the calls of a file. `group` is the conversation it belongs to. `whole` is what
    a run around the calls says of them all; it is used where no call says anything itself.
    """

    group: str
    order: tuple[str, int]
    span: Span
    sent: tuple[Said, ...]
    answer: tuple[Said, ...] = ()
    model: str = ""
    usage: Usage | None = None
    tools: Tools = field(default_factory=Tools)
    title: str = ""
    time: str = ""
    whole: bool = False

    @property
    def messages(self) -> tuple[Said, ...]:
        """What was sent, and what came back."""
        return (*self.sent, *self.answer)


@dataclass(frozen=True, slots=True)
class Recording:
    """What a file of traces holds: its calls, and the places of all other records by their group.

    `silent` counts model calls that were recorded without their content.
    """

    calls: tuple[Call, ...]
    others: tuple[tuple[str, Span], ...] = ()
    silent: int = 0
    problems: tuple[Finding, ...] = ()


def role_for(role: str, parts: Sequence[Part]) -> str:
    """`tool` for a user's message of nothing but results, else the role itself."""
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        return "tool"
    return role


def merged(said: Sequence[Said]) -> tuple[Said, ...]:
    """Messages of one response that stand one after the other, as one."""
    out: list[Said] = []
    for one in said:
        if out and one.role == out[-1].role == "assistant":
            values = [value for value in (out[-1].value, one.value) if value is not None]
            out[-1] = replace(out[-1], parts=(*out[-1].parts, *one.parts), value=values)
        else:
            out.append(one)
    return tuple(out)


def session_of(recording: Recording, source: Source, options: ReadOptions, name: str) -> Session:
    """The session that is the last call of a conversation. Raises SessionError for no messages."""
    groups: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(recording.calls, key=lambda call: call.order):
        groups[call.group].append(call)
    for key, calls in groups.items():
        told = [call for call in calls if not call.whole] or calls
        # A call whose request was not recorded shows no window.
        groups[key] = [call for call in told if call.sent] or told
    if not groups:
        raise SessionError(_nothing(recording, source))
    conversations = tuple(
        Conversation(key or str(number), _title(calls[-1]), len(calls[-1].messages))
        for number, (key, calls) in enumerate(groups.items(), 1)
    )
    index, found = chosen(conversations, options.conversation, source)
    group, calls = list(groups.items())[index]
    last = calls[-1]
    left = LeftOut(options)
    mine = [call for call in calls[:-1] if _starts_alike(call, last)]
    aside = [call for call in calls[:-1] if not _starts_alike(call, last)]
    for reason, spans in (
        (EARLIER, [call.span for call in mine if options.history == "live"]),
        (OTHERS, [call.span for call in aside]),
        (NO_CALL, [span for key, span in recording.others if key == group]),
    ):
        if spans:
            left.add(reason, *spans)
    messages = _messages(last, source)
    compactions: tuple[RecordedCompaction, ...] = ()
    if options.history == "full":
        messages, compactions = _everything([*mine, last], source)
    return Session(
        source,
        name,
        tuple(messages),
        title=last.title,
        model=last.model,
        history=options.history,
        tools=last.tools,
        problems=(*recording.problems, *found),
        left_out=dict(left.counts),
        compactions=compactions,
        conversations=conversations if len(conversations) > 1 else (),
    )


def _nothing(recording: Recording, source: Source) -> str:
    if recording.silent:
        many = f"{recording.silent:,} model call{'s' if recording.silent > 1 else ''}"
        return (
            f"{where(source)} records {many}, but not what was said: the recording of message "
            "contents was switched off. Switch it on in the instrumentation and record again."
        )
    return f"{where(source)} is a trace in which no model is called: there is no session in it."


def _title(call: Call) -> str:
    first = next((one for one in call.sent if one.role == "user"), None)
    return preview_of(first.parts)[:80] if first else call.title


def _key(said: Said) -> tuple[str, tuple[Part, ...]]:
    return said.role, said.parts


def _starts_alike(call: Call, last: Call) -> bool:
    """Whether both are of one agent: sent with the same first message."""
    return bool(call.sent) and bool(last.sent) and _key(call.sent[0]) == _key(last.sent[0])


def _everything(
    calls: Sequence[Call], source: Source
) -> tuple[list[Message], tuple[RecordedCompaction, ...]]:
    """All that was ever sent, and where a request no longer held what had been said before."""
    out: list[Message] = []
    compactions: list[RecordedCompaction] = []
    window: list[tuple[str, tuple[Part, ...]]] = []
    for call in calls:
        keys = [_key(one) for one in call.messages]
        alike = 0
        while alike < min(len(keys), len(window)) and keys[alike] == window[alike]:
            alike += 1
        made = _messages(call, source)
        # The answer may be spelled differently where it is sent back.
        if window and alike < len(window) - 1:
            compactions.append(RecordedCompaction(len(out), line=call.span.line))
            known = set(window)
            out += [one for one, key in zip(made, keys, strict=True) if key not in known]
        else:
            out += made[max(alike, len(window)) :]
        window = keys
    return out, tuple(compactions)


def _messages(call: Call, source: Source) -> list[Message]:
    out = []
    for index, said in enumerate(call.messages):
        record = said.value if isinstance(said.value, Mapping) else {"role": said.role}
        message = sketch(
            said.parts,
            role=said.role,
            body=HeldBody(source, said.value if said.value is not None else record, _fixed(said)),
            span=call.span,
            pointer=str(index),
        )
        answers = index >= len(call.sent)
        out.append(
            replace(
                message,
                name=said.name,
                model=call.model if answers else "",
                time=call.time if answers else "",
            )
        )
    if out and call.usage and call.answer:
        out[-1] = replace(out[-1], usage=call.usage)
    return out


class _Fixed:
    """Gives the parts that were read, whatever it is asked to parse."""

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self._parts = parts

    def __call__(self, _: object) -> tuple[Part, ...]:
        return self._parts


def _fixed(said: Said) -> _Fixed:
    return _Fixed(said.parts)
