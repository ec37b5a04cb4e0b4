from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import chat_message, raw, read, request, written
from hypothesis import given
from hypothesis import strategies as st

from compaction.compacting import compact
from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import load
from compaction.formats.base import Sample
from compaction.formats.openai_chat import OpenAIChat
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, Usage, message
from compaction.planning import plan
from compaction.policy import Policy

CHAT = OpenAIChat()
SUMMARY = message("user", 'What was said: "é"\n')


def doc(*messages: object, **around: object) -> str:
    return json.dumps({"model": "gpt-4.1", "messages": messages, **around})


USER = {"role": "user", "content": "Weigh it."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weigh", "arguments": '{"p": 1}'}}
ASSISTANT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
WAV = {"data": "UklGRg==", "format": "wav"}
ANSWER = {"role": "assistant", "content": "1 kg"}
TOOL = {"role": "tool", "tool_call_id": "call_1", "content": "1 kg"}


# ------------------------------------------------------------------------------------- laws


@given(request("messages", chat_message()))
def test_unchanged_is_written_byte_for_byte(pieces: tuple[str, str, str]) -> None:
    text = "".join(pieces)
    session = read(CHAT, text)
    assert written(CHAT, session.messages, session) == text.encode()


@given(request("messages", chat_message()), st.data())
def test_dropping_messages_leaves_every_other_byte(
    pieces: tuple[str, str, str], data: st.DataObject
) -> None:
    before, _, after = pieces
    session = read(CHAT, "".join(pieces))
    count = len(session)
    kept = sorted(data.draw(st.sets(st.integers(0, count - 1))))
    new = [session.messages[i] for i in kept]
    if data.draw(st.booleans()):
        new.insert(data.draw(st.integers(0, len(new))), SUMMARY)
    out = written(CHAT, new, session)
    assert out.startswith(before.encode())
    assert out.endswith(after.encode())
    again = read(CHAT, out)
    assert [b for b, m in zip(raw(again), new, strict=True) if m is not SUMMARY] == [
        raw(session)[i] for i in kept
    ]
    assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))


@given(st.lists(chat_message(), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]), st.data())
def test_lines_keep_their_bytes_their_ends_and_the_mark(
    texts: list[str], end: str, data: st.DataObject
) -> None:
    lines = [text.replace("\n", " ").replace("\r", " ") for text in texts]
    whole = b"\xef\xbb\xbf" + (end.join(lines) + end).encode()
    if len(lines) == 1:
        lines.append('{"role":"user","content":"and"}')
        whole += lines[1].encode() + end.encode()
    session = read(CHAT, whole)
    assert written(CHAT, session.messages, session) == whole
    drop = data.draw(st.integers(0, len(lines) - 1))
    rest = [m for i, m in enumerate(session.messages) if i != drop]
    expected = [line for i, line in enumerate(lines) if i != drop]
    out = written(CHAT, rest, session)
    assert out == b"\xef\xbb\xbf" + (end.join(expected) + end).encode()


# ---------------------------------------------------------------------------------- reading


def test_a_request_is_read_as_it_is_sent() -> None:
    tools = [{"type": "function", "function": {"name": "weigh", "parameters": {"n": 1}}}]
    session = read(
        CHAT, doc({"role": "system", "content": "Hi"}, USER, ASSISTANT, TOOL, tools=tools)
    )
    assert [m.role for m in session.messages] == ["system", "user", "assistant", "tool"]
    assert session.messages[2].calls == session.messages[3].results == ("call_1",)
    assert session.messages[2].parts == (ToolCall("call_1", "weigh", '{"p": 1}'),)
    assert session.messages[3].parts == (ToolResult("call_1", (Text("1 kg"),)),)
    assert session.messages[2].tool == "weigh"
    assert session.model == "gpt-4.1"
    assert session.tools.names == ("weigh",)
    assert json.loads(session.tools.text) == tools
    assert not session.problems


@pytest.mark.parametrize(
    ("record", "parts"),
    [
        ({"content": "a"}, (Text("a"),)),
        ({"content": ""}, ()),
        ({"content": None}, ()),
        ({}, ()),
        ({"content": 42}, (Opaque("unknown", "42"),)),
        ({"content": {"text": "one"}}, (Text("one"),)),
        ({"content": [{"type": "text", "text": ""}]}, (Text(""),)),
        ({"content": ["plain", None]}, (Text("plain"), Opaque("unknown", "null"))),
        ({"content": [{"type": "text"}]}, (Opaque("text", '{"type":"text"}'),)),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, (Text("No."),)),
        ({"content": None, "refusal": "No."}, (Text("No."),)),
        ({"content": "a", "reasoning_content": "why"}, (Thinking("why"), Text("a"))),
        ({"content": "a", "reasoning": "why"}, (Thinking("why"), Text("a"))),
        (
            {
                "content": "a",
                "reasoning_content": "why",
                "thinking_blocks": [{"type": "thinking", "thinking": "why", "signature": "s"}],
            },
            (Thinking("why", "s"), Text("a")),
        ),
        (
            {"content": "", "reasoning_details": [{"type": "reasoning.encrypted", "data": "abcd"}]},
            (Thinking("", "", 4),),
        ),
        (
            {"content": None, "function_call": {"name": "f", "arguments": "{}"}},
            (ToolCall("f", "f", "{}"),),
        ),
        (
            {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}]},
            (ToolCall("c", "f", "x"),),
        ),
        ({"tool_calls": [None, {"id": 1}]}, (Opaque("tool_call", "null"), ToolCall("1", "", ""))),
        (
            {"content": [{"type": "x_new", "n": [1, 2]}]},
            (Opaque("x_new", '{"type":"x_new","n":[1,2]}'),),
        ),
        (
            {"content": [{"type": "video_url", "video_url": {"url": "https://v.example/v.mp4"}}]},
            (Media("video", url="https://v.example/v.mp4"),),
        ),
        (
            {
                "content": [
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
                ]
            },
            (Media("audio", "audio/wav", 4, data="UklGRg=="),),
        ),
        (
            {"content": [{"type": "file", "file": {"file_id": "file_1"}}]},
            (Media("document", name="file_1"),),
        ),
        ({"audio": {"id": "audio_1"}}, (Media("audio", name="audio_1"),)),
    ],
)
def test_no_content_is_dropped_and_none_crashes(record: dict[str, Any], parts: object) -> None:
    session = read(CHAT, doc({"role": "assistant", **record}))
    assert session.messages[0].parts == parts


def test_a_picture_has_its_size_and_never_its_text() -> None:
    png = (
        "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAYAAAC09K7GAAAADklEQVR4nGNgGAWk"
        "AwABNgABxYufBwAAAABJRU5ErkJggg=="
    )
    url = {"url": f"data:image/png;base64,{png}", "detail": "low"}
    session = read(
        CHAT, doc({"role": "user", "content": [{"type": "image_url", "image_url": url}]})
    )
    one = session.messages[0]
    (media,) = one.parts
    assert isinstance(media, Media)
    assert (media.width, media.height, media.detail) == (4, 3, "low")
    assert media.size == 70
    assert one.chars == 0
    assert png[:20] not in one.preview


@pytest.mark.parametrize(
    ("spelled", "role"),
    [
        ("human", "user"),
        ("HUMAN", "user"),
        ("ai", "assistant"),
        ("bot", "assistant"),
        ("model", "assistant"),
        ("function", "tool"),
        ("critic", "critic"),
    ],
)
def test_roles_are_normalised_and_written_as_they_were(spelled: str, role: str) -> None:
    text = json.dumps([{"role": spelled, "content": "a"}, {"role": "ai", "content": "b"}])
    session = read(CHAT, text)
    assert session.messages[0].role == role
    out = json.loads(written(CHAT, [session.messages[0]], session))
    assert out == [{"role": spelled, "content": "a"}]


def test_a_summary_speaks_the_roles_of_the_file() -> None:
    session = read(
        CHAT, json.dumps([{"role": "human", "content": "a"}, {"role": "ai", "content": "b"}])
    )
    out = json.loads(written(CHAT, [SUMMARY, session.messages[1]], session))
    assert out[0] == {"role": "human", "content": 'What was said: "é"\n'}


def test_a_message_without_a_role_is_taken_for_the_users_and_told() -> None:
    session = read(CHAT, '[{"content":"a"},{"role":"user","content":"b"}]')
    assert [m.role for m in session.messages] == ["user", "user"]
    assert [(p.code, p.line) for p in session.problems if p.code == "no-role"] == [("no-role", 1)]


def test_plain_text_is_ambiguous_and_said_so() -> None:
    session = read(CHAT, '[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]')
    assert session.title == "chat messages"
    assert [p.code for p in session.problems] == ["ambiguous-format"]
    assert read(CHAT, json.dumps([{"role": "system", "content": "a"}])).title == ""


# ---------------------------------------------------------------------------------- layouts


def test_a_log_of_a_request_and_its_response() -> None:
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    log = {
        "request": {"model": "m", "messages": [USER, USER, USER]},
        "response": {
            "choices": [{"message": {"role": "assistant", "content": "1 kg"}}],
            "usage": usage,
        },
        "cost": 0.10,
    }
    session = read(CHAT, json.dumps(log))
    assert [m.role for m in session.messages] == ["user", "user", "user", "assistant"]
    assert session.messages[-1].usage == Usage(90, 7, 60)
    out = json.loads(written(CHAT, [SUMMARY, *session.messages[2:]], session))
    assert out["response"] == log["response"]
    assert len(out["request"]["messages"]) == 2
    without = json.loads(written(CHAT, session.messages[:2], session))
    assert list(without) == ["request", "cost"]


def test_of_several_conversations_one_is_read_and_the_others_stay() -> None:
    lines = [doc(USER, {"role": "assistant", "content": f"chat {i}"}) for i in range(3)]
    text = "\r\n".join(lines) + "\r\n"
    session = read(CHAT, text)
    assert "several-conversations" in [p.code for p in session.problems]
    assert [c.messages for c in session.conversations] == [2, 2, 2]
    assert session.messages[1].preview == "chat 0"
    second = read(CHAT, text, conversation="2")
    assert second.messages[1].preview == "chat 1"
    out = written(CHAT, second.messages[1:], second).decode().split("\r\n")
    assert [out[0], out[2], out[3]] == [lines[0], lines[2], ""]
    assert len(json.loads(out[1])["messages"]) == 1
    with pytest.raises(SessionError, match="no conversation '9'"):
        read(CHAT, text, conversation="9")


def test_of_a_growing_log_the_last_request_is_read() -> None:
    turns = [
        USER,
        {"role": "assistant", "content": "1 kg"},
        USER,
        {"role": "assistant", "content": "2"},
    ]
    session = read(CHAT, "\n".join(doc(*turns[:n]) for n in (2, 4)))
    assert len(session) == 4
    assert [p.code for p in session.problems] == ["growing-log"]


def test_an_array_of_conversations_changes_only_the_one_that_was_read() -> None:
    runs: list[dict[str, Any]] = [
        {"task_id": i, "traj": [USER, {"role": "assistant", "content": f"é {i}"}]} for i in (7, 8)
    ]
    session = read(CHAT, json.dumps(runs, ensure_ascii=False), conversation="8")
    assert session.messages[1].preview == "é 8"
    out = json.loads(written(CHAT, session.messages[1:], session))
    assert out[0] == runs[0]
    assert out[1] == {"task_id": 8, "traj": runs[1]["traj"][1:]}


def test_what_is_no_message_stays_where_it_was() -> None:
    session = read(CHAT, '{"messages":[null,{"role":"user","content":"a"},3,{"role":"user"}]}')
    assert len(session) == 2
    assert [p.code for p in session.problems] == ["no-message"]
    out = json.loads(written(CHAT, [SUMMARY, session.messages[1]], session))
    assert out["messages"][1:] == [None, 3, {"role": "user"}]


# ------------------------------------------------------------------------------------ style


def test_pretty_stays_pretty_and_minified_stays_minified() -> None:
    messages = [USER, {"role": "assistant", "content": "é"}, USER]
    for options in ({"indent": 1}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}, {}):
        for ascii_only in (True, False):
            text = json.dumps({"messages": messages}, ensure_ascii=ascii_only, **options)
            session = read(CHAT, text)
            new = [message("user", "é"), *session.messages[1:]]
            expected = [{"role": "user", "content": "é"}, *messages[1:]]
            assert written(CHAT, new, session).decode() == json.dumps(
                {"messages": expected}, ensure_ascii=ascii_only, **options
            )


def test_nan_becomes_null_and_is_told() -> None:
    text = '[{"role":"user","content":"a","s":NaN},{"role":"user","content":"b","n":1.10}]'
    session = read(CHAT, text)
    result = CHAT.write(session.messages, session)
    assert b"".join(result.chunks).decode() == text.replace("NaN", "null")
    assert [(f.code, f.message) for f in result.findings] == [("export-nan", 0)]


def test_a_cleared_message_is_written_as_it_is_now() -> None:
    from dataclasses import replace

    from compaction.messages import Inline

    session = read(CHAT, doc(USER, ASSISTANT, TOOL, USER))
    cleared = ToolResult("call_1", (Text("[cleared]"),), cleared=True)
    changed = replace(session.messages[2], body=Inline((cleared,)))
    new = (*session.messages[:2], changed, session.messages[3])
    again = replace(session, messages=new)
    out = json.loads(written(CHAT, new, again))
    assert out["messages"][2] == {**TOOL, "content": "[cleared]"}
    assert out["messages"][:2] == [USER, ASSISTANT]


# -------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\x00\x01\x02", "no JSON"),
        (b'{"a":1}', "no messages"),
        (b"[1,2]", "no messages"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(data: bytes, what: str) -> None:
    with pytest.raises(SessionError, match=what) as caught:
        read(CHAT, data)
    assert str(caught.value).count("\n") == 0


def test_a_document_that_breaks_off_is_used_as_far_as_it_goes() -> None:
    text = doc(USER, {"role": "assistant", "content": "whole"}, USER)[:-20]
    session = read(CHAT, text)
    assert len(session) == 2
    assert [p.code for p in session.problems][:1] == ["broken-json"]
    out = json.loads(written(CHAT, session.messages, session))
    assert len(out["messages"]) == 2


def test_broken_and_glued_lines_are_told_and_the_rest_is_read() -> None:
    one, two = json.dumps(USER), json.dumps({"role": "assistant", "content": "b"})
    session = read(CHAT, f"{one}{two}\n\n{{broken\n{one}\n{two[:-4]}")
    assert [m.role for m in session.messages] == ["user", "assistant", "user"]
    assert [(p.code, p.line) for p in session.problems if p.line] == [
        ("broken-line", 3),
        ("broken-line", 5),
    ]


def test_other_encodings_are_read_and_told() -> None:
    text = '[{"role":"system","content":"é"}]'
    session = read(CHAT, text.encode("utf-16"))
    assert session.messages[0].preview == "é"
    assert session.problems[0].code == "encoding"
    latin = read(CHAT, text.encode("latin-1"))
    assert latin.messages[0].preview == "\N{REPLACEMENT CHARACTER}"
    assert latin.problems[0].code == "not-utf-8"
    json.loads(written(CHAT, latin.messages, latin))


@pytest.mark.parametrize(
    "value",
    [
        [USER],
        {"messages": [USER]},
        {"request": {"messages": [USER]}},
        USER,
        {"choices": [{"message": ASSISTANT}]},
        [{"traj": [USER]}],
        {"input": {"messages": [USER]}},
    ],
)
def test_recognised_in_every_wrapping(value: object) -> None:
    assert CHAT.recognise(Sample(b"", whole=value))
    assert CHAT.recognise(Sample(b"", lines=(value,)))
    assert len(read(CHAT, json.dumps(value))) == 1


@pytest.mark.parametrize("value", [{}, [], 3, {"messages": 3}, [[]], {"a": [USER]}])
def test_other_json_is_not_recognised(value: object) -> None:
    assert not CHAT.recognise(Sample(b"", whole=value))


def test_real_files(shared_sessions: Path) -> None:
    folders = ("openai-chat", "llm-request-logs", "mini-swe-agent")
    files = [p for folder in folders for p in sorted((shared_sessions / folder).iterdir())]
    files.append(shared_sessions / "tau-bench" / "gpt-4o-airline-4.1MB.json")
    for path in files:
        session = read(CHAT, path.read_bytes())
        assert len(session) >= 1
        assert written(CHAT, session.messages, session) == session.source.data
        if len(session) > 3:
            new = [session.messages[0], SUMMARY, *session.messages[-2:]]
            again = read(CHAT, written(CHAT, new, session))
            kept = [raw(session)[0], *raw(session)[-2:]]
            assert [raw(again)[0], *raw(again)[-2:]] == kept


def test_a_growing_log_whose_last_request_was_compacted_still_is_one() -> None:
    said = [
        {"role": role, "content": f"{number}. {role} " * 60}
        for number in range(8)
        for role in ("user", "assistant")
    ]
    log = b"\n".join(json.dumps({"messages": said[:end]}).encode() for end in (5, 9, 15))
    session = load(log)
    result = compact(plan(session, Policy(budget=500, keep_recent=3)))
    again = load(render_bytes(result)[0])
    assert [one.text for one in again.messages] == [one.text for one in result.messages]
    assert "growing-log" in [each.code for each in again.problems]
