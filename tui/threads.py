"""Blocking work that can be left: a call in a thread that ends with the program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Event, Lock, Thread

from compaction.messages import IsCancelled

#: Seconds between two looks at whether anybody still waits.
_LOOK = 0.05


#: Seconds a thread that works may keep one waiting that has to answer a key.
_SHARE = 0.0005


def share_finely() -> None:
    """Let waiting threads have the interpreter soon; Python's own 5 ms add up to whole frames."""
    sys.setswitchinterval(_SHARE)


def leavable(work: Callable[[], None], stopped: IsCancelled, turn: Lock | None = None) -> None:
    """Run `work` and wait for it, or go as soon as `stopped` says so.

    With `turn`, work that was left ends before the next begins: two that share the interpreter
    are no sooner done, and the screen has a third of it.

    Work that was left goes on alone and is not waited for when the program ends; it must look at
    `stopped` before it tells of a result. What it raises is raised here, unless it was left.
    """
    done = Event()
    failures: list[BaseException] = []

    def run() -> None:
        if turn is not None:
            while not turn.acquire(timeout=_LOOK):
                if stopped():
                    return
        try:
            if turn is None or not stopped():
                work()
        except BaseException as error:  # noqa: BLE001 - handed to the one who waits
            failures.append(error)
        finally:
            if turn is not None:
                turn.release()
            done.set()

    Thread(target=run, daemon=True, name="leavable work").start()
    while not done.wait(_LOOK):
        if stopped():
            return
    if failures:
        raise failures[0]
