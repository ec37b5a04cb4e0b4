"""What kind of file it is, told from its first bytes and first records, never from its name."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from compaction.errors import SessionError
from compaction.formats.base import Format, Sample
from compaction.messages import Source
from compaction.plaintext import one_line

#: Bytes of a file with one record a line that are looked at.
HEAD = 256 * 1024

#: Where a first record may start at the latest: lines before it may be long and broken.
_FURTHEST = 16 * HEAD

#: Members under which documents hold messages.
_MESSAGE_KEYS = frozenset({"messages", "input", "output", "choices", "request", "response"})

#: How a line of YAML begins: with a key, an element, or the mark of a document.
_YAML = re.compile(rb"-(?:\s|$)|---|%YAML|[\w\"'.-]+[ \t]{0,9}:(?:\s|$)")

_DECODER = json.JSONDecoder(strict=False)

#: Files that are something else, by their first bytes.
_OTHER_FILES: tuple[tuple[bytes, str, str], ...] = (
    (b"SQLite format 3\0", "an SQLite database", "export the session from its tool first"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it and open the session inside"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it with `zstd -d`"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it with `gunzip`"),
    (b"%PDF", "a PDF document", "open a session file instead"),
    (b"\x89PNG", "a PNG image", "open a session file instead"),
    (b"\xff\xd8\xff", "a JPEG image", "open a session file instead"),
    (b"\x7fELF", "a program", "open a session file instead"),
)


@dataclass(frozen=True, slots=True)
class _Known:
    """A session format that is known and cannot be read yet, by keys its records have."""

    title: str
    keys: frozenset[str]


#: Most telling first. Each needs all of its keys in one object.
_KNOWN: tuple[_Known, ...] = tuple(
    _Known(title, frozenset(keys.split()))
    for title, keys in (
        ("few-shot texts of tau-bench", "messages_display"),
        ("an Alpaca instruction set", "instruction output"),
    )
)


def sample_of(source: Source) -> Sample:
    """The beginning of `source`, parsed as far as it goes. Raises SessionError for no text."""
    data = source.data
    if data.startswith(codecs.BOM_UTF8):
        data = data[3:]
    head = data[:HEAD]
    if not head.strip():
        raise SessionError(f"{called(source)} is empty: there is no session in it.")
    for magic, what, remedy in _OTHER_FILES:
        if head.startswith(magic):
            raise SessionError(f"{called(source)} is {what} and no session; {remedy}.")
    if b"\0" in head[:8192]:
        raise SessionError(f"{called(source)} is a binary file: there is no session in it.")
    listed = head.lstrip()[:1] == b"["
    lines = () if listed else _lines(data)
    if len(lines) > 1:
        return Sample(head, lines=lines)
    try:
        whole = _whole(data)
    except RecursionError:
        if not lines:
            raise SessionError(f"{called(source)} is nested too deep to be read.") from None
        whole = None
    if whole is None and listed:
        lines = _lines(data)
    if whole is not None:
        # A file of records may have just one line.
        return Sample(head, whole, (whole,) if isinstance(whole, dict) else ())
    if lines:
        return Sample(head, lines=lines)
    if head.lstrip()[:1] in (b"{", b"["):
        return Sample(head, _broken(data))
    held = None if _is_markdown(head) else _yaml(data)
    return Sample(head, held, yaml=held is not None)


def recognise_in(formats: Sequence[Format], source: Source) -> tuple[Format | None, Sample]:
    """The format of `source` among `formats`, and the sample it was told from."""
    sample = sample_of(source)
    for each in formats:
        if each.recognise(sample):
            return each, sample
    return None, sample


def unknown(source: Source, sample: Sample) -> SessionError:
    """The error for a file of no format that can be read, saying what it looks like."""
    name = called(source)
    values = (sample.whole, *sample.lines)
    for known in _KNOWN:
        if any(_has(value, known.keys) for value in values):
            return SessionError(
                f"{name} looks like {known.title}, a format that cannot be read yet; "
                "`compaction formats` lists those that can."
            )
    if sample.head.lstrip()[:1] in (b"{", b"["):
        fault = "" if sample.lines else _fault(source.data)
        if fault:
            return SessionError(f"{name} is broken JSON: {fault}.")
        return SessionError(
            f"{name} is JSON without messages of any format known; name one with --as if it is "
            "one (`compaction formats` lists them)."
        )
    if _may_be_yaml(source.data) and _begins_as_yaml(sample.head):
        from compaction.formats.yamlfile import open_yaml

        try:
            open_yaml(source, frozenset())
        except SessionError as error:
            return error
    return SessionError(
        f"{name} is no session: it is neither JSON, JSON lines nor YAML with messages."
    )


def _fault(data: bytes) -> str:
    """Where a document stops being JSON, and why; "" for one that is."""
    from compaction.formats.exact import ExactError, decode_bytes, loads

    text = decode_bytes(data)
    try:
        loads(text)
    except ExactError as error:
        line = text.count("\n", 0, error.position) + 1
        return f"line {line:,}: {error.what}"
    return ""


def _has(value: object, keys: frozenset[str]) -> bool:
    if isinstance(value, list):
        return any(isinstance(one, dict) and keys <= one.keys() for one in value[:5])
    return isinstance(value, dict) and keys <= value.keys()


def called(source: Source) -> str:
    """The file as an error names it, on one line and not longer than a path may be."""
    return one_line(source.name, 300) if source.name not in ("", "-") else "the input"


def _lines(data: bytes) -> tuple[object, ...]:
    """The JSON values of the lines that start within HEAD, or the first that has one.

    Lines that are no JSON are passed over; those of a document over several lines are no records.
    """
    out: list[object] = []
    start = 0
    while start < len(data) and (start < HEAD or not out) and start < _FURTHEST:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if end > HEAD and len(out) > 1:
            break
        stripped = data[start:end].strip()
        if stripped[:1] == b"{":
            out += _values(stripped)
        elif stripped[:1] in (b"}", b"]", b'"') and not out:
            return ()
        start = end + 1
    return tuple(out)


def _values(line: bytes) -> list[object]:
    try:
        return [orjson.loads(line)]
    except orjson.JSONDecodeError:
        pass
    text = line.decode("utf-8", "replace")
    out: list[object] = []
    position = 0
    while position < len(text) and text[position] == "{":
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        out.append(value)
    return out


def _whole(data: bytes) -> object:
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return _DECODER.decode(data.decode("utf-8", "replace"))
    except ValueError:
        return None


def _broken(data: bytes) -> object:
    """What stands before the fault of a document that breaks off or is damaged."""
    from compaction.formats.exact import ExactError, decode_bytes
    from compaction.formats.jsonspans import scan_broken

    try:
        return scan_broken(decode_bytes(data), _MESSAGE_KEYS)[0].value
    except ExactError:
        return None


def _is_markdown(head: bytes) -> bool:
    """Whether a text is a session in Markdown, in which lines may look like YAML."""
    from compaction.formats.markdown import is_transcript
    from compaction.formats.marktext import is_aider, is_specstory

    return is_specstory(head) or is_aider(head) or is_transcript(head)


def _may_be_yaml(data: bytes) -> bool:
    """Whether the text speaks of messages, told before the slow parser is asked."""
    return any(word in data for word in (b"role:", b'role":', b"interactions:"))


def _begins_as_yaml(head: bytes) -> bool:
    for line in head.split(b"\n"):
        line = line.strip()
        if line and not line.startswith(b"#"):
            return _YAML.match(line) is not None
    return False


def _yaml(data: bytes) -> object:
    """A YAML document that may hold messages; None for anything else."""
    if not _may_be_yaml(data):
        return None
    from compaction.formats.yamlfile import open_yaml

    try:
        return open_yaml(Source(data), frozenset()).roots[0].value
    except SessionError:
        return None
