"""`policies` and `--policy`: settings of other tools, policies of one's own, what cannot work."""

from __future__ import annotations

from pathlib import Path

import sample_sessions
from tests.tui.running import Cli

DEMO = sample_sessions.path(sample_sessions.DEMO)


def test_a_policy_is_printed_for_another_tool(cli: Cli) -> None:
    ran = cli("policies", "default", "--for", "codex", "--budget", "64k")
    assert ran.code == 0
    assert ran.out.strip() == "model_auto_compact_token_limit = 64000"
    assert "Not expressed there:" in ran.err
    assert "- recent: 20 messages" in ran.err
    told = cli("policies", "codex", "--for", "codex", "--json").json
    assert (told["name"], told["for"], told["lost"]) == ("codex", "codex", [])
    assert told["where"].endswith("config.toml")


def test_an_unknown_tool_and_a_tool_without_a_policy_are_refused(cli: Cli) -> None:
    ran = cli("policies", "default", "--for", "codx")
    assert ran.code == 2
    assert "did you mean codex?" in ran.err
    assert cli("policies", "--for", "codex").code == 2


def test_every_system_is_listed(cli: Cli) -> None:
    names = [each["name"] for each in cli("policies", "--json").json["policies"]]
    assert names[0] == "default"
    assert {"claude-code", "codex", "gemini-cli", "swe-agent", "haystack"} <= set(names)


def test_a_policy_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from compaction import Policy\n\n\n"
        "def tight():\n    return Policy(name='tight', budget=900, keep_recent=2)\n"
    )
    told = cli("plan", DEMO, "--policy", f"{path}:tight", "--json").json
    assert told["policy"]["name"] == "tight"
    assert told["policy"]["budget"] == 900
    wrong = cli("plan", DEMO, "--policy", f"{path}:tihgt")
    assert wrong.code == 2
    assert "did you mean tight?" in wrong.err


def test_what_cannot_work_is_refused_with_the_numbers(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("trigger: 4000\nrecent: {tokens: 5000}\n")
    ran = cli("plan", DEMO, "--policy", path)
    assert ran.code == 2
    assert "recent.tokens of 5,000 is 5,000 tokens, not fewer than the budget of 4,000" in ran.err


def test_a_plan_that_only_clears_says_so(cli: Cli) -> None:
    told = cli("plan", DEMO, "--policy", "anthropic-context-editing", "--budget", "5000", "--json")
    plan = told.json
    assert plan["compacts"] is True
    assert plan["tokens"]["summarized"] == 0
    assert plan["tokens"]["freed"] > 0
    assert {plan["regions"][index] for index in plan["cleared"]} == {"cleared"}
