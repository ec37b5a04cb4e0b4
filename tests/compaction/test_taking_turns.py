"""A summary between other words of the user, for servers that want roles to take turns."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from compaction import Digest, Policy, Session, compact, load, plan, preset
from compaction.compacting import Compacted
from compaction.export import render_bytes
from compaction.findings import Finding
from compaction.marker import BRIDGE
from compaction.policy_blocks import Head

STORY = " The tide was late, and the harbour master wrote it down again."


def chat(model: str = "gpt-4.1", turns: int = 8) -> Session:
    messages: list[dict[str, str]] = [{"role": "system", "content": "Be brief."}]
    for number in range(turns):
        messages.append({"role": "user", "content": f"Berth {number}, please." + STORY * 6})
        messages.append({"role": "assistant", "content": f"Berth {number} is free." + STORY * 6})
    messages.append({"role": "user", "content": "And now?"})
    return load(json.dumps({"model": model, "messages": messages}).encode())


def compacted(session: Session, recent: int, first: int = 1) -> Compacted:
    policy = Policy(budget=600, keep_recent=recent).replace(head=Head("first", first=first))
    result = compact(plan(session, policy), Digest())
    assert result.made
    return result


def written(
    result: Compacted, alternate: bool | None = None
) -> tuple[list[dict[str, Any]], list[Finding]]:
    data, told = render_bytes(result, alternate=alternate)
    messages: list[dict[str, Any]] = json.loads(data)["messages"]
    return messages, [one for one in told if one.code == "export-bridge"]


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("recent", [2, 3])
def test_roles_take_turns_whatever_stands_beside_the_summary(recent: int, first: int) -> None:
    session = chat()
    result = compacted(session, recent, first)
    messages, told = written(result, alternate=True)
    roles = [one["role"] for one in messages if one["role"] != "system"]
    assert roles[0] == "user"
    assert all(a != b for a, b in itertools.pairwise(roles))
    # Head, summary and recent are written as they are all the same.
    lines = [one for one in messages if one["content"] == BRIDGE]
    assert [one for one in messages if one not in lines] == written(result, alternate=False)[0]
    assert len(told) == (1 if lines else 0)


def test_without_need_or_wish_nothing_is_put_in() -> None:
    result = compacted(chat(), 3)
    assert [one["role"] for one in written(result)[0]][:3] == ["system", "user", "user"]
    assert BRIDGE not in str(written(compacted(chat(), 2), alternate=True)[0])


def test_models_that_are_known_to_want_it_get_it() -> None:
    result = compacted(chat("mistral-large-latest"), 3)
    assert [one["content"] for one in written(result)[0]].count(BRIDGE) == 1
    assert BRIDGE not in str(written(result, alternate=False)[0])


def test_a_published_form_is_kept_to_the_letter() -> None:
    session = chat("mistral-large-latest")
    for name in ("keep-last", "untrusted-data", "three-region"):
        policy = preset(name).replace(budget=600, keep_recent=3)
        result = compact(plan(session, policy), Digest())
        assert result.made
        assert BRIDGE not in render_bytes(result, alternate=True)[0].decode()


def test_the_line_is_known_again_and_never_summarized() -> None:
    session = load(render_bytes(compacted(chat(), 3), alternate=True)[0])
    assert [one.summary for one in session.messages[1:3]] == ["compaction", "compaction"]
    result = compact(plan(session, Policy(budget=200, keep_recent=1)), Digest())
    assert result.summary is not None
    assert "summarized here" not in result.summary.text
    assert result.summary.count == 16


def test_the_finding_about_a_collision_says_how_to_mend_it() -> None:
    result = compacted(chat(), 3)
    found = [one for one in result.findings if one.code == "summary-role-collides"]
    assert [one.remedy.count("--alternate") for one in found] == [1]


def test_no_result_of_a_tool_stands_before_the_summary() -> None:
    function = {"name": "crane", "arguments": "{}"}
    calls = [{"id": "c", "type": "function", "function": function}]
    head: list[dict[str, Any]] = [
        {"role": "user", "content": "Lift it."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "up"},
    ]
    said = [
        {"role": role, "content": f"{number}{STORY * 6}"}
        for number in range(5)
        for role in ("assistant", "user")
    ]
    session = load(json.dumps({"model": "mistral-large", "messages": [*head, *said]}).encode())
    result = compacted(session, 2, 3)
    assert "summary-after-tool" in [one.code for one in result.findings]
    roles = [one["role"] for one in written(result)[0]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]
