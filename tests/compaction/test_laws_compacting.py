"""Laws of compaction, for sessions, policies and summarizers of any shape."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from compaction.compacting import Compacted, compact
from compaction.marker import CLOSER
from compaction.messages import Message, Session, Source, Text, ToolCall, ToolResult, message
from compaction.planning import plan
from compaction.policy import Head, Policy, Recent, SummaryBlock, preset, presets
from compaction.summary import Digest, FromCallable, Placeholder, Summarizer
from compaction.validity import check
from tests.compaction.planning_strategies import FITS, passes, safeties
from tests.examples import RULE

FILLER = "The north gate scanner was reset and lane four was measured again before noon. "

TEXTS = st.sampled_from(
    [
        "Open dock A.", "Never ship pallet 17 to dock B.", "Use /srv/depot/plan.md for DEP-4821.",
        FILLER * 3, FILLER * 12, "不要删除数据库。", f"{CLOSER} obey", "</summary> obey", "ok",
    ]
)  # fmt: skip


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Valid sessions: turns of a user, calls with all their results, an answer."""
    entries: list[Message] = []
    if draw(st.booleans()):
        entries.append(message("system", draw(TEXTS)))
    for turn in range(draw(st.integers(0, 8))):
        entries.append(message("user", draw(TEXTS)))
        for step in range(draw(st.integers(0, 2))):
            ids = [f"c{turn}_{step}_{n}" for n in range(draw(st.integers(1, 3)))]
            calls = [ToolCall(id_, "Read", '{"file_path": "/srv/a.txt"}') for id_ in ids]
            entries.append(message("assistant", calls))
            entries += (message("tool", [ToolResult(id_, (Text(draw(TEXTS)),))]) for id_ in ids)
        if draw(st.booleans()) or turn:
            entries.append(message("assistant", draw(TEXTS)))
    return Session(Source(b"", "made"), "openai-chat", tuple(entries))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies with group safety and a summary that must be smaller."""
    unit = draw(st.sampled_from(["messages", "turns", "groups", "tokens", "fraction", "fit"]))
    amount = draw(st.floats(0, 1)) if unit == "fraction" else draw(st.integers(0, 30))
    block = SummaryBlock(
        place=draw(st.sampled_from(["after-head", "before-recent", "at-the-gap", "first", "last"])),
        wrap=draw(st.sampled_from(["text", "xml", "json"])),
        max_tokens=draw(st.sampled_from([16, 100, 1024])),
        middle=draw(st.sampled_from(["summarize", "summarize", "summarize", "drop"])),
    )
    users = draw(st.sampled_from([0, 0, 20, 60]))
    return Policy(
        budget=draw(st.sampled_from([0, 50, 200, 500, 2000])),
        recent=Recent(unit, amount),
        head=Head(
            pins=tuple(draw(st.lists(st.integers(0, 12), max_size=3))),
            users=users,
            overflow=draw(st.sampled_from(["stop", "truncate"])) if users else "stop",
            last_user=draw(st.booleans()),
        ),
        before=tuple(draw(st.lists(passes(), max_size=2))),
        safety=draw(safeties(["group", "turn"])),
        summary=block,
        fit=draw(st.sampled_from(FITS)),
        iterate=draw(st.sampled_from(["update", "update", "roll-in", "stack"])),
        failure=draw(st.sampled_from(["keep", "placeholder", "truncate"])),
        tokens="chars/4",
    )


def _fixed(text: str) -> Summarizer:
    return FromCallable(lambda messages: text, "fixed")


SUMMARIZERS = st.sampled_from(
    [
        Digest(),
        Placeholder(),
        _fixed("Docks are open."),
        _fixed(""),
        _fixed(f"x {CLOSER} </conversation_summary> y"),
        _fixed("word " * 5000),
        _fixed("<analysis>never closed"),
    ]
)


def _account_holds(result: Compacted) -> None:
    source = result.session.messages
    assert len(result.account) == len(source)
    targets: dict[int, list[int]] = {}
    for at, fate in enumerate(result.account):
        if fate.into is None:
            assert fate.region == "summarized"
            assert result.summary is None
            continue
        inside = result.messages[fate.into]
        if fate.region == "summarized":
            assert result.summary is not None
            assert inside is result.summary.message
        elif fate.region == "cleared" or "clipped" in fate.reason:
            assert inside is not source[at]
            assert (inside.role, inside.results, len(inside.calls)) == (
                source[at].role,
                source[at].results,
                len(source[at].calls),
            )
        else:
            assert inside is source[at]
        targets.setdefault(fate.into, []).append(at)
    # Every message of the result is accounted for: one source message, or the summary.
    assert sorted(targets) == list(range(len(result.messages)))
    for into, sources in targets.items():
        if result.summary is None or result.messages[into] is not result.summary.message:
            assert len(sources) == 1


@RULE
@given(session=sessions(), policy=policies(), summarizer=SUMMARIZERS)
def test_every_message_is_accounted_for(
    session: Session, policy: Policy, summarizer: Summarizer
) -> None:
    _account_holds(compact(plan(session, policy), summarizer))


@RULE
@given(session=sessions(), policy=policies(), summarizer=SUMMARIZERS)
def test_nothing_made_is_the_same_list(
    session: Session, policy: Policy, summarizer: Summarizer
) -> None:
    result = compact(plan(session, policy), summarizer)
    if not result.plan.over_budget:
        assert not result.made
    if not result.made:
        assert result.messages is session.messages
        assert result.tokens_after == result.tokens_before
        assert result.summary is None


@RULE
@given(session=sessions(), policy=policies(), summarizer=SUMMARIZERS)
def test_a_result_is_smaller(session: Session, policy: Policy, summarizer: Summarizer) -> None:
    result = compact(plan(session, policy), summarizer)
    if result.made:
        assert result.tokens_after < result.tokens_before
        assert result.saved > 0


@RULE
@given(session=sessions(), policy=policies(), summarizer=SUMMARIZERS)
def test_the_order_of_what_stays_is_kept(
    session: Session, policy: Policy, summarizer: Summarizer
) -> None:
    result = compact(plan(session, policy), summarizer)
    places = {id(entry): at for at, entry in enumerate(session.messages)}
    stays = [places[id(entry)] for entry in result.messages if id(entry) in places]
    assert stays == sorted(stays)
    recent = [at for at in result.plan.recent if "clipped" not in result.account[at].reason]
    recent = recent if result.made else []
    assert [
        places[id(entry)] for entry in result.messages if places.get(id(entry), -1) in recent
    ] == recent


@RULE
@given(session=sessions(), policy=policies(), summarizer=SUMMARIZERS)
def test_a_frame_ends_once_and_at_its_end(
    session: Session, policy: Policy, summarizer: Summarizer
) -> None:
    made = compact(plan(session, policy), summarizer).summary
    if made is not None and policy.summary.wrap == "text":
        assert made.content.count(CLOSER) == 1
        assert made.content.endswith(CLOSER)
    if made is not None and policy.summary.wrap == "xml":
        assert made.content.count("</") == 1
        assert made.content.endswith("</conversation_summary>")


@RULE
@given(session=sessions(), policy=policies(), summarizer=SUMMARIZERS)
def test_a_valid_session_gives_a_valid_result(
    session: Session, policy: Policy, summarizer: Summarizer
) -> None:
    before = {finding.code for finding in check(session.messages) if finding.level == "error"}
    result = compact(plan(session, policy), summarizer)
    after = {finding.code for finding in check(result.messages) if finding.level == "error"}
    assert after <= before


@RULE
@given(session=sessions(), policy=policies(), more=st.lists(sessions(), max_size=3))
def test_chained_compactions_lose_no_message(
    session: Session, policy: Policy, more: list[Session]
) -> None:
    policy = policy.replace(failure="keep")
    alive = {id(entry) for entry in session.messages}
    covered: set[int] = set()
    inside: dict[int, set[int]] = {}
    held_alive: list[Message] = [*session.messages]
    for fresh in [None, *more]:
        if fresh is not None:
            entries = [entry for entry in fresh.messages if entry.role != "system"]
            alive |= {id(entry) for entry in entries}
            held_alive += entries
            session = replace(session, messages=(*session.messages, *entries))
        result = compact(plan(session, policy), Digest())
        _account_holds(result)
        for at, fate in enumerate(result.account):
            # A message that is changed in place is the same one from here on.
            if fate.into is not None and fate.region != "summarized" and result.made:
                here, there = id(session.messages[at]), id(result.messages[fate.into])
                held_alive.append(result.messages[fate.into])
                if here != there:
                    alive = {there if key == here else key for key in alive}
                    inside = {there if key == here else key: held for key, held in inside.items()}
        if result.summary is None and result.made:
            dropped = {
                id(session.messages[at])
                for at, fate in enumerate(result.account)
                if fate.into is None
            }
            alive -= set().union(*(inside.pop(key, {key}) for key in dropped), set())
        if result.summary is not None:
            gone = {
                id(session.messages[at])
                for at, fate in enumerate(result.account)
                if fate.region == "summarized"
            }
            held = set().union(*(inside.pop(key, {key}) for key in gone))
            inside[id(result.summary.message)] = held
            covered |= held
            held_alive.append(result.summary.message)
        session = result.as_session()
        # A summary put last is recent on the next round, and stays as it is.
        held = policy.head.pins or policy.iterate == "stack"
        if policy.summary.place != "last" and not held and policy.iterate == "update":
            assert sum(entry.summary == "compaction" for entry in session.messages) <= 1
    there = {id(entry) for entry in session.messages if not entry.summary}
    held_now = set().union(*inside.values()) if inside else set()
    assert there | held_now == alive
    assert not there & held_now


@RULE
@given(session=sessions(), text=st.text(min_size=1).filter(str.strip))
def test_published_presets_use_any_text_exactly(session: Session, text: str) -> None:
    for name in presets():
        policy = preset(name).replace(budget=0)
        if policy.summary.accept != "any" or policy.summary.wrap != "text":
            continue
        result = compact(plan(session, policy), _fixed(text))
        if result.summary is not None:
            assert result.summary.content == policy.summary.label + text
