"""``python -m flashlane.cluster``: a grid on a cluster of Dask, for ``flashlane sweep --engine dask``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from flashlane import _flashlane
from flashlane.command import ended
from flashlane.optional import needed
from flashlane.sweeps import sweep_grid

#: No service of a cluster that is started here listens on anything but this machine.
_HERE = "127.0.0.1"


def _cluster(name: str, workers: int) -> Any:
    """What a client connects to: an address as it is, or a cluster that is started."""
    distributed = needed("distributed", "dask")
    if name == "local":
        return distributed.LocalCluster(
            n_workers=workers or os.cpu_count() or 1,
            threads_per_worker=1,
            host=_HERE,
            dashboard_address=f"{_HERE}:0",
            worker_dashboard_address=f"{_HERE}:0",
        )
    if name == "slurm":
        # Workers, too, load no module from the folder in which they start.
        before = needed("dask", "dask").config.get("jobqueue.slurm.job-script-prologue", None) or []
        prologue = [*before, "export PYTHONSAFEPATH=1"]
        cluster = needed("dask_jobqueue", "dask").SLURMCluster(job_script_prologue=prologue)
        cluster.scale(workers or 1)
        return cluster
    return name


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m flashlane.cluster", description=__doc__)
    parser.add_argument("grid", metavar="GRID.toml")
    parser.add_argument("--out", required=True, help="folder for the table and the results of the points")
    parser.add_argument("--cluster", default="local", help="address of a scheduler, `slurm` or `local`")
    parser.add_argument("--workers", type=int, default=0, help="workers of a cluster that is started here")
    parser.add_argument("--memory", type=int, help="bytes that a run may take")
    parser.add_argument("--states", help="folder for states of drives, which all workers see; DIR/states")
    parser.add_argument("--format", choices=["text", "json", "csv"], default="text")
    parser.add_argument("--overwrite", action="store_true", help="replace files of others")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run the points on the cluster and write the table; the exit status."""
    wish = _parsed(arguments)
    # For the processes that are started here.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    return ended(lambda: _sweep(wish))


def _sweep(wish: argparse.Namespace) -> None:
    """Run the points, write the table, and say what came out."""
    out = Path(wish.out)
    distributed = needed("distributed", "dask")
    out.mkdir(parents=True, exist_ok=True)
    with _flashlane.HeldFolder(out, ["results.parquet", "results.csv", "sweep.html"], wish.overwrite):
        cluster = _cluster(wish.cluster, wish.workers)
        with distributed.Client(cluster) as client:
            done = sweep_grid(
                wish.grid,
                folder=out / "points",
                memory=wish.memory,
                states=wish.states or out / "states",
                client=client,
                progress=None if wish.quiet else True,
            )
        if not isinstance(cluster, str):
            cluster.close()
        done.save(out / "results.parquet", overwrite=wish.overwrite)
        done.save(out / "results.csv", overwrite=wish.overwrite)
        title = f"Sweep {Path(wish.grid).stem}"
        done.report(out / "sweep.html", title=title, overwrite=wish.overwrite)
    if not wish.quiet:
        print(done, file=sys.stderr)
    if wish.format == "csv":
        sys.stdout.write((out / "results.csv").read_text(encoding="utf-8"))
    if wish.format == "json":
        for entry in done:
            print(json.dumps(entry, separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
