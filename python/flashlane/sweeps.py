"""Many runs: a grid or a list of points on the cores of this machine, resumable."""

from __future__ import annotations

import itertools
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from flashlane import _flashlane
from flashlane._flashlane import Device
from flashlane.optional import needed
from flashlane.progress import Progress, shown
from flashlane.result import write_whole
from flashlane.workload import Flow, Workload

Point = dict[str, Any]


def _by_operation(flow: dict[str, Any]) -> dict[str, float | None]:
    """Requests, mean and 99th percentile of reads, writes, trims and flushes; None where there are none."""
    figures: dict[str, float | None] = {}
    for op in ("read", "write", "trim", "flush"):
        latency = flow[f"{op}_response_time_us"]
        figures[f"{op}_requests"] = latency["count"]
        for figure in ("mean", "p99"):
            figures[f"{op}_{figure}_us"] = latency[figure] if latency["count"] else None
    return figures


class Sweep(Sequence[dict[str, Any]]):
    """What came out of a sweep: one entry a point, in the order of the points.

    Each entry is a dict with ``point`` (the keys that were set), and ``summary`` (summary.json without the
    figures that differ from run to run, such as wall times). The entry of a point that failed has ``error``
    (the message) and ``error_kind`` instead. The kinds are ``config`` (the configuration is refused),
    ``trace`` (the trace is refused) and ``stuck`` (the device cannot finish the work). The others are
    ``changed`` (a file changed while the point read it), ``memory`` (the point needs more than the sweep may
    take) and ``internal`` (a fault of the simulator).
    """

    def __init__(self, entries: list[dict[str, Any]], keys: list[str] | None = None) -> None:
        """Keep the entries; ``keys`` are the columns of the table, in order."""
        self._entries = entries
        self._keys = keys or list(dict.fromkeys(key for entry in entries for key in entry["point"]))

    def __len__(self) -> int:
        """Number of points."""
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        """An entry."""
        return self._entries[index]

    def rows(self) -> list[dict[str, Any]]:
        """One row a point and flow: the keys of the point, then the figures that people ask for first.

        Where ``saturated`` is true the drive does not keep up with the flow, and where ``starved`` is true it
        serves others only: latencies and slowdown depend on the length of the run.
        """
        rows = []
        for entry in self._entries:
            if "error" in entry:
                failure = {"error": entry["error"], "error_kind": entry["error_kind"]}
                rows.append({**entry["point"], **failure})
                continue
            summary = entry["summary"]
            for flow in summary["flows"]:
                rows.append(
                    {
                        **entry["point"],
                        "flow": flow["name"],
                        "saturated": flow["saturated"],
                        "starved": flow["starved"],
                        "iops": flow["iops"],
                        "bandwidth_bytes_per_s": flow["bandwidth_bytes_per_s"],
                        "mean_us": flow["response_time_us"]["mean"],
                        "p50_us": flow["response_time_us"]["p50"],
                        "p99_us": flow["response_time_us"]["p99"],
                        "p99_9_us": flow["response_time_us"]["p99_9"],
                        **_by_operation(flow),
                        "slowdown": flow["slowdown"],
                        "own_slowdown": flow.get("own_slowdown", flow["slowdown"]),
                        "fairness": summary["fairness"]["fairness"],
                        "write_amplification": summary["flash"]["write_amplification"],
                    }
                )
        return rows

    def to_pandas(self) -> Any:
        """:meth:`rows` as a pandas DataFrame."""
        return needed("pandas", "pandas").DataFrame(self.rows())

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the table of ``flashlane sweep``: a Parquet file, or CSV where the name ends in ``.csv``.

        A row a point and flow: ``point`` (its number), the keys, the figures, ``error_kind`` and ``error``.

        Args:
            path: the file. One that flashlane did not write, or that was changed since, is refused.
            overwrite: replace such a file.

        Raises:
            flashlane.errors.OutputError: the file cannot be written; nothing is left of it.
        """
        csv, parquet = _flashlane.sweep_table(self._keys, json.dumps(self._entries))
        write_whole(Path(path), csv if Path(path).suffix == ".csv" else parquet, overwrite)

    def report(
        self, path: str | PathLike[str] | None = None, *, title: str = "Sweep", overwrite: bool = False
    ) -> str:
        """Make the page of the sweep: one HTML page that needs nothing else. Writes it if ``path`` is given.

        The page has the axes, small multiples, the best rows, and what failed. Points that differ in the seed
        are one: a mean, with its 95 % interval.

        Args:
            path: the file. One that flashlane did not write, or that was changed since, is refused.
            title: headline of the page.
            overwrite: replace such a file.
        """
        page: str = _flashlane.sweep_page(title, self._keys, json.dumps(self._entries))
        if path is not None:
            write_whole(Path(path), page.encode(), overwrite)
        return page

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The entries of the points that failed."""
        return [entry for entry in self._entries if "error" in entry]

    def __repr__(self) -> str:
        """How many points, how many rows are saturated, and how many points failed, by kind."""
        flows = [flow for entry in self._entries if "summary" in entry for flow in entry["summary"]["flows"]]
        count = sum(flow["saturated"] for flow in flows)
        saturated = f", {count} of {len(flows)} rows saturated" if count else ""
        kinds = Counter(entry["error_kind"] for entry in self.failed)
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        failed = f", {len(self.failed)} failed: {said}" if kinds else ""
        return f"Sweep({len(self)} points{saturated}{failed})"


def _axis(key: str, axis: Any) -> list[Any]:
    """The values of an axis. Text is one value, whose letters nobody means."""
    if isinstance(axis, (str, bytes)) or not isinstance(axis, Iterable):
        shown, name = _flashlane.visible_line(repr(axis)[:80]), _flashlane.visible_line(str(key)[:80])
        raise TypeError(f"sweep: {name}: found {shown}, allowed: a list of values, such as [{shown}]")
    return list(axis)


def points_of(over: Mapping[str, Iterable[Any]] | Iterable[Point]) -> list[Point]:
    """Every combination of a grid, or the points of a list, as plain values."""
    if isinstance(over, Mapping):
        values = [_axis(key, axis) for key, axis in over.items()]
        points = [dict(zip(over, choice, strict=True)) for choice in itertools.product(*values)]
    else:
        points = [dict(point) for point in over]
    return [
        {key: _flashlane.plain(value, f"point {index}, {key}") for key, value in point.items()}
        for index, point in enumerate(points)
    ]


def sweep(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    over: Mapping[str, Iterable[Any]] | Iterable[Point],
    *,
    folder: str | PathLike[str] | None = None,
    jobs: int | None = None,
    memory: int | None = None,
    states: str | PathLike[str] | None = None,
    client: Any = None,
    baseline: Mapping[str, Any] | None = None,
    progress: Progress = None,
    **options: Any,
) -> Sweep:
    """Simulate every point of a grid or of a list.

    Args:
        device: the drive at every point, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes.
        over: a grid, ``{"scheduler": ["fcfs", "flin"], "flow.reader.synthetic.queue_depth": [1, 8]}``, or a
            list of points, ``[{"scheduler": "fcfs"}, …]``. Keys are those of ``--set``, ``scheduler``,
            ``isolation``, ``seed``, ``warmup``, ``alone``, ``energy``, ``waf_only``, ``windows``, ``check``.
        folder: where results are kept, one file a point, under a digest of everything that decides the
            result: this build of flashlane, the resolved device and workload, the options, and the bytes of
            every trace and clone that the point reads. Points whose result is there are not run again, so
            that a sweep that was killed goes on where it was; after a change of a file the points that read
            it run again. A damaged file of a point is replaced, with a warning. All other files are left
            alone.
        jobs: runs at a time; as many as there are cores without it. Never changes a result.
        memory: bytes that all runs together may take; four fifths of what is free without it. A run waits
            until there is room for it.
        states: where states of preconditioned drives are kept, as in :func:`flashlane.simulate`. Points that
            start from the same state share its memory.
        client: a ``distributed.Client``: the points run on its cluster, one task each. ``folder`` and
            ``states``, where given, and all traces are then on a file system that every worker sees.
        baseline: a summary of a run with ``alone``: slowdowns of all points are against its tenants alone.
            The default is the first point.
        progress: called with the share of points that is done; ``True`` for a bar.
        options: of :func:`flashlane.simulate` at every point: ``seed``, ``warmup``, ``alone``, ``energy``,
            ``waf_only``, ``windows``, ``check``.

    A point that fails gives an entry with ``error``; the others run. See :class:`Sweep`.
    """
    unknown = sorted(options.keys() - set(_flashlane.RUN_KEYS))
    if unknown:
        strangers = _flashlane.visible_line(", ".join(unknown))
        raise TypeError(f"sweep: found {strangers}; allowed: {', '.join(_flashlane.RUN_KEYS)}")
    drive = device if isinstance(device, Device) else Device(device)
    load = workload if isinstance(workload, Workload) else Workload(workload)
    points = points_of(over)
    base = {key: _flashlane.plain(value, key) for key, value in options.items()}

    def run(some: list[str], **how: Any) -> list[_Found]:
        texts = f"[{','.join(some)}]"
        return _flashlane.sweep(drive, load._native, points=texts, options=json.dumps(base), **how)

    asked = [json.dumps(point) for point in points]
    found = _everywhere(run, asked, folder, jobs, memory, states, client, progress)
    return Sweep(_compared(points, found, baseline))


def sweep_grid(
    grid: str | PathLike[str],
    *,
    folder: str | PathLike[str] | None = None,
    jobs: int | None = None,
    memory: int | None = None,
    states: str | PathLike[str] | None = None,
    client: Any = None,
    baseline: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> Sweep:
    """Simulate every point of a grid file, as ``flashlane sweep`` does (docs/sweep.md).

    Args:
        grid: the file. With ``client`` its folder is one that all workers see, as is ``folder``.
        folder: where results are kept, as in :func:`sweep`.
        jobs: runs at a time; as many as there are cores without it.
        memory: bytes that all runs of this process together may take.
        states: where states of preconditioned drives are kept.
        client: a ``distributed.Client``: the points run on its cluster, one task each.
        baseline: a summary of a run with ``alone``, as in :func:`sweep`.
        progress: called with the share of points that is done; ``True`` for a bar.

    Raises:
        flashlane.errors.ConfigError: the grid is refused, with its line or key.
    """
    keys, texts = _flashlane.grid_points(grid)
    points = json.loads(texts)
    path = os.path.abspath(grid)

    def run(some: list[str], **how: Any) -> list[_Found]:
        return _flashlane.sweep_grid(path, numbers=[int(number) for number in some], **how)

    asked = [str(number) for number in range(len(points))]
    found = _everywhere(run, asked, folder, jobs, memory, states, client, progress)
    return Sweep(_compared(points, found, baseline), keys)


def _compared(
    points: list[Point], found: list[str], baseline: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """The entries of all points, with slowdowns against one baseline."""
    given = None if baseline is None else json.dumps(dict(baseline))
    texts = _flashlane.share_baseline(json.dumps(points), found, given)
    return [{"point": point, **json.loads(text)} for point, text in zip(points, texts, strict=True)]


#: What came out of a point, and the damage of its file.
_Found = tuple[str, str | None]
#: Is called with the share that is done.
_Progress = Callable[[float], object] | None
#: Runs some points; the number is that of runs at a time.
_Run = Callable[[list[str], int, _Progress], list[_Found]]


def _whole(path: str | PathLike[str] | None) -> str | None:
    """A path that means the same in every process; ``off`` stays as it is."""
    return None if path is None else "off" if fspath(path) == "off" else os.path.abspath(path)


def _everywhere(
    native: Callable[..., list[_Found]],
    points: list[str],
    folder: str | PathLike[str] | None,
    jobs: int | None,
    memory: int | None,
    states: str | PathLike[str] | None,
    client: Any,
    progress: Progress,
) -> list[str]:
    """Results of all points, from threads of this process or from a cluster."""
    for name, value in (("jobs", jobs), ("memory", memory)):
        if value is not None and value < 1:
            raise ValueError(f"sweep: {name}: found {value}, allowed: 1 and above")
    how = {"folder": _whole(folder), "memory": memory, "states": _whole(states)}

    def run(some: list[str], jobs: int, told: _Progress) -> list[_Found]:
        # The file of this process: on a cluster that of the worker.
        return native(some, jobs=jobs, progress=told, program=_flashlane.__file__, **how)

    with shown(progress, "sweep") as told:
        if client is None:
            found = run(points, jobs or os.cpu_count() or 1, told)
        else:
            found = _on_cluster(run, points, client, told)
    for _, damage in found:
        if damage is not None:
            warnings.warn(f"{damage}; the point was run again", RuntimeWarning, stacklevel=3)
    return [text for text, _ in found]


def _on_cluster(run: _Run, points: list[str], client: Any, told: _Progress) -> list[_Found]:
    """One task a point. A worker that dies takes no result with it: its tasks run on another one."""
    distributed = needed("distributed", "dask")
    futures = client.map(
        run, [[point] for point in points], [1] * len(points), [None] * len(points), pure=False
    )
    numbers = {future.key: index for index, future in enumerate(futures)}
    found: list[_Found] = [("", None)] * len(points)
    try:
        for over, future in enumerate(distributed.as_completed(futures), start=1):
            failure = future.exception()
            if isinstance(failure, distributed.KilledWorker):
                text = json.dumps({"error": f"its workers died: {failure}", "error_kind": "internal"})
                found[numbers[future.key]] = (text, None)
            elif failure is not None:
                raise failure
            else:
                (found[numbers[future.key]],) = future.result()
            if told is not None:
                told(over / len(points))
    finally:
        client.cancel(futures)
    return found
