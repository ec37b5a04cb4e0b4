"""The garbage collector kept away from what is large and stays.

A pass of the collector walks every object and holds every thread meanwhile: half a second for a
session of 100,000 messages and its result. What is made of values, without cycles, needs none.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

#: Young objects before a pass, young passes before a middle one, middle ones before a full one.
_THRESHOLDS = (700, 2, 5_000)

_lock = Lock()
_inside = 0


@contextmanager
def lasting() -> Iterator[None]:
    """No pass while this runs, and none ever over what was made in it.

    Values that are let go of are freed as always, by their last reference. Several threads may
    be inside at once.
    """
    global _inside  # noqa: PLW0603 - the collector is one for the whole program, too
    with _lock:
        _inside += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            gc.freeze()
            if not _inside:
                gc.enable()


def collect_shortly() -> None:
    """Passes of a millisecond, and a full one as good as never: each stops the screen meanwhile."""
    gc.set_threshold(*_THRESHOLDS)
