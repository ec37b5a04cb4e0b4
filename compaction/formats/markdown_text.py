"""What stands under a mark of a role in a Markdown chat, read into parts and written.

Text stands as it is where it can be told from what is around it. Everything else stands in fenced
blocks that say what they hold: `message` (a text as it is), `thinking`, `tool-call`, `tool-result`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.formats.dialects.blocks import text_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.marktext import fence_for, has_open_fence
from compaction.formats.pieces import Piece
from compaction.messages import Media, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult

#: The names under which roles stand in marks.
NAMES: Mapping[str, str] = {
    **dict.fromkeys(("user", "human", "you", "prompt"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "response", "chatgpt", "claude", "copilot", "deepseek", "gemini"),
        "assistant",
    ),
    "system": "system",
    "developer": "developer",
    "tool": "tool",
}

_NAME = rf"(?P<name>{'|'.join(NAMES)})"

#: The kinds of marks: a bold name, a heading, and what copied pages have.
STYLES: Mapping[str, re.Pattern[str]] = {
    "bold": re.compile(
        rf"\*\*{_NAME}(?: \([^)]*\))?(?:(?::\*\*|\*\*:)[ \t]*(?P<rest>.*)|\*\*[ \t\r]*$)", re.I
    ),
    "said": re.compile(rf"(?:#{{1,6}} +)?{_NAME} said:[ \t\r]*$", re.I),
    "heading": re.compile(rf"#{{1,6}} +(?:\*\*)?{_NAME}:?(?:\*\*)?:?[ \t\r]*$", re.I),
}

#: The first characters of marks, so that most lines are told at once.
FIRST = frozenset("*#") | {letter for name in NAMES for letter in (name[0], name[0].upper())}

_SPECIAL = re.compile(r"(`{3,})(message|thinking|tool-call|tool-result)(?: (\{.*\}))?[ \t\r]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_RULES = ("---", "***")


def mark_of(line: str, style: str = "") -> tuple[str, re.Match[str]] | None:
    """The style of a mark and the mark, where a line is one (of `style`, if given)."""
    if line[:1] not in FIRST:
        return None
    for name, pattern in STYLES.items():
        if style in ("", name) and (found := pattern.match(line)):
            return name, found
    return None


def role_of(mark: re.Match[str]) -> str:
    """The role that a mark names."""
    return NAMES[mark["name"].lower()]


# ----------------------------------------------------------------------------------- reading


def cut(text: str) -> Sequence[Piece]:
    """The message under a mark, which is its first line; none where nothing was said."""
    first, _, below = text.partition("\n")
    found = mark_of(first)
    if found is None:
        return ()
    mark = found[1]
    rest = mark.groupdict().get("rest") or ""
    parts = tuple(_parts([rest, *below.split("\n")] if rest.strip() else below.split("\n")))
    role = role_of(mark)
    if not parts:
        return ()
    if role == "tool" and not any(isinstance(part, ToolResult) for part in parts):
        # Without its call, no API takes it as a result.
        return (Piece("user", parts, injected=True),)
    return (Piece(role, parts),)


def _parts(lines: Sequence[str]) -> Iterator[Part]:
    plain: list[str] = []
    at = 0
    #: By character, the shortest fence that nothing below can close.
    never: dict[str, int] = {}
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        if fence and (fence[1][0] == "~" or "`" not in fence[2]):
            kind, length = fence[1][0], len(fence[1])
            closing = 0
            if length < never.get(kind, length + 1):
                closing = _closing(lines, at, fence[1])
            if not closing:
                never[kind] = min(length, never.get(kind, length))
            if closing and (special := _SPECIAL.match(line)):
                yield from _plain(plain)
                plain = []
                yield _special(special, "\n".join(lines[at + 1 : closing]))
                at = closing + 1
                continue
            if closing:
                plain += lines[at : closing + 1]
                at = closing + 1
                continue
        plain.append(_unescaped(line))
        at += 1
    yield from _plain(plain)


def _closing(lines: Sequence[str], at: int, fence: str) -> int:
    """The line that closes a fence; 0 where none does."""
    for index in range(at + 1, len(lines)):
        found = _FENCE.match(lines[index])
        if found and found[1].startswith(fence) and not found[2].strip():
            return index
    return 0


def _plain(lines: Sequence[str]) -> Iterator[Text]:
    if text := "\n".join(lines).strip():
        yield Text(text)


def _special(opening: re.Match[str], text: str) -> Part:
    about = _about(opening[3])
    name, call = text_of(about.get("name")), text_of(about.get("id"))
    match opening[2]:
        case "thinking":
            return Thinking(text)
        case "tool-call":
            return ToolCall(call, name, text)
        case "tool-result":
            content = (Text(text),) if text else ()
            return ToolResult(call, content, about.get("error") is True, name)
    return Text(text)


def _about(held: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads(held or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _unescaped(line: str) -> str:
    bare = line.lstrip("\\")
    return line[1:] if bare != line and mark_of(bare) else line


# ----------------------------------------------------------------------------------- writing


def render(message: Message, notes: Notes) -> str:
    """What a message says, as it stands under its mark."""
    out: list[str] = []
    text_before = False
    for part in message.parts:
        made = _rendered(part, notes, text_before)
        if made:
            out.append(made)
            text_before = isinstance(part, (Text, Media, Opaque))
    return "\n\n".join(out)


def _rendered(part: Part, notes: Notes, text_before: bool) -> str:
    match part:
        case Text(text=text):
            return _text(text, text_before)
        case Thinking(text=text):
            if not text:
                notes.tell("plain-thinking", "reasoning that is sealed")
                return ""
            if part.signature:
                notes.tell("signature", "the signature of reasoning")
            return _block("thinking", text)
        case ToolCall(id=call, name=name, arguments=arguments):
            return _block("tool-call", arguments, name=name, id=call)
        case ToolResult(call_id=call, name=name):
            for inner in part.content:
                if isinstance(inner, Media):
                    notes.tell("media", f"{inner.mime or inner.kind} content")
            about: dict[str, object] = {"name": name, "id": call} if name else {"id": call}
            if part.is_error:
                about["error"] = True
            return _block("tool-result", part.text, **about)
        case Media():
            notes.tell("media", f"{part.mime or part.kind} content")
            return _text(part.label, text_before)
        case Opaque(kind=kind, text=text):
            notes.tell("opaque", f"a block of type {kind}")
            return _text(text, text_before)
    raise AssertionError("unreachable")


def _block(kind: str, text: str, **about: object) -> str:
    fence = fence_for(text)
    told = ""
    if about:
        told = " " + json.dumps(about, ensure_ascii=False).replace("`", "\\u0060")
    inside = f"{text}\n" if text else ""
    return f"{fence}{kind}{told}\n{inside}{fence}"


def _text(text: str, text_before: bool) -> str:
    """A text, in a fence only where it could not be told from what is around it."""
    if not text:
        return ""
    lines = text.split("\n")
    plain = (
        not text_before
        and text == text.strip()
        and "\r" not in text
        and lines[-1].strip() not in _RULES
        and not has_open_fence(text)
        and not any(map(_SPECIAL.match, lines))
    )
    if not plain:
        return _block("message", text)
    return "\n".join(_escaped(lines))


def _escaped(lines: Sequence[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1] if found[1][0] == "~" or "`" not in found[2] else ""
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
        elif not fence and mark_of(line.lstrip("\\")):
            yield "\\" + line
            continue
        yield line
