from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from databases import database
from transcripts import texts

from compaction.errors import SessionError
from compaction.formats import load
from compaction.messages import Media, Text, Thinking, ToolCall, ToolResult, Usage


def logs(path: Path) -> Path:
    return database(
        path,
        {
            "conversations(id, name, model)": [("a", "First", "gpt-5"), ("b", "Second", "gpt-5")],
            "responses(id, model, prompt, system, response, conversation_id, datetime_utc, "
            "input_tokens, output_tokens)": [
                ("r1", "gpt-5", "hi", None, "hello", "a", "2026-01-01T00:00:00", 5, 1),
                ("r2", "gpt-5", "sum", "Be exact.", "", "b", "2026-01-02T00:00:00", None, None),
                ("r3", "gpt-5", "", "Be exact.", "It is 3.", "b", "2026-01-02T00:00:01", 90, 7),
            ],
            "tool_calls(id, response_id, tool_id, name, arguments, tool_call_id)": [
                (1, "r2", 1, "add", '{"a": 1}', "c1"),
                (2, "r2", 1, "now", "{}", None),
            ],
            "tool_results(id, response_id, tool_id, name, output, tool_call_id)": [
                (1, "r3", 1, "add", "3", "c1"),
                (2, "r3", 1, "now", "noon", None),
            ],
            "fragments(id, hash, content)": [(1, "h", "a long file")],
            'prompt_fragments(response_id, fragment_id, "order")': [("r2", 1, 0), ("r2", 9, 1)],
            "attachments(id, type, path, url, content)": [
                ("p", "image/png", None, None, b"hi"),
                ("q", "image/png", "/a/b.png", None, None),
            ],
            'prompt_attachments(response_id, attachment_id, "order")': [
                ("r2", "p", 0),
                ("r2", "q", 1),
            ],
        },
    )


def test_logs_of_llm_are_chats(tmp_path: Path) -> None:
    session = load(logs(tmp_path / "logs.db"))
    assert (session.format, session.title, session.model) == ("openai-chat", "Second", "gpt-5")
    system, said, asked, first, second, answer = session.messages
    assert (system.role, system.parts) == ("system", (Text("Be exact."),))
    assert said.parts[0] == Text("a long file\nsum")
    pictures = [part for part in said.parts if isinstance(part, Media)]
    assert [(one.size, one.url) for one in pictures] == [(2, ""), (0, "file:///a/b.png")]
    assert asked.parts == (ToolCall("c1", "add", '{"a": 1}'), ToolCall("now", "now", "{}"))
    assert first.parts == (ToolResult("c1", (Text("3"),)),)
    assert second.parts == (ToolResult("now", (Text("noon"),)),)
    assert answer.parts == (Text("It is 3."),)
    assert answer.usage == Usage(90, 7)
    assert [one.id for one in session.conversations] == ["b", "a"]
    assert texts(load(tmp_path / "logs.db", conversation="a").messages) == ["hi", "hello"]


def parts(*made: tuple[str, Any]) -> str:
    return json.dumps([{"type": kind, "data": data} for kind, data in made])


def test_sessions_of_crush_start_at_their_summary(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "bash", "input": '{"command":"ls"}', "finished": True}
    result = {"tool_call_id": "c1", "name": "bash", "content": "a.py", "is_error": False}
    seen = parts(("text", {"text": "ok"}), ("binary", {"Data": "aGk="}))
    path = database(
        tmp_path / "crush.db",
        {
            "sessions(id, parent_session_id, title, updated_at, summary_message_id)": [
                ("s1", None, "Old", 1, None),
                ("s2", None, "New", 5, "m2"),
                ("s3", "s2", "Sub-agent", 9, None),
                ("s4", None, "Empty", 7, None),
            ],
            "messages(id, session_id, role, parts, model)": [
                ("m0", "s1", "user", parts(("text", {"text": "old"})), None),
                ("m1", "s2", "user", parts(("text", {"text": "before"})), None),
                ("m2", "s2", "assistant", parts(("text", {"text": "Summary."})), "gpt-5"),
                (
                    "m3",
                    "s2",
                    "assistant",
                    parts(("reasoning", {"thinking": "Hm."}), ("tool_call", call), ("finish", {})),
                    "gpt-5",
                ),
                ("m4", "s2", "tool", parts(("tool_result", result)), None),
                ("m5", "s2", "user", seen, None),
                ("m6", "s2", "user", "broken", None),
                ("m7", "s3", "user", parts(("text", {"text": "inside"})), None),
            ],
        },
    )
    session = load(path)
    assert (session.title, session.model) == ("New", "gpt-5")
    assert [one.role for one in session.messages] == ["user", "assistant", "tool", "user"]
    assert session.messages[0].text == "Summary."
    assert session.messages[1].parts == (
        Thinking("Hm."),
        ToolCall("c1", "bash", '{"command":"ls"}'),
    )
    assert session.messages[2].results == ("c1",)
    assert [type(part) for part in session.messages[3].parts] == [Text, Media]
    assert [one.id for one in session.conversations] == ["s2", "s1", "s3"]


def test_tables_of_the_same_names_with_other_columns_are_not_theirs(tmp_path: Path) -> None:
    path = database(
        tmp_path / "shop.db",
        {
            "sessions(id, cookie)": [],
            "messages(id, body)": [],
            "conversations(id)": [],
            "responses(id)": [],
        },
    )
    with pytest.raises(SessionError, match="holds no session of a tool that is known"):
        load(path)


@pytest.mark.parametrize("odd", [None, 7, 1.5, float("inf"), b"\xff\x00", "text", "[1]", "{}"])
def test_cells_of_any_type_never_raise(tmp_path: Path, odd: object) -> None:
    crush: dict[str, list[tuple[object, ...]]] = {
        "sessions(id, title, updated_at, summary_message_id)": [(1, odd, odd, odd), (odd, 1, 2, 3)],
        "messages(id, session_id, role, parts, model)": [
            (odd, 1, "user", parts(("text", {"text": "x"})), odd),
            (1, 1, odd, parts(("text", {"text": odd if isinstance(odd, str) else "y"})), odd),
            (odd, odd, odd, odd, odd),
        ],
    }
    assert len(load(database(tmp_path / "crush.db", crush))) >= 1
    llm: dict[str, list[tuple[object, ...]]] = {
        "conversations(id, name)": [(odd, odd)],
        "responses(id, prompt, response, conversation_id, input_tokens, output_tokens, model)": [
            ("r", "x", "y", "c", odd, odd, odd),
            (odd,) * 7,
        ],
        "tool_calls(response_id, name, arguments, tool_call_id)": [("r", odd, odd, odd)],
        "tool_results(response_id, name, output, tool_call_id)": [("r", odd, odd, odd)],
    }
    assert len(load(database(tmp_path / "logs.db", llm))) >= 1
    goose: dict[str, list[tuple[object, ...]]] = {
        "sessions(id, working_dir, name, updated_at, model_config_json)": [
            ("s", odd, odd, odd, odd)
        ],
        "messages(session_id, role, content_json, created_timestamp, metadata_json)": [
            ("s", "user", '[{"type": "text", "text": "x"}]', 5, odd),
            ("s", odd, odd, odd, odd),
        ],
    }
    assert len(load(database(tmp_path / "sessions.db", goose))) == 1
