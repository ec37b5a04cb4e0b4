"""Every real session file beside the checkout: told, read, written, read again, compacted.

The table of what was found is printed at the end of the test run (`-rN` or not): the rows are
properties of the tests, which `tests/conftest.py` gathers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compaction import Digest, Policy, compact, load, plan
from compaction.errors import SessionError
from compaction.export import NEUTRAL, render_bytes
from compaction.formats import FORMATS, format_named, recognise
from compaction.messages import Message, Session, ToolResult, message
from tests.conftest import SHARED

ROOT = SHARED / "sessions"

NOTE = "The gate was reset and lane four measured; the report is the next thing to write."

#: What the files of a folder are. Where several formats stand, one file or another is of each.
EXPECTED: dict[str, set[str]] = {
    "adk": {"adk"},
    "aider": {"aider"},
    "amp": {"amp"},
    "anthropic-messages": {"anthropic"},
    "atif": {"atif"},
    "chatgpt-export": {"chatgpt"},
    "claude-ai-export": {"claude-ai"},
    "claude-code": {"claude-code"},
    "claude-code-edge-cases": {"claude-code"},
    "cline": {"cline"},
    "codex": {"codex"},
    "continue": {"continue"},
    "copilot-cli": {"copilot-cli"},
    "cursor": {"cursor", "cursor-chats"},
    "factory-droid": {"factory-droid"},
    "gemini-cli": {"gemini-cli"},
    "gemini-contents": {"gemini-contents"},
    "inspect": {"inspect"},
    "langchain": {"langchain"},
    "langsmith": {"langsmith"},
    "letta": {"letta"},
    "llm-request-logs": {"openai-chat"},
    "mini-swe-agent": {"mini-swe-agent"},
    "openai-chat": {"openai-chat"},
    "openai-responses": {"openai-responses"},
    "opencode": {"opencode"},
    "openhands": {"openhands"},
    "otel": {"otel"},
    "other-agents/grok": {"grok"},
    "other-agents/hermes": {"hermes"},
    "other-agents/kimi": {"kimi"},
    "other-agents/openclaw": {"pi"},
    "other-agents/qwen": {"qwen-code"},
    "pi": {"pi"},
    "pydantic-ai": {"pydantic-ai"},
    "sharegpt": {"sharegpt"},
    "specstory-markdown": {"specstory"},
    "stress": {"claude-code", "openai-chat"},
    "swe-agent": {"swe-agent"},
    "tau-bench": {"tau-bench"},
    "tau2-bench": {"tau2"},
    "vercel-ui": {"vercel-ai"},
    "vscode-copilot": {"vscode-copilot", "copilot-cli"},
    "windsurf": {"windsurf"},
    "yaml-transcripts": {"yaml"},
}

#: Files that hold no session a tool could send, and a word of the sentence that says so.
REFUSED: dict[str, str] = {
    "cline/cline-sdk--session.json": "facts about a Cline session",
    "openhands/swe_bench-example_model_output.json": "JSON without messages",
    "sharegpt/llamafactory--identity.json": "Alpaca",
    "tau-bench/few_shot-retail-633KB.jsonl": "few-shot",
    "tau2-bench/tau2--results.json": "no simulations",
    "tau2-bench/tau2--simulations/7c6a3e3e-ac3f-406f-aea9-8cacb0a2e680.json": "voice simulation",
}

#: Recordings without a message: bookkeeping alone, or an agent that was told nothing yet.
EMPTY = {
    "claude-code/obra-episodic-memory--medium.jsonl",
    "codex/agent-sessions--codex_052_raw.jsonl",
    "codex/agent-sessions--codex_053_rate_limit.jsonl",
    "cursor/agent-sessions--cursor-store.db",
    "letta/ezra.af",
}

#: Sessions that only one side spoke in.
ONE_SIDED = {
    "anthropic-messages/pydantic-ai--builtin-tool.json",
    "chatgpt-export/polylogue--representative-00.json",
    "claude-code/claude-code-log--image.jsonl",
    "codex/entire-graph--structured-outputs.jsonl",
    "copilot-cli/agent-sessions--schema_drift.jsonl",
    "gemini-contents/pydantic-ai--image.json",
    "inspect/tool-call-error.json",
    "letta/customer_service.af",
    "letta/memgpt_agent_with_convo.af",
    "openai-chat/pydantic-ai--image-2.8MB.json",
    "openai-chat/pydantic-ai--input-audio.json",
    "openai-responses/pydantic-ai--input-image-2.8MB.json",
    "openhands/sdk-v1-events.jsonl",
    "other-agents/kimi/assistant_tools.jsonl",
    "other-agents/kimi/small.jsonl",
    "other-agents/qwen/system_telemetry.jsonl",
    "yaml-transcripts/pydantic-ai--test_openai_responses_thinking_part_iter.yaml",
}

#: The trees whose files make one session together, and no session one by one.
TREES = (
    "opencode/agent-sessions--storage/storage_legacy",
    "opencode/agent-sessions--storage/storage_v2",
)

#: How many messages a plain list has, counted here without any of the readers.
COUNTED: dict[str, Callable[[Any], int]] = {
    "anthropic-messages": lambda held: len(held["messages"]) + bool(held.get("system")),
    "langchain": lambda held: len(held.get("messages", held) if isinstance(held, dict) else held),
    "mini-swe-agent": lambda held: len(held["messages"] if isinstance(held, dict) else held),
    "openai-chat": lambda held: len(held["messages"]),
    "swe-agent": lambda held: len(held["history"]),
    "tau-bench": lambda held: len(held[0]["traj"]),
}

_KNOWN = {each.name for each in FORMATS}


def _files() -> list[str]:
    found = (path for path in ROOT.rglob("*") if path.is_file() and path.name != "INDEX.md")
    names = (path.relative_to(ROOT).as_posix() for path in found)
    trees = tuple(f"{tree}/" for tree in TREES)
    return sorted(name for name in names if not name.startswith(trees))


def _pieces() -> Iterator[str]:
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*.json")):
            yield path.relative_to(ROOT).as_posix()


#: One name that is no file keeps the tests there, skipped with the reason, without the folder.
FILES = _files() if ROOT.is_dir() else ["(no file)"]
PIECES = list(_pieces()) if ROOT.is_dir() else ["(no file)"]


def folder_of(name: str) -> str:
    """The key of EXPECTED for a file."""
    first, _, rest = name.partition("/")
    return f"{first}/{rest.partition('/')[0]}" if first == "other-agents" else first


def sent(messages: tuple[Message, ...], *, neutral: bool) -> list[object]:
    """What is compared: role, name and parts.

    The neutral format has one message for each result, which says neither the tool nor that it
    was an error.
    """
    if not neutral:
        return [(each.role, each.name, each.parts) for each in messages]
    out: list[object] = []
    for each in messages:
        for part in each.parts:
            if isinstance(part, ToolResult):
                out.append((part.call_id, part.content))
            else:
                out.append((each.role, part))
    return out


def written_and_read(
    session: Session, messages: tuple[Message, ...], data: bytes, *, told: bool = True
) -> Session:
    """The session in what was written, which must be of the same format and send the same.

    `told` asks that the format is recognised: a list of plain texts may be any chat.
    """
    own = format_named(session.format)
    again = load(data) if told else load(data, format=NEUTRAL if own.read_only else own.name)
    assert again.format == (NEUTRAL if own.read_only else session.format)
    neutral = bool(own.read_only)
    assert sent(again.messages, neutral=neutral) == sent(messages, neutral=neutral)
    if not neutral:
        assert all(a.same_content(b) for a, b in zip(again.messages, messages, strict=True))
    return again


def compacted_and_read(session: Session) -> str:
    """Head, summary and recent messages, written and read again; what came of it in a word."""
    result = compact(plan(session, Policy(budget=1, keep_recent=2)), Digest())
    if result.made:
        assert result.summary is not None
        shown, messages, told = "digest", result.messages, result.summary.text
        out = render_bytes(result)[0]
    else:
        # Too little between head and recent messages: the list is made by hand.
        assert len(session) < 10
        shown, told = "by hand", NOTE
        plain = [each for each in session.messages if not each.calls and not each.results]
        summary = message("user", told, summary="compaction")
        messages = (*plain[:1], summary, *plain[1:][-1:])
        own = format_named(session.format)
        writer = format_named(NEUTRAL) if own.read_only else own
        out = b"".join(writer.write(messages, session).chunks)
    again = written_and_read(session, messages, out, told=result.made)
    place = next(n for n, each in enumerate(messages) if each.summary == "compaction")
    found = again.messages[place] if len(again) == len(messages) else again.messages[-3]
    # A format may mark summaries in its own way, and then says so.
    assert found.summary or not result.made
    assert told in found.text
    return f"{place}+1+{len(messages) - place - 1} {shown}"


@pytest.mark.parametrize("name", FILES)
def test_a_real_file(
    name: str,
    shared_sessions: Path,
    record_property: Callable[[str, object], None],
) -> None:
    path = shared_sessions / name
    expected = EXPECTED[folder_of(name)]
    if not expected & _KNOWN:
        pytest.skip(f"no format of {', '.join(sorted(expected))} is registered yet")
    if name in REFUSED:
        with pytest.raises(SessionError) as refused:
            load(path)
        sentence = str(refused.value)
        assert path.name in sentence
        assert REFUSED[name] in sentence
        assert sentence.endswith(".")
        assert "\n" not in sentence
        record_property("real session", ["refused", "", "", "", "", "", name])
        return
    told = recognise(path.read_bytes())
    assert told is not None
    assert told.name in expected
    session = load(path)
    assert session.format == told.name
    _plausible(name, session, path)
    full = load(path, history="full")
    assert len(full) >= len(session)
    written_and_read(session, session.messages, render_bytes(session)[0])
    shape = compacted_and_read(session) if len(session) else "empty"
    row: list[object] = [
        session.format, len(session), sum(session.left_out.values()), len(session.problems),
        len(session.conversations) or 1, shape, name,
    ]  # fmt: skip
    print(*row)
    record_property("real session", row)


def _plausible(name: str, session: Session, path: Path) -> None:
    """Whether the number of live messages may be true."""
    roles = {each.role for each in session.messages}
    if name in EMPTY:
        assert not session.messages
        assert session.left_out or session.problems
        return
    assert session.messages
    if name not in ONE_SIDED:
        assert "assistant" in roles
        assert roles & {"user", "developer", "system"}
    assert roles <= {"user", "assistant", "tool", "system", "developer"}
    # No message without a byte of its own in the file.
    assert len(session) <= path.stat().st_size // 10
    count = COUNTED.get(folder_of(name))
    if count is not None and path.suffix == ".json" and not session.left_out:
        assert len(session) == count(json.loads(path.read_bytes()))


@pytest.mark.parametrize("tree", TREES)
def test_a_tree_of_files(
    tree: str, shared_sessions: Path, record_property: Callable[[str, object], None]
) -> None:
    session = load(shared_sessions / tree)
    assert session.format == "opencode"
    assert session.messages
    written_and_read(session, session.messages, render_bytes(session)[0])
    row: list[object] = [
        session.format, len(session), sum(session.left_out.values()), len(session.problems),
        len(session.conversations) or 1, compacted_and_read(session), f"{tree}/",
    ]  # fmt: skip
    record_property("real session", row)


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_of_a_tree_is_no_session(
    name: str, shared_sessions: Path, record_property: Callable[[str, object], None]
) -> None:
    path = shared_sessions / name
    with pytest.raises(SessionError) as refused:
        load(path)
    assert path.name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_folder_is_expected(shared_sessions: Path) -> None:
    assert {folder_of(name) for name in FILES} <= EXPECTED.keys()
