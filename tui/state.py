"""What a person has set, as values: the workspace, its history, and the changes one can make.

Nothing here draws. A screen holds one `Workspace` and one `History` of its undoable half, and
replaces them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from compaction.cuts import effective_amount, latest_cut, safe_cuts, wanted_cut
from compaction.decision import Plan
from compaction.policy import Policy, Recent

if TYPE_CHECKING:
    from tui.filtering import Filter

T = TypeVar("T")

#: How many changes can be taken back.
DEPTH = 500


@dataclass(frozen=True, slots=True)
class Setting:
    """What undo goes over: the policy (budget, keep_recent, pins and all) and the edited summary.

    `summary_edit` is the text a person wrote in place of the summarizer's; None without one.
    """

    policy: Policy
    summary_edit: str | None = None


@dataclass(frozen=True, slots=True)
class Workspace:
    """One session's settings on the screen: what undo goes over, and what it does not.

    `filters` narrow the list together; `search` is the text looked for, "" for none; `follow`
    takes in what is added to the file.
    """

    policy: Policy
    summary_edit: str | None = None
    filters: tuple[Filter, ...] = ()
    search: str = ""
    follow: bool = False

    @property
    def setting(self) -> Setting:
        """The half that undo goes over."""
        return Setting(self.policy, self.summary_edit)

    def under(self, setting: Setting) -> Workspace:
        """This workspace with that half replaced."""
        return replace(self, policy=setting.policy, summary_edit=setting.summary_edit)


# ---------------------------------------------------------------------------------- undo, redo


@dataclass(frozen=True, slots=True)
class _Step(Generic[T]):
    value: T
    label: str


@dataclass(frozen=True, slots=True)
class History(Generic[T]):
    """A present value, what it was before, and what was taken back.

    Labels name changes for the person: "budget", "pin #12".
    """

    present: T
    past: tuple[_Step[T], ...] = ()
    future: tuple[_Step[T], ...] = ()
    _gesture: Hashable = field(default=None, repr=False, compare=False)

    def change(self, value: T, label: str, *, gesture: Hashable = None) -> History[T]:
        """The history after a change to `value`; what had been taken back is forgotten.

        Changes of one label within one `gesture` (a drag: any value but None, equal throughout)
        are one entry, which leads back to before the gesture. A change to an equal value is
        none.
        """
        if value == self.present:
            return self
        same = gesture is not None and gesture == self._gesture
        if same and self.past and self.past[-1].label == label and not self.future:
            if value == self.past[-1].value:
                return History(value, self.past[:-1])
            return replace(self, present=value)
        past = (*self.past, _Step(self.present, label))[-DEPTH:]
        return History(value, past, (), gesture)

    def settled(self) -> History[T]:
        """The history after the end of a gesture: the next change is an entry of its own."""
        return replace(self, _gesture=None)

    def undone(self) -> History[T]:
        """One change back; itself when there is none."""
        if not self.past:
            return self
        step = self.past[-1]
        return History(step.value, self.past[:-1], (*self.future, _Step(self.present, step.label)))

    def redone(self) -> History[T]:
        """One change forward again; itself when there is none."""
        if not self.future:
            return self
        step = self.future[-1]
        return History(step.value, (*self.past, _Step(self.present, step.label)), self.future[:-1])

    @property
    def undoes(self) -> str:
        """The label of what `undone` takes back, "" for nothing."""
        return self.past[-1].label if self.past else ""

    @property
    def redoes(self) -> str:
        """The label of what `redone` makes again, "" for nothing."""
        return self.future[-1].label if self.future else ""


# ----------------------------------------------------------------------------------- changes


def toggled_pin(policy: Policy, index: int) -> Policy:
    """`policy` with message `index` pinned, or no longer."""
    pins = set(policy.head.pins) ^ {index}
    return policy.replace(head=replace(policy.head, pins=tuple(sorted(pins))))


def with_pins(policy: Policy, pins: tuple[int, ...], messages: int) -> Policy:
    """`policy` with those `pins` that a session of so many messages has."""
    held = tuple(pin for pin in pins if pin < messages)
    return policy if held == policy.head.pins else policy.replace(
        head=replace(policy.head, pins=held)
    )


def switched(policy: Policy, to: Policy) -> Policy:
    """The policy `to` with the pins of `policy`, which belong to the session."""
    return to.replace(head=replace(to.head, pins=policy.head.pins))


def keep_from(plan: Plan, cut: int) -> Policy:
    """The policy of `plan` asking for [cut, n) as recent.

    In its own unit where that says the same cut, else in messages: what was pointed at counts.
    """
    policy, prefix = plan.policy, plan.counts.prefix
    cut = max(0, min(plan.n, cut))
    amount = effective_amount(policy.recent, cut, plan.groups, prefix)
    recent = Recent("messages", plan.n - cut)
    if amount is not None:
        own = Recent(policy.recent.unit, amount)
        if wanted_cut(own, plan.groups, prefix) == cut:
            recent = own
    return policy.replace(recent=recent)


def boundary_moved(plan: Plan, steps: int) -> Policy | None:
    """The policy with the cut moved by so many safe cuts, forward or (negative) back.

    None where there is no further one. Where nothing is compacted, it moves the cut that the
    policy asks for.
    """
    policy, groups = plan.policy, plan.groups
    cuts = safe_cuts(groups, policy.safety)
    latest = latest_cut(groups, policy.safety, plan.head_end)
    cut = plan.cut
    if not plan.compacts:
        wanted = wanted_cut(policy.recent, groups, plan.counts.prefix)
        cut = min(max(wanted, plan.head_end), latest)
    at = bisect_left(cuts, cut) + steps if steps < 0 else bisect_right(cuts, cut) - 1 + steps
    low, high = bisect_left(cuts, plan.head_end), bisect_right(cuts, latest) - 1
    if low > high:
        return None
    at = max(low, min(high, at))
    target = cuts[at]
    return None if (target - cut) * steps <= 0 else keep_from(plan, target)
