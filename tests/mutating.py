"""Inputs for the readers of every format: valid ones made here, and what chance makes of them.

Nothing outside of the checkout is read, so a seed gives the same inputs everywhere.
"""

from __future__ import annotations

import copy
import importlib
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import sample_sessions
from compaction.errors import CompactionError, ExportError, SessionError
from compaction.export import render_bytes
from compaction.formats import FORMATS, format_named, load, omitted
from compaction.formats.containers import unpacked
from compaction.messages import Session, Source

TESTS = Path(__file__).parent / "compaction" / "formats"

#: Bytes over which an input is no seed: what is wrong shows in short ones, and faster.
LARGEST = 20_000

#: Samples that are written in every format.
_SAMPLES = ("kanazawa-trip", "incident-review", "greenhouse-reasoning", "town-hall-triage")

_DEEP = "\x00deep\x00"
_LONG = "\x00long\x00"

#: What stands where something else should.
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, -(10**30), 10**400, float("nan"), float("inf"), 1e308,
    "", " ", "x", "[", "{", "{}", "[1]", "null", "\ud800", "\x00", "\u2028", "\x1b]0;x\x07", "user",
    "assistant", "tool", "2026-03-01T10:00:00.000Z", "1e999", "data:image/png;base64,AAAA",
    [], {}, [[]], [None], [{}], [[[]]], {"a": 1}, {"": ""}, {"type": []}, {"type": "text"},
    {"type": "text", "text": {}}, {"role": "user", "content": []}, [0], ["x"], _DEEP, _LONG,
)  # fmt: skip

#: Texts whose repetition may be slow to look through.
_LONG_TEXTS = (
    b"<", b"<think>", b"```", b"#### ", b"> ", b"\\\\", b"[", b"\\n\\n", b" ", b"&lt;", b"a,",
    b"**User:**\\n", b"---\\n", b"\\\"{", b"\\u001b[", b"\\ud83d", b"{{", b"@@@ ", b"data:", b"-",
)  # fmt: skip


def parsed(data: bytes) -> list[Any] | None:
    """The JSON values of a file, one a line (a document is one); None when it is no JSON."""
    try:
        return [json.loads(data)]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


@cache
def seeds() -> dict[str, tuple[bytes, ...]]:
    """Valid inputs by the name of their format; every registered one has some."""
    found: defaultdict[str, dict[bytes, None]] = defaultdict(dict)
    for data in (*_written(), *_of_tests()):
        if len(data) > LARGEST:
            continue
        try:
            session = load(data)
        except CompactionError:
            continue
        if session.messages:
            found[session.format][data] = None
    return {name: tuple(held) for name, held in sorted(found.items())}


def _written() -> Iterator[bytes]:
    """Samples as they are, and in every format that can be written."""
    for name in _SAMPLES:
        session = load(sample_sessions.path(name))
        yield session.source.data
        short = replace(session, messages=session.messages[:12])
        for each in FORMATS:
            # Some formats cannot be made of a session of another.
            with suppress(ExportError):
                if not each.read_only:
                    yield render_bytes(short, each.name)[0]


def _of_tests() -> Iterator[bytes]:
    """What the tests of the formats keep as constants, whole and one value a line."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    for path in sorted(TESTS.glob("test_*.py")):
        if path.stem == "test_fuzz_readers":
            continue
        try:
            module = importlib.import_module(path.stem)
        except (Exception, pytest.skip.Exception):  # noqa: BLE001 - others work on their tests
            continue
        for name, value in sorted(vars(module).items()):
            if not name.startswith("_"):
                yield from _as_bytes(value)
        for make in _MADE.get(path.stem, ()):
            yield from make(module)


def _as_bytes(value: object) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, (dict, list, tuple)) and value:
        try:
            yield json.dumps(value).encode()
            if not isinstance(value, dict):
                yield b"\n".join(json.dumps(each).encode() for each in value)
        except (TypeError, ValueError, RecursionError):
            return


def _bubbles(module: Any) -> Iterator[bytes]:
    """Cursor's two databases, as the documents that stand for them."""
    with tempfile.TemporaryDirectory() as folder:
        head = module.headers(*(each["bubbleId"] for each in module.BUBBLES))
        stored = [
            module.app(Path(folder) / "a", {"c": (head, module.BUBBLES)}),
            module.store(Path(folder) / "b", module.STORED),
        ]
        for path in stored:
            data = path.read_bytes()
            yield data
            yield unpacked(Source(data)).data


def _chats(module: Any) -> Iterator[bytes]:
    """A VS Code chat as a document, and as a log with changes."""
    rounds = [module.round_("One.", module.call("c1")), module.round_("Two.")]
    first = module.request("Read it.", rounds)
    chat = module.chat(first, module.request("And now?", [module.round_("Done.")]))
    yield json.dumps(chat).encode()
    lines = [{"kind": 0, "v": module.chat(first)}, {"kind": 2, "k": ["requests"], "v": [first]}]
    yield b"\n".join(json.dumps(line).encode() for line in lines)
    logged = module.logged("panel/editAgent", {"role": 1, "content": module.part("Go.")})
    yield json.dumps({"prompts": [{"prompt": "Go.", "logs": [logged]}]}).encode()


#: Inputs that are no constant of a test module, by its name.
_MADE: dict[str, tuple[Callable[[Any], Iterator[bytes]], ...]] = {
    "test_cursor_chats": (_bubbles,),
    "test_vscode_copilot": (_chats,),
}


@cache
def words(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys of a format's seeds, and the short strings in them; of all for ""."""
    keys: set[str] = set()
    values: set[str] = set()
    for data in seeds().get(name, ()) if name else (d for held in seeds().values() for d in held):
        for document in parsed(data) or ():
            _gather(document, keys, values)
    return tuple(sorted(keys)), tuple(sorted(values))


def _gather(value: object, keys: set[str], values: set[str]) -> None:
    if isinstance(value, dict):
        keys.update(key for key in value if len(key) < 40)
        for inner in value.values():
            _gather(inner, keys, values)
    elif isinstance(value, list):
        for inner in value:
            _gather(inner, keys, values)
    elif isinstance(value, str) and len(value) < 32:
        values.add(value)


# -------------------------------------------------------------------------------- mutations


def mutated(name: str, chance: Random) -> bytes:
    """A seed of a format with one to six things wrong, in its values or in its bytes."""
    held = seeds().get(name) or seeds()["openai-chat"]
    data = chance.choice(held)
    documents = parsed(data)
    if documents is not None and chance.random() < 0.85:
        lines = len(documents) > 1
        root: list[Any] = copy.deepcopy(documents)
        for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
            _change(root, name, chance)
        data = _dumped(root, chance, indent=None if lines else chance.choice((None, None, 1)))
    if documents is None or chance.random() < 0.35:
        for _ in range(chance.choice((1, 1, 2, 3))):
            data = damaged(data, chance)
    return data


def made_up(name: str, chance: Random) -> bytes:
    """A document of nothing but the words of a format, in no order that makes sense."""
    keys, values = words(name)
    if not keys:
        keys, values = words("")

    def value(depth: int) -> Any:
        kind = chance.random()
        if depth <= 0 or kind < 0.3:
            return chance.choice(ODD) if chance.random() < 0.4 else chance.choice(values or ("x",))
        if kind < 0.5:
            return [value(depth - 1) for _ in range(chance.randint(0, 4))]
        chosen = chance.sample(keys, min(len(keys), chance.randint(1, 6)))
        return {key: value(depth - 1) for key in chosen}

    return _dumped([value(5) for _ in range(chance.choice((1, 1, 4)))], chance, indent=None)


def damaged(data: bytes, chance: Random) -> bytes:
    """`data` with a fault in its bytes."""
    if not data:
        return bytes([chance.randrange(256)])
    at = chance.randrange(len(data))
    until = min(len(data), at + chance.choice((1, 3, 40, 400)))
    match chance.randrange(12):
        case 0:
            return data[:at]
        case 1:
            return data[at:]
        case 2:
            return data[:at] + data[until:]
        case 3:
            return data[:until] + data[at:]
        case 4:
            return data[:at] + chance.randbytes(until - at) + data[until:]
        case 5:
            return data.replace(b"\n", b"", 1 + chance.randrange(3))
        case 6:
            return data.replace(b"\n", b"\r\n") + b"\r\n"
        case 7:
            return b"\xef\xbb\xbf" + data
        case 8:
            return data.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-32")))
        case 9:
            found = list(re.finditer(rb'"[A-Za-z_]+":', data))
            if not found:
                return data + data
            key = chance.choice(found)
            odd = chance.choice((b"null,", b"0,", b"[],", b"{},", b'"x",', b"NaN,", b"1e999,"))
            return data[: key.start()] + key.group() + odd + data[key.start() :]
        case 10:
            odd = chance.choice((b"\0", b"\xff", b"\xed\xa0\x80", b"\\u", b"\x1b[2J", b"{", b"]"))
            return data[:at] + odd + data[at:]
        case _:
            return data + chance.choice((b"\n", b"\n\n{", b"]", b"}", b"\n---\n", b",")) + data


def grown(data: bytes, chance: Random, size: int) -> bytes:
    """Some like `data`, of about `size` bytes: more lines, longer lists, or one long text."""
    documents = parsed(data)
    if documents is None:
        return data * max(1, size // max(1, len(data)))
    root: list[Any] = copy.deepcopy(documents)
    lists = [each for each in _containers(root) if isinstance(each, list) and each]
    chosen = chance.choice(lists) if lists else root
    if len(root) > 1 and chance.random() < 0.6:
        chosen = root
    weight = len(json.dumps(chosen, ensure_ascii=True))
    times = max(1, size // max(1, weight))
    # Shared, not copied: only what is written grows.
    chosen *= times
    return _dumped(root, chance, indent=None)


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _containers(inner)


def _places(value: Any) -> list[tuple[Any, Any]]:
    return [
        (each, key)
        for each in _containers(value)
        for key in (list(each) if isinstance(each, dict) else range(len(each)))
    ]


def _change(root: list[Any], name: str, chance: Random) -> None:
    places = _places(root)
    if not places:
        root.append(chance.choice(ODD))
        return
    holder, key = chance.choice(places)
    keys, values = words(name)
    match chance.randrange(10):
        case 0 | 1 | 2:
            holder[key] = copy.deepcopy(chance.choice(ODD))
        case 3:
            del holder[key]
        case 4:
            other, its = chance.choice(places)
            holder[key] = copy.deepcopy(other[its])
        case 5 if isinstance(holder, list):
            holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        case 5 | 6 if isinstance(holder, dict) and keys:
            holder[chance.choice(keys)] = holder.pop(key)
        case 7:
            inner = holder[key]
            holder[key] = chance.choice(([inner], {"content": inner}, [[inner]], {"text": inner}))
        case 8:
            try:
                holder[key] = json.dumps(holder[key])
            except RecursionError:
                holder[key] = None
        case _:
            holder[key] = chance.choice(values or ("x",))


def _dumped(root: list[Any], chance: Random, *, indent: int | None) -> bytes:
    text = "\n".join(
        json.dumps(each, indent=indent, ensure_ascii=chance.random() < 0.8) for each in root
    )
    data = text.encode("utf-8", "surrogatepass")
    depth = chance.choice((30, 200, 3000, 100_000))
    opening, closing = chance.choice(((b"[", b"]"), (b'{"content":', b"}"), (b'[{"a":', b"}]")))
    data = data.replace(json.dumps(_DEEP).encode(), opening * depth + b"0" + closing * depth)
    held = chance.choice(_LONG_TEXTS)
    return data.replace(json.dumps(_LONG)[1:-1].encode(), held * (30_000 // len(held)))


# --------------------------------------------------------------------------------- exercise


def exercise(data: bytes, name: str | None) -> bool:
    """Read `data` and do with the session all that can be done; whether there was one.

    Lets through whatever else than a CompactionError is raised, and fails when the refusal is no
    sentence of one line.
    """
    from compaction.compacting import compact
    from compaction.inspecting import inspect
    from compaction.planning import plan
    from compaction.policy import Policy, Safety
    from compaction.policy_passes import ClearToolResults, ClipToolResults
    from compaction.summary import Digest
    from compaction.tokens import estimate
    from compaction.validity import check

    try:
        session = load(data, format=name)
    except SessionError as error:
        _is_sentence(error)
        return False
    assert all(len(each.parts) >= 0 for each in session.messages)
    for each in session.messages:
        assert isinstance(each.text, str)
        _ = each.record
    _exported(session)
    counts = estimate(session)
    inspect(session, counts)
    check(session.messages, format_named(session.format).dialect)
    in_place = (ClearToolResults(keep=1, inputs=True), ClipToolResults(max_chars=40))
    for before in ((), in_place):
        policy = Policy(budget=1, keep_recent=2, before=before, safety=Safety("off"))
        result = compact(plan(session, policy, counts=counts), Digest())
        if not result.made:
            continue
        _exported(replace(session, messages=result.messages))
        try:
            render_bytes(result)
        except ExportError as error:
            _is_sentence(error)
    omitted(session)
    load(data, format=name, history="full")
    return True


def _exported(session: Session) -> None:
    try:
        written, _ = render_bytes(session)
    except ExportError as error:
        _is_sentence(error)
        return
    try:
        load(written)
    except SessionError as error:
        _is_sentence(error)


def _is_sentence(error: CompactionError) -> None:
    sentence = str(error)
    assert sentence, "a refusal without a word"
    assert "\n" not in sentence, sentence
