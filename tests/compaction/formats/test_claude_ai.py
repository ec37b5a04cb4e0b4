from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved, shared

from compaction import load
from compaction.formats import recognise
from compaction.messages import (
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)

ROOT = "00000000-0000-4000-8000-000000000000"
USE = {"type": "tool_use", "id": "t1", "name": "weigh", "input": {"box": 7}}
RESULT = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "name": "weigh",
    "content": [{"type": "text", "text": "12 kg"}],
    "is_error": False,
}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said, "citations": []}


def record(name: str, sender: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    said = [block["text"] for block in blocks if block.get("type") == "text"]
    return {
        "uuid": name,
        "text": "\n\n".join(said),
        "content": list(blocks),
        "sender": sender,
        "created_at": f"2026-01-02T03:04:{len(name):02}Z",
        "updated_at": "2026-01-02T03:05:00Z",
        "attachments": [],
        "files": [],
        **more,
    }


CONVERSATION: dict[str, Any] = {
    "uuid": "conversation-1",
    "name": "Boxes",
    "account": {"uuid": "a"},
    "chat_messages": [
        record("u1", "human", text("How heavy is box 7?")),
        record("a1", "assistant", text("I look."), USE, RESULT, text("12 kg.")),
        record("u2", "human", text("And box 8?")),
        record("a2", "assistant", text("13 kg.")),
        record("u3", "human", text("Thanks.")),
        record("a3", "assistant", text("Bye.")),
    ],
}


def hung(name: str, parent: str, index: int, sender: str = "human") -> dict[str, Any]:
    return record(name, sender, text(f"said {name}"), parent_message_uuid=parent, index=index)


TREE: dict[str, Any] = {
    "uuid": "conversation-2",
    "name": "Tree",
    "model": "claude-sonnet-4-5",
    "current_leaf_message_uuid": "a4",
    "chat_messages": [
        hung("u1", ROOT, 0),
        hung("a1", "u1", 1, "assistant"),
        hung("u2", "a1", 2),
        hung("a2", "u2", 3, "assistant"),
        hung("u3", "a1", 4),
        hung("a3", "u3", 5, "assistant"),
        hung("u4", "a3", 6),
        hung("a4", "u4", 7, "assistant"),
    ],
}


def name_of(document: object) -> str:
    found = recognise(json.dumps(document).encode())
    return found.name if found else ""


def test_a_turn_with_tools_is_several_messages() -> None:
    session = opened([CONVERSATION])
    assert session.format == "claude-ai"
    assert [m.role for m in session.messages] == [
        *("user", "assistant", "tool", "assistant", "user", "assistant", "user", "assistant"),
    ]
    assert session.messages[1].parts == (Text("I look."), ToolCall("t1", "weigh", '{"box":7}'))
    assert session.messages[2].parts == (ToolResult("t1", (Text("12 kg"),), name="weigh"),)
    assert session.messages[3].parts == (Text("12 kg."),)
    assert session.title == "Boxes"
    assert [m.id for m in session.messages] == ["u1", "a1", "a1", "a1", "u2", "a2", "u3", "a3"]
    assert session.messages[0].time == "2026-01-02T03:04:02Z"
    assert session.messages[0].typed


def test_calls_without_ids_are_paired_in_their_turn() -> None:
    bare = [{"type": "tool_use", "name": "weigh", "input": {"box": n}} for n in (1, 2)]
    answers = [{"type": "tool_result", "name": "weigh", "content": "12 kg"}] * 2
    turn = record("a1", "assistant", *bare, *answers, text("Both."))
    messages = opened({"chat_messages": [record("u1", "human", text("go")), turn]}).messages
    assert len(messages[1].calls) == len(set(messages[1].calls)) == 2
    assert messages[1].calls == messages[2].results


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ({"content": [], "text": "old"}, (Text("old"),)),
        ({"content": None, "text": "old"}, (Text("old"),)),
        (
            {"attachments": [{"file_name": "a.txt", "extracted_content": "inside"}]},
            (Text("hi"), Text("a.txt\ninside")),
        ),
        (
            {"attachments": [{"file_name": "a.bin", "file_type": "", "extracted_content": ""}]},
            (Text("hi"), Media("file", name="a.bin")),
        ),
        (
            {
                "files": [{"file_name": "b.png"}],
                "files_v2": [{"file_kind": "image", "file_name": "b.png"}],
            },
            (Text("hi"), Media("image", name="b.png")),
        ),
        (
            {"content": [{"type": "voice_note", "title": "Note", "text": "spoken"}]},
            (Text("Note\nspoken"),),
        ),
        (
            {"content": [{"type": "thinking", "thinking": "hm", "summaries": []}, text("so")]},
            (Thinking("hm"), Text("so")),
        ),
        (
            {"content": [{"type": "token_budget", "remaining": 7}]},
            (Opaque("token_budget", '{"type":"token_budget","remaining":7}'),),
        ),
        (
            {"content": ["plain", None, 3], "attachments": "none", "files": [None]},
            (Text("plain"), Opaque("unknown", "null"), Opaque("unknown", "3")),
        ),
    ],
)
def test_content_of_every_kind(more: dict[str, Any], parts: tuple[Part, ...]) -> None:
    session = opened({"chat_messages": [{**record("u1", "human", text("hi")), **more}]})
    assert session.messages[0].parts == parts


def test_the_branch_last_seen_is_live() -> None:
    session = opened(TREE)
    assert [m.id for m in session.messages] == ["u1", "a1", "u3", "a3", "u4", "a4"]
    assert session.left_out == {"other branches": 2}
    assert session.model == "claude-sonnet-4-5"
    other = opened({**TREE, "current_leaf_message_uuid": "a2"})
    assert [m.id for m in other.messages] == ["u1", "a1", "u2", "a2"]
    last = opened({**TREE, "current_leaf_message_uuid": None})
    assert last.messages[-1].id == "a4"
    circle = [hung("u1", "a1", 0), hung("a1", "u1", 1, "assistant")]
    assert len(opened({"chat_messages": circle})) == 2


def test_empty_messages_are_left_out() -> None:
    session = opened({"chat_messages": [*CONVERSATION["chat_messages"], record("u4", "human")]})
    assert session.messages[-1].id == "a3"
    assert session.left_out == {"empty messages": 1}


def test_several_conversations_are_named() -> None:
    session = opened([CONVERSATION, TREE])
    assert [(c.id, c.title) for c in session.conversations] == [
        ("conversation-1", "Boxes"),
        ("conversation-2", "Tree"),
    ]
    assert opened([CONVERSATION, TREE], conversation="conversation-2").title == "Tree"
    assert opened({"conversations": [CONVERSATION, TREE]}, conversation="2").title == "Tree"


def test_an_export_keeps_what_stays_and_says_that_nothing_imports_it() -> None:
    data = json.dumps([CONVERSATION, TREE], indent=1).encode()
    session = load(data)
    assert saved(session) == data
    made = compacted(session, 2)
    out = saved(session, made)
    assert same(load(out).messages, made)
    document = json.loads(out)
    assert document[1] == TREE
    summary, *kept = document[0]["chat_messages"]
    assert kept == CONVERSATION["chat_messages"][-2:]
    assert summary["sender"] == "human"
    assert summary["text"] == summary["content"][0]["text"] == made[0].text
    assert summary.keys() == CONVERSATION["chat_messages"][0].keys()
    assert summary["created_at"] == kept[0]["created_at"]
    from compaction.export import render_bytes

    assert "no-import" in {finding.code for finding in render_bytes(session)[1]}


def test_a_turn_is_cut_where_only_a_part_of_it_stays() -> None:
    session = opened([CONVERSATION])
    out = json.loads(saved(session, session.messages[3:]))[0]["chat_messages"]
    assert out[0]["uuid"] == "a1"
    assert out[0]["content"] == [text("12 kg.")]
    assert out[0]["text"] == "12 kg."
    out = json.loads(saved(session, session.messages[:3]))[0]["chat_messages"]
    assert out[1]["content"] == [text("I look."), USE, RESULT]


def test_the_tree_hangs_together_after_a_compaction() -> None:
    session = opened(TREE)
    made = compacted(session, 2)
    out = saved(session, made)
    assert same(load(out).messages, made)
    records = {one["uuid"]: one for one in json.loads(out)["chat_messages"]}
    (summary,) = records.keys() - {one["uuid"] for one in TREE["chat_messages"]}
    assert records[summary]["parent_message_uuid"] == ROOT
    assert records[summary]["index"] == 5
    assert records["u4"]["parent_message_uuid"] == summary
    assert records["a4"] == TREE["chat_messages"][-1]
    # The other branch stays, and hangs on what stands for its parent.
    assert records["u2"]["parent_message_uuid"] == summary
    assert records["a2"]["parent_message_uuid"] == "u2"
    ended = saved(session, [*session.messages[:2], message("user", "all else")])
    document = json.loads(ended)
    assert document["current_leaf_message_uuid"] == document["chat_messages"][2]["uuid"]
    assert same(load(ended).messages[:2], session.messages[:2])
    assert saved(session, made) == out


def test_other_sessions_become_an_export_and_back() -> None:
    session = opened([CONVERSATION])
    chat = load(saved(session, form="openai-chat"))
    assert [m.role for m in chat.messages] == [m.role for m in session.messages]
    assert load(saved(session, form="anthropic")).messages[1].calls == ("t1",)
    again = load(saved(chat, form="claude-ai"))
    assert again.format == "claude-ai"
    assert [m.text for m in again.messages] == [m.text for m in session.messages]
    assert [m.calls for m in again.messages] == [m.calls for m in session.messages]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ([CONVERSATION], "claude-ai"),
        (TREE, "claude-ai"),
        ({"conversations": [TREE]}, "claude-ai"),
        ({"chat_messages": []}, "claude-ai"),
        ({"chat_messages": "none"}, ""),
        ({"chat": [{"sender": "human"}]}, ""),
    ],
)
def test_what_is_an_export(document: object, name: str) -> None:
    assert name_of(document) == name


#: Messages of the conversation that is shown, and conversations.
REAL = {
    "osteele--api.json": (2, 0),
    "osteele--conversations.json": (2, 2),
    "osteele--cooking.json": (6, 0),
    "osteele--debugging.json": (4, 0),
    "osteele--history.json": (6, 0),
    "polylogue--representative-01.json": (6, 0),
}


@pytest.mark.parametrize("path", shared("claude-ai-export"))
def test_real_exports(path: Path) -> None:
    session = load(path)
    messages, conversations = REAL[path.name]
    assert session.format == "claude-ai"
    assert len(session) == messages
    assert len(session.conversations) == conversations
    assert session.title
    assert [m.role for m in session.messages] == ["user", "assistant"] * (messages // 2)
    assert saved(session) == path.read_bytes()
    made = compacted(session, 1)
    out = saved(session, made)
    assert same(load(out).messages, made)
    leaf = json.loads(out)
    leaf = leaf[0] if isinstance(leaf, list) else leaf
    if "current_leaf_message_uuid" in leaf:
        assert leaf["current_leaf_message_uuid"] == leaf["chat_messages"][-1]["uuid"]
