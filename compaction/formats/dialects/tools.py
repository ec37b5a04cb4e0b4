"""Tool definitions of the dialects, each from any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from compaction.formats import exact
from compaction.formats.base import Dialect
from compaction.formats.dialects.notes import Notes
from compaction.messages import ToolCall, Tools

#: Members of a schema that hold schemas: one, a list of them, or one by name.
_ONE = frozenset({"items", "additionalProperties", "not"})
_SEVERAL = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "$defs", "definitions"})

_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


class _Tool(NamedTuple):
    name: str
    description: str
    schema: object


def tools_in(holder: Mapping[str, Any]) -> Tools:
    """The tool definitions that stand beside a list of messages."""
    inner, settings = holder.get("kwargs"), holder.get("config")
    for place in (holder, inner, settings):
        for key in ("tools", "functions"):
            definitions = _listed(place.get(key)) if isinstance(place, Mapping) else None
            if isinstance(definitions, list) and definitions:
                names = tuple(name for tool in definitions for name in tool_names(tool))
                return Tools(names, exact.dumps(definitions))
    return Tools()


def tool_names(definition: object) -> list[str]:
    """The names in a tool definition of any dialect; one of Gemini's declares several."""
    if isinstance(definition, Mapping):
        declared = definition.get("functionDeclarations", definition.get("function_declarations"))
        if isinstance(declared, list):
            return [name for each in declared if (name := tool_name(each))]
    name = tool_name(definition)
    return [name] if name else []


def _listed(definitions: object) -> object:
    """Tool definitions that data sets keep as a text, as the list in it."""
    if isinstance(definitions, str) and definitions.lstrip().startswith("["):
        try:
            return exact.loads(definitions)
        except exact.ExactError:
            return None
    return definitions


def tool_name(definition: object) -> str:
    """The name in a tool definition that is for one tool."""
    if not isinstance(definition, Mapping):
        return ""
    inner = definition.get("function")
    name = inner.get("name") if isinstance(inner, Mapping) else definition.get("name")
    return _string(name) or _string(definition.get("type"))


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
    for definition in _each(held):
        tool = _read(definition)
        if tool is None:
            notes.at(None).tell("tools", "tools that run on a provider's own servers")
        else:
            out.append(_written(tool, dialect))
    if dialect == "gemini" and out:
        return [{"functionDeclarations": out}]
    return out


def _each(held: list[object]) -> Iterator[object]:
    """The definitions of single tools; Gemini declares several functions in one."""
    for definition in held:
        if not isinstance(definition, Mapping):
            yield definition
            continue
        key = "functionDeclarations" if "functionDeclarations" in definition else ""
        key = key or ("function_declarations" if "function_declarations" in definition else "")
        declared = definition.get(key)
        if not isinstance(declared, list):
            yield definition
            continue
        yield from declared
        # What runs at Google may stand in the same object.
        yield from ({other: value} for other, value in definition.items() if other != key)


def _read(definition: object) -> _Tool | None:
    if not isinstance(definition, Mapping):
        return None
    inner = definition.get("function")
    held = inner if isinstance(inner, Mapping) else definition
    name = held.get("name")
    keys = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
    schema = next((held[key] for key in keys if held.get(key) is not None), None)
    kind = definition.get("type", "function")
    if not isinstance(name, str) or (kind not in ("function", "custom") and schema is None):
        return None
    description = held.get("description")
    return _Tool(name, description if isinstance(description, str) else "", _plain(schema))


def _plain(schema: object) -> object:
    """A schema in JSON Schema's own words: Gemini shouts its types and marks what may be null."""
    if not isinstance(schema, Mapping):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ONE:
            out[key] = _plain(value)
        elif key in _SEVERAL and isinstance(value, list):
            out[key] = [_plain(one) for one in value]
        elif key in _NAMED and isinstance(value, Mapping):
            out[key] = {name: _plain(one) for name, one in value.items()}
        elif key == "type" and isinstance(value, str) and value.upper() in _TYPES:
            out[key] = [value.lower(), "null"] if schema.get("nullable") is True else value.lower()
        elif key != "nullable" or "type" not in schema:
            out[key] = value
    return out


def _written(tool: _Tool, dialect: Dialect) -> dict[str, Any]:
    said = {"description": tool.description} if tool.description else {}
    schema = tool.schema if isinstance(tool.schema, Mapping) else {"type": "object"}
    if dialect == "anthropic":
        return {"name": tool.name, **said, "input_schema": schema}
    if dialect == "gemini":
        # `parameters` takes only a part of JSON Schema there; this takes all of it.
        return {"name": tool.name, **said, "parametersJsonSchema": schema}
    function = {"name": tool.name, **said, "parameters": schema}
    if dialect == "openai-chat":
        return {"type": "function", "function": function}
    return {"type": "function", **function}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def argument_object(call: ToolCall, notes: Notes) -> dict[str, Any]:
    """The arguments of a call as the object that must be sent; free text goes under `input`."""
    if not call.arguments.strip():
        return {}
    try:
        value = exact.loads(call.arguments)
    except exact.ExactError:
        value = None
    if isinstance(value, dict):
        return value
    notes.tell("arguments", f"arguments of {call.name or 'a tool'} that are no JSON object as sent")
    return {"input": call.arguments}
