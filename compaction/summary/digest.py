"""The digest: a summary made offline, the same for the same messages, and worth reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compaction.constraints import constraints, sentences
from compaction.errors import SummarizerError
from compaction.evidence import occurs, values
from compaction.marker import clean
from compaction.secrets import mask
from compaction.summary.digest_entries import entries_of
from compaction.summary.digest_facts import read_messages
from compaction.summary.digest_layout import SECTIONS, Entry, Layout, fit, folded, read_back
from compaction.summary.protocol import SummaryRequest, TokenCounter
from compaction.summary.quoting import flat, shortened


class Digest:
    """Says what was asked, decided, done, what failed and is open, and the exact values.

    Everything it quotes is copied from the messages. An earlier digest among them is merged
    entry by entry, the summary of another tool line by line, so that summaries never nest.
    """

    name = "digest"
    #: The text is this program's own: it is used exactly as made.
    verbatim = True

    def __init__(self, max_tokens: int | None = None) -> None:
        self._max_tokens = max_tokens

    def summarize(self, request: SummaryRequest) -> str:
        """The digest of the messages, within `max_tokens`.

        Raises Cancelled, and SummarizerError when the messages are hardly more than their exact
        values: a digest that is smaller would only lose some of them.
        """
        limit = request.max_tokens
        if self._max_tokens is not None:
            limit = min(limit, self._max_tokens)
        facts = read_messages(request)
        layout = entries_of(facts, request)
        for text in reversed(facts.earlier):
            layout = _merged(_carried(text), layout)
        layout = _deduplicated(layout)
        request.heed()
        named = [entry for entry in layout.entries.get("Values", ()) if _is_exact(entry)]
        fitted = _fitted(layout, limit, request.counter)
        text = fitted.text()
        source = sum(message.chars for message in request.messages)
        if source <= limit * _CHARS_PER_TOKEN and fitted.entries.keys() <= {"Values"}:
            lost = sum(not occurs(entry.text, text) for entry in named)
            if lost:
                raise SummarizerError(
                    f"The {len(named)} exact values of these messages do not fit into a digest "
                    f"that is smaller than the messages; {lost} would be lost."
                )
        return text


def _fitted(layout: Layout, limit: int, counter: TokenCounter) -> Layout:
    """`layout` within `limit` tokens.

    Rules and decisions that stand in a quoted request anyway give way to others. Values get the
    room that nothing else takes, and only those that no line above holds; where exact values
    that somebody named would be lost, lines give way to them, up to a part of the whole.
    """
    everything = layout.entries.pop("Values", [])
    left_out = layout.left_out.pop("Values", 0)
    layout = folded(layout)
    most = int(limit * (_MOST_VALUES if limit > _TIGHT else _MOST_VALUES_TIGHT))
    reserved = int(limit * SECTIONS["Values"]) if everything else 0
    for _ in range(_PASSES):
        lines = _lines(layout, limit - reserved, counter)
        needed = _needed(_unsaid(everything, lines), counter)
        if needed <= reserved or reserved >= most:
            break
        reserved = min(needed, most)
    missing = _unsaid(everything, lines)
    room = limit - counter.count(f"{lines.text()}\n")
    if limit <= _TIGHT:
        missing = [replace(entry, group="Exact") for entry in missing]
    listed = fit(Layout({"Values": missing}, {"Values": left_out}), room, counter)
    if listed.entries:
        lines.entries.update(listed.entries)
        lines.left_out.update(listed.left_out)
        _add_more(lines, missing, left_out, limit, counter)
    while counter.count(lines.text()) > limit and lines.entries.get("Values"):
        lines.entries["Values"].pop()
    return lines


#: The greatest part of a digest that values may take from the lines, and of a very short one.
_MOST_VALUES, _MOST_VALUES_TIGHT, _TIGHT = 0.2, 0.95, 300
_PASSES = 3
_TRIES = 12
#: Characters of the messages for one token of the digest, from which on it is worth a loss.
_CHARS_PER_TOKEN = 5
#: Values of these lists that were named with at least this score must not be lost for a line.
_EXACT = frozenset({"URLs", "Paths", "Ids", "Addresses", "Dates", "Settings"})
_EXACT_SCORE = 1.5
#: Tokens that the heading, the names of the lists and the note of what is left out take.
_LIST_TOKENS = 24


def _add_more(
    lines: Layout, values: Sequence[Entry], left_out: int, limit: int, counter: TokenCounter
) -> None:
    """Add the best values that `fit` had to leave out by its careful sums but that do fit."""
    taken = lines.entries["Values"]
    there = {entry.text for entry in taken}
    waiting = [entry for entry in values if entry.text not in there]
    waiting.sort(key=lambda entry: -entry.score)
    for entry in waiting[:_TRIES]:
        missing = len(values) - len(taken) - 1 + left_out
        lines.left_out["Values"] = missing
        taken.append(entry)
        if counter.count(lines.text()) > limit:
            taken.pop()
            lines.left_out["Values"] = missing + 1


def _lines(layout: Layout, limit: int, counter: TokenCounter) -> Layout:
    lines = fit(layout, limit, counter)
    repeated = _without_repeats(layout, lines)
    return lines if repeated is layout else fit(repeated, limit, counter)


def _is_exact(entry: Entry) -> bool:
    return entry.group in _EXACT and entry.score >= _EXACT_SCORE


def _needed(entries: Sequence[Entry], counter: TokenCounter) -> int:
    """Tokens to list the values among `entries` that must not be lost."""
    exact = [entry.text for entry in entries if _is_exact(entry)]
    if not exact:
        return 0
    return sum(counter.count_many([f"{text} · " for text in exact[:400]])) + _LIST_TOKENS


_REPEATING = ("Must / must not", "Decided", "Open")


def _without_repeats(layout: Layout, lines: Layout) -> Layout:
    """`layout` without the sentences that the requests chosen in `lines` quote in full."""
    said = flat(
        "\n".join(
            entry.text
            for section in ("Asked", "Last said")
            for entry in lines.entries.get(section, ())
        )
    )
    result = Layout(dict(layout.entries), dict(layout.left_out))
    changed = False
    for section in _REPEATING:
        entries = layout.entries.get(section, [])
        kept = [entry for entry in entries if entry.text.strip("“”") not in said]
        if len(kept) < len(entries):
            result.entries[section] = kept
            changed = True
    return result if changed else layout


def _unsaid(entries: Sequence[Entry], lines: Layout) -> list[Entry]:
    """The values that no line holds, neither whole nor under the folder it is listed in."""
    said = lines.text()
    folders = {
        entry.group.partition(" in ")[2]
        for entry in lines.entries.get("Done", ())
        if " in /" in entry.group
    }
    kept: list[Entry] = []
    for entry in entries:
        if occurs(entry.text, said):
            continue
        if any(
            entry.text.startswith(f"{folder}/") and occurs(entry.text[len(folder) + 1 :], said)
            for folder in folders
        ):
            continue
        kept.append(entry)
    return kept


# ------------------------------------------------------------------------ earlier summaries

#: How much a fact of an earlier summary is worth, by section: what was kept once stays.
_CARRIED_SCORE = {
    "Asked": 5.5, "Must / must not": 7.5, "Decided": 5.0, "Done": 5.5, "Failed": 3.0, "Open": 3.0,
    "Values": 4.5, "Earlier": 6.5,
}  # fmt: skip


def _carried(text: str) -> Layout:
    """The entries of an earlier summary, in the sections they stood in."""
    layout = read_back(text)
    if layout is None:
        return _foreign(text)
    layout.entries.pop("Last said", None)
    for section, entries in layout.entries.items():
        base = _CARRIED_SCORE.get(section, 4.0)
        layout.entries[section] = [
            Entry(
                _shorter_forms(entry.text),
                9.0 if section == "Asked" and not place else base,
                place - 1_000_000,
                entry.group,
            )
            for place, entry in enumerate(entries)
        ]
    return layout


def _shorter_forms(text: str) -> tuple[str, ...]:
    """A carried request may stand without what came of it when room is short."""
    head, arrow, _ = text.partition("\n→ ")
    return (text, head) if arrow else (text,)


_HEADING = re.compile(
    r"\s{0,6}(?:#{1,6}\s{0,4}|\d{1,2}[.)]\s{0,4}|\*\*|__)?([A-Z][^:*\n]{2,60}?)(?:\*\*"
    r"|__)?:?(?:\*\*)?\s*\Z"
)
_WORTH = (
    (
        re.compile(
            r"request|intent|goal|objective|overview|pending|next|current|open|todo|remaining"
            r"|constraint",
            re.I,
        ),
        6.5,
    ),
    (
        re.compile(
            r"error|fix|problem|decision|prefer|discover|critical|done|progress|stat(?:us|e)", re.I
        ),
        5.5,
    ),
    (re.compile(r"user message", re.I), 4.5),
    (re.compile(r"file|code|concept|technical|context", re.I), 3.5),
)
# What the tool that wrote a summary tells its model, and nothing about the conversation.
_BOILERPLATE = re.compile(
    r"Please continue (?:the|with)|Continue with the last task|If you need specific details"
    r" from before|Continue the conversation from"
    r"|Analysis:?\Z|Summary:?\Z|Chronological|Let me (?:analy[sz]e|go through)",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```[^\n]{0,80}\n(?:(?!```).){0,20000}(?:```|\Z)", re.DOTALL)


def _foreign(text: str) -> Layout:
    """The lines of a summary that is no digest, those under telling headings worth most."""
    layout = Layout()
    worth = 5.0
    place = 0
    seen: set[str] = set()
    for line in _FENCED.sub("\n", clean(text).text).split("\n"):
        heading = _HEADING.match(line)
        if heading:
            worth = next((score for form, score in _WORTH if form.search(heading[1])), worth)
            if line.strip().endswith((":", "*", "_")) or line.lstrip().startswith("#"):
                continue
        stripped = line.strip().lstrip("-*•#> ").strip()
        pieces = [stripped] if len(stripped) <= 400 else sentences(stripped)
        for piece in pieces:
            if len(piece) < 3 or piece in seen or _BOILERPLATE.match(piece):
                continue
            seen.add(piece)
            place += 1
            shown = mask(piece).text
            score = worth + min(len(values(piece)), 4) * 0.1 + (0.8 if constraints(piece) else 0)
            forms = (shown,) if len(shown) <= 160 else (shown, shortened(shown, 160) or shown)
            layout.add("Earlier", Entry(forms, score - place * 1e-4, place - 1_000_000))
    return layout


def _merged(older: Layout, newer: Layout) -> Layout:
    """Both, the older first."""
    merged = Layout()
    for section in {**older.entries, **newer.entries}:
        merged.entries[section] = [
            *older.entries.get(section, ()),
            *newer.entries.get(section, ()),
        ]
    for layout in (older, newer):
        for section, count in layout.left_out.items():
            merged.left_out[section] = merged.left_out.get(section, 0) + count
    return merged


def _deduplicated(layout: Layout) -> Layout:
    """Each fact once; a value that a quoted line holds anyway needs no place of its own."""
    result = Layout(left_out=dict(layout.left_out))
    for section, entries in layout.entries.items():
        seen: dict[str, Entry] = {}
        for entry in entries:
            key = _key(entry)
            known = seen.get(key)
            if known is None or known.order <= entry.order:
                seen[key] = _joined(known, entry)
        result.entries[section] = list(seen.values())
    return result


def _key(entry: Entry) -> str:
    text, _, _ = entry.text.partition(" ×") if entry.group else entry.text.partition(" → ")
    return f"{entry.group}\0{flat(text)}"


def _joined(known: Entry | None, entry: Entry) -> Entry:
    if known is None:
        return entry
    times = _times(known.text) + _times(entry.text)
    forms = entry.forms
    if entry.group and times > 2:
        forms = (f"{entry.text.partition(' ×')[0]} ×{times}",)
    return Entry(forms, max(known.score, entry.score), known.order, entry.group)


def _times(text: str) -> int:
    _, _, count = text.partition(" ×")
    return int(count) if count.isdigit() else 1
