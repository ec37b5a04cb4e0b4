"""`compaction replay`: the session run again under a policy, call by call, without a model."""

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
)
from tui.cli_output import Cell, Column, Printer, count, print_json, share
from tui.cli_plan import print_title
from tui.widgets.amounts import dollars

if TYPE_CHECKING:
    from compaction.needing import Forgotten
    from compaction.pricing import Prices
    from compaction.replaying import Compaction, Replay
    from compaction.replaying.costs import Totals

#: Rows of the longer lists.
_LISTED = 12


def prices_options(command: Any) -> Any:
    """What tokens cost."""
    for option in (
        click.option(
            "--prices",
            "price_file",
            metavar="FILE",
            help="A YAML table of prices by model: {MODEL: {input, output, cached, written}}, "
            "dollars a million tokens.",
        ),
        click.option(
            "--price-model",
            metavar="MODEL",
            help="Whose prices to use; the default is the model of the session.",
        ),
    ):
        command = option(command)
    return command


def prices_from(price_file: str | None, price_model: str | None, model: str) -> Prices | None:
    """The prices asked for. Raises PolicyError for a table or a model that is not known."""
    from compaction.errors import PolicyError
    from compaction.pricing import prices_of

    found = prices_of(price_model or model, price_file)
    if found is None and price_model:
        raise PolicyError(
            f"the prices of {price_model} are not known; give them with --prices FILE."
        )
    return found


@click.command(short_help="When it compacts, context per call, tokens and money.")
@session_argument
@reading_options
@policy_options
@click.option(
    "--summary",
    "summary",
    metavar="expected|digest|recorded|TOKENS",
    default="digest",
    show_default=True,
    help="The size of summaries: as the policy lets expect, as the digest makes them, as the tool "
    "that recorded the session made its own, or a number.",
)
@prices_options
@json_option
def replay(
    as_json: bool,
    summary: str,
    price_file: str | None,
    price_model: str | None,
    **given: Any,
) -> int:
    """Run the whole recorded session again under a policy. No model is asked.

    Compactions that the tool really made are undone, and compared with those of the policy.

    \b
    --json prints {"session", "policy", "tokenizer", "peak": {"tokens", "call"}, "totals":
    {"calls", "sent", "cached", "written", "output", "summary_input", "summary_output"},
    "baseline", "money": {"model", "source", "policy", "baseline"}, "compactions": [{"call",
    "message", "before", "after", "summarized", "kept", "replaced", "summary",
    "pays_back_after"}, ...], "declined": [{"calls", "message", "before", "reason"}, ...],
    "recorded", "needed_later": {"score", "refetched_tokens", "constraints", "needs": [{"text",
    "kind", "of", "at", "how", "tokens"}, ...]}, "recorded_lost" (the same for the real
    compactions) | null, "contexts": [N, ...], "findings"}.
    """
    from compaction.needing import forgotten, needs_of
    from compaction.replaying import recorded_walk, uncompacted
    from compaction.replaying import replay as run_again
    from tui.cli_work import load_session, policy_of

    settings = Settings.of(given)
    session = uncompacted(load_session(settings))
    run = run_again(
        session,
        policy_of(settings, session),
        summary=_summary(summary),
        prices=prices_from(price_file, price_model, session.model),
    )
    needs = needs_of(session, run.line.counts)
    gone = forgotten(needs, run.walked, run.summaries)
    theirs = forgotten(needs, *recorded_walk(run.line)) if run.recorded else None
    if as_json:
        real = theirs.as_json() if theirs is not None else None
        print_json({**run.as_json(), "needed_later": gone.as_json(), "recorded_lost": real})
    else:
        _print(Printer.standard(), run, gone, theirs)
    return 0


def _summary(text: str) -> Any:
    if text in ("expected", "digest", "recorded"):
        return text
    from tui.widgets.amounts import parse_amount

    try:
        return parse_amount(text)
    except ValueError:
        raise click.UsageError(
            f"--summary {text}: give expected, digest, recorded, or a number of tokens."
        ) from None


# --------------------------------------------------------------------------------- for people


def _print(printer: Printer, run: Replay, gone: Forgotten, theirs: Forgotten | None) -> None:
    print_title(printer, run.session, run.line.counts)
    keeps = "what fits" if run.policy.keep_recent is None else f"{run.policy.keep_recent}"
    printer.line(
        f"policy {run.policy.name} · budget {run.budget:,} · keep recent {keeps} "
        f"{run.policy.recent.unit if run.policy.keep_recent is not None else ''}".rstrip()
    )
    printer.line()
    _print_chart(printer, run)
    printer.line()
    _print_totals(printer, run)
    _print_compactions(printer, run)
    _print_declined(printer, run)
    _print_recorded(printer, run, gone, theirs)
    _print_needed(printer, gone)
    if run.findings:
        printer.heading("Findings")
        printer.table(FINDING_COLUMNS, finding_rows(run.findings))


def _print_chart(printer: Printer, run: Replay) -> None:
    """The context of the calls as bars, each of a stretch of calls."""
    contexts = run.contexts()
    if not contexts:
        printer.line("The session holds no call of a model.")
        return
    rows = min(16, len(contexts))
    top = max(run.baseline_peak, run.peak, 1)
    fired = [each.call for each in run.compactions]
    cells: list[list[str | Cell]] = []
    for row in range(rows):
        start, end = len(contexts) * row // rows, len(contexts) * (row + 1) // rows
        most = max(contexts[start:end])
        times = sum(start <= call < end for call in fired)
        colour = "1;31" if most > run.budget else "36"
        cells.append(
            [
                f"{start}–{end - 1}" if end - 1 > start else f"{start}",
                f"{most:,}",
                Cell(printer.bar(most / top, 40), colour),
                Cell(f"compacted {times}×" if times else "", "33"),
            ]
        )
    printer.table(
        [Column("calls", right=True), Column("context", right=True), Column(), Column()], cells
    )


def _print_totals(printer: Printer, run: Replay) -> None:
    whole = run.baseline.sent or 1
    saved = share(max(0, run.baseline.sent - run.totals.sent), whole)
    printer.table(
        [
            Column(),
            Column("with the policy", right=True),
            Column("without", right=True),
            Column(),
        ],
        [
            ["calls", f"{run.totals.calls:,}", f"{run.baseline.calls:,}", ""],
            ["largest context", f"{run.peak:,}", f"{run.baseline_peak:,}", ""],
            _pair("sent", run.totals, run.baseline, "sent", f"saves {saved}"),
            _pair("  from the cache", run.totals, run.baseline, "cached"),
            _pair("  read anew", run.totals, run.baseline, "written"),
            _pair("written by the model", run.totals, run.baseline, "output"),
            ["compactions", f"{len(run.compactions):,}", "0", ""],
            ["money", _dollars(run.money), _dollars(run.baseline_money), _source(run)],
        ],
    )


def _pair(name: str, one: Totals, other: Totals, key: str, remark: str = "") -> list[str | Cell]:
    return [name, f"{getattr(one, key):,}", f"{getattr(other, key):,}", remark]


def _dollars(amount: float | None) -> str:
    return "not known" if amount is None else dollars(amount)


def _source(run: Replay) -> str:
    if run.prices is not None:
        return f"{run.prices.model}, {run.prices.source}"
    name = run.session.model or "a model the file does not name"
    return f"the prices of {name} are not known; give --prices or --price-model"


def _print_compactions(printer: Printer, run: Replay) -> None:
    if not run.compactions:
        return
    printer.heading(f"It would compact {count(len(run.compactions), 'time')}")
    rows: list[list[str | Cell]] = []
    for each in run.compactions[:_LISTED]:
        back = run.pays_back(each)
        rows.append(
            [
                f"{each.call:,}",
                f"#{each.at}",
                f"{each.before:,}",
                f"{each.after:,}",
                _taken(each),
                f"{each.summary:,}" if each.summary else "",
                "never" if back is None else f"{back:,} calls",
            ]
        )
    printer.table(
        [
            Column("call", right=True),
            Column("at", right=True),
            Column("before", right=True),
            Column("after", right=True),
            Column("taken"),
            Column("summary", right=True),
            Column("pays back after", right=True),
        ],
        rows,
    )
    _more(printer, len(run.compactions))


def _taken(each: Compaction) -> str:
    """The messages that went, and how many were changed where they stand."""
    what = []
    if each.cut > each.start:
        first, last = each.start, each.cut - 1
        what.append(f"#{first}" if first == last else f"#{first}–#{last}")
    if each.cleared:
        what.append(f"{len(each.cleared):,} changed in place")
    return ", ".join(what)


def _print_declined(printer: Printer, run: Replay) -> None:
    if not run.declined:
        return
    printer.heading("It would look and not compact")
    printer.table(
        [Column("calls", right=True), Column("context", right=True), Column(wrap=True)],
        [
            [
                f"{each.call}–{each.until - 1}" if each.until - each.call > 1 else f"{each.call}",
                f"{each.before:,}",
                each.why,
            ]
            for each in run.declined[:_LISTED]
        ],
    )
    _more(printer, len(run.declined))


def _print_recorded(
    printer: Printer, run: Replay, gone: Forgotten, theirs: Forgotten | None
) -> None:
    if theirs is None:
        return
    printer.heading("Compactions the tool really made")
    printer.table(
        [Column("call", right=True), Column("before", right=True), Column(wrap=True)],
        [
            [
                f"{each.call:,}",
                "" if each.before is None else f"{each.before:,}",
                _beside(each.apart),
            ]
            for each in run.recorded
        ],
    )
    printer.line(
        f"  of what was needed later they lost {theirs.score:,} points, the policy {gone.score:,}"
    )


def _beside(apart: int | None) -> str:
    if apart is None:
        return "the policy would not have compacted at all"
    if apart == 0:
        return "the policy compacts at the same call"
    side = "later" if apart > 0 else "earlier"
    return f"the nearest one of the policy is {count(abs(apart), 'call')} {side}"


def _print_needed(printer: Printer, gone: Forgotten) -> None:
    if not gone.needs:
        printer.heading("Nothing that was needed later is gone")
        return
    printer.heading(f"Needed later, and gone: {gone.score:,} points")
    if gone.refetched:
        printer.line(f"{gone.refetched:,} tokens were fetched again.")
    order = sorted(gone.needs, key=lambda need: (-need.weight, need.at, need.of))
    printer.table(
        [Column(), Column("of", right=True), Column("at", right=True), Column(wrap=True)],
        [
            [
                need.how,
                f"#{need.of}",
                "end" if need.how == "constraint" else f"#{need.at}",
                need.text,
            ]
            for need in order[:_LISTED]
        ],
    )
    _more(printer, len(order))


def _more(printer: Printer, length: int) -> None:
    if length > _LISTED:
        printer.line(f"  and {length - _LISTED:,} more (--json tells all)")
