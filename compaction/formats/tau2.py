"""tau2-bench simulations: chat messages of an agent and of a simulated user with tools of its own.

The agent is sent what both say and what its own tools answer; the tools of the user are not its.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.errors import SessionError
from compaction.formats import chatfile, exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import openai_like
from compaction.formats.dialects.blocks import parse_content, result_content, text_of
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.roles import role_of
from compaction.formats.documents import open_document, where
from compaction.formats.layout import place, write_back
from compaction.formats.openai_chat import is_message
from compaction.formats.pairing import pairing
from compaction.messages import Message, Part, Session, Source, ToolResult

_USERS_TOOLS = "tools of the simulated user"


def parse(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of one message; results of one step may stand together in it."""
    inner = record.get("tool_messages")
    if isinstance(inner, list):
        return tuple(_result(one) for one in inner if isinstance(one, Mapping))
    if role_of(record) == "tool":
        return (_result(record),)
    return openai_like.parse_blocks(record)


def _result(record: Mapping[str, Any]) -> ToolResult:
    call = record.get("id", record.get("tool_call_id"))
    content = result_content(parse_content(record.get("content")))
    return ToolResult(
        text_of(call),
        content,
        is_error=record.get("error") is True,
        name=text_of(record.get("name")),
    )


def _requestor(value: object) -> str:
    """Whose call a call or a result says it is."""
    if not isinstance(value, Mapping):
        return ""
    inner = value.get("tool_messages")
    held = inner[0] if isinstance(inner, list) and inner else value
    return text_of(held.get("requestor")) if isinstance(held, Mapping) else ""


def _hidden(values: Sequence[object], _: Mapping[str, Any]) -> dict[int, str]:
    """What goes between the simulated user and its own tools."""
    hidden: dict[int, str] = {}
    caller = "assistant"
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            continue
        role = role_of(value)
        calls = value.get("tool_calls")
        if role == "tool":
            whose = _requestor(value) or caller
        elif isinstance(calls, list) and calls:
            whose = caller = _requestor(calls[0]) or role
        else:
            continue
        if whose == "user":
            hidden[index] = _USERS_TOOLS
    return hidden


def _called(simulation: Mapping[str, Any]) -> str:
    meta = simulation.get("meta")
    for holder, key in ((simulation, "id"), (meta, "id"), (simulation, "task_id")):
        name = holder.get(key) if isinstance(holder, Mapping) else None
        if isinstance(name, str) and name:
            return name
    return ""


def _about(simulation: Mapping[str, Any], document: object) -> Mapping[str, Any]:
    """The model, tools and task, which results state once for all simulations."""
    info = document.get("info") if isinstance(document, Mapping) else None
    agent, place_ = ((info.get(key) if isinstance(info, Mapping) else None) for key in _INFO)
    about: dict[str, Any] = {}
    model = agent.get("llm") if isinstance(agent, Mapping) else simulation.get("model_path")
    if isinstance(model, str):
        about["model"] = model
    if isinstance(place_, Mapping) and isinstance(place_.get("tool_defs"), list):
        about["tools"] = place_["tool_defs"]
    title = " ".join(_words(simulation, place_))
    return {**about, "title": title} if title else about


_INFO = ("agent_info", "environment_info")


def _words(simulation: Mapping[str, Any], environment: object) -> Iterator[str]:
    domain = simulation.get("task_name")
    if isinstance(environment, Mapping):
        domain = environment.get("domain_name", domain)
    if isinstance(domain, str):
        yield domain
    task = simulation.get("task_id")
    if isinstance(task, (str, int)):
        yield f"task {task}"


SHAPE = Shape(
    format="tau2",
    lists=(("messages",),),
    answers=(),
    parse=parse,
    role=lambda record, _: role_of(record),
    is_message=is_message,
    groups=(("simulations",),),
    hidden=_hidden,
    about=_about,
    called=_called,
    parsers=pairing(parse),
    growing=False,
)


class Tau2:
    """The format."""

    name = "tau2"
    title = "tau2-bench simulations"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """Results with simulations, one simulation, or a line for each."""
        if sample.yaml:
            return False
        return any(_holds(value) for value in (sample.whole, *sample.lines[:20]))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The simulation asked for, else the first, as its agent was sent it."""
        document = open_document(source, SHAPE.structural)
        root = document.roots[0].value
        if isinstance(root, Mapping) and (fault := _no_messages(root)):
            raise SessionError(f"{where(source)} {fault}")
        session = chatfile.read(document, options, SHAPE)
        # The tokens of the simulated user are those of another model.
        messages = (
            one if one.role == "assistant" or not one.usage else replace(one, usage=None)
            for one in session.messages
        )
        return replace(session, messages=tuple(messages))

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; one simulation for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            written = write_back(
                messages, session, layout, lambda one: _rendered(one, Ids(verbatim=True), notes)
            )
            return Written(written.chunks, (*written.findings, *notes.findings()))
        ids = Ids()
        rendered = [
            {**record, "turn_idx": index}
            for index, record in enumerate(
                record
                for number, one in enumerate(as_responses(messages, session, notes))
                for record in _rendered(one, ids, notes.at(number))
            )
        ]
        document = {"id": "simulation", "task_id": "0", "messages": rendered}
        return whole(document, notes)


def _rendered(message: Message, ids: Ids, notes: Notes) -> list[dict[str, Any]]:
    """A message as tau2 has it: calls without a function around them, results under `id`."""
    out: list[dict[str, Any]] = []
    for chat in openai_like.render_message(message, ids, notes):
        if chat["role"] == "tool":
            call = chat.pop("tool_call_id")
            out.append({"id": call, **chat, "requestor": "assistant", "error": False})
            continue
        if calls := chat.pop("tool_calls", None):
            chat["tool_calls"] = [_call(call) for call in calls]
        out.append(chat)
    return out


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        arguments = exact.loads(function["arguments"])
    except exact.ExactError:
        arguments = {"input": function["arguments"]}
    return {
        "id": call["id"],
        "name": function["name"],
        "arguments": arguments,
        "requestor": "assistant",
    }


def _holds(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "tasks" in value and ("simulations" in value or _is_info(value.get("info"))):
        return True
    if isinstance(value.get("ticks"), list) and "task_id" in value:
        return True
    messages = value.get("messages")
    if not isinstance(messages, list):
        return False
    if value.get("benchmark_name") == "tau2-bench":
        return True
    return any(_is_own(message) for message in messages[:50])


def _is_info(value: object) -> bool:
    return isinstance(value, Mapping) and "user_info" in value and "agent_info" in value


def _is_own(message: object) -> bool:
    """Whether a message has what only tau2 writes: turns counted, and whose a call is."""
    if not isinstance(message, Mapping) or "role" not in message:
        return False
    calls = message.get("tool_calls")
    called = any(_requestor(call) for call in calls) if isinstance(calls, list) else False
    return "turn_idx" in message or called or bool(_requestor(message))


def _no_messages(root: Mapping[str, Any]) -> str:
    """Why a file of tau2-bench has no messages; "" where it may have some."""
    if isinstance(root.get("ticks"), list) and not root.get("messages"):
        return (
            "is a voice simulation of tau2-bench, recorded in ticks of sound: there are no "
            "messages in it to compact."
        )
    if _is_info(root.get("info")) and "simulations" not in root:
        return (
            "holds the tasks of tau2-bench and no simulations: they are in the folder "
            "`simulations` beside it, one file each. Open one of those."
        )
    return ""
