"""Policies in the words of other tools: what is written parses, and what is lost is said."""

from __future__ import annotations

import ast
import json
import tomllib

import pytest

from compaction.errors import PolicyError
from compaction.policy import Clause, Policy, Recent, Trigger, preset, presets
from compaction.policy_export import export_policy, tools

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
