from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import compacted, opened, same, saved

from compaction.errors import SessionError
from compaction.formats import recognise
from compaction.messages import Media, Opaque, Text, Thinking, ToolCall, ToolResult, Usage, message

JSON = dict[str, Any]
CALL = {"id": "c1", "arguments": '{"p":1}', "name": "weigh"}
BACK = {"content": "1 kg", "name": "weigh", "call_id": "c1", "is_error": False}
CONTEXT: list[JSON] = [
    {"content": "Be brief.", "type": "SystemMessage"},
    {"content": "Weigh it.", "source": "user", "type": "UserMessage"},
    {"content": [CALL], "thought": "I must.", "source": "scale", "type": "AssistantMessage"},
    {"content": [BACK], "type": "FunctionExecutionResultMessage"},
    {"content": "It has 1 kg.", "thought": None, "source": "scale", "type": "AssistantMessage"},
    {"content": "Thanks.", "source": "user", "type": "UserMessage"},
    {"content": "Any time.", "thought": None, "source": "scale", "type": "AssistantMessage"},
]


def agent(kind: str, source: str, content: Any, **more: Any) -> JSON:
    about = {"id": f"{kind}-1", "source": source, "models_usage": None, "metadata": {}}
    at = {"created_at": "2026-01-02T03:04:05Z"}
    return {**about, **at, **more, "content": content, "type": kind}


USED = {"prompt_tokens": 30, "completion_tokens": 4}
THREAD = [
    agent("TextMessage", "user", "Weigh it."),
    agent("ThoughtEvent", "scale", "I must."),
    agent("ToolCallRequestEvent", "scale", [CALL], models_usage=USED),
    agent("ToolCallExecutionEvent", "scale", [BACK]),
    agent("ToolCallSummaryMessage", "scale", "1 kg"),
    agent("SelectSpeakerEvent", "manager", ["teller"]),
    agent("TextMessage", "teller", "It has 1 kg."),
]


def state(*contexts: tuple[str, list[JSON]], thread: list[JSON]) -> JSON:
    """The state of a team, as its `save_state` gives it."""
    agents: JSON = {
        name: {
            "type": "ChatAgentContainerState",
            "version": "1.0.0",
            "agent_state": {
                "type": "AssistantAgentState",
                "version": "1.0.0",
                "llm_context": {"messages": listed},
            },
            "message_buffer": [THREAD[0]],
        }
        for name, listed in contexts
    }
    manager = {"type": "RoundRobinManagerState", "version": "1.0.0", "message_thread": thread}
    agents["RoundRobinGroupChatManager"] = {**manager, "current_turn": 0, "next_speaker_index": 0}
    return {"type": "TeamState", "version": "1.0.0", "agent_states": agents}


def test_the_context_of_an_agent() -> None:
    session = opened(
        {"type": "AssistantAgentState", "version": "1.0.0", "llm_context": {"messages": CONTEXT}}
    )
    assert session.format == "autogen"
    roles = "system user assistant tool assistant user assistant"
    assert [m.role for m in session.messages] == roles.split()
    assert session.messages[2].parts == (Thinking("I must."), ToolCall("c1", "weigh", '{"p":1}'))
    assert session.messages[3].parts == (ToolResult("c1", (Text("1 kg"),), name="weigh"),)
    assert session.messages[4].name == "scale"
    assert session.messages[1].name == ""
    assert not session.problems


def test_messages_and_events_of_agents() -> None:
    session = opened({"messages": THREAD, "stop_reason": "done"})
    roles = "user assistant assistant tool assistant assistant"
    assert [m.role for m in session.messages] == roles.split()
    assert session.messages[1].parts == (Thinking("I must."),)
    assert session.messages[1].bound
    assert session.messages[2].usage == Usage(30, 4)
    assert session.messages[3].results == ("c1",)
    assert (session.messages[5].name, session.messages[5].time) == (
        "teller",
        "2026-01-02T03:04:05Z",
    )
    assert session.left_out == {"events that are sent to no model": 1}


@pytest.mark.parametrize(
    ("record", "role", "parts"),
    [
        (
            agent("MultiModalMessage", "user", ["a", {"data": "AAAA"}]),
            "user",
            (Text("a"), Media("image", "image/png", 3, data="AAAA")),
        ),
        (agent("StopMessage", "scale", "stop"), "assistant", (Text("stop"),)),
        (agent("HandoffMessage", "scale", "over", target="teller"), "assistant", (Text("over"),)),
        (agent("StructuredMessage[Weight]", "scale", {"kg": 1}), "assistant", (Text('{"kg":1}'),)),
        (
            agent("MemoryQueryEvent", "scale", [{"content": "m", "mime_type": "text/plain"}]),
            "system",
            (Text("m"),),
        ),
        (
            agent("CodeExecutionEvent", "scale", None, result={"output": "o", "exit_code": 0}),
            "user",
            (Text("o"),),
        ),
        (agent("TextMessage", "scale", 7), "assistant", (Opaque("unknown", "7"),)),
        (agent("TextMessage", "scale", None), "assistant", ()),
        (agent("ToolCallRequestEvent", "scale", [3]), "assistant", (Opaque("unknown", "3"),)),
        (agent("ToolCallExecutionEvent", "scale", [3]), "tool", (Opaque("tool_result", "3"),)),
        (
            agent("ToolCallExecutionEvent", "scale", [{**BACK, "is_error": True}]),
            "tool",
            (ToolResult("c1", (Text("1 kg"),), True, "weigh"),),
        ),
    ],
)
def test_one_message(record: JSON, role: str, parts: object) -> None:
    session = opened([THREAD[0], record])
    assert session.messages[1].role == role
    assert session.messages[1].parts == parts


def test_the_agents_of_a_team_are_its_conversations() -> None:
    team = state(("scale", CONTEXT), ("teller", CONTEXT[1:3]), thread=THREAD)
    session = opened(team)
    assert [(c.id, c.title, c.messages) for c in session.conversations] == [
        ("scale", "Weigh it.", 7),
        ("teller", "Weigh it.", 2),
        ("RoundRobinGroupChatManager", "Weigh it.", 7),
    ]
    assert (len(session), session.title) == (7, "scale")
    assert [f.code for f in session.problems] == ["several-conversations"]
    assert len(opened(team, conversation="teller")) == 2
    assert opened(team, conversation="3").messages[5].name == "teller"
    with pytest.raises(SessionError, match="has no conversation 'other'"):
        opened(team, conversation="other")
    # The longest context is shown, wherever it stands.
    assert len(opened(state(("a", CONTEXT[:2]), ("b", CONTEXT[:4]), thread=[]))) == 4


def test_a_compaction_of_one_agent_leaves_the_others() -> None:
    team = state(("scale", CONTEXT), ("teller", CONTEXT[1:3]), thread=THREAD)
    data = json.dumps(team, indent=2).encode()
    session = opened(data)
    assert saved(session) == data
    new = compacted(session, 2)
    out = json.loads(saved(session, new))
    listed = out["agent_states"]["scale"]["agent_state"]["llm_context"]["messages"]
    assert [listed[0], *listed[2:]] == [CONTEXT[0], *CONTEXT[-2:]]
    assert listed[1]["type"] == "UserMessage"
    assert listed[1]["source"] == "user"
    out["agent_states"]["scale"]["agent_state"]["llm_context"]["messages"] = CONTEXT
    assert out == team
    again = opened(saved(session, new), conversation="scale")
    assert same(again.messages, new)
    assert again.messages[1].summary


def test_a_compaction_of_a_result_of_a_task() -> None:
    session = opened({"messages": THREAD, "stop_reason": "done"})
    new = compacted(session, 1)
    out = json.loads(saved(session, new))
    types = ["TextMessage", "SelectSpeakerEvent", "TextMessage"]
    assert [m["type"] for m in out["messages"]] == types
    made = out["messages"][0]
    assert set(made) == {"id", "source", "models_usage", "metadata", "content", "type"}
    assert made["source"] == "user"
    assert saved(session, new) == saved(session, new)
    assert opened(out).messages[0].summary


def test_new_messages_are_written_in_the_style_of_the_file() -> None:
    picture = Media("image", "image/png", 3, data="AAAA")
    new = [
        message("system", "s"),
        message("user", (Text("a"), picture, Media("file", name="l"))),
        message("assistant", (Thinking("t"), Text("b"), ToolCall("c", "f", ""))),
        message("tool", (ToolResult("c", (Text("r"), picture), True, "f"),)),
        message("assistant", "d", name="teller"),
    ]
    out = json.loads(saved(opened(CONTEXT), new))
    assert out == [
        {"content": "s", "type": "SystemMessage"},
        {"content": ["a", {"data": "AAAA"}, "[file l]"], "source": "user", "type": "UserMessage"},
        {
            "content": [{"id": "c", "arguments": "{}", "name": "f"}],
            "thought": "b",
            "source": "scale",
            "type": "AssistantMessage",
        },
        {
            "content": [
                {
                    "content": "r\n[image/png, 3 bytes]",
                    "name": "f",
                    "call_id": "c",
                    "is_error": True,
                }
            ],
            "type": "FunctionExecutionResultMessage",
        },
        {"content": "d", "thought": None, "source": "teller", "type": "AssistantMessage"},
    ]
    out = json.loads(saved(opened(THREAD), new[1:]))
    kinds = "MultiModalMessage TextMessage ToolCallRequestEvent ToolCallExecutionEvent TextMessage"
    assert [one["type"] for one in out[:5]] == kinds.split()
    assert [one["source"] for one in out[:5]] == ["user", "scale", "scale", "scale", "teller"]


AG2 = [
    {"content": "Weigh it.", "role": "user", "name": "ana"},
    {
        "content": "",
        "role": "assistant",
        "name": "scale",
        "tool_calls": [
            {"id": c, "type": "function", "function": {"name": "weigh", "arguments": "{}"}}
            for c in ("x", "y")
        ],
    },
    {
        "content": "1 kg\n\n2 kg",
        "role": "tool",
        "name": "exec",
        "tool_responses": [
            {"tool_call_id": "x", "role": "tool", "content": "1 kg"},
            {"tool_call_id": "y", "role": "tool", "content": "2 kg"},
        ],
    },
    {"content": "3 kg together.", "role": "assistant", "name": "scale"},
]


def test_histories_of_ag2() -> None:
    session = opened({"chat_history": AG2, "summary": "3 kg", "cost": {}})
    assert session.format == "autogen"
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert session.messages[1].calls == session.messages[2].results == ("x", "y")
    assert session.messages[2].text == "1 kg\n2 kg"
    new = [*session.messages[:3], message("user", "And now?")]
    out = json.loads(saved(session, new))
    assert out["chat_history"] == [*AG2[:3], {"role": "user", "content": "And now?"}]
    chat = json.loads(saved(session, form="openai-chat"))["messages"]
    assert [one["role"] for one in chat] == ["user", "assistant", "tool", "tool", "assistant"]


def test_conversion_from_and_to_chat() -> None:
    session = opened(CONTEXT)
    chat = json.loads(saved(session, form="openai-chat"))["messages"]
    assert [one["role"] for one in chat] == [m.role for m in session.messages]
    out = json.loads(saved(opened({"model": "m", "messages": chat}), form="autogen"))
    assert out["type"] == "AssistantAgentState"
    assert out["llm_context"]["messages"][3] == {
        "content": [{**BACK, "name": ""}],
        "type": "FunctionExecutionResultMessage",
    }
    again = opened(out)
    assert [m.text for m in again.messages[3:]] == [m.text for m in session.messages[3:]]


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "UserMessage", "role": "user", "content": "a"}],
        [{"type": "TextMessage", "content": "a"}],
        [{"type": "AssistantMessage", "data": {"content": "a"}}],
        [{"type": [], "source": "a", "content": "b"}],
        [{"role": "tool", "tool_responses": 3}],
        [{"type": "HumanMessage", "content": "a"}],
    ],
)
def test_look_alikes_are_not_taken(value: object) -> None:
    found = recognise(json.dumps(value).encode())
    assert found is None or found.name != "autogen"


@pytest.mark.parametrize(
    "odd", [None, 7, "a", [], {}, [[]], [None], {"a": 1}, [{"data": 3, "name": {}}]]
)
@pytest.mark.parametrize(
    "key",
    ["content", "source", "thought", "models_usage", "metadata", "id", "result", "tool_responses"],
)
def test_odd_types_break_nothing(key: str, odd: object) -> None:
    for record in [*CONTEXT, *THREAD, *AG2, agent("CodeExecutionEvent", "a", "b")]:
        session = opened([CONTEXT[1], {**record, key: odd}], format="autogen")
        assert session.messages
        saved(session, session.messages[:1])
        saved(session, form="openai-chat")
