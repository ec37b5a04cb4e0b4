"""The originals, one function each, and the preset with the setting that says the same.

Each imports its library when it is first run. `ORIGINALS` has them by the name of the preset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compaction.policy import Head, Policy, Safety, preset
from tests.differential.agents import AGENTS
from tests.differential.cases import Case
from tests.differential.comparing import SUMMARY, Outcome
from tests.differential.cutting import CUTTING
from tests.differential.describing import Original, never, open_request
from tests.differential.haystack_hooks import HAYSTACK
from tests.differential.heavier import HEAVIER

# ---------------------------------------------------------------------------------- LangChain


def langchain_messages(case: Case) -> list[object]:
    """The messages of a case as those of LangChain, each with its index as id."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    out: list[object] = []
    for index, entry in enumerate(case.entries):
        id_ = str(index)
        if entry.answers:
            out.append(ToolMessage(entry.text, tool_call_id=entry.answers, id=id_))
        elif entry.role == "assistant":
            calls = [{"id": call, "name": name, "args": {}} for call, name in entry.calls]
            out.append(AIMessage(entry.text, tool_calls=calls, id=id_))
        else:
            kind = SystemMessage if entry.role == "system" else HumanMessage
            out.append(kind(entry.text, id=id_))
    return out


def _counter(case: Case) -> Callable[[object], int]:
    def count(messages: object) -> int:
        listed = messages if isinstance(messages, list) else [messages]
        ids = (each.id for each in listed)
        return sum(
            case.entries[int(id_)].size if id_ is not None and id_.isdigit() else len(SUMMARY) // 4
            for id_ in ids
        )

    return count


def _kept(messages: Iterable[object], **more: object) -> Outcome:
    ids = [each.id for each in messages]  # type: ignore[attr-defined]
    kept = tuple(int(id_) for id_ in ids if id_ is not None and id_.isdigit())
    return Outcome(kept, **more)  # type: ignore[arg-type]


def run_trim(case: Case, budget: int) -> Outcome:
    from langchain_core.messages import trim_messages

    return _kept(
        trim_messages(
            langchain_messages(case),
            max_tokens=budget,
            strategy="last",
            include_system=True,
            token_counter=_counter(case),
        )
    )


def _trim_policy(case: Case, budget: int) -> Policy:
    del case
    return preset("langchain-trim").replace(budget=budget, safety=Safety("off"))


_KEEP = 5


def run_summarization(case: Case, budget: int) -> Outcome:
    from langchain.agents.middleware import SummarizationMiddleware

    made = SummarizationMiddleware(
        model=_langchain_model(),
        trigger=("tokens", budget),
        keep=("messages", _KEEP),
        token_counter=_counter(case),
        trim_tokens_to_summarize=None,
    )
    update = made.before_model({"messages": langchain_messages(case)}, None)  # type: ignore[arg-type, typeddict-item]
    if update is None:
        return Outcome(tuple(range(len(case.entries))))
    return _kept(update["messages"][2:], summary=True)


def _langchain_model() -> object:
    from langchain_core.language_models import FakeListChatModel

    return FakeListChatModel(responses=[SUMMARY])


def _summarization_policy(case: Case, budget: int) -> Policy:
    del case
    made = preset("langchain-summarization").replace(budget=budget, keep_recent=_KEEP)
    return made.replace(head=Head("none"))


def run_context_editing(case: Case, budget: int) -> Outcome:
    from langchain.agents.middleware.context_editing import ClearToolUsesEdit

    messages = langchain_messages(case)
    ClearToolUsesEdit(trigger=budget).apply(messages, count_tokens=_counter(case))  # type: ignore[arg-type]
    cleared = tuple(
        index
        for index, each in enumerate(messages)
        if each.content == "[cleared]"  # type: ignore[attr-defined]
    )
    kept = tuple(index for index in range(len(messages)) if index not in cleared)
    return Outcome(kept, cleared)


def _editing_policy(case: Case, budget: int) -> Policy:
    del case
    return preset("langchain-context-editing").replace(budget=budget)


def _small_result(case: Case, mine: Outcome, theirs: Outcome) -> str:
    more = set(theirs.changed) - set(mine.changed)
    if set(mine.changed) - set(theirs.changed) or not more:
        return ""
    small = all(len(case.entries[index].text) // 4 <= len("[cleared]") // 4 + 1 for index in more)
    return "a result no larger than the placeholder is left here" if small else ""


# ------------------------------------------------------------------------------------ LangMem


def run_langmem(case: Case, budget: int) -> Outcome:
    from langmem.short_term import summarize_messages

    result = summarize_messages(
        langchain_messages(case),  # type: ignore[arg-type]
        running_summary=None,
        model=_langchain_model(),  # type: ignore[arg-type]
        max_tokens=10**9,
        max_tokens_before_summary=budget,
        max_summary_tokens=256,
        token_counter=_counter(case),  # type: ignore[arg-type]
    )
    every = langchain_messages(case)
    left = {each.id for each in result.messages}
    kept = tuple(i for i, each in enumerate(every) if each.id in left)  # type: ignore[attr-defined]
    return Outcome(kept, summary=result.running_summary is not None)


def _langmem_policy(case: Case, budget: int) -> Policy:
    """The rest after the message that reaches the threshold is what is recent."""
    start = 1 if case.entries[0].role == "system" else 0
    total, rest = 0, len(case.entries)
    for index in range(start, len(case.entries)):
        total += case.entries[index].size
        if total >= budget:
            rest = len(case.entries) - index - 1
            break
    head = sum(case.sizes[:start])
    return preset("langmem").replace(budget=budget + head, keep_recent=rest)


def _langmem_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    answered = {call: i for i, e in enumerate(case.entries) for call, _ in e.calls}
    if any(
        case.entries[i].answers and answered.get(case.entries[i].answers, i) not in theirs.kept
        for i in theirs.kept
    ):
        return "the original separates results of a parallel batch from their call"
    extra = set(mine.kept) - set(theirs.kept)
    if extra and not set(theirs.kept) - set(mine.kept):
        group = open_request(case, mine, theirs)
        newest = len(case.entries) - 1 in extra
        return group or ("the newest group always stays here" if newest else "")
    return ""


ORIGINALS: dict[str, Original] = {
    "langchain-trim": Original(
        "langchain-core", "trim_messages, include_system, under safety: off",
        run_trim, _trim_policy, never, light=True,
    ),
    "langchain-summarization": Original(
        "langchain", f"SummarizationMiddleware, keep {_KEEP} messages, head: none",
        run_summarization, _summarization_policy, open_request, light=True,
    ),
    "langchain-context-editing": Original(
        "langchain", "ClearToolUsesEdit, keep 3",
        run_context_editing, _editing_policy, _small_result, light=True,
    ),
    "langmem": Original(
        "langmem", "summarize_messages, the same rest kept",
        run_langmem, _langmem_policy, _langmem_known, light=True,
    ),
    **HEAVIER,
    **CUTTING,
    **AGENTS,
    **HAYSTACK,
}  # fmt: skip
