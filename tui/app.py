"""The workbench as a Textual app: themes, settings, notices, and one screen per session."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from compaction.plaintext import block
from compaction.policy import Policy
from tui import settings as settings_file
from tui import themes
from tui.collecting import collect_shortly
from tui.commands import widget_keymap
from tui.opening import Opening
from tui.palette import CommandProvider, Palette
from tui.screens.workbench import WorkbenchScreen
from tui.settings import Settings
from tui.threads import share_finely

Severity = Literal["information", "warning", "error"]


class Workbench(App[int]):
    """Opens what `opening` says; `return_code` is the exit code."""

    TITLE = "compaction"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[Any]] = {CommandProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Quit", show=False, system=True),
    ]

    def __init__(self, opening: Opening, settings: Settings | None = None) -> None:
        # Textual removes NO_COLOR from the environment, so it is asked for first.
        no_color = themes.wants_no_color()
        super().__init__()
        self._filters = themes.line_filters(self._filters, no_color=no_color)
        self.opening = opening
        warnings: tuple[str, ...] = ()
        #: Settings that were given are nobody's file.
        self._kept = settings is None
        if settings is None:
            settings, warnings = settings_file.load()
        self.settings = settings
        self._warnings = warnings
        themes.register(self)
        known = settings.theme in self.available_themes
        self.theme = settings.theme if known else themes.DEFAULT

    async def on_mount(self) -> None:
        """Show the workbench, and say what is wrong with the settings."""
        share_finely()
        collect_shortly()
        # The default screen cannot be switched for another one; a pushed one can.
        await self.push_screen(WorkbenchScreen(self.opening, self.settings))
        self.set_keymap(widget_keymap(self.settings.keymap))
        for warning in self._warnings:
            self.say(warning, severity="warning")
        if self.settings.theme and self.settings.theme not in self.available_themes:
            self.say(f"There is no theme {self.settings.theme!r} any more.", severity="warning")

    def action_command_palette(self) -> None:
        """Find a command by its name."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def say(self, text: str, *, severity: Severity = "information", title: str = "") -> None:
        """A notice; `text` is never markup."""
        self.notify(
            block(text),
            title=block(title),
            severity=severity,
            timeout=4 if severity == "information" else 8,
            markup=False,
        )

    def remember(self, changed: Settings) -> None:
        """Keep changed settings for the next time; a failure is a notice."""
        if changed == self.settings:
            return
        self.settings = changed
        wrong = settings_file.save(changed) if self._kept else ""
        if wrong:
            self.say(wrong[:1].upper() + wrong[1:], severity="warning")

    def remember_file(self, path: str) -> None:
        """Put a session first among the recent files; the bundled ones are listed anyway."""
        import sample_sessions

        bundled = Path(sample_sessions.__file__).parent
        if not Path(path).absolute().is_relative_to(bundled):
            self.remember(self.settings.opened(path))

    def remember_theme(self, name: str) -> None:
        """Show a theme, and keep it."""
        self.theme = name
        self.remember(replace(self.settings, theme=name))

    async def action_quit(self) -> None:
        """Leave, whatever is still going on."""
        self._remember_setting()
        self.exit(0)

    def _remember_setting(self) -> None:
        """Keep the policy and the open pane of the session that is left; not those of the demo."""
        for screen in self.screen_stack:
            if isinstance(screen, WorkbenchScreen) and not screen.opening.demo:
                policy = screen.history.present.policy
                asked = policy == (screen.opening.policy or self.settings.policy or Policy())
                kept = self.settings.policy if asked else policy
                self.remember(replace(self.settings, policy=kept, pane=screen.pane))

    def show_session(self, opening: Opening) -> None:
        """Show another session in place of this one."""
        self._remember_setting()
        self.opening = opening
        while not isinstance(self.screen, WorkbenchScreen):
            self.pop_screen()
        self.switch_screen(WorkbenchScreen(opening, self.settings))

    @property
    def count_cache(self) -> Path | None:
        """Where counts are kept between runs; None where nothing is to be kept."""
        if os.environ.get("COMPACTION_NO_CACHE"):
            return None
        from platformdirs import user_cache_path

        return user_cache_path("compaction-workbench", appauthor=False) / "counts.bin"

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """None but those of the table of commands."""
        del screen
        return ()
