"""Sweeps over many files: on every backend the same, stopped and taken up, bad files told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compaction.errors import PolicyError
from compaction.policy import Policy, Trigger, preset
from compaction.pricing import Prices
from compaction.sweeping.files import files_of, read
from compaction.sweeping.many import Engine, Standing, compare_files, sweep_files
from compaction.sweeping.results import Sweep

POLICY = preset("default")
PRICES = Prices("m", 1.0, 0.1, 1.25, 5.0, "a test")


def written(folder: Path, count: int) -> list[Path]:
    """Session files of growing length."""
    paths = []
    for number in range(count):
        messages = [
            {"role": role, "content": f"Crate {turn} stands at gate-{turn}. " * 20}
            for turn in range(8 + number)
            for role in ("user", "assistant")
        ]
        path = folder / f"run-{number}.json"
        path.write_text(json.dumps({"messages": messages}))
        paths.append(path)
    return paths


def swept(folder: Path, **more: object) -> Sweep:
    budgets = more.pop("budgets", [500, 900])
    standing = more.pop("standing", None)
    engine = Engine(prices=PRICES, **more)  # type: ignore[arg-type]
    return sweep_files(
        [str(folder)],
        policy=POLICY,
        budgets=budgets,  # type: ignore[arg-type]
        keep_recents=[2, 4],
        engine=engine,
        standing=standing,  # type: ignore[arg-type]
    )


def test_every_file_of_a_folder_has_a_row_a_setting(tmp_path: Path) -> None:
    paths = written(tmp_path, 3)
    (tmp_path / "notes.json").write_text("{}")
    told: list[Standing] = []
    found = swept(tmp_path, backend="serial", standing=told.append)
    assert [row.session for row in found.rows] == [str(p) for p in paths for _ in range(4)]
    assert [(name, "messages of any format" in why) for name, why in found.skipped] == [
        (str(tmp_path / "notes.json"), True)
    ]
    assert [(each.done, each.total) for each in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert told[-1].left == 0


def test_processes_and_threads_find_the_same(tmp_path: Path) -> None:
    written(tmp_path, 4)
    alone = swept(tmp_path, backend="serial")
    assert swept(tmp_path, backend="loky", workers=2).rows == alone.rows
    assert swept(tmp_path, backend="threading", workers=2).rows == alone.rows


def test_a_cluster_of_two_processes_finds_the_same(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not there")
    written(tmp_path, 4)
    alone = swept(tmp_path, backend="serial")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        found = swept(tmp_path, backend="dask", address=cluster.scheduler_address)
    assert found.rows == alone.rows
    assert found.baselines == alone.baselines


def test_a_journal_is_written_to_no_other_file(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    written(sessions, 1)
    session = sessions / "run-0.json"
    before = session.read_bytes()
    with pytest.raises(PolicyError, match="no journal"):
        swept(sessions, backend="serial", journal=session)
    assert session.read_bytes() == before


def test_a_sweep_that_was_stopped_is_taken_up(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    written(sessions, 3)
    journal = tmp_path / "sweep.jsonl"

    class StopError(Exception):
        pass

    def stop(standing: Standing) -> None:
        if standing.done == 2:
            raise StopError

    with pytest.raises(StopError):
        swept(sessions, backend="serial", journal=journal, standing=stop)
    journal.write_bytes(journal.read_bytes() + b'{"mark": "torn')
    again: list[Standing] = []
    found = swept(sessions, backend="serial", journal=journal, standing=again.append)
    assert [(each.done, each.name) for each in again] == [(3, str(sessions / "run-2.json"))]
    assert found.rows == swept(sessions, backend="serial").rows
    other: list[Standing] = []
    swept(sessions, backend="serial", journal=journal, standing=other.append, budgets=[700])
    assert len(other) == 3, "rows of other settings are not taken for these"
    (sessions / "run-0.json").write_text('[{"role": "user", "content": "changed"}]')
    changed: list[Standing] = []
    swept(sessions, backend="serial", journal=journal, standing=changed.append)
    assert [each.name for each in changed] == [str(sessions / "run-0.json")]


def test_files_by_glob_folder_and_url(tmp_path: Path) -> None:
    paths = [str(path) for path in written(tmp_path, 2)]
    assert files_of([str(tmp_path / "*.json"), paths[0]]) == paths
    assert files_of([str(tmp_path)]) == paths
    with pytest.raises(PolicyError, match="no such file"):
        files_of([str(tmp_path / "*.none")])
    pytest.importorskip("fsspec", reason="the extra `cluster` is not there")
    import fsspec

    with fsspec.open("memory://runs/one.json", "wb") as file:
        file.write(Path(paths[0]).read_bytes())
    assert files_of(["memory://runs/*.json"]) == ["memory:///runs/one.json"]
    assert read("memory:///runs/one.json") == Path(paths[0]).read_bytes()
    found = sweep_files(["memory://runs/one.json"], policy=POLICY, budgets=[500], keep_recents=[2])
    assert found.rows[0].compactions > 0


def test_backends_that_cannot_be_say_so(tmp_path: Path) -> None:
    written(tmp_path, 1)
    for more, says in (
        ({"backend": "slurm"}, "no backend 'slurm'"),
        ({"backend": "dask"}, "--address"),
        ({"backend": "loky", "address": "tcp://x"}, "goes with the backend dask"),
    ):
        with pytest.raises(PolicyError, match=says):
            swept(tmp_path, **more)


def test_policies_side_by_side_and_one_that_cannot_be_replayed(tmp_path: Path) -> None:
    path = written(tmp_path, 1)[0]
    wants_window = Policy(name="of a window", trigger=Trigger(at=0.5))
    found = compare_files(
        [str(path)], [preset("three-region").replace(budget=500), wants_window],
    )  # fmt: skip
    assert found.axes == ("policy",)
    assert [found.values[row.setting] for row in found.rows] == [("three-region",)]
    [(setting, why)] = found.refused
    assert setting == 1
    assert "window" in why
