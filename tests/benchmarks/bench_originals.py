"""One setting of a preset against one run of its original, on the same messages and sizes.

Run as `python -m tests.benchmarks.bench_originals`, where the originals are installed (see
`tests/differential`); what is missing is passed over. CPU time a setting; the ratio says how many
settings are planned while the original runs once. The originals count as they do by themselves,
on every call; here a session is counted once, which is shared by all settings. The original's
messages are made outside of the timing.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from time import process_time
from typing import Any

from compaction.groups import find_groups
from compaction.messages import Message, Session, Source, Text, ToolCall, ToolResult, message
from compaction.planning import Planner
from compaction.policy import Policy, preset
from compaction.tokens import Counts

_TURNS = 400


def messages_of(turns: int) -> tuple[list[Message], list[int]]:
    """A session of turns with calls, and the size of every message."""
    dice = random.Random(5)
    out = [message("system", "Depot helper.")]
    for turn in range(turns):
        out += [
            message("user", f"Weigh crate {turn}. " * 20),
            message("assistant", [ToolCall(f"c{turn}", "weigh", "{}")]),
            message("tool", [ToolResult(f"c{turn}", (Text("12 kg " * 40),))]),
            message("assistant", f"Crate {turn} weighs 12 kg. " * 10),
        ]
    return out, [dice.randint(20, 400) for _ in out]


def planned(messages: list[Message], sizes: list[int], policy: Policy, budgets: list[int]) -> float:
    """Seconds a plan; what is done once for a session is shared by all."""
    session = Session(Source(b""), "openai-chat", tuple(messages))
    begun = process_time()
    planner = Planner(session, Counts("given", array("q", sizes)), find_groups(messages))
    for budget in budgets:
        planner.plan(policy.replace(budget=budget))
    return (process_time() - begun) / len(budgets)


def _langchain(messages: list[Message]) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    out: list[Any] = []
    for index, one in enumerate(messages):
        if one.results:
            out.append(ToolMessage(one.text, tool_call_id=one.results[0], id=str(index)))
        elif one.role == "assistant":
            calls = [{"id": call, "name": "weigh", "args": {}} for call in one.calls]
            out.append(AIMessage("" if calls else one.text, tool_calls=calls, id=str(index)))
        else:
            kind = SystemMessage if one.role == "system" else HumanMessage
            out.append(kind(one.text, id=str(index)))
    return out


def trim(messages: list[Message], sizes: list[int]) -> Callable[[int], object]:
    """langchain-core's trim_messages."""
    from langchain_core.messages import trim_messages

    del sizes
    listed = _langchain(messages)
    return lambda budget: trim_messages(
        listed, max_tokens=budget, strategy="last", include_system=True, token_counter="approximate"
    )


def summarization(messages: list[Message], sizes: list[int]) -> Callable[[int], object]:
    """langchain's SummarizationMiddleware with a model that answers at once."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel

    del sizes
    listed = _langchain(messages)

    def run(budget: int) -> object:
        middle: Any = SummarizationMiddleware(
            model=FakeListChatModel(responses=["A summary."]),
            trigger=("tokens", budget),
            keep=("messages", 20),
        )
        return middle.before_model({"messages": list(listed)}, None)

    return run


def litellm_trim(messages: list[Message], sizes: list[int]) -> Callable[[int], object]:
    """litellm's trim_messages, which counts by itself."""
    from litellm.utils import trim_messages

    del sizes
    listed = [{"role": one.role, "content": one.text} for one in messages if one.role != "tool"]
    return lambda budget: trim_messages(listed, model="gpt-4o", max_tokens=budget)


ORIGINALS = {
    "langchain-trim": trim,
    "langchain-summarization": summarization,
    "litellm": litellm_trim,
}


def main() -> None:
    """Print the table."""
    messages, sizes = messages_of(_TURNS)
    budgets = [2_000 + 37 * number for number in range(1_000)]
    print(f"{len(messages):,} messages")
    for name, make in ORIGINALS.items():
        try:
            run = make(messages, sizes)
        except ImportError as error:
            print(f"{name:<24} not installed: {error.name}")
            continue
        ours = min(planned(messages, sizes, preset(name), budgets) for _ in range(3))
        run(budgets[0])
        times = []
        for budget in budgets[:: len(budgets) // 5]:
            begun = process_time()
            run(budget)
            times.append(process_time() - begun)
        theirs = min(times)
        print(f"{name:<24} {theirs * 1e3:>9.2f} ms  {ours * 1e6:>7.1f} µs  {theirs / ours:>8.0f}x")


if __name__ == "__main__":
    main()
