"""The picker: what it lists, how it narrows, what it gives back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tui.known_sessions import Known, first_words, known_sessions
from tui.screens.open import KnownList, OpenSession, age, narrowed, size_of, typed_path


class Stage(App[None]):
    """Shows the picker and remembers what it gave."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, picker: OpenSession) -> None:
        super().__init__()
        self.given: list[str | None] = []
        self._picker = picker

    def on_mount(self) -> None:
        self.push_screen(self._picker, self.given.append)


def known(path: str, **given: object) -> Known:
    values: dict[str, object] = {
        "place": "recent", "name": Path(path).name, "folder": str(Path(path).parent),
        "modified": 100.0, "size": 10, "title": "",
    }
    values.update(given)
    return Known(path, **values)  # type: ignore[arg-type]


def picker(*sessions: Known) -> OpenSession:
    return OpenSession(source=lambda: sessions, now=1000.0)


async def shown(pilot: Pilot[None]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def claude_file(folder: Path, name: str, text: str, modified: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(
        '{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","timestamp":'
        '"2026-01-01T00:00:00Z","message":{"role":"user","content":"' + text + '"}}\n'
    )
    os.utime(path, (modified, modified))
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path


def test_recent_files_come_first_then_places_newest_first_then_samples(home: Path) -> None:
    old = claude_file(home / ".claude/projects/harbor", "old.jsonl", "first", 1_000)
    new = claude_file(home / ".claude/projects/quay", "new.jsonl", "second", 2_000)
    rollout = claude_file(home / ".codex/sessions/2026", "rollout.jsonl", "third", 3_000)
    found = list(known_sessions([str(old), str(home / "gone.json")], home=home))
    assert [each.path for each in found[:3]] == [str(old), str(new), str(rollout)]
    assert [each.place for each in found[:3]] == ["recent", "Claude Code", "Codex"]
    assert found[1].folder == "quay"
    assert {each.place for each in found[3:]} == {"bundled"}
    assert len(found[3:]) >= 10


def test_a_home_with_nothing_in_it_gives_the_samples(home: Path) -> None:
    assert {each.place for each in known_sessions(home=home)} == {"bundled"}


def test_tools_that_keep_their_sessions_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claude_file(home / "elsewhere/projects/p", "s.jsonl", "hello", 5)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    assert next(known_sessions(home=home)).path == str(path)


def test_first_words_are_what_a_person_typed(tmp_path: Path) -> None:
    path = claude_file(tmp_path, "a.jsonl", "Move the login code", 1)
    assert first_words(str(path)) == "Move the login code"
    broken = tmp_path / "b.jsonl"
    broken.write_bytes(b"\x00\x01\x02")
    assert first_words(str(broken)) == ""
    assert first_words(str(tmp_path / "missing")) == ""


def test_every_word_narrows() -> None:
    sessions = [
        known("/a/one.json", title="Moving a login"),
        known("/b/two.json", folder="harbor login"),
        known("/c/three.json", place="Codex"),
    ]
    assert [each.path for each in narrowed(sessions, "LOGIN")] == ["/a/one.json", "/b/two.json"]
    assert [each.path for each in narrowed(sessions, "login two")] == ["/b/two.json"]
    assert narrowed(sessions, "codex")[0].path == "/c/three.json"
    assert len(narrowed(sessions, "  ")) == 3


def test_ages_and_sizes() -> None:
    ages = [age(9000 - ago, 9000) for ago in (0, 59, 60, 3599)]
    assert ages == ["now", "now", "1 min", "59 min"]
    assert age(1_000_000 - 7200, 1_000_000) == "2 h"
    assert age(1_000_000 - 3 * 86_400, 1_000_000) == "3 d"
    assert age(0, 1000) == ""
    assert size_of(812) == "812 B"
    assert size_of(4_100_000) == "4.1 MB"
    assert size_of(1_024) == "1 KB"


def test_a_typed_path(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("[]")
    assert typed_path(f" {path} ") == path
    assert typed_path(str(tmp_path)) is None
    assert typed_path("") is None
    assert typed_path("a\0b") is None


@pytest.mark.parametrize(
    ("press", "given"),
    [
        (lambda: ["enter"], "/a/one.json"),
        (lambda: ["down", "enter"], "/b/two.json"),
        (lambda: [*"two", "enter"], "/b/two.json"),
        (lambda: ["escape"], None),
    ],
    ids=["enter", "down", "narrowed", "escape"],
)
async def test_choosing(press: Callable[[], list[str]], given: str | None) -> None:
    app = Stage(picker(known("/a/one.json"), known("/b/two.json")))
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot)
        await pilot.press(*press())
        await pilot.pause()
        assert app.given == [given]


async def test_a_path_that_is_typed_opens_that_file(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("[]")
    app = Stage(picker(known("/a/one.json")))
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot)
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        assert app.given == [str(path)]


async def test_nothing_that_matches_is_said_and_stays_open() -> None:
    app = Stage(picker(known("/a/one.json")))
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot)
        await pilot.press(*"zzz", "enter")
        await pilot.pause()
        assert app.given == []
        note = str(app.screen.query_one("#open-note", Static).content)
        assert "zzz" in note


async def test_a_double_click_opens_and_hostile_names_are_only_text() -> None:
    hostile = known(
        "/a/one.json", title="[bold]\x1b[2Jx[/]", folder="\u202e", name="[@click=app.quit]"
    )
    app = Stage(picker(hostile, known("/b/two.json")))
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot)
        line = app.screen.query_one(KnownList).render_line(0).text
        assert "[bold]x[/]" in line
        assert "\x1b" not in line
        await pilot.click(KnownList, offset=(20, 1), times=2)
        await pilot.pause()
        assert app.given == ["/b/two.json"]


@pytest.mark.parametrize("size", [(40, 12), (20, 5), (8, 3), (200, 60)])
async def test_every_size_is_drawn(size: tuple[int, int]) -> None:
    app = Stage(picker(*(known(f"/a/{number}.json") for number in range(50))))
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        await pilot.press("pagedown", "enter")
        await pilot.pause()
        assert app.given
        assert app.given[0] is not None


@pytest.mark.parametrize("pickers", [1, 2], ids=["once", "asked twice"])
async def test_the_chosen_session_takes_the_place_of_the_other(
    pickers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sample_sessions
    from tui.app import Workbench
    from tui.opening import Opening
    from tui.screens.workbench import WorkbenchScreen
    from tui.settings import Settings

    monkeypatch.setenv("COMPACTION_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("COMPACTION_NO_CACHE", "1")
    first, other = (str(sample_sessions.path(name)) for name in ("support-chat", "login-refactor"))
    app = Workbench(Opening(source=first, name=first), Settings())
    async with app.run_test(size=(100, 30)) as pilot:
        before = app.screen
        assert isinstance(before, WorkbenchScreen)
        for _ in range(pickers):
            before.action_open()
        await pilot.pause()
        assert isinstance(app.screen, OpenSession)
        app.screen.query_one(Input).value = other
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, WorkbenchScreen)
        assert app.screen is not before
        assert app.screen.opening.source == other
