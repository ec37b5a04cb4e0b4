from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transcripts import Rollout, jsonl, said, same, texts

from compaction.errors import SessionError
from compaction.formats import load
from compaction.formats.codex import Codex
from compaction.messages import Message, Session, Text, Thinking, ToolCall, ToolResult, Usage
from compaction.messages import message as made_message

CODEX = Codex()
SUMMARY = made_message("user", "What was done: “all”.", summary="compaction")


def coding() -> Rollout:
    """A prompt with its context, reasoning, a call with its output, an answer."""
    made = Rollout()
    made.line("turn_context", {"model": "gpt-5.4", "cwd": "/app"})
    made.line("response_item", said("user", "<environment_context>\n</environment_context>"))
    made.user("Fix the parser.")
    made.item(type="reasoning", summary=[], encrypted_content="c2VhbGVk")
    made.item(type="function_call", name="shell", arguments='{"cmd":"ls"}', call_id="call_1")
    made.item(type="function_call_output", call_id="call_1", output="a.py\n")
    made.event(
        "token_count",
        info={
            "last_token_usage": {
                "input_tokens": 900,
                "cached_input_tokens": 700,
                "output_tokens": 60,
            },
            "total_token_usage": {"total_tokens": 960},
            "model_context_window": 258_400,
        },
    )
    made.says("Fixed.")
    return made


def written(session: Session, messages: list[Message]) -> tuple[list[dict[str, Any]], Session]:
    """The lines that are written for `messages`, and the session that is read from them."""
    data = b"".join(CODEX.write(messages, session).chunks)
    return [json.loads(line) for line in data.splitlines()], load(data)


# ------------------------------------------------------------------------------------ reading


def test_items_are_live_and_events_that_repeat_them_are_not() -> None:
    session = coding().load()
    assert session.format == "codex"
    assert [(each.role, each.parts) for each in session.messages] == [
        ("system", (Text("Be exact."),)),
        ("user", (Text("<environment_context>\n</environment_context>"),)),
        ("user", (Text("Fix the parser."),)),
        ("assistant", (Thinking("", sealed=8),)),
        ("assistant", (ToolCall("call_1", "shell", '{"cmd":"ls"}'),)),
        ("tool", (ToolResult("call_1", (Text("a.py\n"),)),)),
        ("assistant", (Text("Fixed."),)),
    ]
    assert session.left_out == {"events that repeat items": 3, "settings of turns": 1}
    assert [each.typed for each in session.messages[1:3]] == [False, True]
    assert session.messages[3].bound
    assert session.messages[5].tool == "shell"
    assert (session.model, session.window) == ("gpt-5.4", 258_400)


def test_usage_belongs_to_the_response_before_it() -> None:
    session = coding().load()
    told = [each.usage for each in session.messages]
    assert told[4] == Usage(900, 60, cached=700)
    assert [each for each in told if each] == [told[4]]


def test_usage_that_is_told_again_is_not_that_of_the_next_response() -> None:
    made = coding()
    info = made.records[-3]["payload"]["info"]
    made.event("token_count", info=info)
    made.event("token_count", info=None)
    assert made.load().messages[-1].usage is None


def test_the_newest_compaction_replaces_everything_before_it() -> None:
    made = coding()
    made.compacted(said("user", "old"), said("user", "older summary"))
    made.says("between")
    made.compacted(
        said("user", "Fix the parser."),
        {"type": "compaction", "encrypted_content": "x" * 320},
    )
    made.user("Go on.")
    session = made.load()
    assert [each.role for each in session.messages] == ["system", "user", "assistant", "user"]
    sealed = session.messages[2]
    assert sealed.summary == "codex"
    assert sealed.preview == "[summary, encrypted, 320 bytes]"
    assert sealed.pointer == "/payload/replacement_history/1"
    assert json.loads(session.source.raw(sealed.spans[0])) == {
        "type": "compaction",
        "encrypted_content": "x" * 320,
    }
    assert session.left_out["before the last compaction"] == 9
    assert [each.at for each in session.compactions] == [1]
    full = made.load(history="full")
    assert [each.at for each in full.compactions] == [7, 8]
    assert texts(full.messages)[-3:] == ["between", "[sealed reasoning, 320 bytes]", "Go on."]


def test_a_compaction_without_a_list_keeps_what_the_user_said_and_its_summary() -> None:
    made = coding()
    made.compacted(message="The parser was fixed.")
    made.user("Go on.")
    session = made.load()
    assert texts(session.messages)[2:] == ["Fix the parser.", "The parser was fixed.", "Go on."]
    assert session.messages[3].summary == "codex"
    assert session.messages[3].record["payload"]["message"] == "The parser was fixed."  # type: ignore[index]


def test_turns_that_were_taken_back_are_gone_also_across_a_compaction() -> None:
    made = coding()
    made.user("second")
    made.says("doing it")
    made.event("thread_rolled_back", num_turns=1)
    assert len(made.load()) == 7
    made.user("third")
    made.compacted(said("user", "sum"))
    made.says("done")
    assert texts(made.load().messages) == ["Be exact.", "sum", "done"]
    made.event("thread_rolled_back", num_turns=1)
    session = made.load()
    assert texts(session.messages)[-1] == "Fixed."
    assert len(session) == 7
    assert not session.compactions
    made.user("fourth")
    assert texts(made.load().messages)[-1] == "fourth"
    # All that was ever sent, the turns that were taken back among it.
    sent = texts(made.load(history="full").messages)
    assert [one in sent for one in ("doing it", "third", "done", "fourth")] == [True] * 4


def test_a_fork_repeats_the_first_line_of_its_origin() -> None:
    made = coding()
    made.line("session_meta", {"id": "origin", "base_instructions": {"text": "Other."}})
    made.user("more")
    session = made.load()
    assert texts(session.messages)[0] == "Be exact."
    assert len(session) == 8
    assert "forked" in {each.code for each in session.problems}


def test_flat_rollouts_of_2025() -> None:
    lines = [
        {"id": "t", "timestamp": "2025-06-01T00:00:00Z", "instructions": "Short.", "git": {}},
        {"record_type": "state"},
        said("user", "hi"),
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]
    session = load(jsonl(lines))
    assert session.format == "codex"
    assert texts(session.messages) == ["Short.", "hi", "shell {}", "ok"]
    listed = [session.messages[0], SUMMARY, *session.messages[2:]]
    assert same(written(session, listed)[1], listed)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("response_item", {"type": "message"}),
        ("response_item", {"type": 5, "content": 7}),
        ("response_item", {"type": "function_call", "arguments": {"not": "text"}}),
        ("response_item", {"type": "function_call_output", "output": None}),
        ("response_item", {"type": "tomorrow", "x": 1}),
        ("compacted", {"message": 5, "replacement_history": [None, 3, {}]}),
        ("event_msg", {"type": "thread_rolled_back", "num_turns": "2"}),
        ("event_msg", {"type": "token_count", "info": {"last_token_usage": {"input_tokens": "x"}}}),
        ("session_meta", {"id": 5}),
        ("turn_context", {"model": None}),
        ("tomorrow", {}),
    ],
)
def test_members_of_other_types_than_ever_seen_break_nothing(
    kind: str, payload: dict[str, Any]
) -> None:
    made = coding()
    made.line(kind, payload)
    made.user("after")
    session = made.load()
    assert session.messages[-1].text == "after"
    assert all(isinstance(each.text, str) for each in session.messages)


def test_a_session_of_events_alone_is_empty_and_says_so() -> None:
    made = Rollout(instructions=None)
    made.event("task_started", model_context_window=1000)
    session = made.load()
    assert len(session) == 0
    assert [each.code for each in session.problems] == ["no-messages"]
    with pytest.raises(SessionError, match="no item of a Codex session"):
        load(b'{"messages":[{"role":"user","content":"x"}]}', format="codex")


# ------------------------------------------------------------------------------------ writing


def test_unchanged_messages_are_the_very_file() -> None:
    data = coding().data() + b"\r\n{torn"
    session = load(data)
    assert b"".join(CODEX.write(session.messages, session).chunks) == data


def test_what_was_replaced_stands_in_one_line_and_the_rest_is_kept() -> None:
    made = coding()
    made.user("Now the printer.")
    made.says("Printing.")
    session = made.load()
    listed = [session.messages[0], session.messages[2], SUMMARY, *session.messages[-2:]]
    lines, again = written(session, listed)
    assert same(again, listed)
    meta, compacted, *rest = lines
    assert meta == made.records[0]
    assert compacted["type"] == "compacted"
    assert compacted["payload"]["replacement_history"] == [
        said("user", "Fix the parser."),
        said("user", "What was done: “all”."),
    ]
    # Items and the events that repeat them; nothing of what was dropped.
    assert rest == made.records[-4:]


def test_items_of_an_earlier_compaction_are_written_with_their_own_bytes() -> None:
    odd = b'{"type":"compaction", "n":1.10,"encrypted_content" : "gAAA\\u00e9"}'
    made = coding()
    made.compacted(said("user", "é"), {"type": "odd"})
    made.user("Go on.")
    session = load(made.data().replace(b'{"type":"odd"}', odd))
    listed = [*session.messages[:3], SUMMARY, session.messages[3]]
    out = b"".join(CODEX.write(listed, session).chunks)
    assert odd in out
    assert same(load(out), listed)


def test_an_item_that_moves_into_a_list_keeps_its_own_bytes() -> None:
    odd = '{"type":"message" ,"role":"user","n":1e5,"content":"é"}'.encode()
    made = coding()
    session = load(made.data() + b'{"type":"response_item","payload":' + odd + b"}\n")
    listed = [*session.messages[:1], session.messages[-1], SUMMARY]
    out = b"".join(CODEX.write(listed, session).chunks)
    assert odd in out
    assert same(load(out), listed)


def test_a_piece_without_a_first_line_gets_one() -> None:
    made = coding()
    del made.records[0]
    session = made.load()
    lines, again = written(session, [SUMMARY, *session.messages[-2:]])
    assert lines[0]["type"] == "session_meta"
    assert lines[0]["payload"]["id"]
    assert lines[0]["payload"]["model_provider"] == "openai"
    assert same(again, [SUMMARY, *session.messages[-2:]])


def test_writing_is_deterministic() -> None:
    session = coding().load()
    listed = [SUMMARY, *session.messages[-1:]]
    first, second = (b"".join(CODEX.write(listed, session).chunks) for _ in range(2))
    assert first == second


def test_messages_of_another_format_become_a_rollout() -> None:
    request = {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
        ]
    }
    chat = load(json.dumps(request).encode())
    listed = [*chat.messages[:2], SUMMARY, chat.messages[2]]
    _, again = written(chat, listed)
    assert again.format == "codex"
    assert texts(again.messages) == texts(listed)


# ---------------------------------------------------------------------------------- real data


def test_real_rollouts_survive_reading_and_writing(shared_sessions: Path) -> None:
    for path in sorted(shared_sessions.glob("codex/*.jsonl")):
        session = load(path)
        front = [each for each in session.messages[:1] if each.role == "system"]
        for start in {len(session) // 2, len(session) - 2}:
            if start > len(front):
                listed = [*front, SUMMARY, *session.messages[start:]]
                out = b"".join(CODEX.write(listed, session).chunks)
                assert same(load(out), listed), path.name


def test_real_usage_is_near_the_size_of_the_live_context(shared_sessions: Path) -> None:
    path = shared_sessions / "codex" / "git-sync--xlarge-4.1MB-2-compactions-0.118.jsonl"
    if not path.is_file():
        pytest.skip("this rollout is not among the real data")
    session = load(path)
    last = [each.usage for each in session.messages if each.usage][-1]
    # Tools and sealed reasoning are not in the text; what came before the compaction is in neither.
    assert 0.4 < sum(each.chars for each in session.messages) / 4 / last.context < 1.2


@pytest.mark.parametrize(
    ("name", "live"), [("TREE-05", 4), ("TREE-07", 6), ("TREE-11", 3), ("TREE-13", 4)]
)
def test_reported_faults_of_other_tools(name: str, live: int, shared_cases: Path) -> None:
    session = load(shared_cases / f"{name}.jsonl")
    assert session.format == "codex"
    assert len(session) == live
