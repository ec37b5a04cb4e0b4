"""Quoting for the digest: exact, bounded, never cut inside a value, secrets masked."""

from __future__ import annotations

import re

from compaction.evidence import values
from compaction.secrets import mask

#: Stands where something was left out of a quotation.
GAP = " […] "

_INJECTED = re.compile(
    r"<(system-reminder|local-command-caveat|local-command-stdout|local-command-stderr"
    r"|command-message"
    r"|environment_context|environment_details|user_instructions|ide_opened_file|ide_selection"
    r"|ide_diagnostics"
    r"|permissions instructions|collaboration_mode|turn_aborted|subagent_notification|skill)>",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"<command-name>([^<]{1,200})</command-name>|<command-args>([^<]{0,4000})</command-args>"
)
_IDE_REQUEST = "## My request for Codex:"
_SPACES = re.compile(r"[ \t\u00a0]{2,}")
_BLANKS = re.compile(r"\n\s*\n+")
_STOPS = ("\n", ". ", "! ", "? ", "。", "！", "？", "; ", "；")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")


def typed_text(text: str) -> str:
    """What the person wrote, of a user message: without what their tool put around it."""
    if _IDE_REQUEST in text:
        text = text.split(_IDE_REQUEST, 1)[1]
    if "<" not in text:
        return text.strip()
    if "<command-name>" in text:
        text = " ".join(
            part for match in _COMMAND.finditer(text) for part in match.groups() if part
        )
    pieces: list[str] = []
    at = 0
    while opening := _INJECTED.search(text, at):
        pieces.append(text[at : opening.start()])
        closer = f"</{opening[1]}>"
        end = text.find(closer, opening.end())
        if end < 0:
            at = len(text)
            break
        at = end + len(closer)
    pieces.append(text[at:])
    return "".join(pieces).strip()


def flat(text: str) -> str:
    """`text` on one line."""
    return " ".join(text.split())


def quoted(text: str, limit: int, *, one_line: bool = False) -> str:
    """`text` in quotation marks, at most about `limit` characters, secrets masked."""
    inner = bounded(text, limit, one_line=one_line)
    return f"“{inner}”" if inner else ""


def bounded(text: str, limit: int, *, one_line: bool = False) -> str:
    """`text`, secrets masked, cut down to `limit` characters where it is longer.

    A longer text keeps its beginning and its end, with a mark between. Cuts are made at the end
    of lines, sentences or words and never inside a value.
    """
    window = limit * 8 + 4000
    if len(text) > 2 * window:
        text = f"{text[:window].rsplit(None, 1)[0]}\n{text[-window:].split(None, 1)[-1]}"
    text = mask(text).text.strip()
    text = flat(text) if one_line else _BLANKS.sub("\n", _SPACES.sub(" ", text))
    if len(text) <= limit:
        return text
    begin = _cut_before(text, int(limit * 0.72))
    rest = text[begin:]
    end = _cut_after(rest, len(rest) - (limit - begin - len(GAP)))
    tail = rest[end:].strip() if end < len(rest) else ""
    return f"{text[:begin].rstrip()}{GAP}{tail}".rstrip()


def shortened(text: str, limit: int) -> str:
    """The beginning of `text` on one line, at most about `limit` characters, secrets masked."""
    text = flat(mask(text[: limit * 8 + 4000]).text)
    if len(text) <= limit:
        return text
    begin = _cut_before(text, limit)
    return f"{text[:begin].rstrip()} […]" if begin else ""


def _cut_before(text: str, at: int) -> int:
    """The best place to cut at or before `at`: 0 when there is none."""
    for stop in _STOPS:
        place = text.rfind(stop, at // 2, at)
        if place >= 0 and _free(text, place + len(stop)):
            return place + len(stop)
    place = at
    while place > 0:
        place = max(text.rfind(" ", 0, place), text.rfind("\n", 0, place), _cjk_cut(text, place))
        if place <= 0:
            return 0
        if _free(text, place):
            return place
    return 0


def _cut_after(text: str, at: int) -> int:
    """The first good place to cut at or after `at`: the length when there is none."""
    at = max(at, 0)
    for stop in _STOPS:
        place = text.find(stop, at, at + (len(text) - at) // 2)
        if place >= 0 and _free(text, place + len(stop)):
            return place + len(stop)
    for place in range(at, len(text)):
        if (text[place].isspace() or _CJK.match(text, place)) and _free(text, place):
            return place
    return len(text)


def _cjk_cut(text: str, at: int) -> int:
    """The last place before `at` between two characters of a script without spaces."""
    for place in range(at - 1, max(0, at - 200), -1):
        if _CJK.match(text, place) and _CJK.match(text, place - 1):
            return place
    return 0


def _free(text: str, at: int) -> bool:
    """Whether no value of the text lies across `at`."""
    start = max(0, at - 160)
    around = text[start : at + 160]
    here = at - start
    for value in values(around):
        found = around.find(value.text)
        while 0 <= found < here:
            if found + len(value.text) > here:
                return False
            found = around.find(value.text, found + 1)
    return True
