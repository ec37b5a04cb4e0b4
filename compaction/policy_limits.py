"""Settings that cannot work together whatever the session is, with the numbers that say so."""

from __future__ import annotations

from compaction.policy import Policy
from compaction.policy_passes import ClearToolResults


def impossible(policy: Policy, budget: int) -> str:
    """Why `policy` can never bring a list under `budget`, as a sentence; "" when it can."""
    if budget <= 0:
        return ""
    protected = max(
        (each.protect_tokens for each in policy.before if isinstance(each, ClearToolResults)),
        default=0,
    )
    if policy.summary.middle == "keep":
        if len(policy.before) == 1 and protected >= budget:
            return (
                f"clear_tool_results protects {protected:,} tokens, all of the budget of "
                f"{budget:,}, and nothing else makes the list smaller."
            )
        return ""
    if policy.fit_steps:
        return ""
    parts = {
        "head.tokens": policy.head.tokens,
        "head.users": policy.head.users,
        "recent.tokens": int(policy.recent.amount) if policy.recent.unit == "tokens" else 0,
    }
    asked = {name: amount for name, amount in parts.items() if amount}
    if sum(asked.values()) < budget:
        return ""
    named = " and ".join(f"{name} of {amount:,}" for name, amount in asked.items())
    verb = "is" if len(asked) == 1 else "are together"
    return (
        f"{named} {verb} {sum(asked.values()):,} tokens, not fewer than the budget of {budget:,}: "
        "what is kept alone may fill it, and the list would be compacted at every step."
    )
