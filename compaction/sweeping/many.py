"""Sweeps over many session files: on all cores, or on a cluster; stopped and taken up again.

Each file is one job: read, replayed under
every setting, and reduced to its rows, so that little travels. What cannot be read is reported
and does not stop the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from time import monotonic
from typing import Any

from compaction.errors import CompactionError, PolicyError
from compaction.policy import Policy
from compaction.pricing import Prices
from compaction.sweeping import Swept, axes_of, swept_session
from compaction.sweeping.files import files_of, key_of, read
from compaction.sweeping.journal import Journal
from compaction.sweeping.results import Sweep
from compaction.sweeping.settings import Setting, budgets_for, settings_of

#: Where an engine of joblib runs the jobs; "serial" is this process.
BACKENDS = ("loky", "threading", "dask", "serial")

#: What the rows of a journal mean; another number where they come to mean something else.
_COUNTED = 2


@dataclass(frozen=True, slots=True)
class Job:
    """One file of a sweep."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one job: its rows, or why there are none."""

    job: Job
    swept: Swept | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a sweep is: `done` of `total` files, and the seconds that are left, if known."""

    done: int
    total: int
    left: float | None
    name: str


OnStanding = Callable[[Standing], None]


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the files of a sweep are replayed, and what is asked of each.

    `journal` keeps the rows of each file as they come; a sweep that is run again with it takes up
    where it was stopped.
    """

    backend: str = "loky"
    workers: int | None = None
    address: str | None = None
    journal: str | os.PathLike[str] | None = None
    prices: Prices | None = None
    needed_later: bool = True


def sweep_files(
    patterns: Sequence[str],
    *,
    policy: Policy,
    budgets: Sequence[int] | None = None,
    keep_recents: Sequence[float] | None = None,
    axes: Mapping[str, Sequence[Any]] | None = None,
    engine: Engine | None = None,
    standing: OnStanding | None = None,
) -> Sweep:
    """Every combination of settings over every file that `patterns` name.

    Raises PolicyError for settings, files or backends that cannot be.
    """
    if budgets is None and "budget" not in (axes or {}):
        # How large the files are is not known yet.
        budgets = budgets_for(200_000)
    every = axes_of(policy, budgets, keep_recents, dict(axes or {}))
    settings = settings_of(policy, every)
    return replay_files(patterns, settings, tuple(every), engine, standing)


def compare_files(
    patterns: Sequence[str],
    policies: Sequence[Policy],
    *,
    engine: Engine | None = None,
    standing: OnStanding | None = None,
) -> Sweep:
    """Several policies over every file that `patterns` name; its one axis is `policy`."""
    settings = [Setting((policy.name,), policy) for policy in policies]
    return replay_files(patterns, settings, ("policy",), engine, standing)


def replay_files(
    patterns: Sequence[str],
    settings: Sequence[Setting],
    axes: tuple[str, ...],
    engine: Engine | None = None,
    standing: OnStanding | None = None,
) -> Sweep:
    """Settings of any kind over every file that `patterns` name. Raises PolicyError."""
    engine = engine or Engine()
    jobs = [Job(name, key_of(name)) for name in files_of(patterns)]
    kept = Journal(engine.journal, _mark(settings, engine)) if engine.journal is not None else None
    known = kept.known() if kept is not None else {}
    done = [Done(job, known[job.key]) for job in jobs if job.key in known]
    open_ = [job for job in jobs if job.key not in known]
    begun = monotonic()
    for number, each in enumerate(_run(open_, settings, engine), 1):
        done.append(each)
        if kept is not None and each.swept is not None:
            kept.add(each.job.key, each.job.name, each.swept)
        if standing is not None:
            left = (monotonic() - begun) / number * (len(open_) - number)
            standing(Standing(len(done), len(jobs), left, each.job.name))
    order = {job.name: place for place, job in enumerate(jobs)}
    done.sort(key=lambda each: order[each.job.name])
    return Sweep(
        axes=axes,
        values=tuple(each.values for each in settings),
        policies=tuple(each.policy for each in settings),
        rows=tuple(row for each in done if each.swept for row in each.swept.rows),
        baselines=tuple(each.swept.baseline for each in done if each.swept),
        skipped=tuple((each.job.name, each.why) for each in done if each.swept is None),
        refused=tuple(one for each in done if each.swept for one in each.swept.refused),
        notes=tuple(
            (each.job.name, each.swept.note) for each in done if each.swept and each.swept.note
        ),
    )


def _mark(settings: Sequence[Setting], engine: Engine) -> str:
    asked = ([each.policy for each in settings], engine.prices, engine.needed_later)
    text = repr((_COUNTED, *asked))
    return sha256(text.encode()).hexdigest()[:24]


# ------------------------------------------------------------------------------- running


def sweep_one(
    job: Job, settings: Sequence[Setting], prices: Prices | None, needed_later: bool
) -> Done:
    """One job, wherever it runs."""
    from compaction.formats import load
    from compaction.messages import Source
    from compaction.replaying import uncompacted

    try:
        remote = "://" in job.name
        session = load(Source(read(job.name), job.name) if remote else job.name)
        whole = uncompacted(session)
        swept = swept_session(
            whole, settings, prices=prices, needed_later=needed_later, name=job.name
        )
        if (many := len(session.conversations)) > 1:
            swept = replace(swept, note=f"one of its {many:,} conversations was replayed")
    except CompactionError as error:
        return Done(job, None, str(error))
    except OSError as error:
        return Done(job, None, f"{job.name} cannot be read: {error.strerror or error}.")
    except (MemoryError, RecursionError):
        return Done(job, None, f"{job.name} is too large to be replayed here.")
    return Done(job, swept)


def _run(jobs: Sequence[Job], settings: Sequence[Setting], engine: Engine) -> Iterator[Done]:
    """The jobs, done, in the order they are finished."""
    backend = engine.backend
    if backend not in BACKENDS:
        raise PolicyError(f"there is no backend {backend!r}; known are {', '.join(BACKENDS)}.")
    if backend != "dask" and engine.address is not None:
        raise PolicyError("an address goes with the backend dask.")
    count = engine.workers or os.cpu_count() or 1
    asked = (settings, engine.prices, engine.needed_later)
    if backend == "serial" or (backend == "loky" and (len(jobs) < 2 or count < 2)):
        for job in jobs:
            yield sweep_one(job, *asked)
        return
    from joblib import Parallel, delayed, parallel_config

    calls = (delayed(sweep_one)(job, *asked) for job in jobs)
    if backend == "dask":
        client: Any = _client(engine.address)
        with client, parallel_config(backend="dask", wait_for_workers_timeout=60):
            yield from Parallel(n_jobs=-1, return_as="generator_unordered")(calls)
        return
    yield from Parallel(n_jobs=count, backend=backend, return_as="generator_unordered")(calls)


def _client(address: str | None) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise PolicyError(
            "the backend dask needs dask and distributed: install compaction-workbench[cluster]."
        ) from None
    if address is None:
        raise PolicyError("the backend dask needs the address of its scheduler: --address.")
    try:
        connect: Any = Client
        return connect(address, timeout=30)
    except (OSError, ValueError) as error:
        raise PolicyError(f"the scheduler {address} cannot be reached: {error}.") from None
