"""VS Code's Copilot Chat: chat sessions, their operation logs, exports, and chat replays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compaction.errors import ExportError
from compaction.formats import exact
from compaction.formats.base import Dialect, ReadOptions, Sample, Written
from compaction.formats.jsonl import Faults
from compaction.formats.vscode_log import is_log, played
from compaction.formats.vscode_replay import is_replay
from compaction.messages import Message, Session, Source

_READ_ONLY = (
    "A VS Code chat can only be read: the editor keeps each answer a second time as it shows it, "
    "and would not open one where the two disagree."
)


class VsCodeCopilot:
    """The format."""

    name = "vscode-copilot"
    title = "VS Code Copilot Chat"
    dialect: Dialect = "openai-chat"
    suffix = ".json"
    read_only = _READ_ONLY

    def recognise(self, sample: Sample) -> bool:
        """A chat with its requests, the log of one, or a replay of prompts with their logs."""
        return is_log(sample.lines) or _is_chat(sample.whole) or is_replay(sample.whole)

    def read(self, source: Source, options: ReadOptions) -> Session:
        """What the next request would send; of a replay the last request."""
        from compaction.formats import vscode_reading, vscode_replay
        from compaction.formats.recognising import sample_of

        sample = sample_of(source)
        if is_log(sample.lines):
            faults = Faults()
            state = played(source, options, faults)
            whole = Source(exact.dump_bytes(state), source.name, source.path)
            return vscode_reading.read(whole, options, faults.findings)
        if is_replay(sample.whole):
            return vscode_replay.read(source, options)
        return vscode_reading.read(source, options)

    def write(self, messages: Sequence[Message], session: Session) -> Written:
        """Nothing: see `read_only`."""
        del messages, session
        raise ExportError(self.read_only)


def _is_chat(value: object) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("requests"), list):
        return False
    if "responderUsername" in value or "requesterUsername" in value:
        return True
    return any(
        isinstance(one, Mapping) and "requestId" in one and "message" in one
        for one in value["requests"][:20]
    )
