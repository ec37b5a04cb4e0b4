"""What the commands of the table do on the workbench."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from textual import work

from compaction.errors import CompactionError
from compaction.formats.base import History as Reach
from compaction.plaintext import one_line
from tui.clipboard import copy
from tui.opening import Opening
from tui.reproducing import command_line
from tui.screens.ask import Ask
from tui.screens.choose import Choice, Choose
from tui.screens.export import Export
from tui.screens.help import Help
from tui.screens.open import OpenSession
from tui.screens.workbench_policy import WorkbenchPolicy
from tui.settings import CHARTS, Pane
from tui.state import History, Setting, boundary_moved, switched, toggled_pin, with_pins
from tui.widgets.filter_bar import FilterBar
from tui.widgets.message_list import MessageList
from tui.widgets.search_bar import SearchBar
from tui.widgets.slider import Slider
from tui.widgets.tour_card import TourCard

#: Seconds between two looks at a file that is followed.
_FOLLOW = 1.0

#: What can be copied, in words.
_COPIED = {"message": "message", "summary": "summary", "command": "command line"}


class WorkbenchActions(WorkbenchPolicy):
    """The commands."""

    # ----------------------------------------------------------------------------- dialogs

    def action_help(self) -> None:
        """All keys."""
        self.app.push_screen(Help(self.settings.keymap))

    @work
    async def action_open(self) -> None:
        """Choose another session."""
        path = await self.app.push_screen_wait(OpenSession(self.workbench.settings.recent))
        if path:
            self.workbench.show_session(
                Opening(
                    path,
                    path,
                    history=self.opening.history,
                    policy=with_pins(self.history.present.policy, (), 0),
                    summarizer=self.opening.summarizer,
                )
            )

    @work
    async def action_export(self) -> None:
        """Write the compacted session, once its summary is made."""
        self.export_wanted = self.summarizing or self.result is None
        if self.summarizing:
            self.workbench.say("The summary is made first.")
        elif self.result is None:
            self.workbench.say(self.summary_reason or "There is nothing to export yet.")
        else:
            done = await self.app.push_screen_wait(Export(self.result))
            if done is not None:
                self.workbench.say(done.told, title="Exported")

    def outcome(self) -> None:
        """Go on with an export that was asked for before there was a result."""
        super().outcome()
        if self.export_wanted:
            self.call_later(self._go_on_exporting)

    def _go_on_exporting(self) -> None:
        if self.export_wanted and self.result is not None and not self.summarizing:
            self.action_export()

    @work
    async def action_choose_policy(self) -> None:
        """Choose a published policy."""
        from compaction.policy import preset, presets

        choices = [Choice(name, name, one_line(_about(name), 120)) for name in presets()]
        current = self.history.present.policy.name
        chosen = await self.app.push_screen_wait(Choose("Policy", choices, current))
        if chosen:
            policy = self.history.present.policy
            self.set_policy(switched(policy, preset(chosen)), f"policy {chosen}")

    @work
    async def action_save_policy(self) -> None:
        """Write the policy as YAML."""
        policy = self.history.present.policy
        path = await self.app.push_screen_wait(
            Ask("Save the policy", f"{policy.name}.yaml", note="A YAML file; --policy takes it.")
        )
        if not path:
            return
        target = _at_home(path)
        if target.exists():
            sure = await self.app.push_screen_wait(
                Choose(
                    f"{one_line(path)} exists",
                    [Choice("yes", "Replace it", key="y"), Choice("no", "Leave it", key="n")],
                    "no",
                )
            )
            if sure != "yes":
                return
        from tui.writing import write_text

        wrong = write_text(target, policy.to_yaml())
        if wrong:
            self.workbench.say(f"{path} was not written: {wrong}.", severity="error")
        else:
            self.workbench.say(
                f"Wrote {path}. Use it with --policy {shlex.quote(path)}.", title="Policy saved"
            )

    @work
    async def action_theme(self) -> None:
        """Choose the colours."""
        names = sorted(self.app.available_themes, key=lambda n: (not n.startswith("workbench"), n))
        chosen = await self.app.push_screen_wait(
            Choose("Theme", [Choice(name, name) for name in names], self.app.theme)
        )
        if chosen:
            self.workbench.remember_theme(chosen)

    @work
    async def action_copy(self) -> None:
        """Copy the message, the summary, or the command line of this setting."""
        choices = [
            Choice("message", "The message under the cursor", key="m"),
            Choice("summary", "The summary as it will be sent", key="s"),
            Choice("command", "The command line of this setting", key="c"),
        ]
        chosen = await self.app.push_screen_wait(Choose("Copy", choices))
        text = self._to_copy(chosen) if chosen else None
        if text is None or chosen is None:
            return
        if not text:
            self.workbench.say("There is none to copy.", severity="warning")
            return
        self.workbench.say(copy(self.app, text, f"the {_COPIED[chosen]}"))

    def _to_copy(self, what: str) -> str:
        if what == "command":
            opening = self.opening
            made = command_line(
                opening.source if isinstance(opening.source, str) else None,
                self.history.present.policy,
                read_as=opening.read_as or "",
                history=opening.history,
                conversation=opening.conversation or "",
            )
            if made.note:
                self.workbench.say(made.note)
            return made.command
        if what == "summary":
            summary = self.result.summary if self.result is not None else None
            return summary.content if summary is not None else ""
        index = self.query_one(MessageList).cursor_message
        if index is None or self.session is None:
            return ""
        return self.session.messages[index].text

    # ------------------------------------------------------------------------------ setting

    def action_boundary(self, steps: int) -> None:
        """Move the boundary by one group."""
        if self.plan is None:
            return
        moved = boundary_moved(self.plan, steps)
        if moved is None:
            self.workbench.say("There is no further place for the boundary.")
        else:
            self.set_policy(moved, "boundary", gesture=True)

    def action_keep_from_cursor(self) -> None:
        """Keep everything from the cursor on."""
        self.query_one(MessageList).action_boundary_here()

    def action_pin(self) -> None:
        """Pin the message under the cursor, or no longer."""
        if self.is_record("pinned"):
            return
        index = self.query_one(MessageList).cursor_message
        if index is None or self.plan is None:
            return
        stays = ("head", "recent") if not self.plan.policy.before else ("head",)
        shown = self.shown_plan or self.plan
        if shown.region(index) in stays and shown.compacts:
            policy = self.history.present.policy
            if index not in policy.head.pins:
                self.workbench.say(f"#{index} is kept anyway; the pin holds when the cut moves.")
        self.set_policy(toggled_pin(self.history.present.policy, index), f"pin #{index}")

    def action_focus_budget(self) -> None:
        """Go to the budget slider."""
        self.set_focus(self.query_one("#budget", Slider))

    def action_focus_keep(self) -> None:
        """Go to the keep-recent slider."""
        self.set_focus(self.query_one("#keep", Slider))

    def action_undo(self) -> None:
        """Take back the last change."""
        self._travel(back=True)

    def action_redo(self) -> None:
        """Make it again."""
        self._travel(back=False)

    def _travel(self, *, back: bool) -> None:
        label = self.history.undoes if back else self.history.redoes
        if not label:
            self.workbench.say(f"There is nothing to {'undo' if back else 'redo'}.")
            return
        before = self.history.present
        self.history = self.history.undone() if back else self.history.redone()
        self._take_setting(before)
        self.workbench.say(f"{'Took back' if back else 'Made again'}: {label}.")

    # ---------------------------------------------------------------------------- the screen

    def action_pane(self, pane: Pane) -> None:
        """Bring a pane to the front."""
        # A chart is gone through with keys of its own.
        self.show_pane(pane, focus=pane in CHARTS or not self.has_class("-wide"))
        self.did(f"pane-{pane}")

    def action_open_message(self) -> None:
        """Read the message at length."""
        self.show_pane("message", focus=True)

    def action_presenter(self) -> None:
        """Bigger bars and less around them, or as before."""
        self.presenting = not self.presenting
        self.set_class(self.presenting, "-presenting")

    def action_history(self) -> None:
        """Everything ever sent in place of the live context, or back."""
        if self.session is None:
            return
        other: Reach = "full" if self.opening.history == "live" else "live"
        self.opening = replace(self.opening, history=other)
        # Pins and a written summary belong to the messages of the other list.
        policy = self.history.present.policy
        unpinned = policy.replace(head=replace(policy.head, pins=()))
        self.history = History(Setting(unpinned))
        self.set_filters(())
        self.start_loading()

    def action_follow(self) -> None:
        """Take in what is added to the file, or no longer."""
        if not isinstance(self.opening.source, str) or self.opening.source == "-":
            self.workbench.say("Only a file can be followed.", severity="warning")
            return
        self.following = not self.following
        self.show_title()
        if self.following:
            self.workbench.say("Following the file; a stops it.")
            self._look_at_file()

    def _look_at_file(self) -> None:
        if not self.following or self.session is None:
            return
        try:
            size = Path(str(self.opening.source)).stat().st_size
        except OSError as error:
            self.following = False
            self.workbench.say(
                f"The file cannot be followed: {error.strerror}.", severity="warning"
            )
            return
        if size != self.session.source.size and not self.loading_session:
            self.start_loading(keep_place=True)
        self.set_timer(_FOLLOW, self._look_at_file)

    def action_back(self) -> None:
        """Leave one thing that is open: reading, a pane, the search, the last filter."""
        if self.query_one(TourCard).running:
            self.query_one(TourCard).action_end()
        elif self.loading_session and not self.keep_place:
            self.stop_loading = True
            self.say_status("keeping what is read …", calm=True)
        elif self.leave_pane() or self.leave_past():
            return
        elif self.summarizing and not self.is_free():
            self.stop_summary()
        elif self.query_one(SearchBar).is_open:
            self.query_one(SearchBar).action_close()
        elif self.query_one(FilterBar).is_open:
            self.query_one(FilterBar).action_close()
        elif self.filters:
            self.set_filters(self.filters[:-1])
        else:
            self.set_focus(self.query_one(MessageList))


def _at_home(path: str) -> Path:
    return Path(path).expanduser()


def _about(name: str) -> str:
    from compaction.policy import preset

    try:
        policy = preset(name)
    except CompactionError:
        return ""
    keep = policy.keep_recent
    recent = policy.recent.unit if keep is None else f"{keep} {policy.recent.unit}"
    return policy.source or f"recent {recent}, summary as {policy.summary.role}"
