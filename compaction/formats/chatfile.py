"""Files that hold a list of messages, in whichever of their many wrappings.

A `Shape` says where a dialect keeps its messages, system prompt and answer; the reading is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from compaction.errors import Cancelled, SessionError
from compaction.findings import Finding
from compaction.formats import exact
from compaction.formats.base import ReadOptions
from compaction.formats.documents import where
from compaction.formats.jsonspans import Member, Node
from compaction.formats.layout import Layout, Listing, Slot
from compaction.formats.sketching import Parse, sketch, usage_of
from compaction.messages import (
    Body,
    Conversation,
    Message,
    Part,
    Progress,
    RecordedCompaction,
    Session,
    Source,
    Span,
    Tools,
)

Path = tuple[str | int, ...]

#: How often reading says how far it is, in messages.
_EVERY = 2000


class File(Protocol):
    """An opened file: JSON or YAML, as nodes over its text."""

    @property
    def source(self) -> Source: ...
    @property
    def roots(self) -> tuple[Node, ...]: ...
    @property
    def lines(self) -> bool: ...
    @property
    def problems(self) -> tuple[Finding, ...]: ...
    def span(self, node: Node) -> Span: ...
    def cut(self, inside: Node, member: Member) -> tuple[int, int]: ...
    def inside(self, node: Node) -> tuple[int, int]:
        """The bytes between the brackets of an array."""
        ...

    def deeper(self, node: Node) -> Node:
        """An element of an array, looked into."""
        ...

    def body(self, node: Node, span: Span, parse: Parse) -> Body: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """Where a dialect keeps what: paths from the root of a document (or a line).

    `answers` lead to one message, or to a list of items, that came back. `instructions` is the
    key of the system prompt beside the list. `live_from` gives the index of the first message in
    the window, and of the first behind a compaction.
    """

    format: str
    lists: tuple[Path, ...]
    answers: tuple[Path, ...]
    parse: Callable[[Mapping[str, Any]], tuple[Part, ...]]
    role: Callable[[Mapping[str, Any], Sequence[Part]], str]
    is_message: Callable[[object], bool]
    instructions: str = ""
    single: bool = False
    live_from: Callable[[Sequence[object]], int] = lambda _: 0
    summary: Callable[[Mapping[str, Any]], str] = lambda _: ""
    bound: Callable[[Mapping[str, Any]], bool] = lambda _: False
    look: Callable[[Mapping[str, Any]], Iterator[Finding]] = lambda _: iter(())
    plain: Callable[[Sequence[object], Mapping[str, Any]], bool] = lambda _a, _b: False

    @property
    def structural(self) -> frozenset[str]:
        """The keys on any of the paths."""
        return frozenset(
            step for path in self.lists + self.answers for step in path if isinstance(step, str)
        )


@dataclass(slots=True)
class _Found:
    """One conversation in the file: its object, its list, and what stands around it."""

    root: Node
    holder: Node
    listing: Node | None = None
    answer: Node | None = None
    answer_cut: tuple[int, int] | None = None
    response: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> list[object]:
        """All that may be messages, as values."""
        held: list[object] = []
        if self.listing is not None:
            held += (
                [i.value for i in self.listing.items]
                if self.listing.items is not None
                else [self.listing.value]
            )
        if self.answer is not None:
            held += [i.value for i in self.answer.items or (self.answer,)]
        return held


def read(file: File, options: ReadOptions, shape: Shape) -> Session:
    """The session in `file`. Raises SessionError when no message is in it."""
    return _Reading(file, options, shape).session()


class _Reading:
    def __init__(self, file: File, options: ReadOptions, shape: Shape) -> None:
        self._file = file
        self._options = options
        self._shape = shape
        self._problems = list(file.problems)
        self._conversations: tuple[Conversation, ...] = ()

    def session(self) -> Session:
        file, shape = self._file, self._shape
        if file.lines:
            found = [f for root in file.roots if (f := self._locate(root))]
            if len(found) * 2 < len([r for r in file.roots if isinstance(r.value, dict)]):
                return self._message_lines()
            return self._build(self._choose(found))
        root = file.roots[0]
        if isinstance(root.value, list):
            if any(shape.is_message(item.value) for item in root.items or ()):
                return self._build(_Found(root, root, root))
            found = [f for item in root.items or () if (f := self._locate(item))]
            return self._build(self._choose(found))
        here = self._locate(root)
        if here is None and shape.is_message(root.value):
            return self._message_lines()
        return self._build(self._choose([here] if here else []))

    # ------------------------------------------------------------------------------- finding

    def _locate(self, root: Node) -> _Found | None:
        """The list of messages in an object, and what came back for it."""
        if not isinstance(root.value, dict):
            return None
        if root.members is None:
            root = self._file.deeper(root)
        found: _Found | None = None
        for path in self._shape.lists:
            node = root.get(*path)
            if node is not None and self._is_list(node):
                holder = root.get(*path[:-1])
                found = _Found(root, holder or root, node)
                break
        for path in self._shape.answers:
            node = root.get(*path)
            if node is None or not self._is_answer(node):
                continue
            found = found or _Found(root, root)
            found.answer = node
            outer = root.get(path[0]) if len(path) > 1 else root
            found.response = outer.value if outer and isinstance(outer.value, dict) else {}
            member = root.member(str(path[0]))
            found.answer_cut = self._file.cut(root, member) if member else None
            break
        return found

    def _is_list(self, node: Node) -> bool:
        if isinstance(node.value, str):
            return self._shape.single
        return node.items is not None and (
            not node.items or any(self._shape.is_message(item.value) for item in node.items)
        )

    def _is_answer(self, node: Node) -> bool:
        if node.items is not None:
            return any(self._shape.is_message(item.value) for item in node.items)
        return self._shape.is_message(node.value)

    def _choose(self, found: list[_Found]) -> _Found:
        """One of several conversations: the one asked for, the last of a growing log, the first."""
        if not found:
            raise self._nothing()
        asked = self._options.conversation
        if len(found) == 1 and asked is None:
            return found[0]
        self._conversations = tuple(_conversations(found, self._shape))
        if asked is not None:
            for number, conversation in enumerate(self._conversations, 1):
                if asked in (conversation.id, str(number)):
                    return found[number - 1]
            raise SessionError(
                f"{where(self._file.source)} has no conversation {asked!r}: "
                f"it has {len(found):,}, numbered from 1."
            )
        first, last = found[0].values, found[-1].values
        growing = len(last) > len(first) and last[: max(1, len(first) - 1)] == first[:-1]
        if growing and len(first) > 1:
            self._tell(
                "info",
                "growing-log",
                f"The file logs {len(found):,} requests of one conversation; the last is shown.",
            )
            return found[-1]
        self._tell(
            "warning",
            "several-conversations",
            f"The file holds {len(found):,} conversations; the first is shown, the others stay "
            "as they are.",
        )
        return found[0]

    def _nothing(self) -> SessionError:
        return SessionError(
            f"{where(self._file.source)} holds no messages of the format {self._shape.format}."
        )

    def _tell(self, level: Any, code: str, text: str, **more: Any) -> None:
        self._problems.append(Finding(level, code, text, **more))

    # ------------------------------------------------------------------------------ building

    def _message_lines(self) -> Session:
        """One message a line (or a single message)."""
        roots = self._file.roots
        if not any(self._shape.is_message(root.value) for root in roots):
            raise self._nothing()
        spans = tuple(self._file.span(root) for root in roots)
        others = frozenset(
            i for i, root in enumerate(roots) if not self._shape.is_message(root.value)
        )
        size = self._file.source.size
        listing = Listing(0, size, spans, others, lines=True)
        layout = Layout(0, size, (listing,))
        entries = [
            (root, span, f"line {span.line}")
            for i, (root, span) in enumerate(zip(roots, spans, strict=True))
            if i not in others
        ]
        self._others(len(others))
        return self._finish([], entries, layout, {}, {})

    def _build(self, found: _Found) -> Session:
        file, shape = self._file, self._shape
        fronts: list[tuple[Message, Slot]] = []
        slots: list[Slot] = []
        holder = found.holder.value if isinstance(found.holder.value, dict) else {}
        member = found.holder.member(shape.instructions) if shape.instructions else None
        if member and (front := self._instructions(found.holder, member)):
            fronts.append(front)
            slots.append(front[1])
        listings: list[Listing] = []
        entries: list[tuple[Node, Span, str]] = []
        if found.listing is not None:
            self._list(found.listing, listings, entries)
        if found.answer is not None and found.answer.items is not None:
            self._list(found.answer, listings, entries)
        elif found.answer is not None:
            span = file.span(found.answer)
            entries.append((found.answer, span, "answer"))
            if found.answer_cut:
                slots.append(Slot(span, found.answer_cut))
        whole = file.span(found.root)
        start, end = (whole.start, whole.end) if self._partly(found) else (0, file.source.size)
        root = file.roots[0]
        layout = Layout(start, end, tuple(listings), tuple(slots), root.closers.encode())
        outer = found.root.value if isinstance(found.root.value, dict) else {}
        return self._finish(
            [message for message, _ in fronts], entries, layout, {**outer, **holder}, found.response
        )

    def _partly(self, found: _Found) -> bool:
        return self._file.lines or found.root is not self._file.roots[0]

    def _instructions(self, holder: Node, member: Member) -> tuple[Message, Slot] | None:
        node = member.node
        if not isinstance(node.value, (str, list)) or not node.value:
            return None
        from compaction.formats.dialects.blocks import parse_content

        span = self._file.span(node)
        parts = parse_content(node.value)
        body = self._file.body(node, span, parse_content)
        message = sketch(parts, role="system", body=body, span=span, pointer=f"/{member.key}")
        return message, Slot(span, self._file.cut(holder, member))

    def _list(
        self, node: Node, listings: list[Listing], entries: list[tuple[Node, Span, str]]
    ) -> None:
        file = self._file
        if node.items is None:
            span = file.span(node)
            listings.append(Listing(span.start, span.end, (span,), single=True))
            entries.append((node, span, "0"))
            return
        spans = tuple(file.span(item) for item in node.items)
        others = frozenset(
            i for i, item in enumerate(node.items) if not self._shape.is_message(item.value)
        )
        self._others(len(others))
        opened, closed = file.inside(node)
        listings.append(Listing(opened, closed, spans, others))
        entries += [
            (item, span, str(i))
            for i, (item, span) in enumerate(zip(node.items, spans, strict=True))
            if i not in others
        ]

    def _others(self, count: int) -> None:
        if count:
            self._tell(
                "warning",
                "no-message",
                f"{count:,} value{'s' if count > 1 else ''} among the messages "
                f"{'are' if count > 1 else 'is'} no message; kept where it stands.",
            )

    def _finish(
        self,
        fronts: list[Message],
        entries: list[tuple[Node, Span, str]],
        layout: Layout,
        holder: Mapping[str, Any],
        response: Mapping[str, Any],
    ) -> Session:
        shape, options = self._shape, self._options
        values = [node.value for node, _, _ in entries]
        live = shape.live_from(values)
        left_out: dict[str, int] = {}
        compactions: tuple[RecordedCompaction, ...] = ()
        if live:
            at = len(fronts) + (live if options.history == "full" else 0)
            compactions = (RecordedCompaction(at, line=entries[live][1].line),)
            if options.history == "live":
                left_out["before the last compaction"] = live
                entries, values = entries[live:], values[live:]
        messages = [*fronts]
        model = _string(holder.get("model")) or _string(response.get("model"))
        answered = usage_of(response.get("usage")) or usage_of(holder.get("usage"))
        for number, (node, span, pointer) in enumerate(entries):
            if number % _EVERY == 0:
                self._report(number, len(entries))
            messages.append(self._message(node, span, pointer))
        if answered and messages and messages[-1].role == "assistant" and not messages[-1].usage:
            messages[-1] = _with_usage(messages[-1], answered)
        if not messages:
            self._tell("warning", "no-messages", "The list of messages is empty.")
        self._problems.extend(shape.look(holder))
        title = _string(holder.get("title"))
        if shape.plain(values, holder):
            title = "chat messages"
            self._tell(
                "info",
                "ambiguous-format",
                "Plain chat messages: OpenAI and Anthropic write them alike. Read as openai-chat.",
            )
        return Session(
            self._file.source,
            shape.format,
            tuple(messages),
            title=title,
            model=model,
            history=options.history,
            tools=self._tools(holder),
            window=_window(holder),
            problems=tuple(self._problems),
            left_out=left_out,
            compactions=compactions,
            conversations=self._conversations,
            document=replace(layout, order=tuple(one.spans[0].start for one in messages)),
        )

    def _report(self, done: int, total: int) -> None:
        if self._options.cancelled():
            raise Cancelled("The reading was stopped.")
        if self._options.progress:
            self._options.progress(Progress(done, total, "messages"))

    def _message(self, node: Node, span: Span, pointer: str) -> Message:
        shape, value = self._shape, node.value
        if not isinstance(value, Mapping):
            # A plain string where a message is expected is what a user said.
            from compaction.formats.dialects.blocks import parse_content

            body = self._file.body(node, span, parse_content)
            return sketch(parse_content(value), role="user", body=body, span=span, pointer=pointer)
        parts = shape.parse(value)
        role = shape.role(value, parts)
        if not role:
            role = "user"
            self._tell(
                "warning",
                "no-role",
                f"The message in line {span.line:,} has no role; it is taken for the user's.",
                line=span.line,
            )
        return sketch(
            parts,
            role=role,
            body=self._file.body(node, span, shape.parse),
            span=span,
            record=value,
            summary=shape.summary(value),
            bound=shape.bound(value),
            pointer=pointer,
        )

    def _tools(self, holder: Mapping[str, Any]) -> Tools:
        inner = holder.get("kwargs")
        for place in (holder, inner if isinstance(inner, Mapping) else {}):
            for key in ("tools", "functions"):
                definitions = place.get(key)
                if isinstance(definitions, list) and definitions:
                    names = tuple(name for tool in definitions if (name := tool_name(tool)))
                    return Tools(names, exact.dumps(definitions))
        return Tools()


def tool_name(definition: object) -> str:
    """The name in a tool definition of any of the three dialects."""
    if not isinstance(definition, Mapping):
        return ""
    inner = definition.get("function")
    name = inner.get("name") if isinstance(inner, Mapping) else definition.get("name")
    return _string(name) or _string(definition.get("type"))


def _with_usage(message: Message, usage: Any) -> Message:
    return replace(message, usage=usage)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _window(holder: Mapping[str, Any]) -> int | None:
    stated = holder.get("context_window")
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else None


def _conversations(found: Sequence[_Found], shape: Shape) -> Iterator[Conversation]:
    seen: set[str] = set()
    for number, one in enumerate(found, 1):
        record = one.root.value
        stated = next(
            (record[key] for key in ("id", "conversation_id", "task_id") if key in record), None
        )
        name = str(stated) if isinstance(stated, (str, int)) else str(number)
        if name in seen:
            name = str(number)
        seen.add(name)
        values = one.values
        yield Conversation(name, _title(values, shape), len(values))


def _title(values: Sequence[object], shape: Shape) -> str:
    from compaction.messages import preview_of

    for value in values:
        if isinstance(value, str):
            return value[:80]
        if isinstance(value, Mapping):
            parts = shape.parse(value)
            if shape.role(value, parts) == "user":
                return preview_of(parts)[:80]
    return ""
