"""From the options of a command line to the values of the engine, one step each.

The engine is imported inside the functions: `--help` needs none of it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from compaction.errors import PolicyError, SessionError, SummarizerError
from tui.cli_options import Settings
from tui.cli_output import count, note

if TYPE_CHECKING:
    from compaction.compacting import Compacted
    from compaction.findings import Finding
    from compaction.formats.base import Dialect, History
    from compaction.messages import Session
    from compaction.planning import Plan
    from compaction.policy import Policy
    from compaction.policy_blocks import SafetyUnit
    from compaction.summary import Summarizer
    from compaction.tokens import Counts

#: How many problems of a file are told one by one before the rest is only counted.
_TOLD = 3


def load_session(settings: Settings) -> Session:
    """The session the settings name; problems in the file are told on standard error."""
    from compaction.formats import load

    assert settings.session is not None
    if settings.session == "-" and sys.stdin.isatty():
        raise SessionError("- reads a session from standard input: pipe one in.")
    session = load(
        settings.session,
        format=settings.read_as,
        history=cast("History", settings.history),
        conversation=settings.conversation,
    )
    tell_problems(session)
    return session


def tell_problems(session: Session) -> None:
    """Say what of the file could not be used, the worst first."""
    told = [problem for problem in session.problems if problem.level != "info"]
    for problem in told[:_TOLD]:
        note(f"{problem.level}: {placed(problem)}")
    if len(told) > _TOLD:
        more = count(len(told) - _TOLD, "more problem")
        note(f"and {more} in the file: `compaction inspect` lists all of them.")


def policy_of(settings: Settings, session: Session | None = None) -> Policy:
    """The policy the settings describe. Raises PolicyError, also for a pin out of range."""
    policy = named_policy(settings.policy or "default")
    if settings.budget is None and settings.keep_recent is None:
        # With a number of one's own the plan says so instead: a slider may pass through it.
        _refuse_impossible(policy, session)
    if settings.tokenizer is not None:
        policy = policy.replace(tokens=settings.tokenizer)
    if settings.budget is not None:
        policy = policy.replace(budget=settings.budget)
    if settings.keep_recent is not None:
        policy = policy.replace(keep_recent=_suited(settings.keep_recent, policy))
    if settings.safety is not None:
        unit = cast("SafetyUnit", settings.safety)
        policy = policy.replace(safety=policy.safety.of(unit))
    if settings.pins:
        if session is not None and max(settings.pins) >= len(session):
            raise PolicyError(
                f"--pin {max(settings.pins)} is past the end: the session has messages "
                f"0 to {len(session) - 1}."
            )
        pins = tuple(sorted({*policy.head.pins, *settings.pins}))
        policy = policy.replace(head=replace(policy.head, pins=pins))
    return policy


def _refuse_impossible(policy: Policy, session: Session | None) -> None:
    """Raise PolicyError for settings that can never bring a list under the budget."""
    from compaction.policy_limits import impossible

    budget = policy.budget
    if budget is None and session is not None and session.window is not None:
        budget = policy.trigger.tokens(session.window)
    if budget is not None and (why := impossible(policy, budget)):
        raise PolicyError(f"policy {policy.name} cannot work: {why}")


def named_policy(name: str) -> Policy:
    """A published policy, one of a YAML file, or one's own in Python. Raises PolicyError."""
    from compaction.policy import Policy, preset, presets
    from compaction.policy_code import is_code, policy_of_code

    if name in presets():
        return preset(name)
    if is_code(name):
        return policy_of_code(name)
    path = Path(name)
    if path.suffix.lower() in {".yaml", ".yml"} or path.exists():
        return Policy.from_yaml(path)
    return preset(name)


def _suited(amount: float, policy: Policy) -> float:
    """`amount` in the unit of the policy. Raises PolicyError where it cannot be."""
    unit = policy.recent.unit
    if isinstance(amount, float) and unit != "fraction":
        raise PolicyError(
            f"--keep-recent {amount} is a fraction, but policy {policy.name} keeps {unit}; "
            "give a whole number."
        )
    return amount


def counted(session: Session, policy: Policy) -> Counts:
    """The tokens of every message under the tokenizer of the policy."""
    from compaction.planning import counts_for

    return counts_for(session, policy)


def planned(session: Session, settings: Settings) -> Plan:
    """The plan for `session` under the settings."""
    from compaction.planning import plan

    policy = policy_of(settings, session)
    return plan(session, policy, counts=counted(session, policy))


def compacted(plan: Plan, settings: Settings) -> Compacted:
    """The plan carried out with the summary the settings ask for. Raises SummarizerError."""
    from compaction.compacting import compact, compact_with_text

    text = summary_text_of(settings)
    if text is not None:
        return compact_with_text(plan, text, summarizer="file")
    return compact(plan, summarizer_of(settings))


def summarizer_of(settings: Settings) -> Summarizer | None:
    """The summarizer asked for; None for the one the policy names. Raises click.UsageError."""
    from compaction.summary import summarizer_named

    spec = settings.summarizer
    if spec is None:
        return None
    if spec.startswith("python:"):
        # An installed program has its own folder on the path, not the one it is started in.
        sys.path.insert(0, str(Path.cwd()))
    try:
        return summarizer_named(spec)
    except SummarizerError as error:
        raise click.UsageError(f"--summarizer: {error}") from error


def summary_text_of(settings: Settings) -> str | None:
    """The text of --summary-file, None without one. Raises click.UsageError."""
    name = settings.summary_file
    if name is None:
        return None
    if settings.summarizer is not None:
        raise click.UsageError("give either --summarizer or --summary-file, not both.")
    try:
        return Path(name).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"{name} is not UTF-8 text (byte {error.start}); save the summary as UTF-8."
        ) from error
    except OSError as error:
        raise click.UsageError(
            f"{name}: {error.strerror or error}; --summary-file needs a text file."
        ) from error


def dialect_of(settings: Settings, session: Session) -> Dialect:
    """Whose rules to hold the messages against: as asked, else those of the session's format."""
    from compaction.formats import format_named

    if settings.dialect is not None:
        return cast("Dialect", settings.dialect)
    return format_named(session.format).dialect


def placed(finding: Finding) -> str:
    """The text of a finding with where it is and what to do about it."""
    where = []
    if finding.line is not None:
        where.append(f"line {finding.line}")
    if finding.message is not None:
        where.append(f"message #{finding.message}")
    place = f"{', '.join(where)}: " if where else ""
    remedy = f" {finding.remedy}" if finding.remedy else ""
    return f"{place}{finding.text}{remedy}"
