"""Passes before summarizing: what they find in a session, what they change, what that frees."""

from __future__ import annotations

from compaction.passes.changes import Changes
from compaction.passes.easing import Eased

__all__ = ["Changes", "Eased"]
