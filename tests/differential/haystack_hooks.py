"""The compactors of Haystack, each asked to bring a list under a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compaction.policy import Policy, Trigger, preset
from tests.differential.cases import Case
from tests.differential.comparing import SUMMARY, Outcome
from tests.differential.describing import Original, open_request

#: The tokens of the summary message on both sides: what chars/4 counts for ours.
SUMMARY_TOKENS = 13

_STEP = "the original makes a second summary for the newest turn, which needs room"
_FITS = "the original stops clearing once the target is reached"


#: What the compactors write into the meta of every message of their own.
_MADE = "context_compaction"


class _Sizes:
    """The sizes of a case as a counter of tokens; what is new is a summary."""

    def __init__(self, case: Case, new: int = SUMMARY_TOKENS) -> None:
        self.case = case
        self.new = new

    def count(self, messages: Sequence[object], tools: object = None) -> int:
        del tools
        return sum(map(self._one, messages))

    def _one(self, each: object) -> int:
        meta = each.meta  # type: ignore[attr-defined]
        return self.new if _MADE in meta else self.case.entries[meta["at"]].size


def _messages(case: Case) -> list[object]:
    from haystack.dataclasses import ChatMessage, ToolCall

    out: list[object] = []
    for index, entry in enumerate(case.entries):
        meta = {"at": index}
        if entry.answers:
            origin = ToolCall(tool_name="t", arguments={}, id=entry.answers)
            out.append(ChatMessage.from_tool(entry.text, origin, meta=meta))
        elif entry.role == "assistant":
            calls = [ToolCall(tool_name=name, arguments={}, id=id_) for id_, name in entry.calls]
            out.append(ChatMessage.from_assistant(entry.text, meta=meta, tool_calls=calls))
        elif entry.role == "system":
            out.append(ChatMessage.from_system(entry.text, meta=meta))
        else:
            out.append(ChatMessage.from_user(entry.text, meta=meta))
    return out


def _kept(left: Sequence[object] | None, case: Case) -> Outcome:
    if left is None:
        return Outcome(tuple(range(len(case.entries))))
    places = [each.meta.get("at") for each in left]  # type: ignore[attr-defined]
    return Outcome(tuple(at for at in places if at is not None), summary=None in places)


def run_summarization(case: Case, target: int) -> Outcome:
    from haystack.dataclasses import ChatMessage
    from haystack.hooks.compaction import SummarizationCompactor

    class Stub:
        def run(self, messages: object) -> dict[str, object]:
            return {"replies": [ChatMessage.from_assistant(SUMMARY)]}

    made = SummarizationCompactor(Stub(), approximate_summary_tokens=SUMMARY_TOKENS)  # type: ignore[arg-type]
    left = made.compact(_messages(case), target, _Sizes(case))  # type: ignore[arg-type]
    return _kept(left, case)


def _summarization_policy(case: Case, target: int) -> Policy:
    del case
    return preset("haystack").replace(trigger=Trigger(target))


def run_window(case: Case, target: int) -> Outcome:
    from haystack.hooks.compaction import SlidingWindowCompactor

    made = SlidingWindowCompactor(omission_note=None)
    return _kept(made.compact(_messages(case), target, _Sizes(case)), case)  # type: ignore[arg-type]


def _window_policy(case: Case, target: int) -> Policy:
    """Without the sentence that tells of the gap, which counts here and does not there."""
    del case
    made = preset("haystack-sliding-window").replace(trigger=Trigger(target))
    return made.replace(summary=replace(made.summary, middle="drop"))


_LARGE = 30


def run_pruning(case: Case, target: int) -> Outcome:
    from haystack.hooks.compaction import ToolResultPruningCompactor

    made = ToolResultPruningCompactor(min_tokens=_LARGE, placeholder=_placeholder())
    before = _messages(case)
    left = made.compact(before, target, _Sizes(case, len(_placeholder()) // 4))  # type: ignore[arg-type]
    pairs = enumerate(zip(before, left or before, strict=True))
    changed = {index for index, (was, now) in pairs if was is not now}
    kept = tuple(index for index in range(len(before)) if index not in changed)
    return Outcome(kept, tuple(sorted(changed)))


def _placeholder() -> str:
    (each,) = preset("haystack-pruning").before
    return each.placeholder  # type: ignore[union-attr]


def _pruning_policy(case: Case, target: int) -> Policy:
    """The newest batch of results is what is spared there."""
    made = preset("haystack-pruning").replace(trigger=Trigger(target))
    (each,) = made.before
    batch = 0
    for entry in reversed(case.entries):
        if entry.answers:
            batch += 1
        elif batch:
            break
    return made.replace(before=(replace(each, keep=max(1, batch), larger_than=_LARGE),))


def _step_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    extra = set(mine.kept) - set(theirs.kept)
    task = max((i for i, entry in enumerate(case.entries) if entry.role == "user"), default=-1)
    if extra and not set(theirs.kept) - set(mine.kept) and min(extra) > task:
        return _STEP
    return ""


def _pruning_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    more = set(mine.changed) - set(theirs.changed)
    later = theirs.changed and more and min(more) > max(theirs.changed)
    return _FITS if later else ""


def _targets(case: Case) -> list[int]:
    return sorted({max(1, case.total * part // 10) for part in (1, 3, 5, 7, 9, 11)})


HAYSTACK: dict[str, Original] = {
    "haystack": Original(
        "haystack-ai", "SummarizationCompactor, one step kept",
        run_summarization, _summarization_policy, _step_known, _targets,
    ),
    "haystack-sliding-window": Original(
        "haystack-ai", "SlidingWindowCompactor, without a note",
        run_window, _window_policy, open_request, _targets,
    ),
    "haystack-pruning": Original(
        "haystack-ai", f"ToolResultPruningCompactor, over {_LARGE} tokens, the newest batch spared",
        run_pruning, _pruning_policy, _pruning_known, _targets,
    ),
}  # fmt: skip
