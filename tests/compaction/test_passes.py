"""Passes before summarizing: what they change, what stays the very object, what is said of it."""

from __future__ import annotations

import pytest

from compaction.compacting import Compacted, compact
from compaction.messages import Media, Message, Text, Thinking, ToolCall, ToolResult, message
from compaction.planning import plan
from compaction.policy import Head, Pass, Policy, Recent, Safety, SummaryBlock
from compaction.policy_passes import (
    ClearThinking,
    ClearToolResults,
    ClipToolResults,
    DedupeReads,
    DropMedia,
)
from compaction.summary import FromCallable
from compaction.tokens import count
from tests.compaction.planning_strategies import session_of

PAGE = "The north gate scanner was reset and lane four was measured again before noon. " * 12


def call(id_: str, name: str = "Read", path: str = "/a") -> Message:
    return message("assistant", [Text("Looking."), ToolCall(id_, name, f'{{"path": "{path}"}}')])


def result(id_: str, text: str = PAGE) -> Message:
    return message("tool", [ToolResult(id_, (Text(text),))])


#: system | user, four calls with their results, answer | user
WORK = [
    message("system", "You keep the depot."),
    message("user", "What do the logs say?"),
    *(each for n in range(4) for each in (call(f"c{n}", path=f"/{n}"), result(f"c{n}"))),
    message("assistant", "All lanes are open."),
    message("user", "And tomorrow?"),
]
IN_PLACE = SummaryBlock(middle="keep")


def cleared(
    messages: list[Message], *before: Pass, budget: int = 10, **blocks: object
) -> Compacted:
    policy = Policy(budget=budget, before=before, summary=IN_PLACE, **blocks)  # type: ignore[arg-type]
    return compact(plan(session_of(messages), policy))


def text_of(entry: Message) -> str:
    (part,) = [part for part in entry.parts if isinstance(part, ToolResult)]
    return part.text


def test_old_results_are_cleared_and_all_else_stays_the_very_object() -> None:
    done = cleared(WORK, ClearToolResults(keep=1))
    assert (done.made, done.summary, done.failure) == (True, None, "")
    assert list(done.plan.cleared) == [3, 5, 7]
    assert [done.plan.region(i) for i in (0, 2, 3, 9, 11)] == [
        "head", "recent", "cleared", "recent", "recent",
    ]  # fmt: skip
    for index, entry in enumerate(done.messages):
        if index in (3, 5, 7):
            assert text_of(entry) == "[Old tool result content cleared]"
            assert entry.results == WORK[index].results
        else:
            assert entry is WORK[index]
    fate = done.account[3]
    assert (fate.region, fate.into) == ("cleared", 3)
    assert fate.reason == "kept in its place; its tool output is cleared"
    recount = count(session_of(list(done.messages))).total
    assert done.tokens_after == recount < done.tokens_before
    assert done.plan.tokens_freed == done.tokens_before - recount


@pytest.mark.parametrize(
    ("each", "gone"),
    [
        (ClearToolResults(keep=3), [3]),
        (ClearToolResults(keep=9), []),
        (ClearToolResults(keep=0, protect_tokens=400), [3, 5]),
        (ClearToolResults(keep=0, messages=5), [3, 5]),
        (ClearToolResults(keep=0, turns=1), [3, 5, 7, 9]),
        (ClearToolResults(keep=0, turns=2), []),
        (ClearToolResults(keep=0, at_least=100_000), []),
        (ClearToolResults(keep=0, exclude=("Read",)), []),
        (ClearToolResults(keep=0, exclude=("Bash",)), [3, 5, 7, 9]),
        (ClearToolResults(keep=2, inputs=True), [2, 3, 4, 5]),
    ],
)
def test_what_clearing_spares(each: ClearToolResults, gone: list[int]) -> None:
    done = cleared(WORK, each)
    assert list(done.plan.cleared) == gone
    assert done.made == bool(gone)
    if not gone:
        assert done.messages is done.session.messages
        assert "nothing to change" in done.plan.reason


def test_a_budget_out_of_reach_names_what_is_cleared_apart() -> None:
    made = cleared(WORK, ClearToolResults(keep=1)).plan
    assert made.tokens_cleared > 0
    parts = f"cleared {made.tokens_cleared:,}, recent {made.tokens_recent:,})"
    assert parts in made.unreachable
    assert "alone takes" not in made.unreachable


def test_clearing_spares_what_is_no_larger_than_said() -> None:
    work = [*WORK[:5], result("c1", "north gate " * 30), *WORK[6:]]
    size = count(session_of(work)).tokens[5]
    assert size < count(session_of(work)).tokens[3]
    assert list(cleared(work, ClearToolResults(keep=0, larger_than=size)).plan.cleared) == [3, 7, 9]
    below = cleared(work, ClearToolResults(keep=0, larger_than=size - 1))
    assert list(below.plan.cleared) == [3, 5, 7, 9]


def test_cleared_inputs_keep_call_and_id() -> None:
    done = cleared(WORK, ClearToolResults(keep=2, inputs=True))
    assert done.messages[2].parts == (Text("Looking."), ToolCall("c0", "Read", "{}"))


def test_pins_and_the_newest_group_are_never_touched() -> None:
    done = cleared(WORK, ClearToolResults(keep=0), head=Head(pins=(5,)))
    assert list(done.plan.cleared) == [3, 7, 9]
    assert list(cleared(WORK[:10], ClearToolResults(keep=0)).plan.cleared) == [3, 5, 7]


def test_one_result_of_a_parallel_batch_is_cleared_alone() -> None:
    batch = message("user", [ToolResult("a", (Text(PAGE),)), ToolResult("b", (Text(PAGE),))])
    calls = message("assistant", [ToolCall("a", "Read", "{}"), ToolCall("b", "Read", "{}")])
    done = cleared([calls, batch, *WORK[1:]], ClearToolResults(keep=5))
    first, second = done.messages[1].parts
    assert isinstance(first, ToolResult)
    assert first.cleared
    assert second == batch.parts[1]


def test_under_the_budget_after_clearing_nothing_is_summarized() -> None:
    session = session_of(WORK)
    whole = count(session).total
    policy = Policy(budget=whole - 100, keep_recent=2, before=(ClearToolResults(keep=1),))
    made = plan(session, policy)
    assert (made.compacts, made.summarizes, list(made.summarized)) == (True, False, [])
    assert made.reason.startswith("over budget by 100 tokens: clearing in place frees")
    done = compact(made)
    assert done.tokens_after == made.tokens_after_estimate <= policy.budget  # type: ignore[operator]


def test_still_over_after_clearing_the_rest_is_summarized() -> None:
    policy = Policy(
        budget=200,
        summary=SummaryBlock(label="S", max_tokens=9),
        recent=Recent("messages", 5),
        before=(ClearToolResults(keep=1),),
        tokens="chars/4",
    )
    done = compact(plan(session_of(WORK), policy), FromCallable(lambda _: "Logs were read.", "x"))
    assert done.summary is not None
    assert [done.plan.region(i) for i in range(12)] == [
        "head", *["summarized"] * 5, *["recent", "cleared"], *["recent"] * 4,
    ]  # fmt: skip
    assert text_of(done.messages[3]) == "[Old tool result content cleared]"


def test_thinking_goes_but_for_the_newest_turn_that_holds_any() -> None:
    def thinks(text: str) -> Message:
        return message("assistant", [Thinking("hm " * 80), Text(text)])

    talk = [message("user", "a"), thinks("b"), message("user", "c"), thinks("d"), thinks("e")]
    talk += [message("user", "f"), message("assistant", "g"), message("user", "h")]
    assert list(cleared(talk, ClearThinking(1)).plan.cleared) == [1]
    done = cleared(talk, ClearThinking(0))
    assert list(done.plan.cleared) == [1, 3, 4]
    assert done.messages[1].parts == (Text("b"),)
    alone = message("assistant", [Thinking("hm " * 80)])
    assert not cleared([message("user", "a"), alone, *talk[5:]], ClearThinking(0)).made


def test_big_results_are_clipped() -> None:
    by_tokens = cleared(WORK, ClipToolResults(max_tokens=90, keep=2))
    assert list(by_tokens.plan.cleared) == [3, 5]
    assert "characters clipped" in text_of(by_tokens.messages[3])
    by_chars = cleared(WORK, ClipToolResults(max_chars=200))
    assert list(by_chars.plan.cleared) == [3, 5, 7, 9]
    assert 150 < len(text_of(by_chars.messages[9])) < 300


def test_media_become_their_label() -> None:
    shot = message("user", [Media("image", "image/png", 5000), Text("Look.")])
    inside = message("tool", [ToolResult("c9", (Media("image", "image/png", 700),))])
    talk = [shot, call("c9"), inside, shot, message("assistant", "Nice."), message("user", "So?")]
    done = cleared(talk, DropMedia(keep=1))
    assert list(done.plan.cleared) == [0, 2]
    assert done.messages[0].parts == (Text("[image/png, 5,000 bytes]"), Text("Look."))
    assert text_of(done.messages[2]) == "[image/png, 700 bytes]"


def test_reads_that_come_again_stand_once() -> None:
    newer = PAGE.replace("noon", "dusk")
    talk = [call("a"), result("a"), call("b"), result("b", newer), call("c", path="/x")]
    talk += [result("c", PAGE * 2), call("d", "Bash"), result("d"), call("e", "Bash")]
    talk += [result("e", newer), message("assistant", "Done."), message("user", "Thanks.")]
    done = cleared(talk, DedupeReads())
    assert list(done.plan.cleared) == [1, 3]
    assert text_of(done.messages[1]) == "[Shown again by a later tool result]"


def test_passes_go_one_after_the_other() -> None:
    done = cleared(WORK, ClipToolResults(max_chars=300), ClearToolResults(keep=2))
    assert list(done.plan.cleared) == [3, 5, 7, 9]
    assert text_of(done.messages[3]) == "[Old tool result content cleared]"
    assert "clipped" in text_of(done.messages[9])
    assert done.account[3].reason.endswith(
        "its tool output is clipped and its tool output is cleared"
    )


def test_dropping_says_so_in_the_account() -> None:
    policy = Policy(budget=10, keep_recent=3, summary=SummaryBlock(middle="drop"))
    done = compact(plan(session_of(WORK), policy))
    assert (done.made, done.summary, done.failure) == (True, None, "")
    assert [entry for entry in done.messages if entry not in WORK] == []
    assert len(done.messages) == 5
    assert done.account[3].into is None
    assert done.account[3].reason == "dropped without a summary: the policy makes none"
    assert done.plan.reason.endswith("are dropped without a summary")


def test_user_messages_within_a_budget_and_the_one_that_overflows() -> None:
    talk = [message("user", f"{n}: {PAGE}") for n in range(4)]
    between = [entry for user in talk for entry in (user, message("assistant", PAGE))]
    one = count(session_of([talk[0]])).total
    head = Head("none", users=one * 2 + 60, overflow="truncate")
    policy = Policy(
        budget=one * 4, recent=Recent("messages", 0), head=head, safety=Safety("off"),
        summary=SummaryBlock(place="last", label="Summary:\n", accept="any"),
    )  # fmt: skip
    done = compact(plan(session_of(between), policy), FromCallable(lambda _: "So far.", "x"))
    kept, cut = list(done.plan.kept), list(done.plan.cleared)
    assert (kept, cut) == ([4, 6], [2])
    assert [entry.role for entry in done.messages] == ["user"] * 4
    assert done.messages[-1].text == "Summary:\nSo far."
    assert done.messages[1] is between[4]
    assert "clipped" in done.messages[0].text
    assert done.account[2].reason.startswith("kept in part")
    assert done.tokens_after == count(session_of(list(done.messages))).total


@pytest.mark.parametrize(
    ("place", "at"),
    [("first", 0), ("after-head", 1), ("at-the-gap", 2), ("before-recent", 4), ("last", 6)],
)
def test_where_the_summary_stands(place: str, at: int) -> None:
    block = SummaryBlock(place=place, label="S", accept="any")  # type: ignore[arg-type]
    policy = Policy(budget=10, keep_recent=2, head=Head(pins=(1, 4)), summary=block)
    done = compact(plan(session_of(WORK), policy), FromCallable(lambda _: "x", "x"))
    assert [entry.text for entry in done.messages].index("Sx") == at


def test_stacked_summaries_stand_in_their_order() -> None:
    block = SummaryBlock(accept="any")
    policy = Policy(budget=10, keep_recent=2, iterate="stack", summary=block)
    first = compact(plan(session_of(WORK), policy), FromCallable(lambda _: "One.", "x"))
    more = session_of([*first.messages, *WORK[2:]])
    second = compact(plan(more, policy), FromCallable(lambda _: "Two.", "x"))
    texts = [entry.text for entry in second.messages if entry.summary]
    assert ["One." in texts[0], "Two." in texts[1]] == [True, True]
    assert second.messages[1] is first.messages[1]


def test_the_steps_of_a_fit_are_taken_in_order() -> None:
    policy = Policy(
        budget=200, keep_recent=8, fit=("clip-largest", "shrink-recent"), tokens="chars/4",
        summary=SummaryBlock(label="S", accept="any"),
    )  # fmt: skip
    done = compact(plan(session_of(WORK), policy), FromCallable(lambda _: "x", "x"))
    assert done.clipped
    assert (len(list(done.plan.recent)), done.over_budget) == (8, True) or not done.over_budget
    reject = policy.replace(budget=5, fit=("clip-largest", "reject"))
    refused = compact(plan(session_of(WORK), reject), FromCallable(lambda _: "x", "x"))
    assert "the policy rejects that" in refused.failure
    assert not refused.made


def test_a_target_below_the_budget_is_what_a_list_is_brought_to() -> None:
    from compaction.policy import Trigger

    talk = [message(("user", "assistant")[n % 2], f"{n} {PAGE}") for n in range(20)]
    session = session_of(talk)
    policy = Policy(
        trigger=Trigger(2000, target=1000), recent=Recent("fit"), head=Head("none"),
        summary=SummaryBlock(middle="drop"),
    )  # fmt: skip
    done = compact(plan(session, policy))
    assert done.tokens_after <= 1000
    one = count(session_of([talk[0]])).total
    assert 1000 - done.tokens_after < one + 8
