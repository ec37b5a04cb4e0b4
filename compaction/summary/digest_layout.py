"""The layout of a digest: sections of entries, fitted into tokens, and read back again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from compaction.summary.protocol import TokenCounter

#: Headings in the order they stand, each with its share of the tokens.
SECTIONS: dict[str, float] = {
    "Asked": 0.32,
    "Must / must not": 0.14,
    "Decided": 0.10,
    "Done": 0.22,
    "Failed": 0.12,
    "Open": 0.10,
    "Earlier": 0.28,
    "Values": 0.15,
    "Last said": 0.16,
}

#: Between the elements of a list line.
SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact. `forms` are its texts, the fullest first; a line of its own, or an element of the
    list line `group`. Greater `score` is more useful; entries stand in the order of `order`.
    `first` is the form that is tried first: a fuller one is taken when all the rest has its room.
    """

    forms: tuple[str, ...]
    score: float
    order: int
    group: str = ""
    first: int = 0

    @property
    def text(self) -> str:
        return self.forms[0]


@dataclass(slots=True)
class Layout:
    """Entries by section, and how many were left out before."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, section: str, entry: Entry) -> None:
        """Put `entry` into `section`; one without text is nothing."""
        if entry.text.strip():
            self.entries.setdefault(section, []).append(entry)

    def lines(self) -> Iterator[str]:
        """The lines of the digest."""
        for section in SECTIONS:
            yield from _section_lines(
                section, self.entries.get(section, []), self.left_out.get(section, 0)
            )

    def text(self) -> str:
        """The digest."""
        return "\n".join(self.lines())


def _section_lines(section: str, entries: Sequence[Entry], left_out: int) -> Iterator[str]:
    if not entries and not left_out:
        return
    yield f"{section}:"
    groups: dict[str, list[str]] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        if entry.group:
            groups.setdefault(entry.group, []).append(entry.text)
        else:
            yield "- " + entry.text.replace("\n", "\n  ")
    for group, elements in groups.items():
        yield f"- {group}: {SEPARATOR.join(elements)}"
    if left_out:
        yield f"- ({left_out:,} more left out)"


# ----------------------------------------------------------------------------------- folders

_FOLDED_GROUPS = ("Exact", "Changed", "Read")
_FEWEST_FOLDED = 4
_SHORTEST_FOLDER = 16


def folded(layout: Layout) -> Layout:
    """`layout` with files of one long folder listed under that folder, once named."""
    paths = [
        entry.text for entry in layout.entries.get("Done", ()) if entry.group in _FOLDED_GROUPS
    ]
    folder = _common_folder([path for path in paths if path.startswith("/")])
    if not folder:
        return layout
    result = Layout(dict(layout.entries), dict(layout.left_out))
    result.entries["Done"] = [
        replace(entry, forms=(entry.text[len(folder) + 1 :],), group=f"{entry.group} in {folder}")
        if entry.group in _FOLDED_GROUPS and entry.text.startswith(f"{folder}/")
        else entry
        for entry in layout.entries["Done"]
    ]
    return result


def _common_folder(paths: Sequence[str]) -> str:
    """The deepest folder that holds most of `paths`; "" when naming it saves nothing."""
    folders: dict[str, int] = {}
    for path in paths:
        place = path.rfind("/")
        while place > 0:
            folder = path[:place]
            folders[folder] = folders.get(folder, 0) + 1
            place = path.rfind("/", 0, place)
    fit_for_use = [
        folder
        for folder, held in folders.items()
        if held >= max(_FEWEST_FOLDED, len(paths) * 0.6)
        and len(folder) >= _SHORTEST_FOLDER
        and ":" not in folder
    ]
    return max(fit_for_use, key=len, default="")


# ----------------------------------------------------------------------------------- fitting


def fit(layout: Layout, limit: int, counter: TokenCounter) -> Layout:
    """The most useful entries of `layout` that fit into `limit` tokens."""
    candidates = {
        section: _best(entries, max(16, limit)) for section, entries in layout.entries.items()
    }
    costs = _costs(candidates, counter)
    chosen: dict[str, dict[int, Entry]] = {section: {} for section in candidates}
    spent = _take_shares(candidates, costs, chosen, limit)
    spent += _take_rest(candidates, costs, chosen, limit - spent)
    _take_fuller(candidates, costs, chosen, limit - spent)
    fitted = _chosen_layout(layout, chosen)
    while limit < (tokens := counter.count(fitted.text())) and _drop_least(chosen, tokens - limit):
        fitted = _chosen_layout(layout, chosen)
    return fitted


def _best(entries: Sequence[Entry], most: int) -> list[Entry]:
    ranked = sorted(enumerate(entries), key=lambda pair: (-pair[1].score, pair[0]))
    return [entry for _, entry in ranked[:most]]


def _costs(candidates: dict[str, list[Entry]], counter: TokenCounter) -> dict[str, int]:
    texts = {form for entries in candidates.values() for entry in entries for form in entry.forms}
    ordered = sorted(texts)
    # A line break and a dash, or a separator, come to every text.
    counted = counter.count_many([f"- {text}\n" for text in ordered])
    return dict(zip(ordered, counted, strict=True))


#: Tokens set aside for a heading, its line break and the note of what was left out.
_HEADING = 4
_NOTE = 8
_GROUP = 5


def _take_shares(
    candidates: dict[str, list[Entry]],
    costs: dict[str, int],
    chosen: dict[str, dict[int, Entry]],
    limit: int,
) -> int:
    """First round: every section takes its best entries within its share. Tokens spent."""
    whole = sum(SECTIONS[section] for section in candidates) or 1.0
    spent = 0
    for section, entries in candidates.items():
        room = int(limit * SECTIONS[section] / max(whole, 0.7))
        spent += _take(entries, costs, chosen[section], min(room, limit - spent))
    return spent


def _take_rest(
    candidates: dict[str, list[Entry]],
    costs: dict[str, int],
    chosen: dict[str, dict[int, Entry]],
    room: int,
) -> int:
    """Second round: what is left of the tokens goes to the best of all that wait."""
    waiting = sorted(
        (
            (-entry.score, place, section, entry)
            for place, section in enumerate(SECTIONS)
            for entry in candidates.get(section, ())
            if id(entry) not in chosen[section]
        ),
        key=lambda item: item[:2],
    )
    spent = 0
    for _, _, section, entry in waiting:
        if room - spent < _NOTE:
            break
        spent += _take([entry], costs, chosen[section], room - spent)
    return spent


def _take_fuller(
    candidates: dict[str, list[Entry]],
    costs: dict[str, int],
    chosen: dict[str, dict[int, Entry]],
    room: int,
) -> None:
    """Third round: what is told briefly is told more fully, the most useful first."""
    brief = [
        (section, entry)
        for section, entries in candidates.items()
        for entry in entries
        if entry.first and id(entry) in chosen[section]
    ]
    for section, entry in sorted(brief, key=lambda item: -item[1].score):
        now = chosen[section][id(entry)]
        for form in entry.forms[: entry.first]:
            more = costs[form] - costs[now.text]
            if 0 < more <= room:
                chosen[section][id(entry)] = replace(entry, forms=(form,), first=0)
                room -= more
                break


def _take(
    entries: Iterable[Entry], costs: dict[str, int], chosen: dict[int, Entry], room: int
) -> int:
    groups = {entry.group for entry in chosen.values()}
    spent = 0
    for entry in entries:
        extra = 0 if chosen else _HEADING + _NOTE
        extra += _GROUP if entry.group and entry.group not in groups else 0
        for form in entry.forms[entry.first :]:
            cost = costs[form] + extra
            if spent + cost <= room:
                chosen[id(entry)] = replace(entry, forms=(form,), first=0)
                groups.add(entry.group)
                spent += cost
                break
    return spent


def _chosen_layout(layout: Layout, chosen: dict[str, dict[int, Entry]]) -> Layout:
    fitted = Layout()
    for section, entries in layout.entries.items():
        taken = chosen[section]
        if taken:
            fitted.entries[section] = list(taken.values())
        missing = len(entries) - len(taken) + layout.left_out.get(section, 0)
        if missing and taken:
            fitted.left_out[section] = missing
    return fitted


def _drop_least(chosen: dict[str, dict[int, Entry]], over: int) -> bool:
    """Takes out the least useful entries, about `over` tokens of them; False when none is left."""
    ranked = sorted(
        (
            (entry.score, -place, key, section)
            for place, section in enumerate(SECTIONS)
            for key, entry in chosen.get(section, {}).items()
        ),
        key=lambda item: item[:2],
    )
    if not ranked:
        return False
    for _, _, key, section in ranked[: max(1, over // 40)]:
        del chosen[section][key]
    return True


# ------------------------------------------------------------------------------ reading back

_LEFT_OUT = re.compile(r"- \(([\d,]{1,12}) more left out\)\Z")
_LIST_LINE = re.compile(r"- ([A-Z][A-Za-z]{2,12})(?: in (/[^\n:]{1,400}))?: (.*)\Z", re.DOTALL)

#: Names of the list lines, so that a bullet with a colon is not taken for one.
GROUPS: set[str] = {
    "Exact", "Changed", "Read", "Fetched", "Searched", "Called", "Paths", "URLs", "Ids",
    "Addresses", "Dates", "Settings", "Numbers", "Names",
}  # fmt: skip


def read_back(text: str) -> Layout | None:
    """The entries of a digest that was written before; None when `text` is no digest."""
    layout = Layout()
    section = ""
    bullet: list[str] = []
    for line in text.strip().split("\n"):
        if line.endswith(":") and line[:-1] in SECTIONS:
            _close(layout, section, bullet)
            section, bullet = line[:-1], []
        elif not section:
            return None
        elif line.startswith("- "):
            _close(layout, section, bullet)
            bullet = [line]
        else:
            bullet.append(line[2:] if line.startswith("  ") else line)
    _close(layout, section, bullet)
    return layout if section else None


def _close(layout: Layout, section: str, bullet: list[str]) -> None:
    if not bullet:
        return
    whole = "\n".join(bullet)
    left_out = _LEFT_OUT.match(whole)
    if left_out:
        layout.left_out[section] = int(left_out[1].replace(",", "") or 0)
        return
    listed = _LIST_LINE.match(whole)
    if listed and listed[1] in GROUPS:
        folder = f"{listed[2]}/" if listed[2] else ""
        for element in listed[3].split(SEPARATOR):
            _append(layout, section, f"{folder}{element}", listed[1])
    else:
        _append(layout, section, whole[2:], "")


def _append(layout: Layout, section: str, text: str, group: str) -> None:
    place = len(layout.entries.get(section, []))
    layout.add(section, Entry((text,), 0.0, place, group))
