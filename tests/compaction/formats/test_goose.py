from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, saved
from databases import database
from transcripts import jsonl, same, texts

from compaction.formats import load, recognise
from compaction.formats.goose import Goose
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from compaction.messages import message as made_message

GOOSE = Goose()
SUMMARY = made_message("user", "What was done: “all”.", summary="compaction")


def says(role: str, *blocks: dict[str, Any], seen: str = "both", **more: Any) -> dict[str, Any]:
    """A message; `seen` by the "user", the "agent", "both" or "nobody"."""
    return {
        "id": None,
        "role": role,
        "created": 1_740_171_566,
        "content": list(blocks),
        "metadata": {
            "userVisible": seen in ("user", "both"),
            "agentVisible": seen in ("agent", "both"),
        },
        **more,
    }


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(name: str, call_id: str, **given: Any) -> dict[str, Any]:
    value = {"name": name, "arguments": given}
    return {"type": "toolRequest", "id": call_id, "toolCall": {"status": "success", "value": value}}


def answer(call_id: str, *blocks: dict[str, Any], failed: bool = False) -> dict[str, Any]:
    value = {"content": list(blocks), "isError": failed}
    held = {"status": "success", "value": value}
    return {"type": "toolResponse", "id": call_id, "toolResult": held}


NOTICE = {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "Compacted"}

CODING = [
    says("user", text("Fix it")),
    says(
        "assistant",
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        text("Looking."),
        call("developer__shell", "c1", command="ls"),
    ),
    says("user", answer("c1", text("a.py"))),
    says("assistant", text("Done.")),
]


def export(messages: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "20260101_1",
        "working_dir": "/app",
        "name": "Fixing",
        "extension_data": {},
        "conversation": messages,
        "message_count": len(messages),
        **more,
    }


def reread(session: Session, messages: list[Message]) -> tuple[bytes, Session]:
    data = b"".join(GOOSE.write(messages, session).chunks)
    return data, load(data)


# ------------------------------------------------------------------------------------ reading


def test_an_export_is_read_block_by_block() -> None:
    config = {"model_name": "claude-sonnet-4", "context_limit": 200_000}
    session = opened(
        export(CODING, model_config=config, input_tokens=900, output_tokens=7, total_tokens=907)
    )
    assert session.format == "goose"
    assert [(one.role, one.parts) for one in session.messages] == [
        ("user", (Text("Fix it"),)),
        (
            "assistant",
            (
                Thinking("Hm.", "sig"),
                Text("Looking."),
                ToolCall("c1", "developer__shell", '{"command":"ls"}'),
            ),
        ),
        ("tool", (ToolResult("c1", (Text("a.py"),)),)),
        ("assistant", (Text("Done."),)),
    ]
    assert (session.title, session.model, session.window) == ("Fixing", "claude-sonnet-4", 200_000)
    assert session.messages[-1].usage == Usage(900, 7)
    assert session.messages[0].time == "2025-02-21T20:59:26+00:00"
    assert not session.problems


def test_older_lines_start_with_one_about_the_session() -> None:
    old = [{key: one[key] for key in ("role", "created", "content")} for one in CODING]
    old[2]["content"] = [
        {
            "type": "toolResponse",
            "id": "c1",
            "toolResult": {"status": "success", "value": [text("a")]},
        }
    ]
    session = load(jsonl([{"working_dir": "/app", "description": "Fixing"}, *old]))
    assert (session.format, session.title, len(session)) == ("goose", "Fixing", 4)
    assert session.messages[2].parts == (ToolResult("c1", (Text("a"),)),)
    assert not session.problems
    wanted = [session.messages[0], SUMMARY, session.messages[3]]
    data, again = reread(session, wanted)
    assert same(again, wanted)
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[0] == {"working_dir": "/app", "description": "Fixing"}
    assert list(lines[2]) == ["role", "created", "content"]
    assert lines[2]["created"] == 1_740_171_566


def test_a_compaction_hides_what_was_before_from_the_model() -> None:
    hidden = [{**one, "metadata": {"userVisible": True, "agentVisible": False}} for one in CODING]
    document = export(
        [
            *hidden,
            says("assistant", NOTICE, seen="user"),
            says("user", text("It was fixed."), seen="agent"),
            says("assistant", text("I go on."), seen="agent"),
            says("user", text("More")),
            says("assistant", call("a", "c2"), seen="user"),
            says("user", answer("c2"), seen="user"),
            says("user", text("a was called"), seen="agent"),
            says("assistant", NOTICE),
        ]
    )
    session = opened(document)
    assert texts(session.messages) == ["It was fixed.", "I go on.", "More", "a was called"]
    assert [one.summary for one in session.messages] == ["goose", "", "", ""]
    assert [one.injected for one in session.messages] == [False, False, False, True]
    assert session.left_out == {
        "before the last compaction": 5,
        "hidden from the model": 2,
        "shown on the screen only": 1,
    }
    assert [one.at for one in session.compactions] == [0]
    full = opened(document, history="full")
    assert texts(full.messages)[:5] == [*texts(opened(export(CODING)).messages), "It was fixed."]
    assert [one.at for one in full.compactions] == [4]
    assert full.messages[4].summary == "goose"


def test_a_notice_at_the_start_is_no_compaction() -> None:
    session = opened(export([says("assistant", NOTICE, seen="user"), *CODING]))
    assert len(session) == 4
    assert not session.compactions
    assert session.left_out == {"shown on the screen only": 1}


def test_results_of_every_kind() -> None:
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}
    private = {**text("for the person"), "annotations": {"audience": ["user"]}}
    link = {"type": "resource_link", "uri": "file:///b"}
    wrong = {"type": "toolResponse", "id": "c2", "toolResult": {"status": "error", "error": "no"}}
    bad = {"type": "toolRequest", "id": "c3", "toolCall": {"status": "error", "error": "bad"}}
    confirm = {"type": "toolConfirmationRequest", "id": "c1", "toolName": "a"}
    session = opened(
        export(
            [
                says("assistant", bad, confirm, {"type": "redactedThinking", "data": "abc"}),
                says("user", answer("c1", picture, resource, private, link, failed=True), wrong),
                says("user", picture, {"type": "new"}),
            ]
        )
    )
    first, second, third = (one.parts for one in session.messages)
    assert isinstance(first[0], Opaque)
    assert first[1:] == (Thinking("", sealed=3),)
    mixed, failed = second
    assert isinstance(mixed, ToolResult)
    assert mixed.is_error
    assert isinstance(mixed.content[0], Media)
    assert mixed.content[1] == Text("inside")
    assert isinstance(mixed.content[2], Opaque)
    assert len(mixed.content) == 3
    assert failed == ToolResult("c2", (Text("no"),), is_error=True)
    assert [type(part) for part in third] == [Media, Opaque]


def test_odd_values_never_raise() -> None:
    odds: list[Any] = [None, 7, "x", [], {}, [None]]
    blocks = [
        {"type": kind, **dict.fromkeys(("id", "toolCall", "toolResult", "data", "text"), odd)}
        for odd in odds
        for kind in ("text", "image", "thinking", "toolRequest", "toolResponse", odd)
    ]
    blocks += [answer("c", odd) for odd in odds]
    session = opened(
        export([says("user", *blocks, *odds), says("user", metadata=7), *CODING], model_config=7)
    )
    assert len(session) == 6
    assert all(isinstance(one.text, str) for one in session.messages)


@pytest.mark.parametrize(
    "other",
    [
        {"conversation": [{"role": "user", "content": "hi"}]},
        {"messages": [{"role": "user", "content": "hi"}], "working_dir": "/"},
        [{"role": "user", "content": [text("hi")]}],
        [{"role": ["user"], "created": 1, "content": []}],
        {"working_dir": "/"},
    ],
)
def test_documents_of_others_are_not_taken(other: object) -> None:
    found = recognise(json.dumps(other).encode())
    assert found is None or found.name != "goose"


# ------------------------------------------------------------------------------------ writing


def test_kept_messages_keep_their_bytes() -> None:
    data = json.dumps(export(CODING), indent=2).encode()
    session = load(data)
    assert reread(session, list(session.messages))[0] == data
    wanted = [session.messages[0], SUMMARY, *session.messages[1:]]
    written, again = reread(session, wanted)
    assert same(again, wanted)
    made = json.loads(written)["conversation"]
    assert made[0] == CODING[0]
    assert made[2:] == CODING[1:]
    assert made[1]["id"].startswith("msg_")
    assert made[1]["metadata"] == {"userVisible": False, "agentVisible": True}
    assert written.count(b'\n    {\n      "id"') == 5


def test_compacted_and_read_again() -> None:
    talk = [says("user" if n % 2 else "assistant", text(f"t{n}")) for n in range(12)]
    session = opened(export([*talk, *CODING]))
    messages = compacted(session)
    assert same(reread(session, messages)[1], messages)


def test_sessions_of_other_formats_become_an_export() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a":1}'}}]
    chat = {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "Be exact."},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "ok", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        ],
    }
    session = opened(chat)
    written = GOOSE.write(session.messages, session)
    document = json.loads(b"".join(written.chunks))
    assert document["message_count"] == 3
    assert document["created_at"] == "1970-01-01T00:00:00Z"
    again = opened(document)
    assert again.model == "gpt-5"
    assert same(again, session.messages[1:])
    assert [one.code for one in written.findings] == ["export-system"]
    back = json.loads(saved(again, form="openai-chat"))
    assert [one["role"] for one in back["messages"]] == ["user", "assistant", "tool"]


# ----------------------------------------------------------------------------------- database


def sessions_db(path: Path) -> Path:
    sessions = (
        "sessions(id TEXT, description TEXT, working_dir TEXT, updated_at TEXT, "
        "extension_data TEXT, model_config_json TEXT)"
    )
    messages = (
        "messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, "
        "created_timestamp INTEGER, metadata_json TEXT)"
    )
    model = json.dumps({"model_name": "gpt-5"})
    rows = [
        (None, "s1", "user", json.dumps([text("old")]), 5, None),
        *(
            (None, "s2", one["role"], json.dumps(one["content"]), 9, json.dumps(one["metadata"]))
            for one in CODING
        ),
        (None, "s2", "user", "broken", 9, "{}"),
    ]
    return database(
        path,
        {
            sessions: [
                ("s1", "First", "/a", "2026-01-01", "{}", None),
                ("s2", "Second", "/b", "2026-01-02", None, model),
                ("s3", "Empty", "/c", "2026-01-03", None, None),
            ],
            messages: rows,
        },
    )


def test_a_database_is_read_as_the_exports_of_its_sessions(tmp_path: Path) -> None:
    path = sessions_db(tmp_path / "sessions.db")
    session = load(path)
    assert (session.format, session.title, session.model) == ("goose", "Second", "gpt-5")
    assert [one.id for one in session.conversations] == ["s2", "s1"]
    assert texts(session.messages)[:1] == ["Fix it"]
    assert len(session) == 5
    assert texts(load(path, conversation="s1").messages) == ["old"]


def test_of_a_database_only_the_shown_session_is_written(tmp_path: Path) -> None:
    session = load(sessions_db(tmp_path / "sessions.db"))
    data, again = reread(session, list(session.messages))
    assert json.loads(data)["name"] == "Second"
    assert same(again, session.messages)
    wanted = [session.messages[0], SUMMARY, *session.messages[-2:]]
    data, again = reread(session, wanted)
    assert json.loads(data)["id"] == "s2"
    assert same(again, wanted)
