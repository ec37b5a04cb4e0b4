"""The published policies: whole, with their source, and doing on a session what they say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from compaction.compacting import Compacted, compact
from compaction.messages import Message, Text, ToolCall, ToolResult, message
from compaction.planning import plan
from compaction.policy import Policy, Safety, preset, presets
from compaction.summary import FromCallable
from compaction.validity import check
from tests.compaction.planning_strategies import session_of

OWN = ("default",)
PUBLISHED = ("three-region", "fit-window", "keep-last", "untrusted-data")
SYSTEMS = tuple(name for name in presets() if name not in (*OWN, *PUBLISHED))
LONG = "The scanner at the north gate read pallet 17 and lane four was measured again. " * 30


def work(turns: int = 16) -> list[Message]:
    """A session of an agent: every turn two parallel calls and one more, then an answer."""
    out = [message("system", "You keep the depot.")]
    for turn in range(turns):
        out.append(message("user", f"Turn {turn}: what do the logs of lane {turn} say?"))
        for step, ids in enumerate(((f"a{turn}", f"b{turn}"), (f"c{turn}",))):
            out.append(
                message("assistant", [ToolCall(each, "Read", f'{{"n": {step}}}') for each in ids])
            )
            out += (message("tool", [ToolResult(each, (Text(LONG + each),))]) for each in ids)
        out.append(message("assistant", f"Lane {turn} is open."))
    return [*out, message("user", "And now?")]


def done_by(policy: Policy, messages: Sequence[Message]) -> Compacted:
    made = plan(session_of(messages), policy)
    return compact(made, FromCallable(lambda _: "The logs were read; all lanes are open.", "x"))


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_preset_names_its_source_its_version_and_what_it_does_not_do(name: str) -> None:
    policy = preset(name)
    assert policy.name == name
    assert policy.source
    assert policy.version
    assert len(policy.notes) > 100


def test_all_systems_are_there_and_the_order_is_stable() -> None:
    assert presets()[:5] == (*OWN, *PUBLISHED)
    assert list(SYSTEMS) == sorted(SYSTEMS)
    assert len(SYSTEMS) == 36


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_preset_breaks_nothing_and_accounts_for_everything(name: str) -> None:
    policy = preset(name)
    messages = work()
    done = done_by(policy.replace(budget=3000) if policy.budget != 1_000_000 else policy, messages)
    assert done.made, done.plan.reason
    assert not done.failure
    assert {finding.code for finding in check(done.messages) if finding.level == "error"} <= {
        "first-not-user"
    }
    assert len(done.account) == len(messages)
    for at, fate in enumerate(done.account):
        if fate.region in {"head", "recent", "kept"} and not done.clipped:
            assert fate.into is not None
            assert done.messages[fate.into] is messages[at]
    assert done.messages[0] is messages[0]
    assert done.tokens_after < done.tokens_before


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_preset_leaves_a_short_talk_alone(name: str) -> None:
    talk = [message("system", "s"), message("user", "a"), message("assistant", "b")]
    done = done_by(preset(name), [*talk, message("user", "c")])
    assert not done.made
    assert done.messages is done.session.messages


def test_codex_keeps_what_was_typed_and_ends_with_the_summary() -> None:
    done = done_by(preset("codex").replace(budget=3000), work())
    assert [entry.role for entry in done.messages] == ["system", *["user"] * 18]
    assert done.messages[-1].text.startswith("Another language model started")
    assert done.messages[-2].text == "And now?"


def test_in_place_presets_take_nothing_away() -> None:
    for name, left in (
        ("anthropic-context-editing", 3),
        ("langchain-context-editing", 3),
        ("openhands-masking", 2),
        ("swe-agent", 5),
    ):
        policy = preset(name)
        small = policy if policy.trigger.any else policy.replace(budget=3000)
        done = done_by(small, work())
        whole = [
            part
            for entry in done.messages
            for part in entry.parts
            if isinstance(part, ToolResult) and not part.cleared
        ]
        assert (len(done.messages), len(whole)) == (len(work()), left)
        assert done.summary is None


def test_trimming_makes_no_summary() -> None:
    for name in ("langchain-trim", "litellm"):
        done = done_by(preset(name).replace(budget=3000), work())
        assert done.summary is None
        assert all(entry in work() or entry.role for entry in done.messages)
        assert done.tokens_after <= 3000


def test_faults_of_the_originals_need_safety_off() -> None:
    policy = preset("langchain-trim").replace(budget=1500)
    held = done_by(policy, work())
    apart = done_by(policy.replace(safety=Safety("off")), work())
    assert "orphan-result" not in {finding.code for finding in check(held.messages)}
    assert len(apart.messages) >= len(held.messages)


def test_autogen_says_how_much_is_left_out() -> None:
    done = done_by(preset("autogen-head-tail"), work())
    assert len(list(done.plan.head)) == 2
    assert done.summary is not None
    assert done.plan.policy.summary.summarizer == "none"
