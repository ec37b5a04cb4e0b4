"""AutoGen and AG2: states of agents and teams, results of tasks, and chat histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.choosing import chosen
from compaction.formats.converting import as_responses, whole
from compaction.formats.dialects import autogen_like
from compaction.formats.dialects.autogen_like import UNSENT, Style, is_message, style_of
from compaction.formats.dialects.notes import Notes
from compaction.formats.documents import Document, open_document
from compaction.formats.layout import place, write_back
from compaction.formats.listpaths import Place, lists_of, paths_in, places_in, records_in
from compaction.messages import Conversation, Message, Session, Source, preview_of

#: Messages that wait for an agent; they are in its state once it has read them.
_WAITING = "message_buffer"

#: Keys on the way to the messages of an agent that say nothing of whose they are.
_PLACES = frozenset({"agent_states", "agent_state", "llm_context", "messages", "message_thread"})


def _telling(value: object) -> bool:
    return style_of(value) is not None


def _hidden(values: Sequence[object], holder: Mapping[str, Any]) -> Mapping[int, str]:
    del holder
    hidden: dict[int, str] = {}
    for index, value in enumerate(values):
        kind = value.get("type") if isinstance(value, Mapping) else None
        if isinstance(kind, str) and kind in UNSENT:
            hidden[index] = "events that are sent to no model"
    return hidden


SHAPE = Shape(
    format="autogen",
    lists=(),
    answers=(),
    parse=autogen_like.parse,
    role=autogen_like.role,
    is_message=is_message,
    facts=autogen_like.facts,
    hidden=_hidden,
    # What a model thought is of the answer after it.
    bound=lambda record: record.get("type") == "ThoughtEvent",
)


class AutoGen:
    """The format."""

    name = "autogen"
    title = "AutoGen state or messages"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """A list with messages or events of its types, or results as AG2 gathers them."""
        return not sample.yaml and any(True for _ in lists_of(sample, _telling))

    def read(self, source: Source, options: ReadOptions) -> Session:
        """The context of the agent that has the longest, or the one that is asked for."""
        document = open_document(source, frozenset())
        places = _places(document)
        if len(places) < 2:
            paths = dict.fromkeys(
                path for root in document.roots for path in paths_in(root.value, _telling)
            )
            return _read(source, options, tuple(paths))
        conversations = tuple(_conversation(one, places) for one in places)
        index, found = chosen(conversations, options.conversation, source, default=_longest(places))
        session = _read(source, replace(options, conversation=None), (places[index].path,))
        return replace(
            session,
            title=session.title or conversations[index].id,
            conversations=conversations,
            problems=(*session.problems, *found),
        )

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other messages; the state of an agent for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):
            style, speaker = _style(session)

            def render(message: Message) -> list[dict[str, Any]]:
                return autogen_like.render(message, style, speaker, notes)

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        listed: list[dict[str, Any]] = []
        for index, message in enumerate(as_responses(messages, session, notes)):
            listed += autogen_like.render(message, "model", "assistant", notes.at(index))
        if session.tools.text:
            notes.at(None).tell("tools", "the tool definitions")
        state = {"type": "AssistantAgentState", "version": "1.0.0"}
        return whole({**state, "llm_context": {"messages": listed}}, notes)


def _read(source: Source, options: ReadOptions, paths: tuple[tuple[str, ...], ...]) -> Session:
    shape = replace(SHAPE, lists=paths)
    return chatfile.read(open_document(source, shape.structural), options, shape)


def _places(document: Document) -> list[Place]:
    """The lists of messages of a state, but those that wait to be read."""
    if document.lines or not isinstance(document.roots[0].value, Mapping):
        return []
    found = places_in(document.roots[0].value, _telling)
    return [one for one in found if one.path[-1] != _WAITING]


def _longest(places: Sequence[Place]) -> int:
    """The longest context of a model; the longest list where there is none."""
    contexts = [index for index, one in enumerate(places) if "llm_context" in one.path]
    return max(contexts or range(len(places)), key=lambda index: len(places[index].values))


def _conversation(place: Place, places: Sequence[Place]) -> Conversation:
    named = [_name(one) for one in places]
    name = _name(place)
    if named.count(name) > 1:
        name = ".".join(place.path)
    title = ""
    for value in place.values:
        if isinstance(value, Mapping) and is_message(value):
            parts = autogen_like.parse(value)
            if autogen_like.role(value) == "user":
                title = preview_of(parts)[:80]
                break
    return Conversation(name, title, len(place.values))


def _name(place: Place) -> str:
    keys = [key for key in place.path if key not in _PLACES]
    return ".".join(keys) or ".".join(place.path)


def _style(session: Session) -> tuple[Style, str]:
    """How the messages of the file are, and the agent that speaks in them."""
    style: Style = "ag2"
    speaker = ""
    for record in records_in(session):
        found = style_of(record)
        style = found or style
        source = record.get("source")
        if not speaker and autogen_like.role(record) == "assistant" and isinstance(source, str):
            speaker = source
    return style, speaker or "assistant"
