"""The shipped ranks: the official ones, and nothing of the machine or the network is used."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest

from compaction.tokens import ranks

OFFICIAL = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
ROOT = Path(__file__).resolve().parents[3]


def test_the_official_file_is_rebuilt_byte_for_byte() -> None:
    held = ranks.load_ranks()
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in held.items())
    assert hashlib.sha256(b"".join(lines)).hexdigest() == OFFICIAL
    assert len(held) == 199_998


def test_packing_is_undone_by_unpacking_and_repeats() -> None:
    held = {b"a": 0, b"": 1, b"\xff" * 255: 2}
    assert ranks.unpack(ranks.pack(held)) == held
    assert ranks.pack(held) == ranks.pack(dict(reversed(held.items())))
    with pytest.raises(ValueError, match="contiguous"):
        ranks.pack({b"a": 1})


def test_pattern_and_special_tokens_are_those_of_tiktoken() -> None:
    from tiktoken_ext import openai_public

    with patch.object(openai_public, "load_tiktoken_bpe", lambda *_, **__: {}):
        official = openai_public.o200k_base()
    assert official["pat_str"] == ranks.PATTERN
    assert official["special_tokens"] == ranks.SPECIAL_TOKENS


def test_the_notice_stands_beside_the_ranks() -> None:
    folder = Path(ranks.__file__).parent
    notice = (folder / "NOTICE").read_text()
    assert "Copyright (c) 2022 OpenAI, Shantanu Jain" in notice
    assert ranks.RESOURCE in notice
    assert (folder / ranks.RESOURCE).is_file()


def test_threads_get_one_encoding() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = {id(encoding) for encoding in pool.map(lambda _: ranks.o200k_base(), range(16))}
    assert len(made) == 1


OFFLINE = """
import os, socket, sys, tempfile
def refuse(*args, **kwargs):
    raise AssertionError("the network was asked for")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
opened = []
def watch(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR):
        opened.append(args[0])
sys.addaudithook(watch)
from compaction.tokens import counter
print(counter().count("Hello, world!"), opened)
"""


def test_the_first_count_needs_no_network_and_leaves_no_file(tmp_path: Path) -> None:
    places = {"HOME", "TMP", "TEMP", "TMPDIR", "XDG_CACHE_HOME", "TIKTOKEN_CACHE_DIR"}
    env = {
        **dict.fromkeys(places, str(tmp_path)),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HTTPS_PROXY": "http://192.0.2.1:9",
    }
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("4 []\n", "")
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_of_tokens_loads_no_tokenizer() -> None:
    code = "import sys, compaction.tokens; print('tiktoken' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
