from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from agent_files import SHARED, compacted, saved
from databases import database
from transcripts import texts

from compaction.errors import ExportError, SessionError
from compaction.formats import load, recognise
from compaction.formats.cursor_chats import CursorChats
from compaction.formats.cursor_db import MARK
from compaction.messages import Media, Opaque, Session, Text, Thinking, ToolCall, ToolResult, Usage

CHATS = CursorChats()


def app(path: Path, composers: Mapping[str, tuple[dict[str, Any], list[dict[str, Any]]]]) -> Path:
    """A `state.vscdb` with these conversations: what is said of each, and its bubbles."""
    rows: list[tuple[str, object]] = [("checkpointId:x:y", "not JSON")]
    for name, (head, bubbles) in composers.items():
        rows.append((f"composerData:{name}", json.dumps(head)))
        rows += [
            (f"bubbleId:{name}:{one['bubbleId']}", json.dumps(one).encode()) for one in bubbles
        ]
    tables = {"cursorDiskKV(key TEXT UNIQUE, value BLOB)": rows, "ItemTable(key, value)": []}
    return database(path, tables)


def headers(*names: str) -> dict[str, Any]:
    return {"fullConversationHeadersOnly": [{"bubbleId": name, "type": 1} for name in names]}


BUBBLES: list[dict[str, Any]] = [
    {"bubbleId": "b4", "type": 2, "text": "Done."},
    {"bubbleId": "b1", "type": 1, "text": "Fix it", "createdAt": "2026-08-17T18:55:41.627Z"},
    {
        "bubbleId": "b2",
        "type": 2,
        "text": "Looking.",
        "thinking": {"text": "Hm.", "signature": "sig"},
        "modelInfo": {"modelName": "claude-fable-5"},
        "tokenCount": {"inputTokens": 200, "outputTokens": 7},
        "toolFormerData": {
            "tool": 15,
            "name": "run_terminal_command_v2",
            "toolCallId": "toolu_1",
            "params": '{"command":"ls"}',
            "rawArgs": "",
            "status": "completed",
            "result": "a.py\n",
        },
    },
    {"bubbleId": "b3", "type": 2, "text": "", "tokenCount": {"inputTokens": 0, "outputTokens": 0}},
    {"bubbleId": "old", "type": 1, "text": "not named by a header"},
]


def test_bubbles_stand_in_the_order_of_the_headers(tmp_path: Path) -> None:
    head = {**headers("b1", "b2", "b3", "b4"), "name": "Fixing", "modelConfig": {"modelName": "m"}}
    session = load(app(tmp_path / "state.vscdb", {"c1": (head, BUBBLES)}))
    assert session.format == "cursor-chats"
    assert [(one.role, one.parts) for one in session.messages] == [
        ("user", (Text("Fix it"),)),
        (
            "assistant",
            (
                Thinking("Hm.", "sig"),
                Text("Looking."),
                ToolCall("toolu_1", "run_terminal_command_v2", '{"command":"ls"}'),
            ),
        ),
        ("tool", (ToolResult("toolu_1", (Text("a.py\n"),), name="run_terminal_command_v2"),)),
        ("assistant", (Text("Done."),)),
    ]
    assert session.left_out == {"messages without content": 1}
    assert (session.title, session.model) == ("Fixing", "m")
    assert session.messages[1].usage == Usage(200, 7)
    assert session.messages[1].model == "claude-fable-5"
    assert session.messages[0].time == "2026-08-17T18:55:41.627Z"
    assert session.messages[0].id == "b1"


def test_steps_that_failed_or_run_still(tmp_path: Path) -> None:
    failed = {"name": "read", "status": "error", "error": "no such file", "params": "{}"}
    running = {"name": "read", "status": "loading", "params": "{}"}
    bubbles = [
        {"bubbleId": "b1", "type": 2, "toolFormerData": failed},
        {"bubbleId": "b2", "type": 2, "toolFormerData": running},
    ]
    session = load(app(tmp_path / "state.vscdb", {"c1": ({}, bubbles)}))
    (first,), (second,) = session.messages[0].calls, session.messages[2].calls
    assert first.startswith("read-")
    assert first != second
    assert session.messages[1].parts == (
        ToolResult(first, (Text("no such file"),), is_error=True, name="read"),
    )
    assert [one.role for one in session.messages] == ["assistant", "tool", "assistant"]


def test_a_summary_of_the_app_stands_for_the_bubbles_before_it(tmp_path: Path) -> None:
    summary = {"summary": "It was fixed.", "clientShouldStartSendingFromInclusiveBubbleId": "b4"}
    head = {**headers("b1", "b2", "b4"), "latestConversationSummary": {"summary": summary}}
    path = app(tmp_path / "state.vscdb", {"c1": (head, BUBBLES)})
    session = load(path)
    assert texts(session.messages) == ["It was fixed.", "Done."]
    assert session.messages[0].summary == "cursor"
    assert session.left_out == {"before the last compaction": 2}
    full = load(path, history="full")
    assert [one.at for one in full.compactions] == [3]
    assert full.messages[3].summary == "cursor"
    assert len(full) == 5
    # Where only the last bubble that is summarized is named, the summary stands behind it.
    inner = {"summary": "S", "truncationLastBubbleIdInclusive": "b2"}
    head["latestConversationSummary"] = {"summary": inner}
    again = load(app(tmp_path / "other.vscdb", {"c1": (head, BUBBLES)}))
    assert texts(again.messages) == ["S", "Done."]


def test_of_several_conversations_the_last_one_is_shown(tmp_path: Path) -> None:
    path = app(
        tmp_path / "state.vscdb",
        {
            "c1": ({**headers("b1"), "lastUpdatedAt": 5}, [BUBBLES[1]]),
            "c2": ({"conversation": [{"bubbleId": "q", "type": 1, "text": "inside"}]}, []),
            "c3": ({**headers("b4"), "createdAt": 9}, [BUBBLES[0]]),
            "empty": (headers(), []),
        },
    )
    session = load(path)
    assert texts(session.messages) == ["Done."]
    assert [one.id for one in session.conversations] == ["c3", "c1", "c2"]
    assert texts(load(path, conversation="c2").messages) == ["inside"]
    assert texts(load(path, conversation="2").messages) == ["Fix it"]
    with pytest.raises(SessionError, match="has no conversation 'empty'"):
        load(path, conversation="empty")


# ----------------------------------------------------------------------------- command line


def field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


def store(path: Path, blobs: list[tuple[str, bytes]], **about: Any) -> Path:
    told = json.dumps({"agentId": "a1", "name": "New agent", "lastUsedModel": "gpt-5", **about})
    rows = [("0", told.encode().hex())]
    return database(path, {"blobs(id TEXT, data BLOB)": blobs, "meta(key TEXT, value TEXT)": rows})


def blob(number: int, role: str, content: object, **more: Any) -> tuple[str, bytes]:
    key = bytes([number]) * 32
    return key.hex(), json.dumps({"role": role, "content": content, **more}).encode()


STORED = [
    blob(1, "system", "Be exact."),
    blob(2, "user", [{"type": "text", "text": "<user_info>\nmacOS\n</user_info>"}]),
    blob(3, "user", "<user_query>Fix it</user_query>"),
    blob(
        4,
        "assistant",
        [
            {"type": "redacted-reasoning", "data": "abcd"},
            {"type": "reasoning", "text": "Hm."},
            {"type": "tool-call", "toolCallId": "t1", "toolName": "Shell", "args": {"a": 1}},
        ],
        createdAt=1_754_000_000_000,
        providerOptions={"cursor": {"modelName": "composer-2.5"}},
    ),
    blob(
        5,
        "tool",
        [{"type": "tool-result", "toolCallId": "t1", "toolName": "Shell", "result": "a.py"}],
    ),
    blob(6, "assistant", [{"type": "text", "text": "Done."}]),
]


def test_blobs_of_the_command_line_are_messages(tmp_path: Path) -> None:
    session = load(store(tmp_path / "store.db", [*STORED, ("00", b"\x0a\x02hi")]))
    assert [(one.role, one.parts) for one in session.messages] == [
        ("system", (Text("Be exact."),)),
        ("user", (Text("<user_info>\nmacOS\n</user_info>"),)),
        ("user", (Text("<user_query>Fix it</user_query>"),)),
        (
            "assistant",
            (Thinking("", sealed=4), Thinking("Hm."), ToolCall("t1", "Shell", '{"a":1}')),
        ),
        ("tool", (ToolResult("t1", (Text("a.py"),), name="Shell"),)),
        ("assistant", (Text("Done."),)),
    ]
    assert [one.injected for one in session.messages[1:3]] == [True, False]
    assert session.messages[3].model == "composer-2.5"
    assert session.messages[3].time.startswith("2025-07-31T22:13:20")
    assert (session.title, session.model) == ("New agent", "gpt-5")


def test_the_newest_state_says_which_blobs_are_sent(tmp_path: Path) -> None:
    named = b"".join(field(1, bytes([n]) * 32) for n in (1, 6, 3))
    root = b"\x10\x05" + named + field(8, b"turns") + b"\x1d\0\0\0\0"
    path = store(tmp_path / "s.db", [*STORED, ("feed", root)], latestRootBlobId="feed")
    session = load(path)
    assert texts(session.messages) == ["Be exact.", "Done.", "<user_query>Fix it</user_query>"]
    assert session.left_out == {"replaced in the newest state": 3}


@pytest.mark.parametrize("root", [b"", b"\x0a", b"\xff" * 20, b"\x0a\x7fshort", b"\x0f"])
def test_a_state_that_cannot_be_read_leaves_all_blobs(tmp_path: Path, root: bytes) -> None:
    path = store(tmp_path / "s.db", [*STORED, ("feed", root)], latestRootBlobId="feed")
    assert len(load(path)) == len(STORED)


def test_results_and_pictures_of_newer_versions(tmp_path: Path) -> None:
    output = {"type": "error-text", "value": "failed"}
    blobs = [
        blob(1, "user", [{"type": "image", "image": "aGk=", "mimeType": "image/png"}, {"type": 7}]),
        blob(2, "tool", [{"type": "tool-result", "toolCallId": "t", "output": output}]),
        blob(3, "tool", [{"type": "tool-result", "toolCallId": "u", "result": {"x": 1}}]),
        blob(4, "user", None),
        blob(5, "user", [None, 7, {"type": "image"}, {"type": "tool-call", "args": "raw"}]),
    ]
    session = load(store(tmp_path / "s.db", blobs))
    picture, other = session.messages[0].parts
    assert isinstance(picture, Media)
    assert picture.size == 2
    assert isinstance(other, Opaque)
    assert session.messages[1].parts == (ToolResult("t", (Text("failed"),), is_error=True),)
    assert session.messages[2].parts == (ToolResult("u", (Text('{"x":1}'),)),)
    assert session.left_out == {"messages without content": 1}


# ----------------------------------------------------------------------------------- writing


def test_it_is_written_as_chat_and_never_as_itself(tmp_path: Path) -> None:
    session = load(store(tmp_path / "s.db", STORED))
    with pytest.raises(ExportError, match="can only be read"):
        CHATS.write(session.messages, session)
    messages = compacted(session, keep=3)
    chat = json.loads(saved(session, messages))
    roles = [one["role"] for one in chat["messages"]]
    assert roles[0] == "system"
    assert roles[-3:] == ["assistant", "tool", "assistant"]
    assert load(json.dumps(chat).encode()).messages[-2].results == ("t1",)


def test_only_documents_of_its_databases_are_recognised(tmp_path: Path) -> None:
    found = recognise(store(tmp_path / "s.db", STORED).read_bytes())
    assert found is not None
    assert found.name == "cursor-chats"
    others: list[object] = [{"messages": []}, [{"messages": []}], {MARK: "store"}, []]
    for other in others:
        named = recognise(json.dumps(other).encode())
        assert named is None or named.name != "cursor-chats"


@pytest.mark.skipif(not (SHARED / "cursor").is_dir(), reason="no collected sessions are here")
def test_a_real_store_without_messages() -> None:
    session: Session = load(SHARED / "cursor" / "agent-sessions--cursor-store.db")
    assert (session.format, len(session)) == ("cursor-chats", 0)
    assert (session.title, session.model) == ("Test Session", "claude-4-sonnet")
