"""The commands on bundled sessions: what they print, in which shape, with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import compaction
import sample_sessions
from tests.tui.running import Cli

DEMO = sample_sessions.path(sample_sessions.DEMO)
CHAT = sample_sessions.path("support-chat")


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def call(call_id: str, name: str = "look") -> dict[str, Any]:
    """An assistant message of the chat dialect with one call."""
    function = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


@pytest.fixture
def long_chat(tmp_path: Path) -> Path:
    """A chat of 41 messages: a system prompt, then 20 questions with their answers."""
    words = "the tide was late and the harbour master wrote it down again "
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(20):
        messages.append({"role": "user", "content": f"Question {number}: {words * 4}"})
        messages.append({"role": "assistant", "content": f"Answer {number}: {words * 6}"})
    return write(tmp_path / "long.json", messages)


# ------------------------------------------------------------------------------------- plan


def test_plan_json_has_the_documented_shape(cli: Cli, long_chat: Path) -> None:
    ran = cli("plan", long_chat, "--budget", 1000, "--keep-recent", 4, "--json")
    plan = ran.json
    assert ran.code == 0
    assert plan["session"]["format"] == "openai-chat"
    assert plan["session"]["messages"] == 41
    assert set(plan["session"]) == {"format", "messages", "problems"}
    assert plan["policy"]["name"] == "default"
    assert plan["policy"]["budget"] == 1000
    assert plan["policy"]["keep_recent"] == 4
    assert plan["policy"]["requested"] == 4
    assert plan["policy"]["effective"] == 4
    assert plan["over_budget"] is True
    assert plan["compacts"] is True
    assert plan["reason"]
    assert plan["head"] == [0, 1]
    assert plan["summarized"] == [1, 37]
    assert plan["recent"] == [37, 41]
    assert plan["regions"] == ["head"] + ["summarized"] * 36 + ["recent"] * 4
    assert len(plan["message_tokens"]) == 41
    tokens = plan["tokens"]
    assert tokens["after"] is None
    assert tokens["before"] == tokens["head"] + tokens["summarized"] + tokens["recent"]
    assert tokens["kept"] == 0
    for finding in plan["findings"]:
        assert {"level", "code", "message", "text"} <= set(finding)


def test_plan_counts_what_the_library_counts(cli: Cli) -> None:
    session = compaction.load(CHAT)
    plan = compaction.plan(session, compaction.Policy(budget=1500, keep_recent=10))
    ran = cli("plan", CHAT, "--budget", "1.5k", "--keep-recent", "10", "--json")
    assert ran.json["tokens"]["before"] == plan.tokens_before
    assert ran.json["message_tokens"] == list(plan.counts.tokens)


def test_a_pinned_message_is_kept(cli: Cli, long_chat: Path) -> None:
    ran = cli("plan", long_chat, "--budget", 1000, "--keep-recent", 4, "--pin", 7, "--json")
    assert ran.json["regions"][7] == "kept"
    assert ran.json["summarized"] is None


def test_plan_for_people_names_every_message_once(cli: Cli, long_chat: Path) -> None:
    ran = cli("plan", long_chat, "--budget", 1000, "--keep-recent", 4)
    assert ran.code == 0
    listed = [line for line in ran.out.splitlines() if line.startswith((" ▌", " ░"))]
    assert len(listed) == 41
    assert listed[0].split()[:3] == ["▌H", "0", "system"]
    assert sum("▌R" in line for line in listed) == 4
    assert "\x1b" not in ran.out


def test_brief_leaves_the_list_out(cli: Cli, long_chat: Path) -> None:
    ran = cli("plan", long_chat, "--budget", 1000, "--brief")
    assert "Question 3" not in ran.out
    assert "summarized" in ran.out


def test_under_budget_nothing_is_compacted(cli: Cli) -> None:
    ran = cli("plan", sample_sessions.path("sourdough-question"), "--json")
    assert ran.json["compacts"] is False
    assert ran.json["over_budget"] is False
    assert ran.json["summarized"] in ([1, 1], None)


def test_strict_plan_that_cannot_fit_is_3(cli: Cli, long_chat: Path) -> None:
    ran = cli("plan", long_chat, "--budget", 20, "--strict", "--brief")
    assert ran.code == 3
    assert "20" in ran.err


# ----------------------------------------------------------------------------------- export


def test_export_keeps_head_and_recent_and_reports(
    cli: Cli, long_chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    ran = cli("export", long_chat, "-o", out, "--budget", 1500, "--keep-recent", 4, "--json")
    assert ran.code == 0
    before = json.loads(long_chat.read_text())
    after = json.loads(out.read_text())
    assert after[0] == before[0]
    assert after[-4:] == before[-4:]
    assert len(after) == 6
    document = ran.json
    assert document["output"]["path"] == str(out)
    assert document["summary"]["role"] == "user"
    assert document["summary"]["summarizer"] == "digest"
    assert document["summary"]["text"]
    assert document["tokens"]["after"] < document["tokens"]["before"]
    assert str(out) in ran.err


def test_export_to_stdout_is_only_the_session(cli: Cli, long_chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = ("--budget", 1500, "--keep-recent", 4)
    cli("export", long_chat, "-o", out, *options)
    ran = cli("export", long_chat, "-o", "-", *options)
    assert ran.out.encode() == out.read_bytes()
    assert "wrote to standard output" in ran.err


def test_export_under_budget_writes_the_same_bytes(cli: Cli, tmp_path: Path) -> None:
    source = sample_sessions.path("kanazawa-trip")
    out = tmp_path / "trip.jsonl"
    ran = cli("export", source, "-o", out)
    assert ran.code == 0
    assert out.read_bytes() == source.read_bytes()
    assert "nothing compacted" in ran.err


def test_export_refuses_the_source_and_existing_files(cli: Cli, long_chat: Path) -> None:
    before = long_chat.read_bytes()
    other = long_chat.with_name("other.json")
    other.write_text("mine")
    assert cli("export", long_chat, "-o", long_chat, "--force").code == 2
    assert cli("export", long_chat, "-o", other, "--budget", 1500).code == 2
    assert long_chat.read_bytes() == before
    assert other.read_text() == "mine"
    assert cli("export", long_chat, "-o", other, "--budget", 1500, "--force").code == 0
    assert other.read_text() != "mine"


def test_strict_export_over_budget_is_3_and_writes_nothing(
    cli: Cli, long_chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    ran = cli("export", long_chat, "-o", out, "--budget", 30, "--strict")
    assert ran.code == 3
    assert not out.exists()
    assert "over the budget" in ran.err
    assert "(--strict). A budget of 30 cannot be reached" in ran.err
    assert ran.err.endswith(". Nothing was written.\n")
    assert len(ran.err.strip().splitlines()) == 1


def test_findings_about_a_result_name_messages_as_the_session_does(
    cli: Cli, tmp_path: Path
) -> None:
    talk = [
        {"role": side, "content": [{"type": "text", "text": f"{number} {side} weighs it. " * 40}]}
        for number in range(20)
        for side in ("user", "assistant")
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"system": "Weigh.", "messages": talk}))
    ran = cli("export", path, "-o", tmp_path / "out.json", "--budget", 3000, "--keep-recent", 4)
    assert ran.code == 0
    assert "message #40: The list ends with the assistant (#40)" in ran.err


def test_a_failing_summarizer_is_3_and_writes_nothing(
    cli: Cli, long_chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    ran = cli("export", long_chat, "-o", out, "--budget", 1500, "--summarizer", "command:exit 7")
    assert ran.code == 3
    assert not out.exists()
    assert "7" in ran.err


def test_an_unknown_summarizer_is_a_usage_error(cli: Cli, long_chat: Path) -> None:
    ran = cli("export", long_chat, "-o", "-", "--budget", 1500, "--summarizer", "digset")
    assert ran.code == 2
    assert "digset" in ran.err


def test_a_summary_from_a_file_is_used_as_it_is(cli: Cli, long_chat: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("The tide was late twenty times.", encoding="utf-8")
    ran = cli(
        *("export", long_chat, "-o", tmp_path / "out.json", "--budget", 1500, "--json"),
        *("--summary-file", tmp_path / "mine.txt"),
    )
    assert ran.json["summary"]["text"] == "The tide was late twenty times."
    assert "The tide was late twenty times." in (tmp_path / "out.json").read_text()


def test_a_function_of_a_module_here_is_a_summarizer(
    cli: Cli, long_chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_summaries.py").write_text(
        "def short(messages):\n    return f'{len(messages)} old messages'\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = cli(
        *("export", long_chat, "-o", tmp_path / "out.json", "--budget", 1500, "--json"),
        *("--keep-recent", 4, "--summarizer", "python:my_summaries:short"),
    )
    assert ran.json["summary"]["text"] == "36 old messages"


def test_export_in_another_format(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "demo.json"
    ran = cli("export", DEMO, "-o", out, "--format", "openai-chat", "--json")
    assert ran.code == 0
    assert ran.json["output"]["format"] == "openai-chat"
    loaded = compaction.load(out)
    assert loaded.format == "openai-chat"
    assert not [f for f in compaction.check(loaded.messages, "openai-chat") if f.level == "error"]


# ------------------------------------------------------------------------------------ check


def test_check_of_a_valid_session_is_0(cli: Cli) -> None:
    ran = cli("check", CHAT, "--json")
    assert ran.code == 0
    assert ran.json["dialect"] == "openai-chat"
    assert [each for each in ran.json["findings"] if each["level"] == "error"] == []


def test_check_tells_an_orphan_result_and_exits_with_1(cli: Cli, tmp_path: Path) -> None:
    path = write(
        tmp_path / "orphan.json",
        [
            {"role": "user", "content": "hi"},
            call("a"),
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "gone", "content": "2"},
            {"role": "user", "content": "and?"},
        ],
    )
    ran = cli("check", path, "--json")
    assert ran.code == 1
    errors = [each for each in ran.json["findings"] if each["level"] == "error"]
    assert errors[0]["message"] == 3
    assert errors[0]["stage"] == "session"
    shown = cli("check", path)
    assert shown.code == 1
    assert "#3" in shown.out


def test_check_in_another_dialect(cli: Cli) -> None:
    ran = cli("check", CHAT, "--dialect", "anthropic", "--json")
    assert ran.json["dialect"] == "anthropic"


# ---------------------------------------------------------------------------------- inspect


def test_inspect_adds_up(cli: Cli) -> None:
    found = cli("inspect", DEMO, "--json").json
    messages = found["tokens"]["messages"]
    assert found["session"]["format"] == "claude-code"
    assert sum(each["tokens"] for each in found["roles"]) == messages
    assert sum(each["tokens"] for each in found["kinds"]) == messages
    assert {each["name"] for each in found["tools"]} >= {"Read", "Bash", "Edit", "Write", "Grep"}
    largest = [each["tokens"] for each in found["largest"]]
    assert largest == sorted(largest, reverse=True)
    assert len(largest) == 10
    assert found["open_calls"] == []


def test_inspect_for_people(cli: Cli) -> None:
    ran = cli("inspect", DEMO)
    assert ran.code == 0
    assert "Tokens by role" in ran.out
    assert "Read" in ran.out
    assert "No problems in the file" in ran.out


def test_inspect_reports_the_lines_it_could_not_use(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(
        '{"role": "user", "content": "one"}\n'
        '{"role": "assis\n'
        '{"role": "assistant", "content": "two"}\n'
    )
    ran = cli("inspect", path, "--json")
    assert ran.code == 0
    assert ran.json["session"]["messages"] == 2
    assert any(problem.get("line") == 2 for problem in ran.json["problems"])
    assert "line 2" in ran.err


def test_full_history_shows_the_earlier_compaction(cli: Cli) -> None:
    path = sample_sessions.path("exchange-rates-codex")
    live = cli("inspect", path, "--json").json
    full = cli("inspect", path, "--history", "full", "--json").json
    assert live["session"]["history"] == "live"
    assert full["session"]["history"] == "full"
    assert full["session"]["messages"] > live["session"]["messages"]
    assert len(full["compactions"]) == 1


def test_conversations_can_be_chosen(cli: Cli) -> None:
    path = sample_sessions.path("town-hall-triage")
    listed = cli("inspect", path, "--json").json["conversations"]
    assert len(listed) == 5
    third = cli("inspect", path, "--conversation", listed[2]["id"], "--json").json
    assert third["largest"][0]["text"]
    assert any("hedge" in each["text"] for each in third["largest"])


# ------------------------------------------------------------------------------------ lists


def test_policies_list_and_yaml(cli: Cli, tmp_path: Path) -> None:
    names = [each["name"] for each in cli("policies", "--json").json["policies"]]
    assert names == list(compaction.presets())
    ran = cli("policies", "three-region")
    path = tmp_path / "mine.yaml"
    path.write_text(ran.out)
    assert compaction.Policy.from_yaml(path) == compaction.preset("three-region")
    assert "untrusted-data" in cli("policies").out


def test_a_policy_file_is_a_policy(cli: Cli, long_chat: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ntrigger: {budget: 1200}\nrecent: {turns: 2}\n")
    plan = cli("plan", long_chat, "--policy", path, "--json").json
    assert plan["policy"]["name"] == "mine"
    assert plan["policy"]["budget"] == 1200
    assert plan["recent"] == [37, 41]


def test_formats_lists_the_registry(cli: Cli) -> None:
    from compaction.formats import FORMATS

    listed = cli("formats", "--json").json["formats"]
    assert [each["name"] for each in listed] == [each.name for each in FORMATS]
    assert "claude-code" in cli("formats").out


# ------------------------------------------------------------------------------------ stdin


def test_a_session_from_a_pipe(cli: Cli, long_chat: Path) -> None:
    data = long_chat.read_bytes()
    ran = cli("plan", "-", "--budget", 1000, "--json", stdin=data)
    assert ran.json["session"]["messages"] == 41
    assert cli("inspect", "-", stdin=data).code == 0
    assert cli("check", "-", stdin=data).code == 0
