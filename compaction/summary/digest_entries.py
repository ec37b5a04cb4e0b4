"""The facts of a digest as entries: quoted, in several lengths, with how useful each one is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from compaction.secrets import mask
from compaction.summary.digest_facts import ANNOUNCED, SMALL_TALK, Facts, Turn
from compaction.summary.digest_layout import SECTIONS, Entry, Layout
from compaction.summary.protocol import SummaryRequest
from compaction.summary.quoting import quoted

#: A request shorter than this says little without the ones around it.
_SHORT = 24
#: The least score of a value that a person or the assistant named, or a call was made with.
_NAMED = 0.75
#: How many values of one kind that only tools named are listed at most.
_TOOL_VALUES = 12
#: In a longer conversation a bare "yes" is not worth a line, whatever came of it.
_MANY_TURNS = 30
#: In a short one the replies to the first and the last request are told before anything else.
_FEW_TURNS = 12

_GROUP_OF = {
    "url": "URLs", "path": "Paths", "id": "Ids", "address": "Addresses", "date": "Dates",
    "pair": "Settings", "number": "Numbers", "name": "Names",
}  # fmt: skip
_FILLER = re.compile(
    r"(?:(?:perfect|great|excellent|done|good|awesome|sure|okay|ok|absolutely|certainly"
    r"|understood|got it|now|wonderful|nice"
    r"|you['’]re (?:absolutely )?right)\b[^.!?\n]{0,40}[.!:]+\s+)",
    re.IGNORECASE,
)


def entries_of(facts: Facts, request: SummaryRequest) -> Layout:
    """The facts as entries of a digest, each in a fuller and in shorter forms."""
    layout = Layout()
    room = request.max_tokens * 4
    _lay_asked(facts, layout, room)
    for section, found in (
        ("Must / must not", facts.musts),
        ("Decided", facts.decided),
        ("Open", facts.open),
    ):
        _lay_sentences(section, found, layout, facts.messages)
    for told, at in facts.instructions:
        long, short = (quoted(told, size, one_line=True) for size in (400, 160))
        forms = (f"instructions: {long}", f"instructions: {short}")
        layout.add("Must / must not", Entry(forms, 8.0, at))
    if facts.last_question:
        text = f"asked the user: {quoted(facts.last_question, 300, one_line=True)}"
        layout.add("Open", Entry((text,), 6.5, facts.messages))
    facts.work.lay_out(layout, facts.messages)
    for place, (text, kind, score) in enumerate(_worth_listing(facts.found)):
        layout.add("Values", Entry((text,), score * 0.9, place, _GROUP_OF[kind]))
    _lay_last(facts, layout, request, room)
    return layout


def _worth_listing(found: dict[str, tuple[str, float]]) -> Iterator[tuple[str, str, float]]:
    """The values for a list: those that only a tool named are many, so a few of each kind."""
    told = sorted(
        (-score, place, text, kind)
        for place, (text, (kind, score)) in enumerate(found.items())
        if score < _NAMED
    )
    listed: Counter[str] = Counter()
    best: set[str] = set()
    for _, _, text, kind in told:
        if listed[kind] < _TOOL_VALUES:
            listed[kind] += 1
            best.add(text)
    for text, (kind, score) in found.items():
        if (
            (score >= _NAMED or text in best)
            and "·" not in text
            and "\n" not in text
            and not mask(text).kinds
        ):
            yield text, kind, score


def _lay_asked(facts: Facts, layout: Layout, room: int) -> None:
    turns = facts.turns
    # The characters each request may take, so that many are told briefly and few at length.
    each = max(110, int(room * SECTIONS["Asked"]) // max(1, len(turns)))
    final = len(turns) - 1
    answered = _answers_last(facts)
    scored: list[tuple[float, int]] = []
    for place, turn in enumerate(turns):
        reply = "" if place == final and answered else turn.reply
        scored.append((_turn_score(turn, place, final, told=bool(_told_text(reply))), place))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    told_of = [(score, place) for score, place in scored if score > 0][: max(24, room // 60)]
    for score, place in told_of:
        turn, edge = turns[place], place in {0, final}
        reply = "" if place == final and answered else turn.reply
        most = max(80, min(900 if place == 0 else 500, room // 3))
        limit = most if edge else min(most, each)
        told = _told(reply, 280)
        whole, asked, brief = (
            " ".join([quoted(turn.text, size), *turn.media]).strip()
            for size in (most, limit, max(80, limit // 3))
        )
        fuller = [f"{whole}\n→ {told}", f"{asked}\n→ {_told(reply, 120)}"] if told else []
        forms = list(dict.fromkeys([*fuller, whole, asked, brief]))
        first = forms.index(whole if edge else asked)
        if edge and len(turns) <= _FEW_TURNS:
            first = 0
        layout.add("Asked", Entry(tuple(forms), score, turn.at, first=first))
    if len(told_of) < len(turns):
        layout.left_out["Asked"] = len(turns) - len(told_of)
    for place, said in enumerate(facts.before[-5:]):
        told = _told_text(said)
        if len(told) >= _SHORT and not ANNOUNCED.match(told):
            layout.add("Decided", Entry((quoted(told, 280, one_line=True),), 3.5, place))


def _turn_score(turn: Turn, place: int, final: int, *, told: bool) -> float:
    """How useful a request is; 0 for small talk that nothing came of."""
    small_talk = bool(SMALL_TALK.match(turn.text)) and not turn.media
    if small_talk and final and (not told or final >= _MANY_TURNS):
        return 0.0
    score = 9.0 if place == 0 else 8.0 if place == final else 4.0 + 2.0 * place / final
    if small_talk or (len(turn.text) < _SHORT and not turn.media):
        score = min(score, 2.5)
    return score


def _told(reply: str, limit: int) -> str:
    text = _told_text(reply)
    return quoted(text, limit, one_line=True) if text else ""


def _told_text(reply: str) -> str:
    text = reply.strip()
    if text.endswith((":", "：")) and len(text) < 400:
        return ""
    for _ in range(3):
        shorter = _FILLER.sub("", text, count=1) if _FILLER.match(text) else text
        if shorter == text or not shorter.strip():
            break
        text = shorter
    return text


def _lay_sentences(
    section: str, found: dict[str, tuple[float, int]], layout: Layout, messages: int
) -> None:
    for sentence, (score, at) in found.items():
        text = quoted(sentence, 400, one_line=True)
        layout.add(section, Entry((text,), score + 0.9 * at / max(1, messages), at))


def _answers_last(facts: Facts) -> bool:
    """Whether the last assistant text ends the messages, so that what follows answers it."""
    return facts.last_at >= 0 and facts.last_at == facts.messages - 1


def _lay_last(facts: Facts, layout: Layout, request: SummaryRequest, room: int) -> None:
    follows = request.follows
    answered = follows is None or follows.role == "user"
    if not _answers_last(facts) or not answered or not facts.last:
        return
    limit = max(80, min(1200, room // 4))
    forms = dict.fromkeys(quoted(facts.last, size) for size in (limit, limit // 2, limit // 4))
    layout.add("Last said", Entry(tuple(forms), 9.5, 0))
