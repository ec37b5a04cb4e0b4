"""Originals that cut by a share of the messages, by groups or inside a message."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

from compaction.policy import Clause, Policy, Recent, Safety, SummaryBlock, Trigger, preset
from tests.differential.cases import Case
from tests.differential.comparing import SUMMARY, Outcome, quarters
from tests.differential.describing import Original, open_request

# ------------------------------------------------------------------------------------ Strands


def _strands_places(case: Case) -> list[list[int]]:
    """The entries that are one message there: the results of a parallel batch share one."""
    out: list[list[int]] = []
    for index, entry in enumerate(case.entries):
        if entry.answers and out and case.entries[out[-1][-1]].answers:
            out[-1].append(index)
        else:
            out.append([index])
    return out


def run_strands(case: Case, least: int) -> Outcome:
    from strands.agent.conversation_manager import SummarizingConversationManager

    class Stub(SummarizingConversationManager):
        def _generate_summary(self, messages: object, agent: object) -> dict[str, object]:
            return {"role": "user", "content": [{"text": SUMMARY}]}

    places = _strands_places(case)
    listed = []
    for number, group in enumerate(places):
        content: list[dict[str, object]] = []
        for index in group:
            entry = case.entries[index]
            if entry.answers:
                content.append({"toolResult": {"toolUseId": entry.answers, "content": []}})
            else:
                content.append({"text": entry.text})
            for call, name in entry.calls:
                content.append({"toolUse": {"toolUseId": call, "name": name, "input": {}}})
        role = "assistant" if case.entries[group[0]].role == "assistant" else "user"
        listed.append({"role": role, "content": content, "number": number})
    agent = SimpleNamespace(messages=listed)
    Stub(preserve_recent_messages=least).reduce_context(agent)  # type: ignore[arg-type]
    left = [each["number"] for each in agent.messages if "number" in each]
    kept = tuple(index for number in left for index in places[number])
    return Outcome(kept, summary=len(left) < len(agent.messages))


def _strands_policy(case: Case, least: int) -> Policy:
    """30 % of the messages said as the number that is recent."""
    places = _strands_places(case)
    old = min(max(1, int(len(places) * 0.3)), len(places) - least)
    start = places[old][0] if 0 < old < len(places) else (0 if old <= 0 else len(case.entries))
    made = preset("strands").replace(trigger=Trigger(10**9, any=(Clause(messages=0),)))
    block = replace(made.summary, accept="any")
    return made.replace(recent=Recent("messages", len(case.entries) - start), summary=block)


# ------------------------------------------------------------------------------------ LiteLLM

#: Characters that count as one token there.
_CHARS = 10


def run_litellm(case: Case, budget: int) -> Outcome:
    import litellm.utils

    def count(model: str = "", messages: object = None, **more: object) -> int:
        assert isinstance(messages, list)
        return sum(len(each["content"]) for each in messages) // _CHARS

    sent = [
        {"role": entry.role, "content": f"m{index} ".ljust(entry.size * _CHARS, "x")}
        for index, entry in enumerate(case.entries)
    ]
    with patch.object(litellm.utils, "token_counter", count):
        left = litellm.utils.trim_messages(sent, model="gpt-4o", max_tokens=budget)
    whole = {each["content"] for each in sent}
    texts = [each["content"] for each in left if each["content"] in whole]
    return Outcome(tuple(int(re.findall(r"m(\d+) ", text)[0]) for text in texts))


def _litellm_policy(case: Case, budget: int) -> Policy:
    del case
    made = preset("litellm").replace(budget=budget, safety=Safety("off"))
    return made.replace(summary=SummaryBlock(middle="drop"))


def _litellm_known(case: Case, mine: Outcome, theirs: Outcome) -> str:
    more = set(theirs.kept) - set(mine.kept)
    less = set(mine.kept) - set(theirs.kept)
    if more and not less and (not mine.kept or max(more) < min(mine.kept)):
        return "the original goes on to older messages that fit behind one that does not"
    return ""


def _least(case: Case) -> list[int]:
    return [2, 5, 10]


CUTTING: dict[str, Original] = {
    "strands": Original(
        "strands-agents", "SummarizingConversationManager, 30 % of the messages",
        run_strands, _strands_policy, open_request, _least, system=False,
    ),
    "litellm": Original(
        "litellm", "trim_messages, texts only, under safety: off",
        run_litellm, _litellm_policy, _litellm_known, quarters, tools=False, system=False,
    ),
}  # fmt: skip
