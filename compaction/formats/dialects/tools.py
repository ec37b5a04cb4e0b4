"""Tool definitions of the three dialects, each from any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from compaction.formats import exact
from compaction.formats.base import Dialect
from compaction.formats.dialects.notes import Notes
from compaction.messages import Tools


class _Tool(NamedTuple):
    name: str
    description: str
    schema: object


def tools_for(tools: Tools, dialect: Dialect, notes: Notes) -> list[dict[str, Any]]:
    """The definitions a session holds, as `dialect` sends them; server tools are left out."""
    if not tools.text:
        return []
    try:
        held = exact.loads(tools.text)
    except exact.ExactError:
        held = None
    if not isinstance(held, list):
        notes.at(None).tell("tools", "the tool definitions")
        return []
    out: list[dict[str, Any]] = []
    for definition in held:
        tool = _read(definition)
        if tool is None:
            notes.at(None).tell("tools", "tools that run on a provider's own servers")
        else:
            out.append(_written(tool, dialect))
    return out


def _read(definition: object) -> _Tool | None:
    if not isinstance(definition, Mapping):
        return None
    inner = definition.get("function")
    held = inner if isinstance(inner, Mapping) else definition
    name = held.get("name")
    schema = held.get("parameters", held.get("input_schema"))
    kind = definition.get("type", "function")
    if not isinstance(name, str) or (kind not in ("function", "custom") and schema is None):
        return None
    description = held.get("description")
    return _Tool(name, description if isinstance(description, str) else "", schema)


def _written(tool: _Tool, dialect: Dialect) -> dict[str, Any]:
    said = {"description": tool.description} if tool.description else {}
    schema = tool.schema if isinstance(tool.schema, Mapping) else {"type": "object"}
    if dialect == "anthropic":
        return {"name": tool.name, **said, "input_schema": schema}
    function = {"name": tool.name, **said, "parameters": schema}
    if dialect == "openai-chat":
        return {"type": "function", "function": function}
    return {"type": "function", **function}
