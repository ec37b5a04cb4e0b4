"""Which of several conversations of a file is shown: asked once, and whenever a person wants."""

from __future__ import annotations

from dataclasses import replace

from textual import work

from compaction.messages import Conversation, Session
from compaction.plaintext import one_line
from tui.screens.choose import Choice, Choose
from tui.screens.workbench_usage import WorkbenchUsage
from tui.state import with_pins
from tui.widgets.looks import counted, grouped

#: Cells for the number and the title of a conversation.
_LABEL = 60


class WorkbenchConversation(WorkbenchUsage):
    """Chooses a conversation."""

    _conversation_asked = False

    def loaded(self) -> None:
        """Ask which conversation is meant, where nothing says it."""
        super().loaded()
        session = self.session
        if session is None or self.keep_place or self._conversation_asked:
            return
        if len(session.conversations) > 1 and self.opening.conversation is None:
            self._conversation_asked = True
            if self.is_current:
                self.action_conversation()

    @work
    async def action_conversation(self) -> None:
        """Choose another conversation of the file."""
        session = self.session
        if session is None:
            return
        held = session.conversations
        if len(held) < 2:
            self.workbench.say("This file holds only one conversation.")
            return
        current = shown_conversation(session)
        chosen = await self.app.push_screen_wait(
            Choose(
                f"{grouped(len(held))} conversations in this file",
                choices_of(held),
                "" if current is None else str(current),
                label=_LABEL,
            )
        )
        if chosen is None or chosen == str(current):
            return
        self.workbench.show_session(
            replace(
                self.opening,
                conversation=held[int(chosen)].id,
                policy=with_pins(self.history.present.policy, (), 0),
                # A summary that was given was written for the conversation that was shown.
                summary_text=None,
                demo=False,
            )
        )


def choices_of(held: tuple[Conversation, ...]) -> list[Choice]:
    """One entry a conversation: its number, its title, how long it is."""
    number = len(grouped(len(held)))
    return [
        Choice(
            str(at),
            f"{grouped(at + 1):>{number}}  {one_line(each.title or each.id, 200) or '(no title)'}",
            counted(each.messages, "message"),
        )
        for at, each in enumerate(held)
    ]


def shown_conversation(session: Session) -> int | None:
    """The place of the conversation that is shown; None where nothing tells it.

    Where none was asked for it is the first one or, of a file that grows, the last.
    """
    held, asked = session.conversations, session.conversation
    if asked:
        for at, each in enumerate(held):
            if asked in (each.id, str(at + 1)):
                return at
    fitting = (at for at in (0, len(held) - 1) if held[at].messages == len(session.messages))
    return next(fitting, None)
