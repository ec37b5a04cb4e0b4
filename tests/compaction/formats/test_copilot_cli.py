from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from transcripts import jsonl, same, texts

from compaction.errors import SessionError
from compaction.formats import format_named, load, recognise
from compaction.formats.copilot_cli import CopilotCli
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

COPILOT = CopilotCli()
SUMMARY = made_message("user", "What was done: “all”.", summary="compaction")
SESSIONS = Path(__file__).parents[4] / "shared" / "sessions"


class Log:
    """An event log that grows event by event, each linked to the one before."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.event("session.start", sessionId="s-1", version=1, producer="copilot-agent")

    def event(self, kind: str, agent: str = "", **data: Any) -> str:
        number = len(self.events)
        made = f"event-{number}"
        record = {
            "type": kind,
            "data": data,
            "id": made,
            "timestamp": f"2026-05-12T00:21:{number:02d}.000Z",
            "parentId": self.events[-1]["id"] if self.events else None,
        }
        self.events.append({**record, "agentId": agent} if agent else record)
        return made

    def user(self, text: str, **more: Any) -> str:
        return self.event("user.message", content=text, attachments=[], **more)

    def says(self, text: str, *calls: tuple[str, str, object], **more: Any) -> str:
        requests = [
            {"toolCallId": call, "name": name, "arguments": given, "type": "function"}
            for call, name, given in calls
        ]
        return self.event("assistant.message", content=text, toolRequests=requests, **more)

    def runs(self, call: str, name: str, output: str, **more: Any) -> None:
        self.event("tool.execution_start", toolCallId=call, toolName=name, arguments={})
        held = {"success": True, "result": {"content": output}, **more}
        self.event("tool.execution_complete", toolCallId=call, **held)

    @property
    def data(self) -> bytes:
        return jsonl(self.events)

    def load(self, **options: Any) -> Session:
        return load(self.data, **options)


def coding() -> Log:
    log = Log()
    log.event("session.model_change", newModel="gpt-5")
    log.event("system.message", role="system", content="Be exact.")
    log.user("Fix it", transformedContent="<date/>Fix it")
    log.event("assistant.turn_start", turnId="0")
    log.says("Looking.", ("c1", "bash", {"command": "ls"}), ("c2", "view", '{"path": "a"}'))
    log.runs("c1", "bash", "a.py\n")
    log.event("hook.start", hookType="preToolUse")
    log.runs("c2", "view", "", success=False, result=None, error={"message": "no such file"})
    log.event("assistant.turn_end", turnId="0")
    log.says("Done.", reasoningText="It was easy.")
    return log


def written(session: Session, messages: Sequence[Message]) -> tuple[list[dict[str, Any]], Session]:
    data = b"".join(COPILOT.write(messages, session).chunks)
    return [json.loads(line) for line in data.splitlines()], load(data)


def chained(events: Sequence[dict[str, Any]]) -> bool:
    """Whether every event but the first names one before it."""
    seen: set[object] = set()
    for number, event in enumerate(events):
        if (event["parentId"] not in seen) if number else event["parentId"] is not None:
            return False
        seen.add(event["id"])
    return True


# ------------------------------------------------------------------------------------ reading


def test_events_with_messages_are_live_and_others_are_counted() -> None:
    session = coding().load()
    assert session.format == "copilot-cli"
    assert [(one.role, one.parts) for one in session.messages] == [
        ("system", (Text("Be exact."),)),
        ("user", (Text("<date/>Fix it"),)),
        (
            "assistant",
            (
                Text("Looking."),
                ToolCall("c1", "bash", '{"command":"ls"}'),
                ToolCall("c2", "view", '{"path": "a"}'),
            ),
        ),
        ("tool", (ToolResult("c1", (Text("a.py\n"),), name="bash"),)),
        ("tool", (ToolResult("c2", (Text("no such file"),), is_error=True, name="view"),)),
        ("assistant", (Thinking("It was easy."), Text("Done."))),
    ]
    assert session.left_out == {"events of the client": 7}
    assert session.model == "gpt-5"
    assert session.messages[5].model == "gpt-5"
    assert session.messages[1].id == "event-3"
    assert session.messages[1].time == "2026-05-12T00:21:03.000Z"
    assert session.messages[1].typed


def test_the_end_of_an_older_log_says_its_output_otherwise() -> None:
    log = Log()
    log.says("", ("c1", "create", "{}"))
    log.event(
        "tool.execution_complete",
        toolCallId="c1",
        result={"result_type": "success", "text_result_for_llm": "Created"},
    )
    assert log.load().messages[1].parts == (ToolResult("c1", (Text("Created"),), name="create"),)


def test_calls_whose_output_is_not_in_the_file_are_told() -> None:
    log = Log()
    log.says("", ("c1", "create", "{}"))
    log.event("tool.execution_complete", toolCallId="c1", success=True)
    session = log.load()
    assert session.messages[1].parts == (ToolResult("c1", (), name="create"),)
    assert [one.code for one in session.problems] == ["results-not-held"]


def test_a_compaction_stands_for_what_was_there_when_it_started() -> None:
    log = coding()
    log.event("session.compaction_start", conversationTokens=90)
    log.user("And now?")
    log.event(
        "session.compaction_complete",
        success=True,
        trigger="threshold",
        summaryContent="It was fixed.",
        preCompactionTokens=900,
        postCompactionTokens=80,
    )
    log.says("Now rest.")
    session = log.load()
    assert texts(session.messages) == ["Be exact.", "It was fixed.", "And now?", "Now rest."]
    assert [one.summary for one in session.messages] == ["", "copilot", "", ""]
    assert session.left_out["before the last compaction"] == 5
    (made,) = session.compactions
    assert (made.at, made.trigger, made.before, made.after) == (1, "threshold", 900, 80)
    full = log.load(history="full")
    assert len(full.messages) == 9
    assert full.messages[full.compactions[0].at].summary == "copilot"


@pytest.mark.parametrize("held", [{"success": False, "summaryContent": "x"}, {"success": True}])
def test_a_compaction_that_made_no_summary_changes_nothing(held: dict[str, Any]) -> None:
    log = coding()
    log.event("session.compaction_complete", **held)
    assert len(log.load()) == 6


def test_results_go_with_their_calls_when_a_compaction_starts_between_them() -> None:
    log = Log()
    log.user("go")
    log.says("", ("c1", "bash", {}))
    log.event("session.compaction_start")
    log.runs("c1", "bash", "out")
    log.event("session.compaction_complete", success=True, summaryContent="All.")
    log.says("ok")
    assert texts(log.load().messages) == ["All.", "ok"]


def test_sub_agents_rewinds_and_cleared_contexts_are_not_live() -> None:
    log = Log()
    log.user("gone")
    log.event("session.context_cleared", messagesCleared=1)
    log.user("first")
    log.event("user.message", agent="sub-1", content="inside")
    log.event("assistant.message", content="inside", toolRequests=[], parentToolCallId="c9")
    back = log.user("second")
    log.says("wrong")
    log.event("session.snapshot_rewind", upToEventId=back, eventsRemoved=2)
    log.user("third")
    session = log.load()
    assert texts(session.messages) == ["first", "third"]
    assert session.left_out == {
        "before the context was cleared": 1,
        "side conversations": 2,
        "turns taken back": 2,
        "events of the client": 3,
    }
    assert texts(log.load(history="full").messages) == ["gone", "first", "second", "wrong", "third"]


def test_the_last_system_prompt_counts_and_stands_first() -> None:
    log = coding()
    log.event("system.message", role="system", content="Be quick.")
    session = log.load()
    assert texts(session.messages)[0] == "Be quick."
    assert session.left_out["system prompts replaced by a later one"] == 1


def test_usage_window_title_and_what_nobody_typed() -> None:
    log = Log()
    log.user("go on", source="skill-pdf")
    log.user("go on", isAutopilotContinuation=True)
    log.says("a")
    log.event("assistant.usage", inputTokens=900, outputTokens=7, cacheReadTokens=800)
    log.says("b")
    log.event("assistant.usage", inputTokens=10, outputTokens=7, cacheReadTokens=800)
    log.event("session.truncation", tokenLimit=64_000, messagesRemovedDuringTruncation=3)
    log.event("session.title_changed", title="Going on")
    session = log.load()
    assert [one.injected for one in session.messages] == [True, True, False, False]
    assert session.messages[2].usage == Usage(900, 7, cached=800)
    assert session.messages[3].usage == Usage(810, 7, cached=800)
    assert (session.window, session.title) == (64_000, "Going on")
    assert "3 messages" in session.problems[0].text


def test_attachments_are_media() -> None:
    log = Log()
    blob = {"type": "blob", "data": "aGVsbG8=", "mimeType": "image/png", "displayName": "p"}
    file = {"type": "file", "path": "/a/b.py", "displayName": "b.py"}
    log.event("user.message", content="see", attachments=[blob, file, 7])
    picture, named, other = log.load().messages[0].parts[1:]
    assert isinstance(picture, Media)
    assert (picture.kind, picture.size) == ("image", 5)
    assert named == Media("file", name="b.py")
    assert isinstance(other, Opaque)


def test_odd_values_never_raise() -> None:
    log = Log()
    odds: tuple[Any, ...] = (None, 7, [], {}, "x", [None], [[]])
    for odd in odds:
        log.event("user.message", content=odd, attachments=odd, transformedContent=odd)
        log.event("assistant.message", content=odd, toolRequests=odd, reasoningText=odd)
        log.event("tool.execution_complete", toolCallId=odd, result=odd, error=odd, success=odd)
        log.event("session.compaction_complete", summaryContent=odd, success=odd)
        log.event("assistant.usage", inputTokens=odd)
        log.event("session.model_change", newModel=odd)
    assert len(log.load(history="full")) > 20
    for message in log.load().messages:
        assert isinstance(message.text, str)
    with pytest.raises(SessionError, match="holds no event of a Copilot session"):
        load(b'{"a": 1}\n{"b": 2}\n', format="copilot-cli")


def test_recognised_by_its_events_and_nothing_else() -> None:
    found = recognise(coding().data)
    assert found is not None
    assert found.name == "copilot-cli"
    for other in (
        {"type": "user.message", "data": "text", "id": 1},
        {"type": "user", "message": {"role": "user", "content": "x"}, "uuid": "1"},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}},
        {"role": "user", "content": "user.message"},
    ):
        named = recognise(jsonl([other, other]))
        assert named is None or named.name != "copilot-cli"


# ------------------------------------------------------------------------------------ writing


def test_an_unchanged_session_is_the_very_file() -> None:
    session = coding().load()
    assert b"".join(COPILOT.write(session.messages, session).chunks) == session.source.data


def test_a_summary_takes_the_place_of_messages_and_the_end_keeps_its_events() -> None:
    log = coding()
    log.user("And now?")
    log.event("assistant.turn_start", turnId="1")
    log.says("", ("c3", "bash", {"command": "pwd"}))
    log.runs("c3", "bash", "/app")
    log.event("session.usage_checkpoint", totalNanoAiu=1)
    session = log.load()
    wanted = [session.messages[0], SUMMARY, *session.messages[-3:]]
    events, again = written(session, wanted)
    assert same(again, wanted)
    assert [one["type"] for one in events] == [
        "session.start",
        "session.model_change",
        "system.message",
        "user.message",
        "user.message",
        "assistant.turn_start",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_complete",
        "session.usage_checkpoint",
    ]
    assert chained(events)
    # All but the link of the first event behind the gap is as it was.
    source = {one["id"]: one for one in log.events}
    for one in events:
        if one["id"] in source:
            assert {**one, "parentId": 0} == {**source[one["id"]], "parentId": 0}


def test_a_gap_in_the_middle_drops_the_calls_that_are_gone() -> None:
    session = coding().load()
    wanted = [session.messages[1], SUMMARY, *session.messages[2:4], session.messages[5]]
    events, again = written(session, wanted)
    assert same(again, wanted)
    assert chained(events)
    assert [
        one["data"]["toolCallId"] for one in events if one["type"] == "tool.execution_start"
    ] == ["c1"]


def test_a_compacted_log_is_written_with_its_own_summary() -> None:
    log = coding()
    log.event("session.compaction_start")
    log.user("while it ran")
    log.event("session.compaction_complete", success=True, summaryContent="It was fixed.")
    log.says("Then.")
    session = log.load()
    assert texts(session.messages) == ["Be exact.", "It was fixed.", "while it ran", "Then."]
    wanted = [*session.messages[:3], SUMMARY, session.messages[3]]
    events, again = written(session, wanted)
    assert same(again, wanted)
    assert chained(events)
    assert [one["type"] for one in events].count("session.compaction_complete") == 1
    # Behind another message its event would make the tool forget that one.
    wanted = [session.messages[0], SUMMARY, *session.messages[1:]]
    events, again = written(session, wanted)
    assert same(again, wanted)
    assert chained(events)
    assert "session.compaction_complete" not in [one["type"] for one in events]


def test_a_session_of_another_format_becomes_a_log() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a":1}'}}]
    chat = {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "Be exact."},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "ok", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
            {"role": "assistant", "content": "done"},
        ],
    }
    session = load(json.dumps(chat).encode())
    events, again = written(session, session.messages)
    assert texts(again.messages) == texts(session.messages)
    assert [one.role for one in again.messages] == [one.role for one in session.messages]
    assert again.messages[2].calls == again.messages[3].results == ("c1",)
    assert again.model == "gpt-5"
    assert chained(events)
    assert written(session, session.messages)[0] == events


def test_it_converts_to_openai_chat() -> None:
    session = coding().load()
    data = b"".join(format_named("openai-chat").write(session.messages, session).chunks)
    chat = json.loads(data)["messages"]
    assert [one["role"] for one in chat] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert [call["id"] for call in chat[2]["tool_calls"]] == ["c1", "c2"]


# --------------------------------------------------------------------------------- real files

REAL = {
    "copilot-cli/agent-sessions--large.jsonl": (9, "gpt-5"),
    "copilot-cli/agent-sessions--schema_drift.jsonl": (4, "gpt-4.1"),
    "vscode-copilot/git-ai--copilot_cli_session_events.jsonl": (3, "gpt-4.1"),
    "vscode-copilot/git-ai--copilot_session_event_stream.jsonl": (4, ""),
    "vscode-copilot/git-ai--copilot_vscode_event_stream.jsonl": (5, ""),
}


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the collected session files are not here")
@pytest.mark.parametrize("name", sorted(REAL))
def test_real_logs(name: str) -> None:
    session = load(SESSIONS / name)
    assert (session.format, len(session), session.model) == ("copilot-cli", *REAL[name])
    data = b"".join(COPILOT.write(session.messages, session).chunks)
    assert data == session.source.data
    wanted = [session.messages[0], SUMMARY, *session.messages[-2:]]
    events, again = written(session, wanted)
    assert same(again, wanted)
    assert chained(events)


def test_a_summary_as_a_system_message_leaves_the_system_prompt_in_force() -> None:
    session = coding().load()
    promoted = made_message("system", "What was done: “all”.", summary="compaction")
    _, again = written(session, [session.messages[0], promoted, session.messages[-1]])
    assert [(one.role, one.text) for one in again.messages[:2]] == [
        ("system", "Be exact."), ("user", "What was done: “all”."),
    ]  # fmt: skip
