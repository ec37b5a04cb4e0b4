"""Originals of agent frameworks that count messages or events and keep a group whole."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

from compaction.policy import Clause, Head, Policy, Recent, Trigger, preset
from tests.differential.cases import Case
from tests.differential.comparing import SUMMARY, Outcome
from tests.differential.describing import Original, open_request

_THRESHOLD = 2


def run_agent_framework(case: Case, target: int) -> Outcome:
    from agent_framework import Content, Message
    from agent_framework import _compaction as compaction

    class Client:
        async def get_response(self, *args: object, **more: object) -> SimpleNamespace:
            return SimpleNamespace(text=SUMMARY)

    listed = []
    for index, entry in enumerate(case.entries):
        if entry.answers:
            contents = [Content.from_function_result(entry.answers, result=entry.text)]
        else:
            contents = [Content.from_text(entry.text)]
        contents += [Content.from_function_call(call, name) for call, name in entry.calls]
        listed.append(Message(role=entry.role, contents=contents, message_id=f"m{index}"))
    strategy = compaction.SummarizationStrategy(
        client=Client(), target_count=target, threshold=_THRESHOLD, max_summary_input_tokens=None
    )
    left = asyncio.run(compaction.apply_compaction(listed, strategy=strategy))
    ids = [each.message_id or "" for each in left]
    kept = tuple(int(each[1:]) for each in ids if each[:1] == "m" and each[1:].isdigit())
    return Outcome(kept, summary=len(kept) < len(case.entries))


def _framework_policy(case: Case, target: int) -> Policy:
    """System messages do not count there."""
    system = case.entries[0].role == "system"
    limit = Clause(messages=target + _THRESHOLD + system)
    made = preset("agent-framework").replace(trigger=Trigger(10**9, any=(limit,)))
    return made.replace(recent=Recent("messages", target))


def run_adk(case: Case, retained: int) -> Outcome:
    """The decision of the token mode: which events one compaction would take."""
    from google.adk.apps import compaction
    from google.adk.events.event import Event
    from google.genai import types

    events = []
    for index, entry in enumerate(case.entries):
        parts = [types.Part(text=entry.text)]
        if entry.answers:
            answer = types.FunctionResponse(id=entry.answers, name="t", response={})
            parts = [types.Part(function_response=answer)]
        for call, name in entry.calls:
            parts.append(types.Part(function_call=types.FunctionCall(id=call, name=name, args={})))
        role = "model" if entry.role == "assistant" else "user"
        content = types.Content(role=role, parts=parts)
        events.append(
            Event(
                author=role,
                content=content,
                timestamp=index + 1.0,
                invocation_id="i",
                id=f"e{index}",
            )
        )
    taken = compaction._events_to_compact_for_token_threshold(
        events=events, event_retention_size=retained
    )
    kept = tuple(range(len(taken), len(events)))
    return Outcome(kept, summary=bool(taken))


def _adk_policy(case: Case, retained: int) -> Policy:
    del case
    made = preset("adk").replace(trigger=Trigger(10**9, any=(Clause(messages=0),)))
    block = replace(made.summary, accept="any")
    return made.replace(recent=Recent("messages", retained), head=Head("none"), summary=block)


def _sizes(case: Case) -> list[int]:
    del case
    return [1, 2, 3, 5, 8]


AGENTS: dict[str, Original] = {
    "agent-framework": Original(
        "agent-framework-core", "SummarizationStrategy, threshold 2",
        run_agent_framework, _framework_policy, open_request, _sizes,
    ),
    "adk": Original(
        "google-adk", "token mode: the events one compaction takes, head: none",
        run_adk, _adk_policy, open_request, _sizes, system=False,
    ),
}  # fmt: skip
