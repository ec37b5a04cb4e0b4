"""The whole file in the list: the records that are in no window, between the messages that are."""

from __future__ import annotations

from textual import work
from textual.worker import get_current_worker

from compaction.messages import Session
from tui import loading
from tui.opening import Opening
from tui.screens.workbench_counting import WorkbenchCounting
from tui.settings import Settings
from tui.threads import leavable
from tui.whole_file import WholeFile, readable_record
from tui.widgets.detail import MessageDetail
from tui.widgets.looks import counted
from tui.widgets.message_list import MessageList
from tui.widgets.minimap import Minimap


class WorkbenchFile(WorkbenchCounting):
    """Shows what of the file is not in the window."""

    def __init__(self, opening: Opening, settings: Settings) -> None:
        super().__init__(opening, settings)
        self._whole_wanted = False
        self._whole_ticket = 0
        #: What was found, and for which session: a reading of the file for each.
        self._found: tuple[Session, WholeFile] | None = None

    def action_whole_file(self) -> None:
        """Show the records beside the window, or the messages alone."""
        if self.session is None:
            return
        self._whole_wanted = not self._whole_wanted
        if self._whole_wanted:
            self._show_whole()
        else:
            self._take_whole(None)

    def loaded(self) -> None:
        """Another reading of the file has other records beside the window."""
        super().loaded()
        if self._whole_wanted:
            if not self.keep_place:
                self.whole = None
            self._show_whole()

    def _show_whole(self) -> None:
        if self._found is not None and self._found[0] is self.session:
            self._take_whole(self._found[1])
            return
        self._whole_ticket += 1
        self._find_outside(self._whole_ticket)

    @work(thread=True, exclusive=True, group="outside", exit_on_error=False, description="outside")
    def _find_outside(self, ticket: int) -> None:
        worker = get_current_worker()
        session, post = self.session, self.post_message
        if session is None:
            return

        def stopped() -> bool:
            return worker.is_cancelled

        leavable(lambda: loading.find_outside(session, ticket, post, stopped), stopped)

    def on_outside(self, event: loading.Outside) -> None:
        """Show the records, unless another session was read meanwhile."""
        if event.ticket != self._whole_ticket or event.session is not self.session:
            return
        if event.whole is None:
            self._whole_wanted = False
            self.workbench.say(event.reason, severity="warning")
            return
        self._found = (event.session, event.whole)
        if self._whole_wanted:
            self._take_whole(event.whole)
            many = len(event.whole.records)
            if not many:
                self.workbench.say("Everything in this file is in the window.")
            elif not self.keep_place:
                filtered = " The filters hide them." if self.rows is not None else ""
                beside = counted(many, "record")
                self.workbench.say(f"{beside} of the file beside the window.{filtered}")

    def _take_whole(self, whole: WholeFile | None) -> None:
        self.whole = whole
        rows = self.query_one(MessageList)
        rows.whole = whole
        self.show_title()
        if rows.cursor_message is not None:
            self.show_message(rows.cursor_message)

    # ------------------------------------------------------------------------------ a record

    def on_message_list_record_selected(self, event: MessageList.RecordSelected) -> None:
        """Show the record under the cursor, raw and readable, and why it is not sent."""
        session, whole = self.session, self.whole
        if session is None or whole is None or event.record >= len(whole.records):
            return
        record = whole.records[event.record]
        self.query_one(Minimap).cursor = self.query_one(MessageList).cursor_near
        self._shown_message = ()
        self.query_one(MessageDetail).show_record(
            readable_record(session.source, record.span),
            f"record in line {record.span.line:,} of the file",
            record.reason,
        )

    def on_message_list_record_opened(self) -> None:
        """Read it at length."""
        self.show_pane("message", focus=True)

    def on_message_list_boundary_refused(self) -> None:
        """Say why."""
        self.is_record("the first recent one")

    def is_record(self, what: str) -> bool:
        """Whether the cursor is on a record, which cannot be `what`; it is said then."""
        if self.query_one(MessageList).cursor_record is None:
            return False
        self.workbench.say(f"This record is not in the window; only a message can be {what}.")
        return True
