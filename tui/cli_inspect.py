"""`compaction inspect`: what is in a session, what ate it, and what of its file is not used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tui.cli_check import FINDING_COLUMNS, finding_rows
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
    from compaction.messages import Session, Usage
    from compaction.tokens import Counts

_BAR = 24

#: Cells of a name at most.
_NAME = 40

#: Rows of the longer tables.
_FILES = 12
_REPEATS = 12


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
    "turns", "groups", "window", "bytes"}, "why", "tokens": {"total", "messages", "overhead",
    "tokenizer", "exact", "label"}, "reported": {"context", "calibrated", "overhead",
    "responses", "ratio", "block", "plain_error"} | null, "roles", "kinds", "tools", "files":
    [{"name", "count", "tokens"}, ...], "repeats": [{"what", "name", "messages", "wasted"}, ...],
    "largest": [{"message", "role", "tool", "tokens", "text"}, ...], "open_calls",
    "orphan_results": [{"message", "id"}, ...], "compactions": [{"at", "trigger", "before",
    "after", "line"}, ...], "left_out": {REASON: N}, "conversations": [{"id", "title",
    "messages"}, ...], "problems": [FINDING, ...]}. Tools count calls, and the tokens of
    calls and results together.
    """
    from compaction.groups import find_groups
    from compaction.inspecting import inspect as look
    from compaction.over_budget import why_over
    from compaction.tokens import calibrate
    from tui.cli_work import counted, load_session, policy_of

    settings = Settings.of(given)
    session = load_session(settings)
    counts = counted(session, policy_of(settings))
    found = look(session, counts, largest=largest)
    why = why_over(session, counts, found)
    calibrated = counts if counts.calibration else calibrate(session, counts)
    groups = find_groups(session.messages)
    if as_json:
        print_json(_document(session, counts, calibrated, found, groups, why))
    else:
        _print(Printer.standard(), session, counts, calibrated, found, groups, why)


# --------------------------------------------------------------------------------- for people


def _print(
    printer: Printer,
    session: Session,
    counts: Counts,
    calibrated: Counts | None,
    found: Inspection,
    groups: Groups,
    why: str,
) -> None:
    print_title(printer, session, counts)
    printer.line()
    printer.line(why)
    printer.line()
    printer.table([Column(), Column()], [*_facts(session, counts, calibrated, groups)])
    _print_shares(printer, "Tokens by role", "messages", found.roles, counts)
    _print_shares(printer, "Tokens by kind", "messages", found.kinds, counts)
    _print_shares(printer, "Tokens by tool, results included", "calls", found.tools, counts)
    files = [replace(each, name=_tail(each.name)) for each in found.files[:_FILES]]
    _print_shares(printer, "Tokens by file", "calls", files, counts)
    _print_largest(printer, session, counts, found)
    _print_repeats(printer, found)
    _print_rest(printer, session)


def _facts(
    session: Session, counts: Counts, calibrated: Counts | None, groups: Groups
) -> list[list[str | Cell]]:
    facts: list[list[str | Cell]] = [
        ["turns", f"{len(groups.turns):,}"],
        ["groups", f"{len(groups.starts):,}"],
    ]
    if session.title:
        facts.insert(0, ["title", session.title])
    if counts.overhead and counts.calibration is None:
        facts.append(["overhead", f"{counts.overhead:,} tokens of tool definitions in the file"])
    reported = _last_usage(session)
    if reported is not None:
        facts.append(
            ["reported", f"{reported.context:,} tokens of context read for the last response"]
        )
    if calibrated is not None and calibrated.calibration is not None:
        facts.append(
            ["calibrated", f"{calibrated.total:,} tokens, {calibrated.calibration.words()}"]
        )
        facts.append(
            [
                "overhead",
                f"{calibrated.overhead:,} tokens that are no message: system prompt, tools, client",
            ]
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


def _tail(path: str) -> str:
    """A path whose end can be read in its column."""
    return path if len(path) <= _NAME else "…" + path[-_NAME + 1 :]


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
            Column(widest=_NAME),
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


def _print_largest(printer: Printer, session: Session, counts: Counts, found: Inspection) -> None:
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


def _print_repeats(printer: Printer, found: Inspection) -> None:
    if not found.repeats:
        return
    printer.heading("More than once in it")
    printer.table(
        [Column(), Column(widest=_NAME), Column("wasted", right=True), Column()],
        [
            [each.what, _tail(each.name), f"{each.wasted:,}", _numbers(each.messages)]
            for each in found.repeats[:_REPEATS]
        ],
    )


def _numbers(indexes: Sequence[int]) -> str:
    shown = " ".join(f"#{index}" for index in indexes[:6])
    return shown if len(indexes) <= 6 else f"{shown} and {len(indexes) - 6} more"


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
    printer.table(FINDING_COLUMNS, finding_rows(session.problems))


# ------------------------------------------------------------------------------- for programs


def _last_usage(session: Session) -> Usage | None:
    from compaction.calls import last_report

    index = last_report(session.messages)
    return None if index is None else session.messages[index].usage


def _reported(session: Session, calibrated: Counts | None) -> dict[str, object] | None:
    usage = _last_usage(session)
    if usage is None:
        return None
    made = calibrated.calibration if calibrated is not None else None
    return {
        "context": usage.context,
        "calibrated": calibrated.total if calibrated is not None else None,
        "overhead": calibrated.overhead if calibrated is not None else None,
        "responses": made.responses if made else None,
        "ratio": round(made.ratio, 4) if made else None,
        "block": round(made.block, 2) if made else None,
        "plain_error": round(made.plain_error, 4) if made and made.plain_error else None,
    }


def _document(
    session: Session,
    counts: Counts,
    calibrated: Counts | None,
    found: Inspection,
    groups: Groups,
    why: str,
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
        "why": why,
        "tokens": {
            "total": counts.total,
            "messages": sum(counts.tokens),
            "overhead": counts.overhead,
            "tokenizer": counts.named,
            "exact": counts.sure,
            "label": counts.label,
        },
        "reported": _reported(session, calibrated),
        "roles": [each.as_json() for each in found.roles],
        "kinds": [each.as_json() for each in found.kinds],
        "tools": [each.as_json() for each in found.tools],
        "files": [each.as_json() for each in found.files],
        "repeats": [each.as_json() for each in found.repeats],
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
