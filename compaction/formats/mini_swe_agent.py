"""mini-swe-agent runs: plain chat messages, each with what the agent noted under `extra`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import openai_like, responses_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.formats.sketching import time_of, usage_of
from compaction.formats.swe_agent import answered
from compaction.messages import Message, Part, Session, Source

_LAYOUT = "mini-swe-agent"

#: The command that ends a run, which every task of the tool tells: older files are bare lists.
_ENDINGS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


def is_message(value: object) -> bool:
    """Whether a value is a message: of a role, or an item of the Responses API."""
    if not isinstance(value, Mapping):
        return False
    return isinstance(value.get("role"), str) or _is_response(value) or _is_output(value)


def parse_message(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message; a whole response is that of its items."""
    if _is_response(message):
        items = message["output"]
        return tuple(
            part
            for item in items
            if isinstance(item, Mapping)
            for part in responses_like.parse_item(item)
        )
    if _is_output(message):
        return responses_like.parse_item(message)
    return openai_like.parse_blocks(message)


def _is_response(value: Mapping[str, Any]) -> bool:
    return "role" not in value and isinstance(value.get("output"), list)


def _is_output(value: Mapping[str, Any]) -> bool:
    return "role" not in value and value.get("type") == "function_call_output"


def _role(message: Mapping[str, Any], parts: Sequence[Part]) -> str:
    del parts
    if _is_response(message):
        return "assistant"
    return "tool" if _is_output(message) else role_of(message)


def _facts(message: Mapping[str, Any]) -> Facts:
    extra = message.get("extra")
    extra = extra if isinstance(extra, Mapping) else {}
    response = message if _is_response(message) else extra.get("response")
    response = response if isinstance(response, Mapping) else {}
    model = response.get("model")
    return Facts(
        time=time_of(extra),
        model=model if isinstance(model, str) else "",
        usage=usage_of(response.get("usage")),
    )


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    """The note with which a run ends is no message that is sent."""
    del holder
    return {
        index: "marks of the end"
        for index, value in enumerate(values)
        if isinstance(value, Mapping) and value.get("role") == "exit"
    }


SHAPE = Shape(
    format="mini-swe-agent",
    lists=(("messages",),),
    answers=(),
    parse=parse_message,
    role=_role,
    is_message=is_message,
    hidden=_hidden,
    facts=_facts,
)


class MiniSweAgent:
    """The format, with the settings of the run around the messages or (older) without."""

    name = "mini-swe-agent"
    title = "mini-swe-agent run"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """The name of the layout, or a task that tells how the tool is ended."""
        value = sample.whole
        if isinstance(value, Mapping):
            return _is_run(value)
        return isinstance(value, list) and _is_told(value)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The messages of a run. Only the task is typed: what follows comes from the shell."""
        document = open_document(source, SHAPE.structural)
        session = chatfile.read(document, options, SHAPE)
        outer = document.roots[0].value if document.roots else None
        settings = _at(outer, "info", "config", "model", "model_name")
        return replace(
            session,
            messages=answered(session.messages),
            model=session.model or (settings if isinstance(settings, str) else ""),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same run with other messages; a whole run for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            return write_back(
                messages,
                session,
                layout,
                lambda one: openai_like.render_message(one, Ids(verbatim=True), notes),
            )
        chat = openai_like.render(as_responses(messages, session, notes), notes)
        calls = sum(one["role"] == "assistant" for one in chat)
        config = {"model": {"model_name": session.model}} if session.model else {}
        document = {
            "info": {
                "model_stats": {"instance_cost": 0.0, "api_calls": calls},
                "config": config,
                "exit_status": "",
                "submission": "",
            },
            "messages": chat,
            "trajectory_format": f"{_LAYOUT}-1.1",
        }
        return whole(document, notes)


def _is_run(value: Mapping[str, Any]) -> bool:
    stated = value.get("trajectory_format")
    if isinstance(stated, str) and stated.startswith(_LAYOUT):
        return isinstance(value.get("messages"), list)
    return "mini_version" in _mapping(value.get("info")) and isinstance(value.get("messages"), list)


def _is_told(values: Sequence[object]) -> bool:
    """Whether the first two messages are the system prompt and the task of the tool."""
    for value in values[:2]:
        if not isinstance(value, Mapping) or value.get("role") not in ("system", "user"):
            return False
        content = value.get("content")
        if isinstance(content, str) and any(ending in content for ending in _ENDINGS):
            return True
    return False


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _at(value: object, *keys: str) -> object:
    for key in keys:
        value = _mapping(value).get(key)
    return value
