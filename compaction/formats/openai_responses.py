"""OpenAI Responses: requests, responses, logs of both, and bare lists of items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction.findings import Finding
from compaction.formats import chatfile
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.chatshape import Shape
from compaction.formats.converting import whole
from compaction.formats.dialects import responses_like
from compaction.formats.dialects.ids import Ids
from compaction.formats.dialects.notes import Notes
from compaction.formats.dialects.tools import tools_for
from compaction.formats.documents import open_document
from compaction.formats.layout import place, write_back
from compaction.messages import Message, Part, Session, Source

_OWN_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def _live_from(values: Sequence[object]) -> int:
    """The last compaction item: items before it are no longer read by the model.

    A list that was compacted as a whole keeps the messages of the user in front of the item.
    """
    for index in range(len(values) - 1, 0, -1):
        value = values[index]
        if isinstance(value, Mapping) and str(value.get("type")) in responses_like.COMPACTIONS:
            return 0 if all(map(_is_asked, values[:index])) else index
    return 0


def _is_asked(item: object) -> bool:
    return (
        isinstance(item, Mapping)
        and item.get("type") in (None, "message")
        and item.get("role") in ("user", "developer", "system")
    )


def _role(item: Mapping[str, Any], parts: Sequence[Part]) -> str:
    del parts
    return responses_like.item_role(item)


def _summary(item: Mapping[str, Any]) -> str:
    return "openai" if str(item.get("type")) in responses_like.COMPACTIONS else ""


def _bound(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "reasoning"


def _look(holder: Mapping[str, Any]) -> Iterator[Finding]:
    for key in ("previous_response_id", "conversation"):
        held = holder.get(key)
        if held:
            shown = held.get("id") if isinstance(held, Mapping) else held
            yield Finding(
                "warning",
                "context-not-in-file",
                f"The request goes on from {key} {shown}: what came before is not in the file, "
                "so its tokens are not counted.",
            )


SHAPE = Shape(
    format="openai-responses",
    lists=(
        ("input",),
        ("request", "input"),
        ("request", "body", "input"),
        ("body", "input"),
        ("kwargs", "input"),
        ("items",),
    ),
    answers=(("output",), ("response", "output"), ("response", "body", "output")),
    parse=responses_like.parse_item,
    role=_role,
    is_message=responses_like.is_item,
    instructions="instructions",
    single=True,
    live_from=_live_from,
    summary=_summary,
    bound=_bound,
    look=_look,
)


class OpenAIResponses:
    """The format."""

    name = "openai-responses"
    title = "OpenAI Responses"
    dialect: Dialect = "openai-responses"
    suffix = ".json"
    read_only = ""

    def recognise(self, sample: Sample) -> bool:
        """`input` or `output` of a request or response, or a list of items that says so."""
        if sample.yaml:
            return False
        if sample.whole is not None:
            return holds_items(sample.whole)
        if sample.lines:
            return any(_is_exchange(line) for line in sample.lines) or _speaks(sample.lines)
        return b'"input":' in sample.head.replace(b" ", b"") and b'"model"' in sample.head

    def read(self, source: Source, options: ReadOptions) -> Session:
        """One message per item, `instructions` as message 0; from the last compaction when live."""
        return chatfile.read(open_document(source, SHAPE.structural), options, SHAPE)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """The same file with other items; a request object for a session from elsewhere."""
        notes = Notes(self.title)
        if layout := place(messages, session, self.name):

            def render(message: Message) -> list[dict[str, Any]]:
                return responses_like.render_items(message, Ids(verbatim=True), notes)

            written = write_back(messages, session, layout, render)
            return Written(written.chunks, (*written.findings, *notes.findings()))
        instructions, items = responses_like.render(messages, notes, session.format)
        document: dict[str, Any] = {"model": session.model} if session.model else {}
        if instructions is not None:
            document["instructions"] = instructions
        document["input"] = items
        tools = tools_for(session.tools, self.dialect, notes)
        if tools:
            document["tools"] = tools
        return whole(document, notes)


def holds_items(value: object) -> bool:
    """Whether a JSON value is a request, a response, or a list of items of this dialect."""
    if isinstance(value, list):
        return _speaks(value) or (bool(value) and all(_is_exchange(v) for v in value[:20]))
    return _is_exchange(value)


def _speaks(values: Sequence[object]) -> bool:
    return any(_is_own(value) for value in values)


def _is_own(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    kind = str(value.get("type"))
    if kind in responses_like.OWN or (
        kind in responses_like.COMPACTIONS and "encrypted_content" in value
    ):
        return True
    content = value.get("content")
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and str(block.get("type")) in _OWN_BLOCKS for block in content
    )


def _is_exchange(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if value.get("object") == "response" and isinstance(value.get("output"), list):
        return True
    given = value.get("input")
    if isinstance(given, str):
        return isinstance(value.get("model"), str) and "messages" not in value
    if isinstance(given, list) and "messages" not in value:
        return _speaks(given) or (
            isinstance(value.get("model"), str)
            and all(responses_like.is_item(item) for item in given)
        )
    if isinstance(value.get("output"), list) and _speaks(value["output"]):
        return True
    inner = value.get("items")
    if isinstance(inner, list) and _speaks(inner):
        return True
    return any(_is_exchange(value.get(key)) for key in ("request", "response", "body", "kwargs"))
