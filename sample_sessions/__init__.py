"""Small sessions shipped with the workbench, for the demo and for trying things out."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

#: The name of the sample that `compaction demo` opens.
DEMO = "login-refactor"


@dataclass(frozen=True, slots=True)
class Sample:
    """One bundled session: its name, its file, and what there is to see in it."""

    name: str
    file: str
    title: str
    description: str


_SAMPLES: tuple[Sample, ...] = ()


def samples() -> tuple[Sample, ...]:
    """Every bundled session, the demo first."""
    return _SAMPLES


def path(name: str) -> Path:
    """Where the sample called `name` is. Raises KeyError for a name that is none."""
    for sample in _SAMPLES:
        if sample.name == name:
            return Path(str(files(__name__) / sample.file))
    raise KeyError(name)
