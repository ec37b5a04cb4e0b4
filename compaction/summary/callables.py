"""Any Python function as a summarizer."""

from __future__ import annotations

from collections.abc import Callable

from compaction.errors import SummarizerError
from compaction.summary.protocol import SummaryRequest
from compaction.summary.transcript import chat_dicts


class FromCallable:
    """A function that takes a list of chat dicts and returns the text of their summary.

    The dicts are the messages in order, each with at least `role` and `content`; messages read
    from chat dicts are passed as those dicts. This is the `summarize` of the published recipes.
    """

    def __init__(self, function: Callable[[list[dict[str, object]]], str], name: str = "") -> None:
        self._function = function
        self._name = name or f"python:{getattr(function, '__name__', 'function')}"

    @property
    def name(self) -> str:
        return self._name

    def summarize(self, request: SummaryRequest) -> str:
        """What the function returns. Raises SummarizerError when it raises anything."""
        messages = chat_dicts(request.messages)
        try:
            return self._function(messages)
        except SummarizerError:
            raise
        except (Exception, SystemExit) as error:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            raise SummarizerError(f"{self._name} failed with {what}.") from error
