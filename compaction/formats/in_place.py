"""Changes of messages made in the file they were read from: all else in it keeps its very bytes.

What a pass or a repair changed is looked for in the record by its value, wherever a format keeps
it, and copies of it go too. The record is then read again: only where that gives the changed
message is the change made there, so that no format needs to know of this. Any other changed message
is rendered anew by its format.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

from compaction.errors import SessionError
from compaction.formats import exact
from compaction.formats.base import Format, ReadOptions
from compaction.formats.json_style import style_of
from compaction.formats.jsonspans import Node, scan
from compaction.messages import (
    Changed,
    Message,
    Opaque,
    Part,
    Session,
    Source,
    Span,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

#: Where formats keep what a tool answered.
_CONTENTS = ("content", "output", "result")

#: Shorter texts stand for many things: they are replaced only where they occur once.
_TELLING = 16

#: Where a change begins and ends in a text, and what is to stand there.
_Edit = tuple[int, int, bytes]


@runtime_checkable
class Rereadable(Protocol):
    """A body that reads its content from bytes of its source."""

    #: Members of a record that repeat the output of a tool for the screen.
    repeats: Collection[str]

    def reads(self, source: Source) -> bool:
        """Whether the body stands in `source`."""

    def spans_read(self) -> tuple[Span, ...]:
        """Where in its source."""

    def again(self, raws: Sequence[bytes]) -> tuple[Part, ...]:
        """What it would read if these bytes stood there. Raises ValueError."""


def made_in_place(
    messages: Sequence[Message], session: Session, form: Format
) -> tuple[Sequence[Message], Session]:
    """`messages` and `session` with changes made in the file, as far as they can be.

    What comes back is a session of the changed file, and the list with its messages in the place
    of those of `session`; both as given where no change can be made.
    """
    if session.history == "full":
        # What a tool's own compaction took away would be taken away again by the file.
        return messages, session
    numbers = {id(message): number for number, message in enumerate(session.messages)}
    wanted: dict[int, Message] = {}
    for message in messages:
        body = message.body
        number = numbers.get(id(body.before)) if isinstance(body, Changed) else None
        if number is not None and session.messages[number].role == message.role:
            wanted[number] = message
    data = _changed_file(session, wanted)
    again = None if data is None else _read(data, session, form, wanted)
    if again is None:
        return messages, session
    out: list[Message] = []
    for message in messages:
        body = message.body
        number = numbers.get(id(message))
        if number is None and isinstance(body, Changed):
            number = numbers.get(id(body.before))
            number = number if number in wanted else None
        out.append(message if number is None else again.messages[number])
    return out, again


def _changed_file(session: Session, wanted: dict[int, Message]) -> bytes | None:
    """The file with the changes made; those of `wanted` that cannot be are taken out of it."""
    source = session.source
    records: dict[tuple[Span, ...], list[int]] = {}
    for number in sorted(wanted):
        body = session.messages[number].body
        if isinstance(body, Rereadable) and body.reads(source):
            records.setdefault(body.spans_read(), []).append(number)
        else:
            del wanted[number]
    edits: list[tuple[Span, bytes]] = []
    for spans, inside in records.items():
        pairs = [(session.messages[number], wanted[number]) for number in inside]
        made = _changed_record([source.raw(span) for span in spans], pairs)
        if made is None:
            for number in inside:
                del wanted[number]
        else:
            edits += zip(spans, made, strict=True)
    return _spliced(source.data, edits) if edits else None


def _spliced(data: bytes, edits: Sequence[tuple[Span, bytes]]) -> bytes | None:
    out: list[bytes] = []
    position = 0
    for span, new in sorted(edits):
        if span.start < position:
            return None
        out += [data[position : span.start], new]
        position = span.end
    return b"".join([*out, data[position:]])


def _read(
    data: bytes, session: Session, form: Format, wanted: dict[int, Message]
) -> Session | None:
    """The changed file read; None where that is not the session with those messages changed."""
    source = session.source
    options = ReadOptions(session.history, session.conversation or None)
    try:
        again = form.read(Source(data, source.name, source.path), options)
    except SessionError:
        return None
    if len(again) != len(session):
        return None
    for number, (was, now) in enumerate(zip(session.messages, again.messages, strict=True)):
        told = wanted.get(number, was)
        same = (told.role, told.chars, told.calls, told.results, told.preview) == (
            now.role, now.chars, now.calls, now.results, now.preview,
        )  # fmt: skip
        if not same:
            return None
    return replace(again, problems=session.problems, conversation=session.conversation)


def _changed_record(
    raws: Sequence[bytes], pairs: Sequence[tuple[Message, Message]]
) -> tuple[bytes, ...] | None:
    """The record of some messages, now and as wanted, with all changes made in it."""
    changes: list[_Change] = []
    repeats: set[str] = set()
    for before, after in pairs:
        found = _changes(before.parts, after.parts)
        if found is None:
            return None
        changes += found
        if before.results and isinstance(before.body, Rereadable):
            repeats.update(before.body.repeats)
    # A copy of an output may be that of another call, which keeps its own.
    for copies in (True, False):
        made = _replaced(raws, changes, repeats, copies=copies)
        if made is not None and all(_gives(before, made, after) for before, after in pairs):
            return made
    return None


def _gives(before: Message, raws: Sequence[bytes], after: Message) -> bool:
    body = before.body
    assert isinstance(body, Rereadable)
    try:
        parts = body.again(raws)
    except (ValueError, LookupError, TypeError, AttributeError):
        return False
    return [_bare(part) for part in parts] == [_bare(part) for part in after.parts]


def _bare(part: Part) -> Part:
    # That a result was cleared is known of what was cleared here, and not of what is read.
    return replace(part, cleared=False) if isinstance(part, ToolResult) else part


# ---------------------------------------------------------------------------------- what changes


class _Change(NamedTuple):
    """Texts of one value, or of blocks in a row, and those that take their place.

    `value` is what a single old text means as JSON, where it stands as itself in some records.
    `call` is the id of the call whose result changes.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    value: object = None
    call: str = ""


def _changes(before: Sequence[Part], after: Sequence[Part]) -> list[_Change] | None:
    """What was changed of parts that still are the same ones; None for anything else."""
    if len(before) != len(after):
        return None
    out: list[_Change] = []
    for old, new in zip(before, after, strict=True):
        if _bare(old) == _bare(new):
            continue
        match old, new:
            case (
                (Text(text=one), Text(text=other))
                | (Opaque(text=one), Opaque(text=other))
                | (Thinking(text=one), Thinking(text=other))
            ):
                out.append(_Change((one,), (other,)))
            case ToolCall(), ToolCall():
                pairs = zip(_strings(old), _strings(new), strict=True)
                out += [
                    _Change((one,), (other,), _meant(one)) for one, other in pairs if one != other
                ]
            case ToolResult(), ToolResult() if old.call_id == new.call_id:
                said, told = _texts(old), _texts(new)
                if len(new.content) != len(told):
                    return None
                if len(old.content) != len(said):
                    # More than texts: what is there is replaced whole.
                    said = ()
                out.append(_Change(said, told, call=old.call_id))
            case _:
                return None
    return out


def _texts(result: ToolResult) -> tuple[str, ...]:
    return tuple(part.text for part in result.content if isinstance(part, Text))


def _strings(call: ToolCall) -> tuple[str, ...]:
    return call.id, call.name, call.arguments


# ------------------------------------------------------------------------------ making the change


def _replaced(
    raws: Sequence[bytes],
    changes: Sequence[_Change],
    without: Collection[str],
    *,
    copies: bool,
) -> tuple[bytes, ...] | None:
    """The records with every change made in at least one of them.

    With `copies` a result is replaced everywhere it stands, else only beside the id of its call.
    """
    sought = _sought(changes)
    try:
        texts = [raw.decode("utf-8") for raw in raws]
        keys: set[str] = set()
        for text in texts:
            _leads(exact.loads(text), sought, keys)
        nodes = [scan(text, keys, leaves=True) for text in texts]
    except (UnicodeDecodeError, exact.ExactError, RecursionError):
        return None
    edits = [list(_members_gone(node, without)) for node in nodes]
    styles = [style_of(raw) for raw in raws]
    atlases = [_Atlas(node, sought) for node in nodes]
    for change in changes:
        found = [list(_results(*pair, change)) for pair in zip(atlases, styles, strict=True)]
        if copies or not any(found):
            more = [list(_copies(*pair, change)) for pair in zip(atlases, styles, strict=True)]
            short = all(len(text) < _TELLING for text in change.old)
            if not short or sum(map(len, more)) <= 1:
                found = [one + two for one, two in zip(found, more, strict=True)]
        if not any(found):
            return None
        for number, places in enumerate(found):
            edits[number] += places
    return tuple(_applied(text, each) for text, each in zip(texts, edits, strict=True))


class _Sought(NamedTuple):
    """What is looked for in a record: texts, ids of calls, rows of texts, and the spelling of
    values that stand as themselves.
    """

    texts: frozenset[str]
    calls: frozenset[str]
    rows: frozenset[tuple[str, ...]]
    values: frozenset[str]


def _sought(changes: Sequence[_Change]) -> _Sought:
    return _Sought(
        frozenset(text for change in changes for text in (*change.old, change.call) if text),
        frozenset(change.call for change in changes if change.call),
        frozenset(change.old for change in changes if len(change.old) > 1),
        frozenset(exact.dumps(change.value) for change in changes if change.value is not None),
    )


def _is_sought(value: object, sought: _Sought) -> bool:
    return bool(sought.values) and exact.dumps(value) in sought.values


class _Atlas:
    """Where in one record what is looked for stands, found in one walk."""

    def __init__(self, root: Node, sought: _Sought) -> None:
        self.texts: dict[str, list[Node]] = {}
        #: Objects with the id of a call among their members.
        self.holders: dict[str, list[Node]] = {}
        self.rows: dict[tuple[str, ...], list[Node]] = {}
        self.values: dict[str, list[Node]] = {}
        self._walk(root, sought)

    def _walk(self, node: Node, sought: _Sought) -> None:
        value = node.value
        if isinstance(value, str):
            if value in sought.texts:
                self.texts.setdefault(value, []).append(node)
            return
        if not isinstance(value, (dict, list)):
            return
        if _is_sought(value, sought):
            self.values.setdefault(exact.dumps(value), []).append(node)
        if node.items and sought.rows and (held := _held(node)) in sought.rows:
            self.rows.setdefault(held, []).append(node)
        for member in node.members or ():
            own = member.node.value
            if isinstance(own, str) and own in sought.calls:
                self.holders.setdefault(own, []).append(node)
            self._walk(member.node, sought)
        for item in node.items or ():
            self._walk(item, sought)


def _leads(value: object, sought: _Sought, keys: set[str]) -> bool:
    """Whether anything sought is in a value; `keys` takes the members that lead to it."""
    if isinstance(value, str):
        return value in sought.texts
    if not isinstance(value, (dict, list)):
        return False
    found = _is_sought(value, sought)
    if isinstance(value, list):
        for item in value:
            found = _leads(item, sought, keys) or found
        return found
    for key, held in value.items():
        if _leads(held, sought, keys):
            keys.add(key)
            found = True
    return found


def _members_gone(node: Node, without: Collection[str]) -> Iterator[_Edit]:
    members = node.members or ()
    for number, member in enumerate(members):
        if member.key not in without:
            continue
        if number:
            yield members[number - 1].node.end, member.node.end, b""
        else:
            following = members[1].start if len(members) > 1 else member.node.end
            yield member.start, following, b""


def _results(atlas: _Atlas, style: exact.Style, change: _Change) -> Iterator[_Edit]:
    """Where the result of a call stands: beside its id, under one of the usual names."""
    for holder in atlas.holders.get(change.call, ()):
        held = next((found for name in _CONTENTS if (found := holder.get(name))), None)
        if held is None:
            continue
        inside = list(_within(held, style, change))
        if inside:
            yield from inside
            continue
        blocks = [{"type": "text", "text": text} for text in change.new]
        listed = isinstance(held.value, list) or len(blocks) != 1
        new: object = blocks if listed else change.new[0]
        yield held.start, held.end, exact.dump_bytes(new, style)


def _within(held: Node, style: exact.Style, change: _Change) -> Iterator[_Edit]:
    """Where in the content of one result the old texts stand."""
    sought = _sought([change._replace(call="")])
    yield from _copies(_Atlas(held, sought), style, change)


def _copies(atlas: _Atlas, style: exact.Style, change: _Change) -> Iterator[_Edit]:
    """Where the old texts stand, and what is to stand there."""
    if len(change.old) > 1:
        for row in atlas.rows.get(change.old, ()):
            yield from _in_row(row, style, change)
        return
    if len(change.old) != 1 or len(change.new) != 1:
        return
    old, new = change.old[0], change.new[0]
    for node in atlas.texts.get(old, ()):
        yield node.start, node.end, exact.dump_bytes(new, style)
    if change.value is not None:
        for node in atlas.values.get(exact.dumps(change.value), ()):
            yield node.start, node.end, new.encode()


def _in_row(row: Node, style: exact.Style, change: _Change) -> Iterator[_Edit]:
    """Of blocks in a row the first ones take the new texts; the others go."""
    items = row.items or ()
    kept = items[: len(change.new)]
    for item, new in zip(kept, change.new, strict=False):
        text = item if isinstance(item.value, str) else item.get("text")
        if text is not None:
            yield text.start, text.end, exact.dump_bytes(new, style)
    if kept and len(kept) < len(items):
        yield kept[-1].end, items[-1].end, b""


def _held(node: Node) -> tuple[str, ...]:
    """The texts of a list of blocks, each a text or an object with one."""
    texts: list[str] = []
    for item in node.items or ():
        value = item.value.get("text") if isinstance(item.value, dict) else item.value
        if not isinstance(value, str):
            return ()
        texts.append(value)
    return tuple(texts)


def _meant(text: str) -> object:
    """The object or list that arguments are; None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return exact.loads(text)
    except exact.ExactError:
        return None


def _applied(text: str, edits: Sequence[_Edit]) -> bytes:
    out: list[bytes] = []
    position = 0
    for start, end, new in sorted(edits):
        if start < position:
            continue
        out += [text[position:start].encode(), new]
        position = end
    return b"".join([*out, text[position:].encode()])
