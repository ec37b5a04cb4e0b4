"""Sessions, counts and policies for the tests of planning, drawn or built by hand."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace as replace_fields

from hypothesis import strategies as st

from compaction.messages import (
    Media,
    Message,
    Part,
    Session,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    message,
)
from compaction.policy import (
    Clause,
    Fit,
    Head,
    Pass,
    Policy,
    Recent,
    Safety,
    SummaryBlock,
    Trigger,
)
from compaction.policy_blocks import SafetyUnit
from compaction.policy_passes import (
    ClearThinking,
    ClearToolResults,
    ClipToolResults,
    DedupeReads,
    DropMedia,
)
from compaction.tokens import Counts


def counts_of(sizes: Iterable[int], overhead: int = 0, tokenizer: str = "given") -> Counts:
    return Counts(tokenizer, array("q", sizes), overhead=overhead)


def session_of(messages: Sequence[Message], window: int | None = None) -> Session:
    return Session(Source(b""), "openai-chat", tuple(messages), window=window)


def system(text: str = "You are a helper.") -> Message:
    return message("system", text)


def user(text: str = "a question") -> Message:
    return message("user", text)


def assistant(text: str = "an answer") -> Message:
    return message("assistant", text)


def calls(*ids: str, text: str = "", name: str = "read") -> Message:
    parts: list[Part] = [Text(text)] if text else []
    parts.extend(ToolCall(each, name, "{}") for each in ids)
    return message("assistant", parts)


def results(
    *ids: str, role: str = "tool", text: str = "", name: str = "", output: str = "out"
) -> Message:
    parts: list[Part] = [ToolResult(each, (Text(output),), name=name) for each in ids]
    if text:
        parts.append(Text(text))
    return message(role, parts)


def reasoning() -> Message:
    return replace_fields(message("assistant", [Thinking("hm")]), bound=True)


def own_summary() -> Message:
    return message("user", "an earlier summary", summary="compaction")


_STEPS = (
    *("user", "assistant", "call", "call", "result", "result", "mixed", "orphan"),
    *("reasoning", "summary", "injected", "developer", "shot", "thought"),
)
_IDS = st.sampled_from(["a", "b", "c", "d", ""])


@st.composite
def message_lists(draw: st.DrawFn, max_steps: int = 14) -> list[Message]:
    """Lists with parallel calls, reused, missing and late results, orphans and reasoning."""
    out: list[Message] = [system()] if draw(st.booleans()) else []
    waiting: list[str] = []
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=max_steps)):
        match step:
            case "user":
                out.append(user())
            case "assistant":
                out.append(assistant())
            case "call":
                ids = draw(st.lists(_IDS, min_size=1, max_size=3))
                waiting.extend(ids)
                out.append(calls(*ids))
            case "result" | "mixed" if waiting:
                at = draw(st.integers(0, len(waiting) - 1))
                answered = waiting[at] if draw(st.booleans()) else waiting.pop(at)
                mixed = step == "mixed"
                output = "out" * draw(st.sampled_from([1, 1, 90, 400]))
                role = "user" if mixed else "tool"
                out.append(results(answered, role=role, text="and" * mixed, output=output))
            case "orphan":
                out.append(results("nobody"))
            case "shot":
                out.append(message("user", [Media("image", "image/png", 900), Text("see")]))
            case "thought":
                out.append(message("assistant", [Thinking("hm " * 40), Text("so")]))
            case "reasoning":
                out.append(reasoning())
            case "summary":
                out.append(own_summary())
            case "injected":
                out.append(message("user", "from the harness", injected=True))
            case "developer":
                out.append(message("developer", "a rule"))
            case _:
                out.append(assistant("then"))
    return out


@st.composite
def counted_sessions(draw: st.DrawFn) -> tuple[Session, Counts]:
    messages = draw(message_lists())
    n = len(messages)
    sizes = draw(st.lists(st.integers(0, 400), min_size=n, max_size=n))
    return session_of(messages), counts_of(sizes, draw(st.integers(0, 60)), "chars/4")


def passes() -> st.SearchStrategy[Pass]:
    keep, few = st.integers(0, 3), st.sampled_from([0, 0, 50, 400])
    return st.one_of(
        st.builds(
            ClearToolResults,
            keep=keep,
            protect_tokens=few,
            messages=st.integers(0, 4),
            turns=st.integers(0, 2),
            larger_than=few,
            at_least=few,
            exclude=st.sampled_from([(), ("read",)]),
            inputs=st.booleans(),
            placeholder=st.sampled_from(["", "[gone]"]),
        ),
        st.builds(ClearThinking, keep=keep, at_least=few),
        st.builds(ClipToolResults, max_tokens=st.integers(1, 300), keep=keep),
        st.builds(ClipToolResults, max_chars=st.integers(1, 300), at_least=few),
        st.builds(DropMedia, keep=keep),
        st.builds(DedupeReads, placeholder=st.sampled_from(["", "[again]"])),
    )


def recents() -> st.SearchStrategy[Recent]:
    whole = st.builds(Recent, st.sampled_from(["messages", "turns", "groups"]), st.integers(0, 20))
    return st.one_of(
        whole,
        st.builds(Recent, st.just("tokens"), st.integers(0, 3000)),
        st.builds(Recent, st.just("fraction"), st.floats(0, 1)),
        st.just(Recent("fit")),
    )


def triggers() -> st.SearchStrategy[Trigger]:
    when = st.sampled_from(["over", "reach"])
    clause = st.builds(
        Clause,
        tokens=st.none() | st.integers(0, 3000),
        messages=st.integers(0, 20),
        turns=st.none() | st.integers(0, 5),
        groups=st.none() | st.integers(0, 8),
        when=when,
    )
    budgets = st.integers(0, 4000)
    return st.one_of(
        st.builds(Trigger, budgets, when),
        st.builds(lambda high, low: Trigger(high, target=min(high, low)), budgets, budgets),
        st.builds(Trigger, budgets, when, any=st.lists(clause, max_size=2).map(tuple)),
        st.builds(Trigger, budgets, when, all=st.lists(clause, max_size=2).map(tuple)),
        st.builds(Trigger, when=when, window=st.integers(1, 5000), at=st.floats(0, 1)),
    )


def heads() -> st.SearchStrategy[Head]:
    pins = st.lists(st.integers(0, 18), max_size=3).map(tuple)
    users = st.sampled_from([0, 0, 150, 800])
    return st.one_of(
        st.builds(
            Head,
            st.sampled_from(["system", "leading-system", "none"]),
            first_user=st.booleans(),
            last_user=st.booleans(),
            users=users,
            pins=pins,
        ),
        st.builds(Head, st.just("first"), st.integers(0, 6), st.booleans(), users, pins),
        st.builds(
            Head, st.just("tokens"), tokens=st.integers(0, 900), pins=pins, last_user=st.booleans()
        ),
        st.builds(Head, users=st.integers(1, 900), overflow=st.just("truncate"), pins=pins),
    )


FITS: tuple[Fit | tuple[Fit, ...], ...] = (
    "none",
    "shrink-recent",
    "reject",
    ("shrink-recent", "clip-largest", "reject"),
    ("clip-largest", "shrink-recent"),
)


@st.composite
def safeties(draw: st.DrawFn, units: list[SafetyUnit]) -> Safety:
    unit = draw(st.sampled_from(units))
    split = unit == "turn" and draw(st.booleans())
    return Safety(unit, draw(st.sampled_from(["keep-more", "keep-less"])), split_newest=split)


@st.composite
def policies(draw: st.DrawFn, *, safe: bool = False) -> Policy:
    units = ["group", "turn"] if safe else ["off", "group", "group", "turn"]
    before = tuple(draw(st.lists(passes(), max_size=2)))
    middles = ["summarize", "summarize", "drop", *(["keep"] if before else [])]
    return draw(
        st.builds(
            Policy,
            name=st.text(min_size=1).filter(lambda text: text.strip() != ""),
            trigger=triggers(),
            head=heads(),
            recent=recents(),
            safety=safeties(units),
            before=st.just(before),
            summary=st.builds(
                SummaryBlock,
                role=st.sampled_from(["user", "system"]),
                place=st.sampled_from(
                    ["after-head", "before-recent", "at-the-gap", "first", "last"]
                ),
                label=st.text(max_size=30),
                max_tokens=st.integers(1, 900),
                accept=st.sampled_from(["smaller", "usable", "any"]),
                middle=st.sampled_from(middles),
            ),
            iterate=st.sampled_from(["update", "roll-in", "stack"]),
            fit=st.sampled_from(FITS),
            tokens=st.sampled_from(["o200k_base", "chars/4"]),
        )
    )
