"""SWE-agent trajectories: the `history` is what the model was told; `trajectory` repeats it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Facts, Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Part, Session, Source

#: What a step of the trajectory has.
_STEP = frozenset({"action", "observation", "response"})

#: How a history item of each role is called in newer files.
_TYPES: Mapping[str, str] = {"assistant": "action", "system": "system_prompt"}


def is_message(value: object) -> bool:
    """Whether a value can be an item of the history."""
    return isinstance(value, Mapping) and isinstance(value.get("role"), str)


def parse_item(item: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one history item: a chat message whose result names its call in a list."""
    called = item.get("tool_call_ids")
    if isinstance(called, list) and called and "tool_call_id" not in item:
        # The tool sends a result with the first of its ids.
        return openai_like.parse_blocks({**item, "tool_call_id": called[0]})
    return openai_like.parse_blocks(item)


def _role(item: Mapping[str, Any], parts: Sequence[Part]) -> str:
    del parts
    return role_of(item)


def _facts(item: Mapping[str, Any]) -> Facts:
    return Facts(injected=item.get("is_demo") is True)


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> dict[int, str]:
    """Items of other agents that shared the history: each agent is sent its own only."""
    del holder
    agents = [value.get("agent") if isinstance(value, Mapping) else None for value in values]
    main = next((agent for agent in agents if isinstance(agent, str)), None)
    return {
        index: "side conversations"
        for index, agent in enumerate(agents)
        if isinstance(agent, str) and agent != main
    }


SHAPE = Shape(
    format="swe-agent",
    lists=(("history",),),
    answers=(),
    parse=parse_item,
    role=_role,
    is_message=is_message,
    hidden=_hidden,
    facts=_facts,
)


class SweAgent:
    """The format: one JSON document a run, usually named .traj."""

    name = "swe-agent"
    title = "SWE-agent trajectory"
    dialect: Dialect = "openai-chat"
    suffix = ".traj"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A list of steps beside the history they came from."""
        return any(_is_run(value) for value in (sample.whole, *sample.lines[:3]))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The history of a run. Only the task is typed: what follows comes from the shell."""
        document = open_document(source, SHAPE.structural)
        session = chatfile.read(document, options, SHAPE)
        first = document.roots[0].value if document.roots else None
        outer = first if isinstance(first, Mapping) and not document.lines else {}
        config = _mapping(outer.get("replay_config"))
        model = _mapping(_mapping(config.get("agent")).get("model")).get("name")
        task = _mapping(config.get("problem_statement")).get("id")
        return replace(
            session,
            messages=answered(session.messages),
            model=session.model or (model if isinstance(model, str) else ""),
            title=session.title or (task if isinstance(task, str) else ""),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same run with another history; a whole run for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            agent, typed = _manners(session)

            def render(message: Message) -> list[dict[str, Any]]:
                chat = openai_like.render_message(message, Ids(verbatim=True), notes)
                return [_item(one, agent, typed=typed) for one in chat]

            return write_back(messages, session, layout, render)
        chat = openai_like.render(as_responses(messages, session, notes), notes)
        document = {
            "environment": "main",
            "trajectory": list(_steps(chat)),
            "history": [_item(one, "main", typed=True) for one in chat],
            "info": {"exit_status": None, "submission": None, "model_stats": {}},
        }
        return whole(document, notes)


def answered(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages of a run nobody talks to: user messages behind an answer are output."""
    out: list[Message] = []
    started = False
    for message in messages:
        started = started or (message.role == "assistant" and not message.injected)
        if started and message.role == "user" and not message.summary:
            message = replace(message, injected=True)
        out.append(message)
    return tuple(out)


def _is_run(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    history, steps = value.get("history"), value.get("trajectory")
    if not isinstance(history, list) or not isinstance(steps, list):
        return False
    said = any(is_message(item) for item in history[:20])
    if steps:
        return said and any(isinstance(s, Mapping) and s.keys() >= _STEP for s in steps[:20])
    return said and ("environment" in value or "replay_config" in value)


def _manners(session: Session) -> tuple[str, bool]:
    """The agent the items of a run are of, and whether they say their type."""
    for message in session.messages:
        record = message.record if message.spans else None
        if isinstance(record, Mapping):
            agent = record.get("agent")
            return (agent if isinstance(agent, str) else "main"), "message_type" in record
    return "main", True


def _item(chat: dict[str, Any], agent: str, *, typed: bool) -> dict[str, Any]:
    """A chat message as an item of the history."""
    role = chat["role"]
    item: dict[str, Any] = {"role": role, "content": chat["content"] or "", "agent": agent}
    if typed:
        item["message_type"] = _TYPES.get(role, "observation")
    if role == "assistant":
        item["thought"] = _plain(chat["content"])
        item["action"] = _action(chat)
        if chat.get("tool_calls"):
            item["tool_calls"] = chat["tool_calls"]
    if "tool_call_id" in chat:
        item["tool_call_ids"] = [chat["tool_call_id"]]
    return item


def _steps(chat: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The steps that the answers in a list make, with what came back for each."""
    for index, one in enumerate(chat):
        if one["role"] != "assistant":
            continue
        came: list[str] = []
        for after in chat[index + 1 :]:
            if after["role"] == "assistant":
                break
            came.append(_plain(after["content"]))
        thought = _plain(one["content"])
        yield {
            "action": _action(one),
            "observation": "\n".join(came),
            "response": thought,
            "state": {},
            "thought": thought,
            "execution_time": 0.0,
        }


def _action(chat: Mapping[str, Any]) -> str:
    calls = chat.get("tool_calls") or ()
    return "\n".join(f"{c['function']['name']} {c['function']['arguments']}" for c in calls)


def _plain(content: object) -> str:
    if isinstance(content, str):
        return content
    return exact.dumps(content) if content else ""


def _mapping(value: object) -> Mapping[str, Any]:
    """An object; also one that is written as JSON text, as newer runs hold their settings."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = exact.loads(value)
        except exact.ExactError:
            return {}
    return value if isinstance(value, Mapping) else {}
