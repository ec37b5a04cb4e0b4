"""Events of OpenHands, of its first version and of its SDK: what each says, and to whom."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from compaction.formats import exact
from compaction.formats.dialects.blocks import text_of as text
from compaction.formats.dialects.roles import normal
from compaction.formats.sketching import usage_of
from compaction.messages import Part, Text, Usage

Record = Mapping[str, Any]

#: What an event is: a message of a role, a compaction, or nothing that is sent. A `placeholder`
#: is not read as a message and yet counted where the tool counts events.
What = Literal["message", "condensation", "placeholder", "client", "unknown"]

#: Kinds of the SDK that are sent to a model.
_SPOKEN = frozenset(
    {
        "SystemPromptEvent",
        "MessageEvent",
        "ActionEvent",
        "ObservationEvent",
        "AgentErrorEvent",
        "UserRejectObservation",
        "CondensationSummaryEvent",
    }
)

#: Kinds of the SDK that the client keeps for itself.
_CLIENT = frozenset(
    {
        "ConversationStateUpdateEvent",
        "ConversationErrorEvent",
        "CondensationRequest",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "TokenEvent",
        "HookExecutionEvent",
        "StreamingDeltaEvent",
        "ACPToolCallEvent",
    }
)

KINDS = _SPOKEN | _CLIENT | {"Condensation"}

#: Actions and observations of the first version that no model is shown.
_STATE = frozenset(
    {
        "agent_state_changed",
        "change_agent_state",
        "condensation_request",
        "loop_recovery",
        "null",
        "pause",
        "resume",
        "start",
        "server_ready",
        "status",
        "stop",
    }
)


def is_event(value: object) -> bool:
    """Whether a value can be an event of either version."""
    if not isinstance(value, Mapping):
        return False
    if "kind" in value:
        kind = value["kind"]
        return isinstance(kind, str) and (kind in KINDS or kind.endswith("Event"))
    return isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)


def is_surely_event(value: object) -> bool:
    """Whether a value is an event and says when it was and whose it is, as only these do."""
    if not isinstance(value, Mapping) or not is_event(value):
        return False
    told = isinstance(value.get("timestamp"), str) and isinstance(value.get("source"), str)
    if "kind" in value:
        return told and value["kind"] in KINDS
    return told and "id" in value


def is_sdk(event: Record) -> bool:
    """Whether an event is one of the SDK."""
    return isinstance(event.get("kind"), str)


def what(event: Record) -> What:
    """What an event is."""
    if is_sdk(event):
        kind = event["kind"]
        if kind == "Condensation":
            return "condensation"
        return "message" if kind in _SPOKEN else "client" if kind in _CLIENT else "unknown"
    action = event.get("action")
    name = action if isinstance(action, str) else event.get("observation")
    if action == "condensation":
        return "condensation"
    if name == "recall":
        return "placeholder"
    return "client" if name in _STATE else "message"


def role(event: Record) -> str:
    """The role of an event that is a message."""
    if is_sdk(event):
        kind = event["kind"]
        if kind == "SystemPromptEvent":
            return "system"
        if kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            return "tool"
        if kind == "MessageEvent":
            said = normal(text(mapping(event.get("llm_message")).get("role")))
            return said or ("assistant" if event.get("source") == "agent" else "user")
        return "assistant" if kind == "ActionEvent" else "user"
    if isinstance(event.get("action"), str):
        if event["action"] == "system":
            return "system"
        return "user" if is_users(event) else "assistant"
    return "tool" if called(event) else "user"


def is_users(event: Record) -> bool:
    """Whether a person did it: in flat records, which name nobody, only what has no thought."""
    source = event.get("source")
    if isinstance(source, str):
        return source != "agent"
    return event["action"] == "message" and "thought" not in event


# ------------------------------------------------------------------------------------- calls


def response(event: Record) -> str:
    """The id of the response an action comes from; "" where none is told."""
    if is_sdk(event):
        return text(event.get("llm_response_id")) if event["kind"] == "ActionEvent" else ""
    if not isinstance(event.get("action"), str):
        return ""
    return text(mapping(metadata(event).get("model_response")).get("id"))


def calls(event: Record) -> bool:
    """Whether an event of the model is a call that is answered."""
    if is_sdk(event):
        return bool(event["kind"] == "ActionEvent")
    return not is_users(event) and event["action"] not in ("message", "finish", "system")


def called(event: Record) -> str:
    """The id of the call that an event makes or answers, as it says itself; "" if it does not."""
    if is_sdk(event):
        return text(event.get("tool_call_id"))
    return text(metadata(event).get("tool_call_id"))


def made_id(event: Record) -> str:
    """An id for the call of an action that has none: the same wherever the record stands."""
    name = text(event.get("action"))
    number = event.get("id")
    if isinstance(number, (int, str)) and not isinstance(number, bool):
        return f"{name}#{number}"
    return f"{name}#{zlib.crc32(exact.dumps(event).encode('utf-8', 'replace')):08x}"


def event_id(event: Record) -> str:
    """The id of an event as text; "" for none."""
    number = event.get("id")
    if isinstance(number, bool) or not isinstance(number, (int, str)):
        return ""
    return str(number)


def metadata(event: Record) -> Record:
    """What an event of the first version says of the call it is or answers."""
    return mapping(event.get("tool_call_metadata"))


def model(event: Record) -> str:
    """The model that an event tells of."""
    if is_sdk(event):
        value = mapping(event.get("value"))
        metrics = mapping(mapping(value.get("usage_to_metrics")).get("default"))
        inner = mapping(mapping(value.get("agent")).get("llm")).get("model")
        return text(metrics.get("model_name")) or text(inner)
    return text(mapping(metadata(event).get("model_response")).get("model"))


def usage(event: Record) -> Usage | None:
    """The usage of the response an action comes from."""
    return usage_of(mapping(metadata(event).get("model_response")).get("usage"))


def tools(event: Record) -> list[Any]:
    """The tool definitions that come with a system prompt."""
    held = event.get("tools") if is_sdk(event) else mapping(event.get("args")).get("tools")
    return [_chat_tool(tool) for tool in held] if isinstance(held, list) else []


def _chat_tool(tool: object) -> object:
    """A tool of the SDK as it is sent; others are so already."""
    if isinstance(tool, Mapping) and "function" not in tool and isinstance(tool.get("name"), str):
        return {"type": "function", "function": dict(tool)}
    return tool


# ------------------------------------------------------------------------------- compactions


@dataclass(frozen=True, slots=True)
class Condensation:
    """What a compaction forgot, what it says instead, and behind how many events it stands."""

    summary: str
    offset: int | None
    named: frozenset[str]
    between: tuple[int, int] | None

    def forgets(self, event: Record) -> bool:
        """Whether an event is forgotten."""
        number = event.get("id")
        if self.between and isinstance(number, int):
            return self.between[0] <= number <= self.between[1]
        return event_id(event) in self.named


def condensation(event: Record) -> Condensation:
    """What an event of a compaction says."""
    held = event if is_sdk(event) else mapping(event.get("args")) or event
    forgotten = held.get("forgotten_event_ids")
    named = frozenset(str(each) for each in forgotten) if isinstance(forgotten, list) else ()
    first, last = held.get("forgotten_events_start_id"), held.get("forgotten_events_end_id")
    offset = held.get("summary_offset")
    return Condensation(
        text(held.get("summary")),
        offset if isinstance(offset, int) and offset >= 0 else None,
        frozenset(named) - {""},
        (first, last) if isinstance(first, int) and isinstance(last, int) else None,
    )


def summary_parts(event: Record) -> tuple[Part, ...]:
    """What stands in for the events that a compaction forgot."""
    said = condensation(event).summary
    return (Text(said),) if said else ()


def mapping(value: object) -> Record:
    """A value that is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}
