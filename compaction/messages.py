"""Messages, their parts, and sessions: immutable values over untouched source bytes.

A message is small: role, ids, a preview and the spans of the source it came from. Its body is
parsed when somebody looks at it, so a session costs little more than the bytes of its file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from compaction.findings import Finding

#: Normalised roles. A role nobody knows is kept as it is spelled.
ROLES = ("system", "developer", "user", "assistant", "tool")

MediaKind = Literal["image", "audio", "video", "document", "file"]

#: How many characters of a message its preview holds at most.
PREVIEW_CHARS = 200


# ------------------------------------------------------------------------------------- parts


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text, as it is sent."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning. `sealed` counts the bytes of an encrypted or redacted body that has no text."""

    text: str
    signature: str = ""
    sealed: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool. `arguments` is the JSON (or free) text as sent; it may not parse."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a sound, a document. `size` is bytes of the decoded content, 0 when not held."""

    kind: MediaKind
    mime: str = ""
    size: int = 0
    name: str = ""
    url: str = ""
    data: str = ""
    width: int = 0
    height: int = 0
    detail: str = ""

    @property
    def label(self) -> str:
        """What stands in for the content where only text can stand: `[image/png, 1,204 bytes]`."""
        what = self.mime or self.kind
        held = f", {self.size:,} bytes" if self.size else ""
        named = f" {self.name}" if self.name else ""
        return f"[{what}{named}{held}]"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part this program does not know: kept, shown and counted as its JSON text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a call. `cleared`: the tool replaced it by a placeholder in its context."""

    call_id: str
    content: tuple[Text | Media | Opaque, ...]
    is_error: bool = False
    name: str = ""
    cleared: bool = False

    @property
    def text(self) -> str:
        """The textual content; media stand as their label."""
        return "\n".join(_shown(part) for part in self.content)


Part = Text | Thinking | ToolCall | ToolResult | Media | Opaque


def _shown(part: Text | Media | Opaque) -> str:
    return part.label if isinstance(part, Media) else part.text


# ------------------------------------------------------------------------------------ source


class Span(NamedTuple):
    """Half-open byte range of the source, and the 1-based line where it starts."""

    start: int
    end: int
    line: int


class Source:
    """The bytes of one file, read once and never written.

    `name` is the path as the person gave it ("-" for standard input).
    """

    __slots__ = ("__weakref__", "data", "name", "path")

    def __init__(self, data: bytes, name: str = "", path: str | None = None) -> None:
        self.data = data
        self.name = name
        self.path = path

    @property
    def size(self) -> int:
        return len(self.data)

    def raw(self, span: Span) -> bytes:
        """The bytes of one span, exactly as read."""
        return self.data[span.start : span.end]


class Body(Protocol):
    """What is behind a message. Parsed on demand; equal calls give equal values."""

    def parts(self) -> tuple[Part, ...]:
        """The content in the order it is sent."""
        ...

    def record(self) -> object:
        """The source record as JSON values (a list when several records make one message)."""
        ...


class Inline:
    """A body held as values: messages made in memory, such as a summary."""

    __slots__ = ("_parts", "_record")

    def __init__(self, parts: Sequence[Part], record: object = None) -> None:
        self._parts = tuple(parts)
        self._record = record

    def parts(self) -> tuple[Part, ...]:
        return self._parts

    def record(self) -> object:
        return self._record


class Changed(Inline):
    """Content made from that of `before`, a message as it was read, by changing parts of it."""

    __slots__ = ("before",)

    def __init__(self, parts: Sequence[Part], before: Message) -> None:
        super().__init__(parts)
        self.before = before


# ----------------------------------------------------------------------------------- message


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a provider reported for one response.

    `context` is everything the model read (cached or not), `cached` the part of it read from the
    cache, `written` the part written to it, `output` what it wrote.
    """

    context: int
    output: int
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One entry of the list that is sent to a model.

    `calls` and `results` are the ids of the tool calls it makes and of the calls it answers, in
    order. `chars` is the length of what counts as text, known without parsing the body again.
    `bound` says that the message must stay with the one after it (a Responses reasoning item).
    `summary` names who wrote a compaction summary ("compaction" for this program), "" otherwise.
    `injected` marks a user message that no person typed. `spans` is empty for a message made in
    memory. Equality is identity; `same_content` compares what is sent.
    """

    role: str
    body: Body
    preview: str = ""
    chars: int = 0
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    tool: str = ""
    name: str = ""
    id: str = ""
    time: str = ""
    model: str = ""
    usage: Usage | None = None
    summary: str = ""
    injected: bool = False
    bound: bool = False
    spans: tuple[Span, ...] = ()
    pointer: str = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content, parsed now."""
        return self.body.parts()

    @property
    def text(self) -> str:
        """All text a reader would see: text, thinking, calls, results; media as their label."""
        return "\n".join(part_text(part) for part in self.parts)

    @property
    def record(self) -> object:
        """The source record as JSON values; None for a message made in memory without one."""
        return self.body.record()

    @property
    def typed(self) -> bool:
        """Whether a person typed it: a user message that is no result, summary or injection."""
        return (
            self.role == "user" and not self.injected and not self.summary and not self.results
        )

    def same_content(self, other: Message) -> bool:
        """Whether both send the same content under the same role."""
        return self.role == other.role and self.name == other.name and self.parts == other.parts


def part_text(part: Part) -> str:
    """What a reader sees of one part, as plain text."""
    match part:
        case Text(text=text) | Opaque(text=text):
            return text
        case Thinking(text=text, sealed=sealed):
            return text or (f"[sealed reasoning, {sealed:,} bytes]" if sealed else "")
        case ToolCall(name=name, arguments=arguments):
            return f"{name} {arguments}".rstrip()
        case ToolResult():
            return part.text
        case Media():
            return part.label
    raise AssertionError("unreachable")


def message(
    role: str,
    parts: Sequence[Part] | str,
    *,
    record: object = None,
    name: str = "",
    summary: str = "",
    injected: bool = False,
) -> Message:
    """A message made in memory, its derived fields computed from its parts."""
    content: tuple[Part, ...] = (Text(parts),) if isinstance(parts, str) else tuple(parts)
    return describe(
        Message(
            role, Inline(content, record), name=name, summary=summary, injected=injected
        ),
        content,
    )


def describe(message: Message, parts: Sequence[Part]) -> Message:
    """`message` with preview, chars, calls, results, kinds and tool taken from `parts`."""
    calls = tuple(part.id for part in parts if isinstance(part, ToolCall))
    results = tuple(part.call_id for part in parts if isinstance(part, ToolResult))
    tool = next(
        (part.name for part in parts if isinstance(part, (ToolCall, ToolResult)) and part.name),
        message.tool,
    )
    return replace(
        message,
        preview=preview_of(parts),
        chars=sum(part_chars(part) for part in parts),
        calls=calls,
        results=results,
        kinds=frozenset(kind_of(part) for part in parts),
        tool=tool,
    )


def changed(message: Message, parts: Sequence[Part]) -> Message:
    """`message` with other parts; what is known beside its content stays.

    It is a message made in memory that remembers the one which was read, so that a format can make
    the change in its record.
    """
    body = message.body
    before = body.before if isinstance(body, Changed) else message
    return describe(replace(message, body=Changed(parts, before), spans=()), parts)


_KINDS: Mapping[type, str] = {
    Text: "text",
    Thinking: "thinking",
    ToolCall: "tool call",
    ToolResult: "tool result",
    Media: "media",
    Opaque: "opaque",
}


def kind_of(part: Part) -> str:
    """One of "text", "thinking", "tool call", "tool result", "media" or "opaque"."""
    return _KINDS[type(part)]


def part_chars(part: Part) -> int:
    """Characters of a part that count as text; media count none."""
    match part:
        case Text(text=text) | Thinking(text=text) | Opaque(text=text):
            return len(text)
        case ToolCall(name=name, arguments=arguments):
            return len(name) + len(arguments)
        case ToolResult(content=content):
            return sum(part_chars(inner) for inner in content)
        case Media():
            return 0
    raise AssertionError("unreachable")


def preview_of(parts: Sequence[Part]) -> str:
    """The first non-blank text of `parts`, at most PREVIEW_CHARS characters, unsanitised."""
    fallback = ""
    for part in parts:
        if isinstance(part, Thinking):
            fallback = fallback or part_text(part)
            continue
        text = part_text(part)[: PREVIEW_CHARS * 4].strip()
        if text:
            return text[:PREVIEW_CHARS]
    return fallback.strip()[:PREVIEW_CHARS]


# ----------------------------------------------------------------------------------- session


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """A compaction that the recording tool itself made.

    `at` is the index of the first message after it (its summary, where there is one) in the list
    of the session; `before` and `after` are token counts of the tool, None when not recorded.
    `summary` is the text of its summary where that is not among the messages.
    """

    at: int
    trigger: str = ""
    before: int | None = None
    after: int | None = None
    line: int | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Tools:
    """Tool definitions that the file holds: how many, and the text that is sent for them."""

    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Session:
    """One conversation as loaded from a file.

    `messages` are the live ones (or all that were ever sent, when loaded with
    `history="full"`). `left_out` counts the records that are not messages of this list, by
    reason. `document` is what the format needs to write the session back, private to it.
    `window` is the context window the file states, None when it says nothing. `conversation` is
    the one that was asked for, of the `conversations` in the file; "" where none was.
    """

    source: Source
    format: str
    messages: tuple[Message, ...]
    title: str = ""
    model: str = ""
    history: Literal["live", "full"] = "live"
    tools: Tools = Tools()
    window: int | None = None
    problems: tuple[Finding, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    compactions: tuple[RecordedCompaction, ...] = ()
    conversations: tuple[Conversation, ...] = ()
    conversation: str = ""
    document: object = None

    def __len__(self) -> int:
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One entry of a file that holds several conversations."""

    id: str
    title: str
    messages: int


class Progress(NamedTuple):
    """How far a reading or counting is: `done` of `total` in `unit` (bytes, messages)."""

    done: int
    total: int
    unit: str


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]
