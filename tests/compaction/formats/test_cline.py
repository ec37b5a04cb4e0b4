from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from round_trips import again, compacted, same

from compaction import Digest, Policy, compact, load, plan
from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import recognise
from compaction.messages import (
    Media,
    RecordedCompaction,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

START = 1_780_000_000_000
MODEL = {"id": "maker/model-x", "provider": "cline", "family": "model"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "weigh", "input": given}


def result(name: str, output: object, **more: object) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": name,
        "name": "weigh",
        "content": output,
        **more,
    }


def said(role: str, *content: object, at: int = 0, **more: object) -> dict[str, Any]:
    return {"role": role, "content": list(content), "ts": START + at, **more}


def answer(*content: object, at: int = 0) -> dict[str, Any]:
    metrics = {"inputTokens": 90, "outputTokens": 5, "cacheReadTokens": 60, "cacheWriteTokens": 10}
    return said("assistant", *content, at=at, modelInfo=MODEL, metrics=metrics)


MESSAGES = [
    said("user", text("Weigh it."), {"type": "file", "path": "/p", "content": "parcel"}),
    answer({"type": "thinking", "thinking": "Hm.", "signature": "s"}, call("c1", n=1.50), at=10),
    said("user", result("c1", [{"query": "n", "result": 1.5, "success": True}]), at=20),
    answer(text("1.5 kg."), at=30),
    said("user", text("And the next?"), text("With care. " * 200), at=40),
    answer(call("c2"), at=50),
    said("user", result("c2", "no scales", is_error=True), at=60),
    answer(text("Unknown."), at=70),
]
ROLES = ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]


def sdk(*messages: object, **more: object) -> dict[str, Any]:
    return {
        "version": 1,
        "updated_at": "2026-07-01T00:00:00.000Z",
        "agent": "lead",
        "sessionId": "s-1",
        "messages": [
            {"id": f"msg_{n}", **one} if isinstance(one, dict) else one
            for n, one in enumerate(messages)
        ],
        "system_prompt": "Be exact.",
        **more,
    }


def data(document: object) -> bytes:
    return json.dumps(document, indent="\t").encode()


def read(document: object, **options: Any) -> Any:
    return load(data(document), **options)


def changed(index: int, **more: object) -> dict[str, Any]:
    return {**MESSAGES[index], **more}


# ------------------------------------------------------------------------------------- SDK


def test_a_session_of_the_sdk_is_read() -> None:
    session = read(sdk(*MESSAGES))
    assert (session.format, session.model) == ("cline", "maker/model-x")
    assert [one.role for one in session.messages] == ["system", *ROLES]
    assert session.messages[0].text == "Be exact."
    assert session.messages[1].parts == (
        Text("Weigh it."),
        Text('<file_content path="/p">\nparcel\n</file_content>'),
    )
    assert session.messages[2].parts == (
        Thinking("Hm.", "s"),
        ToolCall("c1", "weigh", '{"n":1.5}'),
    )
    assert session.messages[2].usage == Usage(90, 5, 60, 10)
    assert session.messages[3].parts == (
        ToolResult("c1", (Text('{"query":"n","result":1.5,"success":true}'),), name="weigh"),
    )
    assert session.messages[7].parts == (ToolResult("c2", (Text("no scales"),), True, "weigh"),)
    assert (session.messages[2].id, session.messages[2].time[:19]) == (
        "msg_1",
        "2026-05-28T20:26:40",
    )
    assert session.left_out == {}


def test_a_compaction_of_the_sdk_is_marked() -> None:
    metadata = {"kind": "compaction_summary", "summary": "1.5 kg.", "tokensBefore": 700}
    session = read(sdk(said("user", text("So far: 1.5 kg."), metadata=metadata), *MESSAGES[4:]))
    assert session.messages[1].summary == "cline"
    assert session.compactions == (RecordedCompaction(1, before=700, line=7),)


def test_a_compacted_session_of_the_sdk_is_written_as_its_own() -> None:
    session = read(sdk(*MESSAGES))
    result = compact(plan(session, Policy(budget=1, keep_recent=3)), Digest())
    out = render_bytes(result)[0]
    document = json.loads(out)
    assert {**document, "messages": 0} == {**sdk(), "messages": 0}
    summary = document["messages"][0]
    assert summary["metadata"]["kind"] == "compaction_summary"
    assert summary["metadata"]["summary"] == summary["content"][0]["text"]
    assert summary["metadata"]["tokensBefore"] == 95
    assert (summary["role"], summary["ts"]) == ("user", START + 49)
    assert summary["id"].startswith("msg_")
    assert document["messages"][1:] == sdk(*MESSAGES)["messages"][5:]
    # A kept message keeps its bytes, a new one is laid out as they are.
    assert data(sdk(*MESSAGES))[-600:] == out[-600:]
    assert b'\n\t\t\t"role": "user"' in out
    back = load(out)
    same(result, back)
    assert back.messages[1].summary == "compaction"
    assert back.compactions == (RecordedCompaction(1, before=95, line=7),)
    assert render_bytes(session)[0] == data(sdk(*MESSAGES))
    same(compacted(session), again(compacted(session)))


# ----------------------------------------------------------------------------------- tasks


def test_a_history_of_a_task_is_a_bare_list() -> None:
    environment = text("<environment_details>\nTime: noon\n</environment_details>")
    tokens = {"prompt": 20, "completion": 5, "cached": 70}
    session = read(
        [
            said("user", text("<task>\nWeigh it.\n</task>"), environment),
            said(
                "assistant", text("<weigh>"), metrics={"tokens": tokens}, modelInfo={"modelId": "m"}
            ),
            said("user", text("[weigh for 'a'] Result:"), text("1.5 kg"), environment),
            said("assistant", {"type": "reasoning", "text": "Hm."}, text("1.5 kg.")),
            said("user", environment),
            said("user", text("<feedback>No.</feedback>"), environment),
        ]
    )
    assert (session.format, session.model) == ("cline", "m")
    assert [one.injected for one in session.messages] == [False, False, True, False, True, False]
    assert session.messages[1].usage == Usage(90, 5, 70)
    assert session.messages[3].parts == (Thinking("Hm."), Text("1.5 kg."))
    result = compacted(session)
    out = json.loads(render_bytes(result)[0])
    assert "isSummary" not in out[1]
    assert "id" not in out[1]
    same(result, again(result))


def test_without_any_member_of_its_own_the_environment_tells() -> None:
    told = {"role": "user", "content": "<environment_details>x</environment_details>"}
    assert read([told, {"role": "assistant", "content": "ok"}]).format == "cline"
    assert read([{"role": "user", "content": "x"}, said("assistant", "y")]).format == "openai-chat"


SUMMARY = said("user", text("So far."), at=39, isSummary=True, condenseId="k")


def test_roo_starts_from_its_last_summary() -> None:
    records = [*(changed(n, condenseParent="k") for n in range(4)), SUMMARY, *MESSAGES[4:]]
    session = read(records)
    assert [one.role for one in session.messages] == ["user", *ROLES[4:]]
    assert session.messages[0].summary == "cline"
    assert session.left_out == {"before the last compaction": 4}
    assert session.compactions[0].at == 0
    full = read(records, history="full")
    assert len(full) == 9
    assert full.compactions[0].at == 4
    assert full.left_out == {}


def test_a_summary_that_leads_is_marked_as_roo_marks_it() -> None:
    records = [*(changed(n, condenseParent="k") for n in range(4)), SUMMARY, *MESSAGES[4:]]
    result = compact(plan(read(records), Policy(budget=1, keep_recent=2)), Digest())
    out = json.loads(render_bytes(result)[0])
    assert out[0]["isSummary"] is True
    assert len(out[0]["condenseId"]) == 36
    assert out[1:] == records[-len(out) + 1 :]
    same(result, again(result))
    behind = compacted(read([SUMMARY, *MESSAGES]), 2)
    assert [one.summary for one in behind.messages][:2] != ["", ""]
    same(behind, again(behind))


def test_an_older_summary_is_the_assistants_behind_the_first_message() -> None:
    summary = said("assistant", text("So far."), isSummary=True, condenseId="k")
    records = [
        MESSAGES[0],
        *(changed(n, condenseParent="k") for n in range(1, 4)),
        summary,
        *MESSAGES[4:],
    ]
    session = read(records)
    assert [one.preview for one in session.messages[:3]] == [
        "Weigh it.",
        "So far.",
        "And the next?",
    ]
    assert session.left_out == {"before the last compaction": 3}
    assert session.compactions[0].at == 1
    assert render_bytes(session)[0] == data(records)
    # What the summary replaced goes with it, since it would be sent again without it.
    result = compact(plan(session, Policy(budget=1, keep_recent=2)), Digest())
    out = json.loads(render_bytes(result)[0])
    assert not any("condenseParent" in one for one in out)
    same(result, again(result))


def test_what_roo_cut_away_and_the_results_of_it_are_not_sent() -> None:
    marker = said("user", text("[Sliding window truncation: 1 message hidden]"), at=15)
    records = [
        MESSAGES[0],
        changed(1, truncationParent="t"),
        {**marker, "isTruncationMarker": True, "truncationId": "t"},
        *MESSAGES[2:],
        said("user", text("Orphan."), truncationParent="gone"),
    ]
    session = read(records)
    assert session.left_out == {"cut away by the tool": 1, "results whose call is gone": 1}
    assert [one.preview for one in session.messages][:3] == [
        "Weigh it.",
        "[Sliding window truncation: 1 message hidden]",
        "1.5 kg.",
    ]
    assert session.messages[1].injected
    assert session.messages[-1].text == "Orphan."


# ------------------------------------------------------------------- what is no conversation


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (
            {"version": 1, "session_id": "s", "messages_path": "/a/s.messages.json"},
            "open /a/s.mess",
        ),
        ({"session_id": "s", "messages_path": None}, r"open s\.messages\.json beside it"),
        ({"files_in_context": [], "model_usage": []}, "open api_conversation_history.json"),
        ([{"ts": 1, "type": "say", "say": "text", "text": "x"}], "what Cline shows of a task"),
    ],
)
def test_files_beside_a_conversation_name_it(document: object, told: str) -> None:
    with pytest.raises(SessionError, match=told):
        read(document)


@pytest.mark.parametrize(
    "document",
    [
        {"sessionId": "s", "projectHash": "h", "messages": [], "lastUpdated": "t"},
        {"messages": MESSAGES},
        [{"role": "system", "content": "x"}, {"role": "assistant", "content": "", "modelInfo": 1}],
        [{"ts": 1, "type": "step", "step": 1}],
    ],
)
def test_other_files_are_not_taken(document: object) -> None:
    found = recognise(data(document))
    assert found is None or found.name != "cline"


@pytest.mark.parametrize(
    "odd",
    [
        3,
        None,
        {"role": "user"},
        {"role": "user", "content": {"type": 3}},
        {"role": "user", "content": [None, 4, {"type": []}, {"type": "file", "content": 3}]},
        {"role": "user", "content": [{"type": "tool_result", "content": {"a": 1}}], "ts": "x"},
        {"role": "assistant", "content": 3, "metrics": [], "modelInfo": 3, "metadata": "x"},
        {"role": "user", "content": "x", "condenseParent": {}, "truncationParent": 4, "ts": 1e300},
        {"role": "assistant", "content": "x", "metrics": {"tokens": {"prompt": "x"}}},
        {"role": "user", "content": "x", "isSummary": True, "metadata": {"kind": []}},
    ],
)
def test_odd_messages_are_no_reason_to_fail(odd: object) -> None:
    for document in (sdk(*MESSAGES, odd, *MESSAGES), [*MESSAGES, odd], [odd, *MESSAGES, SUMMARY]):
        session = load(data(document), format="cline")
        same(session, load(render_bytes(session)[0], format="cline"))
        load(data(document), format="cline", history="full")


# ------------------------------------------------------------------------------ conversion


def test_to_other_formats_and_back() -> None:
    picture = {"type": "image", "data": "aGVsbG8=", "mediaType": "image/png"}
    session = read(sdk(*MESSAGES, said("user", picture)))
    assert isinstance(session.messages[-1].parts[0], Media)
    chat, told = render_bytes(session, "openai-chat")
    assert [one.code for one in told] == ["export-thinking", "export-error-flag"]
    assert [one["role"] for one in json.loads(chat)["messages"]] == ["system", *ROLES, "user"]
    out, _ = render_bytes(load(chat), "cline")
    back = load(out)
    assert (back.format, back.model) == ("cline", "maker/model-x")
    assert [one.role for one in back.messages] == ["system", *ROLES, "user"]
    assert back.messages[2].parts == session.messages[2].parts[1:]
    assert all(isinstance(one["content"], list) for one in json.loads(out)["messages"])
    same(compacted(back), again(compacted(back)))


# ------------------------------------------------------------------------------ real files


def test_real_sessions(shared_sessions: Path) -> None:
    folder = shared_sessions / "cline"
    session = load(folder / "cline-sdk--session.messages.json")
    assert (session.format, len(session)) == ("cline", 33)
    roles = [one.role for one in session.messages]
    assert [roles.count(one) for one in ("system", "user", "assistant", "tool")] == [1, 5, 16, 11]
    assert session.messages[2].usage == Usage(34334, 741)
    assert session.model == "mistralai/voxtral-small-24b-2507"
    after = load(folder / "cline-sdk--agentic.compaction.json")
    assert [one.summary for one in after.messages] == ["", "cline", "", ""]
    assert after.compactions[0].before == 21919
    for each in (session, after):
        assert render_bytes(each)[0] == each.source.data
        same(compacted(each), again(compacted(each)))
    with pytest.raises(SessionError, match=r"no messages; open .*messages\.json"):
        load(folder / "cline-sdk--session.json")
