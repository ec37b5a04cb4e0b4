"""`compaction export`: the compacted result, written to a file or to standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tui.cli_options import (
    Settings,
    json_option,
    policy_options,
    reading_options,
    session_argument,
    strict_option,
    summary_options,
)
from tui.cli_output import Printer, count, note, print_json, share

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.findings import Finding
    from compaction.repairing import Repaired


@click.command(short_help="The compacted result ('-' is standard output).")
@session_argument
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    help="The file to write, or - for standard output; never the session itself.",
)
@click.option(
    "--format",
    "out_format",
    metavar="FORMAT",
    help="Write in this format; the default is the one the session came in.",
)
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option(
    "--alternate/--no-alternate",
    default=None,
    help="Put a marked line of the assistant between the summary and another message of the "
    "user, for servers that want roles to take turns; by default for models known to.",
)
@reading_options
@policy_options
@summary_options
@strict_option
@json_option
def export(
    output: str,
    out_format: str | None,
    force: bool,
    alternate: bool | None,
    strict: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Write the compacted session: complete, or not at all.

    Head and recent messages are written exactly as they were read. A summary that cannot be made
    is exit code 3, and nothing is written.

    \b
    --json prints the object of `plan --json` with tokens.after, "summary": {"text",
    "role", "tokens", "summarizer"} | null and "output": {"path", "format", "bytes"}.
    """
    from compaction.export import check_output, losses, save
    from tui.cli_work import compacted, load_session, placed, planned

    if output == "-" and as_json:
        raise click.UsageError("--json and -o - both want standard output; name a file with -o.")
    settings = Settings.of(given)
    session = load_session(settings)
    if out_format is not None:
        from compaction.formats import format_named

        format_named(out_format)
    if output != "-":
        # A summary may cost money: what would be refused behind it is refused before it.
        check_output(output, session, force=force)
    result = compacted(planned(session, settings), settings)
    problem = _not_made(result, strict=strict)
    if problem:
        note(f"compaction: {problem} Nothing was written.")
        return 3
    findings = losses(result, out_format, alternate=alternate)
    told = (*result.findings, *(each for each in findings if each not in result.findings))
    for finding in told:
        note(f"{finding.level}: {placed(finding)}")
    if output == "-":
        size = to_stdout(result, out_format, alternate)
        name = out_format or session.format
    else:
        saved = save(result, output, out_format, force=force, alternate=alternate)
        size, name = saved.bytes, saved.format
    _tell_done(result, output, name, size)
    if as_json:
        print_json(_document(result, told, {"path": output, "format": name, "bytes": size}))
    return 0


def _not_made(result: Compacted, *, strict: bool) -> str:
    """Why there is nothing to write, "" when there is."""
    if result.failure and not result.made:
        return f"the summary could not be used: {_ended(result.failure)}"
    if strict and result.over_budget:
        over = result.tokens_after - result.plan.budget
        why = result.plan.unreachable
        return (
            f"the result has {result.tokens_after:,} tokens, {over:,} over the budget of "
            f"{result.plan.budget:,} (--strict)."
            + (f" {why[0].upper()}{_ended(why[1:])}" if why else "")
        )
    return ""


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def to_stdout(result: Compacted | Repaired, name: str | None, alternate: bool | None = None) -> int:
    """Print the result: its exact bytes, or made harmless when they would reach a terminal."""
    from compaction.export import render_bytes

    data, _ = render_bytes(result, name, alternate=alternate)
    if sys.stdout.isatty():
        Printer.standard().text(data.decode("utf-8", "replace").rstrip("\n"))
        note("shown with control characters made visible; pipe it or name a file for the bytes.")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return len(data)


def _tell_done(result: Compacted, path: str, name: str, written: int) -> None:
    where = "to standard output" if path == "-" else path
    messages = count(len(result.messages), "message")
    if not result.made:
        note(f"wrote {where}: {messages}, nothing compacted: {result.plan.reason}")
        return
    gone = result.tokens_before - result.tokens_after
    how = f"saves {share(gone, result.tokens_before)}" if gone > 0 else f"{-gone:,} more"
    note(
        f"wrote {where}: {messages}, {result.tokens_before:,} -> {result.tokens_after:,} tokens "
        f"({how}), {written:,} bytes of {name}."
    )


def _document(
    result: Compacted, findings: tuple[Finding, ...], output: dict[str, object]
) -> dict[str, Any]:
    """The object of `plan --json`, completed with what was made and written."""
    document: dict[str, Any] = result.plan.as_json()
    document["tokens"]["after"] = result.tokens_after
    document["findings"] = [finding.as_json() for finding in findings]
    made = result.summary
    document["summary"] = (
        None
        if made is None
        else {
            "text": made.text,
            "role": made.role,
            "tokens": made.tokens,
            "summarizer": made.summarizer,
        }
    )
    document["output"] = output
    return document
