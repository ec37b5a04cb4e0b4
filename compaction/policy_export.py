"""A policy as the setting of another tool: its configuration or a snippet, and what is lost on it.

Every tool has one function here. None is run or imported; the text is for a person to paste.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compaction.errors import PolicyError
from compaction.policy import Policy, preset
from compaction.policy_checks import nearest
from compaction.policy_passes import ClearToolResults, name_of
from compaction.policy_trigger import Clause

_PYDANTIC = "Python, pydantic-ai 1"
_PYDANTIC_IMPORTS = """\
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ToolReturnPart,
)
"""
_QUARTER = "counting tokens: the size is a quarter of the characters of the messages"

#: The window of a policy that names none, where a tool wants a part of one.
_WINDOWS = {"claude-code": 200_000, "gemini-cli": 1_048_576}


@dataclass(frozen=True, slots=True)
class ToolSetting:
    """A policy in the words of `tool`: the text of `where`, and what cannot be said in it."""

    tool: str
    where: str
    text: str
    lost: tuple[str, ...]


def export_policy(policy: Policy, tool: str) -> ToolSetting:
    """`policy` as a setting of `tool`. Raises PolicyError for a tool that is not known."""
    found = _TOOLS.get(tool)
    if found is None:
        raise PolicyError(
            f"there is no export for {tool!r}{nearest(tool, tools())}; known are "
            f"{', '.join(tools())}."
        )
    return found(policy)


def tools() -> tuple[str, ...]:
    """The tools a policy can be written for."""
    return tuple(_TOOLS)


# ----------------------------------------------------------------------------- coding agents


def _claude_code(policy: Policy) -> ToolSetting:
    budget, window = _budget(policy), _window(policy, "claude-code")
    percent = round(100 * budget / window)
    lost = _lost(policy, "claude-code", keeps="nothing, and summarizes all")
    lost = (*_assumed(policy, window), *lost)
    if percent < 1:
        lost = (f"a trigger under {window // 100:,} tokens, 1 % of the window", *lost)
    # The tool's own limit is 83.5 %; what is over it by more than rounding cannot be said.
    if 100 * budget / window > 83.5:
        above = (
            f"a trigger of {percent} % of {window:,} tokens: the override can only lower the "
            "tool's own limit of about 83 %"
        )
        lost = (above, *lost)
    given = str(max(1, min(100, percent)))
    text = json.dumps({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": given}}, indent=2)
    return ToolSetting("claude-code", "~/.claude/settings.json", text, lost)


def _codex(policy: Policy) -> ToolSetting:
    lines = []
    if policy.trigger.window is not None:
        lines.append(f"model_context_window = {policy.trigger.window}")
    lines.append(f"model_auto_compact_token_limit = {_budget(policy)}")
    lost = _lost(policy, "codex", keeps="typed messages within 20,000 tokens")
    return ToolSetting("codex", "~/.codex/config.toml", "\n".join(lines), lost)


def _gemini_cli(policy: Policy) -> ToolSetting:
    budget, window = _budget(policy), _window(policy, "gemini-cli")
    part = min(1.0, max(0.0001, round(budget / window, 4)))
    lost = (*_assumed(policy, window), *_lost(policy, "gemini-cli", keeps="the newest 30 %"))
    if round(part * window) not in range(budget - window // 1000, budget + window // 1000 + 1):
        lost = (f"a trigger of {budget:,} tokens in a window of {window:,}", *lost)
    text = json.dumps({"model": {"compressionThreshold": part}}, indent=2)
    return ToolSetting("gemini-cli", "~/.gemini/settings.json", text, lost)


# --------------------------------------------------------------------------------- libraries


def _langchain(policy: Policy) -> ToolSetting:
    if policy.summary.middle == "drop":
        return _langchain_trim(policy)
    clears = policy.summary.middle == "keep"
    native = "langchain-context-editing" if clears else "langchain-summarization"
    lost = list(_lost(policy, native, quiet=("before", "recent", "trigger")))
    imports, middleware = [], []
    for each in policy.before:
        if not isinstance(each, ClearToolResults):
            lost.append(f"the pass {name_of(each)}: there is no middleware for it")
            continue
        imports += ["ClearToolUsesEdit", "ContextEditingMiddleware"]
        middleware.append(
            "ContextEditingMiddleware(edits=[ClearToolUsesEdit(\n"
            f"            trigger={_edit_trigger(policy)}, keep={each.keep}, "
            f"clear_tool_inputs={each.inputs},\n"
            f"            exclude_tools={list(each.exclude)!r}, placeholder={each.placeholder!r},\n"
            "        )])"
        )
        lost += _spared(each)
    if policy.summary.middle == "summarize":
        keep, note = _langchain_keep(policy)
        lost += note
        counted = [(clause.turns, clause.groups) for clause in _clauses(policy)]
        if any(each != (None, None) for each in counted):
            lost.append("trigger: turns and groups; it goes by messages and tokens")
        imports.append("SummarizationMiddleware")
        middleware.append(
            "SummarizationMiddleware(\n"
            '            model="openai:gpt-5-mini",\n'
            f"            trigger={_langchain_trigger(policy)},\n"
            f"            keep={keep},\n"
            "        )"
        )
    if middleware and clears and _clauses(policy):
        lost.append("trigger: its clauses; the edit goes by tokens alone")
    named = ", ".join(sorted(set(imports)))
    inside = "".join(f"        {each},\n" for each in middleware)
    text = (
        "from langchain.agents import create_agent\n"
        f"from langchain.agents.middleware import {named}\n\n"
        'agent = create_agent(\n    model="openai:gpt-5",\n    tools=[],\n'
        f"    middleware=[\n{inside}    ],\n)"
    )
    return ToolSetting("langchain", "Python, langchain 1.5", text, tuple(lost))


def _spared(each: ClearToolResults) -> list[str]:
    """That a tool does not know what a pass spares beside its newest results and some tools."""
    if each.protect_tokens or each.messages or each.turns or each.larger_than or each.at_least:
        return ["what clear_tool_results spares beside keep and exclude, and its at_least"]
    return []


def _clauses(policy: Policy) -> tuple[Clause, ...]:
    return (*policy.trigger.any, *policy.trigger.all)


def _edit_trigger(policy: Policy) -> int:
    """The tokens from which results are cleared: none where the clauses ask for none."""
    clauses = _clauses(policy)
    asked = [clause.tokens for clause in clauses if clause.tokens is not None]
    if clauses:
        return min(asked, default=0)
    return _budget(policy)


def _langchain_trigger(policy: Policy) -> str:
    """The clauses of a trigger: a mapping is one whose limits must all hold, a list any of them."""
    trigger = policy.trigger
    clauses = [limits for clause in trigger.any if (limits := _reached(clause))]
    together: dict[str, int] = {}
    for clause in trigger.all:
        together |= _reached(clause)
    if together:
        clauses = [{**together, **clause} for clause in clauses] or [together]
    if not clauses:
        return repr(("tokens", _budget(policy)))
    pairs = [next(iter(clause.items())) for clause in clauses if len(clause) == 1]
    if len(pairs) == len(clauses):
        return repr(pairs[0] if len(pairs) == 1 else pairs)
    return repr(clauses[0] if len(clauses) == 1 else clauses)


def _reached(clause: Clause) -> dict[str, int]:
    """The limits of a clause as those that reaching is enough for."""
    more = clause.when == "over"
    limits = {"tokens": clause.tokens, "messages": clause.messages}
    return {name: limit + more for name, limit in limits.items() if limit is not None}


def _langchain_keep(policy: Policy) -> tuple[str, list[str]]:
    unit, amount = policy.recent.unit, policy.recent.amount
    if unit in ("messages", "tokens", "fraction"):
        if not amount:
            return repr(("messages", 1)), [f"recent: 0 {unit}; keep is at least one message"]
        return repr((unit, amount)), []
    if unit == "fit":
        return repr(("tokens", policy.trigger.target_tokens(_window(policy, "langchain")))), [
            "recent: fit, which reckons with head and summary; keep is the whole target"
        ]
    return repr(("messages", 20)), [f"recent: {amount} {unit}; keep counts messages or tokens"]


def _langchain_trim(policy: Policy) -> ToolSetting:
    system = policy.head.kind in ("system", "leading-system")
    lost = list(_lost(policy, "langchain-trim", quiet=("head",) if system else ()))
    if policy.recent.unit == "tokens":
        limit = int(policy.recent.amount)
    else:
        limit = policy.trigger.target_tokens(_window(policy, "langchain"))
    if policy.recent.unit in ("fit", "tokens"):
        lost = [each for each in lost if not each.startswith("recent")]
    text = (
        "from langchain_core.messages import trim_messages\n\n"
        "trimmed = trim_messages(\n"
        "    messages,\n"
        f"    max_tokens={limit},\n"
        '    token_counter="approximate",\n'
        '    strategy="last",\n'
        f"    include_system={system},\n" + _starts(policy) + ")"
    )
    return ToolSetting("langchain", "Python, langchain-core 1.8", text, tuple(lost))


def _starts(policy: Policy) -> str:
    """What holds the first message that stays to one that may stand there."""
    if policy.safety.unit == "off":
        return ""
    roles = '"human"' if policy.safety.unit == "turn" else '("human", "ai")'
    return f"    start_on={roles},\n"


def _pydantic_ai(policy: Policy) -> ToolSetting:
    if policy.summary.middle == "keep":
        return _pydantic_ai_clearing(policy)
    unit, amount = policy.recent.unit, policy.recent.amount
    keep = max(1, int(amount)) if unit == "messages" else 20
    lost = list(_lost(policy, quiet=("recent",) if unit == "messages" else ()))
    if unit == "messages" and not amount:
        lost.append("recent: 0 messages; the newest one is what is answered and stays")
    lost.append(_QUARTER)
    text = f'''{_PYDANTIC_IMPORTS}

def compacted(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Over the budget only the first request and the newest messages are sent."""
    size = len(ModelMessagesTypeAdapter.dump_json(messages)) // 4
    cut = len(messages) - {keep}
    if size <= {_budget(policy)} or cut <= 1:
        return messages
    # A request that answers tool calls stays behind the response that made them.
    while cut > 1 and isinstance(messages[cut], ModelRequest) and any(
        isinstance(part, ToolReturnPart) for part in messages[cut].parts
    ):
        cut -= 1
    return [messages[0], *messages[cut:]]


agent = Agent("openai:gpt-5", history_processors=[compacted])'''
    if policy.summary.middle == "summarize":
        lost.append("the summary: what is old is left out; let a model make one there")
    return ToolSetting("pydantic-ai", _PYDANTIC, text, tuple(lost))


def _pydantic_ai_clearing(policy: Policy) -> ToolSetting:
    """Old results become a placeholder; everything else is sent as it is."""
    lost = list(_lost(policy, "langchain-context-editing", quiet=("before", "trigger", "recent")))
    passes = [each for each in policy.before if isinstance(each, ClearToolResults)]
    lost += [
        f"the pass {name_of(each)}" for each in policy.before if each not in passes[:1]
    ]
    if not passes:
        raise PolicyError(
            f"policy {policy.name} changes messages in a way there is no snippet for in "
            "pydantic-ai; only clear_tool_results can be said there."
        )
    each = passes[0]
    lost += _spared(each)
    if each.inputs:
        lost.append("inputs: the arguments of the calls stay")
    lost.append(_QUARTER)
    text = f'''from dataclasses import replace

{_PYDANTIC_IMPORTS}

def cleared(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Over the budget all tool results but the newest {each.keep} are sent as a placeholder."""
    size = len(ModelMessagesTypeAdapter.dump_json(messages)) // 4
    if size <= {_edit_trigger(policy)}:
        return messages
    found = [
        (number, place)
        for number, message in enumerate(messages)
        if isinstance(message, ModelRequest)
        for place, part in enumerate(message.parts)
        if isinstance(part, ToolReturnPart) and part.tool_name not in {list(each.exclude)!r}
    ]
    out = list(messages)
    for number, place in found[: len(found) - {each.keep}]:
        parts = list(out[number].parts)
        parts[place] = replace(parts[place], content={each.placeholder!r})
        out[number] = replace(out[number], parts=parts)
    return out


agent = Agent("openai:gpt-5", history_processors=[cleared])'''
    return ToolSetting("pydantic-ai", _PYDANTIC, text, tuple(lost))


def _openhands(policy: Policy) -> ToolSetting:
    counts = [each.messages for each in policy.trigger.any if each.messages]
    first = policy.head.first if policy.head.kind == "first" else 1
    limits = [f"max_size={min(counts)}"] if counts else [f"max_tokens={_budget(policy)}"]
    lost = list(
        _lost(policy, "openhands", keeps="half of what is allowed", quiet=("head", "trigger"))
    )
    if counts and policy.recent.unit == "messages":
        half = min(counts) // 2 - first - 1
        if policy.recent.amount == half:
            lost = [each for each in lost if not each.startswith("recent")]
    if policy.head.kind in ("leading-system", "none") or policy.head.keeps_middle:
        lost.append(f"head: {policy.head.kind}; keep_first counts events")
    if not counts:
        lost.append("events do not count here; the condenser also compacts from its max_size on")
    if len(_clauses(policy)) > len(counts):
        lost.append("trigger: its other clauses; the condenser goes by events and tokens")
    text = (
        "from openhands.sdk import Agent, LLM\n"
        "from openhands.sdk.context.condenser import LLMSummarizingCondenser\n\n"
        'llm = LLM(model="…", usage_id="agent")\n'
        "condenser = LLMSummarizingCondenser(\n"
        '    llm=llm.model_copy(update={"usage_id": "condenser"}),\n'
        f"    {', '.join([*limits, f'keep_first={first}'])},\n"
        ")\nagent = Agent(llm=llm, tools=[], condenser=condenser)"
    )
    return ToolSetting("openhands", "Python, the OpenHands SDK", text, tuple(lost))


def _letta(policy: Policy) -> ToolSetting:
    unit = policy.recent.unit
    share = 0.3
    lost = list(_lost(policy, "letta", quiet=("recent",) if unit in ("fraction", "fit") else ()))
    if unit == "fraction":
        share = round(1 - float(policy.recent.amount), 4)
    elif unit == "fit" and policy.trigger.to is not None:
        share = round(1 - policy.trigger.to, 4)
    window = policy.trigger.window or _budget(policy)
    text = (
        "agent = client.agents.create(\n"
        '    model="…",\n'
        f"    context_window_limit={window},\n"
        "    compaction_settings={\n"
        '        "mode": "sliding_window",\n'
        f'        "sliding_window_percentage": {share},\n'
        f'        "clip_chars": {policy.summary.max_tokens * 4},\n'
        "    },\n)"
    )
    if policy.trigger.window is not None:
        lost.append("the trigger below the window: the tool has its own share of it")
    return ToolSetting("letta", "Python, letta-client", text, tuple(lost))


# ------------------------------------------------------------------------------ what is lost


def _budget(policy: Policy) -> int:
    budget = policy.budget
    if budget is None:
        raise PolicyError(
            f"the budget of policy {policy.name} depends on the window of a session; give --budget."
        )
    return budget


def _window(policy: Policy, tool: str) -> int:
    return policy.trigger.window or _WINDOWS.get(tool, 200_000)


def _assumed(policy: Policy, window: int) -> tuple[str, ...]:
    """That a part of a window is of one the policy does not name."""
    if policy.trigger.window is not None:
        return ()
    return (f"the window: {window:,} tokens are assumed, of which the trigger is a part",)


def _lost(
    policy: Policy, native: str = "", *, keeps: str = "", quiet: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The blocks of `policy` that a tool has no setting for.

    A block that is as in the preset `native`, which is what the tool does anyway, is not lost, nor
    are those in `quiet`.
    """
    own = preset(native) if native else Policy()
    unit, amount = policy.recent.unit, policy.recent.amount
    given = "fit" if unit == "fit" else f"{amount:,} {unit}"
    said = {
        "trigger": "trigger: its clauses" if policy.trigger.any or policy.trigger.all else "",
        "head": f"head: {policy.head.kind}",
        "recent": f"recent: {given}" + (f"; the tool keeps {keeps}" if keeps else ""),
        "safety": f"safety: {policy.safety.unit}",
        "before": f"before: {', '.join(map(name_of, policy.before)) or 'no passes'}",
        "summary": _summary_lost(policy, own),
        "iterate": f"iterate: {policy.iterate}",
        "fit": f"fit: {', '.join(policy.fit_steps) or 'none'}",
        "failure": f"failure: {policy.failure}",
    }
    return tuple(
        text
        for block, text in said.items()
        if text and block not in quiet and getattr(policy, block) != getattr(own, block)
    )


def _summary_lost(policy: Policy, own: Policy) -> str:
    block = policy.summary
    if block.middle != own.summary.middle:
        words = {"keep": "none", "drop": "drop", "summarize": "one is made"}
        return f"summary: {words[block.middle]}"
    names = ("role", "place", "label", "wrap", "max_tokens", "summarizer", "accept")
    other = (name for name in names if getattr(block, name) != getattr(own.summary, name))
    return f"summary: {', '.join(other)}"


_TOOLS: Mapping[str, Callable[[Policy], ToolSetting]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "langchain": _langchain,
    "pydantic-ai": _pydantic_ai,
    "openhands": _openhands,
    "letta": _letta,
}
