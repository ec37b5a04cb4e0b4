"""The policy editor: live both ways, wrong values in place, files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

import sample_sessions
from compaction.policy import Policy
from tests.tui.person import Person
from tests.tui.widgets.stage import drawn, text_of
from tui.app import Workbench
from tui.opening import Opening
from tui.screens.policy_editor import PolicyEditor
from tui.settings import Settings
from tui.widgets.policy_form import PolicyForm

CHAT = sample_sessions.path("support-chat")
SETTING = Policy(budget=2_000, keep_recent=6)


class Editing(Person):
    """The running app with the editor before it."""

    @property
    def editor(self) -> PolicyEditor:
        """The screen."""
        assert isinstance(self.app.screen, PolicyEditor)
        return self.app.screen

    @property
    def form(self) -> PolicyForm:
        """Its form."""
        return self.editor.query_one(PolicyForm)

    @property
    def yaml(self) -> TextArea:
        """Its YAML."""
        return self.editor.query_one(TextArea)

    @property
    def note(self) -> str:
        """What is wrong."""
        return str(self.editor.query_one("#editor-note").render())

    async def read(self) -> None:
        """Wait until what was typed is read."""
        for _ in range(40):
            await self.pilot.pause(0.02)
            if self.editor._rest is None:
                return


@asynccontextmanager
async def opened(size: tuple[int, int] = (120, 40)) -> AsyncIterator[Editing]:
    """The workbench, its policy being edited."""
    app = Workbench(Opening(str(CHAT), str(CHAT), policy=SETTING), Settings())
    async with app.run_test(size=size) as pilot:
        it = Editing(app, pilot)
        for _ in range(200):
            await app.workers.wait_for_complete()
            await pilot.pause(0.02)
            if it.screen.plan is not None and not it.screen.summarizing:
                break
        await pilot.press("ctrl+e")
        await pilot.pause()
        yield it


async def test_a_change_in_the_form_plans_again_and_writes_the_yaml(alone: None) -> None:
    async with opened() as it:
        it.form.go_to("summary.role")
        await it.pilot.press("right")
        assert it.plan.policy.summary.role == "assistant"
        assert "role: assistant" in it.yaml.text
        it.form.go_to("trigger.budget")
        await it.pilot.press("3", "k", "enter")
        assert it.plan.budget == 3_000
        assert "budget: 3000" in it.yaml.text
        assert "3,000" in "\n".join(text_of(it.form))
        await it.pilot.press("escape")
        assert it.app.screen is it.screen
        it.screen.action_undo()
        assert it.plan.budget == 2_000
        it.screen.action_undo()
        assert it.plan.policy == SETTING


async def test_a_change_in_the_yaml_changes_the_form_and_the_plan(alone: None) -> None:
    async with opened() as it:
        text = it.yaml.text
        await it.pilot.press("tab")
        assert it.yaml.has_focus
        it.yaml.text = text.replace("budget: 2000", "budget: 1500")
        await it.pilot.pause()
        await it.read()
        assert it.plan.budget == 1_500
        assert it.form.policy.budget == 1_500
        assert it.note == ""
        await it.pilot.press("tab")
        assert it.form.has_focus


async def test_wrong_yaml_is_told_with_its_line_and_changes_nothing(alone: None) -> None:
    async with opened() as it:
        it.yaml.text = it.yaml.text.replace("failure: keep", "failure: panic")
        await it.pilot.pause()
        await it.read()
        assert "line" in it.note
        assert "panic" in it.note
        assert it.plan.policy == SETTING
        it.yaml.text = it.yaml.text.replace("failure: panic", "failure: raise")
        await it.pilot.pause()
        await it.read()
        assert it.note == ""
        assert it.plan.policy.failure == "raise"


async def test_a_wrong_value_is_told_under_its_field(alone: None) -> None:
    async with opened() as it:
        it.form.go_to("summary.max_tokens")
        await it.pilot.press("0", "enter")
        assert "summary.max_tokens is 0" in it.form.error
        assert "summary.max_tokens is 0" in "\n".join(text_of(it.form))
        assert it.plan.policy == SETTING
        await it.pilot.press("escape")
        assert not it.form.error
        assert isinstance(it.app.screen, PolicyEditor)


async def test_letters_belong_to_the_entry(alone: None) -> None:
    async with opened() as it:
        it.form.go_to("name")
        await it.pilot.press("enter", "ctrl+u", *"quick up", "enter")
        assert it.plan.policy.name == "quick up"
        assert it.app.is_running


async def test_undo_in_the_editor_shows_what_was(alone: None) -> None:
    async with opened() as it:
        it.form.go_to("iterate")
        await it.pilot.press("right", "u")
        assert it.plan.policy == SETTING
        assert it.form.policy == SETTING
        assert it.yaml.text == SETTING.to_yaml()
        await it.pilot.press("ctrl+r")
        assert it.form.policy.iterate == "roll-in"


async def test_a_file_is_loaded_and_one_is_written(alone: None, tmp_path: Path) -> None:
    mine, out = tmp_path / "mine.yaml", tmp_path / "out.yaml"
    mine.write_text(Policy(name="mine", budget=1_000, keep_recent=3).to_yaml())
    async with opened() as it:
        await it.pilot.press("ctrl+o")
        await it.pilot.pause()
        it.app.screen.query_one(Input).value = str(mine)
        await it.pilot.press("enter")
        await it.pilot.pause()
        assert it.plan.policy.name == "mine"
        assert it.form.policy.budget == 1_000
        await it.pilot.press("ctrl+s")
        await it.pilot.pause()
        it.app.screen.query_one(Input).value = str(out)
        await it.pilot.press("enter")
        await it.pilot.pause(0.1)
        assert Policy.from_yaml(out) == it.plan.policy


@pytest.mark.parametrize("size", [(80, 24), (50, 14), (200, 60)])
async def test_other_sizes(alone: None, size: tuple[int, int]) -> None:
    async with opened(size) as it:
        width = it.form.scrollable_content_region.width
        assert all(strip.cell_length == width for strip in drawn(it.form))
        assert it.yaml.display == (size[0] >= 100)
        await it.pilot.press("tab")
        await it.pilot.pause()
        assert it.yaml.has_focus
        assert it.yaml.size.width > 20
        await it.pilot.press("tab", "end", "home", "escape")
        assert it.app.screen is it.screen
