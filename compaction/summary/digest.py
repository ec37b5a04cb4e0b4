"""The digest: a summary made offline, the same for the same messages, and worth reading."""

from __future__ import annotations

from compaction.evidence import constraints, occurs, sentences, values
from compaction.secrets import mask
from compaction.summary.digest_facts import entries_of, read_messages
from compaction.summary.digest_layout import SECTIONS, Entry, Layout, fit, read_back
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
        """The digest of the messages, within `max_tokens`. Raises Cancelled only."""
        limit = request.max_tokens
        if self._max_tokens is not None:
            limit = min(limit, self._max_tokens)
        facts = read_messages(request)
        layout = entries_of(facts, request)
        for text in reversed(facts.earlier):
            layout = _merged(_carried(text), layout)
        return _fitted(_deduplicated(layout), limit, request.counter).text()


def _fitted(layout: Layout, limit: int, counter: TokenCounter) -> Layout:
    """`layout` within `limit` tokens; values get the room that nothing else takes, and only
    those that no line above holds anyway."""
    everything = layout.entries.pop("Values", [])
    left_out = layout.left_out.pop("Values", 0)
    reserved = int(limit * SECTIONS["Values"]) if everything else 0
    lines = fit(layout, limit - reserved, counter)
    said = lines.text()
    missing = [entry for entry in everything if not occurs(entry.text, said)]
    room = limit - counter.count(f"{said}\n")
    listed = fit(Layout({"Values": missing}, {"Values": left_out}), room, counter)
    if listed.entries:
        lines.entries.update(listed.entries)
        lines.left_out.update(listed.left_out)
    while counter.count(lines.text()) > limit and lines.entries.get("Values"):
        lines.entries["Values"].pop()
    return lines


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


def _foreign(text: str) -> Layout:
    """The lines of a summary that is no digest, the telling ones worth most."""
    layout = Layout()
    lines: dict[str, None] = {}
    for line in text.split("\n"):
        stripped = line.strip().lstrip("-*•#> ").strip()
        if len(stripped) < 3:
            continue
        if len(stripped) <= 400:
            lines.setdefault(stripped)
        else:
            lines.update(dict.fromkeys(sentences(stripped)))
    for place, line in enumerate(lines):
        shown = mask(line).text
        score = 5.0 + min(len(values(line)), 4) * 0.4 + (1.5 if constraints(line) else 0.0)
        forms = (shown,) if len(shown) <= 160 else (shown, shortened(shown, 160) or shown)
        layout.add("Earlier", Entry(forms, score, place - 1_000_000))
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
