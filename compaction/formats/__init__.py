"""Session formats: recognised from content, read, and written back.

`load` is the way in. Each format is a small module with one class; `_HOMES` registers them in the
order in which they are tried, the most telling first.
"""

from __future__ import annotations

import codecs
import difflib
import gc
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from compaction.errors import SessionError
from compaction.findings import Finding
from compaction.formats.base import Format, History, Omitted, ReadOptions
from compaction.messages import IsCancelled, OnProgress, Session, Source
from compaction.plaintext import one_line

if TYPE_CHECKING:
    FORMATS: tuple[Format, ...]

#: Module and class of every format, in the order of recognition.
_HOMES: tuple[tuple[str, str], ...] = (
    ("specstory", "SpecStory"),
    ("aider", "Aider"),
    ("markdown", "Markdown"),
    ("claude_code", "ClaudeCode"),
    ("qwen_code", "QwenCode"),
    ("codex", "Codex"),
    ("chatgpt", "ChatGPT"),
    ("claude_ai", "ClaudeAI"),
    ("letta", "Letta"),
    ("opencode", "OpenCode"),
    ("pi", "Pi"),
    ("cline", "Cline"),
    ("copilot_cli", "CopilotCli"),
    ("vscode_copilot", "VsCodeCopilot"),
    ("cursor", "Cursor"),
    ("cursor_chats", "CursorChats"),
    ("goose", "Goose"),
    ("swe_agent", "SweAgent"),
    ("mini_swe_agent", "MiniSweAgent"),
    ("inspect_log", "Inspect"),
    ("atif", "Atif"),
    ("adk", "Adk"),
    ("openhands", "OpenHands"),
    ("otel", "OpenTelemetry"),
    ("langsmith", "LangSmith"),
    ("langchain", "LangChain"),
    ("vercel_ai", "VercelAI"),
    ("pydantic_ai", "PydanticAI"),
    ("autogen", "AutoGen"),
    ("gemini_cli", "GeminiCli"),
    ("gemini_contents", "GeminiContents"),
    ("sharegpt", "ShareGPT"),
    ("tau2", "Tau2"),
    ("tau_bench", "TauBench"),
    ("continue_sessions", "Continue"),
    ("amp", "Amp"),
    ("factory_droid", "FactoryDroid"),
    ("windsurf", "Windsurf"),
    ("kimi", "Kimi"),
    ("grok", "Grok"),
    ("hermes", "Hermes"),
    ("anthropic_messages", "AnthropicMessages"),
    ("openai_responses", "OpenAIResponses"),
    ("openai_chat", "OpenAIChat"),
    ("yaml_chat", "YamlChat"),
)

#: Byte order marks of the encodings that are read besides UTF-8; UTF-32 starts like UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

SessionSource = str | os.PathLike[str] | bytes | BinaryIO | Source


@cache
def _formats() -> tuple[Format, ...]:
    return tuple(
        getattr(import_module(f"compaction.formats.{module}"), name)() for module, name in _HOMES
    )


def __getattr__(name: str) -> Any:
    # The formats are imported when somebody asks for one, not with the package.
    if name == "FORMATS":
        return _formats()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def format_named(name: str) -> Format:
    """The format of that name. Raises SessionError with the nearest names for an unknown one."""
    for each in _formats():
        if each.name == name:
            return each
    names = [each.name for each in _formats()]
    near = difflib.get_close_matches(name, names, 2, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(names)}."
    raise SessionError(f"There is no session format {name!r}; {hint}")


def recognise(source: SessionSource) -> Format | None:
    """The format of a session from its content; None when it is of no known one.

    Raises SessionError for what holds no text at all.
    """
    from compaction.formats.containers import unpacked
    from compaction.formats.recognising import recognise_in

    return recognise_in(_formats(), _as_utf8(unpacked(_opened(source)))[0])[0]


def load(
    source: SessionSource,
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    history: History = "live",
    conversation: str | None = None,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
) -> Session:
    """The session in a file, in bytes, in an open binary file, or on standard input ("-").

    The format is found from the content unless `format` names it. `history="full"` gives
    everything that was ever sent, real compactions marked. `conversation` chooses by id or
    number (from 1) where a file holds several. `progress` is told at most about ten times a
    second; where `cancelled` says so, reading stops and what was read is the session.

    Raises SessionError when nothing can be used; what is only broken in part is told in
    `Session.problems`.
    """
    from compaction.formats.containers import unpacked
    from compaction.formats.recognising import called, recognise_in, unknown

    if history not in ("live", "full"):
        raise SessionError(f"history is 'live' or 'full', not {history!r}.")
    opened, told = _as_utf8(unpacked(_opened(source)))
    if format is not None:
        found: Format | None = format_named(format)
        if not opened.data.strip():
            raise SessionError(f"{called(opened)} is empty: there is no session in it.")
    else:
        found, sample = recognise_in(_formats(), opened)
        if found is None:
            raise unknown(opened, sample)
    assert found is not None
    options = ReadOptions(history, conversation, progress)
    if cancelled is not None:
        options = ReadOptions(history, conversation, progress, cancelled)
    try:
        with _collector_paused():
            session = found.read(opened, options)
    except RecursionError:
        raise SessionError(f"{called(opened)} is nested too deep to be read.") from None
    if conversation not in (None, "1") and not session.conversations:
        raise SessionError(
            f"{called(opened)} has no conversation {conversation!r}: it holds just one."
        )
    if told or conversation is not None:
        problems = (*told, *session.problems)
        return replace(session, problems=problems, conversation=conversation or "")
    return session


def omitted(session: Session) -> tuple[Omitted, ...]:
    """The records of a session's file that are not in its list, each with the reason, in order.

    Reads the source of `session` again. A record stands once, under the last reason found.
    """
    found: dict[int, Omitted] = {}

    def take(one: Omitted) -> None:
        found[one.span.start] = one

    options = ReadOptions(session.history, session.conversation or None, omitted=take)
    with _collector_paused():
        format_named(session.format).read(session.source, options)
    live = {span.start for message in session.messages for span in message.spans}
    return tuple(found[start] for start in sorted(found) if start not in live)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Reading makes many values and no cycle; the collector would walk all of them, often."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled and not gc.get_freeze_count():
            # Makes all of them old at once, where the next allocation would have them walked.
            gc.freeze()
            gc.unfreeze()
        if enabled:
            gc.enable()


def from_messages(
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    system: str | None = None,
    model: str | None = None,
) -> Session:
    """A session of messages in memory, as an OpenAI or Anthropic request holds them.

    Raises SessionError for what is no list of messages, and for values that JSON cannot hold.
    """
    request: dict[str, Any] = {}
    if model:
        request["model"] = model
    if system is not None:
        request["system"] = system
    request["messages"] = _as_list("messages", messages)
    if tools:
        request["tools"] = _as_list("tools", tools)
    data = _in_json(request)
    source = Source(data, "messages in memory")
    if not request["messages"] and system is None:
        return Session(source, "openai-chat", ())
    return load(source)


def _as_list(what: str, given: object) -> list[Any]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise SessionError(f"{what} is {type(given).__name__}; it must be a list of objects.")
    return list(given)


def _in_json(request: Mapping[str, Any]) -> bytes:
    import json

    from compaction.formats import exact

    try:
        try:
            return json.dumps(request, ensure_ascii=True).encode()
        except ValueError as error:
            # An integer of more digits than Python spells by itself; a list in itself is none.
            if "digits" not in str(error):
                raise
            return exact.dump_bytes(request)
    except (TypeError, ValueError, RecursionError) as error:
        raise SessionError(f"These messages are no plain JSON values: {error}.") from None


# ---------------------------------------------------------------------------------- opening


def _opened(source: SessionSource) -> Source:
    """The bytes behind whatever was given. Raises SessionError when they cannot be had."""
    if isinstance(source, Source):
        return source
    if isinstance(source, bytes):
        return Source(source)
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if name == "-":
            return Source(sys.stdin.buffer.read(), "-")
        return _from_file(name)
    if not hasattr(source, "read"):
        raise SessionError(
            "A session is read from a path, from bytes or from an open binary file, not from a "
            f"value of type {type(source).__name__}."
        )
    data = source.read()
    if not isinstance(data, bytes):
        raise SessionError("A session is read from a binary file; this one is open as text.")
    return Source(data, str(getattr(source, "name", "")))


def _as_utf8(source: Source) -> tuple[Source, tuple[Finding, ...]]:
    """A source of UTF-16 or UTF-32 text as one of UTF-8, and that it was none."""
    for mark, encoding in _MARKS:
        if source.data.startswith(mark):
            text = source.data.decode(encoding, errors="replace")
            found = Finding(
                "info",
                "encoding",
                f"The file is {encoding.upper()}; it is read, and written back, as UTF-8.",
            )
            data = text.encode("utf-8", errors="replace")
            return Source(data, source.name, source.path), (found,)
    return source, ()


def _from_file(name: str) -> Source:
    """The bytes a file has now; what is written to it while they are read is not waited for."""
    if not name:
        raise SessionError("The name of the session file is empty.")
    shown = one_line(name, 300)
    try:
        with Path(name).open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISCHR(status.st_mode):
                raise SessionError(f"{shown} is a device and no file; use - for standard input.")
            data = file.read(status.st_size if stat.S_ISREG(status.st_mode) else -1)
    except FileNotFoundError:
        raise SessionError(f"{shown}: there is no such file.") from None
    except IsADirectoryError:
        from compaction.formats.containers import gathered

        if (source := gathered(Path(name))) is not None:
            return source
        raise SessionError(
            f"{shown} is a folder; name the session file in it (`compaction` lists known places)."
        ) from None
    except PermissionError:
        raise SessionError(f"{shown} cannot be read: permission denied.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SessionError(f"{shown} cannot be read: {reason}.") from None
    return Source(data, name, str(Path(name).absolute()))
