"""What a tool call does, known by the shape of its arguments and not by a list of tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

Verb = Literal[
    "ran", "read", "wrote", "edited", "deleted", "searched", "fetched", "delegated", "planned",
    "asked", "called",
]  # fmt: skip


class Action(NamedTuple):
    """One call, understood.

    `targets` are the files, the command, the query or the addresses it is about; `detail` is
    more text (a delegated task, a plan, the arguments of a tool nobody knows); `steps` are the
    entries of a to-do list as (status, text).
    """

    verb: Verb
    tool: str
    targets: tuple[str, ...] = ()
    detail: str = ""
    steps: tuple[tuple[str, str], ...] = ()


_PATH_KEYS = (
    "file_path", "path", "filename", "file", "filepath", "notebook_path", "target_file",
    "absolute_path", "relative_path", "relative_workspace_path", "AbsolutePath", "TargetFile",
)  # fmt: skip
_COMMAND_KEYS = ("command", "cmd", "script", "bash_command", "commands", "CommandLine", "bash")
_QUERY_KEYS = ("pattern", "query", "q", "regex", "glob", "search_term", "search_query", "queries")
_URL_KEYS = ("url", "urls", "uri", "link")
_TASK_KEYS = ("prompt", "task", "instructions", "message", "description")
_WRITE_KEYS = {"content", "file_text", "new_content", "contents", "CodeContent", "data"}
_EDIT_KEYS = {
    "old_string", "new_string", "old_str", "new_str", "edits", "diff", "patch", "insert_line",
    "replacement", "new_source", "code_edit", "search", "replace", "insert_text",
}  # fmt: skip

_PATCH_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: ([^\n]{1,500})$", re.MULTILINE)
_DIFF_FILE = re.compile(r"^\+\+\+ (?:b/)?([^\n\t]{1,500})", re.MULTILINE)
_SHELL_NAME = re.compile(r"bash|shell|exec|terminal|command|run_cmd|powershell", re.IGNORECASE)
_CODE_NAME = re.compile(r"python|ipython|jupyter|code_interpreter|execute_code|repl", re.IGNORECASE)
_EDIT_NAME = re.compile(r"edit|replace|patch|insert|update", re.IGNORECASE)
_WRITE_NAME = re.compile(r"write|create|save|append", re.IGNORECASE)
_DELETE_NAME = re.compile(r"delete|remove|unlink", re.IGNORECASE)
_LOOSE = re.compile(
    r'"(command|cmd|script|path|file_path|filename|url|query|pattern)"\s{0,4}:\s{0,4}'
    r'"((?:[^"\\]|\\.){1,500})"'
)
_PARSED_CHARS = 4_000_000
_SHOWN_CHARS = 4000


def action_of(name: str, arguments: str) -> Action:
    """What the call of `name` with `arguments` (JSON, or free text) does. Never fails."""
    if "*** Begin Patch" in arguments:
        return _patch(name, arguments)
    values = _parse(arguments)
    if values is None:
        text = arguments.strip()
        if _SHELL_NAME.search(name) or _CODE_NAME.search(name):
            return Action("ran", name, (text[:_SHOWN_CHARS],)) if text else Action("called", name)
        return Action("called", name, detail=text[:_SHOWN_CHARS])
    return (
        _steps(name, values)
        or _files(name, values)
        or _command(name, values)
        or _question(name, values)
        or _fetch(name, values)
        or _search(name, values)
        or _task(name, values)
        or Action("called", name, detail=_arguments(values))
    )


def _parse(arguments: str) -> Mapping[str, Any] | None:
    if len(arguments) <= _PARSED_CHARS:
        try:
            value = orjson.loads(arguments)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            value = None
        if isinstance(value, dict):
            return value
        if value is not None:
            return None
    loose = {
        match[1]: match[2].replace('\\"', '"').replace("\\n", "\n")
        for match in _LOOSE.finditer(arguments[:20_000])
    }
    return loose or None


def _patch(name: str, arguments: str) -> Action:
    values = _parse(arguments)
    text = arguments
    if values is not None:
        text = "\n".join(_strings(values))
    found = _PATCH_FILE.findall(text) or [
        ("Update", path) for path in re.findall(r"File: ([^\\\n\"]{1,300})", text[:200_000])
    ]
    deleted = [path.strip() for kind, path in found if kind == "Delete"]
    changed = [path.strip() for kind, path in found if kind != "Delete"]
    if deleted and not changed:
        return Action("deleted", name, tuple(dict.fromkeys(deleted)))
    added = all(kind == "Add" for kind, _ in found) and bool(found)
    return Action("wrote" if added else "edited", name, tuple(dict.fromkeys(changed)))


def _strings(value: object, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > 4:
        return []
    if isinstance(value, dict):
        return [text for entry in value.values() for text in _strings(entry, depth + 1)]
    if isinstance(value, list):
        return [text for entry in value[:1000] for text in _strings(entry, depth + 1)]
    return []


def _first(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _steps(name: str, values: Mapping[str, Any]) -> Action | None:
    for key in ("todos", "plan", "tasks", "items"):
        entries = values.get(key)
        if key == "plan" and isinstance(entries, str) and entries.strip():
            return Action("planned", name, detail=entries)
        if not isinstance(entries, list) or not entries:
            continue
        steps = tuple(
            (str(entry.get("status", "")), text)
            for entry in entries[:200]
            if isinstance(entry, dict)
            and (text := _first(entry, ("content", "step", "title", "text", "task", "description")))
        )
        if steps and any(status for status, _ in steps):
            return Action("planned", name, steps=steps)
    return None


def _files(name: str, values: Mapping[str, Any]) -> Action | None:
    path = _first(values, _PATH_KEYS)
    paths: tuple[str, ...] = (path,) if path else ()
    listed = values.get("paths") or values.get("files")
    if not paths and isinstance(listed, list):
        paths = tuple(entry for entry in listed[:50] if isinstance(entry, str))
    if not paths:
        return None
    sub = values.get("command")
    keys = values.keys()
    hint = f"{name} {sub}" if isinstance(sub, str) and len(sub) < 40 else name
    if isinstance(sub, str) and sub not in _SUBCOMMANDS:
        return None
    if _DELETE_NAME.search(hint):
        return Action("deleted", name, paths)
    if sub == "view":
        return Action("read", name, paths)
    if sub == "create" or (keys & _WRITE_KEYS and not keys & _EDIT_KEYS):
        return Action("wrote", name, paths)
    if sub in {"str_replace", "insert", "undo_edit"} or keys & _EDIT_KEYS:
        return Action("edited", name, paths)
    if any(key in values for key in _QUERY_KEYS):
        return _search(name, values)
    if _WRITE_NAME.search(name):
        return Action("wrote", name, paths)
    if _EDIT_NAME.search(name):
        return Action("edited", name, paths)
    return Action("read", name, paths)


_SUBCOMMANDS = {"view", "create", "str_replace", "insert", "undo_edit", "delete", "rename"}


def _command(name: str, values: Mapping[str, Any]) -> Action | None:
    for key in _COMMAND_KEYS:
        value = values.get(key)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            value = value[-1] if value[0] in _SHELLS and len(value) > 2 else " ".join(value)
        if isinstance(value, str) and value.strip():
            return Action("ran", name, (value,))
    code = _first(values, ("code", "input"))
    if code and (_CODE_NAME.search(name) or _SHELL_NAME.search(name)):
        return Action("ran", name, (code,))
    return None


_SHELLS = {"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "powershell", "pwsh", "cmd"}


def _question(name: str, values: Mapping[str, Any]) -> Action | None:
    questions = values.get("questions")
    if isinstance(questions, list):
        texts = tuple(
            text
            for entry in questions
            if (
                text := entry
                if isinstance(entry, str)
                else _first(entry, ("question", "text"))
                if isinstance(entry, dict)
                else ""
            )
        )
        return Action("asked", name, texts) if texts else None
    question = _first(values, ("question",))
    return Action("asked", name, (question,)) if question else None


def _fetch(name: str, values: Mapping[str, Any]) -> Action | None:
    for key in _URL_KEYS:
        value = values.get(key)
        if isinstance(value, str) and value:
            return Action("fetched", name, (value,))
        if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
            return Action("fetched", name, tuple(value[:20]))
    return None


def _search(name: str, values: Mapping[str, Any]) -> Action | None:
    for key in _QUERY_KEYS:
        value = values.get(key)
        if isinstance(value, list):
            value = " | ".join(entry for entry in value if isinstance(entry, str))
        if isinstance(value, str) and value.strip():
            return Action("searched", name, (value,))
    return None


def _task(name: str, values: Mapping[str, Any]) -> Action | None:
    if (
        "subagent_type" in values
        or "agent_type" in values
        or ("prompt" in values and "description" in values)
    ):
        title = _first(values, ("description", "title", *_TASK_KEYS))
        return Action("delegated", name, (title,)) if title else None
    return None


def _arguments(values: Mapping[str, Any]) -> str:
    """The arguments on one line, as `key: value` with the values spelled as they were sent."""
    parts: list[str] = []
    for key, value in values.items():
        shown = value if isinstance(value, str) else _spelled(value)
        parts.append(f"{key}: {shown[:_SHOWN_CHARS]}")
    return ", ".join(parts)


def _spelled(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, UnicodeDecodeError):
        return str(value)


# ---------------------------------------------------------------------------------- commands

_CD = re.compile(
    r"\s*(?:cd|pushd)\s+(?:\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^\s;&|]{1,300})\s*(?:&&|;|\n)\s*"
)
_LEAD = re.compile(
    r"(?:[A-Za-z_][A-Za-z0-9_]*=(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s;&|]{0,200})\s+"
    r"|sudo\s+|time\s+|timeout\s+(?:-\S+\s+)*\S+\s+|env\s+|nohup\s+|npx\s+|uvx\s+|(?:uv|poetry"
    r"|pipenv|rye|pdm|hatch)\s+run\s+"
    r"|(?:\S{0,100}/)?python[0-9.]*\s+-m\s+|bundle\s+exec\s+)"
)
_LOOKING = {
    "[", "ag", "awk", "cat", "cd", "command", "cut", "date", "df", "diff", "du", "echo", "env",
    "export", "fd", "file", "find", "for", "grep", "head", "jq", "less", "ls", "lsof", "more",
    "nl", "pgrep", "printenv", "printf", "ps", "pwd", "rg", "sleep", "sort", "stat", "tail",
    "test", "tree", "true", "type", "wc", "which", "whoami", "xargs",
}  # fmt: skip
_SED_PRINT = re.compile(r"sed\s+-n\b")
_GIT_LOOKING = {
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "remote",
    "rev-parse",
    "ls-files",
    "blame",
    "config",
    "fetch",
}


def bare_command(command: str) -> str:
    """`command` without the `cd …` it begins with."""
    text = command.strip()
    for _ in range(4):
        match = _CD.match(text)
        if not match or match.end() >= len(text):
            break
        text = text[match.end() :]
    return text


def signature(command: str) -> str:
    """What a command is a run of: the program and its subcommand, such as "go test"."""
    text = bare_command(command)[:2000]
    for _ in range(6):
        match = _LEAD.match(text)
        if not match:
            break
        text = text[match.end() :]
    words = [word for word in re.split(r"[\s;|&<>()]+", text[:300]) if word]
    if not words:
        return command[:60]
    program = words[0].rsplit("/", 1)[-1]
    sub = next((word for word in words[1:3] if not word.startswith("-")), "")
    if program in {"pytest", "jest", "vitest", "mocha", "ruff", "mypy", "tsc", "eslint", "make"}:
        return program if program != "make" else f"make {sub}".strip()
    if program in {"npm", "yarn", "pnpm", "bun"} and sub == "run" and len(words) > 2:
        return f"{program} {words[2]}"
    return f"{program} {sub}".strip()


def only_looks(command: str) -> bool:
    """Whether a command merely looks around, so that it is no work done."""
    text = bare_command(command)
    if _SED_PRINT.match(text):
        return True
    if "<<" in text or re.search(r"(?<![0-9&>])>{1,2}\s*(?!/dev/null)[\w./~$\"']", text[:2000]):
        return False
    for piece in re.split(r"&&|\|\||;|\||\n", text[:2000]):
        words = signature(piece).split()
        if not words:
            continue
        if words[0] == "git" and (len(words) == 1 or words[1] in _GIT_LOOKING):
            continue
        if words[0] == "go" and len(words) > 1 and words[1] in {"version", "env", "list", "doc"}:
            continue
        if piece.strip().endswith(("--version", "--help", " -h", " -V")):
            continue
        if words[0] == "sed" and _SED_PRINT.match(piece.strip()):
            continue
        if words[0] not in _LOOKING:
            return False
    return True


_READS = re.compile(
    r"(?:^|[;&|]\s*)(?:cat|head|tail|nl|less|sed\s+-n)\s+(?:-\S+\s+|'[^'\n]{0,40}'\s+"
    r"|\"[^\"\n]{0,40}\"\s+|\d+\s+)*([\w./~@+-]{3,200})"
)


def files_looked_at(command: str) -> list[str]:
    """Files that a looking command prints: `cat a.py`, `sed -n '1,80p' b.py`."""
    return [
        path for path in _READS.findall(bare_command(command)[:2000]) if "." in path or "/" in path
    ]
