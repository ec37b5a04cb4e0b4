from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import read, written
from round_trips import again, compacted, same

from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import load, recognise
from compaction.formats.qwen_code import QwenCode
from compaction.messages import Text, Thinking, ToolCall, ToolResult, Usage, message
from compaction.validity import check

QWEN = QwenCode()


def line(
    name: str, parent: str | None, kind: str, *parts: object, **more: object
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "uuid": name,
        "parentUuid": parent,
        "sessionId": "s-1",
        "timestamp": f"2026-05-01T10:00:0{len(name)}.000Z",
        "type": kind,
        "cwd": "/depot",
        "version": "0.21.0",
    }
    if parts:
        role = "model" if kind == "assistant" else "user"
        record["message"] = {"role": role, "parts": list(parts)}
    return {**record, **more}


def note(name: str, parent: str | None, subtype: str, **payload: object) -> dict[str, Any]:
    return line(name, parent, "system", subtype=subtype, systemPayload=payload)


def call(name: str, **args: object) -> dict[str, Any]:
    return {"functionCall": {"id": name, "name": "weigh", "args": args}}


def answer(name: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": name, "name": "weigh", "response": {"output": output}}}


def text(said: str, **more: object) -> dict[str, Any]:
    return {"text": said, **more}


def data(*records: object) -> bytes:
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


USAGE = {"promptTokenCount": 90, "candidatesTokenCount": 5, "cachedContentTokenCount": 60}
LINES = [
    line("a", None, "user", text("Weigh it."), provenance="real_user"),
    line("b", "a", "assistant", text("Scales.", thought=True), model="qwen3-coder"),
    line(
        "b",
        "a",
        "assistant",
        call("c1", parcel=1.50),
        model="qwen3-coder",
        usageMetadata=USAGE,
        contextWindowSize=262144,
    ),
    note("t", "b", "ui_telemetry", uiEvent={"model": "qwen3-coder"}),
    line("d", "t", "tool_result", answer("c1", "1.5 kg"), toolCallResult={"status": "success"}),
    line("e", "d", "assistant", text("It weighs 1.5 kg."), model="qwen3-coder"),
    note("n", "e", "custom_title", customTitle="Weighing", titleSource="auto"),
    line("f", "n", "user", text("And the next?")),
    line("g", "f", "assistant", call("c2", parcel=2), model="qwen3-coder-plus"),
    line("h", "g", "tool_result", answer("c2", "2 kg")),
    line("i", "h", "assistant", text("2 kg."), model="qwen3-coder-plus"),
]
ROLES = ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]


# ---------------------------------------------------------------------------------- reading


def test_a_session_is_read_whole() -> None:
    session = load(data(*LINES))
    assert session.format == "qwen-code"
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[1].parts == (
        Thinking("Scales."),
        ToolCall("c1", "weigh", '{"parcel":1.5}'),
    )
    assert len(session.messages[1].spans) == 2
    assert session.messages[1].usage == Usage(90, 5, 60)
    assert session.messages[2].parts == (ToolResult("c1", (Text("1.5 kg"),), name="weigh"),)
    assert (session.title, session.model, session.window) == (
        "Weighing",
        "qwen3-coder-plus",
        262144,
    )
    assert session.left_out == {"state of the client": 2}
    assert [one.id for one in session.messages] == list("abdefghi")


def test_only_the_branch_of_the_last_line_is_live() -> None:
    session = load(
        data(
            *LINES[:6],
            line("x", "e", "user", text("Wrong way.")),
            line("y", "x", "assistant", text("Lost.")),
            note("lost", "y", "custom_title", customTitle="Lost"),
            note("r", "e", "rewind", truncatedCount=2),
            line("z", "r", "user", text("Right way.")),
            note("side", "y", "session_artifact_snapshot", summary="of the other branch"),
        )
    )
    assert [one.preview for one in session.messages][-2:] == ["It weighs 1.5 kg.", "Right way."]
    assert session.left_out["abandoned attempts"] == 2


def test_a_lost_line_is_bridged_to_the_lines_before_it() -> None:
    session = load(data(*LINES[:6], *LINES[7:]))
    assert [one.role for one in session.messages] == ROLES
    assert [(one.code, one.line) for one in session.problems] == [("gap", 7)]
    # A rewind to a line that is lost does not bring back what was taken back.
    rewound = load(data(*LINES[:6], note("r", "gone", "rewind"), line("z", "r", "user", text("x"))))
    assert [one.preview for one in rewound.messages] == ["x"]


def test_what_the_client_answered_itself_is_not_sent() -> None:
    session = load(
        data(
            line("a", None, "user", text("/about")),
            note("b", "a", "slash_command", phase="result", rawCommand="/about"),
            line("c", "b", "user", text("/explain")),
            note("d", "c", "slash_command", phase="result", rawCommand="/x", sentToModel=True),
            line("e", "d", "assistant", text("Well.")),
            line("f", "e", "user", text("hum"), subtype="realtime_message"),
            line("g", "f", "user", text("A task ended."), subtype="notification"),
            line("h", "g", "user", text("Goal."), provenance="goal_control"),
        )
    )
    assert [one.preview for one in session.messages] == [
        "/explain",
        "Well.",
        "A task ended.",
        "Goal.",
    ]
    assert [one.injected for one in session.messages] == [False, False, True, True]
    assert session.left_out == {
        "commands of the client": 1,
        "state of the client": 2,
        "lines without a message": 1,
    }


SNAPSHOT = "<state_snapshot>One was weighed. " + "The scales are in the hall. " * 20
HISTORY = [
    {"role": "user", "parts": [text(SNAPSHOT)]},
    {"role": "model", "parts": [text("Got it.")]},
]
PACKED = [
    *LINES[:7],
    note("p", "n", "chat_compression", info={}, compressedHistory=HISTORY),
    line("f", "p", "user", text("And the next?")),
    *LINES[8:],
]


def test_a_compaction_replaces_what_stands_before_it() -> None:
    session = load(data(*PACKED))
    assert [one.preview for one in session.messages][:3] == [
        SNAPSHOT[:200],
        "Got it.",
        "And the next?",
    ]
    assert session.messages[0].summary == "qwen-code"
    assert [(one.at, one.line) for one in session.compactions] == [(0, 8)]
    assert session.left_out["before the last compaction"] == 5
    full = load(data(*PACKED), history="full")
    assert len(full.messages) == len(ROLES) + 1
    assert [one.at for one in full.compactions] == [4]
    assert full.messages[4].summary == "qwen-code"


# -------------------------------------------------------------------------------- recognised


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (LINES[0], "qwen-code"),
        (LINES[3], "qwen-code"),
        ({**LINES[0], "message": {"role": "user", "content": "a"}}, "claude-code"),
        ({"role": "user", "parts": [text("a")]}, "gemini-contents"),
        ({"uuid": "a", "type": "user"}, None),
        ({"uuid": "a", "sessionId": "b", "type": "system", "subtype": "init"}, None),
    ],
)
def test_recognised_by_contents_in_a_tree(record: dict[str, Any], name: str | None) -> None:
    found = recognise(data(record))
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    "broken",
    [
        line("z", "i", "user", 5, None, {"functionCall": 7}),
        {**line("z", "i", "user"), "message": {"parts": "text"}},
        {**line("z", "i", "user"), "message": 4},
        {**line("z", "i", "system"), "systemPayload": 4, "subtype": ["x"]},
        note("z", "i", "chat_compression", compressedHistory=7),
        {
            **line("z", "i", "system"),
            "subtype": "custom_title",
            "systemPayload": {"customTitle": 4},
        },
        line("z", "z", "user", text("a circle")),
        {"uuid": 4, "type": "user"},
        {**line("z", "i", "assistant", text("a")), "usageMetadata": [], "contextWindowSize": "x"},
    ],
)
def test_odd_lines_never_raise(broken: object) -> None:
    session = load(data(*LINES, broken))
    assert all(isinstance(one.parts, tuple) for one in session.messages)
    assert isinstance(render_bytes(session, "gemini-contents")[0], bytes)


def test_nothing_of_the_tool() -> None:
    with pytest.raises(SessionError, match="no line of a Qwen Code session"):
        read(QWEN, '{"a": 1}')


# ---------------------------------------------------------------------------------- writing


def test_unchanged_is_byte_for_byte_the_same() -> None:
    for lines in (LINES, PACKED):
        session = load(data(*lines))
        assert written(QWEN, session.messages, session) == data(*lines)


@pytest.mark.parametrize("lines", [LINES, PACKED], ids=["plain", "packed"])
def test_head_summary_and_recent_survive(lines: list[dict[str, Any]]) -> None:
    session = load(data(*lines))
    result = compacted(session, recent=3)
    assert result.made
    back = again(result)
    same(result, back)
    assert back.title == "Weighing"
    assert [one.summary for one in back.messages].count("compaction") == 1
    assert not [one for one in check(back.messages, "gemini") if one.level == "error"]
    twice = compacted(back, recent=1)
    same(twice, again(twice))


def test_the_replaced_stands_in_a_line_of_the_tools_own_kind() -> None:
    session = load(data(*LINES))
    new = [
        session.messages[0],
        message("user", "So far: 1.5 kg.", summary="compaction"),
        *session.messages[5:],
    ]
    out = written(QWEN, new, session).splitlines()
    title, packed, *kept = out
    assert kept == data(*LINES[8:]).splitlines()
    assert title == data(LINES[6]).strip()
    record = json.loads(packed)
    # The first kept line follows "f", so that is the line which now stands for all before it.
    assert (record["uuid"], record["parentUuid"]) == ("f", None)
    assert (record["type"], record["subtype"]) == ("system", "chat_compression")
    assert record["sessionId"] == "s-1"
    assert record["systemPayload"]["compressedHistory"] == [
        LINES[0]["message"],
        {"role": "user", "parts": [{"text": "So far: 1.5 kg."}]},
    ]


def test_a_list_without_its_beginning_begins_with_its_first_line() -> None:
    session = load(data(*LINES))
    out = written(QWEN, session.messages[4:], session).splitlines()
    assert json.loads(out[1]) == {**LINES[7], "parentUuid": None}
    same_again = load(b"\n".join(out))
    assert [one.id for one in same_again.messages] == list("fghi")


def test_all_replaced_is_one_line_and_lines_of_one_response_one_content() -> None:
    session = load(data(*LINES))
    new = [*session.messages[:3], message("user", "Done.", summary="compaction")]
    back = load(written(QWEN, new, session))
    assert [one.parts for one in back.messages] == [one.parts for one in new]


# ------------------------------------------------------------------------------- conversion


def test_to_other_formats_and_back() -> None:
    session = load(data(*LINES))
    chat, told = render_bytes(session, "openai-chat")
    assert [one.code for one in told] == ["export-thinking"]
    assert [one["role"] for one in json.loads(chat)["messages"]] == ROLES
    request, told = render_bytes(session, "gemini-contents")
    assert told == ()
    contents = json.loads(request)["contents"]
    assert contents[1]["parts"][0] == {"text": "Scales.", "thought": True}
    back = load(render_bytes(load(chat), "qwen-code")[0])
    assert back.format == "qwen-code"
    assert [one.role for one in back.messages] == ROLES
    assert back.messages[2].parts == session.messages[2].parts
    assert back.model == "qwen3-coder-plus"


# ------------------------------------------------------------------------------- real files


def test_real_sessions(shared_sessions: Path) -> None:
    folder = shared_sessions / "other-agents" / "qwen"
    session = load(folder / "019f0000-0000-7000-8000-000000000004.jsonl")
    assert session.format == "qwen-code"
    assert [one.preview for one in session.messages] == [
        "Begin the active-chain fixture.",
        "Continue from the rewound branch.",
        'read_file {"path":"/tmp/as-qwen-fixture/new-project/README.md"}',
    ]
    assert [type(part) for part in session.messages[2].parts] == [Thinking, ToolCall, Text]
    assert session.title == "Active branch title"
    assert session.left_out == {"abandoned attempts": 1, "state of the client": 2}
    same(session, again(session))
    new = [message("user", "So far.", summary="compaction"), *session.messages[1:]]
    assert load(written(QWEN, new, session)).title == "Active branch title"
    trimmed = load(folder / "system_telemetry.jsonl")
    assert [one.role for one in trimmed.messages] == ["assistant", "tool"]
    assert trimmed.left_out == {"state of the client": 6}
    same(trimmed, again(trimmed))
    new = [message("user", "So far.", summary="compaction"), *trimmed.messages]
    assert [one.role for one in load(written(QWEN, new, trimmed)).messages] == [
        "user",
        "assistant",
        "tool",
    ]
