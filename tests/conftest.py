"""Fixtures and settings shared by every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast inputs are found depends on the machine and on the seed, and says nothing of the code.
_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile(
    "ci", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=_QUIET
)
settings.register_profile("dev", max_examples=100, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def _folder(name: str) -> Path:
    folder = _SHARED / name if name else _SHARED
    if not folder.is_dir():
        pytest.skip(f"the folder of real data ({name or 'shared'}) is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; the test is skipped where it is not."""
    return _folder("")


@pytest.fixture(scope="session")
def shared_sessions() -> Path:
    """Real session files by format."""
    return _folder("sessions")


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Public bug reports as small inputs."""
    return _folder("cases")
