"""Validity: for each thing an API refuses, a list that has it and one that has not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compaction import validity
from compaction.errors import CompactionError
from compaction.formats import format_named, load
from compaction.formats.base import DIALECTS, Dialect
from compaction.messages import (
    Inline,
    Media,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Tools,
    message,
)
from compaction.validity import check

Listed = Sequence[Message | Mapping[str, Any]]
Told = list[tuple[str, str, int | None]]

USER = message("user", "Weigh it.")
DONE = message("assistant", "Done.")


def told(messages: Listed, dialect: Dialect = "openai-chat", *, infos: bool = False) -> Told:
    """Level, code and place of the findings, without those that only inform."""
    found = check(messages, dialect)
    return [(one.level, one.code, one.message) for one in found if infos or one.level != "info"]


def call(*ids: str, arguments: str = "{}") -> Message:
    return message("assistant", [ToolCall(one, "weigh", arguments) for one in ids])


def answer(one: str, *content: Text | Media) -> Message:
    return message("tool", [ToolResult(one, content or (Text("12 kg"),))])


def chat_call(*ids: str, arguments: str = "{}", **more: object) -> dict[str, Any]:
    calls = [
        {"id": one, "type": "function", "function": {"name": "weigh", "arguments": arguments}}
        for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def chat_answer(one: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": one, "content": "12 kg"}


def says(role: str, *blocks: dict[str, Any] | str) -> dict[str, Any]:
    """A message of Anthropic: text, or blocks."""
    if len(blocks) == 1 and isinstance(blocks[0], str):
        return {"role": role, "content": blocks[0]}
    return {"role": role, "content": list(blocks)}


def use(one: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": one, "name": "weigh", "input": {"p": 1}}


def result(one: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": one, "content": "12 kg"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


# ---------------------------------------------------------------------------- calls and results


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_whole_list_is_taken(dialect: Dialect) -> None:
    listed = [USER, call("a", "b"), answer("b"), answer("a"), DONE, USER]
    assert told(listed, dialect) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ([USER, answer("a"), DONE], [("error", "orphan-result", 1)]),
        ([USER, call("a"), USER], [("error", "unanswered-call", 1)]),
        ([USER, call("a", "b"), answer("a"), USER], [("error", "unanswered-call", 1)]),
        ([USER, call("a", "b"), answer("a")], [("warning", "interrupted-call", 1)]),
        ([USER, call("a"), answer("a"), answer("a"), DONE], [("error", "result-twice", 3)]),
    ],
)
def test_partners_are_missed(dialect: Dialect, listed: list[Message], expected: Told) -> None:
    assert told(listed, dialect) == expected


def test_the_user_between_a_call_and_its_result() -> None:
    listed = [USER, call("a"), USER, answer("a"), DONE]
    assert told(listed, "openai-chat") == [("error", "result-apart", 3)]
    # Rendered for these two, the user's side is one message, its results first.
    assert told(listed, "anthropic") == []
    assert told(listed, "gemini") == []
    assert told(listed, "openai-responses") == []


def test_a_batch_is_split_by_an_answer_of_the_assistant() -> None:
    listed = [USER, call("a", "b"), answer("a"), DONE, answer("b"), DONE]
    for dialect in ("openai-chat", "anthropic", "gemini"):
        assert told(listed, dialect) == [("error", "batch-split", 4)]  # type: ignore[arg-type]
    assert told(listed, "openai-responses") == []


def test_a_batch_of_anthropic_is_answered_in_one_message() -> None:
    whole = [says("user", "Go."), says("assistant", use("a"), use("b"))]
    split = [*whole, says("user", result("a")), says("user", result("b"))]
    assert told(split, "anthropic") == [("error", "batch-split", 3)]
    assert told([*whole, says("user", result("a"), result("b"))], "anthropic") == []


def test_results_on_lines_of_their_own_are_said_to_be_merged() -> None:
    envelope = {"parentUuid": None, "sessionId": "s", "uuid": "u"}

    def line(role: str, *parts: Part, spelled: str = "") -> Message:
        record = {**envelope, "type": spelled or role, "message": {"role": spelled or role}}
        return message(role, parts, record=record)

    listed = [
        line("user", Text("Go.")),
        line("assistant", ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}")),
        line("tool", ToolResult("a", (Text("1"),)), spelled="user"),
        line("tool", ToolResult("b", (Text("2"),)), spelled="user"),
        line("user", Text("Thanks.")),
    ]
    assert told(listed, "anthropic", infos=True) == [("info", "results-merged", 3)]


def test_results_come_first_in_a_message_of_anthropic() -> None:
    start = [says("user", "Go."), says("assistant", use("a"))]
    late = says("user", text("Here."), result("a"))
    assert told([*start, late], "anthropic") == [("error", "results-not-first", 2)]
    assert told([*start, says("user", result("a"), text("Here."))], "anthropic") == []


def test_calls_of_items_are_one_turn() -> None:
    items: Listed = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        *(
            {"type": "function_call", "id": f"fc_{one}", "call_id": one, "name": "f"}
            | {"arguments": "{}"}
            for one in "ab"
        ),
        *({"type": "function_call_output", "call_id": one, "output": "1"} for one in "ab"),
    ]
    for dialect in DIALECTS:
        assert told(items, dialect) == []


def test_records_of_a_tool_are_no_items() -> None:
    # Items of one response are one turn; messages of the assistant in a row are not.
    lines = (
        {"type": "gemini", "content": "Weighing.", "toolCalls": [
            {"id": one, "name": "f", "args": {}}
        ]}
        for one in "ab"
    )  # fmt: skip
    listed = [USER, *(replace(call(one), body=Inline(call(one).parts, line))
                      for one, line in zip("ab", lines, strict=True))]  # fmt: skip
    assert told(listed) == [
        ("error", "unanswered-call", 1),
        ("warning", "interrupted-call", 2),
    ]


def test_anthropics_own_compaction_may_begin() -> None:
    compacted: Listed = [
        says("assistant", {"type": "compaction", "content": "Two lanes were weighed."}),
        says("user", "Go on."),
    ]
    assert told(compacted, "anthropic") == []
    assert told(compacted, "gemini") == [("error", "first-not-user", 0)]


# ------------------------------------------------------------------------------------------ ids


def test_ids_that_are_shared() -> None:
    twice: Listed = [USER, chat_call("a", "a"), chat_answer("a"), chat_answer("a"), USER]
    assert told(twice) == [("error", "duplicate-id", 1)]
    again: Listed = [
        says("user", "Go."),
        says("assistant", use("a")),
        says("user", result("a")),
        says("assistant", use("a")),
        says("user", result("a")),
    ]
    assert told(again, "anthropic") == [("error", "reused-id", 3)]
    assert told(again, "openai-chat") == [("warning", "reused-id", 3)]
    assert told(again, "gemini") == []


def test_what_rendering_repairs_is_only_told() -> None:
    listed = [USER, call("a"), answer("a"), call("a"), answer("a"), DONE, USER]
    assert told(listed, "anthropic", infos=True) == [("info", "reused-id", 3)]


@pytest.mark.parametrize(
    ("one", "dialect", "expected"),
    [
        ("x" * 65, "openai-chat", [("error", "long-id", 1), ("error", "long-id", 2)]),
        ("x" * 41, "openai-chat", [("warning", "long-id", 1), ("warning", "long-id", 2)]),
        ("x" * 40, "openai-chat", []),
        ("", "openai-chat", [("error", "missing-id", 1)]),
        ("x" * 65, "gemini", []),
        ("", "gemini", []),
    ],
)
def test_ids_of_a_length(one: str, dialect: Dialect, expected: Told) -> None:
    assert told([USER, chat_call(one), chat_answer(one)], dialect) == expected


def test_ids_with_characters_that_anthropic_does_not_take() -> None:
    listed = [says("user", "Go."), says("assistant", use("a|b")), says("user", result("a|b"))]
    assert told(listed, "anthropic") == [
        ("error", "id-characters", 1),
        ("error", "id-characters", 2),
    ]


# ---------------------------------------------------------------------------------------- roles


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("listed", [[], [message("system", "Depot helper.")]])
def test_an_empty_list_is_refused(dialect: Dialect, listed: list[Message]) -> None:
    assert told(listed, dialect) == [("error", "no-messages", None)]


def test_who_begins() -> None:
    listed = [message("system", "Depot."), DONE, USER]
    assert told(listed, "anthropic") == [("error", "first-not-user", 1)]
    assert told(listed, "gemini") == [("error", "first-not-user", 1)]
    assert told(listed, "openai-chat") == []


def test_a_list_without_a_user() -> None:
    assert told([DONE], "anthropic") == [("error", "no-user", None)]
    assert told([DONE], "openai-chat") == [("warning", "no-user", None)]


def test_instructions_in_the_middle() -> None:
    listed = [message("system", "a"), message("developer", "b"), USER, message("system", "c"), USER]
    assert told(listed, "anthropic") == [("error", "system-inside", 3)]
    assert told(listed, "openai-chat") == [("warning", "system-inside", 3)]
    assert told(listed, "openai-responses") == []


def test_unknown_roles() -> None:
    listed = [USER, message("narrator", "Later."), message("", "x")]
    assert told(listed) == [("error", "unknown-role", 1), ("error", "unknown-role", 2)]


def test_who_ends_and_who_follows_whom_is_told() -> None:
    listed = [USER, call("a"), answer("a"), USER, USER, DONE]
    assert told(listed, "anthropic", infos=True) == [("info", "assistant-last", 5)]
    assert told(listed, "openai-chat", infos=True) == [("info", "tool-then-user", 3)]
    assert told(listed, "gemini", infos=True) == [
        ("info", "roles-repeat", 3),
        ("info", "assistant-last", 5),
    ]


# -------------------------------------------------------------------------------------- content


def test_messages_without_content() -> None:
    null = {"role": "assistant", "content": None}
    assert told([USER, null, USER]) == [("error", "empty-message", 1)]
    assert told([USER, {"role": "assistant", "content": ""}, USER]) == [
        ("warning", "empty-message", 1)
    ]
    assert told([says("user", "Go."), says("assistant"), says("user", "And?")], "anthropic") == [
        ("error", "empty-message", 1)
    ]
    # The last answer may be empty for Anthropic: it is continued.
    assert told([says("user", "Go."), says("assistant")], "anthropic") == []


def test_text_of_nothing_but_white_space() -> None:
    assert told([message("user", " \n\u00a0"), DONE]) == [("warning", "blank-text", 0)]
    for words in ("", " \n"):
        listed = [says("user", text("Go."), text(words)), says("assistant", "Done.")]
        assert told(listed, "anthropic") == [("error", "blank-text", 0)]
    assert told([message("user", [Text("Go."), Text("")]), USER], "anthropic") == []


@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ("{}", True),
        ("", True),
        ('{"n": 12345678901234567890123, "t": "a\\nb"}', True),
        ("[1]", False),
        ('{"p": ', False),
        ("*** Begin Patch", False),
        ("[" * 100_000, False),
        ('{"a":' * 100_000, False),
    ],
)
def test_arguments_are_an_object(arguments: str, fine: bool) -> None:
    listed: Listed = [USER, chat_call("a", arguments=arguments), chat_answer("a"), USER]
    assert told(listed) == ([] if fine else [("warning", "arguments-no-object", 1)])


def test_custom_tools_take_any_text() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    listed: Listed = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        chat_answer("a"),
    ]
    assert told(listed) == []


def test_media_where_an_api_takes_none() -> None:
    video = says("user", {"type": "video_url", "video_url": {"url": "https://a.example/v.mp4"}})
    assert told([video, says("user", "See?")], "openai-chat") == [("error", "media-refused", 0)]
    assert told([video], "gemini") == []
    picture = [USER, call("a"), answer("a", Media("image", data="QUJD")), DONE, USER]
    assert told(picture, "anthropic") == []
    assert told(picture, "openai-chat", infos=True) == [("info", "media-refused", 2)]


def test_thinking_needs_its_signature() -> None:
    def thinks(**more: Any) -> list[dict[str, Any]]:
        block = {"type": "thinking", "thinking": "Hm.", **more}
        return [says("user", "Go."), says("assistant", block, text("So.")), says("user", "Ok.")]

    assert told(thinks(), "anthropic") == [("error", "thinking-unsigned", 1)]
    assert told(thinks(signature="EqoB"), "anthropic") == []
    redacted = says("assistant", {"type": "redacted_thinking", "data": "b3Bh"}, text("So."))
    assert told([says("user", "Go."), redacted, says("user", "Ok.")], "anthropic") == []
    # Reasoning of another provider is left out when the list is rendered.
    foreign = [USER, message("assistant", [Thinking("Hm."), Text("So.")]), USER]
    assert told(foreign, "anthropic") == []


@pytest.mark.parametrize(("marks", "expected"), [(4, []), (5, [("error", "cache-marks", 4)])])
def test_cache_marks_are_four_at_most(marks: int, expected: Told) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    listed = [says("user", text("Go.", **mark)) for _ in range(marks)]
    assert told(listed, "anthropic") == expected


# ------------------------------------------------------------------------------------ reasoning


def reasoned(*kinds: str) -> list[dict[str, Any]]:
    """Responses items: r reasoning, c call, o output, m message, u user."""
    items: list[dict[str, Any]] = []
    for number, kind in enumerate(kinds):
        items.append(
            {
                "r": {"type": "reasoning", "id": f"rs_{number}", "summary": []},
                "c": {"type": "function_call", "id": f"fc_{number}", "call_id": "a"}
                | {"name": "f", "arguments": "{}"},
                "o": {"type": "function_call_output", "call_id": "a", "output": "1"},
                "m": {"type": "message", "id": f"msg_{number}", "role": "assistant"}
                | {"content": [{"type": "output_text", "text": "So."}]},
                "u": {"type": "message", "role": "user"}
                | {"content": [{"type": "input_text", "text": "Go."}]},
            }[kind]
        )
    return items


def test_reasoning_stands_before_its_item() -> None:
    dialect: Dialect = "openai-responses"
    assert told(reasoned(*"urcorm"), dialect, infos=True) == []
    assert told(reasoned(*"uruorm")[:3], dialect) == [("error", "reasoning-alone", 1)]
    assert told(reasoned(*"ur"), dialect) == [("error", "reasoning-alone", 1)]
    missing = told(reasoned(*"urcom"), dialect, infos=True)
    assert missing == [("info", "reasoning-missing", 4)]
    # Without any reasoning the model may have none.
    assert told(reasoned(*"ucom"), dialect, infos=True) == []
    assert told(reasoned(*"ur"), "openai-chat") == []


# ---------------------------------------------------------------------------------------- tools


def test_tools_that_are_known() -> None:
    listed = [USER, call("a"), answer("a"), USER]
    codes = [one.code for one in check(listed, "anthropic", tools=[])]
    assert codes == ["tools-missing"]
    assert check(listed, "openai-responses", tools=[]) == ()
    assert check(listed, "anthropic", tools=Tools()) == ()
    assert check(listed, "anthropic", tools=Tools(("weigh",))) == ()
    other = check(listed, "openai-chat", tools=[{"function": {"name": "lift"}}])
    assert [(one.code, one.message) for one in other if one.code == "unknown-tool"] == [
        ("unknown-tool", 1)
    ]


def test_an_unknown_dialect_is_an_error_for_people() -> None:
    with pytest.raises(CompactionError, match="openai-chat, openai-responses"):
        check([USER], "morse")  # type: ignore[arg-type]


def test_every_code_is_in_the_table() -> None:
    told_of = set(re.findall(r"^\| ([a-z-]+) \|", validity.__doc__ or "", re.MULTILINE))
    used: set[str] = set()
    for module in Path(validity.__file__).parent.glob("*.py"):
        used |= set(re.findall(r'^ +"([a-z]+(?:-[a-z]+)+)",$', module.read_text(), re.MULTILINE))
    assert used - set(DIALECTS) == told_of - {"code"}


def test_an_edited_message_is_judged_by_what_it_says() -> None:
    kept = replace(call("a"), role="assistant")
    assert told([USER, kept, USER]) == [("error", "unanswered-call", 1)]


# ----------------------------------------------------------------------------------- real inputs


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("PAIR-01", {"orphan-result"}),
        ("PAIR-04", set()),
        ("PAIR-05", set()),
        ("PAIR-07", set()),
        ("PAIR-08", {"interrupted-call"}),
        ("PAIR-10", {"unanswered-call", "reused-id"}),
        ("PAIR-11", {"duplicate-id"}),
        ("PAIR-14", {"result-twice"}),
        ("PAIR-17", {"orphan-result"}),
        ("REAS-01", set()),
        ("REAS-04", set()),
        ("REAS-10", set()),
        ("ROLE-05", set()),
        ("ROLE-10", {"blank-text", "empty-message"}),
        ("ROLE-11", {"blank-text"}),
        ("ROLE-13", {"long-id"}),
        ("ROLE-14", {"cache-marks"}),
        ("TOK-04", {"empty-message"}),
    ],
)
def test_public_bug_reports(shared_cases: Path, case: str, expected: set[str]) -> None:
    session = load(next(shared_cases.glob(f"{case}.*")))
    found = check(session.messages, format_named(session.format).dialect)
    assert {one.code for one in found if one.level != "info"} == expected


def test_a_user_after_a_tool_result_gets_a_note(shared_cases: Path) -> None:
    session = load(shared_cases / "ROLE-08.json")
    [found] = check(session.messages, "openai-chat")
    assert (found.level, found.code, found.message) == ("info", "tool-then-user", 8)
