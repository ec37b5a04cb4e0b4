from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import written
from round_trips import again, compacted, same

from compaction import Digest, Policy, compact, load, plan
from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats.base import Sample
from compaction.formats.pi import Pi
from compaction.messages import (
    Media,
    Opaque,
    RecordedCompaction,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    message,
)

PI = Pi()
HEADER = {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-05-01T10:00:00.000Z"}


def entry(own: str, parent: str | None, kind: str = "message", **more: object) -> dict[str, Any]:
    return {
        "type": kind,
        "id": own,
        "parentId": parent,
        "timestamp": f"2026-05-01T10:00:0{int(own[-1], 36) % 10}.000Z",
        **more,
    }


def said(name: str, parent: str | None, role: str, *content: object, **more: object) -> Any:
    return entry(name, parent, message={"role": role, "content": list(content), **more})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {"type": "toolCall", "id": name, "name": "weigh", "arguments": arguments}


def result(name: str, parent: str, of: str, words: str, **more: object) -> Any:
    return said(name, parent, "toolResult", text(words), toolCallId=of, toolName="weigh", **more)


def data(*records: object) -> bytes:
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


USAGE = {"input": 20, "output": 5, "cacheRead": 60, "cacheWrite": 10, "totalTokens": 95}
LINES = [
    HEADER,
    entry("m1", None, "model_change", provider="anthropic", modelId="claude-x"),
    said("a1", "m1", "user", text("Weigh it.")),
    said(
        "a2",
        "a1",
        "assistant",
        {"type": "thinking", "thinking": "Scales.", "thinkingSignature": "sig"},
        call("c1", parcel=1.50),
        model="claude-x",
        usage=USAGE,
        stopReason="toolUse",
    ),
    result("a3", "a2", "c1", "1.5 kg", isError=False),
    said("a4", "a3", "assistant", text("It weighs 1.5 kg."), model="claude-x", stopReason="stop"),
    entry("n1", "a4", "session_info", name="Weighing"),
    said("a5", "n1", "user", text("And the next?")),
    said("a6", "a5", "assistant", call("c2", parcel=2), model="claude-y", stopReason="toolUse"),
    result("a7", "a6", "c2", "no scales", isError=True),
    said("a8", "a7", "assistant", text("2 kg."), model="claude-y", stopReason="stop"),
]
ROLES = ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]


# ---------------------------------------------------------------------------------- reading


def test_a_session_is_read_whole() -> None:
    session = load(data(*LINES))
    assert session.format == "pi"
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[1].parts == (
        Thinking("Scales.", "sig"),
        ToolCall("c1", "weigh", '{"parcel":1.5}'),
    )
    assert session.messages[1].usage == Usage(90, 5, 60, 10)
    assert session.messages[3].usage is None
    assert session.messages[2].parts == (ToolResult("c1", (Text("1.5 kg"),), name="weigh"),)
    assert session.messages[6].parts[0] == ToolResult("c2", (Text("no scales"),), True, "weigh")
    assert (session.title, session.model) == ("Weighing", "claude-y")
    assert session.left_out == {"state of the client": 2}
    assert [one.id for one in session.messages] == [f"a{n}" for n in range(1, 9)]
    assert [one.typed for one in session.messages].count(True) == 2


def test_only_the_branch_of_the_last_entry_is_live() -> None:
    session = load(
        data(
            *LINES[:6],
            said("x1", "a4", "user", text("Wrong way.")),
            said("x2", "x1", "assistant", text("Lost.")),
            entry("b1", "a4", "branch_summary", fromId="x2", summary="A wrong way was tried."),
            said("b2", "b1", "user", text("Right way.")),
        )
    )
    assert [one.id for one in session.messages] == ["a1", "a2", "a3", "a4", "b1", "b2"]
    assert session.left_out["other branches"] == 2
    summary = session.messages[4]
    assert (summary.role, summary.summary, summary.typed) == ("user", "pi", False)
    assert "a branch that this conversation came back from" in summary.text
    assert "A wrong way was tried." in summary.text


def compaction(name: str, parent: str | None, kept: str, **more: object) -> dict[str, Any]:
    held = {"summary": "Parcel one: 1.5 kg.", "firstKeptEntryId": kept, "tokensBefore": 900}
    return entry(name, parent, "compaction", **{**held, **more})


def test_after_a_compaction_the_summary_and_what_it_kept_are_live() -> None:
    records = [*LINES, compaction("k1", "a8", "a5"), said("a9", "k1", "user", text("Go on."))]
    session = load(data(*records))
    assert [one.id for one in session.messages] == ["k1", "a5", "a6", "a7", "a8", "a9"]
    assert session.messages[0].text == (
        "The conversation history before this point was compacted into the following summary:\n\n"
        "<summary>\nParcel one: 1.5 kg.\n</summary>"
    )
    assert session.messages[0].summary == "pi"
    assert session.compactions == (RecordedCompaction(0, before=900, line=12),)
    assert session.left_out == {"before the last compaction": 4, "state of the client": 2}
    full = load(data(*records), history="full")
    assert [one.id for one in full.messages] == [
        *(f"a{n}" for n in range(1, 9)),
        "k1",
        "a9",
    ]
    assert full.compactions == (RecordedCompaction(8, before=900, line=12),)


def test_of_several_compactions_the_last_one_counts() -> None:
    records = [
        *LINES[:6],
        compaction("k1", "a4", "a4"),
        said("b1", "k1", "user", text("Next.")),
        compaction("k2", "b1", "a4", summary="All is weighed."),
        said("b2", "k2", "user", text("Thanks.")),
    ]
    session = load(data(*records))
    assert [one.id for one in session.messages] == ["k2", "a4", "b1", "b2"]
    assert session.left_out["before the last compaction"] == 4


def test_a_compaction_may_hold_what_it_kept() -> None:
    tail = [
        {"role": "user", "content": "And the next?"},
        {"role": "assistant", "content": [text("2 kg.")], "model": "claude-y"},
    ]
    held = entry("k1", "a4", "compaction", summary="One: 1.5 kg.", tokensBefore=9)
    records = [*LINES[:6], {**held, "retainedTail": tail}, said("b1", "k1", "user", text("Ok."))]
    session = load(data(*records))
    assert [one.preview for one in session.messages[1:]] == ["And the next?", "2 kg.", "Ok."]
    assert session.left_out["before the last compaction"] == 4
    back = load(written(PI, session.messages[:3], session))
    assert [one.parts for one in back.messages] == [one.parts for one in session.messages[:3]]
    # What stood inside of the compaction is copied as it is.
    assert back.messages[1].record["message"]["content"] == "And the next?"  # type: ignore[index]


def test_the_first_version_has_no_ids() -> None:
    plain = [{k: v for k, v in one.items() if k not in ("id", "parentId")} for one in LINES[1:]]
    header = {"type": "session", "id": "s", "timestamp": "2025-11-20T10:00:00Z", "modelId": "m"}
    compacted_at = {
        "type": "compaction",
        "timestamp": "2025-11-20T11:00:00Z",
        "summary": "One: 1.5 kg.",
        "firstKeptEntryIndex": 7,
        "tokensBefore": 50,
    }
    session = load(data(header, *plain, compacted_at))
    assert session.messages[0].summary == "pi"
    assert [one.preview for one in session.messages[1:3]] == ["And the next?", 'weigh {"parcel":2}']
    assert len(session) == 5
    result = compact(plan(load(data(header, *plain)), Policy(budget=1, keep_recent=2)), Digest())
    lines = [json.loads(one) for one in render_bytes(result)[0].splitlines()]
    # It counts the lines of the file from the header on.
    assert lines[-1]["firstKeptEntryIndex"] == lines.index(plain[-3])
    assert "id" not in lines[-1]
    same(result, again(result))


def test_what_is_not_sent_is_told_apart() -> None:
    failed = {"model": "m", "stopReason": "error", "errorMessage": "overloaded"}
    shell = {"role": "bashExecution", "command": "ls", "output": "scales", "exitCode": 2}
    session = load(
        data(
            HEADER,
            said("a1", None, "user", text("Go.")),
            said("a2", "a1", "assistant", text("I wi"), **failed),
            entry("a3", "a2", message={**shell, "excludeFromContext": True}),
            entry("a4", "a3", message={**shell, "truncated": True, "fullOutputPath": "/o"}),
            entry("a5", "a4", "custom", customType="x", data={"n": 1}),
            entry("a6", "a5", "custom_message", customType="x", content="Mind the step."),
            entry("a7", "a6", "surprise", n=1),
            said("a8", "a7", "assistant", text("Stopped."), call("c1"), stopReason="aborted"),
            result("a9", "a8", "c1", "none"),
        )
    )
    assert session.left_out == {
        "answers that broke off": 1,
        "commands of the client": 1,
        "state of the client": 1,
        "records of no known type": 1,
    }
    assert session.messages[1].text == (
        "Ran `ls`\n```\nscales\n```\n\nCommand exited with code 2\n\n"
        "[Output truncated. Full output: /o]"
    )
    assert session.messages[1].injected
    assert (session.messages[2].text, session.messages[2].injected) == ("Mind the step.", True)
    # An answer that broke off stays where results answer its calls.
    assert session.messages[3].preview == "Stopped."


def test_a_missing_parent_is_bridged_and_calls_may_be_parents() -> None:
    records = [
        *LINES[:4],
        {**LINES[4], "parentId": "c1"},
        {**LINES[5], "parentId": "gone"},
        said("a5", "s-1", "user", text("From the start.")),
    ]
    session = load(data(*records[:-1]))
    assert [one.role for one in session.messages] == ROLES[:4]
    assert [(one.code, one.line) for one in session.problems] == [("gap", 6)]
    assert [one.id for one in load(data(*records)).messages] == ["a5"]


def test_content_of_any_kind_is_kept() -> None:
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    odd = {"type": "hologram", "n": 1}
    session = load(
        data(
            HEADER,
            said("a1", None, "user", image, odd, "bare", 3),
            entry("a2", "a1", message={"role": "user", "content": "Plain."}),
            said("a3", "a2", "assistant", {"type": "thinking", "thinkingSignature": "sealed"}),
        )
    )
    parts = session.messages[0].parts
    assert isinstance(parts[0], Media)
    assert (parts[0].size, parts[0].mime) == (5, "image/png")
    assert parts[1] == Opaque("hologram", '{"type":"hologram","n":1}')
    assert parts[2] == Text("bare")
    assert session.messages[1].parts == (Text("Plain."),)
    assert session.messages[2].parts == (Thinking("", "sealed", 6),)


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "message"},
        {"type": "message", "id": 4, "parentId": 5, "message": []},
        {"type": "message", "id": "q", "message": {"role": 1, "content": {"type": []}}},
        {"type": "message", "id": "q", "message": {"role": ["x"], "usage": {"input": "a"}}},
        {
            "type": "compaction",
            "id": "q",
            "summary": 3,
            "firstKeptEntryId": [],
            "retainedTail": [1],
        },
        {"type": "branch_summary", "id": "q", "summary": {"x": 1}},
        {"type": "message", "id": "q", "parentId": "q", "message": {"content": [{"type": 1}]}},
        {"type": "bash", "id": "q", "timestamp": 3},
        {"type": 3, "id": "q"},
        {"type": "message", "id": "q", "message": {"role": "bashExecution", "exitCode": "a"}},
        {"type": "message", "id": "q", "message": {"role": "toolResult", "toolCallId": 3}},
    ],
)
def test_odd_entries_are_no_reason_to_fail(odd: dict[str, Any]) -> None:
    for records in ([*LINES[:4], odd, *LINES[4:]], [*LINES, odd], [HEADER, odd]):
        session = load(data(*records), format="pi")
        load(data(*records), format="pi", history="full")
        new = [message("user", "So far.", summary="compaction"), *session.messages[-1:]]
        back = load(written(PI, new, session), format="pi")
        assert [one.parts for one in back.messages] == [one.parts for one in new]


def test_a_file_without_entries_is_none() -> None:
    with pytest.raises(SessionError, match="no entry of a pi session"):
        load(b'{"a":1}\n{"b":2}\n', format="pi")


# ----------------------------------------------------------------------------- recognition


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message", "id": "m", "timestamp": "t", "message": {"role": "user"}},
        {"type": "session", "id": 4, "timestamp": "t"},
        {"type": "session_start", "id": "s", "title": "x"},
        {"type": "session.start", "id": "s", "parentId": None, "timestamp": "t", "data": {}},
        {"type": "user", "uuid": "u", "parentUuid": None, "message": {"role": "user"}},
        {"type": "session_meta", "timestamp": "t", "payload": {"id": "s"}},
    ],
)
def test_lines_of_other_tools_are_not_taken(line: dict[str, Any]) -> None:
    assert not PI.recognise(Sample(b"", lines=(line, line)))


def test_a_piece_without_its_header_is_recognised() -> None:
    session = load(data(*LINES[7:]))
    assert session.format == "pi"
    assert [one.id for one in session.messages] == ["a5", "a6", "a7", "a8"]


# --------------------------------------------------------------------------------- writing


def test_a_compacted_session_ends_with_a_compaction_entry() -> None:
    source = data(*LINES)
    result = compact(plan(load(source), Policy(budget=1, keep_recent=3)), Digest())
    out = render_bytes(result)[0]
    lines = [json.loads(one) for one in out.splitlines()]
    assert lines[0] == HEADER
    last = lines[-1]
    assert (last["type"], last["firstKeptEntryId"]) == ("compaction", "a6")
    assert last["summary"] == result.messages[0].text
    assert last["tokensBefore"] == 95
    assert len(last["id"]) == 8
    # The time of the answers before it is not later, so that what they reported is out of date.
    assert last["timestamp"] == LINES[-1]["timestamp"]
    # Each entry hangs below the one before it; where it did already, not a byte has changed.
    chain = [None, *(one["id"] for one in lines[1:])]
    assert [one["parentId"] for one in lines[1:]] == chain[:-1]
    assert source.splitlines()[-2:] == out.splitlines()[-3:-1]
    assert [one["type"] for one in lines[1:3]] == ["model_change", "session_info"]
    back = again(result)
    same(result, back)
    assert (back.title, back.model) == ("Weighing", "claude-y")
    assert back.messages[0].summary == "compaction"
    assert out == render_bytes(result)[0]


def test_a_summary_behind_the_first_message_stands_in_its_place() -> None:
    result = compacted(load(data(*LINES)), 3)
    assert [one.summary for one in result.messages] == ["", "compaction", "", "", ""]
    out = [json.loads(one) for one in render_bytes(result)[0].splitlines()]
    summary = next(one for one in out if one.get("message", {}).get("role") == "compactionSummary")
    assert summary["parentId"] == "a1"
    assert isinstance(summary["message"]["timestamp"], int)
    same(result, again(result))


def test_an_earlier_compaction_goes_on_before_what_is_left_of_the_rest() -> None:
    records = [*LINES, compaction("k1", "a8", "a5", details={"readFiles": ["/a"]})]
    session = load(data(*records))
    kept = [session.messages[0], *session.messages[3:]]
    out = written(PI, kept, session)
    last = json.loads(out.splitlines()[-1])
    assert (last["summary"], last["firstKeptEntryId"]) == ("Parcel one: 1.5 kg.", "a7")
    assert (last["details"], last["tokensBefore"]) == ({"readFiles": ["/a"]}, 900)
    back = load(out)
    assert [one.parts for one in back.messages] == [one.parts for one in kept]
    # Not even the summary needs to stay, and it may be all that stays.
    for left in (session.messages[1:], session.messages[:1]):
        back = load(written(PI, left, session))
        assert [one.parts for one in back.messages] == [one.parts for one in left]


def test_an_answer_that_broke_off_stays_only_within_the_end() -> None:
    broken = {"model": "m", "stopReason": "aborted"}
    records = [
        HEADER,
        said("a1", None, "user", text("One.")),
        said("b1", "a1", "assistant", text("O"), **broken),
        said("a2", "b1", "user", text("Two.")),
        said("a3", "a2", "assistant", text("Two it is.")),
        said("b2", "a3", "assistant", text("T"), **broken),
        said("a4", "b2", "user", text("Three.")),
    ]
    session = load(data(*records))
    new = [session.messages[0], message("user", "So far.", summary="x"), *session.messages[2:]]
    out = written(PI, new, session)
    assert b'"b2"' in out
    assert b'"b1"' not in out


def test_unchanged_is_the_very_file() -> None:
    source = b"\xef\xbb\xbf" + data(*LINES).replace(b"\n", b"\r\n") + b'{"type":"message","id":'
    session = load(source)
    assert render_bytes(session)[0] == source
    assert [one.code for one in session.problems] == ["torn-end"]


# ------------------------------------------------------------------------------ conversion


def test_to_other_formats_and_back() -> None:
    session = load(data(*LINES))
    chat, told = render_bytes(session, "openai-chat")
    assert [one.code for one in told] == ["export-thinking", "export-error-flag"]
    document = json.loads(chat)
    assert [one["role"] for one in document["messages"]] == ROLES
    document["messages"].insert(0, {"role": "system", "content": "Be brief."})
    foreign = load(json.dumps(document).encode())
    out, told = render_bytes(foreign, "pi")
    assert [one.code for one in told] == ["export-system"]
    back = load(out)
    assert (back.format, back.model) == ("pi", "claude-y")
    assert [one.role for one in back.messages] == ROLES
    assert back.messages[2].parts == session.messages[2].parts
    answer = json.loads(out.splitlines()[2])["message"]
    assert (answer["provider"], answer["api"]) == ("anthropic", "anthropic-messages")
    assert answer["stopReason"] == "toolUse"
    result = compact(plan(back, Policy(budget=1, keep_recent=2)), Digest())
    same(result, again(result))


# ------------------------------------------------------------------------------ real files

REAL = {
    "pi/before-compaction-2.4MB.jsonl": (
        439,
        {
            "before the last compaction": 546,
            "state of the client": 10,
            "answers that broke off": 7,
        },
        "claude-opus-4-5",
    ),
    "pi/large-session-974KB.jsonl": (
        892,
        {"answers that broke off": 22, "state of the client": 104},
        "claude-sonnet-4-5",
    ),
    "other-agents/openclaw/large.jsonl": (6, {"other branches": 1}, "openclaw-large"),
}


@pytest.mark.parametrize("name", REAL)
def test_real_sessions(name: str, shared_sessions: Path) -> None:
    count, left_out, model = REAL[name]
    session = load(shared_sessions / name)
    assert (session.format, len(session), session.model) == ("pi", count, model)
    assert session.left_out == left_out
    assert session.problems == ()
    assert render_bytes(session)[0] == (shared_sessions / name).read_bytes()
    same(session, again(session))
    for result in (
        compacted(session, 4),
        compact(plan(session, Policy(budget=1, keep_recent=4)), Digest()),
    ):
        same(result, again(result))


def test_ids_that_are_no_text_are_written_as_they_are() -> None:
    broken = data(HEADER, said("a1", None, "user", text("One.")), said("a2", "a1", "user"))
    source = broken.replace(b'"id":"a1"', b'"id":"\\ud800"').replace(b'Id":"a1"', b'Id":"x"')
    session = load(source + data(said("a3", "a2", "user", text("Two."))))
    back = load(written(PI, session.messages[::2], session))
    assert [one.parts for one in back.messages] == [one.parts for one in session.messages[::2]]
    assert back.problems == ()
