"""The operation log that VS Code keeps of a chat since 2026, played to the session it stands for.

Each line changes one value: 0 is a whole session, 1 sets a member, 2 cuts a list and adds to it,
3 removes a member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction.formats.base import ReadOptions
from compaction.formats.jsonl import Faults, records
from compaction.messages import Source


def is_log(lines: Sequence[object]) -> bool:
    """Whether lines are such a log: it starts with a session that has requests."""
    first = lines[0] if lines else None
    if not isinstance(first, Mapping) or type(first.get("kind")) is not int or first["kind"]:
        return False
    held = first.get("v")
    return isinstance(held, Mapping) and isinstance(held.get("requests"), list)


def played(source: Source, options: ReadOptions, faults: Faults) -> dict[str, Any]:
    """The session at the end of the log; an empty one when no line starts it."""
    state: Any = None
    for line, span in records(source, options, faults):
        if line.get("kind") == 0 and isinstance(line.get("v"), dict):
            state = line["v"]
        elif state is None or not _applied(state, line):
            faults.tell(
                "warning",
                "no-operation",
                f"Line {span.line:,} changes a value that is not there; skipped.",
                span.line,
            )
    return state if isinstance(state, dict) else {}


def _applied(state: Any, line: Mapping[str, Any]) -> bool:
    """Whether the change of one line could be made."""
    path, value, kind = line.get("k"), line.get("v"), line.get("kind")
    if not isinstance(path, list) or not path or kind not in (1, 2, 3):
        return False
    holder = state
    for step in path[:-1]:
        holder = _inside(holder, step)
    last = path[-1]
    if kind == 2:
        held = _inside(holder, last)
        if held is None and isinstance(holder, dict) and isinstance(last, str):
            held = holder[last] = []
        return isinstance(held, list) and _spliced(held, value, line.get("i"))
    if isinstance(holder, dict) and isinstance(last, str):
        if kind == 3 or "v" not in line:
            holder.pop(last, None)
        else:
            holder[last] = value
        return True
    if not isinstance(holder, list) or type(last) is not int or not 0 <= last <= len(holder):
        return False
    holder[last : last + 1] = [value] if kind == 1 else []
    return True


def _inside(holder: object, step: object) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and type(step) is int and 0 <= step < len(holder):
        return holder[step]
    return None


def _spliced(held: list[Any], value: object, index: object) -> bool:
    if value is not None and not isinstance(value, list):
        return False
    if type(index) is int and 0 <= index < len(held):
        del held[index:]
    held += value or []
    return True
