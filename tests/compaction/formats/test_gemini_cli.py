from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_documents import raw, read, written
from round_trips import again, compacted, same

from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import load, recognise
from compaction.formats.gemini_cli import GeminiCli
from compaction.messages import Text, Thinking, ToolCall, ToolResult, Usage, message
from compaction.validity import check

CLI = GeminiCli()
HEAD = {
    "sessionId": "5b6f",
    "projectHash": "ab" * 32,
    "startTime": "2026-03-01T10:00:00.000Z",
    "lastUpdated": "2026-03-01T10:09:00.000Z",
}


def said(name: str, text: object, kind: str = "user", **more: object) -> dict[str, Any]:
    return {
        "id": name,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "type": kind,
        "content": text,
        **more,
    }


def done(call: str, name: str, output: str, **more: object) -> dict[str, Any]:
    answer = {"functionResponse": {"id": call, "name": name, "response": {"output": output}}}
    return {
        "id": call,
        "name": name,
        "args": {"path": f"{call}.txt"},
        "result": [answer],
        "status": "success",
        "resultDisplay": "shown",
        **more,
    }


TOKENS = {"input": 900, "output": 20, "cached": 700, "thoughts": 30, "tool": 0, "total": 950}
MESSAGES = [
    said("m1", "Read both files.", displayContent="Read both."),
    said(
        "m2",
        "",
        "gemini",
        toolCalls=[done("a", "read_file", "one"), done("b", "read_file", "two")],
        thoughts=[{"subject": "Plan", "description": "Two reads."}],
        tokens=TOKENS,
        model="gemini-2.5-pro",
    ),
    said("m3", "Update available.", "info"),
    said("m4", "Both are read.", "gemini", tokens={**TOKENS, "input": 990}, model="gemini-3-pro"),
    said("m5", "/stats"),
    said("m6", [{"text": "Now write."}]),
    said(
        "m7",
        "Writing.",
        "gemini",
        toolCalls=[done("c", "write_file", "no room", status="error")],
        model="gemini-3-pro",
    ),
    said("m8", "Quota reached.", "error"),
    said("m9", "The disk is full.", "gemini", model="gemini-3-pro"),
]


def document(messages: Sequence[object] = MESSAGES, **more: object) -> str:
    return json.dumps({**HEAD, **more, "messages": list(messages)}, indent=2)


def log(*records: object) -> bytes:
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


ROLES = ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]
FORMS = [document().encode(), log(HEAD, *MESSAGES)]


# ---------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("data", FORMS, ids=["document", "log"])
def test_what_a_resumed_session_sends(data: bytes) -> None:
    session = load(data)
    assert session.format == "gemini-cli"
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[1].parts == (
        ToolCall("a", "read_file", '{"path":"a.txt"}'),
        ToolCall("b", "read_file", '{"path":"b.txt"}'),
    )
    assert session.messages[2].parts == (
        ToolResult("a", (Text("one"),), name="read_file"),
        ToolResult("b", (Text("two"),), name="read_file"),
    )
    assert session.messages[1].usage == Usage(900, 50, 700)
    assert session.messages[1].model == "gemini-2.5-pro"
    assert session.messages[2].usage is None
    failed = session.messages[6].parts[0]
    assert isinstance(failed, ToolResult)
    assert failed.is_error
    assert session.model == "gemini-3-pro"
    assert session.messages[0].id == "m1"
    assert session.messages[0].time == "2026-03-01T10:00:00.000Z"
    assert session.left_out == {"shown on the screen only": 2, "commands of the client": 1}
    assert not any(isinstance(part, Thinking) for one in session.messages for part in one.parts)


def test_the_title_is_the_summary_of_the_session() -> None:
    assert load(document(summary="Reading files").encode()).title == "Reading files"
    lines = log(HEAD, *MESSAGES, {"$set": {"summary": "Old"}}, {"$set": {"summary": "New"}})
    assert load(lines).title == "New"


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        ("plain", (ToolResult("c", (Text("plain"),), name="f"),)),
        ({"functionResponse": {"response": {"output": "x"}}}, None),
        ([{"functionResponse": {"name": "f", "response": {"output": "x"}}}], None),
    ],
)
def test_a_result_takes_the_id_of_its_call(result: object, parts: object) -> None:
    record = said("m", "", "gemini", toolCalls=[{"id": "c", "name": "f", "result": result}])
    session = load(document([said("u", "go"), record]).encode())
    assert session.messages[2].results == ("c",)
    assert session.messages[2].parts == (parts or (ToolResult("c", (Text("x"),), name="f"),))


def test_calls_in_content_are_not_told_twice() -> None:
    content = [
        {"text": "Both."},
        {"functionCall": {"id": "a", "name": "f", "args": {}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "g", "args": {"x": 1}}},
    ]
    calls = [
        {"id": "a", "name": "f", "args": {}, "result": "1"},
        {"name": "g", "args": {"x": 1}},
        {"id": "z", "name": "h", "args": {}, "result": None},
    ]
    session = load(
        document([said("u", "go"), said("m", content, "gemini", toolCalls=calls)]).encode()
    )
    assert [type(part) for part in session.messages[1].parts] == [
        Text,
        Thinking,
        ToolCall,
        ToolCall,
        ToolCall,
    ]
    assert session.messages[1].calls[::2] == ("a", "z")
    assert session.messages[2].results == ("a",)


def test_results_of_a_rewritten_history_count_once() -> None:
    again_said = said("m2r", done("a", "read_file", "one")["result"])
    session = load(document([*MESSAGES[:2], again_said, *MESSAGES[3:4]]).encode())
    assert [one.role for one in session.messages] == ROLES[:4]
    assert session.left_out == {"written twice": 1}


def test_the_tool_speaking_for_the_user_is_no_turn() -> None:
    session = load(document([*MESSAGES[:4], said("n", "System: Please continue.")]).encode())
    assert session.messages[-1].injected
    assert not session.messages[0].injected


# -------------------------------------------------------------------------------------- logs


def test_later_records_change_earlier_ones() -> None:
    grown = {**MESSAGES[3], "content": "Both are read, and short."}
    data = log(
        HEAD,
        MESSAGES[0],
        MESSAGES[3],
        {"$set": {"lastUpdated": "2026-03-01T10:01:00.000Z"}},
        said("x", "Forget this."),
        said("y", "Forgotten.", "gemini"),
        grown,
        {"$rewindTo": "x"},
        said("z", "Go on."),
    )
    session = load(data)
    assert [one.preview for one in session.messages] == [
        "Read both files.",
        "Both are read, and short.",
        "Go on.",
    ]
    assert session.left_out == {"written twice": 1, "turns taken back": 2}
    full = load(data, history="full")
    assert [one.preview for one in full.messages][2:] == ["Forget this.", "Forgotten.", "Go on."]


def test_going_back_to_nobody_forgets_all() -> None:
    session = load(log(HEAD, *MESSAGES[:4], {"$rewindTo": "unknown"}, said("z", "Anew.")))
    assert [one.preview for one in session.messages] == ["Anew."]
    assert session.left_out["turns taken back"] == 4


SNAPSHOT = said("s", [{"text": "<state_snapshot>\nTwo files are read.\n</state_snapshot>"}])
PACKED = log(
    HEAD,
    *MESSAGES,
    {"$set": {"messages": [SNAPSHOT, said("ok", [{"text": "Got it."}], "gemini"), MESSAGES[8]]}},
    said("z", "Go on."),
)


def test_a_list_put_in_place_is_a_compaction() -> None:
    session = load(PACKED)
    assert [one.preview for one in session.messages][1:] == [
        "Got it.",
        "The disk is full.",
        "Go on.",
    ]
    assert session.messages[0].summary == "gemini-cli"
    assert [one.at for one in session.compactions] == [0]
    assert session.left_out == {"before the last compaction": 9}
    full = load(PACKED, history="full")
    assert len(full.messages) == len(ROLES) + 4
    assert [one.at for one in full.compactions] == [len(ROLES)]
    assert full.messages[len(ROLES)].summary == "gemini-cli"


def test_a_document_is_live_from_its_last_snapshot() -> None:
    session = load(document([*MESSAGES, SNAPSHOT, said("z", "Go on.")]).encode())
    assert [one.summary for one in session.messages] == ["gemini-cli", ""]
    assert [one.at for one in session.compactions] == [0]
    assert session.left_out == {"before the last compaction": 9}


def test_a_list_with_masked_results_only_replaces() -> None:
    masked = {**MESSAGES[1], "toolCalls": [done("a", "read_file", "[masked]")]}
    session = load(log(HEAD, *MESSAGES[:2], {"$set": {"messages": [MESSAGES[0], masked]}}))
    assert session.messages[2].text == "[masked]"
    assert session.compactions == ()
    assert session.left_out == {"written twice": 2}


# -------------------------------------------------------------------------------- recognised


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (document(), "gemini-cli"),
        (document([]), "gemini-cli"),
        (json.dumps({"messages": MESSAGES[:2]}), "gemini-cli"),
        (log(HEAD).decode(), "gemini-cli"),
        (log(*MESSAGES[:2]).decode(), "gemini-cli"),
        (log({"$set": {"lastUpdated": "x"}}, {"a": 1}).decode(), "gemini-cli"),
        (json.dumps({"history": [{"role": "user", "parts": [{"text": "a"}]}]}), "gemini-contents"),
        (
            json.dumps({"startTime": "x", "history": [{"role": "user", "parts": [{"text": "a"}]}]}),
            "gemini-cli",
        ),
        (json.dumps({"messages": [{"role": "user", "content": "a"}]}), "openai-chat"),
        (json.dumps({"messages": [{"type": "human", "content": "a"}]}), None),
        (json.dumps([{"type": "user", "content": "a"}]), None),
    ],
)
def test_recognised_by_what_only_it_writes(data: str, name: str | None) -> None:
    found = recognise(data.encode())
    if name is None:
        assert found is None or found.name != "gemini-cli"
    else:
        assert found is not None
        assert found.name == name


@pytest.mark.parametrize(
    "broken",
    [
        said("x", None, "gemini"),
        said("x", 5, "gemini"),
        said("x", "", "gemini", toolCalls=7),
        said("x", "", "gemini", toolCalls=[7, None, {"name": 4, "args": "x", "result": 9}]),
        said("x", "a", "gemini", tokens=[], thoughts=3, model=8),
        {"type": ["user"], "content": "a"},
        {"id": {}, "type": "user", "content": {"text": "a"}},
        {"id": "x", "type": "user", "content": [None, 5, "a"]},
    ],
)
def test_odd_records_never_raise(broken: object) -> None:
    for data in (
        document([MESSAGES[0], broken, MESSAGES[3]]).encode(),
        log(HEAD, *MESSAGES, broken),
    ):
        session = load(data)
        assert len(session) >= 2
        assert all(isinstance(one.parts, tuple) for one in session.messages)


def test_a_torn_log_is_read_as_far_as_it_goes() -> None:
    session = load(log(HEAD, *MESSAGES)[:-20])
    assert [one.role for one in session.messages] == ROLES[:-1]
    assert [one.code for one in session.problems] == ["torn-end"]


def test_nothing_of_the_tool() -> None:
    with pytest.raises(SessionError, match="no record of a Gemini CLI session"):
        read(CLI, '{"a": 1}\n{"b": 2}\n')


# ---------------------------------------------------------------------------------- writing


@pytest.mark.parametrize("data", [*FORMS, PACKED], ids=["document", "log", "packed"])
def test_unchanged_is_byte_for_byte_the_same(data: bytes) -> None:
    session = read(CLI, data)
    assert written(CLI, session.messages, session) == data


@pytest.mark.parametrize("data", FORMS, ids=["document", "log"])
def test_head_summary_and_recent_survive_with_their_bytes(data: bytes) -> None:
    session = load(data)
    result = compacted(session, recent=3)
    assert result.made
    back = again(result)
    same(result, back)
    assert back.format == "gemini-cli"
    assert [one.summary for one in back.messages].count("compaction") == 1
    assert set(raw(back)) - set(raw(session)) == {
        raw(back)[[one.summary for one in back.messages].index("compaction")]
    }
    # What is only shown stays in the file.
    assert back.left_out == session.left_out
    assert not [one for one in check(back.messages, "gemini") if one.level == "error"]


def test_the_log_written_is_one_the_tool_loads() -> None:
    session = load(PACKED)
    new = [message("user", "So far.", summary="compaction"), *session.messages[2:]]
    lines = [json.loads(line) for line in written(CLI, new, session).splitlines()]
    assert lines[0] == HEAD
    assert {key: lines[1][key] for key in ("type", "content")} == {
        "type": "user",
        "content": [{"text": "So far."}],
    }
    assert len(lines[1]["id"]) == 36
    assert [one["id"] for one in lines[2:]] == ["m9", "z"]
    assert not any("$set" in line or "$rewindTo" in line for line in lines)


def test_half_a_record_is_written_without_its_results() -> None:
    for data in FORMS:
        session = load(data)
        new = [*session.messages[:2], *session.messages[3:]]
        back = load(written(CLI, new, session))
        assert back.messages[1].parts == session.messages[1].parts
        assert [one.role for one in back.messages] == [*ROLES[:2], *ROLES[3:]]
        only = load(written(CLI, [session.messages[0], session.messages[2]], session))
        assert only.messages[1].parts == session.messages[2].parts


# ------------------------------------------------------------------------------- conversion


@pytest.mark.parametrize("data", FORMS, ids=["document", "log"])
def test_to_other_formats_and_back(data: bytes) -> None:
    session = load(data)
    chat = json.loads(render_bytes(session, "openai-chat")[0])
    assert [one["role"] for one in chat["messages"]] == [
        *ROLES[:2],
        "tool",
        *ROLES[2:],
    ]
    assert chat["messages"][2]["tool_call_id"] == "a"
    request, told = render_bytes(session, "gemini-contents")
    assert told == ()
    contents = json.loads(request)["contents"]
    assert [one["role"] for one in contents] == ["user", "model"] * 4
    assert [len(one["parts"]) for one in contents] == [1, 2, 2, 1, 1, 2, 1, 1]
    # And a chat becomes a session that the tool resumes.
    back = load(render_bytes(load(json.dumps(chat).encode()), "gemini-cli")[0])
    assert back.format == "gemini-cli"
    assert [one.role for one in back.messages] == ROLES
    assert [one.parts for one in back.messages][:6] == [one.parts for one in session.messages][:6]


def test_system_messages_are_left_to_the_tool() -> None:
    chat = {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "a"}]}
    data, told = render_bytes(load(json.dumps(chat).encode()), "gemini-cli")
    assert [one.code for one in told] == ["export-system"]
    assert [one["type"] for one in json.loads(data)["messages"]] == ["user"]


# ------------------------------------------------------------------------------- real files

REAL = {
    "agent-sessions--jsonl_v040.jsonl": (4, {}),
    "agent-sessions--large.json": (8, {"shown on the screen only": 1}),
    "agent-sessions--schema_drift.json": (2, {}),
    "agent-sessions--small.json": (2, {}),
    "entireio-cli--session-3fab7adf0b.json": (5, {}),
    "entireio-cli--session-53780d06b7.json": (11, {"shown on the screen only": 1}),
    "entireio-cli--session-cbfeaa512b.json": (8, {}),
    "git-ai--gemini-session-simple.jsonl": (6, {}),
}


def test_real_sessions(shared_sessions: Path) -> None:
    folder = shared_sessions / "gemini-cli"
    assert {path.name for path in folder.iterdir()} == set(REAL)
    for name, (count, left_out) in REAL.items():
        session = load(folder / name)
        assert session.format == "gemini-cli", name
        assert len(session) == count, name
        assert session.left_out == left_out, name
        same(session, again(session))
        result = compacted(session)
        if result.made:
            same(result, again(result))
    session = load(folder / "entireio-cli--session-53780d06b7.json")
    assert session.model == "gemini-2.5-flash"
    assert session.messages[1].usage == Usage(12207, 258, 2558)
    assert session.messages[1].tool == "write_file"
