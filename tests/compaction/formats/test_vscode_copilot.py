from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import SHARED, compacted, opened, saved
from transcripts import jsonl, texts

from compaction.errors import ExportError, SessionError
from compaction.formats import load, recognise
from compaction.formats.vscode_copilot import VsCodeCopilot
from compaction.messages import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResult, Usage

CHATS = VsCodeCopilot()


def call(call_id: str, name: str = "read_file", given: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": given}


def round_(text: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": f"round-{text}", "response": text, "toolCalls": list(calls), **more}


def request(
    said: str, *rounds: dict[str, Any], results: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    about = more.pop("metadata", {})
    held = {"toolCallRounds": list(rounds), "toolCallResults": results or {}, **about}
    made = {
        "requestId": f"request_{said}",
        "message": {"text": said, "parts": []},
        "response": [{"value": f"as shown: {said}"}],
        "result": {"timings": {}, "metadata": held},
        "timestamp": 1_759_845_073_835,
        "modelId": "copilot/claude-sonnet-4",
    }
    return {**made, **more}


def chat(*requests: object, **more: Any) -> dict[str, Any]:
    return {
        "version": 3,
        "requesterUsername": "dev",
        "responderUsername": "GitHub Copilot",
        "requests": list(requests),
        **more,
    }


def told(text: str) -> dict[str, Any]:
    return {"content": [{"$mid": 23, "value": text}]}


def tree(*leaves: tuple[str, bool]) -> dict[str, Any]:
    children = [{"type": 2, "text": text, "lineBreakBefore": broken} for text, broken in leaves]
    inner = {"type": 1, "ctor": 2, "children": children, "props": {}}
    node = {"type": 1, "ctor": 2, "children": [inner], "props": {}}
    return {"content": [{"$mid": 23, "value": {"node": node}}]}


# -------------------------------------------------------------------------------------- chats


def test_rounds_are_what_the_model_saw_and_the_response_is_what_is_shown() -> None:
    session = opened(
        chat(
            request(
                "Fix it",
                round_(
                    "Looking.",
                    call("c1__vscode-17", given='{"path": "a"}'),
                    thinking={"text": "Hm."},
                ),
                round_("Done."),
                results={"c1__vscode-17": tree(("1: x", False), ("2: y", True), (" end", False))},
            ),
            customTitle="Fixing",
        )
    )
    assert session.format == "vscode-copilot"
    assert [(one.role, one.parts) for one in session.messages] == [
        ("user", (Text("Fix it"),)),
        (
            "assistant",
            (Thinking("Hm."), Text("Looking."), ToolCall("c1", "read_file", '{"path": "a"}')),
        ),
        ("tool", (ToolResult("c1", (Text("1: x\n2: y end"),), name="read_file"),)),
        ("assistant", (Text("Done."),)),
    ]
    assert session.left_out == {"shown on the screen only": 1}
    assert (session.title, session.model) == ("Fixing", "claude-sonnet-4")
    assert session.messages[1].model == "claude-sonnet-4"
    assert session.messages[0].id == "request_Fix it"
    assert session.messages[0].time == "2025-10-07T13:51:13.835000+00:00"
    assert session.messages[0].typed


def test_the_message_as_it_was_rendered_counts() -> None:
    rendered = [{"type": 1, "text": "<context/>Fix it"}, {"type": 3, "cacheType": "ephemeral"}]
    image = [{"type": 2, "imageUrl": {"url": "data:image/png;base64,aGk="}}, {"type": 9}]
    about = {
        "renderedUserMessage": [*rendered, *image],
        "renderedGlobalContext": [{"type": 1, "text": "<environment_info/>"}],
    }
    session = opened(chat(request("Fix it", round_("ok"), metadata=about)))
    assert texts(session.messages[:1]) == ["<environment_info/>"]
    assert [one.injected for one in session.messages] == [True, False, False]
    text, picture, other = session.messages[1].parts
    assert text == Text("<context/>Fix it")
    assert isinstance(picture, Media)
    assert isinstance(other, Opaque)


def test_without_rounds_the_answer_is_what_is_shown() -> None:
    shown = [
        {"kind": "thinking", "value": "Hm."},
        {"value": "See "},
        {"kind": "inlineReference", "inlineReference": {"path": "/a/b.py", "scheme": "file"}},
        {"kind": "inlineReference", "name": "run", "inlineReference": {}},
        {"kind": "markdownContent", "content": {"value": "!"}},
        {"kind": "toolInvocationSerialized", "toolCallId": "c", "toolId": "t"},
        {"kind": "undoStop"},
    ]
    session = opened(chat({**request("hi"), "result": {}, "response": shown}))
    assert session.messages[1].parts == (Thinking("Hm."), Text("See b.pyrun!"))
    assert session.left_out == {"shown on the screen only": 2}


def test_what_was_cancelled_or_taken_back_is_not_sent() -> None:
    session = opened(
        chat(
            request("stop", round_("half"), isCanceled=True),
            request("back", round_("no"), shouldBeRemovedOnSend={"requestId": "x"}),
            request("fails", response=[], result={"errorDetails": {"message": "rate limit"}}),
            request("last", round_("yes")),
        )
    )
    assert texts(session.messages) == ["stop", "fails", "last", "yes"]
    assert session.left_out == {
        "cancelled responses": 1,
        "turns taken back": 1,
        "error notices": 1,
        "shown on the screen only": 1,
    }


def test_a_summary_stands_for_all_up_to_its_round() -> None:
    document = chat(
        request(
            "first",
            round_("r1", call("c1")),
            results={"c1": told("out")},
            metadata={"renderedGlobalContext": [{"type": 1, "text": "context"}]},
        ),
        request("second", round_("r2"), round_("r3")),
        request(
            "third",
            round_("r4"),
            metadata={"summary": {"toolCallRoundId": "round-r2", "text": "It was so."}},
        ),
    )
    session = opened(document)
    assert texts(session.messages) == ["context", "It was so.", "r3", "third", "r4"]
    assert session.messages[1].summary == "copilot"
    assert session.messages[1].role == "user"
    assert [one.at for one in session.compactions] == [1]
    assert session.left_out["before the last compaction"] == 5
    full = opened(document, history="full")
    assert texts(full.messages)[5:] == ["r2", "It was so.", "r3", "third", "r4"]
    assert [one.at for one in full.compactions] == [6]
    assert full.messages[6].summary == "copilot"


def test_results_that_came_with_the_next_request_stand_before_it() -> None:
    session = opened(
        chat(
            request("go", round_("", call("c1"))),
            request("continue", round_("ok"), results={"c1": told("late")}),
        )
    )
    assert [one.role for one in session.messages] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]
    assert session.messages[1].calls == session.messages[2].results == ("c1",)


def test_usage_and_the_model_that_was_chosen() -> None:
    about = {"promptTokens": 900, "outputTokens": 7, "resolvedModel": "gpt-5"}
    session = opened(chat(request("a", round_("b"), round_("c"), metadata=about)))
    assert [one.usage for one in session.messages] == [None, None, Usage(900, 7)]
    assert session.model == "gpt-5"
    other = {"usage": {"promptTokens": 5, "completionTokens": 6}, "metadata": {}}
    session = opened(chat({**request("a"), "result": other}))
    assert session.messages[1].usage == Usage(5, 6)


def test_odd_values_never_raise() -> None:
    odds: list[Any] = [None, 7, "x", [], {}, [None], [{}], [{"content": 7}]]
    requests: list[Any] = [*odds]
    for odd in odds:
        requests.append(dict.fromkeys(("requestId", "message", "response", "result"), odd))
        requests.append({**request("a", round_("b")), "modelId": odd, "timestamp": odd})
        keys = ("renderedUserMessage", "renderedGlobalContext", "summary", "summaries")
        about = dict.fromkeys((*keys, "resolvedModel", "promptTokens"), odd)
        requests.append(request("a", round_("b"), metadata=about))
        requests.append(request("a", metadata={"toolCallRounds": odd, "toolCallResults": odd}))
        strange = {"id": odd, "response": odd, "toolCalls": odd, "thinking": odd, "summary": odd}
        requests.append(request("a", strange, results={"c": odd, "d": {"content": odd}}))
        requests.append(request("a", round_("b", {"id": odd, "name": odd, "arguments": odd})))
    session = opened(chat(*requests, customTitle=7))
    assert len(session) > 30
    assert all(isinstance(one.text, str) for one in session.messages)


# --------------------------------------------------------------------------------------- logs


def test_a_log_is_played_to_its_end() -> None:
    first = chat(request("first", round_("one")))
    session = load(
        jsonl(
            [
                {"kind": 0, "v": first},
                {"kind": 1, "k": ["customTitle"], "v": "Named"},
                {"kind": 2, "k": ["requests"], "v": [request("gone"), request("gone too")]},
                {"kind": 2, "k": ["requests"], "i": 1, "v": [{"requestId": "r", "message": "x"}]},
                {"kind": 1, "k": ["requests", 1, "message"], "v": {"text": "second"}},
                {"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "ans"}]},
                {"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "wer"}]},
                {"kind": 3, "k": ["requests", 0, "result"]},
                {"kind": 1, "k": ["inputState"]},
            ]
        )
    )
    assert session.format == "vscode-copilot"
    assert texts(session.messages) == ["first", "as shown: first", "second", "answer"]
    assert session.title == "Named"
    assert not session.problems


def test_changes_that_cannot_be_made_are_told() -> None:
    lines: list[Any] = [
        {"kind": 0, "v": chat(request("first", round_("one")))},
        {"kind": 1, "k": ["requests", 7, "message"], "v": 1},
        {"kind": 1, "k": [], "v": 1},
        {"kind": 1, "k": 7},
        {"kind": 2, "k": ["version"], "v": [1]},
        {"kind": 2, "k": ["requests"], "v": 5},
        {"kind": 9, "k": ["requests", 0], "v": 5},
        {"kind": 1, "k": ["requests", "x"], "v": 5},
        {"kind": 3, "k": ["requests", True]},
    ]
    session = load(jsonl(lines))
    assert texts(session.messages) == ["first", "one"]
    assert [one.code for one in session.problems].count("no-operation") == 8
    with pytest.raises(SessionError, match="holds no requests"):
        load(jsonl([{"kind": 0, "v": {"requests": 5}}, {"kind": 0}]), format="vscode-copilot")


# ------------------------------------------------------------------------------------ replays


def part(text: str) -> list[dict[str, Any]]:
    return [{"type": 1, "text": text}, {"type": 3, "cacheType": "ephemeral"}]


def logged(name: str, *messages: dict[str, Any], answer: object = "ok") -> dict[str, Any]:
    function = {"name": "create_file", "description": "d", "parameters": {"type": "object"}}
    about = {
        "model": "claude-sonnet-4",
        "maxPromptTokens": 120_000,
        "maxResponseTokens": 16_000,
        "usage": {
            "prompt_tokens": 900,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 800},
        },
        "tools": [{"type": "function", "function": function}],
    }
    return {
        "id": name,
        "kind": "request",
        "metadata": about,
        "requestMessages": {"messages": list(messages)},
        "response": {"type": "success", "message": [answer]},
    }


def test_of_a_replay_the_last_request_is_shown() -> None:
    sent = [
        {"role": 0, "content": part("Be exact.")},
        {"role": 1, "content": part("Make it.")},
    ]
    made = {"id": "t1", "type": "function", "function": {"name": "create_file", "arguments": "{}"}}
    more = [
        {"role": 2, "content": part("I will."), "toolCalls": [made]},
        {"role": 3, "content": part("made"), "toolCallId": "t1"},
    ]
    tool = {
        "id": "t2__vscode-17",
        "kind": "toolCall",
        "tool": "read_file",
        "args": '{"a":1}',
        "response": ["one", "two"],
    }
    replay = {
        "exportedAt": "2025-10-31T16:05:45.798Z",
        "prompts": [
            {"prompt": "Make it.", "logs": [{"kind": "element"}, logged("r1", *sent, answer="I")]},
            {"prompt": "And read.", "logs": [logged("r2", *sent, *more), tool]},
        ],
    }
    session = opened(replay)
    assert [(one.role, one.parts) for one in session.messages] == [
        ("system", (Text("Be exact."),)),
        ("user", (Text("Make it."),)),
        ("assistant", (Text("I will."), ToolCall("t1", "create_file", "{}"))),
        ("tool", (ToolResult("t1", (Text("made"),)),)),
        ("assistant", (Text("ok"),)),
        ("assistant", (ToolCall("t2", "read_file", '{"a":1}'),)),
        ("tool", (ToolResult("t2", (Text("one"), Text("two")), name="read_file"),)),
    ]
    assert session.messages[3].tool == "create_file"
    assert session.messages[4].usage == Usage(900, 7, cached=800)
    assert session.tools.names == ("create_file",)
    assert (session.title, session.window) == ("And read.", 136_000)
    assert session.left_out == {"other requests": 1}
    assert [one.code for one in session.problems] == ["growing-log"]
    assert [one.id for one in session.conversations] == ["r1", "r2"]
    assert texts(opened(replay, conversation="1").messages) == ["Be exact.", "Make it.", "I"]
    assert texts(opened(replay, conversation="r1").messages)[-1] == "I"


def test_a_replay_without_messages_is_an_error() -> None:
    empty = {"prompts": [{"prompt": "x", "logs": [{"kind": "request"}, {"kind": "element"}]}]}
    with pytest.raises(SessionError, match="logs no request with messages"):
        opened(empty)


def test_odd_replays_never_raise() -> None:
    odds: list[Any] = [None, 7, "x", [], {}, [None]]
    for odd in odds:
        strange = {"role": odd, "content": odd, "toolCalls": odd, "toolCallId": odd}
        log = logged("r", strange, {"role": 1, "content": "hi"}, {"role": 3, "content": [odd]})
        log |= {"response": odd, "metadata": odd, "id": odd}
        tool = {"kind": "toolCall", "id": odd, "tool": odd, "args": odd, "response": odd}
        session = opened({"prompts": [odd, {"prompt": odd, "logs": [odd, log, tool]}]})
        assert all(isinstance(one.text, str) for one in session.messages)


# ------------------------------------------------------------------------------------ writing


def test_it_is_written_as_chat_and_never_as_itself() -> None:
    session = opened(
        chat(
            request("a", round_("b")),
            request("Fix it", round_("", call("c1")), round_("d"), results={"c1": told("out")}),
        )
    )
    with pytest.raises(ExportError, match="can only be read"):
        CHATS.write(session.messages, session)
    messages: list[Message] = compacted(session)
    again = opened(json.loads(saved(session, messages)))
    assert texts(again.messages) == texts(messages)
    assert again.messages[-2].results == ("c1",)


@pytest.mark.parametrize(
    "other",
    [
        {"requests": [{"method": "GET", "url": "/"}]},
        {"requests": []},
        {"prompts": [{"prompt": "x", "logs": []}]},
        {"prompts": ["a", "b"]},
        {"kind": 0, "v": {}},
        {"kind": 0, "v": {"requests": 7}},
        {"kind": False, "v": {"requests": []}},
    ],
)
def test_documents_of_others_are_not_taken(other: dict[str, Any]) -> None:
    found = recognise(json.dumps(other).encode())
    assert found is None or found.name != "vscode-copilot"


# --------------------------------------------------------------------------------- real files

REAL = {
    "git-ai--copilot_session_simple.jsonl": (11, 2, {"shown on the screen only": 20}),
    "vscode-copilot-chat--spec.chatreplay.json": (10, 2, {"other requests": 3}),
}


@pytest.mark.skipif(
    not (SHARED / "vscode-copilot").is_dir(), reason="no collected sessions are here"
)
@pytest.mark.parametrize("name", sorted(REAL))
def test_real_chats(name: str) -> None:
    session = load(SHARED / "vscode-copilot" / name)
    count, calls, left_out = REAL[name]
    assert (session.format, len(session), session.left_out) == ("vscode-copilot", count, left_out)
    assert sum(len(one.calls) for one in session.messages) == calls
    assert sum(len(one.results) for one in session.messages) == calls
    again = opened(json.loads(saved(session)))
    assert texts(again.messages) == texts(session.messages)


def test_bytes_that_are_no_utf_8_shift_nothing() -> None:
    data = json.dumps(chat(request("first", round_("one")), request("second", round_("two"))))
    session = load(data.encode().replace(b"first", b"fir\xfft"))
    assert texts(session.messages) == ["fir\ufffdt", "one", "second", "two"]
    assert [one.code for one in session.problems] == ["not-utf-8"]
