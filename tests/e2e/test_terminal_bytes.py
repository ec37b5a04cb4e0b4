"""Every byte that reaches a real terminal, on sessions that attack it: in every command and screen.

The bytes are taken apart as a terminal does it. What is left over of the transcript's own
sequences, controls and bidirectional overrides is nothing: only sequences the program makes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sample_sessions

pytest.importorskip("pty", reason="this system has no pseudo-terminals")

from tests.e2e.raw_terminal import RawTerminal, Token, tokens

pytestmark = pytest.mark.e2e

HOSTILE = sample_sessions.path("hostile-upload")

#: One attack of each kind, to be put wherever a session has a text.
ATTACKS = (
    "\x1b[31mred", "\x1b[2J", "\x1b[H", "\x1b[?1049l", "\x1b[5i", "\x1b[6n", "\x1b[21t", "\x1bc",
    "\x1b]0;title\x07", "\x1b]2;title\x1b\\", "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07", "\x1bP+q544e\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\",
    "\x1bXsos\x1b\\", "\x9b2J", "\x9d0;title\x9c", "\x90q\x9c", "\u202egnp.exe", "\u2066a\u2069",
    "\u200e\u200f\u061c", "a\rb", "a\x08\x08b", "\x07", "\x7f", "\x00", "\x0e\x0f", "\x85",
    "\u2028\u2029", "\ufeff", "[bold]x[/bold]", "[@click=app.quit]x[/]",
)  # fmt: skip
EVERY = " ".join(ATTACKS)

#: What the program itself does besides printing and colours: enter and leave the full screen, the
#: mouse, focus, paste, the cursor, synchronized frames, and questions about what is understood.
_MODES = re.compile(r"\?(1049|1000|1002|1003|1004|1006|1015|2004|2026|2048|25|7)[hl]")
_OWN = re.compile(r"[0-9;:]*m|(\d+;\d+)?H|[<>=]\d*u|\?(2026|2048)\$p|\?u|c|0? ?q")
#: The shape of the mouse pointer, which no text is in.
_POINTER = re.compile(r"22;[a-z-]*")

#: Characters that are drawn as something else than themselves, or act on what is around them.
_ACTS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def foreign(data: bytes, *, full_screen: bool) -> list[Token]:
    """Everything in `data` that is not the program's own."""
    # A line of progress is drawn over itself; any other return ends a line.
    data = data.replace(b"\r\x1b[K", b"").replace(b"\r\n", b"\n")
    return [token for token in tokens(data) if not _is_own(token, full_screen=full_screen)]


def _is_own(token: Token, *, full_screen: bool) -> bool:
    match token.kind:
        case "text":
            return not _ACTS.search(token.value)
        case "C0":
            return token.value == "\n"
        case "CSI" if full_screen:
            return bool(_MODES.fullmatch(token.value) or _OWN.fullmatch(token.value))
        case "CSI":
            # Printed lines have colours and nothing that moves.
            return re.fullmatch(r"[0-9;]*m", token.value) is not None
        case "OSC":
            return full_screen and _POINTER.fullmatch(token.value) is not None
    return False


def _everywhere(folder: Path) -> Path:
    """A session with every attack in every place, under a name that is one."""
    call = {"id": f"c{EVERY}", "type": "function"}
    turns: list[dict[str, object]] = [
        {"role": "system", "content": EVERY},
        {"role": "user", "name": EVERY, "content": EVERY * 30},
    ]
    for number in range(8):
        made = {**call, "id": f"{number}{EVERY}"}
        arguments = json.dumps({"file_path": EVERY, EVERY: EVERY})
        made["function"] = {"name": EVERY, "arguments": arguments}  # type: ignore[assignment]
        turns.append({"role": "assistant", "content": EVERY, "tool_calls": [made]})
        turns.append({"role": "tool", "tool_call_id": made["id"], "content": EVERY * 20})
    turns.append({"role": EVERY, "content": EVERY})
    turns.append({"role": "user", "content": [{"type": EVERY, EVERY: EVERY}]})
    turns.append({"role": "tool", "tool_call_id": f"gone{EVERY}", "content": EVERY})
    turns.append({"role": "user", "content": EVERY})
    document = {"model": EVERY, "title": EVERY, "messages": turns, "tools": [{"name": EVERY}]}
    path = folder / "a\x1b[31mb\u202ec\x9b2Jd\x07.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture(params=["the hostile sample", "every attack everywhere"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return HOSTILE if request.param.startswith("the") else _everywhere(tmp_path)


Start = Callable[..., RawTerminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the program on a raw terminal, with nothing of the person at this machine."""
    running: list[RawTerminal] = []

    def begin(*args: object) -> RawTerminal:
        terminal = RawTerminal(
            [sys.executable, "-m", "tui", *map(str, args)],
            environment={
                "COMPACTION_CONFIG_DIR": str(tmp_path / "config"),
                "COMPACTION_NO_CACHE": "1",
                "HOME": str(tmp_path),
                "LC_ALL": "C.UTF-8",
                "TEXTUAL_ANIMATIONS": "none",
            },
        )
        running.append(terminal)
        return terminal

    yield begin
    for terminal in running:
        terminal.close()


_SMALL = ("--budget", "2000", "--keep-recent", "3")

#: Every command; FILE is the session, OUT a file that is not there yet.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("inspect", "FILE"),
    ("inspect", "FILE", "--history", "full"),
    ("inspect", "FILE", "--json"),
    ("plan", "FILE", *_SMALL),
    ("plan", "FILE", "--json", *_SMALL),
    ("export", "FILE", "-o", "-", *_SMALL),
    ("export", "FILE", "-o", "-", "--format", "anthropic", *_SMALL),
    ("export", "FILE", "-o", "OUT", "--json", *_SMALL),
    ("check", "FILE"),
    ("check", "FILE", "--json"),
    ("check", "FILE", "--fix", "-o", "OUT", "--dialect", "anthropic"),
    ("replay", "FILE", *_SMALL),
    ("compare", "FILE"),
    ("recommend", "FILE"),
    ("sweep", "FILE"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_of_a_command_only_its_own_sequences_arrive(
    command: tuple[str, ...], session: Path, start: Start, tmp_path: Path
) -> None:
    from tui.cli import program

    if command[0] not in program.commands:
        pytest.skip(f"there is no command {command[0]} yet")
    names = {"FILE": session, "OUT": tmp_path / "out.json"}
    terminal = start(*(names.get(part, part) for part in command))
    code = terminal.ended()
    assert terminal.received
    assert b"Traceback" not in terminal.received, terminal.received.decode(errors="replace")
    assert code in {0, 1, 2, 3}
    assert not foreign(bytes(terminal.received), full_screen=False)


@pytest.mark.parametrize("command", [("policies",), ("formats",), ("--help",)], ids=" ".join)
def test_of_a_list_only_its_own_sequences_arrive(command: tuple[str, ...], start: Start) -> None:
    terminal = start(*command)
    assert terminal.ended() == 0
    assert not foreign(bytes(terminal.received), full_screen=False)


@pytest.mark.parametrize("attack", ATTACKS, ids=ascii)
def test_the_words_of_an_error_are_harmless(
    attack: str, start: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tui.cli import run

    if "\0" in attack:
        pytest.skip("no argument of a program holds a NUL")
    for command in (["inspect", f"{attack}.json"], ["plan", "x", f"--{attack}"], [attack]):
        assert run(command) == 2
        said = "".join(capsys.readouterr())
        assert said.strip()
        assert not foreign(said.encode("utf-8", "surrogateescape"), full_screen=False)


#: Keys, and what the screen shows once they have done their work.
Step = tuple[str, str | Callable[[str], bool]]
_ESCAPE = "\x1b"


def _gone(text: str) -> Callable[[str], bool]:
    return lambda screen: text not in screen


STEPS: tuple[Step, ...] = (
    ("j", " #1 "),
    ("j", " #2 "),
    ("j", " #3 "),
    ("j", " #4 "),
    ("2", "[Summary of"),
    ("3", "≡"),
    ("4", lambda screen: "note" in screen or "warning" in screen or "error" in screen),
    ("5", "by role"),
    ("6", lambda screen: "call 1" in screen or "calls" in screen),
    ("1", _gone("by role")),
    ("?", "Cut and keep"),
    (_ESCAPE, _gone("Cut and keep")),
    ("/", "search the messages"),
    ("title", "title"),
    (f"{_ESCAPE}", _gone("/ title")),
    ("f", "role:tool"),
    ("role:user", "role:user"),
    (_ESCAPE, _gone("role:user")),
    ("p", "anthropic-compact"),
    (_ESCAPE, _gone("anthropic-compact")),
    ("o", "Open a session"),
    (_ESCAPE, _gone("Open a session")),
    ("x", "enter writes"),
    (_ESCAPE, _gone("enter writes")),
    ("y", "The message under the cursor"),
    (_ESCAPE, _gone("The message under the cursor")),
    ("T", "catppuccin-latte"),
    (_ESCAPE, _gone("catppuccin-latte")),
    ("w", "Save the policy"),
    (_ESCAPE, _gone("Save the policy")),
    ("\x10", "Search for commands"),
    (_ESCAPE, _gone("Search for commands")),
    ("e", "keeps the edit"),
    (_ESCAPE, _gone("keeps the edit")),
    ("v", "whole file"),
    ("s", "digest"),
)


def test_of_the_workbench_only_its_own_sequences_arrive(session: Path, start: Start) -> None:
    terminal = start(session, *_SMALL)
    terminal.wait(lambda screen: "░S" in screen and "→ summary" in screen)
    for keys, shown in STEPS:
        terminal.keys(keys)
        terminal.wait(shown)
        assert not foreign(terminal.complete, full_screen=True), keys
    terminal.keys("q")
    assert terminal.ended() == 0
    assert not foreign(bytes(terminal.received), full_screen=True)
    # It leaves the terminal as it was.
    assert b"\x1b[?1049l" in terminal.received
    assert b"\x1b[?25h" in terminal.received


def test_of_the_choice_of_a_conversation_only_its_own_sequences_arrive(
    start: Start, tmp_path: Path
) -> None:
    parts = [{"type": "text", "text": EVERY}]
    said = [
        {"uuid": EVERY, "sender": sender, "text": EVERY, "content": parts}
        for sender in ("human", "assistant")
    ]
    export = [{"uuid": f"{n}{EVERY}", "name": EVERY, "chat_messages": said} for n in range(3)]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(export))
    terminal = start(path)
    terminal.wait("3 conversations in this file")
    terminal.wait("enter chooses")
    assert not foreign(terminal.complete, full_screen=True)
    terminal.keys("\r")
    terminal.wait(_gone("enter chooses"))
    terminal.keys("q")
    assert terminal.ended() == 0
    assert not foreign(bytes(terminal.received), full_screen=True)


def test_the_parser_sees_every_attack() -> None:
    for attack in ATTACKS:
        raw = attack.encode("utf-8", "surrogateescape")
        harmless = attack.startswith("[") or attack == "\ufeff"
        assert bool(foreign(raw, full_screen=False)) is not (harmless or attack == "\x1b[31mred")
