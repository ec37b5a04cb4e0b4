"""How tokens are counted: by a tokenizer, calibrated on what the provider reported, or guessed."""

from __future__ import annotations

from typing import Final

from tui.screens.workbench_summary import WorkbenchSummary

#: The countings in the order in which a key goes through them.
COUNTINGS: Final = ("o200k_base", "calibrated", "chars/4")


class WorkbenchCounting(WorkbenchSummary):
    """Changes how tokens are counted, and says how good the numbers are."""

    _counting_asked = False

    def action_calibrate(self) -> None:
        """Count in the next way."""
        policy = self.history.present.policy
        known = policy.tokens in COUNTINGS
        at = COUNTINGS.index(policy.tokens) + 1 if known else 0
        chosen = COUNTINGS[at % len(COUNTINGS)]
        self._counting_asked = True
        self.set_policy(policy.replace(tokens=chosen), f"counting {chosen}")

    def recounted(self) -> None:
        """Say how the new numbers were found, when a person asked for them."""
        super().recounted()
        counts = self.counts
        if counts is None or not counts.exact or not self._counting_asked:
            return
        self._counting_asked = False
        if self.history.present.policy.tokens == "calibrated" and counts.calibration is None:
            self.workbench.say(
                "This session does not say what a provider counted, so nothing can be "
                f"calibrated. Counting: {counts.label}.",
                severity="warning",
            )
        else:
            self.workbench.say(f"Counting: {counts.label}.")
