"""`compaction sweep`, `compare` and `recommend`: many settings over one or many sessions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tui.cli_options import json_option
from tui.cli_output import note, print_json
from tui.cli_replay import prices_from, prices_options
from tui.cli_sweep_tables import print_comparison, print_sweep, tell_standing
from tui.widgets.amounts import parse_amount

if TYPE_CHECKING:
    from compaction.policy import Policy
    from compaction.sweeping import Sweep
    from compaction.sweeping.many import Engine, Standing


def _engine_options(command: Any) -> Any:
    """Where it runs, and what is kept."""
    for option in (
        click.option(
            "--backend",
            type=click.Choice(["loky", "threading", "dask", "serial"]),
            default="loky",
            show_default=True,
            help="Where files are replayed: processes or threads of this machine, or a cluster.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            metavar="N",
            help="How many at once; the default is one a core.",
        ),
        click.option(
            "--address", metavar="URL", help="The scheduler for --backend dask: tcp://host:8786."
        ),
        click.option(
            "--journal",
            metavar="FILE",
            help="Keep what is found here; run again with it to go on where it was stopped.",
        ),
        click.option(
            "--no-needed",
            "needed_later",
            is_flag=True,
            default=True,
            flag_value=False,
            help="Leave out what was needed later: saves a look through all text.",
        ),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write one row a session and setting: .jsonl, or .csv that table tools read.",
        ),
        click.option("--force", is_flag=True, help="Replace FILE if it exists."),
    ):
        command = option(command)
    return prices_options(command)


def _sessions(command: Any) -> Any:
    return click.argument("sessions", metavar="SESSION…", nargs=-1, required=True)(command)


def _grid_options(command: Any) -> Any:
    for option in (
        click.option("--policy", metavar="NAME|FILE", help="The policy whose values are changed."),
        click.option(
            "--budgets", metavar="LIST", help="Budgets to try, with commas: 32k,64k,128k."
        ),
        click.option("--keep-recents", metavar="LIST", help="Amounts of the end to try: 5,20,60."),
        click.option(
            "--axis",
            "axes",
            multiple=True,
            metavar="NAME=LIST",
            help="Another value to change: summary.max_tokens=512,1024. May be given several "
            "times.",
        ),
    ):
        command = option(command)
    return command


@click.command(short_help="A grid of settings: cost, peak, compactions, what was needed later.")
@_sessions
@_grid_options
@_engine_options
@click.option(
    "--metric",
    type=click.Choice(["cost", "sent", "peak", "compactions", "lost"]),
    default="cost",
    show_default=True,
    help="What the table of budgets and amounts shows.",
)
@json_option
def sweep(sessions: tuple[str, ...], as_json: bool, metric: str, **given: Any) -> int:
    """Replay sessions under every combination of settings. No model is asked.

    SESSION is a file, a folder (with all below), a glob, or a URL that fsspec knows. Summaries
    are taken to be as long as the policy lets expect, and to hold nothing that is needed later:
    `replay`, which makes digests, may find less lost.

    \b
    --json prints {"axes": [NAME, ...], "settings": [{"setting", "values", "sessions", "cost",
    "sent", "money", "compactions", "peak", "late", "soon", "lost", "refetched", "fits",
    "front"}, ...], "rows": [ROW, ...], "baselines": [ROW, ...], "recommended": {"setting",
    "values", "why"} | null, "skipped": [{"session", "why"}, ...], "refused": [{"setting",
    "policy", "why"}, ...], "notes": [{"session", "note"}, ...]}: what could not be read, settings
    that cannot be replayed, and files that were replayed in part.
    """
    found = _swept(sessions, given)
    _write(found, given)
    if as_json:
        print_json(_document(found))
    else:
        print_sweep(found, metric)
    return _code(found)


@click.command(short_help="Several policies side by side.")
@_sessions
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME|FILE",
    help="A policy to compare; may be given several times. The default is every published one.",
)
@click.option("--budget", metavar="TOKENS", help="The same budget for all of them.")
@click.option(
    "--tokenizer",
    metavar="NAME",
    default="calibrated",
    show_default=True,
    help="What all of them are counted with; calibrated where the session reports usage.",
)
@_engine_options
@json_option
def compare(
    sessions: tuple[str, ...],
    policies: tuple[str, ...],
    budget: str | None,
    tokenizer: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Replay sessions under several policies, one row a policy. No model is asked.

    Summaries are taken to be as long as in `sweep`. All policies are held against one another by
    one way of counting, which their triggers go by here too.

    \b
    --json prints the object of `sweep --json` with the one axis "policy".
    """
    from compaction.policy import presets
    from compaction.sweeping.many import compare_files

    _check_output(given)
    chosen = [_policy(name) for name in policies or presets()]
    if budget is not None:
        amount = _amounts(budget, "--budget")[0]
        chosen = [each.replace(budget=amount) for each in chosen]
    chosen = [each.replace(tokens=tokenizer) for each in _told_apart(chosen, policies)]
    found = compare_files(sessions, chosen, engine=_engine(given), standing=_standing())
    _write(found, given)
    if as_json:
        print_json(_document(found))
    else:
        print_comparison(found, tokenizer)
    return _code(found)


@click.command(short_help="The setting to use, with the reason, as YAML.")
@_sessions
@_grid_options
@_engine_options
@json_option
def recommend(sessions: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Sweep sessions and say which setting to use, and why. The YAML is a policy file.

    \b
    --json prints {"why", "values": {AXIS: VALUE}, "yaml", "skipped"}.
    """
    if not given["needed_later"]:
        raise click.UsageError(
            "--no-needed leaves nothing to hold the cost against; use it with sweep."
        )
    found = _swept(sessions, given)
    _write(found, given)
    advice = found.recommend()
    if advice is None:
        note("compaction: there is nothing to recommend a setting from.")
        return 2
    values = dict(zip(found.axes, found.values[advice.setting], strict=True))
    text = advice.policy.replace(name=f"{advice.policy.name}-recommended").to_yaml()
    if as_json:
        print_json({"why": advice.why, "values": values, "yaml": text, "skipped": _skipped(found)})
    else:
        note(advice.why)
        sys.stdout.write(text)
    return _code(found)


# --------------------------------------------------------------------------------- the work


def _swept(sessions: tuple[str, ...], given: dict[str, Any]) -> Sweep:
    from compaction.sweeping.many import sweep_files

    _check_output(given)
    budgets, amounts = given["budgets"], given["keep_recents"]
    axes = dict(_axis(text) for text in given["axes"])
    tried_budgets = _amounts(budgets, "--budgets") if budgets else None
    tried_amounts = _numbers(amounts, "--keep-recents") if amounts else None
    found = sweep_files(
        sessions,
        policy=_policy(given["policy"] or "default"),
        budgets=tried_budgets,
        keep_recents=tried_amounts,
        axes=axes,
        engine=_engine(given),
        standing=_standing(),
    )
    _tell_left_out(found, {"budget": tried_budgets, "keep_recent": tried_amounts, **axes})
    return found


def _tell_left_out(found: Sweep, tried: dict[str, Any]) -> None:
    """Say which values were asked for and cannot be under the policy."""
    for place, axis in enumerate(found.axes):
        known = [values[place] for values in found.values]
        for value in tried.get(axis) or ():
            if value not in known:
                note(f"{axis} {value} cannot be under this policy; it was left out.")


def _policy(name: str) -> Policy:
    from tui.cli_work import named_policy

    return named_policy(name)


def _told_apart(chosen: Sequence[Policy], given: Sequence[str]) -> list[Policy]:
    """The policies, those of one name called as they were given."""
    names = [each.name for each in chosen]
    return [
        each.replace(name=name) if names.count(each.name) > 1 else each
        for each, name in zip(chosen, given or names, strict=True)
    ]


def _engine(given: dict[str, Any]) -> Engine:
    from compaction.sweeping.many import Engine

    prices = None
    if given["price_file"] or given["price_model"]:
        prices = prices_from(given["price_file"], given["price_model"], "")
    return Engine(
        given["backend"],
        given["workers"],
        given["address"],
        given["journal"],
        prices,
        given["needed_later"],
    )


def _standing() -> Any:
    """Tells how far it is where somebody looks."""
    if not sys.stderr.isatty():
        return None

    def tell(standing: Standing) -> None:
        tell_standing(standing)

    return tell


def _amounts(text: str, option: str) -> list[int]:
    try:
        return [parse_amount(each) for each in text.split(",") if each.strip()]
    except ValueError as error:
        raise click.UsageError(f"{option} {text}: {error}.") from None


def _numbers(text: str, option: str) -> list[float]:
    return [_number(each, option) for each in text.split(",") if each.strip()]


def _number(text: str, option: str) -> float:
    if "." in text or "%" in text:
        try:
            share = float(text.strip().rstrip("%"))
        except ValueError:
            raise click.UsageError(f"{option}: {text!r} is no number.") from None
        return share / 100 if "%" in text else share
    return _amounts(text, option)[0]


#: Values that are axes of their own, and how they are given.
_OWN_OPTIONS = {
    "budget": "--budgets",
    "trigger.budget": "--budgets",
    "keep_recent": "--keep-recents",
    "recent": "--keep-recents",
}


def _axis(text: str) -> tuple[str, list[Any]]:
    name, sign, values = text.partition("=")
    if not sign or not values.strip():
        raise click.UsageError(f"--axis {text}: give NAME=VALUE,VALUE.")
    if (own := _OWN_OPTIONS.get(name.strip())) is not None:
        # Two axes for one value would show settings that nobody replayed.
        raise click.UsageError(f"--axis {text}: this value has an option of its own, {own}.")
    return name.strip(), [_value(each.strip()) for each in values.split(",")]


def _value(text: str) -> Any:
    """A value as YAML would read it, and amounts such as 32k."""
    try:
        return parse_amount(text)
    except ValueError:
        import yaml

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError:
            return text


def _check_output(given: dict[str, Any]) -> None:
    """Refuse a file that cannot be written before the work is done, not after it."""
    if given["output"]:
        from compaction.sweeping.tables import check_target

        check_target(given["output"], force=given["force"])


def _write(found: Sweep, given: dict[str, Any]) -> None:
    if given["output"]:
        from compaction.sweeping.tables import write_rows

        count = write_rows(found, given["output"], force=given["force"])
        note(f"wrote {given['output']}: {count:,} rows.")


def _code(found: Sweep) -> int:
    for name, why in found.skipped[:5]:
        note(f"skipped: {why if name in why else f'{name}: {why}'}")
    if len(found.skipped) > 5:
        note(f"and {len(found.skipped) - 5:,} more files were skipped (--json tells all).")
    for name, what in found.notes[:5]:
        note(f"{name}: {what}, the one that is opened first (`inspect` lists them).")
    if len(found.notes) > 5:
        note(f"and {len(found.notes) - 5:,} more files in part (--json tells all).")
    return 0 if found.rows else 2


def _skipped(found: Sweep) -> list[dict[str, str]]:
    return [{"session": name, "why": why} for name, why in found.skipped]


def _document(found: Sweep) -> dict[str, Any]:
    from dataclasses import asdict

    front = {each.setting for each in found.front()}
    advice = found.recommend()
    return {
        "axes": list(found.axes),
        "settings": [
            {
                **asdict(each),
                "values": list(found.values[each.setting]),
                "cost": round(each.cost, 6),
                "front": each.setting in front,
            }
            for each in found.totals()
        ],
        "rows": [row.as_json() for row in found.rows],
        "baselines": [row.as_json() for row in found.baselines],
        "recommended": None
        if advice is None
        else {
            "setting": advice.setting,
            "values": list(found.values[advice.setting]),
            "why": advice.why,
        },
        "skipped": _skipped(found),
        "notes": [{"session": name, "note": what} for name, what in found.notes],
        "refused": [
            {"setting": setting, "policy": found.policies[setting].name, "why": why}
            for setting, why in found.refused
        ],
    }
