"""The bundled sessions: all there, all recognised, all different, and believable."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import compaction
import sample_sessions
from compaction.groups import find_groups

NAMES = [sample.name for sample in sample_sessions.samples()]
FORMATS = {
    "login-refactor": "claude-code",
    "storm-surge-research": "anthropic",
    "scheduler-thinking": "anthropic",
    "exchange-rates-codex": "codex",
    "greenhouse-reasoning": "openai-responses",
    "support-chat": "openai-chat",
    "floor-plan-images": "openai-chat",
    "kanazawa-trip": "openai-chat",
    "incident-review": "yaml",
    "town-hall-triage": "openai-chat",
    "sourdough-question": "openai-chat",
    "hostile-upload": "openai-chat",
}


def test_the_index_is_the_folder() -> None:
    held = {
        entry.name
        for entry in files("sample_sessions").iterdir()
        if entry.name.endswith((".json", ".jsonl", ".yaml"))
    }
    assert {sample.file for sample in sample_sessions.samples()} == held
    assert len(NAMES) == len(set(NAMES)) >= 10
    assert sample_sessions.DEMO in NAMES
    assert all(sample.title and sample.description for sample in sample_sessions.samples())


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="nothing"):
        sample_sessions.path("nothing")


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_is_recognised_and_whole(name: str) -> None:
    session = compaction.load(sample_sessions.path(name))
    assert session.format == FORMATS[name]
    assert len(session) >= 3
    assert [each for each in session.problems if each.level == "error"] == []
    groups = find_groups(session.messages)
    assert list(groups.orphans) == []
    assert list(groups.open_calls) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_can_be_compacted_and_saved(name: str, tmp_path: Path) -> None:
    session = compaction.load(sample_sessions.path(name))
    counts = compaction.count(session)
    policy = compaction.Policy(budget=max(200, counts.total // 2), keep_recent=4)
    result = compaction.compact(compaction.plan(session, policy, counts=counts))
    out = tmp_path / sample_sessions.path(name).name
    # A few short messages have no smaller summary; then all of them stay.
    compaction.save(session if result.failure else result, out)
    again = compaction.load(out)
    assert again.format == session.format
    assert len(again) == len(result.messages)


def test_the_demo_is_over_budget_and_worth_a_look() -> None:
    session = compaction.load(sample_sessions.path(sample_sessions.DEMO))
    plan = compaction.plan(session, compaction.Policy())
    assert plan.over_budget
    assert plan.compacts
    assert plan.tokens_before > 110_000
    assert 150 <= len(session) <= 400
    parallel = [message for message in session.messages if len(message.calls) > 1]
    assert len(parallel) >= 20
    typed = " ".join(message.text for message in session.messages if message.typed)
    assert "Never touch migrations/" in typed
    result = compaction.compact(plan)
    assert result.made
    assert result.summary is not None
    assert not result.over_budget
    assert "migrations/" in result.summary.text


def test_one_sample_is_under_every_budget() -> None:
    session = compaction.load(sample_sessions.path("sourdough-question"))
    plan = compaction.plan(session, compaction.Policy())
    assert not plan.compacts
    assert compaction.compact(plan).messages is session.messages


def test_what_each_special_sample_is_for() -> None:
    kinds = {name: _kinds(name) for name in ("floor-plan-images", "scheduler-thinking")}
    assert "media" in kinds["floor-plan-images"]
    assert "thinking" in kinds["scheduler-thinking"]
    responses = compaction.load(sample_sessions.path("greenhouse-reasoning"))
    assert any(message.bound for message in responses.messages)
    codex = compaction.load(sample_sessions.path("exchange-rates-codex"))
    full = compaction.load(sample_sessions.path("exchange-rates-codex"), history="full")
    assert len(full.compactions) == 1
    assert len(full) > len(codex)
    japanese = compaction.load(sample_sessions.path("kanazawa-trip"))
    assert re.search("甲殻類アレルギー", japanese.messages[7].text)


def _kinds(name: str) -> set[str]:
    session = compaction.load(sample_sessions.path(name))
    return {kind for message in session.messages for kind in message.kinds}


def test_the_hostile_sample_holds_every_attack() -> None:
    raw = sample_sessions.path("hostile-upload").read_bytes().decode("utf-8")
    for attack in ("\\u001b[2J", "\x9b2J", "\u202e", "<|endoftext|>", "\\ud800", "[@click="):
        assert attack in raw
    assert max(map(len, raw.splitlines())) > 50_000
