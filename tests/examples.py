"""How many examples a property is tried with: the rules of the engine more than anything else."""

from __future__ import annotations

import os

from hypothesis import settings

#: For the laws that every policy and every input must keep.
RULE = settings(max_examples=1000 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else 100)
