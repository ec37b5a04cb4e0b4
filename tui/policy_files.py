"""Policies that a person names by a file."""

from __future__ import annotations

from pathlib import Path

from compaction.errors import CompactionError
from compaction.policy import Policy


def policy_in(path: str) -> Policy:
    """The policy of a YAML file; ~ is the home of the person. Raises PolicyError."""
    return Policy.from_yaml(Path(path).expanduser())


def wrong_with(path: str) -> str:
    """What is wrong with a file of a policy, "" for nothing."""
    if not path.strip():
        return "Type the path of a YAML file, or leave with esc."
    try:
        policy_in(path)
    except CompactionError as error:
        return str(error)
    return ""
