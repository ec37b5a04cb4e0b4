"""Which messages a person wants to see: filters as typed, and the search over full texts.

    role:user,assistant  region:summarized  tool:bash  kind:media  size:>5k  finding
    word  "two words"  -role:tool

A word before which a minus stands must not hold. Everything typed must hold at once.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from compaction.decision import Plan
from compaction.findings import LEVELS, Finding
from compaction.messages import IsCancelled, Message, Session
from compaction.tokens import Counts
from tui.widgets.amounts import parse_amount

#: What may stand before a colon, and what it means; `tokens` is another word for `size`.
KEYS: Final = ("role", "region", "tool", "kind", "size", "tokens", "finding")
_REGIONS: Final = ("head", "summarized", "kept", "cleared", "recent")
_KINDS: Final = ("text", "thinking", "call", "result", "media", "opaque", "summary")

_KIND_NAMES: Final = {"call": "tool call", "result": "tool result"}
_WORD = re.compile(r'(-?)(?:([A-Za-z]+):)?(?:"([^"]*)"|(\S+))')
_SIZE = re.compile(r"(>=|<=|>|<|=)?(.+)", re.DOTALL)
_RANGE = re.compile(r"(.+?)(?:\.\.|-)(.+)", re.DOTALL)

#: Messages between two looks at whether to stop.
_STRIDE = 64

Test = Callable[[int], bool]


class FilterError(ValueError):
    """A filter that says nothing; its text is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition. `values` are alternatives; `low` and `high` bound a size, both inclusive."""

    key: str
    values: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that hold together; `text` is how they were typed."""

    text: str
    clauses: tuple[Clause, ...]


def parse(text: str) -> Filter | None:
    """What was typed, as a filter; None for nothing. Raises FilterError."""
    clauses: list[Clause] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _WORD.match(text, at)
        if found is None:
            break
        at = found.end()
        quoted = found[3] is not None
        value = found[3] if quoted else found[4]
        clause = _clause(found[2] or "", value, negated=bool(found[1]), quoted=quoted)
        if clause is not None:
            clauses.append(clause)
    return Filter(text.strip(), tuple(clauses)) if clauses else None


def _clause(key: str, value: str, *, negated: bool, quoted: bool) -> Clause | None:
    word = key.lower()
    if not word:
        if value == "finding" and not quoted:
            return Clause("finding", negated=negated)
        if not quoted and value.endswith(":") and value[:-1].lower() in KEYS:
            raise _no_value(value[:-1].lower())
        return Clause("text", (value,), negated=negated) if value else None
    if word not in KEYS:
        near = get_close_matches(word, KEYS, n=1, cutoff=0.6)
        if near:
            raise FilterError(f"there is no {key}:, did you mean {near[0]}:?")
        # A URL or a path is a text, whatever stands before its colon.
        return Clause("text", (f"{key}:{value}",), negated=negated)
    if word in {"size", "tokens"}:
        return _size(value, negated=negated)
    values = tuple(each.strip().lower() for each in value.split(",") if each.strip())
    if not values:
        raise _no_value(word)
    if word == "region":
        values = tuple(_one_of(word, each, _REGIONS) for each in values)
    elif word == "kind":
        values = tuple(_one_of(word, each, _KINDS) for each in values)
    return Clause(word, values, negated=negated)


def _no_value(key: str) -> FilterError:
    return FilterError(f"{key}: needs a value, such as {_EXAMPLES[key]}")


_EXAMPLES: Final = {
    "size": "size:>5k",
    "tokens": "tokens:>5k",
    "role": "role:user",
    "region": "region:summarized",
    "tool": "tool:bash",
    "kind": "kind:media",
    "finding": "finding:error",
}


def _one_of(key: str, value: str, known: tuple[str, ...]) -> str:
    begun = [each for each in known if each.startswith(value)]
    if value == "pinned" and key == "region":
        return "kept"
    if len(begun) != 1:
        raise FilterError(f"there is no {key} “{value}”; there are {', '.join(known)}")
    return begun[0]


def _size(value: str, *, negated: bool) -> Clause:
    between = _RANGE.fullmatch(value)
    try:
        if between is not None:
            low, high = parse_amount(between[1]), parse_amount(between[2])
            return Clause("size", low=low, high=high, negated=negated)
        found = _SIZE.fullmatch(value)
        sign, amount = (found[1] or ">=", parse_amount(found[2])) if found else (">=", 0)
    except ValueError:
        raise FilterError(f"size:{value} is no size; try size:>5k, size:<200, size:1k-2k") from None
    match sign:
        case ">":
            return Clause("size", low=amount + 1, negated=negated)
        case "<":
            return Clause("size", high=amount - 1, negated=negated)
        case "<=":
            return Clause("size", high=amount, negated=negated)
        case "=":
            return Clause("size", low=amount, high=amount, negated=negated)
        case _:
            return Clause("size", low=amount, negated=negated)


# ------------------------------------------------------------------------------------ applying


def apply(
    session: Session,
    counts: Counts,
    plan: Plan,
    findings: Sequence[Finding],
    filters: Sequence[Filter],
    *,
    cancelled: IsCancelled | None = None,
) -> array[int]:
    """The indexes of the messages that pass every filter, ascending, as array('l').

    Bodies are parsed only where a text is asked for and everything else holds: then run it in a
    worker. Where `cancelled` says so the answer is what was found so far.
    """
    clauses = [clause for each in filters for clause in each.clauses]
    # What needs a body comes last.
    clauses.sort(key=lambda clause: clause.key == "text")
    tests = [_test(clause, session, counts, plan, findings) for clause in clauses]
    rows = array("l")
    for index in range(len(session.messages)):
        if cancelled is not None and index % _STRIDE == 0 and cancelled():
            break
        if all(test(index) for test in tests):
            rows.append(index)
    return rows


def needs_bodies(filters: Sequence[Filter]) -> bool:
    """Whether applying them reads whole messages, so that it belongs in a worker."""
    return any(clause.key == "text" for each in filters for clause in each.clauses)


def _test(
    clause: Clause, session: Session, counts: Counts, plan: Plan, findings: Sequence[Finding]
) -> Test:
    held = _positive(clause, session, counts, plan, findings)
    return (lambda index: not held(index)) if clause.negated else held


def _positive(
    clause: Clause, session: Session, counts: Counts, plan: Plan, findings: Sequence[Finding]
) -> Test:
    messages, values = session.messages, clause.values
    match clause.key:
        case "role":
            return lambda index: messages[index].role.lower().startswith(values)
        case "region":
            return lambda index: plan.region(index) in values
        case "tool":
            return lambda index: _names_tool(messages[index], values)
        case "kind":
            kinds = frozenset(_KIND_NAMES.get(value, value) for value in values)
            return lambda index: (
                not kinds.isdisjoint(messages[index].kinds)
                or ("summary" in kinds and bool(messages[index].summary))
            )
        case "size":
            low, high, tokens = clause.low, clause.high, counts.tokens
            return lambda index: low <= tokens[index] and (high is None or tokens[index] <= high)
        case "finding":
            found = _found(findings, values)
            return lambda index: index in found
        case _:
            (needle,) = values
            pattern = _pattern(needle)
            return lambda index: _holds(messages[index], pattern)


def _names_tool(message: Message, values: tuple[str, ...]) -> bool:
    if not message.tool:
        return False
    name = message.tool.lower()
    return any(value in name for value in values)


def _found(findings: Sequence[Finding], values: tuple[str, ...]) -> frozenset[int]:
    """The messages that a finding is about, of those levels or codes."""

    def meant(finding: Finding) -> bool:
        return not values or any(
            finding.level == value if value in LEVELS else value in finding.code
            for value in values
        )

    return frozenset(
        finding.message
        for finding in findings
        if finding.message is not None and meant(finding)
    )


# --------------------------------------------------------------------------------------- search


def search(
    session: Session,
    needle: str,
    *,
    start: int = 0,
    cancelled: IsCancelled | None = None,
    found: Callable[[array[int], int], None] | None = None,
) -> array[int]:
    """The messages from `start` on whose full text holds `needle`, ascending, as array('l').

    Letter case is ignored. Time is that of parsing every message: run it in a worker. `found` is
    told the hits so far and how many messages were looked at, every few dozen messages. Where
    `cancelled` says so the answer is what was found so far.
    """
    hits = array("l")
    if not needle:
        return hits
    pattern = _pattern(needle)
    messages = session.messages
    for index in range(start, len(messages)):
        if (index - start) % _STRIDE == 0:
            if cancelled is not None and cancelled():
                break
            if found is not None and index > start:
                found(array("l", hits), index)
        if _holds(messages[index], pattern):
            hits.append(index)
    return hits


def next_hit(hits: Sequence[int], at: int, step: int) -> int | None:
    """The position in `hits` of the next one after message `at`, or before it for a negative step.

    It goes on from the other end; None where there are none.
    """
    if not hits:
        return None
    if step < 0:
        return (bisect_left(hits, at) - 1) % len(hits)
    return bisect_left(hits, at + 1) % len(hits)


def within(hits: Sequence[int], rows: Sequence[int] | None) -> array[int]:
    """The hits that are among `rows` (ascending; None for all)."""
    if rows is None:
        return array("l", hits)
    shown = frozenset(rows)
    return array("l", (hit for hit in hits if hit in shown))


def _pattern(needle: str) -> re.Pattern[str]:
    return re.compile(re.escape(needle), re.IGNORECASE)


def _holds(message: Message, pattern: re.Pattern[str]) -> bool:
    # The preview is part of the text and is there already.
    return pattern.search(message.preview) is not None or pattern.search(message.text) is not None
