"""Policies of one's own in a Python file."""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction.errors import PolicyError
from compaction.policy import Policy
from compaction.policy_code import is_code, policy_of_code

SOURCE = """
from dataclasses import dataclass
from compaction import Policy

READY = Policy(budget=1000, name="ready")

def tight():
    return Policy(budget=500, keep_recent=2)

@dataclass
class Mine:
    budget: int = 700

    def policy(self):
        return Policy(budget=self.budget)

class Held:
    policy = Policy(budget=800)

class Other:
    pass

def broken():
    raise KeyError("depot")

def wrong():
    return Policy(budget=-1)

def needs(argument):
    return Policy()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


def test_what_names_code() -> None:
    assert is_code("mine.py:Mine")
    assert is_code("/a/b.py:f")
    assert not any(is_code(each) for each in ("mine.py", "mine.py:", "codex", "a.yaml:x"))


@pytest.mark.parametrize(
    ("name", "budget"), [("READY", 1000), ("tight", 500), ("Mine", 700), ("Held", 800)]
)
def test_a_class_a_function_or_a_value(file: Path, name: str, budget: int) -> None:
    made = policy_of_code(f"{file}:{name}")
    assert isinstance(made, Policy)
    assert made.budget == budget


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Mien", "did you mean Mine?"),
        ("Other", "gives Other, not a Policy"),
        ("broken", "failed: KeyError: 'depot'"),
        ("wrong", "trigger.budget is -1"),
        ("needs", "missing 1 required positional argument"),
    ],
)
def test_what_is_wrong_is_one_sentence(file: Path, name: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_of_code(f"{file}:{name}")
    assert says in str(caught.value)
    assert str(caught.value).endswith(".")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no Python file"):
        policy_of_code(f"{tmp_path / 'none.py'}:X")
    path = tmp_path / "bad.py"
    path.write_text("a = 1\ndef (:\n")
    with pytest.raises(PolicyError, match="line 2: this is not Python"):
        policy_of_code(f"{path}:X")
    path.write_text("import no_such_module_here\n")
    with pytest.raises(PolicyError, match="failed while it was read: ModuleNotFoundError"):
        policy_of_code(f"{path}:X")
