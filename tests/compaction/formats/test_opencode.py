from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_files import SHARED, compacted, opened, same, saved
from databases import database

from compaction import Policy, compact, load, plan
from compaction.errors import SessionError
from compaction.formats import recognise
from compaction.formats.opencode import OpenCode
from compaction.messages import (
    Inline,
    Media,
    Message,
    Opaque,
    RecordedCompaction,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    describe,
)
from compaction.messages import message as made_message
from compaction.policy import Head

OPENCODE = OpenCode()
PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6B"


def part(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


def text(said: str, **more: Any) -> dict[str, Any]:
    return part("text", text=said, **more)


def tool(name: str, call: str, output: str = "", status: str = "completed", **more: Any) -> Any:
    time = {"start": 1, "end": 2, **more.pop("time", {})}
    state = {"status": status, "input": {"path": "a.py"}, "output": output, "title": name}
    return part("tool", callID=call, tool=name, state={**state, "time": time, **more})


def says(role: str, number: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    name = f"msg_{number:012x}AbCdEf"
    info: dict[str, Any] = {"id": name, "sessionID": "ses_1", "role": role}
    info["time"] = {"created": 1_760_000_000_000 + number}
    if role == "assistant":
        info |= {"parentID": f"msg_{number - 1:012x}AbCdEf", "modelID": "claude-sonnet-4-5"}
        info |= {"providerID": "anthropic", "mode": "build", "finish": "stop"}
    else:
        info |= {"agent": "build", "model": {"providerID": "anthropic", "modelID": "x"}}
    listed = [
        {"id": f"prt_{number:04x}{at}", "sessionID": "ses_1", "messageID": name, **one}
        for at, one in enumerate(parts)
    ]
    return {"info": {**info, **more}, "parts": listed}


def export(messages: list[Any], name: str = "ses_1", **more: Any) -> dict[str, Any]:
    info: dict[str, Any] = {
        "id": name,
        "projectID": "p",
        "directory": "/app",
        "title": f"Fixing {name}",
    }
    info |= {"version": "1.3.17", "time": {"created": 1, "updated": 9}, **more}
    return {"info": info, "messages": messages}


TOKENS = {"input": 100, "output": 20, "reasoning": 5, "cache": {"read": 800, "write": 50}}

CODING = [
    says("user", 1, text("Fix it"), text("Called the Read tool", synthetic=True)),
    says(
        "assistant",
        2,
        part("step-start"),
        part("reasoning", text="Hm.", metadata={"anthropic": {"signature": "sig"}}, time={}),
        text("Looking."),
        tool("read", "c1", "x = 1"),
        tool("bash", "c2", "", "error", error="not found"),
        part("step-finish", reason="tool-calls", cost=0, tokens=TOKENS),
        part("patch", hash="h", files=[]),
        tokens=TOKENS,
    ),
    says("assistant", 3, part("step-start"), text("Done."), tokens={**TOKENS, "total": 975}),
    says("user", 4, text("Thanks"), part("file", mime="image/png", filename="a.png", url=PNG)),
    says("assistant", 5, text("Welcome.")),
]


def reread(session: Any, messages: list[Message]) -> tuple[Any, Any]:
    data = saved(session, messages)
    return json.loads(data), load(data)


# ------------------------------------------------------------------------------------ reading


def test_a_response_is_read_as_what_is_sent_for_it() -> None:
    session = opened(export(CODING))
    assert session.format == "opencode"
    assert [(one.role, one.parts) for one in session.messages[:4]] == [
        ("user", (Text("Fix it"), Text("Called the Read tool"))),
        (
            "assistant",
            (
                Thinking("Hm.", "sig"),
                Text("Looking."),
                ToolCall("c1", "read", '{"path":"a.py"}'),
                ToolCall("c2", "bash", '{"path":"a.py"}'),
            ),
        ),
        (
            "tool",
            (
                ToolResult("c1", (Text("x = 1"),), name="read"),
                ToolResult("c2", (Text("not found"),), True, "bash"),
            ),
        ),
        ("assistant", (Text("Done."),)),
    ]
    image = session.messages[4].parts[1]
    assert isinstance(image, Media)
    assert (image.mime, image.name, image.width, image.height) == ("image/png", "a.png", 2, 3)
    assert (session.title, session.model) == ("Fixing ses_1", "claude-sonnet-4-5")
    assert session.messages[1].usage == Usage(950, 20, 800, 50)
    assert session.messages[2].usage is None
    assert session.messages[3].usage == Usage(950, 25, 800, 50)
    assert session.messages[0].time == "2025-10-09T08:53:20.001000+00:00"
    assert not session.problems
    assert not session.left_out


def test_each_step_of_a_response_is_a_request_of_its_own() -> None:
    finish = {**TOKENS, "input": 1}
    record = says(
        "assistant",
        2,
        part("step-start"),
        tool("read", "c1", "one"),
        part("step-finish", tokens=TOKENS),
        part("step-start"),
        text("Then"),
        tool("read", "c2", "two"),
        part("step-finish", tokens=finish),
        part("step-start"),
    )
    session = opened(export([CODING[0], record]))
    assert [one.role for one in session.messages] == [
        "user", "assistant", "tool", "assistant", "tool",
    ]  # fmt: skip
    assert session.messages[1].usage == Usage(950, 20, 800, 50)
    assert session.messages[3].usage == Usage(851, 20, 800, 50)
    data = json.loads(saved(session, session.messages[:1] + session.messages[3:]))
    assert data["messages"][0] == CODING[0]
    left = data["messages"][1]["parts"]
    assert [one["type"] for one in left] == [
        "step-start", "text", "tool", "step-finish", "step-start",
    ]  # fmt: skip


def test_results_are_what_opencode_sends_of_them() -> None:
    parts = [
        tool("a", "c1", "gone", time={"compacted": 7}),
        tool("b", "c2", status="running"),
        tool("c", "c3", status="error", error="no", metadata={"interrupted": True, "output": "so"}),
        tool("d", "c4", "out", attachments=[{"mime": "image/png", "url": PNG}]),
        part("tool", tool="e", id="prt_e", state={"status": "pending", "input": {}, "raw": "{"}),
        part("tool", tool="f", state=3),
        part("hologram", x=1),
    ]
    session = opened(export([CODING[0], says("assistant", 2, *parts)]))
    called, results = (one.parts for one in session.messages[1:])
    assert called[-1] == Opaque(
        "hologram",
        '{"id":"prt_00026","sessionID":"ses_1","messageID":"msg_000000000002AbCdEf",'
        '"type":"hologram","x":1}',
    )
    assert called[4] == ToolCall("prt_e", "e", "{")
    held = [one for one in results if isinstance(one, ToolResult)]
    assert [(one.call_id, one.text, one.is_error, one.cleared) for one in held] == [
        ("c1", "[Old tool result content cleared]", False, True),
        ("c2", "[Tool execution was interrupted]", True, False),
        ("c3", "so", False, False),
        ("c4", held[3].text, False, False),
        ("prt_e", "[Tool execution was interrupted]", True, False),
        ("prt_00025", "", False, False),
    ]
    assert isinstance(held[3].content[1], Media)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (says("assistant", 2, text("Half"), error={"name": "APIError"}), "error notices"),
        (says("assistant", 2, error={"name": "MessageAbortedError"}), "error notices"),
        (says("assistant", 2, part("step-start")), "empty messages"),
        (says("user", 2, text("hidden", ignored=True)), "empty messages"),
    ],
)
def test_what_is_not_sent_stays_in_the_file(record: dict[str, Any], reason: str) -> None:
    session = opened(export([CODING[0], record, *CODING[2:]]))
    assert session.left_out == {reason: 1}
    assert [one.text for one in session.messages][:2] == ["Fix it\nCalled the Read tool", "Done."]
    assert json.loads(saved(session, session.messages[1:]))["messages"][0] == record


def test_what_was_aborted_after_it_said_something_is_sent() -> None:
    record = says("assistant", 2, text("Half"), error={"name": "MessageAbortedError"})
    assert len(opened(export([CODING[0], record]))) == 2


def test_what_was_reverted_is_not_live() -> None:
    session = opened(export(CODING, revert={"messageID": CODING[3]["info"]["id"]}))
    assert session.left_out == {"abandoned attempts": 2}
    assert session.messages[-1].text == "Done."
    partly = {"messageID": CODING[3]["info"]["id"], "partID": "p"}
    assert opened(export(CODING, revert=partly)).left_out == {"abandoned attempts": 1}


def asked(number: int, **more: Any) -> dict[str, Any]:
    return says("user", number, part("compaction", auto=True, **more))


def summed(number: int, **more: Any) -> dict[str, Any]:
    return says("assistant", number, text("All so far."), **{"summary": True, **more})


def test_a_compaction_begins_the_window_anew() -> None:
    later = [says("user", 8, text("Go on"))]
    session = opened(export([*CODING, asked(6), summed(7), *later]))
    assert [one.text for one in session.messages] == [
        "What did we do so far?", "All so far.", "Go on",
    ]  # fmt: skip
    assert [one.injected for one in session.messages] == [True, False, False]
    assert session.messages[1].summary == "opencode"
    assert session.left_out == {"before the last compaction": 5}
    assert [(one.at, one.trigger) for one in session.compactions] == [(0, "auto")]
    full = opened(export([*CODING, asked(6), summed(7), *later]), history="full")
    assert len(full) == 9
    assert [one.at for one in full.compactions] == [6]


def test_what_a_compaction_keeps_from_before_is_live() -> None:
    record = asked(6, tail_start_id=CODING[3]["info"]["id"])
    session = opened(export([*CODING, record, summed(7)]))
    assert [one.role for one in session.messages] == ["user", "assistant", "user", "assistant"]
    assert session.left_out == {"before the last compaction": 3}
    assert session.compactions == (
        RecordedCompaction(2, "auto", line=session.messages[2].spans[0].line),
    )
    gone = asked(6, tail_start_id="msg_none")
    assert len(opened(export([*CODING, gone, summed(7)]))) == 8


@pytest.mark.parametrize(
    "failed", [{"finish": None}, {"error": {"name": "APIError"}}, {"summary": {"title": "x"}}]
)
def test_a_compaction_that_was_not_made_changes_nothing(failed: dict[str, Any]) -> None:
    session = opened(export([*CODING, asked(6), summed(7, **failed)]))
    assert session.messages[0].text.startswith("Fix it")
    assert not session.compactions


# ---------------------------------------------------------------------------------- recognition


@pytest.mark.parametrize(
    "document",
    [
        {"info": {"id": "x"}, "messages": [{"role": "user", "content": "hi"}]},
        {"info": {"id": "x"}, "messages": []},
        {"info": {}, "messages": [{"id": "1", "role": "user", "parts": [{"type": "text"}]}]},
        {"messages": CODING},
        {"info": [], "messages": CODING},
    ],
)
def test_look_alikes_are_not_taken(document: dict[str, Any]) -> None:
    found = recognise(json.dumps(document).encode())
    assert found is None or found.name != "opencode"


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], {"a": 1}, True])
def test_odd_values_break_nothing(value: object) -> None:
    for base in (CODING[1], CODING[3], asked(4), summed(5)):
        for key in (*base["info"], "error", "summary"):
            odd = {**base, "info": {**base["info"], key: value}}
            readable = [CODING[0], odd, CODING[2]]
            session = opened(export(readable), format="opencode")
            assert session.messages
            saved(session, session.messages[:1])
            saved(session, [made_message("user", "new"), *session.messages[1:]])
        for key in {key for one in base["parts"] for key in one}:
            odd = {**base, "parts": [{**one, key: value} for one in base["parts"]]}
            assert opened(export([CODING[0], odd])).messages
        assert opened(export([CODING[0], {**base, "parts": [value]}])).messages
    for key in ("status", "input", "output", "time", "metadata", "attachments", "error"):
        odd = tool("read", "c1")
        odd["state"][key] = value
        assert len(opened(export([CODING[0], says("assistant", 2, odd)]))) == 3
    opened(export(CODING, revert=value, time=value, title=value, id=value))


# ------------------------------------------------------------------------------------- writing


def test_a_compacted_session_is_an_export_that_can_be_imported() -> None:
    session = opened(export(CODING))
    messages = compacted(session, keep=2)
    document, again = reread(session, messages)
    assert same(again.messages, messages)
    summary, *rest = document["messages"]
    assert rest == CODING[3:]
    info = summary["info"]
    assert (info["role"], info["sessionID"], info["agent"]) == ("user", "ses_1", "build")
    assert info["model"] == {"providerID": "anthropic", "modelID": "x"}
    assert info["id"].startswith("msg_")
    assert info["id"] < rest[0]["info"]["id"]
    assert info["time"]["created"] <= rest[0]["info"]["time"]["created"]
    (only,) = summary["parts"]
    assert (only["type"], only["messageID"], only["sessionID"]) == ("text", info["id"], "ses_1")
    assert only["id"].startswith("prt_")
    assert again.messages[0].summary == "compaction"
    assert document["info"] == export([])["info"]


def test_a_summary_sorts_behind_what_stands_before_it() -> None:
    session = opened(export(CODING))
    result = compact(plan(session, Policy(budget=1, keep_recent=1, head=Head(first_user=True))))
    document, again = reread(session, list(result.messages))
    assert same(again.messages, result.messages)
    names = [one["info"]["id"] for one in document["messages"]]
    assert names == sorted(names)
    assert len(set(names)) == len(names) == 3
    # The response that answered a message which is gone belongs to the summary before it.
    assert document["messages"][2]["info"]["parentID"] == names[1]
    kept = {**CODING[4]["info"], "parentID": names[1]}
    assert document["messages"][2] == {**CODING[4], "info": kept}


def test_nothing_changed_is_nothing_changed() -> None:
    data = json.dumps(export(CODING), indent=1).encode()
    session = load(data)
    assert saved(session, session.messages) == data


def test_a_clipped_result_stays_with_its_call() -> None:
    session = opened(export(CODING))
    result = session.messages[2]
    parts = (ToolResult("c1", (Text("x…"),), name="read"), result.parts[1])
    clipped = describe(replace(result, body=Inline(parts), spans=()), parts)
    messages = [*session.messages[:2], clipped, *session.messages[3:]]
    document, again = reread(session, messages)
    assert same(again.messages, messages)
    record = document["messages"][1]
    assert record["info"] == CODING[1]["info"]
    assert record["parts"][3]["state"] == {
        **CODING[1]["parts"][3]["state"],
        "output": "x…",
        "metadata": {},
    }
    assert record["parts"][:3] == CODING[1]["parts"][:3]
    assert record["parts"][5:] == CODING[1]["parts"][5:]


CHAT = [
    {"role": "system", "content": "Be good."},
    {"role": "user", "content": "Fix it"},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}},
            {"id": "c2", "type": "function", "function": {"name": "ls", "arguments": "[1]"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
    {"role": "tool", "tool_call_id": "c2", "content": "b.py"},
    {"role": "assistant", "content": "Done."},
]


def test_a_session_from_elsewhere_becomes_an_export() -> None:
    session = opened({"model": "gpt-5", "messages": CHAT})
    document = json.loads(saved(session, form="opencode"))
    again = opened(document)
    assert [(one.role, one.text) for one in again.messages] == [
        ("user", "Fix it"),
        ("assistant", 'Looking.\nls {"a":1}\nls {"input":"[1]"}'),
        ("tool", "a.py\nb.py"),
        ("assistant", "Done."),
    ]
    assert again.model == "gpt-5"
    assert document["info"]["id"].startswith("ses_")
    first, second, third = document["messages"]
    assert second["info"]["parentID"] == third["info"]["parentID"] == first["info"]["id"]
    assert second["info"]["providerID"] == "openai"
    state = second["parts"][1]["state"]
    assert {"status", "input", "output", "title", "metadata", "time"} == state.keys()
    names = [one["info"]["id"] for one in document["messages"]]
    assert names == sorted(names)
    assert all(one["messageID"] == name for name, m in zip(names, document["messages"], strict=True)
               for one in m["parts"])  # fmt: skip
    assert saved(session, form="opencode") == saved(session, form="opencode")


def test_it_becomes_a_chat() -> None:
    chat = json.loads(saved(opened(export(CODING)), form="openai-chat"))["messages"]
    assert [one["role"] for one in chat] == [
        "user", "assistant", "tool", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert chat[2] == {"role": "tool", "tool_call_id": "c1", "content": "x = 1"}


def test_a_result_whose_call_is_not_there_is_not_lost() -> None:
    session = opened(export(CODING))
    alone = made_message("tool", [ToolResult("zz", (Text("so"),), name="ls")])
    _, again = reread(session, [session.messages[0], alone])
    assert [one.text for one in again.messages[1:]] == ["ls {}", "so"]


# ----------------------------------------------------------------------- databases and folders


TABLES = {
    "session": "session(id, project_id, parent_id, slug, directory, title, version, share_url, "
    "revert, time_created, time_updated)",
    "message": "message(id, session_id, time_created, time_updated, data)",
    "part": "part(id, message_id, session_id, time_created, time_updated, data)",
}


def stored(path: Path) -> Path:
    sessions: list[Any] = []
    messages: list[Any] = []
    parts: list[Any] = []
    for number, (name, parent) in enumerate((("ses_1", None), ("ses_2", None), ("ses_3", "ses_2"))):
        sessions.append((name, "p", parent, "slug", "/app", name, "1", None, None, 1, number))
        for record in reversed(CODING):
            info, own = dict(record["info"]), f"{record['info']['id']}{number}"
            created = info["time"]["created"]
            del info["id"], info["sessionID"]
            messages.append((own, name, created, created, json.dumps(info)))
            for one in reversed(record["parts"]):
                held = {k: v for k, v in one.items() if not k.endswith("ID") or k == "callID"}
                row = held.pop("id")
                parts.append((f"{row}{number}", own, name, 1, 1, json.dumps(held)))
    sessions.append(("ses_4", "p", None, "slug", "/app", "empty", "1", None, None, 1, 9))
    rows = {"session": sessions, "message": messages, "part": parts}
    return database(path, {TABLES[name]: rows[name] for name in TABLES})


def test_a_database_is_read_newest_session_first(tmp_path: Path) -> None:
    path = stored(tmp_path / "opencode.db")
    before = path.read_bytes()
    session = load(path)
    assert session.format == "opencode"
    assert [(one.id, one.title) for one in session.conversations] == [
        ("ses_2", "ses_2"), ("ses_1", "ses_1"), ("ses_3", "ses_3"),
    ]  # fmt: skip
    alone = opened(export(CODING))
    assert same(session.messages, alone.messages)
    assert same(load(path, conversation="ses_3").messages, alone.messages)
    document = json.loads(saved(session, compacted(session, keep=2)))
    assert document["info"]["id"] == "ses_2"
    assert len(document["messages"]) == 3
    assert same(load(tmp_path).messages, alone.messages)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["opencode.db"]


def laid(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value) if not isinstance(value, str) else value)


@pytest.mark.parametrize("layout", ["flat", "nested", "oldest"])
def test_a_storage_folder_is_read(layout: str, tmp_path: Path) -> None:
    place = tmp_path / "storage"
    below = place / "session" if layout == "oldest" else place
    info = export([])["info"]
    laid(below / ("info" if layout == "oldest" else "session/p") / "ses_1.json", info)
    for record in CODING:
        name = record["info"]["id"]
        laid(below / "message" / "ses_1" / f"{name}.json", record["info"])
        for one in record["parts"]:
            folder = {"flat": "", "nested": name, "oldest": f"ses_1/{name}"}[layout]
            laid(below / "part" / folder / f"{one['id']}.json", one)
    laid(below / "part" / "x" / "broken.json", "{")
    for folder in (place, tmp_path):
        session = load(folder)
        assert same(session.messages, opened(export(CODING)).messages)
        assert session.title == "Fixing ses_1"
        assert not session.left_out


def test_parts_whose_message_is_gone_are_counted(tmp_path: Path) -> None:
    laid(tmp_path / "session" / "p" / "ses_1.json", export([])["info"])
    laid(tmp_path / "message" / "ses_1" / "m.json", CODING[0]["info"])
    laid(tmp_path / "part" / "m" / "p.json", CODING[0]["parts"][0])
    laid(tmp_path / "part" / "gone" / "q.json", {"sessionID": "ses_1", "type": "text"})
    session = load(tmp_path)
    assert [one.text for one in session.messages] == ["Fix it"]
    assert session.left_out == {"parts whose message is gone": 1}


def test_other_folders_are_none(tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    (tmp_path / "message").mkdir()
    with pytest.raises(SessionError, match="is a folder"):
        load(tmp_path)


# --------------------------------------------------------------------------------- real files


STORED = SHARED / "opencode" / "agent-sessions--storage"


@pytest.mark.skipif(not STORED.is_dir(), reason="the real sessions are not beside this checkout")
def test_real_storage_folders() -> None:
    session = load(STORED / "storage_v2")
    assert [one.id for one in session.conversations] == ["s_stage0_large", "s_stage0_small"]
    assert [one.role for one in session.messages] == [
        "user", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip
    assert session.messages[1].usage == Usage(120, 16)
    small = load(STORED / "storage_v2", conversation="s_stage0_small")
    assert [one.text for one in small.messages] == ["Hello"]
    assert small.left_out == {"parts whose message is gone": 2}
    legacy = load(STORED / "storage_legacy")
    assert [one.text.strip() for one in legacy.messages] == [
        'bash {"command":"cat README.md","cwd":"/tmp/drift"}',
        "# Title\n\nBody",
    ]
    for one in (session, small, legacy):
        assert same(load(saved(one)).messages, one.messages)
        assert same(load(saved(one, form="opencode")).messages, one.messages)
