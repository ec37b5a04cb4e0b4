"""A replay in words: what happened at a call, what it all came to, what was needed later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compaction.replaying.accounting import taken
from tui.widgets.amounts import dollars
from tui.widgets.facts import Fact
from tui.widgets.looks import counted, grouped, plain, short
from tui.widgets.sawtooth_face import marked
from tui.widgets.text_flow import Tone

if TYPE_CHECKING:
    from compaction.needing import Forgotten
    from compaction.replaying import Compaction, Replay
    from tui.replaying import Run


def facts_of(run: Run, call: int) -> list[Fact]:
    """Everything the pane says under the chart."""
    made = run.replay
    calls = len(made.line)
    if not calls:
        return [Fact("", "The session holds no answer of a model: there is nothing to replay.")]
    sign = "" if made.line.counts.exact else "~"
    facts = [
        Fact(
            f"call {grouped(call + 1)}",
            f"reads {sign}{grouped(run.saw.context(call))} tokens",
            strong=True,
        ),
        *_there(run, call),
        Fact("sent", _sent(made)),
        Fact("money", _money(made)),
        Fact("forgotten", *_forgotten(run.gone)),
    ]
    if run.past.theirs is not None:
        many = counted(len(run.past.session.compactions), "real compaction")
        facts.append(Fact("really", f"{many} forgot {grouped(run.past.theirs.score)}", "muted"))
    facts.extend(Fact("note", note, "muted") for note in _notes(run))
    return facts


def _there(run: Run, call: int) -> Iterator[Fact]:
    """What happened at the call, or since when nothing did."""
    made = run.replay
    calls = [each.call for each in made.compactions]
    if marked(tuple(calls), call):
        number = calls.index(call)
        each = made.compactions[number]
        after = made.pays_back(each)
        cut = max(each.cut, each.start)
        same = each.at - cut - sum(index >= cut for index in each.cleared)
        kept = f", keeps {counted(same, 'message')}"
        kept += f" and {grouped(len(each.stay))} before them" if each.stay else ""
        if after is None:
            paid = "never pays back"
        else:
            left = len(made.line) - call
            paid = f"pays back after {counted(after, 'call')}"
            is_left = "is" if left == 1 else "are"
            paid += f", but only {grouped(left)} {is_left} left" if after > left else ""
        sizes = f"{short(each.before)} → {short(each.after)}"
        gone = taken(made.walked, number)
        text = f"{' and '.join(_done(each, gone))}{kept}: {sizes}; {paid}"
        yield Fact("compacts", text, "summarized")
    for run_ in made.declined:
        if run_.call <= call < run_.until:
            yield Fact("over", f"but nothing is compacted: {plain(run_.why, 300)}", "error")
    real = [each for each in made.recorded if each.call == call]
    for one in real:
        size = ""
        if one.before is not None and one.after is not None:
            size = f" {short(one.before)} → {short(one.after)}"
        how = f" ({plain(one.trigger, 20)})" if one.trigger else ""
        yield Fact("really", f"compacted here{how}{size}; {_apart(one.apart)}")
    before = [each for each in calls if each < call]
    if before and call not in calls:
        yield Fact("", f"{counted(call - before[-1], 'call')} after the last compaction", "muted")
    elif not calls:
        yield Fact("", "this policy never compacts", "muted")


def _done(each: Compaction, gone: int) -> Iterator[str]:
    """What one compaction does, which takes `gone` messages."""
    if gone and each.summary:
        verb = "becomes" if gone == 1 else "become"
        yield f"{counted(gone, 'message')} {verb} a summary of ~{grouped(each.summary)}"
    elif gone:
        yield f"{counted(gone, 'message')} {'is' if gone == 1 else 'are'} dropped"
    if many := len(each.cleared):
        yield f"{counted(many, 'message')} {'is' if many == 1 else 'are'} changed in place"


def _apart(apart: int | None) -> str:
    if apart is None:
        return "this policy never does"
    if not apart:
        return "this policy too"
    return f"this policy {counted(abs(apart), 'call')} {'later' if apart > 0 else 'earlier'}"


def _sent(made: Replay) -> str:
    spent, alone = made.totals, made.baseline
    saved = 1 - spent.sent / alone.sent if alone.sent else 0.0
    less = f", {saved:.0%} less".replace("%", " %") if saved > 0 else ""
    many = sum(each.summary > 0 for each in made.compactions)
    made_of = f"{grouped(many)} summaries of" if many != 1 else "1 summary of"
    summaries = f", {made_of} {short(spent.summary_output)}" if many else ""
    return (
        f"{short(spent.sent)}{less}: {short(spent.cached)} cached, {short(spent.written)} "
        f"new{summaries}"
    )


def _money(made: Replay) -> str:
    if made.money is None or made.prices is None:
        model = plain(made.session.model, 40)
        return f"prices of {model} not known" if model else "not known: no model is named"
    alone = made.baseline_money
    instead = f" instead of {dollars(alone)}" if alone is not None and made.compactions else ""
    return f"{dollars(made.money)}{instead}"


def _forgotten(gone: Forgotten | None) -> tuple[str, Tone]:
    if gone is None:
        return "looking for what was needed later …", "muted"
    if not gone.needs:
        return "nothing that was needed later", "text"
    text = f"{grouped(gone.score)}: {counted(len(gone.needs), 'thing')} needed later"
    again = f", {short(gone.refetched)} fetched again" if gone.refetched else ""
    return text + again, "text"


def _notes(run: Run) -> Iterator[str]:
    past = run.past
    if past.session is not past.shown:
        whole = len(past.session.messages)
        yield (
            f"Replayed over the whole recorded history of {counted(whole, 'message')}, as if its "
            f"tool had not compacted it; the list has {grouped(len(past.shown.messages))} of them."
        )
    for finding in run.replay.findings[:1]:
        yield plain(finding.text, 300)
