"""Many runs: a grid or a list of points on the cores of this machine, resumable."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from os import PathLike
from pathlib import Path
from typing import Any

from flashlane._flashlane import Device, __version__
from flashlane.errors import ConfigError
from flashlane.optional import needed
from flashlane.progress import Progress, shown
from flashlane.result import Result, unchanging, write_whole
from flashlane.run import simulate
from flashlane.workload import Flow, Workload

Point = dict[str, Any]

_RUN_KEYS = ("seed", "warmup", "alone", "waf_only")
_SCHEMA = "flashlane.sweep-point/1"


class Sweep(Sequence[dict[str, Any]]):
    """What came out of a sweep: one entry a point, in the order of the points.

    Each entry is a dict with ``point`` (the keys that were set), and ``summary`` (summary.json without the
    figures that differ from run to run, such as wall times) or ``error`` (why the point could not run).
    """

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        """Keep the entries."""
        self._entries = entries

    def __len__(self) -> int:
        """Number of points."""
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        """An entry."""
        return self._entries[index]

    def rows(self) -> list[dict[str, Any]]:
        """One row a point and flow: the keys of the point, then the figures that people ask for first."""
        rows = []
        for entry in self._entries:
            if "error" in entry:
                rows.append({**entry["point"], "error": entry["error"]})
                continue
            summary = entry["summary"]
            for flow in summary["flows"]:
                rows.append(
                    {
                        **entry["point"],
                        "flow": flow["name"],
                        "iops": flow["iops"],
                        "bandwidth_bytes_per_s": flow["bandwidth_bytes_per_s"],
                        "mean_us": flow["response_time_us"]["mean"],
                        "p50_us": flow["response_time_us"]["p50"],
                        "p99_us": flow["response_time_us"]["p99"],
                        "p99_9_us": flow["response_time_us"]["p99_9"],
                        "slowdown": flow["slowdown"],
                        "fairness": summary["fairness"]["fairness"],
                        "write_amplification": summary["flash"]["write_amplification"],
                    }
                )
        return rows

    def to_pandas(self) -> Any:
        """:meth:`rows` as a pandas DataFrame."""
        return needed("pandas", "pandas").DataFrame(self.rows())

    def __repr__(self) -> str:
        """How many points, and how many failed."""
        failed = sum("error" in entry for entry in self._entries)
        return f"Sweep({len(self)} points" + (f", {failed} refused)" if failed else ")")


def points_of(over: Mapping[str, Iterable[Any]] | Iterable[Point]) -> list[Point]:
    """Every combination of a grid, or the points of a list."""
    if isinstance(over, Mapping):
        values = [list(axis) for axis in over.values()]
        return [dict(zip(over, choice, strict=True)) for choice in itertools.product(*values)]
    return [dict(point) for point in over]


def _of_workload(key: str) -> bool:
    return key.startswith(("flow.", "flow[", "workload.")) or key == "window"


class _Cancelled(Exception):
    """The sweep ends; runs under way end with it."""


def _run(
    device: Device, workload: Workload, point: Point, options: dict[str, Any], cancel: threading.Event
) -> Result:
    keys = dict(point)
    run = {key: keys.pop(key) for key in _RUN_KEYS if key in keys}
    policies = {key: keys.pop(key) for key in ("scheduler", "isolation") if key in keys}
    of_workload = {key: value for key, value in keys.items() if _of_workload(key)}
    of_device = {key: value for key, value in keys.items() if not _of_workload(key)}
    if of_device or policies:
        device = device.replace(set=of_device or None, **policies)
    if of_workload:
        workload = workload.replace(set=of_workload)

    def look(_share: float) -> None:
        if cancel.is_set():
            raise _Cancelled

    return simulate(device, workload, **{**options, **run}, threads=1, progress=look)


def sweep(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    over: Mapping[str, Iterable[Any]] | Iterable[Point],
    *,
    folder: str | PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Sweep:
    """Simulate every point of a grid or of a list.

    Args:
        device: the drive at every point, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes.
        over: a grid, ``{"scheduler": ["fcfs", "flin"], "flow.reader.synthetic.queue_depth": [1, 8]}``, or a
            list of points, ``[{"scheduler": "fcfs"}, …]``. Keys are those of ``--set``, ``scheduler``,
            ``isolation``, ``seed``, ``warmup``, ``alone`` and ``waf_only``.
        folder: where results are kept, one file a point. Points that are there are not run again, so that a
            sweep that was killed goes on where it was. Files of other input or of another version of
            flashlane are left alone.
        jobs: runs at a time; as many as there are cores without it. Never changes a result.
        progress: called with the share of points that is done; ``True`` for a bar.
        options: of :func:`flashlane.simulate` at every point, for example ``alone=True``.

    A point whose configuration is refused gives an entry with ``error``; the others run.
    """
    drive = device if isinstance(device, Device) else Device(device)
    load = workload if isinstance(workload, Workload) else Workload(workload)
    points = points_of(over)
    keep = None if folder is None else Path(folder)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    base = json.dumps([__version__, drive.to_toml(), load.to_toml(), options], sort_keys=True)

    def path_of(point: Point) -> Path | None:
        if keep is None:
            return None
        identity = base + json.dumps(point, sort_keys=True, default=str)
        return keep / f"point-{hashlib.sha256(identity.encode()).hexdigest()[:24]}.json"

    def entry_of(point: Point) -> dict[str, Any]:
        try:
            result = _run(drive, load, point, options, cancel)
        except ConfigError as error:
            return {"point": point, "error": str(error)}
        return {"point": point, "summary": unchanging([result])[0]}

    def done(point: Point) -> dict[str, Any] | None:
        path = path_of(point)
        if path is None or not path.is_file():
            return None
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return kept["entry"] if kept.get("schema") == _SCHEMA else None

    def run(point: Point) -> dict[str, Any]:
        entry = entry_of(point)
        path = path_of(point)
        if path is not None:
            write_whole(path, json.dumps({"schema": _SCHEMA, "entry": entry}))
        # As it comes back from a file, so that a resumed sweep gives the same.
        again: dict[str, Any] = json.loads(json.dumps(entry))
        return again

    cancel = threading.Event()
    entries: list[dict[str, Any] | None] = [done(point) for point in points]
    missing = [index for index, entry in enumerate(entries) if entry is None]
    with shown(progress, "sweep") as told:
        for index, entry in _in_parallel(run, points, missing, jobs or os.cpu_count() or 1, cancel):
            entries[index] = entry
            if told is not None:
                told(sum(e is not None for e in entries) / len(points))
    return Sweep([entry for entry in entries if entry is not None])


def _in_parallel(
    run: Callable[[Point], dict[str, Any]],
    points: list[Point],
    indices: list[int],
    jobs: int,
    cancel: threading.Event,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Results as they come; at most ``jobs`` points at a time, so that an interrupt ends all soon."""
    ahead = iter(indices)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running: dict[Future[dict[str, Any]], int] = {}
        try:
            for index in itertools.islice(ahead, jobs):
                running[pool.submit(run, points[index])] = index
            while running:
                finished, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in finished:
                    index = running.pop(future)
                    for following in itertools.islice(ahead, 1):
                        running[pool.submit(run, points[following])] = following
                    yield index, future.result()
        except BaseException:
            cancel.set()
            raise
