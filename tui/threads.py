"""Blocking work that can be left: a call in a thread that ends with the program."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from compaction.messages import IsCancelled

#: Seconds between two looks at whether anybody still waits.
_LOOK = 0.05


def leavable(work: Callable[[], None], stopped: IsCancelled) -> None:
    """Run `work` and wait for it, or go as soon as `stopped` says so.

    Work that was left goes on alone and is not waited for when the program ends; it must look at
    `stopped` before it tells of a result. What it raises is raised here, unless it was left.
    """
    done = Event()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the one who waits
            failures.append(error)
        finally:
            done.set()

    Thread(target=run, daemon=True, name="leavable work").start()
    while not done.wait(_LOOK):
        if stopped():
            return
    if failures:
        raise failures[0]
