"""`compaction inspect`: what is in a session, and what of its file could not be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tui.cli_check import FINDING_COLUMNS, finding_row
from tui.cli_options import (
    Settings,
    json_option,
    reading_options,
    session_argument,
)
from tui.cli_output import Cell, Column, Printer, print_json, share
from tui.cli_plan import print_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compaction.groups import Groups
    from compaction.inspecting import Inspection, Share
    from compaction.messages import Session
    from compaction.tokens import Counts

_BAR = 24


@click.command(short_help="What is in it: tokens by role, tool and kind, the largest, problems.")
@session_argument
@reading_options
@click.option(
    "--largest",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the largest messages to name.",
)
@json_option
def inspect(as_json: bool, largest: int, **given: Any) -> None:
    """What is in a session: messages, tokens by role, tool and kind, the largest, problems.

    \b
    --json prints {"session": {"name", "format", "title", "model", "history", "messages",
    "turns", "groups", "window", "bytes"}, "tokens": {"total", "messages", "overhead",
    "tokenizer", "exact"}, "roles", "kinds", "tools": [{"name", "count", "tokens"}, ...],
    "largest": [{"message", "role", "tool", "tokens", "text"}, ...], "open_calls",
    "orphan_results": [{"message", "id"}, ...], "compactions": [{"at", "trigger", "before",
    "after", "line"}, ...], "left_out": {REASON: N}, "conversations": [{"id", "title",
    "messages"}, ...], "problems": [FINDING, ...]}. Tools count calls, and the tokens of
    calls and results together.
    """
    from compaction.groups import find_groups
    from compaction.inspecting import inspect as look
    from tui.cli_work import counted, load_session, policy_of

    settings = Settings.of(given)
    session = load_session(settings)
    counts = counted(session, policy_of(settings))
    found = look(session, counts, largest=largest)
    groups = find_groups(session.messages)
    if as_json:
        print_json(_document(session, counts, found, groups))
    else:
        _print(Printer.standard(), session, counts, found, groups)


# --------------------------------------------------------------------------------- for people


def _print(
    printer: Printer, session: Session, counts: Counts, found: Inspection, groups: Groups
) -> None:
    print_title(printer, session, counts)
    printer.line()
    printer.table([Column(), Column()], [*_facts(session, counts, groups)])
    _print_shares(printer, "Tokens by role", "messages", found.roles, counts)
    _print_shares(printer, "Tokens by kind", "messages", found.kinds, counts)
    _print_shares(printer, "Tokens by tool, results included", "calls", found.tools, counts)
    _print_largest(printer, session, counts, found)
    _print_rest(printer, session)


def _facts(session: Session, counts: Counts, groups: Groups) -> list[list[str | Cell]]:
    facts: list[list[str | Cell]] = [
        ["turns", f"{len(groups.turns):,}"],
        ["groups", f"{len(groups.starts):,}"],
    ]
    if session.title:
        facts.insert(0, ["title", session.title])
    if counts.overhead:
        facts.append(["overhead", f"{counts.overhead:,} tokens of tool definitions in the file"])
    reported = next((m.usage for m in reversed(session.messages) if m.usage), None)
    if reported is not None:
        facts.append(
            ["reported", f"{reported.context:,} tokens of context read for the last response"]
        )
    if session.window:
        facts.append(["window", f"{session.window:,} tokens"])
    if session.history == "full":
        facts.append(["history", "full: all that was ever sent, not only what is live"])
    if groups.open_calls:
        facts.append(["open calls", _places(groups.open_calls)])
    if groups.orphans:
        facts.append(["orphan results", _places(groups.orphans)])
    return facts


def _places(pairs: Sequence[tuple[int, str]]) -> str:
    shown = ", ".join(f"{call} at #{index}" for index, call in pairs[:5])
    return shown if len(pairs) <= 5 else f"{shown} and {len(pairs) - 5} more"


def _print_shares(
    printer: Printer, title: str, unit: str, shares: Sequence[Share], counts: Counts
) -> None:
    if not shares:
        return
    printer.heading(title)
    whole = max(1, sum(counts.tokens))
    largest = max(1, *(each.tokens for each in shares))
    printer.table(
        [
            Column(widest=32),
            Column(unit, right=True),
            Column("tokens", right=True),
            Column("share", right=True),
            Column(),
        ],
        [
            [
                each.name,
                f"{each.count:,}",
                f"{each.tokens:,}",
                share(each.tokens, whole),
                Cell(printer.bar(each.tokens / largest, _BAR), "36"),
            ]
            for each in shares
        ],
    )


def _print_largest(
    printer: Printer, session: Session, counts: Counts, found: Inspection
) -> None:
    if not found.largest:
        return
    printer.heading("The largest messages")
    whole = max(1, sum(counts.tokens))
    printer.table(
        [
            Column(right=True),
            Column(widest=12),
            Column(widest=20),
            Column("tokens", right=True),
            Column("share", right=True),
            Column(),
        ],
        [
            [
                f"#{index}",
                session.messages[index].role,
                session.messages[index].tool,
                f"{counts.tokens[index]:,}",
                share(counts.tokens[index], whole),
                session.messages[index].preview,
            ]
            for index in found.largest
        ],
    )


def _print_rest(printer: Printer, session: Session) -> None:
    if session.compactions:
        printer.heading("Compactions made by the recording tool")
        printer.table(
            [
                Column("before"),
                Column("trigger"),
                Column("tokens", right=True),
                Column("line", right=True),
            ],
            [
                [
                    f"#{each.at}",
                    each.trigger,
                    "" if each.before is None else f"{each.before:,}",
                    "" if each.line is None else f"{each.line:,}",
                ]
                for each in session.compactions
            ],
        )
    if session.left_out:
        printer.heading("Records of the file that are not in this list")
        rows = sorted(session.left_out.items(), key=lambda item: (-item[1], item[0]))
        printer.table(
            [Column(right=True), Column()], [[f"{number:,}", why] for why, number in rows]
        )
    if len(session.conversations) > 1:
        printer.heading("Conversations of the file (choose with --conversation)")
        printer.table(
            [Column("id", widest=36), Column("messages", right=True), Column()],
            [[each.id, f"{each.messages:,}", each.title] for each in session.conversations],
        )
    printer.heading("Problems in the file" if session.problems else "No problems in the file")
    printer.table(
        FINDING_COLUMNS,
        [finding_row(problem) for problem in session.problems],
    )


# ------------------------------------------------------------------------------- for programs


def _document(
    session: Session, counts: Counts, found: Inspection, groups: Groups
) -> dict[str, object]:
    messages = session.messages
    return {
        "session": {
            "name": session.source.name,
            "format": session.format,
            "title": session.title,
            "model": session.model,
            "history": session.history,
            "messages": len(messages),
            "turns": len(groups.turns),
            "groups": len(groups.starts),
            "window": session.window,
            "bytes": session.source.size,
        },
        "tokens": {
            "total": counts.total,
            "messages": sum(counts.tokens),
            "overhead": counts.overhead,
            "tokenizer": counts.tokenizer,
            "exact": counts.exact,
        },
        "roles": [each.as_json() for each in found.roles],
        "kinds": [each.as_json() for each in found.kinds],
        "tools": [each.as_json() for each in found.tools],
        "largest": [
            {
                "message": index,
                "role": messages[index].role,
                "tool": messages[index].tool,
                "tokens": counts.tokens[index],
                "text": messages[index].preview,
            }
            for index in found.largest
        ],
        "open_calls": [{"message": at, "id": call} for at, call in groups.open_calls],
        "orphan_results": [{"message": at, "id": call} for at, call in groups.orphans],
        "compactions": [
            {
                "at": each.at,
                "trigger": each.trigger,
                "before": each.before,
                "after": each.after,
                "line": each.line,
            }
            for each in session.compactions
        ],
        "left_out": dict(session.left_out),
        "conversations": [
            {"id": each.id, "title": each.title, "messages": each.messages}
            for each in session.conversations
        ],
        "problems": [problem.as_json() for problem in session.problems],
    }
