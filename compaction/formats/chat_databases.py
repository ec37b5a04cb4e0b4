"""Databases of tools whose conversations are plain chats: simonw's `llm`, and Crush.

They become chat messages, as the tools send them.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compaction.formats.dialects.blocks import text_of
from compaction.formats.sqlite_files import Database, document
from compaction.messages import Source

_Rows = Mapping[object, list[dict[str, Any]]]


def _grouped(database: Database, table: str, key: str, *columns: str) -> _Rows:
    """The rows of a table by one of its columns; none where the table is of another version."""
    out: defaultdict[object, list[dict[str, Any]]] = defaultdict(list)
    if database.has(table, key, *columns):
        for row in database.rows(table, "ORDER BY rowid"):
            out[row[key]].append(row)
    return out


def _text(value: object) -> str:
    """A cell as text; the databases do not hold columns to a type."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else text_of(value)


def _answered(conversations: Iterable[dict[str, Any]], source: Source) -> Source | None:
    made = [one for one in conversations if one["messages"]]
    if not made:
        return None
    return document(made if len(made) > 1 else made[0], source)


# --------------------------------------------------------------------------------------- llm


def llm_logs(database: Database, source: Source) -> Source | None:
    """The conversations of `llm`, the newest in front."""
    if not database.has("responses", "id", "prompt", "response", "conversation_id"):
        return None
    return _answered(_llm_conversations(database), source)


def _llm_conversations(database: Database) -> Iterator[dict[str, Any]]:
    names = _grouped(database, "conversations", "id", "name")
    calls = _grouped(database, "tool_calls", "response_id", "name", "arguments", "tool_call_id")
    results = _grouped(database, "tool_results", "response_id", "name", "output", "tool_call_id")
    fragments = _Fragments(database)
    responses = _grouped(database, "responses", "conversation_id")
    for conversation, rows in reversed([*responses.items()]):
        messages: list[dict[str, Any]] = []
        system = ""
        for row in rows:
            told = "\n".join((*fragments.of("system", row["id"]), _text(row.get("system"))))
            if told.strip() and told != system:
                system = told
                messages.append({"role": "system", "content": told.strip("\n")})
            messages += [_llm_result(one) for one in results.get(row["id"], ())]
            prompt = "\n".join((*fragments.of("prompt", row["id"]), _text(row["prompt"])))
            if content := _with_pictures(prompt.strip("\n"), fragments.pictures(row["id"])):
                messages.append({"role": "user", "content": content})
            messages.append(_llm_answer(row, calls.get(row["id"], [])))
        name = next((one["name"] for one in names.get(conversation, ())), None)
        yield {
            "id": conversation,
            "title": name,
            "model": rows[-1].get("resolved_model") or rows[-1].get("model"),
            "messages": messages,
        }


def _llm_result(row: Mapping[str, Any]) -> dict[str, Any]:
    call = _text(row["tool_call_id"]) or _text(row["name"])
    return {"role": "tool", "tool_call_id": call, "content": _text(row["output"])}


def _llm_answer(row: Mapping[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    answer: dict[str, Any] = {"role": "assistant", "content": _text(row["response"])}
    if calls:
        answer["tool_calls"] = [
            _tool_call(one["tool_call_id"] or one["name"], one["name"], one["arguments"])
            for one in calls
        ]
    if isinstance(row.get("model"), str):
        answer["model"] = row["model"]
    if isinstance(row.get("datetime_utc"), str):
        answer["timestamp"] = row["datetime_utc"]
    read, wrote = row.get("input_tokens"), row.get("output_tokens")
    if isinstance(read, int) and isinstance(wrote, int):
        answer["usage"] = {"prompt_tokens": read, "completion_tokens": wrote}
    return answer


def _tool_call(call: object, name: object, arguments: object) -> dict[str, Any]:
    function = {"name": _text(name), "arguments": _text(arguments)}
    return {"id": _text(call), "type": "function", "function": function}


class _Fragments:
    """Texts and files that `llm` keeps apart and puts into prompts."""

    def __init__(self, database: Database) -> None:
        texts = _grouped(database, "fragments", "id", "content")
        self._texts = {key: _text(rows[0]["content"]) for key, rows in texts.items()}
        self._used = {
            kind: _grouped(database, f"{kind}_fragments", "response_id", "fragment_id")
            for kind in ("prompt", "system")
        }
        files = _grouped(database, "attachments", "id", "type", "url", "content")
        self._files = {key: rows[0] for key, rows in files.items()}
        self._attached = _grouped(database, "prompt_attachments", "response_id", "attachment_id")

    def of(self, kind: str, response: object) -> list[str]:
        """The texts that stand before a prompt."""
        used = self._used[kind].get(response, ())
        return [
            self._texts[one["fragment_id"]] for one in used if one["fragment_id"] in self._texts
        ]

    def pictures(self, response: object) -> Iterator[str]:
        """The URLs of what is attached to a prompt; files elsewhere on the disk are named."""
        for one in self._attached.get(response, ()):
            held = self._files.get(one["attachment_id"], {})
            content = held.get("content")
            if isinstance(content, bytes):
                yield _data_url(_text(held.get("type")), base64.b64encode(content).decode())
            elif isinstance(held.get("url"), str):
                yield held["url"]
            elif isinstance(held.get("path"), str):
                yield f"file://{held['path']}"


def _with_pictures(text: str, urls: Iterable[str]) -> str | list[dict[str, Any]]:
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    if not pictures:
        return text
    return [*([{"type": "text", "text": text}] if text else []), *pictures]


def _data_url(mime: str, data: str) -> str:
    return f"data:{mime or 'application/octet-stream'};base64,{data}"


# -------------------------------------------------------------------------------------- crush


def crush(database: Database, source: Source) -> Source | None:
    """The sessions of Crush, the one that went on last in front, sub-agents behind."""
    if not database.has("messages", "id", "session_id", "role", "parts"):
        return None
    if not database.has("sessions", "id", "title", "updated_at"):
        return None
    messages = _grouped(database, "messages", "session_id")
    sessions = [*database.rows("sessions")]
    sessions.sort(key=lambda row: (bool(row.get("parent_session_id")), -_number(row["updated_at"])))
    return _answered((_crush_session(row, messages.get(row["id"], [])) for row in sessions), source)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _crush_session(row: Mapping[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    summary = row.get("summary_message_id")
    ids = [one["id"] for one in messages]
    # A summary stands for what was said before it, and is sent as the user's.
    first = ids.index(summary) if summary in ids else 0
    chat: list[dict[str, Any]] = []
    for index, one in enumerate(messages[first:]):
        role = "user" if summary in ids and not index else _text(one["role"])
        chat += _crush_message(role, one)
    model = next((one["model"] for one in reversed(messages) if one.get("model")), None)
    return {"id": row["id"], "title": row["title"], "model": model, "messages": chat}


def _crush_message(role: str, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        parts = json.loads(_text(row["parts"]), strict=False)
    except (ValueError, RecursionError):
        parts = []
    texts: list[str] = []
    urls: list[str] = []
    spoken: dict[str, Any] = {"role": role, "content": ""}
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for part in parts if isinstance(parts, list) else ():
        data = part.get("data") if isinstance(part, dict) else None
        if not isinstance(data, dict):
            continue
        match part.get("type"):
            case "text":
                texts.append(_text(data.get("text")))
            case "reasoning":
                spoken["reasoning_content"] = _text(data.get("thinking"))
            case "image_url":
                urls.append(_text(data.get("url") or data.get("URL")))
            case "binary":
                held = _text(data.get("Data") or data.get("data"))
                urls.append(_data_url(_text(data.get("MIMEType") or data.get("mime")), held))
            case "tool_call":
                calls.append(_tool_call(data.get("id"), data.get("name"), data.get("input")))
            case "tool_result":
                told = {"role": "tool", "tool_call_id": _text(data.get("tool_call_id"))}
                results.append(
                    {
                        **told,
                        "name": _text(data.get("name")),
                        "content": _text(data.get("content")),
                    }
                )
    spoken["content"] = _with_pictures("\n".join(texts), urls)
    if calls:
        spoken["tool_calls"] = calls
    yield from results
    if spoken["content"] or len(spoken) > 2:
        yield {**spoken, "id": row["id"]}
