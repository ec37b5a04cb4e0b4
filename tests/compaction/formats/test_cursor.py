from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from transcripts import jsonl, same, texts

from compaction.compacting import compact_with_text
from compaction.formats import format_named, load, recognise
from compaction.formats.cursor import Cursor
from compaction.messages import Session, Text, Thinking, ToolCall, ToolResult
from compaction.messages import message as made_message
from compaction.planning import plan
from compaction.policy import Policy

CURSOR = Cursor()
SUMMARY = made_message("user", "What was done: “all”.", summary="compaction")
SESSIONS = Path(__file__).parents[4] / "shared" / "sessions" / "cursor"


def line(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def result(call_id: str, said: str) -> dict[str, Any]:
    held = {"type": "tool_result", "content": [text(said)]}
    return {**held, "tool_use_id": call_id} if call_id else held


CODING = [
    line("user", text("<user_info>\nmacOS\n</user_info>")),
    line("user", text("<user_query>\nFix it\n</user_query>")),
    line("assistant", {"type": "thinking", "thinking": "Hm."}, call("Shell", command="ls")),
    line("user", result("t1", "a.py")),
    line("assistant", text("Reading."), call("Read", path="a"), call("Read", path="a")),
    line("assistant", text("Done.")),
]


def reread(session: Session, messages: list[Any]) -> tuple[bytes, Session]:
    data = b"".join(CURSOR.write(messages, session).chunks)
    return data, load(data)


def test_lines_are_messages_and_calls_get_the_ids_of_their_results() -> None:
    session = load(jsonl(CODING))
    assert session.format == "cursor"
    assert [(one.role, one.parts) for one in session.messages[:4]] == [
        ("user", (Text("<user_info>\nmacOS\n</user_info>"),)),
        ("user", (Text("<user_query>\nFix it\n</user_query>"),)),
        ("assistant", (Thinking("Hm."), ToolCall("t1", "Shell", '{"command":"ls"}'))),
        ("tool", (ToolResult("t1", (Text("a.py"),)),)),
    ]
    assert [one.typed for one in session.messages[:2]] == [False, True]
    first, second = session.messages[4].calls
    assert first.startswith("Read-")
    assert first != second
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", one) for one in (first, second))
    assert not session.problems


def test_results_without_ids_answer_the_calls_before_them_in_order() -> None:
    session = load(
        jsonl(
            [
                line("user", text("go")),
                line("assistant", call("A"), call("B")),
                line("user", result("", "of a"), result("", "of b")),
                line("assistant", call("A")),
            ]
        )
    )
    assert session.messages[1].calls == session.messages[2].results
    assert session.messages[3].calls[0] not in session.messages[1].calls


def test_made_ids_do_not_depend_on_what_stands_before() -> None:
    assert load(jsonl(CODING)).messages[4].calls == load(jsonl(CODING[4:])).messages[0].calls


def test_transcripts_without_results_say_so() -> None:
    session = load(jsonl([line("user", text("go")), line("assistant", call("Read", path="a"))]))
    assert [one.code for one in session.problems] == ["results-not-held"]
    assert session.problems[0].text.startswith("1 tool call")


def test_written_with_the_bytes_of_what_is_kept() -> None:
    data = jsonl(CODING).replace(b'"role":"assistant"', b'"role" : "assistant"')
    session = load(data)
    assert reread(session, list(session.messages))[0] == data
    wanted = [session.messages[1], SUMMARY, *session.messages[-2:]]
    written, again = reread(session, wanted)
    assert same(again, wanted)
    lines = data.splitlines()
    assert written.splitlines()[0] == lines[1]
    assert written.splitlines()[2:] == lines[-2:]
    assert json.loads(written.splitlines()[1]) == line("user", text(SUMMARY.text))


def test_compacted_and_read_again() -> None:
    talk = [line("user", text(f"q{n} " + "word " * 200)) for n in range(20)]
    session = load(jsonl([*talk, *CODING]))
    made = compact_with_text(
        plan(session, Policy(budget=3000, keep_recent=4)), "Questions were asked."
    )
    assert made.summary is not None
    _, again = reread(session, list(made.messages))
    assert same(again, made.messages)


def test_sessions_of_other_formats_become_transcripts_and_back() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a":1}'}}]
    chat = {
        "messages": [
            {"role": "system", "content": "Be exact."},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "ok", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        ]
    }
    session = load(json.dumps(chat).encode())
    written = CURSOR.write(session.messages, session)
    again = load(b"".join(written.chunks))
    assert texts(again.messages) == ["go", 'ok\nls {"a":1}', "a.py"]
    assert [one.code for one in written.findings] == ["export-system"]
    back = b"".join(format_named("openai-chat").write(again.messages, again).chunks)
    assert [one["role"] for one in json.loads(back)["messages"]] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "user", "role": "user", "message": {"content": []}},
        {"role": "user", "message": {"role": "user", "content": []}},
        {"role": "user", "message": "text"},
        {"role": "bubble", "message": {"content": []}},
        {"role": ["user"], "message": {"content": []}},
        {"role": "user", "content": "text"},
    ],
)
def test_lines_of_others_are_not_taken(other: dict[str, Any]) -> None:
    found = recognise(jsonl([other, other]))
    assert found is None or found.name != "cursor"


def test_odd_values_never_raise() -> None:
    odds: list[Any] = [None, 7, "x", [], [None], [{"type": "tool_use"}], [{"type": "tool_result"}]]
    lines = [{"role": "user", "message": {"content": odd}} for odd in odds]
    session = load(jsonl([*CODING, *lines, *CODING]))
    assert len(session) == 2 * len(CODING) + 5
    assert all(isinstance(one.text, str) for one in session.messages)


REAL = {
    "agent-sessions--cursor-large.jsonl": (10, ["t1", "t2"], 2),
    "git-ai--cursor-session-simple.jsonl": (11, [], 0),
}


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="the collected session files are not here")
@pytest.mark.parametrize("name", sorted(REAL))
def test_real_transcripts(name: str) -> None:
    session = load(SESSIONS / name)
    count, ids, results = REAL[name]
    assert (session.format, len(session)) == ("cursor", count)
    assert [call for one in session.messages for call in one.calls if call in ids] == ids
    assert sum(len(one.results) for one in session.messages) == results
    data, again = reread(session, list(session.messages))
    assert data == session.source.data
    wanted = [session.messages[0], SUMMARY, *session.messages[-3:]]
    assert same(reread(session, wanted)[1], wanted)
    assert same(again, session.messages)
