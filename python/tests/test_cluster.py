"""Sweeps on a cluster: the same table, also where a worker dies in mid-run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flashlane as fl

distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")

pytestmark = pytest.mark.slow

WORKLOAD = """
[[flow]]
name = "reader"
synthetic = { queue_depth = 1, read_ratio = 1.0, requests = 3000 }
[[flow]]
name = "writer"
synthetic = { queue_depth = 4, read_ratio = 0.0, requests = 3000 }
"""
GRID = """
device = "tiny"
workload = "w.toml"
[axes]
interface.queue_fetch_size = [1, 0, 4]
seed = { from = 1, to = 20, steps = 20 }
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    (tmp_path / "w.toml").write_text(WORKLOAD)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def client() -> Iterator[Any]:
    here = "127.0.0.1:0"
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=here,
        worker_dashboard_address=here,
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def _table(done: fl.Sweep, path: Path) -> str:
    done.save(path)
    return path.read_text()


def test_a_worker_that_dies_takes_no_point_with_it(grid: Path, tmp_path: Path, client: Any) -> None:
    alone = _table(fl.sweep_grid(grid), tmp_path / "alone.csv")
    killed: list[int] = []

    def kill() -> None:
        # In the middle: some points are done and others are not.
        while len(list((tmp_path / "kept").glob("point-*.json"))) < 10:
            time.sleep(0.01)
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    killer = threading.Thread(target=kill)
    (tmp_path / "kept").mkdir()
    killer.start()
    done = fl.sweep_grid(grid, folder=tmp_path / "kept", client=client)
    killer.join()
    assert killed and len(list((tmp_path / "kept").glob("point-*.json"))) == 40
    assert repr(done) == "Sweep(60 points, 20 failed: 20 config)"
    assert _table(done, tmp_path / "cluster.csv") == alone


def test_devices_and_workloads_of_python_run_there_too(
    device: fl.Device, workload: fl.Workload, client: Any
) -> None:
    over = {"seed": [1, 2, 3], "scheduler": ["fcfs", "out-of-order"]}
    shares: list[float] = []
    done = fl.sweep(device, workload, over, alone=True, client=client, progress=shares.append)
    assert list(done) == list(fl.sweep(device, workload, over, alone=True))
    assert shares[-1] == 1.0


def test_the_module_writes_the_table(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "flashlane.cluster", str(grid), "--out", str(out), "--workers", "2"]
    run = subprocess.run(
        [*command, "--format", "csv", "--quiet"], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == _table(fl.sweep_grid(grid), tmp_path / "alone.csv")
    assert (out / "results.parquet").exists() and (out / "results.csv").read_text() == run.stdout
    grid.write_text("device = 'tiny'\n")
    run = subprocess.run([*command, "--quiet"], capture_output=True, text=True, timeout=300)
    assert run.returncode == 2 and "grid.toml" in run.stderr
