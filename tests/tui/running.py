"""How tests run a command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command line did: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output as one JSON object."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Cli = Callable[..., Ran]
