from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from runs import same, saved
from short_sessions import SUMMARY, lines, stays_readable, survives

from compaction.errors import SessionError
from compaction.formats import load
from compaction.formats.base import Sample
from compaction.formats.kimi import Kimi
from compaction.messages import (
    Media,
    RecordedCompaction,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)

TIME = 1_785_000_000_000
META = {"type": "metadata", "protocol_version": "1.4", "created_at": TIME}
CONFIG = {"type": "config.update", "systemPrompt": "Be exact.", "modelAlias": "m/alias"}
TOOLS = {"type": "llm.tools_snapshot", "hash": "h", "tools": [{"name": "Weigh", "parameters": {}}]}
REQUEST = {"type": "llm.request", "kind": "loop", "model": "model-x"}


def said(words: object, kind: str = "user", at: int = 0) -> dict[str, Any]:
    content = words if isinstance(words, list) else [{"type": "text", "text": words}]
    message = {"role": "user", "content": content, "toolCalls": [], "origin": {"kind": kind}}
    return {"type": "context.append_message", "message": message, "time": TIME + at}


def event(kind: str, **members: object) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **members}, "time": TIME}


def begin(step: str) -> dict[str, Any]:
    return event("step.begin", uuid=step, turnId="0", step=1)


def part(step: str, **held: object) -> dict[str, Any]:
    return event("content.part", uuid="p", stepUuid=step, part=held)


def call(step: str, name: str, **args: object) -> dict[str, Any]:
    return event("tool.call", uuid=name, stepUuid=step, toolCallId=name, name="Weigh", args=args)


def result(name: str, output: object, **more: object) -> dict[str, Any]:
    return event("tool.result", toolCallId=name, result={"output": output, **more})


def end(step: str) -> dict[str, Any]:
    usage = {"inputOther": 20, "output": 5, "inputCacheRead": 60, "inputCacheCreation": 10}
    return event("step.end", uuid=step, usage=usage, messageId=f"chat-{step}")


PROMPT = {"type": "turn.prompt", "input": [], "origin": {"kind": "user"}}
FIRST = [
    PROMPT,
    said("Weigh it."),
    begin("s1"),
    REQUEST,
    part("s1", type="think", think="Scales."),
    part("s1", type="text", text="I will."),
    call("s1", "c1", n=1.5),
    call("s1", "c2"),
    result("c1", "1.5 kg"),
    said("<system-reminder>noon</system-reminder>", "injection"),
    result("c2", [{"type": "text", "text": "no scales"}], isError=True),
    end("s1"),
    begin("s2"),
    part("s2", type="text", text="1.5 kg."),
    end("s2"),
]
SECOND = [
    PROMPT,
    said("And this?", at=9),
    begin("s3"),
    part("s3", type="text", text="2 kg."),
    end("s3"),
]
LOG = [META, CONFIG, TOOLS, *FIRST, *SECOND]
ROLES = ["system", "user", "assistant", "tool", "tool", "user", "assistant", "user", "assistant"]


def previews(*records: object, **options: Any) -> list[str]:
    return [one.preview for one in load(lines(*records), **options).messages]


def test_a_log_is_played() -> None:
    session = load(lines(*LOG))
    assert (session.format, session.model, session.tools.names) == ("kimi", "model-x", ("Weigh",))
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[0].text == "Be exact."
    step = session.messages[2]
    assert step.parts == (
        Thinking("Scales."),
        Text("I will."),
        ToolCall("c1", "Weigh", '{"n":1.5}'),
        ToolCall("c2", "Weigh", "{}"),
    )
    assert (step.usage, step.id, len(step.spans)) == (Usage(90, 5, 60, 10), "chat-s1", 6)
    assert session.messages[3].parts == (ToolResult("c1", (Text("1.5 kg"),)),)
    assert session.messages[4].parts == (ToolResult("c2", (Text("no scales"),), True),)
    # What was put in while calls were open stands behind their results.
    assert session.messages[5].preview.startswith("<system-reminder>")
    assert [one.injected for one in session.messages if one.role == "user"] == [False, True, False]
    assert session.left_out == {}


def compaction(**more: object) -> dict[str, Any]:
    held = {"summary": "So far.", "compactedCount": 6, "tokensBefore": 900, "tokensAfter": 90}
    return {"type": "context.apply_compaction", **held, **more}


def test_a_compaction_keeps_what_people_said() -> None:
    applied = compaction(contextSummary="Go on. So far.", keptUserMessageCount=1)
    records = [META, CONFIG, *FIRST, applied, *SECOND]
    session = load(lines(*records))
    assert [one.preview for one in session.messages] == [
        "Be exact.",
        "Weigh it.",
        "Go on. So far.",
        "And this?",
        "2 kg.",
    ]
    assert session.messages[2].summary == "kimi"
    assert session.left_out == {"before the last compaction": 5}
    assert session.compactions == (RecordedCompaction(2, before=900, after=90, line=18),)
    full = load(lines(*records), history="full")
    assert (len(full), full.compactions[0].at, full.left_out) == (10, 7, {})
    out = survives(session, 2, 2)
    assert b"apply_compaction" not in out
    # A summary of the tool that stays is a message of its own.
    kept = session.messages[1:4]
    assert same(load(saved(session, kept)).messages, kept)
    assert load(saved(session, kept)).messages[1].summary == "kimi"


def test_an_older_compaction_replaces_the_first_messages() -> None:
    records = [META, *FIRST, compaction(compactedCount=5), *SECOND]
    assert previews(*records) == ["So far.", "1.5 kg.", "And this?", "2 kg."]
    all_gone = [META, *FIRST, compaction(compactedCount=99)]
    assert previews(*all_gone) == ["So far."]


def test_of_many_kept_ones_the_first_and_the_last_stay() -> None:
    people = [said(words) for words in ("a", "b", "c", "d")]
    applied = compaction(compactedCount=4, keptUserMessageCount=3, keptHeadUserMessageCount=1)
    assert previews(META, *people, applied) == ["a", "c", "d", "So far."]


def test_what_was_cleared_or_taken_back_is_gone() -> None:
    cleared = load(lines(META, *FIRST, {"type": "context.clear"}, *SECOND))
    assert [one.preview for one in cleared.messages] == ["And this?", "2 kg."]
    assert cleared.left_out == {"before the conversation was cleared": 6}
    undone = load(lines(*LOG, {"type": "context.undo", "count": 1}))
    assert [one.role for one in undone.messages] == ROLES[:-2]
    assert undone.left_out == {"taken back by the user": 2}
    assert len(load(lines(*LOG, {"type": "context.undo", "count": 9}))) == 1


def test_a_step_that_said_nothing_is_no_message() -> None:
    session = load(lines(META, said("hi"), begin("s1"), said("stop"), begin("s2")))
    assert [one.preview for one in session.messages] == ["hi", "stop"]
    assert session.left_out == {"empty messages": 2}


def test_shortened_results_are_told() -> None:
    session = load(lines(*LOG, {"type": "micro_compaction.apply", "cutoff": 3}))
    assert [one.code for one in session.problems] == ["micro-compaction"]


def test_a_log_that_is_written_leaves_what_was_written() -> None:
    session = load(lines(*LOG))
    out = [json.loads(one) for one in survives(session, 2, 2).splitlines()]
    assert out[:3] == [META, CONFIG, TOOLS]
    assert out[3] == said("Weigh it.")
    assert out[4]["message"] == {
        "toolCalls": [],
        "role": "user",
        "content": [{"type": "text", "text": SUMMARY.text}],
        "origin": {"kind": "compaction_summary"},
    }
    assert out[5:] == SECOND[1:]
    for few in (session.messages[1:], session.messages[2:5], session.messages[:3]):
        assert same(load(saved(session, few)).messages, few)


def test_only_the_last_system_prompt_is_written() -> None:
    newer = {"type": "profile.bind", "systemPrompt": "Be brief.", "modelAlias": "m/alias"}
    session = load(lines(*LOG, newer))
    assert session.messages[0].text == "Be brief."
    out = survives(session, 1, 2)
    assert out.count(b"systemPrompt") == 1
    without = load(saved(session, session.messages[1:]))
    assert same(without.messages, session.messages[1:])


def test_to_other_formats_and_back() -> None:
    picture = {"type": "image_url", "imageUrl": {"url": "data:image/png;base64,aGVsbG8="}}
    session = load(lines(*LOG, said([picture])))
    assert isinstance(session.messages[-1].parts[0], Media)
    chat = load(saved(session, form="openai-chat"))
    back = load(saved(chat, form="kimi"))
    assert (back.format, back.model) == ("kimi", "model-x")
    assert [one.role for one in back.messages] == [*ROLES, "user"]
    assert back.messages[2].parts == session.messages[2].parts[1:]
    assert same(back.messages[5:], session.messages[5:])
    survives(back, 2, 3)


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "metadata", "version": 1}],
        [{"type": "turn.prompt", "input": []}],
        [{"type": "context.append_message", "message": "x"}],
        [{"type": "message", "message": {"role": "user"}}],
    ],
)
def test_other_files_are_not_taken(records: list[object]) -> None:
    assert not Kimi().recognise(Sample(b"", lines=tuple(records)))


def test_a_file_without_records_is_none() -> None:
    with pytest.raises(SessionError, match="no record of a Kimi Code session"):
        load(b'{"a":1}\n', format="kimi")


@pytest.mark.parametrize(
    "odd",
    [
        {"type": 3},
        {"type": "context.append_message", "message": {"role": 3, "content": {"type": []}}},
        {"type": "context.append_message", "message": {"role": "assistant", "toolCalls": [4]}},
        {"type": "context.append_message", "message": {"role": "tool", "origin": 4}},
        {"type": "context.append_loop_event", "event": {"type": [], "uuid": []}},
        event("content.part", stepUuid="nowhere", part=3),
        event("tool.call", stepUuid="s1", toolCallId=3, args=[1]),
        event("tool.result", toolCallId=3, result=[{"type": 4}]),
        event("step.end", uuid="s1", usage={"output": "x"}),
        {"type": "context.apply_compaction", "summary": 4, "compactedCount": -1},
        {"type": "context.undo", "count": "x"},
        {"type": "config.update", "systemPrompt": 4},
        {"type": "llm.tools_snapshot", "tools": "trimmed"},
        said("x") | {"time": "x"},
    ],
)
def test_odd_records_are_no_reason_to_fail(odd: dict[str, Any]) -> None:
    stays_readable(lines(*LOG[:9], odd, *LOG[9:]), "kimi")
    stays_readable(lines(*LOG, odd), "kimi")


def test_real_logs(shared_sessions: Path) -> None:
    folder = shared_sessions / "other-agents" / "kimi"
    session = load(folder / "assistant_tools.jsonl")
    assert (session.format, session.model) == ("kimi", "kimi-k2.7-code")
    assert [one.role for one in session.messages] == ["system", *["user"] * 9]
    assert session.messages[-1].summary == "kimi"
    assert session.left_out == {"before the last compaction": 48}
    assert session.compactions == (RecordedCompaction(9, before=15912, after=654, line=198),)
    full = load(folder / "assistant_tools.jsonl", history="full")
    roles = [one.role for one in full.messages]
    assert [roles.count(one) for one in ("user", "assistant", "tool")] == [14, 22, 19]
    assert sum(one.usage is not None for one in full.messages) == 22
    survives(session, 2, 3)
    cancelled = load(folder / "small.jsonl")
    assert [one.preview for one in cancelled.messages][1:] == ["hi", "hi", "stop"]
    assert cancelled.left_out == {"empty messages": 2}
    assert len(cancelled.tools.names) == 2
    survives(cancelled, 1, 1)
