"""The command palette, fed from the table of commands."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from textual import actions
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from tui.commands import COMMANDS, Command


class CommandProvider(Provider):
    """Every command of the table that the screen below the palette can do now."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in self._possible():
            yield DiscoveryHit(command.name, partial(self._run, command), help=command.tooltip)

    async def search(self, query: str) -> Hits:
        """Those whose name or sentence matches."""
        matcher = self.matcher(query)
        for command in self._possible():
            by_name = matcher.match(command.name)
            # A sentence holds many letters; one that matches by chance must not win over a name.
            score = max(by_name, matcher.match(command.tooltip) / 2)
            if score > 0:
                shown = matcher.highlight(command.name)
                yield Hit(score, shown, partial(self._run, command), help=command.tooltip)

    def _possible(self) -> list[Command]:
        return [
            command
            for command in COMMANDS
            if command.id != "palette" and self._can(command.action)
        ]

    def _can(self, action: str) -> bool:
        namespace, name, parameters = actions.parse(action)
        target = self.app if namespace == "app" else self.screen
        found = any(hasattr(target, f"{prefix}action_{name}") for prefix in ("", "_"))
        return found and target.check_action(name, parameters) is True

    async def _run(self, command: Command) -> None:
        await self.screen.run_action(command.action)


class Palette(CommandPalette):
    """Textual's palette; its own ends the program at a page key before its list is laid out."""

    def _action_command_list(self, action: str) -> None:
        # The list looks the highlighted line up in a table that the layout makes.
        with suppress(KeyError):
            super()._action_command_list(action)
