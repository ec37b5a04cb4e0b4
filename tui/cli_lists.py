"""`compaction policies` and `compaction formats`: what is known."""

from __future__ import annotations

import click

from tui.cli_options import json_option
from tui.cli_output import Cell, Column, Printer, print_json


@click.command(short_help="The published policies; with NAME, its YAML.")
@click.argument("name", required=False)
@json_option
def policies(name: str | None, as_json: bool) -> None:
    """The published policies. With NAME (or a YAML file), the whole policy as YAML.

    The YAML is a policy file: save it, change it, and give it to --policy.

    \b
    --json prints {"policies": [{"name", "budget", "keep_recent", "unit", "about"}, ...]},
    or with NAME {"name", "yaml"}.
    """
    from compaction.policy import preset, presets
    from tui.cli_work import named_policy

    if name is not None:
        text = named_policy(name).to_yaml()
        if as_json:
            print_json({"name": name, "yaml": text})
        else:
            Printer.standard().text(text.rstrip("\n"))
        return
    known = [(preset(each), _about(each)) for each in presets()]
    if as_json:
        print_json(
            {
                "policies": [
                    {
                        "name": policy.name,
                        "budget": policy.budget,
                        "keep_recent": policy.keep_recent,
                        "unit": policy.recent.unit,
                        "about": about,
                    }
                    for policy, about in known
                ]
            }
        )
        return
    Printer.standard().table(
        [
            Column("policy"),
            Column("budget", right=True),
            Column("keeps"),
            Column("what it does", wrap=True),
        ],
        [
            [
                Cell(policy.name, "1"),
                f"{policy.budget:,}" if policy.budget is not None else "",
                _keeps(policy.keep_recent, policy.recent.unit),
                about,
            ]
            for policy, about in known
        ],
    )


def _keeps(amount: float | None, unit: str) -> str:
    return "what fits" if amount is None else f"{amount:,} {unit}"


def _about(name: str) -> str:
    """What the policy's own file says about it in its leading comment."""
    from importlib.resources import files

    text = (files("compaction") / "presets" / f"{name}.yaml").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    about = " ".join(lines).strip()
    return about.split(". ")[0].rstrip(".")


@click.command(short_help="The session formats that can be read and written.")
@json_option
def formats(as_json: bool) -> None:
    """The session formats. Each is recognised from its content, read, and written back.

    \b
    --json prints {"formats": [{"name", "title", "dialect", "suffix"}, ...]}.
    """
    from compaction.formats import FORMATS

    if as_json:
        print_json(
            {
                "formats": [
                    {
                        "name": each.name,
                        "title": each.title,
                        "dialect": each.dialect,
                        "suffix": each.suffix,
                    }
                    for each in FORMATS
                ]
            }
        )
        return
    Printer.standard().table(
        [Column("format"), Column("files"), Column("checked as"), Column("what it is")],
        [[Cell(each.name, "1"), each.suffix, each.dialect, each.title] for each in FORMATS],
    )
