from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_documents import raw, read, written
from databases import database
from round_trips import again, compacted, same

from compaction.errors import SessionError
from compaction.export import render_bytes
from compaction.formats import load, recognise
from compaction.formats.adk import Adk
from compaction.messages import Text, ToolCall, ToolResult, Usage, message
from compaction.validity import check

ADK = Adk()


def event(number: int, author: str, *parts: object, **more: object) -> dict[str, Any]:
    results = any(isinstance(part, dict) and "functionResponse" in part for part in parts)
    role = "user" if author == "user" or results else "model"
    record: dict[str, Any] = {
        "invocationId": f"e-{number // 10}",
        "author": author,
        "actions": {"stateDelta": {}},
        "id": f"ev{number}",
        "timestamp": 1_750_000_000.25 + number,
    }
    if parts:
        record["content"] = {"parts": list(parts), "role": role}
    return {**record, **more}


def call(name: str, **args: object) -> dict[str, Any]:
    return {"functionCall": {"id": name, "name": "weigh", "args": args}}


def answer(name: str, **response: object) -> dict[str, Any]:
    return {"functionResponse": {"id": name, "name": "weigh", "response": response}}


def text(said: str) -> dict[str, Any]:
    return {"text": said}


def snake(value: Any) -> Any:
    """The names of members as Python has them."""
    if isinstance(value, list):
        return [snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    spelled = {
        key: "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
        for key in value
    }
    return {spelled[key]: snake(one) for key, one in value.items()}


LONG = "Please weigh the parcel that came this morning. " * 8
EVENTS = [
    event(10, "user", text(LONG)),
    event(
        11,
        "depot",
        call("adk-1", parcel=1.50),
        usageMetadata={"promptTokenCount": 70, "candidatesTokenCount": 6},
        modelVersion="gemini-2.5-flash",
    ),
    event(12, "depot", answer("adk-1", result="1.5 kg")),
    event(13, "depot", text("It weighs 1.5 kg.")),
    event(14, "depot"),
    event(20, "user", text("And the next?")),
    event(21, "depot", call("adk-2", parcel=2)),
    event(22, "depot", answer("adk-2", kg=2)),
    event(23, "depot", text("2 kg."), modelVersion="gemini-2.5-pro"),
]
ROLES = ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]


def doc(events: Sequence[object] = EVENTS, **more: object) -> bytes:
    held = {"id": "s", "appName": "depot", "userId": "u", "state": {}, "events": list(events)}
    return json.dumps({**held, **more}, indent=1).encode()


# ---------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("data", [doc(), json.dumps(snake(json.loads(doc()))).encode()])
def test_a_session_in_both_spellings(data: bytes) -> None:
    session = load(data)
    assert session.format == "adk"
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[1].parts == (ToolCall("adk-1", "weigh", '{"parcel":1.5}'),)
    assert session.messages[2].parts == (ToolResult("adk-1", (Text("1.5 kg"),), name="weigh"),)
    assert session.messages[1].usage == Usage(70, 6)
    assert (session.messages[1].name, session.messages[0].name) == ("depot", "")
    assert session.messages[0].time.startswith("2025-06-15T15:06:50.25")
    assert session.model == "gemini-2.5-pro"
    assert session.left_out == {"events without a message": 1}


def test_calls_without_ids_are_paired_over_events() -> None:
    bare = {"functionCall": {"name": "weigh", "args": {}}}
    back = {"functionResponse": {"name": "weigh", "response": {}}}
    session = load(doc([event(1, "a", bare, bare), event(2, "a", back), event(3, "a", back)]))
    assert session.messages[0].calls == ("weigh#1", "weigh#2")
    assert [one.results for one in session.messages[1:]] == [("weigh#1",), ("weigh#2",)]


def test_what_is_taken_back_is_not_sent() -> None:
    back = event(30, "user", actions={"rewindBeforeInvocationId": "e-2"})
    data = doc([*EVENTS, back, event(40, "user", text("Instead the third."))])
    session = load(data)
    assert [one.preview for one in session.messages][3:] == [
        "It weighs 1.5 kg.",
        "Instead the third.",
    ]
    assert session.left_out == {"turns taken back": 4, "events without a message": 2}
    assert len(load(data, history="full").messages) == len(ROLES) + 1


SUMMARY = event(
    24,
    "user",
    actions={
        "compaction": {
            "startTimestamp": EVENTS[0]["timestamp"],
            "endTimestamp": EVENTS[4]["timestamp"],
            "compactedContent": {"role": "model", "parts": [text("One parcel, 1.5 kg.")]},
        }
    },
)


def test_a_summary_stands_for_what_it_covers() -> None:
    session = load(doc([*EVENTS, SUMMARY]))
    assert [one.preview for one in session.messages] == [
        "And the next?",
        'weigh {"parcel":2}',
        '{"kg":2}',
        "2 kg.",
        "One parcel, 1.5 kg.",
    ]
    assert session.messages[4].summary == "adk"
    assert session.left_out == {"before the last compaction": 5}
    assert [one.at for one in session.compactions] == [4]
    full = load(doc([*EVENTS, SUMMARY]), history="full")
    assert len(full.messages) == len(ROLES) + 1
    assert [one.at for one in full.compactions] == [8]


def test_what_the_kit_asks_the_client_is_not_sent() -> None:
    asking = {"functionCall": {"id": "q", "name": "adk_request_confirmation", "args": {}}}
    session = load(
        doc(
            [
                *EVENTS[:2],
                event(15, "depot", asking),
                event(16, "depot", text("It we"), partial=True),
                event(17, "user", inputTranscription={"text": "spoken words"}),
            ]
        )
    )
    assert [one.preview for one in session.messages][2:] == ["spoken words"]
    assert session.left_out == {"shown on the screen only": 1, "written twice": 1}


@pytest.mark.parametrize(
    "broken",
    [
        {"author": 5, "invocationId": "x"},
        event(50, "user", 5, None),
        event(50, "user", content={"parts": 5}),
        event(50, "user", text("a"), actions=7, timestamp="x"),
        event(50, "user", actions={"compaction": {"compactedContent": {}}}),
        event(50, "user", text("a"), timestamp=10**400),
        event(
            50,
            "u",
            actions={"compaction": {**SUMMARY["actions"]["compaction"], "endTimestamp": []}},
        ),
        event(50, "user", actions={"rewindBeforeInvocationId": "nobody"}),
        None,
        "text",
    ],
)
def test_odd_events_never_raise(broken: object) -> None:
    session = load(doc([*EVENTS, broken, EVENTS[3]]))
    assert len(session) >= len(ROLES)
    assert all(isinstance(one.parts, tuple) for one in session.messages)
    same(session, again(session))


# -------------------------------------------------------------------------------- recognised


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (json.loads(doc()), "adk"),
        ([json.loads(doc())] * 2, "adk"),
        (EVENTS, "adk"),
        ({"session": json.loads(doc())}, "adk"),
        ({"appName": "a", "events": []}, "adk"),
        ({"events": [{"id": 1, "source": "user", "action": "message", "args": {}}]}, None),
        ({"events": [{"author": "A. Person", "title": "Concert"}]}, None),
        ({"events": []}, None),
        ([{"role": "user", "parts": [text("a")]}], "gemini-contents"),
    ],
)
def test_recognised_by_authors_and_invocations(value: object, name: str | None) -> None:
    found = recognise(json.dumps(value).encode())
    if name is None:
        assert found is None or found.name != "adk"
    else:
        assert found is not None
        assert found.name == name


def test_several_sessions() -> None:
    both = [json.loads(doc()), json.loads(doc(EVENTS[:1], id="t"))]
    assert len(load(json.dumps(both).encode()).messages) == len(ROLES)
    second = load(json.dumps(both).encode(), conversation="t")
    assert [one.preview for one in second.messages] == [LONG[:200]]
    with pytest.raises(SessionError):
        read(ADK, '{"events": [1]}')


# ---------------------------------------------------------------------------------- writing


def test_head_summary_and_recent_survive_with_their_bytes() -> None:
    for data in (doc(), json.dumps(snake(json.loads(doc()))).encode()):
        session = load(data)
        assert written(ADK, session.messages, session) == data
        result = compacted(session, recent=3)
        assert result.made
        back = again(result)
        same(result, back)
        assert len(set(raw(back)) - set(raw(session))) == 1
        # The event that is no message stays where it stands.
        assert back.left_out == session.left_out
        assert not [one for one in check(back.messages, "gemini") if one.level == "error"]


def test_a_summary_is_an_event_of_the_user() -> None:
    session = load(doc())
    new = [message("user", "So far: 1.5 kg.", summary="compaction"), *session.messages[4:]]
    events = json.loads(written(ADK, new, session))["events"]
    made = events[0]
    assert made["content"] == {"role": "user", "parts": [{"text": "So far: 1.5 kg."}]}
    assert made["author"] == "user"
    assert made["timestamp"] == EVENTS[5]["timestamp"]
    assert made["invocationId"].startswith("e-")
    # The kit refuses members that it does not know.
    assert set(made) <= set(EVENTS[0])
    in_snake = load(json.dumps(snake(json.loads(doc()))).encode())
    new = [new[0], *in_snake.messages[4:]]
    assert "invocation_id" in json.loads(written(ADK, new, in_snake))["events"][0]


def test_to_other_formats_and_back() -> None:
    session = load(doc())
    chat, _ = render_bytes(session, "openai-chat")
    assert [one["role"] for one in json.loads(chat)["messages"]] == ROLES
    request, told = render_bytes(session, "gemini-contents")
    assert told == ()
    assert json.loads(request)["contents"][1]["parts"] == [call("adk-1", parcel=1.5)]
    back = load(render_bytes(load(chat), "adk")[0])
    assert back.format == "adk"
    assert [one.role for one in back.messages] == ROLES
    assert back.messages[1].parts == session.messages[1].parts


# -------------------------------------------------------------------------------- databases


def test_a_database_is_read_as_its_sessions(tmp_path: Path) -> None:
    rows = [("depot", "u", "s", one["timestamp"], json.dumps(one)) for one in EVENTS]
    path = database(
        tmp_path / "session.db",
        {
            "sessions(app_name, user_id, id, state, update_time)": [
                ("depot", "u", "s", "{}", 1_750_000_030.0),
                ("depot", "u", "later", "{}", 1_760_000_000.0),
                ("depot", "u", "empty", "{}", 1_770_000_000.0),
            ],
            "events(app_name, user_id, session_id, timestamp, event_data)": [
                *rows,
                ("depot", "u", "later", 2.0, json.dumps(EVENTS[0])),
                ("depot", "u", "later", 3.0, "no JSON"),
            ],
        },
    )
    session = load(path)
    assert session.format == "adk"
    assert [one.preview for one in session.messages] == [LONG[:200]]
    assert [one.id for one in session.conversations] == ["later", "s"]
    assert [one.role for one in load(path, conversation="s").messages] == ROLES


def test_an_older_database_has_columns_and_a_pickle_that_is_not_opened(tmp_path: Path) -> None:
    path = database(
        tmp_path / "session.db",
        {
            "sessions(app_name, user_id, id, state, update_time)": [
                ("depot", "u", "s", "{}", "2025-06-15 15:07:00.000000")
            ],
            "events(id, app_name, user_id, session_id, invocation_id, author, actions, timestamp,"
            " content)": [
                (
                    one["id"],
                    "depot",
                    "u",
                    "s",
                    "e-1",
                    one["author"],
                    b"cos\nsystem\n(S'false'\ntR.",
                    f"2025-06-15 15:06:{number:02}.500000",
                    json.dumps(snake(one.get("content"))),
                )
                for number, one in enumerate(EVENTS)
            ],
        },
    )
    session = load(path)
    assert [one.role for one in session.messages] == ROLES
    assert session.messages[0].time == "2025-06-15T15:06:00.500000+00:00"


# ------------------------------------------------------------------------------- real files


def test_a_real_session(shared_sessions: Path) -> None:
    session = load(shared_sessions / "adk" / "adk--sample.session.json")
    assert session.format == "adk"
    assert [one.role for one in session.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "assistant",
        "assistant",
        "assistant",
        "assistant",
        "tool",
    ]
    assert session.messages[1].calls == session.messages[2].results
    assert session.messages[3].name == "research_plan_agent"
    assert session.left_out == {}
    same(session, again(session))
    result = compacted(session)
    assert result.made
    same(result, again(result))
