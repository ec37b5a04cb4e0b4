"""The export dialog: what it says before it writes, what it refuses, what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

import compaction
import sample_sessions
from compaction.compacting import Compacted
from tui.screens.export import Export, Exported, holds, suggested_path
from tui.widgets.text_pane import TextPane


class Stage(App[None]):
    """Shows the dialog and remembers what it gave."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, result: Compacted, folder: Path) -> None:
        super().__init__()
        self.given: list[Exported | None] = []
        self._dialog = Export(result, folder=folder)

    def on_mount(self) -> None:
        self.push_screen(self._dialog, self.given.append)

    @property
    def wrong(self) -> str:
        return str(self.screen.query_one("#export-wrong", Static).content)

    @property
    def path(self) -> Input:
        return self.screen.query_one("#export-path", Input)

    @property
    def losses(self) -> str:
        return "\n".join(each.text for each in self.screen.query_one(TextPane).passages)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_bytes(sample_sessions.path("support-chat").read_bytes())
    return path


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def result(source: Path) -> Compacted:
    session = compaction.load(source)
    policy = compaction.Policy(budget=2000, keep_recent=6)
    return compaction.compact(compaction.plan(session, policy), compaction.Digest())


async def settled(pilot: Pilot[None], keys: Sequence[str] = ()) -> None:
    for key in keys:
        await pilot.press(key)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def test_what_it_will_hold(result: Compacted) -> None:
    said = holds(result)
    assert f"{len(result.messages)} messages" in said
    assert f"{result.tokens_after:,} tokens instead of {result.tokens_before:,}" in said
    assert f"one summary of {len(result.plan.summarized)} messages" in said
    assert "digest" in said


def test_what_it_will_hold_when_nothing_is_compacted(source: Path) -> None:
    session = compaction.load(source)
    plan = compaction.plan(session, compaction.Policy(budget=1_000_000))
    said = holds(compaction.compact(plan))
    assert f"all {len(session)} messages, unchanged" in said
    assert "under budget" in said


def test_the_file_it_suggests_is_not_there_yet(result: Compacted, tmp_path: Path) -> None:
    first = suggested_path(result, "openai-chat", tmp_path)
    assert first == str(tmp_path / "talk-compacted.json")
    Path(first).touch()
    assert suggested_path(result, "openai-chat", tmp_path) == str(
        tmp_path / "talk-compacted-2.json"
    )
    assert suggested_path(result, "yaml", tmp_path).endswith("talk-compacted.yaml")


async def test_enter_writes_a_file_that_loads_again(
    result: Compacted, source: Path, tmp_path: Path
) -> None:
    before = bytes_of(source)
    app = Stage(result, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert "holds all of it" in app.losses
        await settled(pilot, ["enter"])
        (exported,) = app.given
        assert exported is not None
        assert exported.saved.path == str(tmp_path / "talk-compacted.json")
        assert exported.told.startswith(f"Wrote {exported.saved.path}")
        assert "compaction.load(" in exported.told
    again = compaction.load(tmp_path / "talk-compacted.json")
    assert len(again) == len(result.messages)
    assert bytes_of(source) == before


async def test_the_source_is_refused(result: Compacted, source: Path, tmp_path: Path) -> None:
    before = bytes_of(source)
    app = Stage(result, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.path.value = str(source)
        await settled(pilot, ["enter", "enter"])
        assert app.given == []
        assert "never changed" in app.wrong
    assert bytes_of(source) == before


async def test_another_file_is_replaced_only_when_asked_twice(
    result: Compacted, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text("mine")
    app = Stage(result, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.path.value = str(other)
        await settled(pilot, ["enter"])
        assert app.given == []
        assert "Enter again" in app.wrong
        assert other.read_text() == "mine"
        await settled(pilot, ["enter"])
        assert len(app.given) == 1
    assert len(compaction.load(other)) == len(result.messages)


async def test_a_folder_that_is_not_there_is_said(result: Compacted, tmp_path: Path) -> None:
    app = Stage(result, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.path.value = str(tmp_path / "nowhere" / "x.json")
        await settled(pilot, ["enter"])
        assert "nowhere" in app.wrong
        app.path.value = ""
        await settled(pilot, ["enter"])
        assert "Name the file" in app.wrong
        await settled(pilot, ["escape"])
        assert app.given == [None]


async def test_losses_are_said_before_writing(result: Compacted, tmp_path: Path) -> None:
    from compaction.export import losses
    from compaction.formats import FORMATS

    lossy = next((each.name for each in FORMATS if losses(result, each.name)), None)
    assert lossy is not None
    app = Stage(result, tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, ["tab"])
        for _ in FORMATS:
            await settled(pilot, ["right"])
            if lossy in str(app.screen.query_one("#export-format", Static).content):
                break
        assert losses(result, lossy)[0].text in app.losses
        assert app.given == []
        await settled(pilot, ["enter"])
        (exported,) = app.given
        assert exported is not None
        assert exported.saved.format == lossy


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 5), (8, 3)])
async def test_every_size_is_drawn(
    size: tuple[int, int], result: Compacted, tmp_path: Path
) -> None:
    app = Stage(result, tmp_path)
    async with app.run_test(size=size) as pilot:
        await settled(pilot, ["enter"])
        assert len(app.given) == 1
