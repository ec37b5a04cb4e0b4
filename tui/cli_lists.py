"""`compaction policies` and `compaction formats`: what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tui.cli_options import KeepRecent, Settings, Tokens, json_option
from tui.cli_output import Cell, Column, Printer, note, print_json

if TYPE_CHECKING:
    from compaction.policy import Policy


@click.command(short_help="The published policies; with NAME, its YAML.")
@click.argument("name", required=False)
@click.option(
    "--for",
    "tool",
    metavar="TOOL",
    help="Print NAME as the setting of another tool: claude-code, codex, gemini-cli, langchain, "
    "pydantic-ai, openhands, letta.",
)
@click.option("--budget", type=Tokens(), metavar="TOKENS", help="Tokens the list may have: 120k.")
@click.option("--keep-recent", type=KeepRecent(), metavar="N", help="How much of the end stays.")
@json_option
def policies(
    name: str | None,
    tool: str | None,
    budget: int | None,
    keep_recent: float | None,
    as_json: bool,
) -> None:
    """The published policies. With NAME (or a file), the whole policy as YAML.

    The YAML is a policy file: save it, change it, and give it to --policy. With --for, the policy
    as the setting of another tool on standard output, and what it cannot say there on standard
    error.

    \b
    --json prints {"policies": [{"name", "budget", "keep_recent", "unit", "about"}, ...]},
    with NAME {"name", "yaml"}, with --for {"name", "for", "where", "text", "lost"}.
    """
    from compaction.policy import preset, presets
    from tui.cli_work import policy_of

    if name is None and (tool is not None or budget is not None or keep_recent is not None):
        raise click.UsageError("name a policy, such as: compaction policies default --for codex.")
    if name is not None:
        policy = policy_of(Settings(policy=name, budget=budget, keep_recent=keep_recent))
        if tool is not None:
            _for_tool(policy, tool, as_json=as_json)
            return
        text = policy.to_yaml()
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


def _for_tool(policy: Policy, tool: str, *, as_json: bool) -> None:
    from compaction.policy_export import export_policy

    setting = export_policy(policy, tool)
    if as_json:
        print_json(
            {
                "name": policy.name,
                "for": setting.tool,
                "where": setting.where,
                "text": setting.text,
                "lost": list(setting.lost),
            }
        )
        return
    note(f"{policy.name} for {setting.tool} ({setting.where}):")
    Printer.standard().text(setting.text)
    if setting.lost:
        note("Not expressed there:")
        for each in setting.lost:
            note(f"- {each}")


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
    """The session formats. Each is recognised from its content, read, and written back, but for
    a few that can only be read.

    \b
    --json prints {"formats": [{"name", "title", "dialect", "suffix", "read_only"}, ...]};
    read_only is a sentence that says why, or "".
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
                        "read_only": each.read_only,
                    }
                    for each in FORMATS
                ]
            }
        )
        return
    Printer.standard().table(
        [
            Column("format"),
            Column("files"),
            Column("checked as"),
            Column("what it is"),
            Column(),
        ],
        [
            [
                Cell(each.name, "1"),
                each.suffix,
                each.dialect,
                each.title,
                Cell("read only" if each.read_only else "", "2"),
            ]
            for each in FORMATS
        ],
    )
