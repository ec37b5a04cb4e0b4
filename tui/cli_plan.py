"""`compaction plan`: the decision for one session under one policy, without making it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tui.cli_check import FINDING_COLUMNS, finding_rows
from tui.cli_options import (
    Settings,
    json_option,
    policy_options,
    reading_options,
    session_argument,
    strict_option,
)
from tui.cli_output import Cell, Column, Printer, count, note, print_json, share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compaction.messages import Session
    from compaction.planning import Plan
    from compaction.tokens import Counts

#: Glyph, letter and colour of each region; colour is never alone.
REGIONS = {
    "head": ("▌", "H", "1;36"),
    "summarized": ("░", "S", "33"),
    "kept": ("◆", "K", "35"),
    "cleared": ("·", "C", "2"),
    "recent": ("▌", "R", "1;32"),
}
_BAR = 44
_SMALL_BAR = 8


@click.command(short_help="The decision: boundaries, regions, totals, reason.")
@session_argument
@reading_options
@policy_options
@click.option("--brief", is_flag=True, help="Leave the list of messages out.")
@strict_option
@json_option
def plan(as_json: bool, brief: bool, strict: bool, **given: Any) -> int:
    """The decision: which messages stay, which become one summary, and why.

    No summary is made; what it will cost is an estimate, marked ~.

    \b
    --json prints {"session": {"format", "messages", "problems"}, "policy": {"name",
    "budget", "keep_recent", "requested", "effective"}, "tokens": {"before", "head",
    "summarized", "kept", "recent", "after": null}, "over_budget", "compacts", "reason",
    "head", "summarized", "recent": [START, END] | null, "regions": [NAME, ...],
    "message_tokens": [N, ...], "findings": [...]}. Ranges are half-open; regions and
    message_tokens have one entry per message.
    """
    from tui.cli_work import load_session, planned

    settings = Settings.of(given)
    session = load_session(settings)
    decided = planned(session, settings)
    if as_json:
        print_json(decided.as_json())
    else:
        print_plan(Printer.standard(), decided, brief=brief)
    if strict and decided.unreachable:
        note(f"over budget: {decided.unreachable}")
        return 3
    return 0


def print_plan(printer: Printer, decided: Plan, *, brief: bool = False) -> None:
    """The decision for people: what it does, its totals, and one line a message."""
    print_title(printer, decided.session, decided.counts)
    _print_policy(printer, decided)
    printer.line()
    _print_bars(printer, decided)
    _print_regions(printer, decided)
    printer.line()
    printer.line(Cell("compacts  " if decided.compacts else "unchanged  ", "1"), decided.reason)
    for sentence in (decided.snap_note, decided.unreachable):
        if sentence:
            printer.line(sentence)
    if decided.findings:
        printer.heading("Findings")
        printer.table(FINDING_COLUMNS, finding_rows(decided.findings))
    if not brief:
        printer.heading("Messages")
        printer.table(
            [
                Column(),
                Column(right=True),
                Column(widest=12),
                Column(right=True),
                Column(),
                Column(),
            ],
            _message_rows(printer, decided),
            indent=1,
        )


def print_title(printer: Printer, session: Session, counts: Counts) -> None:
    """One line on the session: its name, format, model, size."""
    from compaction.formats import format_named

    about = [
        format_named(session.format).title,
        session.model,
        count(len(session), "message"),
        f"{counts.total:,} tokens ({counts.label})",
    ]
    printer.line(Cell(session.source.name or "session", "1"), "  ", " · ".join(filter(None, about)))


def _print_policy(printer: Printer, decided: Plan) -> None:
    policy = decided.policy
    amount = policy.keep_recent
    keeps = "what fits" if amount is None else f"{amount:,} {policy.recent.unit}"
    printer.line(
        "policy ",
        Cell(policy.name, "1"),
        f" · budget {decided.budget:,} · keep recent {keeps} · safety {policy.safety.unit}",
    )


def _print_bars(printer: Printer, decided: Plan) -> None:
    before, budget = decided.tokens_before, decided.budget
    after = decided.tokens_after_estimate if decided.compacts else before
    whole = max(before, after, budget, 1)
    mark = "~" if decided.compacts else ""
    over = f"over by {before - budget:,}" if before > budget else f"{budget - before:,} free"
    room = f"over by {after - budget:,}" if after > budget else f"{budget - after:,} free"
    printer.table(
        [Column(), Column(right=True), Column(), Column()],
        [
            ["before", f"{before:,}", printer.bar(before / whole, _BAR), over],
            ["after", f"{mark}{after:,}", printer.bar(after / whole, _BAR), f"{mark}{room}"],
            ["budget", f"{budget:,}", printer.bar(budget / whole, _BAR), ""],
        ],
    )


def _print_regions(printer: Printer, decided: Plan) -> None:
    printer.line()
    parts: list[tuple[str, Sequence[int], int]] = [
        ("head", decided.head, decided.tokens_head),
        ("summarized", decided.summarized, decided.tokens_summarized),
        ("kept", decided.kept, decided.tokens_kept),
        ("cleared", decided.cleared, decided.tokens_cleared + decided.tokens_freed),
        ("recent", decided.recent, decided.tokens_recent),
    ]
    rows: list[list[str | Cell]] = []
    for name, indexes, tokens in parts:
        if not indexes and name in ("kept", "cleared"):
            continue
        glyph, letter, sgr = REGIONS[name]
        rows.append(
            [
                Cell(f"{glyph}{letter} {name}", sgr),
                f"{len(indexes):,}",
                _range(indexes),
                f"{tokens:,}",
                share(tokens, decided.tokens_before),
            ]
        )
    if decided.overhead:
        rows.append(
            [
                "   overhead",
                "",
                "",
                f"{decided.overhead:,}",
                share(decided.overhead, decided.tokens_before),
            ]
        )
    printer.table(
        [
            Column("region"),
            Column("messages", right=True),
            Column("range", right=True),
            Column("tokens", right=True),
            Column("share", right=True),
        ],
        rows,
    )


def _range(indexes: Sequence[int]) -> str:
    if not indexes:
        return ""
    first, last = indexes[0], indexes[-1]
    return f"#{first}" if first == last else f"#{first}–#{last}"


def _boundary(decided: Plan) -> str:
    many = decided.messages_in("summarized")
    what = f"{count(many, 'message')}, {decided.tokens_summarized:,} tokens"
    if decided.policy.summary.middle == "drop":
        return f"── {what} {'is' if many == 1 else 'are'} dropped ──"
    verb = "becomes" if many == 1 else "become"
    return f"── {what} {verb} one summary of ~{decided.summary_estimate:,} ──"


def _message_rows(printer: Printer, decided: Plan) -> Iterator[list[str | Cell]]:
    tokens = decided.counts.tokens
    largest = max(tokens, default=1) or 1
    boundary = decided.cut if decided.summarizes else -1
    for index, message in enumerate(decided.session.messages):
        if index == boundary:
            yield ["", "", "", "", "", Cell(_boundary(decided), "2")]
        glyph, letter, sgr = REGIONS[decided.region(index)]
        label = f"{message.tool} → " if message.role == "tool" and message.tool else ""
        yield [
            Cell(f"{glyph}{letter}", sgr),
            f"{index}",
            message.role,
            f"{tokens[index]:,}",
            printer.bar(tokens[index] / largest, _SMALL_BAR),
            label + message.preview,
        ]
