"""Repair: what an API refuses is mended, nothing else is touched, and no text is lost."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.export import render_bytes, save
from compaction.formats import from_messages, load
from compaction.formats.base import DIALECTS, Dialect
from compaction.messages import (
    Media,
    Message,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.repairing import repair
from compaction.repairing.content import BEGINNING
from compaction.validity import check


def session(*messages: Message) -> Session:
    return Session(Source(b""), "openai-chat", messages)


def call(*ids: str) -> Message:
    return message("assistant", [ToolCall(one, "weigh", '{"lane": 4}') for one in ids])


def result(call_id: str, text: str = "12 kg") -> Message:
    return message("tool", [ToolResult(call_id, (Text(text),))])


def errors(messages: tuple[Message, ...], dialect: Dialect) -> list[str]:
    return [each.code for each in check(messages, dialect) if each.level == "error"]


def test_what_is_whole_is_the_same_list() -> None:
    talk = session(message("user", "Weigh it."), call("a"), result("a"), message("user", "Good."))
    for dialect in DIALECTS:
        done = repair(talk, dialect)
        assert done.messages is talk.messages
        assert done.changes == ()


def test_open_calls_get_a_marked_answer_where_the_api_wants_it() -> None:
    talk = session(
        message("user", "Weigh both."), call("a", "b"), result("b"), message("user", "And?")
    )
    done = repair(talk, "openai-chat")
    assert [one.results for one in done.messages] == [(), (), ("b",), ("a",), ()]
    assert "interrupted" in done.messages[3].text
    assert [one for one in done.messages if one in talk.messages] == list(talk.messages)
    assert [(each.message, each.code) for each in done.changes] == [(1, "unanswered-call")]


def test_an_orphan_becomes_a_note_and_its_text_stays() -> None:
    talk = session(message("user", "Go."), result("lost", "lane nine is wet"), message("user", "?"))
    done = repair(talk, "anthropic")
    assert [one.role for one in done.messages] == ["user", "user", "user"]
    assert "lane nine is wet" in done.messages[1].text
    assert not done.messages[1].results
    assert done.messages[0] is talk.messages[0]


def test_a_second_result_is_told_as_text() -> None:
    talk = session(message("user", "Go."), call("a"), result("a", "pending"), result("a", "paid"))
    done = repair(talk, "anthropic")
    assert [one.results for one in done.messages] == [(), (), ("a",), ()]
    assert "paid" in done.messages[3].text
    assert errors(done.messages, "anthropic") == []


def test_a_result_that_stands_apart_goes_to_its_call() -> None:
    talk = session(
        message("user", "Go."), call("a", "b"), result("a"), message("user", "Wait."), result("b")
    )
    done = repair(talk, "openai-chat")
    assert [one.results for one in done.messages] == [(), (), ("a",), ("b",), ()]
    assert done.messages[3] is talk.messages[4], "moved, not made anew"


def test_an_id_used_again_gets_a_new_name_in_call_and_result() -> None:
    def use() -> dict[str, object]:
        block = {"type": "tool_use", "id": "a", "name": "weigh", "input": {}}
        return {"role": "assistant", "content": [block]}

    def answer(text: str) -> dict[str, object]:
        block = {"type": "tool_result", "tool_use_id": "a", "content": text}
        return {"role": "user", "content": [block]}

    go = {"role": "user", "content": "Go."}
    talk = from_messages([go, use(), answer("12 kg"), go, use(), answer("13 kg"), go])
    done = repair(talk, "anthropic")
    assert done.messages[1] is talk.messages[1]
    [first], [second] = done.messages[1].calls, done.messages[4].calls
    assert first == "a"
    assert second not in ("", "a")
    assert done.messages[5].results == (second,)
    assert done.messages[5].text == "13 kg"
    chat = session(call("a"), result("a"), message("user", "More."), call("a"), result("a"))
    assert repair(chat, "openai-chat").messages is chat.messages, "a warning is left alone"


def test_roles_blanks_media_and_reasoning_for_anthropic() -> None:
    talk = session(
        message("system", "Depot."),
        message("assistant", [Thinking("hm"), Text("Hello.")]),
        message("system", "Now be brief."),
        message("user", [Text(" "), Text("Look."), Media("video", "video/mp4", size=9)]),
        message("user", "?"),
    )
    done = repair(talk, "anthropic")
    assert errors(done.messages, "anthropic") == []
    assert [one.role for one in done.messages] == [
        "system", "user", "assistant", "user", "user", "user",
    ]  # fmt: skip
    assert done.messages[1].text == BEGINNING
    assert done.messages[2] is talk.messages[1], "other reasoning is left out when it is written"
    assert done.messages[3].text == "Now be brief."
    assert done.messages[4].text == "Look.\n[video/mp4, 9 bytes]"
    assert done.messages[5] is talk.messages[4]


def test_the_copy_keeps_the_bytes_of_all_that_was_not_mended(tmp_path: Path) -> None:
    kept = b'{"role":"user", "content":"Go.", "x": 12345678901234567890123}'
    data = (
        b'{"messages": [' + kept + b',\n {"role":"tool","tool_call_id":"q","content":"42 kg"},'
        b'\n {"content":"ok","role":"assistant"}], "n": 1.50}'
    )
    path = tmp_path / "session.json"
    path.write_bytes(data)
    done = repair(load(path), "openai-chat")
    saved = save(done, tmp_path / "fixed.json")
    written = (tmp_path / "fixed.json").read_bytes()
    assert saved.format == "openai-chat"
    assert kept in written
    assert b'"n": 1.50' in written
    again = load(tmp_path / "fixed.json")
    assert errors(again.messages, "openai-chat") == []
    assert "42 kg" in again.messages[1].text
    assert path.read_bytes() == data


def test_what_cannot_be_mended_is_told() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    made = [{"type": "text", "text": f"t{n}", **mark} for n in "abcde"]
    talk = from_messages([{"role": "user", "content": made}], system="Depot.", model="claude-x")
    done = repair(talk, "anthropic")
    assert [each.code for each in done.remaining] == ["cache-marks"]
    assert done.messages is talk.messages


PARTS = st.one_of(
    st.builds(Text, st.sampled_from(["", " ", "Weigh it.", "Done."])),
    st.builds(ToolCall, st.sampled_from(["a", "b", "c", ""]), st.just("weigh"), st.just("{}")),
    st.builds(
        ToolResult,
        st.sampled_from(["a", "b", "c", "z"]),
        st.just((Text("12 kg of salt"),)),
    ),
    st.builds(Thinking, st.just("hm"), st.sampled_from(["", "sig"])),
    st.builds(Media, st.sampled_from(["image", "video"]), st.just("image/png")),
)


@st.composite
def anything(draw: st.DrawFn) -> list[Message]:
    out = []
    for _ in range(draw(st.integers(0, 8))):
        role = draw(st.sampled_from(["system", "user", "assistant", "tool", "narrator"]))
        parts = draw(st.lists(PARTS, max_size=3))
        if role != "assistant":
            parts = [part for part in parts if not isinstance(part, (ToolCall, Thinking))]
        if role in ("assistant", "system", "narrator"):
            parts = [part for part in parts if not isinstance(part, ToolResult)]
        out.append(message(role, parts))
    return out


@given(anything(), st.sampled_from(DIALECTS))
def test_whatever_is_given_is_taken_afterwards(listed: list[Message], dialect: Dialect) -> None:
    talk = session(*listed)
    done = repair(talk, dialect)
    assert [each.code for each in done.remaining if each.code != "no-messages"] == []
    assert errors(done.messages, dialect) == [each.code for each in done.remaining]
    again = repair(Session(Source(b""), "openai-chat", done.messages), dialect)
    assert again.messages is done.messages or again.changes == ()
    if any("12 kg of salt" in one.text for one in listed):
        assert any("12 kg of salt" in one.text for one in done.messages)


@given(anything(), st.sampled_from(DIALECTS))
def test_what_is_written_is_taken_too(listed: list[Message], dialect: Dialect) -> None:
    name = {"gemini": "gemini-contents"}.get(dialect, dialect)
    done = repair(session(*listed), dialect)
    if done.remaining or not any(one.text.strip() and one.role == "user" for one in done.messages):
        return
    data, _ = render_bytes(done, name)
    orjson.loads(data)
    found = [each for each in check(load(data).messages, dialect) if each.level == "error"]
    assert [each.code for each in found] == []


def test_every_kind_of_change_has_an_index_as_read() -> None:
    talk = session(call("a"), result("b"), message("user", "x"))
    done = repair(talk, "anthropic")
    assert {each.message for each in done.changes} <= {0, 1, 2, None}
    with pytest.raises(AttributeError):
        done.messages = ()  # type: ignore[misc]


def test_a_batch_that_repeats_an_id_before_the_same_id_again() -> None:
    # What answered the batch becomes a note in the round in which another call wants an answer.
    talk = session(message("user", "Weigh both."), call("b", "b"), call("b"))
    for dialect in DIALECTS:
        assert errors(repair(talk, dialect).messages, dialect) == []


def test_a_placeholder_names_the_tool_where_the_api_pairs_by_name() -> None:
    turn = {"role": "model", "parts": [{"functionCall": {"name": "weigh", "args": {}}}]}
    asked = {"role": "user", "parts": [{"text": "Weigh it."}]}
    talk = load(orjson.dumps({"contents": [asked, turn, asked]}))
    data, _ = render_bytes(repair(talk, "gemini"))
    answer = orjson.loads(data)["contents"][2]["parts"][0]["functionResponse"]
    assert answer["name"] == "weigh"
    assert "id" not in answer


@pytest.mark.parametrize(
    ("document", "dialect"),
    [
        (
            {
                "messages": [{"role": "user", "content": "Weigh it."}],
                "response": {"choices": [{"index": 0, "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "a", "type": "function",
                         "function": {"name": "weigh", "arguments": "{}"}}
                    ],
                }}]},
            },
            "openai-chat",
        ),
        (
            {
                "system": "Weigh.",
                "messages": [{"role": "user", "content": "Weigh it."}],
                "response": {
                    "type": "message",
                    "role": "assistant",
                    "stop_reason": "tool_use",
                    "content": [{"type": "tool_use", "id": "a", "name": "weigh", "input": {}}],
                },
            },
            "anthropic",
        ),
        (
            {
                "contents": [{"role": "user", "parts": [{"text": "Weigh it."}]}],
                "candidates": [{"content": {
                    "role": "model", "parts": [{"functionCall": {"name": "weigh", "args": {}}}]
                }}],
            },
            "gemini",
        ),
    ],
)  # fmt: skip
def test_what_follows_a_recorded_answer_stands_behind_it(
    document: dict[str, object], dialect: Dialect
) -> None:
    talk = load(orjson.dumps(document))
    done = repair(talk, dialect)
    data, told = render_bytes(done)
    again = load(data)
    assert [one.role for one in again.messages] == [one.role for one in done.messages]
    assert errors(again.messages, dialect) == []
    assert [each.code for each in told].count("export-answer") == 1
