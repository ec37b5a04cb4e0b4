"""Reading the messages for a digest: one pass that collects what each section may say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from compaction.constraints import Phrases, constraints, demands, sentences
from compaction.evidence import values, window
from compaction.messages import Media, Message, Opaque, Text, ToolCall, ToolResult
from compaction.summary.earlier import earlier_summary, said_beside
from compaction.summary.protocol import SummaryRequest
from compaction.summary.quoting import flat, typed_text
from compaction.summary.work_log import WorkLog

_RESULT_WINDOW = 1500
_ARGUMENT_WINDOW = 1000
_PROSE_WINDOW = 20_000
_VALUES_HELD = 40_000
_OWN_WORDS = 1500
_FEWEST_SPACES = 2

_KIND_WEIGHT = {
    "id": 1.3, "url": 1.2, "address": 1.2, "pair": 1.1, "path": 1.0, "date": 0.9, "number": 0.9,
    "name": 0.6,
}  # fmt: skip

#: What is no request by itself: a yes, a thanks, a go-on.
SMALL_TALK = re.compile(
    r"(?:ok(?:ay)?|yes|yep|yeah|no|nope|sure|thanks?(?: you)?|go(?: on| ahead)?|continue"
    r"|proceed|next|done|great|perfect"
    r"|please (?:continue|proceed|go on)|do it|y|n|hi|hello|hey|good|nice|cool|lgtm|好的?|是的?"
    r"|继续|谢谢|はい|いいえ|続けて"
    r"|ありがとう(?:ございます)?|ja|nein|danke|weiter|oui|non|merci|sí|gracias|sigue)[.!。！, ]*\Z",
    re.IGNORECASE,
)
_DECISION = Phrases(
    r"\b(?:decided|decision|(?:I|we)['’](?:ll|ve) (?:use|go with|keep|switch|chosen|implement"
    r" it)|let['’]s (?:use|go with|keep|switch)"
    r"|go(?:ing)? with|instead of|rather than|root cause|the (?:real |actual )?(?:problem|issue"
    r"|bug|fix|cause) (?:is|was)|turns out"
    r"|opted|chose|agreed|conclusion|the reason (?:is|was)|this means|key (?:finding|insight)"
    r"|fixed by|because of"
    r"|entschieden|statt|Ursache|décidé|plutôt que|decidí|decidimos|en lugar de)\b",
    r"决定|采用|改用|原因是|根本原因|问题在于|決め|決定|採用|原因は|ことにし",
)
_OPENING = Phrases(
    r"\b(?:next step|still (?:need|to do|fail|missing|open)|remaining|TODO|to[- ]do|not yet"
    r"|pending|follow[- ]?up|blocked|unresolved"
    r"|open question|needs? to be|waiting for|noch offen|offene Frage|reste à|queda(?:n)? por"
    r"|pendiente)\b",
    r"待办|尚未|还需|未解决|未完了|残り|今後",
)
# One of these stands, in small letters, in everything that the two above find outside of ASCII.
_CUES = (
    "deci", "use ", "go with", "going with", "keep", "switch", "chosen", "implement it", "instead",
    "rather", "cause", "problem", "issue", "bug", "fix", "turns out", "opted", "chose", "agreed",
    "conclusion", "reason", "this means", "finding", "insight", "entschied", "statt", "ursache",
    "décid", "plutôt", "en lugar", "决定", "采用", "改用", "原因", "问题在于", "決", "採用",
    "ことにし", "next step", "still", "remaining", "todo", "to-do", "to do", "not yet", "pending",
    "follow", "blocked", "unresolved", "open question", "need", "waiting", "noch offen",
    "offene frage", "reste à", "queda", "pendiente", "待办", "尚未", "还需", "未解决", "未完了",
    "残り", "今後",
)  # fmt: skip

#: What is about to be done is neither decided nor open: the tool calls that follow say more.
ANNOUNCED = re.compile(
    r"(?:now,? )?(?:let me|let['’]s|I['’]ll (?:now|start|check|look|read|help|continue)|I need"
    r" to|next,? I)\b",
    re.I,
)
_FENCED = re.compile(r"```[^\n]{0,80}\n(?:(?!```).){0,20000}(?:```|\Z)", re.DOTALL)
_LIST_MARK = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+")
_INTERRUPTED = "[Request interrupted by user"
#: The roles whose messages are what they look like.
_SPEAKERS = frozenset({"system", "developer", "user", "assistant", "tool"})


@dataclass(slots=True)
class Turn:
    """One request and the last thing the assistant said to it."""

    at: int
    text: str
    media: list[str] = field(default_factory=list)
    reply: str = ""


@dataclass(slots=True)
class Facts:
    """What one pass over the messages found."""

    turns: list[Turn] = field(default_factory=list)
    work: WorkLog = field(default_factory=WorkLog)
    musts: dict[str, tuple[float, int]] = field(default_factory=dict)
    decided: dict[str, tuple[float, int]] = field(default_factory=dict)
    open: dict[str, tuple[float, int]] = field(default_factory=dict)
    found: dict[str, tuple[str, float]] = field(default_factory=dict)
    earlier: list[str] = field(default_factory=list)
    instructions: list[tuple[str, int]] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    last: str = ""
    last_at: int = -1
    last_question: str = ""
    messages: int = 0


def read_messages(request: SummaryRequest) -> Facts:
    """Collect the facts of the messages of `request`. Raises Cancelled."""
    facts = Facts(messages=len(request.messages))
    known = {flat(text) for text in request.previous}
    for at, message in enumerate(request.messages):
        if at % 256 == 0:
            request.heed()
        earlier = earlier_summary(message, request.labels)
        if earlier is not None:
            if earlier.strip():
                facts.earlier.append(earlier)
            known.discard(flat(earlier))
            said = said_beside(message, request.labels) if message.role == "user" else ""
            if said:
                _user(facts, message, said, [], at)
            continue
        _read(facts, message, at)
    facts.earlier[:0] = [text for text in request.previous if flat(text) in known]
    return facts


def _read(facts: Facts, message: Message, at: int) -> None:
    role = message.role
    media: list[str] = []
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text(text=text):
                if text.strip():
                    texts.append(text)
            case ToolCall():
                facts.work.call(part, at)
                _values(facts, window(part.arguments, _ARGUMENT_WINDOW), 0.8, prose=False)
            case ToolResult():
                _result(facts, part, at, media)
            case Media():
                media.append(omitted(part))
            case Opaque(kind=kind, text=text):
                _values(facts, window(text, _RESULT_WINDOW), 0.5, prose=False)
                if role in _SPEAKERS:
                    facts.work.called[kind or "unknown part"] += 1
                else:
                    texts.append(text)
            case _:
                continue
    text = "\n".join(texts)
    match role:
        case "user":
            _user(facts, message, text, media, at)
        case "assistant":
            _assistant(facts, text, media, at)
        case "system" | "developer":
            _instructions(facts, text, at)
        case _ if text and role not in _SPEAKERS:
            # Nobody knows what such a message is, so its own words are told.
            facts.work.told(role, text, at)
            _values(facts, window(text, _RESULT_WINDOW), 0.4, prose=False)
        case _ if text and not message.results:
            _result(facts, ToolResult("", (Text(text),), name=message.name or role), at, media)


def omitted(part: Media) -> str:
    """What stands where a medium was: `[image/png, 1,204 bytes, omitted]`."""
    return f"{part.label[:-1]}, omitted]"


# ------------------------------------------------------------------------------- by speaker


def _user(facts: Facts, message: Message, text: str, media: list[str], at: int) -> None:
    said = typed_text(text) if text else ""
    if message.injected or (message.results and not said):
        _values(facts, window(text, _RESULT_WINDOW), 0.5, prose=False)
        return
    if not said and not media:
        return
    if said.startswith(_INTERRUPTED):
        return
    facts.turns.append(Turn(at, said, list(media)))
    facts.last_question = ""
    if not SMALL_TALK.match(said):
        # A new request supersedes what was still to do for the one before it.
        facts.open.clear()
    _values(facts, said[:_PROSE_WINDOW], 4.0, prose=True)
    # A long text is mostly pasted: only what is put strongly is taken for the person's own rule.
    own = len(said) <= _OWN_WORDS
    for sentence in constraints(said[:_PROSE_WINDOW], weak=own):
        few_words = sentence.isascii() and sentence.count(" ") < _FEWEST_SPACES
        if (own or demands(sentence)) and not few_words:
            _keep(facts.musts, _unlisted(sentence), 7.0 if own else 4.5, at)


def _assistant(facts: Facts, text: str, media: list[str], at: int) -> None:
    text = text.strip()
    if not text and not media:
        return
    said = " ".join([text, *media]).strip()
    facts.last, facts.last_at = said, at
    if facts.turns:
        facts.turns[-1].reply = said
    else:
        facts.before.append(said)
    prose = text[:_PROSE_WINDOW]
    _values(facts, prose, 2.0, prose=True)
    facts.last_question = ""
    if "?" in prose or _may_tell(prose):
        _sentences(facts, prose, at)


def _may_tell(prose: str) -> bool:
    """Whether a sentence of `prose` may ask, decide or leave open something."""
    if prose.isascii():
        return _DECISION.within(prose) or _OPENING.within(prose)
    lowered = prose.lower()
    return "？" in prose or any(cue in lowered for cue in _CUES)


def _sentences(facts: Facts, prose: str, at: int) -> None:
    for sentence in sentences(_FENCED.sub("\n", prose)):
        if len(sentence) < 12 or sentence[0] in "#|":
            continue
        if sentence.endswith(("?", "？")):
            facts.last_question = sentence
        elif sentence.endswith((":", "：")) or ANNOUNCED.match(sentence):
            continue
        elif _DECISION.within(sentence):
            _keep(facts.decided, _unlisted(sentence), 4.0, at)
        elif _OPENING.within(sentence):
            _keep(facts.open, _unlisted(sentence), 3.0, at)


def _unlisted(sentence: str) -> str:
    return _LIST_MARK.sub("", sentence, count=1) if _LIST_MARK.match(sentence) else sentence


def _instructions(facts: Facts, text: str, at: int) -> None:
    if not text:
        return
    facts.instructions.append((text, at))
    # Long instructions are mostly the same for every session of a tool.
    worth = 6.0 if len(text) <= _OWN_WORDS else 2.5
    for sentence in constraints(text[:_PROSE_WINDOW], weak=False):
        _keep(facts.musts, _unlisted(sentence), worth, at)
    _values(facts, text[:_PROSE_WINDOW], 2.0, prose=True)


def _result(facts: Facts, part: ToolResult, at: int, media: list[str]) -> None:
    facts.work.result(part, at)
    media.extend(omitted(inner) for inner in part.content if isinstance(inner, Media))
    for inner in part.content:
        if not isinstance(inner, Media):
            _values(facts, window(inner.text, _RESULT_WINDOW), 0.4, prose=False)


def _keep(into: dict[str, tuple[float, int]], sentence: str, score: float, at: int) -> None:
    known = into.get(sentence)
    if known is None or known[1] < at:
        into[sentence] = (score + (0.3 if known else 0.0), at)


def _values(facts: Facts, text: str, weight: float, *, prose: bool) -> None:
    found = facts.found
    for value in values(text, prose=prose):
        known = found.get(value.text)
        score = weight * _KIND_WEIGHT[value.kind]
        if known is None:
            found[value.text] = (value.kind, score)
        else:
            found[value.text] = (known[0], max(known[1], score) + min(score, 1.0) * 0.2)
    if len(found) > _VALUES_HELD:
        ranked = sorted(found.items(), key=lambda item: -item[1][1])[: _VALUES_HELD // 2]
        best = dict(ranked)
        facts.found = {text: held for text, held in found.items() if text in best}
