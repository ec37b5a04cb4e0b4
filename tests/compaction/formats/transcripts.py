"""Lines of Claude Code transcripts and Codex rollouts, made for one test each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from compaction.formats import load
from compaction.messages import Message, Session

JSON = dict[str, Any]


def jsonl(records: Iterable[object]) -> bytes:
    """Records one a line, laid out as the tools write them."""
    return b"".join(
        json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        for record in records
    )


def texts(messages: Sequence[Message]) -> list[str]:
    """What a reader sees of each message."""
    return [message.text for message in messages]


def same(left: Session, right: Sequence[Message]) -> bool:
    """Whether a session sends just what `right` sends."""
    return len(left) == len(right) and all(
        one.same_content(other) for one, other in zip(left.messages, right, strict=True)
    )


class Transcript:
    """A Claude Code transcript that grows line by line; each line answers the one before."""

    def __init__(self) -> None:
        self.records: list[JSON] = []
        self.last: str | None = None

    def line(self, kind: str, **members: Any) -> str:
        """Add a line; its id comes back."""
        number = len(self.records)
        record = {
            "parentUuid": self.last,
            "isSidechain": False,
            "cwd": "/home/dev/app",
            "sessionId": "session-1",
            "version": "2.1.36",
            "gitBranch": "main",
            "type": kind,
            "uuid": f"line-{number}",
            "timestamp": f"2026-03-01T10:00:{number:02d}.000Z",
            **members,
        }
        self.records.append(record)
        self.last = str(record["uuid"])
        return self.last

    def bare(self, **record: Any) -> None:
        """Add a record outside of the chain."""
        self.records.append(record)

    def user(self, content: object, **members: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **members)

    def result(self, call: str, content: object, **members: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([block], toolUseResult={"stdout": content}, **members)

    def says(self, response: str, *blocks: JSON, output: int = 50, **members: Any) -> str:
        message = {
            "id": response,
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": list(blocks),
            "usage": {
                "input_tokens": 10,
                "cache_read_input_tokens": 1000,
                "cache_creation_input_tokens": 40,
                "output_tokens": output,
            },
        }
        return self.line("assistant", message=message, **members)

    def boundary(self, **metadata: Any) -> str:
        before, self.last = self.last, None
        return self.line(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=before,
            content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 155_000, **metadata},
        )

    def summary(self, text: str) -> str:
        return self.user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def data(self) -> bytes:
        return jsonl(self.records)

    def load(self, **options: Any) -> Session:
        return load(self.data(), **options)


def text(value: str) -> JSON:
    """A text block."""
    return {"type": "text", "text": value}


def call(name: str, call_id: str, **given: Any) -> JSON:
    """A tool call block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


class Rollout:
    """A Codex rollout that grows line by line."""

    def __init__(self, instructions: str | None = "Be exact.", **meta: Any) -> None:
        self.records: list[JSON] = []
        payload: JSON = {"id": "thread-1", "cwd": "/app", "model_provider": "openai", **meta}
        if instructions is not None:
            payload["base_instructions"] = {"text": instructions}
        self.line("session_meta", payload)

    def line(self, kind: str, payload: JSON) -> None:
        number = len(self.records)
        self.records.append(
            {"timestamp": f"2026-04-01T09:00:{number:02d}.000Z", "type": kind, "payload": payload}
        )

    def item(self, **item: Any) -> None:
        self.line("response_item", item)

    def event(self, kind: str, **members: Any) -> None:
        self.line("event_msg", {"type": kind, **members})

    def user(self, value: str) -> None:
        """What a person typed: the item, and the event that repeats it."""
        self.line("response_item", said("user", value))
        self.event("user_message", message=value)

    def says(self, value: str) -> None:
        self.line("response_item", said("assistant", value))
        self.event("agent_message", message=value)

    def compacted(self, *history: JSON, message: str = "") -> None:
        payload: JSON = {"message": message}
        if history:
            payload["replacement_history"] = list(history)
        self.line("compacted", payload)

    def data(self) -> bytes:
        return jsonl(self.records)

    def load(self, **options: Any) -> Session:
        return load(self.data(), **options)


def said(role: str, value: str) -> JSON:
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": value}]}
