"""Whatever a person does wrong: one sentence, the right exit code, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sample_sessions
from tests.tui.running import Cli

CHAT = str(sample_sessions.path("support-chat"))
COMMANDS = ("inspect", "plan", "check")


def one_sentence(text: str) -> str:
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("compaction: ")
    assert "Traceback" not in text
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.json", b""),
        ("blank.jsonl", b"\n\n  \n"),
        ("binary.bin", bytes(range(256)) * 20),
        ("words.txt", b"Dear diary, today I wrote no JSON at all.\n"),
        ("number.json", b"42"),
        ("truncated.json", b'[{"role": "user", "conte'),
        ("deep.json", b"[" * 100_000),
        ("wrong-types.json", b'{"messages": {"role": 7}}'),
        ("bomb.yaml", b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c,*c]\n"),
        ("database.db", b"SQLite format 3\x00" + bytes(100)),
        ("archive.zip", b"PK\x03\x04" + bytes(60)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_hold_no_session_are_2(
    cli: Cli, tmp_path: Path, command: str, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    ran = cli(command, path)
    assert ran.code == 2
    assert ran.out == ""
    assert name in one_sentence(ran.err)


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_files_and_folders_are_2(cli: Cli, tmp_path: Path, command: str) -> None:
    missing = cli(command, tmp_path / "nothing.json")
    assert missing.code == 2
    assert "nothing.json" in one_sentence(missing.err)
    folder = cli(command, tmp_path)
    assert folder.code == 2
    one_sentence(folder.err)


def test_a_file_without_permission_is_2(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_text("[]")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    ran = cli("plan", path)
    assert ran.code == 2
    assert "secret.json" in one_sentence(ran.err)


@pytest.mark.parametrize(
    "args",
    [
        ("plan", CHAT, "--budget", "lots"),
        ("plan", CHAT, "--budget", "0"),
        ("plan", CHAT, "--budget", "-5"),
        ("plan", CHAT, "--keep-recent", "-1"),
        ("plan", CHAT, "--keep-recent", "1.5"),
        ("plan", CHAT, "--keep-recent", "0.5"),
        ("plan", CHAT, "--pin", "100000"),
        ("plan", CHAT, "--policy", "no-such-policy"),
        ("plan", CHAT, "--policy", "no-such.yaml"),
        ("plan", CHAT, "--tokenizer", "no-such-tokenizer"),
        ("plan", CHAT, "--safety", "sometimes"),
        ("plan", CHAT, "--as", "no-such-format"),
        ("plan", CHAT, "--conversation", "no-such-conversation"),
        ("check", CHAT, "--dialect", "latin"),
        ("export", CHAT, "-o", "-", "--json"),
        ("export", CHAT, "-o", "-", "--format", "no-such-format"),
        ("export", CHAT, "-o", "-", "--summary-file", "no-such.txt"),
        ("export", CHAT),
        ("plan",),
        ("plan", CHAT, "--no-such-option"),
        ("policies", "no-such-policy"),
        ("inspct", CHAT),
        ("no-such-file.jsonl",),
    ],
)
def test_usage_errors_are_2(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli(*args)
    assert ran.code == 2, ran
    assert ran.out == ""
    one_sentence(ran.err)


def test_a_misspelled_command_is_answered_with_the_right_one(cli: Cli) -> None:
    assert "`inspect`" in cli("inspct").err


def test_commands_of_later_versions_are_not_offered(cli: Cli) -> None:
    listed = cli("--help").out
    for name in ("serve", "report"):
        assert f"\n  {name} " not in listed


def test_a_broken_policy_file_names_its_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ntrigger: {budget: 1000}\nrecnt: {messages: 3}\n")
    ran = cli("plan", CHAT, "--policy", path)
    assert ran.code == 2
    assert "3" in one_sentence(ran.err)
    assert "recent" in ran.err


def test_a_command_name_may_be_a_file_when_it_has_a_slash(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plan").write_bytes(Path(CHAT).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert cli("inspect", "plan").code == 0
    opened = cli("./plan")
    assert opened.code == 2  # no terminal in a test: it got as far as the screen
    assert "compaction plan ./plan" in one_sentence(opened.err)


def test_without_a_terminal_the_headless_command_is_named(cli: Cli) -> None:
    ran = cli(CHAT)
    assert ran.code == 2
    assert f"compaction plan {CHAT}" in one_sentence(ran.err)
    assert cli("demo").code == 2
    assert cli().code == 2
    piped = cli("-", stdin=Path(CHAT).read_bytes())
    assert piped.code == 2
    assert "compaction plan -" in one_sentence(piped.err)


def test_an_interruption_is_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("compaction.formats.load", interrupted)
    ran = cli("plan", CHAT)
    assert ran.code == 130
    one_sentence(ran.err)


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="this system has no pipes to break")
def test_a_broken_pipe_is_quiet() -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "tui", "plan", str(sample_sessions.path(sample_sessions.DEMO))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.read(100)
    program.stdout.close()
    err = program.stderr.read().decode()
    assert program.wait() == 0
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


@pytest.mark.parametrize(
    "surroundings",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
@pytest.mark.parametrize("sample", ["kanazawa-trip", "hostile-upload"])
@pytest.mark.parametrize("options", [("plan",), ("inspect", "--json"), ("check",)])
def test_no_encoding_of_the_terminal_breaks_printing(
    surroundings: dict[str, str], sample: str, options: tuple[str, ...]
) -> None:
    command, *rest = options
    ran = subprocess.run(
        [sys.executable, "-m", "tui", command, str(sample_sessions.path(sample)), *rest],
        capture_output=True,
        env={**os.environ, **surroundings},
        check=False,
    )
    assert ran.returncode in {0, 1}
    assert b"Traceback" not in ran.stderr
    assert ran.stdout


def test_an_output_that_cannot_be_is_refused_before_a_summary_is_made(
    cli: Cli, tmp_path: Path
) -> None:
    session = sample_sessions.path("login-refactor")
    ran, there = tmp_path / "ran", tmp_path / "there.jsonl"
    there.write_text("mine")
    command = f"command:touch {ran}; echo Short."
    for output in (there, tmp_path, tmp_path / "no" / "such.jsonl", session):
        done = cli("export", session, "--budget", "20k", "-o", output, "--summarizer", command)
        assert done.code == 2
        assert not ran.exists()
    assert there.read_text() == "mine"


@pytest.mark.parametrize("call", ["sys.exit(1)", "sys.exit()", "raise SystemExit('no')"])
def test_code_of_ones_own_that_leaves_is_a_failure_of_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (tmp_path / "leaving.py").write_text(f"import sys\n\ndef make(messages=None):\n    {call}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    session, out = sample_sessions.path("login-refactor"), tmp_path / "out.jsonl"
    made = cli(
        "export", session, "--budget", "20k", "-o", out, "--summarizer", "python:leaving:make"
    )
    assert made.code == 3
    assert "SystemExit" in made.err
    assert not out.exists()
    policy = cli("plan", session, "--policy", f"{tmp_path / 'leaving.py'}:make")
    assert policy.code == 2
    assert "SystemExit" in policy.err
