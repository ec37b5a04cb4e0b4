from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import anthropic_message, raw, read, request, written
from hypothesis import given
from hypothesis import strategies as st

from compaction.formats.anthropic_messages import AnthropicMessages
from compaction.formats.base import Sample
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, message

ANTHROPIC = AnthropicMessages()
SUMMARY = message("user", "What was said.")
USE = {"type": "tool_use", "id": "toolu_1", "name": "weigh", "input": {"p": 1}}
TEXT = {"type": "text", "text": "a"}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "1 kg"}


def doc(*messages: object, **around: object) -> str:
    return json.dumps({"model": "c", "max_tokens": 9, **around, "messages": messages})


@given(request("messages", anthropic_message()))
def test_unchanged_is_written_byte_for_byte(pieces: tuple[str, str, str]) -> None:
    text = "".join(pieces)
    session = read(ANTHROPIC, text)
    assert written(ANTHROPIC, session.messages, session) == text.encode()


@given(request("messages", anthropic_message()), st.data())
def test_dropping_messages_leaves_every_other_byte(
    pieces: tuple[str, str, str], data: st.DataObject
) -> None:
    session = read(ANTHROPIC, "".join(pieces))
    kept = sorted(data.draw(st.sets(st.integers(0, len(session) - 1))))
    new = [SUMMARY, *(session.messages[i] for i in kept)]
    out = written(ANTHROPIC, new, session)
    assert out.startswith(pieces[0].encode())
    assert out.endswith(pieces[2].encode())
    again = read(ANTHROPIC, out)
    assert raw(again)[1:] == [raw(session)[i] for i in kept]
    assert all(a.same_content(b) for a, b in zip(again.messages, new, strict=True))


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "text", "text": "a", "citations": []}, Text("a")),
        ({"type": "thinking", "thinking": "why", "signature": "sig"}, Thinking("why", "sig")),
        ({"type": "thinking", "thinking": "", "signature": "sig"}, Thinking("", "sig", 3)),
        ({"type": "redacted_thinking", "data": "abcd"}, Thinking("", "", 4)),
        (USE, ToolCall("toolu_1", "weigh", '{"p":1}')),
        ({**USE, "input": None}, ToolCall("toolu_1", "weigh", "{}")),
        (RESULT, ToolResult("toolu_1", (Text("1 kg"),))),
        ({**RESULT, "content": None, "is_error": True}, ToolResult("toolu_1", (), is_error=True)),
        (
            {
                **RESULT,
                "content": [{"type": "text", "text": "a"}, {"type": "tool_reference", "n": 1}],
            },
            ToolResult(
                "toolu_1",
                (Text("a"), Opaque("tool_reference", '{"type":"tool_reference","n":1}')),
            ),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://e.example/a.png"}},
            Media("image", url="https://e.example/a.png"),
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
            Media("image", name="file_1"),
        ),
        (
            {
                "type": "document",
                "title": "T",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
            },
            Media("document", "application/pdf", 3, name="T", data="QUJD"),
        ),
        (
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "x"},
            },
            Text("x"),
        ),
        (
            {
                "type": "document",
                "source": {"type": "content", "content": [{"type": "text", "text": "x"}]},
            },
            Text("x"),
        ),
        ({"type": "container_upload", "file_id": "f"}, Media("file", name="f")),
        ({"type": "compaction", "content": "Before: …"}, Text("Before: …")),
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            Opaque(
                "server_tool_use",
                '{"type":"server_tool_use","id":"s","name":"web_search","input":{}}',
            ),
        ),
    ],
)
def test_blocks(block: dict[str, Any], part: object) -> None:
    session = read(ANTHROPIC, doc({"role": "assistant", "content": [block]}))
    assert session.messages[0].parts == (part,)


def test_system_is_message_zero_and_stays_where_it_was() -> None:
    system = [{"type": "text", "text": "Brief.", "cache_control": {"type": "ephemeral"}}]
    text = doc(
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, system=system
    )
    session = read(ANTHROPIC, text)
    assert (session.messages[0].role, session.messages[0].preview) == ("system", "Brief.")
    kept = json.loads(
        written(ANTHROPIC, [session.messages[0], SUMMARY, session.messages[2]], session)
    )
    assert kept["system"] == system
    assert [m["content"] for m in kept["messages"]] == ["What was said.", "b"]
    gone = json.loads(written(ANTHROPIC, session.messages[1:], session))
    assert list(gone) == ["model", "max_tokens", "messages"]


def test_roles_of_messages_with_results() -> None:
    session = read(
        ANTHROPIC,
        doc(
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [RESULT]},
            {"role": "user", "content": [RESULT, {"type": "text", "text": "and"}]},
        ),
    )
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "user"]
    assert [m.typed for m in session.messages] == [True, False, False, False]
    assert session.messages[3].results == ("toolu_1",)


def test_what_is_before_a_compaction_is_not_live() -> None:
    block = {"type": "compaction", "content": "Before: a story."}
    text = doc(
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [block, {"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"},
        system="Brief.",
    )
    live = read(ANTHROPIC, text)
    assert [m.role for m in live.messages] == ["system", "assistant", "user"]
    assert live.left_out == {"before the last compaction": 1}
    assert live.compactions[0].at == 1
    assert written(ANTHROPIC, live.messages, live) == text.encode()
    full = read(ANTHROPIC, text, history="full")
    assert len(full) == 4
    assert full.compactions[0].at == 2
    failed = text.replace('"Before: a story."', "null")
    assert len(read(ANTHROPIC, failed)) == 4


def test_an_empty_text_block_beside_another_goes_when_the_file_changes() -> None:
    empty = {"type": "text", "text": ""}
    text = doc(
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [empty, USE, empty], "x": 1.5},
        {"role": "user", "content": [RESULT]},
        {"role": "assistant", "content": [empty]},
    )
    session = read(ANTHROPIC, text)
    assert written(ANTHROPIC, session.messages, session) == text.encode()
    result = ANTHROPIC.write([SUMMARY, *session.messages[1:]], session)
    out = json.loads(b"".join(result.chunks))
    assert out["messages"][1] == {"role": "assistant", "content": [USE], "x": 1.5}
    assert out["messages"][3] == {"role": "assistant", "content": [empty]}
    assert [(f.code, f.message) for f in result.findings] == [("export-empty-text", 1)]


def test_cache_control_is_never_added() -> None:
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    text = doc(*({"role": r, "content": marked} for r in ("user", "assistant", "user")), system="s")
    session = read(ANTHROPIC, text)
    out = written(ANTHROPIC, [session.messages[0], SUMMARY, *session.messages[2:]], session)
    assert out.count(b"cache_control") == 2


def test_a_system_summary_is_written_as_the_users_and_said() -> None:
    session = read(ANTHROPIC, doc({"role": "user", "content": "a"}, system="s"))
    out = json.loads(
        written(
            ANTHROPIC, [session.messages[0], message("system", "Sum"), session.messages[1]], session
        )
    )
    assert out["system"] == "s"
    assert out["messages"][0] == {"role": "user", "content": "Sum"}


@pytest.mark.parametrize(
    ("value", "is_it"),
    [
        ({"system": "s", "messages": [{"role": "user", "content": "a"}]}, True),
        ({"messages": [], "tools": [{"name": "f", "input_schema": {}}]}, True),
        ([{"role": "assistant", "content": [USE]}], True),
        ({"request": {"system": "s", "messages": []}}, True),
        ({"type": "message", "role": "assistant", "content": []}, True),
        ([{"role": "user", "content": "a"}], False),
        ({"messages": [{"role": "system", "content": "a"}], "system": "s"}, False),
        ([{"role": "assistant", "content": [USE]}, {"role": "tool", "content": "x"}], False),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}, False),
        ({}, False),
    ],
)
def test_recognised(value: object, is_it: bool) -> None:
    assert ANTHROPIC.recognise(Sample(b"", whole=value)) is is_it


def test_real_files(shared_sessions: Path) -> None:
    for path in sorted((shared_sessions / "anthropic-messages").iterdir()):
        session = read(ANTHROPIC, path.read_bytes())
        assert written(ANTHROPIC, session.messages, session) == session.source.data
        new = [session.messages[0], SUMMARY, session.messages[-1]]
        again = read(ANTHROPIC, written(ANTHROPIC, new, session))
        assert raw(again)[-1] == raw(session)[-1]
