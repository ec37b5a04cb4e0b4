"""Compaction of LLM agent sessions: load, plan, compact, check, save.

The names below are the public face; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compaction.compacting import Compacted as Compacted
    from compaction.compacting import compact as compact
    from compaction.errors import CompactionError as CompactionError
    from compaction.errors import ExportError as ExportError
    from compaction.errors import PolicyError as PolicyError
    from compaction.errors import SessionError as SessionError
    from compaction.errors import SummarizerError as SummarizerError
    from compaction.export import save as save
    from compaction.findings import Finding as Finding
    from compaction.formats import from_messages as from_messages
    from compaction.formats import load as load
    from compaction.groups import find_groups as find_groups
    from compaction.messages import Message as Message
    from compaction.messages import Session as Session
    from compaction.planning import Plan as Plan
    from compaction.planning import Planner as Planner
    from compaction.planning import plan as plan
    from compaction.policy import Policy as Policy
    from compaction.policy import preset as preset
    from compaction.policy import presets as presets
    from compaction.repairing import repair as repair
    from compaction.replaying import Replay as Replay
    from compaction.replaying import replay as replay
    from compaction.summary import Digest as Digest
    from compaction.summary import Summarizer as Summarizer
    from compaction.sweeping import Sweep as Sweep
    from compaction.sweeping import sweep as sweep
    from compaction.tokens import count as count
    from compaction.validity import check as check

_HOMES = {
    "Compacted": "compacting",
    "CompactionError": "errors",
    "Digest": "summary",
    "ExportError": "errors",
    "Finding": "findings",
    "Message": "messages",
    "Plan": "planning",
    "Planner": "planning",
    "Policy": "policy",
    "PolicyError": "errors",
    "Replay": "replaying",
    "Session": "messages",
    "SessionError": "errors",
    "Summarizer": "summary",
    "SummarizerError": "errors",
    "Sweep": "sweeping",
    "check": "validity",
    "compact": "compacting",
    "count": "tokens",
    "find_groups": "groups",
    "from_messages": "formats",
    "load": "formats",
    "plan": "planning",
    "preset": "policy",
    "presets": "policy",
    "repair": "repairing",
    "replay": "replaying",
    "save": "export",
    "sweep": "sweeping",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"compaction.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
