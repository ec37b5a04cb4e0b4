"""The blocks of an answer as SpecStory shows them: reasoning, and calls with what they gave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import unescape
from itertools import accumulate

from compaction.messages import Text, ToolCall, ToolResult

_OPEN = re.compile(
    r"^(?:<think><details><summary>[^\n]{0,200}?</summary>|<tool-use(?P<given>[^>\n]{0,2000})>)",
    re.MULTILINE,
)
_NAME = re.compile(r'data-tool-name="([^"\n]*)"')
_ID = re.compile(r'data-tool-id="([^"\n]*)"')
_FENCE = re.compile(r"(`{3,}|~{3,})([^`\n]*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: where it stands, where its inside does, and the attributes of a call.

    `given` is None for reasoning.
    """

    start: int
    end: int
    first: int
    last: int
    given: str | None


def blocks(text: str) -> Iterator[Block]:
    """The blocks of an answer, whose ends stand at the end of a line."""
    at = 0
    never: set[str] = set()
    while opening := _OPEN.search(text, at):
        closer = "</details></think>" if opening["given"] is None else "</tool-use>"
        at = opening.end()
        if closer in never:
            continue
        end = text.find(closer, at)
        while end >= 0 and not _ends_line(text, end + len(closer)):
            end = text.find(closer, end + 1)
        if end < 0:
            never.add(closer)
            continue
        yield Block(opening.start(), end + len(closer), at, end, opening["given"])
        at = end + len(closer)


def _ends_line(text: str, at: int) -> bool:
    end = text.find("\n", at)
    return not text[at : at + 80 if end < 0 else min(end, at + 80)].strip()


def outputs(inside: str) -> list[tuple[int, int, str]]:
    """The fenced blocks of plain text: where each starts and ends, and what is in it."""
    lines = inside.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    closing: dict[str, list[int]] = {}
    for index in range(len(lines) - 1, -1, -1):
        bare = lines[index].rstrip()
        if bare and not bare.strip(bare[0]) and bare[0] in "`~":
            closing.setdefault(bare, []).append(index)
    out: list[tuple[int, int, str]] = []
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index].rstrip())
        index += 1
        if fence is None:
            continue
        # From the last line to the first, so that those that were passed are dropped at once.
        ends = closing.get(fence[1], [])
        while ends and ends[-1] < index:
            ends.pop()
        if not ends:
            continue
        end = ends.pop()
        if fence[2].strip() in ("", "text"):
            text = "\n".join(lines[index:end])
            out.append((starts[index - 1], starts[end] + len(lines[end]), text))
        index = end + 1
    return out


def call_in(given: str, inside: str, number: int) -> tuple[ToolCall, ToolResult]:
    """A call and its result; the last block of plain text is what the tool gave."""
    name = _NAME.search(given)
    stated = _ID.search(given)
    tool = unescape(name[1]) if name else "tool"
    shown = re.sub(r"[^a-zA-Z0-9_-]", "_", tool)[:20] or "tool"
    made = f"{shown}-{sha256(inside.encode('utf-8', 'replace')).hexdigest()[:12]}-{number}"
    call = unescape(stated[1]) if stated else made
    gave = ""
    if found := outputs(inside):
        start, end, gave = found[-1]
        inside = inside[:start] + inside[end:]
    # A result that is empty is not shown at all.
    content = (Text(unescape(gave)),) if gave else ()
    return ToolCall(call, tool, _bare(inside)), ToolResult(call, content, name=tool)


def _bare(inside: str) -> str:
    """What a call was given, without the frame around it."""
    start = inside.find("<summary>")
    end = inside.find("</summary>", start)
    if start >= 0 and end >= 0:
        inside = inside[:start] + inside[end + len("</summary>") :]
    return unescape(inside.replace("<details>", "").replace("</details>", "").strip())


def without_outputs(text: str) -> str:
    """An answer in which the calls stand without what they gave."""
    out: list[str] = []
    at = 0
    for block in blocks(text):
        if block.given is None:
            continue
        out.append(text[at : block.first])
        inside, here = text[block.first : block.last], 0
        for start, end, _ in outputs(inside):
            out.append(inside[here:start])
            here = end
        out.append(inside[here:])
        at = block.last
    return "".join(out) + text[at:]
