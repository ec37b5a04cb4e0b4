"""Originals whose packages bring much along; each imports what it needs when it is run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import replace

from compaction.policy import Clause, Head, Policy, Recent, Safety, Trigger, preset
from tests.differential.cases import Case
from tests.differential.comparing import SUMMARY, Outcome, quarters
from tests.differential.describing import Original, open_request


def _everything(case: Case) -> Outcome:
    return Outcome(tuple(range(len(case.entries))))


def _numbered(texts: Iterable[str]) -> tuple[int, ...]:
    """The indexes that stand in the texts of what is left."""
    return tuple(int(found[1]) for text in texts if (found := re.fullmatch(r"m(\d+)", text)))


# --------------------------------------------------------------------------------- LlamaIndex


def run_llama_index(case: Case, budget: int) -> Outcome:
    from llama_index.core.llms import ChatMessage, MockLLM
    from llama_index.core.memory import ChatSummaryMemoryBuffer

    def tokens(text: str) -> list[int]:
        return [0] * sum(case.entries[int(each[1:])].size for each in text.split())

    memory = ChatSummaryMemoryBuffer.from_defaults(
        chat_history=[
            ChatMessage(role=entry.role, content=f"m{index}")
            for index, entry in enumerate(case.entries)
        ],
        llm=MockLLM(),
        token_limit=budget,
        tokenizer_fn=tokens,
    )
    kept = _numbered(str(each.content) for each in memory.get())
    # The policy drops what is old, as a summary of ours would count against the limit.
    return Outcome(kept)


def _llama_policy(case: Case, budget: int) -> Policy:
    del case
    made = preset("llama-index").replace(budget=budget, head=Head("none"))
    return made.replace(summary=replace(made.summary, middle="drop"))


def _llama_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    extra = set(mine.kept) - set(theirs.kept)
    turns = [i for i, entry in enumerate(case.entries) if entry.role == "user"]
    newest = set(range(turns[-1], len(case.entries))) if turns else set()
    if extra and extra <= newest and not set(theirs.kept) - set(mine.kept):
        return "the newest turn always stays here"
    return open_request(case, mine, theirs)


# ----------------------------------------------------------------------------- Semantic Kernel


def run_semantic_kernel(case: Case, target: int) -> Outcome:
    from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
    from semantic_kernel.contents import (
        ChatHistorySummarizationReducer,
        ChatMessageContent,
        FunctionCallContent,
        FunctionResultContent,
        TextContent,
    )

    class Stub(ChatCompletionClientBase):
        async def get_chat_message_content(
            self, *args: object, **more: object
        ) -> ChatMessageContent:
            return ChatMessageContent(role="assistant", content=SUMMARY)

        def get_prompt_execution_settings_from_settings(self, settings: object) -> object:
            return settings

    listed = []
    for index, entry in enumerate(case.entries):
        items: list[object] = [TextContent(text=f"m{index}")]
        if entry.answers:
            items = [FunctionResultContent(id=entry.answers, name="t", result=f"m{index}")]
        items += [FunctionCallContent(id=call, name=name) for call, name in entry.calls]
        listed.append(
            ChatMessageContent(role=entry.role, items=items, metadata={"at": index})  # type: ignore[arg-type]
        )
    reducer = ChatHistorySummarizationReducer(
        service=Stub(ai_model_id="stub"), target_count=target, messages=listed
    )
    if asyncio.run(reducer.reduce()) is None:
        return _everything(case)
    kept = tuple(each.metadata["at"] for each in reducer.messages if "at" in each.metadata)
    return Outcome(kept, summary=True)


def _kernel_policy(case: Case, target: int) -> Policy:
    system = case.entries[0].role == "system"
    trigger = Trigger(10**9, any=(Clause(messages=target),))
    made = preset("semantic-kernel").replace(trigger=trigger)
    return made.replace(recent=Recent("messages", target - system))


def _kernel_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    more = set(theirs.kept) - set(mine.kept)
    if more and not set(mine.kept) - set(theirs.kept):
        tools = all(entry.answers or entry.calls for entry in (case.entries[i] for i in more))
        if tools:
            return "a run of tool messages is one block in the original"
        if not theirs.summary:
            return "the original leaves a list alone whose old part is nothing but tools"
    return open_request(case, mine, theirs)


# ------------------------------------------------------------------------------------ AutoGen

_HEAD = 2


def run_autogen(case: Case, tail: int) -> Outcome:
    from autogen_core import FunctionCall
    from autogen_core.model_context import HeadAndTailChatCompletionContext
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        SystemMessage,
        UserMessage,
    )

    def said(index: int) -> object:
        entry = case.entries[index]
        if entry.answers:
            result = FunctionExecutionResult(
                content=f"m{index}", call_id=entry.answers, name="t", is_error=False
            )
            return FunctionExecutionResultMessage(content=[result])
        if entry.calls:
            calls = [FunctionCall(id=call, name=name, arguments="{}") for call, name in entry.calls]
            return AssistantMessage(content=calls, thought=f"m{index}", source="a")
        if entry.role == "assistant":
            return AssistantMessage(content=f"m{index}", source="a")
        if entry.role == "system":
            return SystemMessage(content=f"m{index}")
        return UserMessage(content=f"m{index}", source="u")

    listed = [said(index) for index in range(len(case.entries))]
    places = {id(each): index for index, each in enumerate(listed)}
    context = HeadAndTailChatCompletionContext(
        head_size=_HEAD,
        tail_size=tail,
        initial_messages=listed,  # type: ignore[arg-type]
    )
    left = asyncio.run(context.get_messages())
    kept = tuple(places[id(each)] for each in left if id(each) in places)
    return Outcome(kept, summary=len(left) > len(kept))


def _autogen_policy(case: Case, tail: int) -> Policy:
    del case
    trigger = Trigger(10**9, any=(Clause(messages=_HEAD + tail),))
    made = preset("autogen-head-tail").replace(trigger=trigger, keep_recent=tail)
    return made.replace(safety=Safety("off"))


def _autogen_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    gone = set(mine.kept) - set(theirs.kept)
    edges = (case.entries[index] for index in gone)
    if gone and all(entry.calls or entry.answers for entry in edges):
        return "the original drops a call that ends the head and a result that begins the tail"
    return ""


def _targets(case: Case) -> list[int]:
    return sorted({each for each in (2, 3, 5, 8, 12, len(case.entries)) if each >= 2})


HEAVIER: dict[str, Original] = {
    "llama-index": Original(
        "llama-index-core", "ChatSummaryMemoryBuffer, head: none, by contents",
        run_llama_index, _llama_policy, _llama_known, quarters, system=False,
    ),
    "semantic-kernel": Original(
        "semantic-kernel", "ChatHistorySummarizationReducer, no threshold",
        run_semantic_kernel, _kernel_policy, _kernel_known, _targets,
    ),
    "autogen-head-tail": Original(
        "autogen-core", "HeadAndTailChatCompletionContext, under safety: off",
        run_autogen, _autogen_policy, _autogen_known, _targets,
    ),
}  # fmt: skip
