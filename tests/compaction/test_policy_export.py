"""Policies in the words of other tools: what is written parses, and what is lost is said."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Callable
from copy import copy
from types import SimpleNamespace

import pytest

from compaction.errors import PolicyError
from compaction.policy import Clause, Policy, Recent, Trigger, preset, presets
from compaction.policy_export import export_policy, tools
from compaction.policy_passes import ClearToolResults

PYTHON = ("langchain", "pydantic-ai", "openhands", "letta")


@pytest.mark.parametrize("tool", tools())
@pytest.mark.parametrize("name", presets())
def test_every_policy_is_written_for_every_tool(name: str, tool: str) -> None:
    setting = export_policy(preset(name), tool)
    if tool in PYTHON:
        ast.parse(setting.text)
    elif tool == "codex":
        tomllib.loads(setting.text)
    else:
        json.loads(setting.text)
    assert all(each and not each.endswith(".") for each in setting.lost)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("codex", "codex"),
        ("claude-code", "claude-code"),
        ("gemini-cli", "gemini-cli"),
        ("langchain-summarization", "langchain"),
        ("langchain-context-editing", "langchain"),
        ("langchain-trim", "langchain"),
        ("openhands", "openhands"),
    ],
)
def test_a_tools_own_policy_loses_nothing_on_it(name: str, tool: str) -> None:
    lost = export_policy(preset(name), tool).lost
    # 83.5 % is the tool's own limit, which its override cannot name.
    assert [each for each in lost if "84 %" not in each] == []


def test_numbers_come_through() -> None:
    codex = tomllib.loads(export_policy(Policy(budget=64_000), "codex").text)
    assert codex == {"model_auto_compact_token_limit": 64_000}
    claude = json.loads(export_policy(Policy(budget=64_000), "claude-code").text)
    assert claude == {"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "32"}}
    gemini = json.loads(export_policy(preset("gemini-cli"), "gemini-cli").text)
    assert gemini == {"model": {"compressionThreshold": 0.5}}
    letta = export_policy(preset("letta"), "letta").text
    assert '"sliding_window_percentage": 0.3' in letta
    openhands = export_policy(preset("openhands"), "openhands").text
    assert "max_size=80, keep_first=4" in openhands


def test_clauses_of_langchain_are_and_in_a_mapping_and_or_in_a_list() -> None:
    either = Trigger(any=(Clause(tokens=100, when="reach"), Clause(messages=9)))
    both = Trigger(all=(Clause(tokens=100, when="reach"), Clause(messages=9)))
    text = export_policy(Policy(trigger=either), "langchain").text
    assert "trigger=[('tokens', 100), ('messages', 10)]" in text
    text = export_policy(Policy(trigger=both), "langchain").text
    assert "trigger={'tokens': 100, 'messages': 10}" in text


def test_what_is_lost_names_the_block() -> None:
    policy = Policy(recent=Recent("turns", 3), fit="clip-largest", iterate="stack")
    lost = export_policy(policy, "codex").lost
    assert "recent: 3 turns; the tool keeps typed messages within 20,000 tokens" in lost
    assert "iterate: stack" in lost
    assert "fit: clip-largest" in lost


def test_an_unknown_tool_and_an_unknown_window_are_said() -> None:
    with pytest.raises(PolicyError, match=r"did you mean codex\?"):
        export_policy(Policy(), "codx")
    with pytest.raises(PolicyError, match="give --budget"):
        export_policy(Policy(trigger=Trigger(reserve=10)), "codex")


def test_what_langchain_refuses_is_not_written_for_it() -> None:
    for name in ("claude-code", "codex", "goose", "anthropic-compact"):
        setting = export_policy(preset(name), "langchain")
        assert "keep=('messages', 1)" in setting.text
        assert any("keep is at least one message" in each for each in setting.lost)
    always = export_policy(preset("swe-agent"), "langchain")
    assert "trigger=0, keep=5" in always.text
    assert any(each.startswith("trigger: its clauses") for each in always.lost)


class _Part:
    def __init__(self, content: str, tool_name: str = "read") -> None:
        self.content, self.tool_name = content, tool_name


class _Request:
    def __init__(self, *parts: object) -> None:
        self.parts = list(parts)


def _ran(name: str, budget: int, **more: object) -> Callable[[list[object]], list[object]]:
    """The function of the snippet for pydantic-ai, with the classes it works on stood in for."""
    setting = export_policy(preset(name).replace(budget=budget, **more), "pydantic-ai")
    code = setting.text.partition("def ")
    body = "def " + code[2].partition("\n\nagent =")[0].rstrip()

    def replaced(thing: object, **changes: object) -> object:
        made = copy(thing)
        vars(made).update(changes)
        return made

    sizes = SimpleNamespace(dump_json=lambda messages: b"x" * 400 * len(messages))
    scope: dict[str, object] = {
        "ModelMessage": object, "ModelRequest": _Request, "ToolReturnPart": _Part,
        "ModelMessagesTypeAdapter": sizes, "replace": replaced,
    }  # fmt: skip
    exec(body, scope)
    return scope.get("compacted") or scope["cleared"]  # type: ignore[return-value]


def test_the_snippet_for_pydantic_ai_runs_and_keeps_the_newest_message() -> None:
    messages: list[object] = [_Request(), object(), _Request(_Part("x")), object(), _Request()]
    keep_none = _ran("codex", 100)
    assert keep_none(messages) == [messages[0], messages[-1]]
    paired = _ran("default", 100, keep_recent=3)
    assert paired(messages) == [messages[0], *messages[1:]]
    assert _ran("codex", 10_000)(messages) is messages


def test_the_snippet_of_a_policy_that_clears_takes_no_message_away() -> None:
    policy = preset("anthropic-context-editing")
    (each,) = [one for one in policy.before if isinstance(one, ClearToolResults)]
    messages: list[object] = [_Request(_Part(f"page {n}")) for n in range(5)]
    out = _ran("anthropic-context-editing", 100)(messages)
    contents = [one.parts[0].content for one in out]  # type: ignore[attr-defined]
    assert contents == [each.placeholder] * 2 + ["page 2", "page 3", "page 4"]
    assert [one.parts[0].content for one in messages] == [f"page {n}" for n in range(5)]  # type: ignore[attr-defined]


def test_a_window_that_is_assumed_and_a_trigger_that_cannot_be_are_told() -> None:
    assert "200,000 tokens are assumed" in export_policy(preset("default"), "claude-code").lost[0]
    large = export_policy(preset("default").replace(budget=500_000), "claude-code")
    assert any("250 % of 200,000" in each for each in large.lost)
    small = export_policy(preset("default").replace(budget=500), "claude-code")
    assert any("under 2,000 tokens" in each for each in small.lost)
    gemini = export_policy(preset("default").replace(budget=5_000_000), "gemini-cli")
    assert any("a trigger of 5,000,000 tokens" in each for each in gemini.lost)


def test_clauses_that_a_tool_cannot_count_are_told_and_not_made_up() -> None:
    policy = Policy(trigger=Trigger(100_000, any=(Clause(turns=30),)))
    chain = export_policy(policy, "langchain")
    assert "trigger=('tokens', 100000)" in chain.text
    assert any(each.startswith("trigger: turns and groups") for each in chain.lost)
    hands = export_policy(policy, "openhands")
    assert any(each.startswith("trigger: its other clauses") for each in hands.lost)
    own = export_policy(preset("claude-code"), "claude-code")
    assert not any("can only lower" in each for each in own.lost)
