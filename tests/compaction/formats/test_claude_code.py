from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import Transcript, call, jsonl, same, text, texts

from compaction.errors import SessionError
from compaction.formats import load
from compaction.formats.claude_code import ClaudeCode
from compaction.formats.claude_code_body import CLEARED
from compaction.messages import (
    Message,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    describe,
    message,
)

CLAUDE_CODE = ClaudeCode()


def coding() -> Transcript:
    """A prompt, a response over three lines with a result between them, an answer."""
    made = Transcript()
    made.user("Fix the parser.")
    made.says(
        "msg_1",
        {"type": "thinking", "thinking": "Read first.", "signature": "sig=="},
        output=3,
    )
    made.says("msg_1", text("I will read both files."), output=3)
    made.says("msg_1", call("Read", "toolu_a", file_path="/a.py"), output=3)
    made.result("toolu_a", "a = 1")
    made.says("msg_1", call("Read", "toolu_b", file_path="/b.py"), output=90)
    made.result("toolu_b", [text("b = 2")])
    made.says("msg_2", text("Both are fine."))
    return made


def written(session: Session, messages: list[Message]) -> tuple[list[dict[str, Any]], Session]:
    """The lines that are written for `messages`, and the session that is read from them."""
    data = b"".join(CLAUDE_CODE.write(messages, session).chunks)
    return [json.loads(line) for line in data.splitlines()], load(data)


# ------------------------------------------------------------------------------------ reading


def test_the_lines_of_one_response_are_one_message_and_its_results_follow_it() -> None:
    session = coding().load()
    assert [each.role for each in session.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    response = session.messages[1]
    assert response.parts == (
        Thinking("Read first.", "sig=="),
        Text("I will read both files."),
        ToolCall("toolu_a", "Read", '{"file_path":"/a.py"}'),
        ToolCall("toolu_b", "Read", '{"file_path":"/b.py"}'),
    )
    assert [span.line for span in response.spans] == [2, 3, 4, 6]
    assert [each.results for each in session.messages[2:4]] == [("toolu_a",), ("toolu_b",)]
    assert session.messages[3].parts == (ToolResult("toolu_b", (Text("b = 2"),)),)
    assert session.model == "claude-opus-4-6"
    assert session.messages[0].typed


def test_usage_of_a_response_is_that_of_its_last_line_and_counts_the_cache_once() -> None:
    assert coding().load().messages[1].usage == Usage(1050, 90, cached=1000, written=40)


def test_what_is_known_without_parsing_is_what_the_parts_say() -> None:
    for each in coding().load().messages:
        parsed = describe(each, each.parts)
        assert (each.preview, each.chars, each.calls, each.results, each.kinds, each.tool) == (
            parsed.preview,
            parsed.chars,
            parsed.calls,
            parsed.results,
            parsed.kinds,
            parsed.tool,
        )


def test_the_record_is_exact() -> None:
    made = Transcript()
    made.user("go")
    made.says("msg_1", call("Run", "t", big=12345678901234567890123))
    data = made.data().replace(b'"big":1', b'"n":1.10,"big":1')
    response = load(data).messages[1]
    assert response.parts == (ToolCall("t", "Run", '{"n":1.10,"big":12345678901234567890123}'),)
    zero = load(made.data().replace(b"12345678901234567890123", b"-0")).messages[1]
    assert zero.parts == (ToolCall("t", "Run", '{"big":-0}'),)


def test_records_that_are_not_sent_are_counted_by_reason() -> None:
    made = coding()
    made.line("system", subtype="turn_duration", durationMs=5)
    made.line("progress", data={"type": "bash_progress"})
    made.line("attachment", attachment={"type": "task_reminder"})
    made.says("msg_3", text("API Error: 529"), isApiErrorMessage=True)
    made.line("assistant", message={"model": "<synthetic>", "content": [text("No response.")]})
    made.user("only shown", isVisibleInTranscriptOnly=True)
    made.user("side", isSidechain=True)
    made.bare(type="file-history-snapshot", messageId="x")
    made.bare(type="queue-operation", operation="enqueue", sessionId="s")
    made.bare(type="tomorrow", sessionId="s")
    made.bare(kind="?")
    session = made.load()
    assert len(session) == 5
    assert session.left_out == {
        "shown on the screen only": 2,
        "progress display": 1,
        "attachments rendered when sent": 1,
        "error notices": 2,
        "side conversations": 1,
        "file history": 1,
        "prompt queue": 1,
        "records of type 'tomorrow'": 1,
        "records of no known type": 1,
    }


def test_injected_and_queued_user_lines_are_sent() -> None:
    made = Transcript()
    made.user("Base directory for this skill: …", isMeta=True)
    made.user("<command-name>/compact</command-name>")
    made.user("[Request interrupted by user]")
    made.user("typed")
    made.line("attachment", attachment={"type": "queued_command", "prompt": "and quickly"})
    session = made.load()
    assert [each.injected for each in session.messages] == [True, True, True, False, False]
    assert [each.typed for each in session.messages] == [False, False, False, True, True]
    assert session.messages[4].text == "and quickly"


def test_a_result_beside_text_is_one_user_message_with_results() -> None:
    made = Transcript()
    made.user("go")
    made.says("msg_1", call("Ask", "t"))
    made.user([{"type": "tool_result", "tool_use_id": "t", "content": "no"}, text("stop that")])
    last = made.load().messages[2]
    assert (last.role, last.results, last.typed) == ("user", ("t",), False)


def test_only_what_follows_the_last_boundary_is_live() -> None:
    made = coding()
    made.boundary(preTokens=100)
    made.summary("Earlier: the parser was read.")
    made.user("Go on.")
    made.boundary(preTokens=155_000)
    made.summary("Earlier: all was read.")
    made.says("msg_9", text("Going on."))
    session = made.load()
    assert texts(session.messages) == ["Earlier: all was read.", "Going on."]
    assert session.messages[0].summary == "claude-code"
    assert not session.messages[0].typed
    assert session.left_out["before the last compaction"] == 7
    assert [(each.at, each.before) for each in session.compactions] == [(0, 155_000)]
    full = made.load(history="full")
    assert len(full) == 9
    assert [(each.at, each.before, each.trigger) for each in full.compactions] == [
        (5, 100, "auto"),
        (7, 155_000, "auto"),
    ]
    assert full.history == "full"


def test_no_result_goes_back_over_a_compaction() -> None:
    made = Transcript()
    made.user("go")
    made.says("msg_1", call("Read", "t"))
    made.boundary()
    made.summary("Sum.")
    made.result("t", "late")
    full = made.load(history="full")
    assert texts(full.messages) == ["go", "Read {}", "Sum.", "late"]
    assert [each.at for each in full.compactions] == [2]
    assert texts(made.load().messages) == ["Sum.", "late"]


@pytest.mark.parametrize("anchored", [True, False])
def test_messages_carried_over_a_boundary_stay_where_it_anchors_them(anchored: bool) -> None:
    made = Transcript()
    made.user("one")
    first = made.says("msg_1", call("Read", "t"))
    made.line("progress", data={})
    last = made.result("t", "content")
    made.user("two")
    segment = {"headUuid": first, "tailUuid": last}
    if anchored:
        segment["anchorUuid"] = f"line-{len(made.records)}"
    made.boundary(preservedSegment=segment)
    made.summary("Sum.")
    made.user("three")
    carried = ["Read {}", "content"]
    session = made.load()
    front, back = (carried, []) if anchored else ([], carried)
    assert texts(session.messages) == [*front, "Sum.", *back, "three"]
    assert session.left_out["before the last compaction"] == 2


def test_messages_carried_one_by_one() -> None:
    made = Transcript()
    kept = made.user("one")
    made.user("two")
    made.boundary(preservedMessages={"uuids": [kept]})
    made.summary("Sum.")
    assert texts(made.load().messages) == ["Sum.", "one"]


def test_outputs_that_the_tool_cleared_are_cleared() -> None:
    made = Transcript()
    made.user("go")
    made.says("msg_1", call("Read", "a"), call("Read", "b"))
    results = [{"type": "tool_result", "tool_use_id": name, "content": name * 500} for name in "ab"]
    made.user(results)
    made.line(
        "system",
        subtype="microcompact_boundary",
        microcompactMetadata={"compactedToolIds": ["a"], "tokensSaved": 300},
    )
    made.user("next")
    session = made.load()
    assert session.messages[2].parts == (
        ToolResult("a", (Text(CLEARED),), cleared=True),
        ToolResult("b", (Text("b" * 500),)),
    )
    assert session.messages[2].chars == len(CLEARED) + 500
    assert made.load(history="full").messages[2].chars == 1000
    rewritten = written(
        session, [message("user", "S", summary="compaction"), *session.messages[1:]]
    )
    assert same(rewritten[1], rewritten[1].messages)
    assert rewritten[1].messages[2].parts == session.messages[2].parts


def test_a_prompt_that_was_edited_and_sent_again_abandons_the_first_attempt() -> None:
    made = Transcript()
    made.user("start")
    parent = made.says("msg_1", text("ready"))
    made.user("do x")
    made.says("msg_2", text("doing x"))
    made.last = parent
    made.user("do y")
    made.says("msg_3", text("doing y"))
    assert texts(made.load().messages) == ["start", "ready", "do y", "doing y"]
    assert made.load().left_out == {"abandoned attempts": 2}
    assert len(made.load(history="full")) == 6


def test_results_of_parallel_calls_with_one_parent_are_no_attempts() -> None:
    made = Transcript()
    made.user("go")
    parent = made.says("msg_1", call("Read", "a"), call("Read", "b"))
    made.result("a", "1")
    made.last = parent
    made.result("b", "2")
    assert len(made.load()) == 4


def test_lines_written_twice_are_used_once() -> None:
    made = coding()
    once = made.load()
    made.records += made.records[:5]
    again = json.loads(json.dumps(made.records[1]))
    again["uuid"] = "another"
    made.records.append(again)
    session = made.load()
    assert same(session, once.messages)
    assert session.left_out == {"written twice": 6}
    assert "duplicates" in {each.code for each in session.problems}


def test_equal_texts_are_no_duplicates() -> None:
    made = Transcript()
    for _ in range(2):
        made.user("yes", timestamp="2026-03-01T10:00:00.000Z")
        made.says(f"msg_{len(made.records)}", text("ok"), text("ok"))
    session = made.load()
    assert len(session) == 4
    assert session.messages[1].parts == (Text("ok"), Text("ok"))


def test_a_file_of_nothing_but_side_lines_is_that_of_an_agent() -> None:
    made = Transcript()
    made.user("Search the code.", isSidechain=True)
    made.says("msg_1", call("Grep", "t"), isSidechain=True)
    made.result("t", "found", isSidechain=True)
    session = made.load()
    assert len(session) == 3
    assert session.model == "claude-opus-4-6"
    assert not session.left_out
    _, again = written(session, [SUMMARY, session.messages[2]])
    assert same(again, [SUMMARY, session.messages[2]])
    made.user("main")
    assert texts(made.load().messages) == ["main"]
    assert made.load().left_out == {"side conversations": 3}


def test_titles() -> None:
    made = Transcript()
    made.bare(type="summary", summary="Another file", leafUuid="elsewhere")
    leaf = made.user("hi")
    assert made.load().title == ""
    made.bare(type="summary", summary="This file", leafUuid=leaf)
    assert made.load().title == "This file"
    made.bare(type="ai-title", aiTitle="By the model", sessionId="s")
    assert made.load().title == "By the model"
    made.bare(type="custom-title", customTitle="By hand", sessionId="s")
    made.bare(type="ai-title", aiTitle="Again by the model", sessionId="s")
    assert made.load().title == "By hand"


def test_only_bookkeeping_is_an_empty_session_that_says_so() -> None:
    session = load(jsonl([{"type": "summary", "summary": "x", "leafUuid": "y"}]))
    assert (session.format, len(session)) == ("claude-code", 0)
    assert [each.code for each in session.problems] == ["no-messages"]
    with pytest.raises(SessionError, match="no line of a Claude Code transcript"):
        load(b'{"messages":[{"role":"user","content":"x"}]}', format="claude-code")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"},
        {"type": "user", "uuid": "u", "message": 5},
        {"type": "user", "uuid": "u", "message": {"content": [None, 3, {"type": 7}, {}]}},
        {"type": "assistant", "uuid": "u", "message": {"id": 5, "content": 9, "usage": [1]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": "x"}]}},
        {"type": "assistant", "message": {"content": "t", "usage": {"input_tokens": "1"}}},
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": 3},
        {"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": 3},
        {"type": "attachment", "attachment": None},
        {"type": ["user"]},
    ],
)
def test_members_of_other_types_than_ever_seen_break_nothing(record: dict[str, Any]) -> None:
    made = coding()
    made.bare(**record)
    made.user("after")
    session = made.load()
    assert session.messages[-1].text == "after"
    for each in session.messages:
        assert isinstance(each.text, str)


# ------------------------------------------------------------------------------------ writing

SUMMARY = message("user", "What was done: “all”.", summary="compaction")


def test_unchanged_messages_are_the_very_file() -> None:
    data = coding().data().replace(b"\n", b"\r\n") + b"torn {"
    session = load(data)
    assert b"".join(CLAUDE_CODE.write(session.messages, session).chunks) == data


def test_a_replaced_beginning_is_a_boundary_and_a_summary_that_the_tool_resumes() -> None:
    made = coding()
    made.user("Now the printer.")
    made.says("msg_3", text("Printing."))
    session = made.load()
    kept = list(session.messages[4:])
    lines, again = written(session, [SUMMARY, *kept])
    boundary, summary, answer, prompt, last = lines
    assert same(again, [SUMMARY, *kept])
    assert [each.summary for each in again.messages] == ["claude-code", "", "", ""]
    assert (boundary["subtype"], boundary["parentUuid"]) == ("compact_boundary", None)
    assert boundary["compactMetadata"] == {"trigger": "manual", "preTokens": 1100}
    assert summary["isCompactSummary"] is summary["isVisibleInTranscriptOnly"] is True
    assert summary["parentUuid"] == boundary["uuid"]
    for line in (boundary, summary):
        for key in ("sessionId", "cwd", "version", "gitBranch"):
            assert line[key] == made.records[0][key]
    assert (summary["type"], summary["message"]["role"]) == ("user", "user")
    # The first kept line answers the summary now; nothing else of it changed, nor of the others.
    assert {**answer, "parentUuid": "line-6"} == made.records[7]
    assert answer["parentUuid"] == summary["uuid"]
    assert [prompt, last] == made.records[8:]
    assert list(answer) == list(made.records[7])


def test_kept_lines_keep_every_byte_but_the_parent() -> None:
    made = coding()
    odd = b'{"parentUuid" : "line-5",\t"uuid":"odd", "type":"user", "n":1.10,"sessionId":"s",'
    odd += b'"big":123456789012345678901,"message":{"content":"'
    odd += 'é ✓ \\u00e9 \\ud83d"}}'.encode()
    session = load(made.data() + odd + b"\n")
    chunks = CLAUDE_CODE.write([SUMMARY, session.messages[-1]], session).chunks
    last = b"".join(chunks).splitlines()[-1]
    parent = json.loads(last)["parentUuid"]
    assert last == odd.replace(b'"line-5"', json.dumps(parent).encode())


def test_writing_is_deterministic() -> None:
    session = coding().load()
    first, second = (
        b"".join(CLAUDE_CODE.write([SUMMARY, *session.messages[4:]], session).chunks)
        for _ in range(2)
    )
    assert first == second


def test_every_parent_in_what_is_written_stands_before_its_child() -> None:
    made = coding()
    made.line("progress", data={})
    made.user("Now the printer.")
    made.line("attachment", attachment={"type": "task_reminder"})
    made.says("msg_3", text("Printing."))
    session = made.load()
    for dropped in range(1, len(session)):
        lines, _ = written(session, [*session.messages[:1], SUMMARY, *session.messages[dropped:]])
        known: set[str | None] = {None}
        for line in lines:
            assert line["parentUuid"] in known
            known.add(line["uuid"])


def test_two_kept_prompts_never_become_attempts_at_one_another() -> None:
    made = Transcript()
    root = made.user("root")
    made.user("first")
    made.says("msg_1", text("done"))
    made.last = root
    made.user("second", parentUuid=root)
    full = made.load(history="full")
    kept = [full.messages[0], full.messages[1], SUMMARY, full.messages[3]]
    _, again = written(full, kept)
    assert same(again, kept)


def test_a_summary_may_stand_behind_kept_messages() -> None:
    session = coding().load()
    listed = [session.messages[0], SUMMARY, session.messages[4]]
    assert same(written(session, listed)[1], listed)


def test_messages_of_another_format_become_a_transcript() -> None:
    chat = load(
        jsonl(
            [
                {
                    "messages": [
                        {"role": "user", "content": "hi"},
                        {"role": "assistant", "content": "hello"},
                    ]
                }
            ]
        )
    )
    listed = [*chat.messages, SUMMARY, message("assistant", "on")]
    _, again = written(chat, listed)
    assert again.format == "claude-code"
    assert texts(again.messages) == texts(listed)
    assert [each.summary for each in again.messages] == ["", "", "claude-code", ""]


def test_numbers_that_json_has_not_are_written_as_null() -> None:
    data = coding().data().replace(b'"file_path":"/b.py"', b'"file_path":NaN')
    session = load(data)
    whole = CLAUDE_CODE.write(session.messages, session)
    part = CLAUDE_CODE.write([SUMMARY, *session.messages[1:]], session)
    for each in (whole, part):
        out = b"".join(each.chunks)
        assert b"NaN" not in out
        assert b'"file_path":null' in out
        assert [finding.code for finding in each.findings] == ["export-no-json"]


def test_bytes_that_are_no_utf_8_stay() -> None:
    data = coding().data().replace(b"Both are fine", b"Both \xff fine")
    session = load(data)
    assert session.messages[-1].text == "Both � fine."
    out = b"".join(CLAUDE_CODE.write([SUMMARY, session.messages[-1]], session).chunks)
    assert b"Both \xff fine" in out
    assert load(out).messages[-1].text == "Both � fine."


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Transcript, list[bool]]:
    """A transcript of some turns, and for each of its groups whether it is kept."""
    made, kept = Transcript(), []
    for turn in range(draw(st.integers(1, 5))):
        made.user(f"prompt {turn}", isMeta=draw(st.booleans()))
        kept.append(draw(st.booleans()))
        for _ in range(draw(st.integers(0, 2))):
            name = f"m{len(made.records)}"
            calls = [f"{name}-{n}" for n in range(draw(st.integers(0, 3)))]
            blocks = [text(name), *(call("Run", one, at=one) for one in calls)]
            for block in blocks:
                made.says(name, block)
                if draw(st.booleans()):
                    made.line("progress", data={})
            for one in draw(st.permutations(calls)):
                made.result(one, f"output of {one}")
            kept.append(draw(st.booleans()))
        if draw(st.integers(0, 9)) == 0:
            made.boundary()
            made.summary("Earlier.")
            kept = [True]
    return made, kept


@given(sessions(), st.data())
def test_what_is_written_is_what_is_read_whatever_is_kept(
    drawn: tuple[Transcript, list[bool]], data: st.DataObject
) -> None:
    made, keep = drawn
    session = made.load()
    groups: list[list[Message]] = []
    for each in session.messages:
        if each.results:
            groups[-1].append(each)
        else:
            groups.append([each])
    assert len(groups) == len(keep)
    chosen = [group for group, wanted in zip(groups, keep, strict=True) if wanted]
    chosen.insert(data.draw(st.integers(0, len(chosen))), [SUMMARY])
    listed = [each for group in chosen for each in group]
    lines, again = written(session, listed)
    assert same(again, listed)
    changed = [{**line, "parentUuid": None} for line in lines if line["uuid"].startswith("line-")]
    assert all(line in [{**one, "parentUuid": None} for one in made.records] for line in changed)


# ---------------------------------------------------------------------------------- real data


def test_real_transcripts_survive_reading_and_writing(shared_sessions: Path) -> None:
    for path in sorted(shared_sessions.glob("claude-code*/**/*.jsonl")):
        session = load(path)
        # Never between a call and its result: a result alone may go with a later call of its id.
        cuts = [i for i, each in enumerate(session.messages) if i and not each.results]
        for start in {*cuts[len(cuts) // 2 :][:1], *cuts[-1:]}:
            listed = [SUMMARY, *session.messages[start:]]
            out = b"".join(CLAUDE_CODE.write(listed, session).chunks)
            assert same(load(out), listed), path.name


def test_real_transcripts_leave_few_calls_open(shared_sessions: Path) -> None:
    calls = unanswered = 0
    for path in sorted(shared_sessions.glob("claude-code/**/*.jsonl")):
        session = load(path, history="full")
        made = {one for each in session.messages for one in each.calls}
        answered = {one for each in session.messages for one in each.results}
        calls += len(made)
        unanswered += len(made - answered)
        for each in session.messages:
            parsed = describe(each, each.parts)
            assert (each.calls, each.results, each.kinds) == (
                parsed.calls,
                parsed.results,
                parsed.kinds,
            )
    assert calls > 1000
    # Walking the parents would leave one in twenty open.
    assert unanswered < calls / 200


@pytest.mark.parametrize(
    ("name", "live"),
    [
        ("TREE-01", 6),
        ("TREE-02", 4),
        ("TREE-04", 3),
        ("TREE-08", 4),
        ("TREE-10", 4),
        ("TREE-14", 4),
        ("PAR-05", 4),
        ("LOAD-01", 4),
        ("LOAD-02", 3),
        ("LOAD-04", 2),
        ("LOAD-05", 2),
        ("LOAD-07", 2),
        ("LOAD-08", 3),
        ("LOAD-17", 2),
    ],
)
def test_reported_faults_of_other_tools(name: str, live: int, shared_cases: Path) -> None:
    session = load(shared_cases / f"{name}.jsonl")
    assert session.format == "claude-code"
    assert len(session) == live


def test_blocks_of_a_response_with_a_type_that_is_no_text_are_kept() -> None:
    made = Transcript()
    made.user("one")
    blocks = [{"type": ["odd"], "id": "a"}, {"type": ["odd"], "id": "b"}]
    for block in (*blocks, blocks[0]):
        made.line("assistant", message={"id": "m", "role": "assistant", "content": [block]})
    session = load(jsonl(made.records))
    assert session.messages[1].kinds == {"opaque"}
    assert len(session.messages[1].parts) == 2


def test_the_thought_of_a_response_shows_until_there_is_other_text() -> None:
    made = Transcript()
    thought = {"type": "thinking", "thinking": " deep "}
    made.line("assistant", message={"id": "m", "role": "assistant", "content": [thought]})
    assert load(jsonl(made.records)).messages[0].preview == "deep"
    said = {"type": "text", "text": "shown"}
    made.line("assistant", message={"id": "m", "role": "assistant", "content": [said]})
    assert load(jsonl(made.records)).messages[0].preview == "shown"


def test_reported_usage(shared_cases: Path) -> None:
    streamed = load(shared_cases / "TOK-19.jsonl").messages[-1]
    cached = load(shared_cases / "TOK-17.jsonl").messages[-1]
    assert streamed.usage is not None
    assert streamed.usage.output == 427
    assert cached.usage is not None
    assert cached.usage.context == 1050
