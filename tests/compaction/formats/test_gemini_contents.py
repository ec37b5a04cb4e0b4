from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_documents import raw, read, written
from round_trips import again, compacted, same

from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import load, recognise
from compaction.formats.gemini_contents import GeminiContents
from compaction.messages import Media, Text, Thinking, ToolCall, ToolResult, Usage, message
from compaction.validity import check

GEMINI = GeminiContents()


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text} for text in texts]}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def call(name: str, args: dict[str, Any], **signed: str) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}, **signed}


def answers(*named: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": name, "response": response}} for name, response in named
        ],
    }


CONTENTS = [
    user("Weigh both."),
    model(
        {"text": "Two scales.", "thought": True},
        call("weigh", {"parcel": 1}, thoughtSignature="c2lnLTE="),
        call("weigh", {"parcel": 2}),
    ),
    answers(("weigh", {"kg": 1.50}), ("weigh", {"output": "2 kg"})),
    model({"text": "1.5 and 2 kg.", "thoughtSignature": "c2lnLTI="}),
    user("And the third?"),
    model(call("weigh", {"parcel": 3}, thoughtSignature="c2lnLTM=")),
    answers(("weigh", {"error": "no such parcel"})),
    model({"text": "There is none."}),
]
SYSTEM = {"parts": [{"text": "You run a depot."}]}
TOOLS = [
    {
        "functionDeclarations": [
            {
                "name": "weigh",
                "description": "Weighs a parcel.",
                "parameters": {
                    "type": "OBJECT",
                    "properties": {
                        "parcel": {"type": "INTEGER", "nullable": True},
                        "type": {"type": "STRING", "enum": ["STRING"]},
                    },
                },
            }
        ],
        "googleSearch": {},
    }
]


def doc(**around: object) -> str:
    return json.dumps({"systemInstruction": SYSTEM, "contents": CONTENTS, **around}, indent=2)


# ---------------------------------------------------------------------------------- reading


def test_a_request_is_read_whole() -> None:
    session = read(GEMINI, doc(tools=TOOLS))
    assert [one.role for one in session.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert session.messages[0].parts == (Text("You run a depot."),)
    assert session.messages[2].parts == (
        Thinking("Two scales."),
        Thinking("", "c2lnLTE=", 8),
        ToolCall("weigh#1", "weigh", '{"parcel":1}'),
        ToolCall("weigh#2", "weigh", '{"parcel":2}'),
    )
    assert session.messages[3].parts == (
        ToolResult("weigh#1", (Text('{"kg":1.5}'),), name="weigh"),
        ToolResult("weigh#2", (Text("2 kg"),), name="weigh"),
    )
    failed = session.messages[7].parts[0]
    assert isinstance(failed, ToolResult)
    assert (failed.text, failed.is_error) == ("no such parcel", True)
    assert session.tools.names == ("weigh",)
    assert session.problems == ()


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        (json.dumps(CONTENTS[:2]), ["user", "assistant"]),
        (json.dumps({"contents": ["Hello.", model({"text": "Hi."})]}), ["user", "assistant"]),
        (json.dumps({"history": CONTENTS[:2], "authType": "x"}), ["user", "assistant"]),
        (json.dumps({"contents": [{"parts": [{"text": "a"}]}]}), ["user"]),
        ("\n".join(json.dumps(one) for one in CONTENTS[:4]), ["user", "assistant", "tool"] * 1),
        (json.dumps({"request": {"contents": CONTENTS[:1], "systemInstruction": SYSTEM}}), None),
    ],
)
def test_the_wrappings_that_contents_come_in(text: str, roles: list[str] | None) -> None:
    found = recognise(text.encode())
    assert found is not None
    assert found.name == "gemini-contents"
    session = read(GEMINI, text)
    got = [one.role for one in session.messages]
    assert got[: len(roles)] == roles if roles else got == ["system", "user"]


def test_an_answer_brings_its_usage_and_model() -> None:
    response = {
        "candidates": [{"content": model({"text": "Hi."}), "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 120,
            "candidatesTokenCount": 7,
            "thoughtsTokenCount": 30,
            "cachedContentTokenCount": 100,
        },
        "modelVersion": "gemini-3-pro",
    }
    session = read(GEMINI, json.dumps(response))
    assert [one.role for one in session.messages] == ["assistant"]
    assert session.messages[0].usage == Usage(120, 37, 100)
    assert session.model == "gemini-3-pro"
    logged = read(GEMINI, json.dumps({"request": {"contents": [user("a")]}, "response": response}))
    assert [one.role for one in logged.messages] == ["user", "assistant"]
    assert logged.messages[1].usage == Usage(120, 37, 100)
    assert logged.model == "gemini-3-pro"


def test_several_requests_one_a_line() -> None:
    lines = [json.dumps({"key": str(n), "request": {"contents": [user(f"q{n}")]}}) for n in (1, 2)]
    session = read(GEMINI, "\n".join(lines))
    assert [one.preview for one in session.messages] == ["q1"]
    assert len(session.conversations) == 2
    second = read(GEMINI, "\n".join(lines), conversation="2")
    assert [one.preview for one in second.messages] == ["q2"]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": [{"role": "user", "parts": [{"type": "text", "text": "a"}]}]},
        [{"role": "user", "parts": [{"type": "text", "text": "a"}]}],
        [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "a"}]}],
        {"contents": [1, 2]},
        {"contents": {"a": 1}},
        {"contents": "Hello."},
        {"contents": ["Hello."]},
        {"contents": [], "title": "A book"},
        {"history": [{"role": "user", "content": "a"}]},
        {"parts": [{"text": "a"}]},
        {"candidates": [{"name": "A. Person"}]},
        {"role": "agent", "parts": [{"kind": "text", "text": "a"}]},
    ],
)
def test_look_alikes_are_left_to_others(value: object) -> None:
    found = recognise(json.dumps(value).encode())
    assert found is None or found.name != "gemini-contents"


@pytest.mark.parametrize(
    "contents",
    [
        [user("a"), 7, None, {"x": 1}, model({"text": "b"})],
        [user("a"), {"role": 5, "parts": [{"text": "b"}]}],
        [user("a"), {"role": "model", "parts": [7, None, {"text": "b"}]}],
        [user("a"), {"role": "model", "parts": [{"functionCall": 4}, {"text": "b"}]}],
    ],
)
def test_broken_contents_are_read_as_far_as_they_go(contents: list[object]) -> None:
    session = read(GEMINI, json.dumps({"contents": contents}))
    assert len(session) == 2
    assert session.messages[1].parts[-1] == Text("b")


def test_nothing_to_read() -> None:
    assert len(load(b'{"systemInstruction": {"parts": [{"text": "a"}]}, "contents": []}')) == 1
    assert [one.code for one in load(b'{"contents": []}').problems] == ["no-messages"]
    with pytest.raises(SessionError, match="holds no messages"):
        read(GEMINI, '{"contents": [{"x": 1}]}')


# ---------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    "text", [doc(), json.dumps(CONTENTS), json.dumps({"contents": CONTENTS}, separators=(",", ":"))]
)
def test_unchanged_is_byte_for_byte_the_same(text: str) -> None:
    session = read(GEMINI, text)
    assert written(GEMINI, session.messages, session) == text.encode()


def test_head_summary_and_recent_survive_with_their_bytes() -> None:
    session = read(GEMINI, doc())
    result = compacted(session, recent=3)
    assert result.made
    back = again(result)
    same(result, back)
    assert [one.summary for one in back.messages if one.summary] == ["compaction"]
    # The signature of the last call stands on its own part, in its own bytes.
    assert raw(back)[-4:] == raw(session)[-4:] or raw(back)[-3:] == raw(session)[-3:]
    kept = {bytes_ for bytes_ in raw(session) if b"c2lnLTM=" in bytes_}
    assert kept <= set(raw(back))
    assert [one.code for one in check(back.messages, "gemini") if one.level != "info"] == []


def test_a_summary_is_a_user_content() -> None:
    session = read(GEMINI, json.dumps(CONTENTS))
    new = [message("user", "So far: two parcels.", summary="compaction"), *session.messages[5:]]
    out = json.loads(written(GEMINI, new, session))
    assert out[0] == {"role": "user", "parts": [{"text": "So far: two parcels."}]}
    assert out[1:] == CONTENTS[5:]


# ------------------------------------------------------------------------------- conversion


def test_contents_as_chat_messages() -> None:
    session = load(doc(tools=TOOLS).encode())
    data, told = render_bytes(session, "openai-chat")
    chat = json.loads(data)
    assert [one["role"] for one in chat["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    made = [one["id"] for one in chat["messages"][2]["tool_calls"]]
    assert made == [one["tool_call_id"] for one in chat["messages"][3:5]]
    assert len(set(made)) == 2
    assert chat["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"parcel":1}'
    assert chat["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weigh",
                "description": "Weighs a parcel.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "parcel": {"type": ["integer", "null"]},
                        "type": {"type": "string", "enum": ["STRING"]},
                    },
                },
            },
        }
    ]
    assert {one.code for one in told} == {
        "export-call-id",
        "export-error-flag",
        "export-thinking",
        "export-tools",
    }


def test_chat_messages_as_a_request_of_gemini() -> None:
    chat = {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "Brief."},
            {"role": "user", "content": [{"type": "text", "text": "Look."}]},
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": f"c{n}",
                        "type": "function",
                        "function": {"name": "see", "arguments": f'{{"n": {n}.10}}'},
                    }
                    for n in (1, 2)
                ],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "two"},
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
            {"role": "assistant", "content": "Seen."},
            {"role": "user", "content": "Good."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "see", "parameters": {"type": "object", "$defs": {}}},
            }
        ],
    }
    session = load(json.dumps(chat).encode())
    data, told = render_bytes(session, "gemini-contents")
    assert told == ()
    assert b'"n": 1.10' in data
    out = json.loads(data)
    assert out["systemInstruction"] == {"parts": [{"text": "Brief."}]}
    assert out["tools"] == [
        {
            "functionDeclarations": [
                {"name": "see", "parametersJsonSchema": {"type": "object", "$defs": {}}}
            ]
        }
    ]
    assert [one["role"] for one in out["contents"]] == ["user", "model", "user", "model", "user"]
    assert [part["functionResponse"]["id"] for part in out["contents"][2]["parts"]] == ["c1", "c2"]
    assert [part["functionResponse"]["name"] for part in out["contents"][2]["parts"]] == [
        "see",
        "see",
    ]
    back = load(data)
    assert back.format == "gemini-contents"
    assert back.tools.names == ("see",)
    assert [
        one for one in check(back.messages, "gemini", tools=back.tools) if one.level != "info"
    ] == []


def test_signatures_and_unknown_parts_pass_to_a_request_of_another_file() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    clip = {"fileData": {"fileUri": "gs://b/v.mp4"}, "videoMetadata": {"fps": 2}}
    contents = [{"role": "user", "parts": [{"text": "a"}, clip]}, *CONTENTS[1:4], model(code)]
    session = load(json.dumps(contents).encode())
    other = load(b'[{"role": "user", "parts": [{"text": "b"}]}]')
    request = json.loads(b"".join(GEMINI.write(session.messages, other).chunks))
    # Rendered from what the parts say, as none of them stands in the other file.
    assert request[0]["parts"][0] == {"text": "a"}
    assert request[1]["parts"][1]["thoughtSignature"] == "c2lnLTE="


# -------------------------------------------------------------------------------- the check


def test_parallel_results_apart_are_what_gemini_refuses() -> None:
    apart = [*CONTENTS[:2], answers(("weigh", {"kg": 1})), answers(("weigh", {"kg": 2}))]
    for listed in (apart, load(json.dumps(apart).encode()).messages):
        told = [one.code for one in check(listed, "gemini") if one.level == "error"]
        assert told == ["batch-split"]
    assert [one.level for one in check(CONTENTS[:4], "gemini")] == ["info"]


# ------------------------------------------------------------------------------- real files


def test_a_real_request_with_a_picture(shared_sessions: Path) -> None:
    path = shared_sessions / "gemini-contents" / "pydantic-ai--image.json"
    session = load(path)
    assert session.format == "gemini-contents"
    assert [one.role for one in session.messages] == ["system", "user"]
    picture = session.messages[1].parts[1]
    assert isinstance(picture, Media)
    assert (picture.mime, picture.width, picture.height) == ("image/png", 3024, 4032) or (
        picture.mime == "image/png" and picture.size > 2_000_000
    )
    assert session.messages[1].chars == len("What fruit is in the image?")
    same(session, again(session))
    data, told = render_bytes(session, "openai-chat")
    assert told == ()
    assert json.loads(data)["messages"][1]["content"][1]["type"] == "image_url"


def test_reported_losses_of_signatures_and_pairs(shared_cases: Path) -> None:
    for name, kept in (("REAS-07.json", 4), ("PAIR-13.json", 1)):
        session = load(shared_cases / name)
        assert session.format == "gemini-contents"
        assert session.messages[2].calls == session.messages[3].results == ("weigh#1", "weigh#2")
        result = compacted(session, recent=kept)
        back = again(result)
        same(result, back)
        assert all(part in raw(session) for part in raw(back) if b"Signature" in part)
        assert not [one for one in check(back.messages, "gemini") if one.level == "error"]
