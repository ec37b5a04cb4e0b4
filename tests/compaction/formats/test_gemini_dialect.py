from __future__ import annotations

import json
from typing import Any

import pytest

from compaction.formats.dialects import gemini_like, gemini_rendering
from compaction.formats.dialects.notes import Notes
from compaction.messages import (
    Media,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.validity import check

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAADElEQVR4nGNgIB0AAAA0AAEjQ4N1AAAAAElFTkSuQmCC"
)


def parsed(*parts: object) -> tuple[Part, ...]:
    return gemini_like.parse_content({"role": "model", "parts": list(parts)})


def rendered(*messages: Message, origin: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    notes = Notes("Gemini")
    request = gemini_rendering.render(messages, notes, origin)
    return [json.loads(json.dumps(one)) for one in request.contents], [
        found.code for found in notes.findings()
    ]


# ---------------------------------------------------------------------------------- reading


def test_text_thought_and_signature() -> None:
    assert parsed({"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"}) == (
        Thinking("Hm.", "c2ln"),
    )
    assert parsed({"text": "Yes.", "thoughtSignature": "c2lnMg=="}) == (
        Thinking("", "c2lnMg==", 8),
        Text("Yes."),
    )
    assert parsed({"text": "", "thoughtSignature": "abc"}) == (Thinking("", "abc", 3),)
    assert parsed({"text": "Plain.", "thought": False}) == (Text("Plain."),)


def test_a_call_keeps_its_numbers_and_its_id() -> None:
    record = json.loads('{"functionCall":{"id":"c1","name":"weigh","args":{"p":1.5}}}')
    assert parsed(record) == (ToolCall("c1", "weigh", '{"p":1.5}'),)
    assert parsed({"function_call": {"name": "weigh", "args": None}}) == (
        ToolCall("weigh#1", "weigh", "{}"),
    )


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"output": "done"}, "done", False),
        ({"result": "done"}, "done", False),
        ({"error": "no such file"}, "no such file", True),
        ({"error": {"code": 5}}, '{"error":{"code":5}}', True),
        ({"output": "done", "code": 0}, '{"output":"done","code":0}', False),
        ({"kg": 1}, '{"kg":1}', False),
        ([1, 2], "[1,2]", False),
        ("bare", "bare", False),
        ({}, "", False),
        (None, "", False),
    ],
)
def test_what_a_response_says(response: object, text: str, failed: bool) -> None:
    (found,) = parsed({"functionResponse": {"id": "c", "name": "f", "response": response}})
    assert isinstance(found, ToolResult)
    assert (found.text, found.is_error, found.name, found.call_id) == (text, failed, "f", "c")


def test_media_of_all_kinds() -> None:
    url_safe = PIXEL.replace("+", "-").replace("/", "_")
    found = parsed(
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        {"inline_data": {"mime_type": "image/png", "data": url_safe, "display_name": "p"}},
        {"fileData": {"fileUri": "gs://b/talk.mp3", "mimeType": "audio/mpeg"}},
        {"fileData": {"fileUri": "https://youtu.be/x"}},
    )
    assert [part.kind for part in found if isinstance(part, Media)] == [
        "image",
        "image",
        "audio",
        "video",
    ]
    first, second = found[:2]
    assert isinstance(first, Media)
    assert isinstance(second, Media)
    assert (first.width, first.height, first.data) == (2, 3, PIXEL)
    assert (second.name, second.data) == ("p", PIXEL)


def test_media_inside_a_response() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    (found,) = parsed(
        {"functionResponse": {"name": "see", "response": {"output": "a"}, "parts": [picture]}}
    )
    assert isinstance(found, ToolResult)
    assert [type(part) for part in found.content] == [Text, Media]


def test_what_runs_at_google_is_shown_as_it_is() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    answer = {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}}
    first, second = parsed(code, answer)
    assert first == Opaque("executableCode", json.dumps(code, separators=(",", ":")))
    assert isinstance(second, Opaque)
    assert second.kind == "codeExecutionResult"


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"new": 1},
        {"functionCall": "f"},
        {"functionResponse": []},
        {"inlineData": {"data": 7}},
        {"fileData": {}},
        {"text": 5},
        {"thought": True},
        {"text": None, "thoughtSignature": 4},
        7,
        None,
        ["text"],
    ],
)
def test_odd_parts_are_shown_and_never_raise(part: object) -> None:
    (found,) = parsed(part)
    assert isinstance(found, Opaque)
    assert json.loads(found.text) == part


@pytest.mark.parametrize("content", [None, 3, [], {"parts": None}, {"parts": 4}, {}, "", "x"])
def test_odd_contents_never_raise(content: object) -> None:
    assert isinstance(gemini_like.parse_content(content), tuple)


def test_calls_without_ids_pair_by_name_and_order() -> None:
    def call(name: str, **more: str) -> dict[str, Any]:
        return {"functionCall": {"name": name, **more}}

    def answer(name: str, **more: str) -> dict[str, Any]:
        return {"functionResponse": {"name": name, "response": {}, **more}}

    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [call("a"), call("b"), call("a"), call("c", id="own")]},
        # One response a content, which counts on over them.
        {"role": "user", "parts": [answer("a"), answer("c")]},
        {"role": "user", "parts": [answer("a"), answer("b")]},
        {"role": "model", "parts": [call("a")]},
        {"role": "function", "parts": [answer("a")]},
    ]
    made = [
        parse(content)
        for parse, content in zip(gemini_like.parsers(contents), contents, strict=True)
    ]
    assert [part.id for part in made[1] if isinstance(part, ToolCall)] == [
        "a#1",
        "b#1",
        "a#2",
        "own",
    ]
    answered = [[p.call_id for p in parts if isinstance(p, ToolResult)] for parts in made]
    assert answered[2:] == [["a#1", "own"], ["a#2", "b#1"], [], ["a#1"]]
    assert gemini_like.content_role(contents[5], made[5]) == "tool"
    assert gemini_like.content_role(contents[4], made[4]) == "assistant"


def test_what_a_content_is() -> None:
    assert gemini_like.is_content({"role": "user", "parts": [{"text": "a"}]})
    assert gemini_like.is_content({"parts": [{"function_call": {"name": "f"}}]})
    # Vercel's parts have a type, pydantic-ai's a part_kind.
    assert not gemini_like.is_content({"role": "user", "parts": [{"type": "text", "text": "a"}]})
    assert not gemini_like.is_content({"parts": [{"part_kind": "text", "content": "a"}]})
    assert not gemini_like.is_content({"kind": "request", "parts": [{"text": "a"}]})
    assert not gemini_like.is_content({"role": "user", "content": "a"})


# -------------------------------------------------------------------------------- rendering


def test_sides_take_turns_and_results_stand_in_the_order_of_their_calls() -> None:
    listed = [
        message("system", "Brief."),
        message("user", "One."),
        message("user", "Two."),
        message(
            "assistant",
            [Text("Both."), ToolCall("x", "f", '{"p": 1}'), ToolCall("y", "g", "")],
        ),
        message("tool", [ToolResult("y", (Text("2"),), is_error=True)]),
        message("tool", [ToolResult("x", (Text("1"),))]),
        message("user", "Three."),
        message("assistant", "End."),
    ]
    contents, told = rendered(*listed)
    assert [one["role"] for one in contents] == ["user", "model", "user", "model"]
    assert contents[0]["parts"] == [{"text": "One."}, {"text": "Two."}]
    assert contents[1]["parts"][1:] == [
        {"functionCall": {"id": "x", "name": "f", "args": {"p": 1}}},
        {"functionCall": {"id": "y", "name": "g", "args": {}}},
    ]
    assert contents[2]["parts"] == [
        {"functionResponse": {"id": "x", "name": "f", "response": {"output": "1"}}},
        {"functionResponse": {"id": "y", "name": "g", "response": {"error": "2"}}},
        {"text": "Three."},
    ]
    assert told == []
    system = gemini_rendering.render(listed, Notes("Gemini")).system
    assert system == {"parts": [{"text": "Brief."}]}


def test_what_is_rendered_satisfies_the_check() -> None:
    listed = [
        message("assistant", [Thinking("hm", "sig"), ToolCall("x", "f", "no json")]),
        message("tool", [ToolResult("x", (Text("1"), Media("image", "image/png", data=PIXEL)))]),
        message("developer", "Mind the gap."),
        message("assistant", [Text("")]),
        message("assistant", [Media("image", url="cid:1"), Opaque("odd", "{}")]),
        message("user", "Go on."),
    ]
    contents, told = rendered(*listed)
    assert [one["role"] for one in contents] == ["user", "model", "user", "model", "user"]
    assert contents[1]["parts"] == [
        {"functionCall": {"id": "x", "name": "f", "args": {"input": "no json"}}}
    ]
    assert contents[2]["parts"][1:] == [
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        {"text": "Mind the gap."},
    ]
    assert sorted(told) == [
        "export-arguments",
        "export-empty-text",
        "export-first-user",
        "export-media",
        "export-opaque",
        "export-system-inside",
        "export-thinking",
    ]
    again = [
        message(gemini_like.content_role(one, parts), parts)
        for one, parse in zip(contents, gemini_like.parsers(contents), strict=True)
        for parts in [parse(one)]
    ]
    assert [one.code for one in check(again, "gemini") if one.level != "info"] == []


def test_made_ids_are_not_written() -> None:
    contents, _ = rendered(
        message("user", "a"),
        message("assistant", [ToolCall("f#1", "f", "{}"), ToolCall("f#2", "f", "{}")]),
        message("tool", [ToolResult("f#2", ()), ToolResult("f#1", (Text("1"),))]),
    )
    assert contents[1]["parts"] == [{"functionCall": {"name": "f", "args": {}}}] * 2
    assert [one["functionResponse"]["response"] for one in contents[2]["parts"]] == [
        {"output": "1"},
        {"output": ""},
    ]


def test_anthropic_signatures_never_become_thought_signatures() -> None:
    contents, told = rendered(
        message("user", "a"), message("assistant", [Thinking("", "sig", 3), Text("b")])
    )
    assert contents[1]["parts"] == [{"text": "b"}]
    assert told == ["export-thinking"]


def test_results_without_ids_leave_calls_with_ids_to_those_that_name_them() -> None:
    calls = [{"name": "weigh"}, {"id": "a", "name": "weigh"}, {"name": "weigh"}]
    answers = [{"name": "weigh"}, {"name": "weigh"}, {"id": "a", "name": "weigh"}]
    assert gemini_like.ids_of(
        [[{"functionCall": one} for one in calls], [{"functionResponse": one} for one in answers]],
        [True, False],
    ) == [("weigh#1", "a", "weigh#3"), ("weigh#1", "weigh#3", "a")]
