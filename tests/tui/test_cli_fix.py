"""`compaction check --fix`: a copy that the API takes, each change told, the source untouched."""

from __future__ import annotations

import json
from pathlib import Path

from compaction.formats import load
from compaction.validity import check
from tests.tui.running import Cli

BROKEN = [
    {"role": "user", "content": "Weigh lane four."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}
    ]},
    {"role": "user", "content": "Well?"},
    {"role": "tool", "tool_call_id": "gone", "content": "9 kg"},
]  # fmt: skip


def broken(folder: Path) -> Path:
    path = folder / "broken.json"
    path.write_text(json.dumps(BROKEN))
    return path


def test_a_repaired_copy_is_written_and_each_change_told(cli: Cli, tmp_path: Path) -> None:
    path, out = broken(tmp_path), tmp_path / "fixed.json"
    before = path.read_bytes()
    ran = cli("check", path, "--fix", "-o", out, "--json")
    assert ran.code == 0
    told = ran.json
    assert [(one["message"], one["code"]) for one in told["changes"]] == [
        (3, "orphan-result"),
        (1, "unanswered-call"),
    ]
    assert told["findings"] == []
    assert told["output"]["bytes"] == len(out.read_bytes())
    messages = load(out).messages
    assert not [each for each in check(messages, "openai-chat") if each.level == "error"]
    assert "9 kg" in messages[-1].text
    assert path.read_bytes() == before
    shown = cli("check", path, "--fix", "-o", out, "--force")
    assert "#1" in shown.out
    assert "marked placeholder" in shown.out


def test_the_copy_goes_to_standard_output_and_the_changes_to_the_other(
    cli: Cli, tmp_path: Path
) -> None:
    ran = cli("check", broken(tmp_path), "--fix", "-o", "-")
    assert len(json.loads(ran.out)) == 5
    assert "2 changes" in ran.err


def test_it_is_mended_for_the_api_it_is_written_for(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "fixed.json"
    ran = cli(
        "check", broken(tmp_path), "--fix", "-o", out, "--dialect", "anthropic", "--format",
        "anthropic",
    )  # fmt: skip
    assert ran.code == 0
    assert not [
        each for each in check(load(out).messages, "anthropic") if each.level == "error"
    ]


def test_options_that_do_not_go_together_say_so(cli: Cli, tmp_path: Path) -> None:
    path = broken(tmp_path)
    assert "name its file with -o" in cli("check", path, "--fix").err
    assert "-o is for --fix" in cli("check", path, "-o", tmp_path / "x").err
    ran = cli("check", path, "--fix", "-o", path, "--force")
    assert ran.code == 2
    assert "never changed" in ran.err


def test_findings_are_grouped_by_level(cli: Cli, tmp_path: Path) -> None:
    shown = cli("check", broken(tmp_path)).out
    assert shown.index("2 errors") < shown.index("orphan-result")
    assert shown.count("errors") == 1
