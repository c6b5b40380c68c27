"""Many runs: a grid or a list of points on the cores of this machine, resumable."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from flashlane import _flashlane
from flashlane._flashlane import Device
from flashlane.errors import ConfigError, Error, OutputError, StuckError, TraceError
from flashlane.optional import needed
from flashlane.progress import Progress, shown
from flashlane.result import unchanging, write_whole
from flashlane.run import simulate
from flashlane.workload import Flow, Workload

Point = dict[str, Any]

#: Options of ``simulate`` that decide a summary; points may set them, too.
_RUN_KEYS = ("seed", "warmup", "alone", "waf_only", "windows", "check")
_SCHEMA = "flashlane.sweep-point/2"


class Sweep(Sequence[dict[str, Any]]):
    """What came out of a sweep: one entry a point, in the order of the points.

    Each entry is a dict with ``point`` (the keys that were set), and ``summary`` (summary.json without the
    figures that differ from run to run, such as wall times). The entry of a point that failed has ``error``
    (the message) and ``error_kind`` instead: ``config`` (its configuration is refused), ``trace`` (its trace
    is refused), ``stuck`` (its device cannot finish the work), ``changed`` (a file that it reads changed
    while it ran) or ``internal`` (a fault of the simulator).
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
        """One row a point and flow: the keys of the point, then the figures that people ask for first.

        Where ``saturated`` is true the drive does not keep up with the flow: latencies and slowdown depend on
        the length of the run.
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


def points_of(over: Mapping[str, Iterable[Any]] | Iterable[Point]) -> list[Point]:
    """Every combination of a grid, or the points of a list, as plain values."""
    if isinstance(over, Mapping):
        values = [list(axis) for axis in over.values()]
        points = [dict(zip(over, choice, strict=True)) for choice in itertools.product(*values)]
    else:
        points = [dict(point) for point in over]
    return [
        {key: _flashlane.plain(value, f"point {index}, {key}") for key, value in point.items()}
        for index, point in enumerate(points)
    ]


def _of_workload(key: str) -> bool:
    return key.startswith(("flow.", "flow[", "workload.")) or key == "window"


class _Cancelled(Exception):
    """The sweep ends; runs under way end with it."""


@dataclass
class _Outcome:
    """What came out of a point: its entry, and what is wrong with the file that was kept of it."""

    entry: dict[str, Any]
    damage: str | None = None


@dataclass
class _Runner:
    """Runs points of one sweep."""

    device: Device
    workload: Workload
    options: dict[str, Any]
    folder: Path | None
    states: str | PathLike[str] | None = None
    cancel: threading.Event = field(default_factory=threading.Event)
    keys: _flashlane._ContentKeys = field(
        default_factory=lambda: _flashlane._ContentKeys(_flashlane.__file__)
    )

    def stop(self) -> None:
        """End what is under way."""
        self.cancel.set()
        self.keys.stop()

    def run(self, point: Point) -> _Outcome:
        """Find or make the result of a point."""
        try:
            device, workload, options = self._resolved(point)
            key = self._key(device, workload, options)
        except OutputError:
            raise
        except (Error, TypeError, ValueError, OverflowError) as error:
            self._look(0.0)
            return _Outcome({"point": point, "error": str(error), "error_kind": "config"})
        if key is None or self.folder is None:
            return _Outcome({"point": point, **self._result(device, workload, options)})
        path = self.folder / f"point-{key[:24]}.json"
        kept, damage = _kept(path, key)
        if kept is not None:
            return _Outcome({"point": point, **kept})
        result = self._result(device, workload, options)
        if result.get("error_kind") == "internal":
            return _Outcome({"point": point, **result}, damage)
        try:
            same = self._key(device, workload, options) == key
        except ConfigError:
            same = False
        if not same:
            said = "a file that the point reads changed while it ran; run the sweep again"
            return _Outcome({"point": point, "error": said, "error_kind": "changed"}, damage)
        _keep(path, key, point, result)
        return _Outcome({"point": point, **result}, damage)

    def _resolved(self, point: Point) -> tuple[Device, Workload, dict[str, Any]]:
        keys = dict(point)
        run = {key: keys.pop(key) for key in _RUN_KEYS if key in keys}
        policies = {key: keys.pop(key) for key in ("scheduler", "isolation") if key in keys}
        of_workload = {key: value for key, value in keys.items() if _of_workload(key)}
        of_device = {key: value for key, value in keys.items() if not _of_workload(key)}
        device, workload = self.device, self.workload
        if of_device or policies:
            device = device.replace(set=of_device or None, **policies)
        if of_workload:
            workload = workload.replace(set=of_workload)
        return device, workload, {**self.options, **run}

    def _key(self, device: Device, workload: Workload, options: dict[str, Any]) -> str | None:
        """The digest of all that decides the result; none where nothing is kept."""
        if self.folder is None:
            return None
        return self.keys.key(device, workload._native, **options)

    def _look(self, _share: float) -> None:
        if self.cancel.is_set():
            raise _Cancelled

    def _result(self, device: Device, workload: Workload, options: dict[str, Any]) -> dict[str, Any]:
        kinds = ((ConfigError, "config"), (TraceError, "trace"), (StuckError, "stuck"))
        try:
            result = simulate(
                device, workload, **options, threads=1, states=self.states, progress=self._look
            )
        except (ConfigError, TraceError, StuckError) as error:
            kind = next(kind for type_, kind in kinds if isinstance(error, type_))
            return {"error": str(error), "error_kind": kind}
        except (TypeError, ValueError, OverflowError) as error:
            return {"error": str(error), "error_kind": "config"}
        except RuntimeError as error:
            return {"error": str(error), "error_kind": "internal"}
        return {"summary": unchanging([result])[0]}


def _digest(result: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()


def _keep(path: Path, key: str, point: Point, result: dict[str, Any]) -> None:
    whole = {"schema": _SCHEMA, "key": key, "point": point, "result": result, "digest": _digest(result)}
    write_whole(path, json.dumps(whole))


def _kept(path: Path, key: str) -> tuple[dict[str, Any] | None, str | None]:
    """The result in a file of a sweep; none, and why, where the file is damaged."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, f"{path}: cannot be read ({error.strerror or error})"
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return None, f"{path}: is no JSON"
    if not isinstance(kept, dict) or kept.get("schema") != _SCHEMA or kept.get("key") != key:
        return None, f"{path}: is no result of this point"
    result = kept.get("result")
    if not isinstance(result, dict) or kept.get("digest") != _digest(result):
        return None, f"{path}: its result does not match its digest"
    return result, None


def sweep(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    over: Mapping[str, Iterable[Any]] | Iterable[Point],
    *,
    folder: str | PathLike[str] | None = None,
    jobs: int | None = None,
    states: str | PathLike[str] | None = None,
    progress: Progress = None,
    **options: Any,
) -> Sweep:
    """Simulate every point of a grid or of a list.

    Args:
        device: the drive at every point, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes.
        over: a grid, ``{"scheduler": ["fcfs", "flin"], "flow.reader.synthetic.queue_depth": [1, 8]}``, or a
            list of points, ``[{"scheduler": "fcfs"}, …]``. Keys are those of ``--set``, ``scheduler``,
            ``isolation``, ``seed``, ``warmup``, ``alone``, ``waf_only``, ``windows`` and ``check``.
        folder: where results are kept, one file a point, under a digest of everything that decides the
            result: this build of flashlane, the resolved device and workload, the options, and the bytes of
            every trace and clone that the point reads. Points whose result is there are not run again, so
            that a sweep that was killed goes on where it was; after a change of a file the points that read
            it run again. A damaged file of a point is replaced, with a warning. All other files are left
            alone.
        jobs: runs at a time; as many as there are cores without it. Never changes a result.
        states: where states of preconditioned drives are kept, as in :func:`flashlane.simulate`. Points that
            start from the same state share its memory.
        progress: called with the share of points that is done; ``True`` for a bar.
        options: of :func:`flashlane.simulate` at every point: ``seed``, ``warmup``, ``alone``, ``waf_only``,
            ``windows``, ``check``.

    A point that fails gives an entry with ``error``; the others run. See :class:`Sweep`.
    """
    unknown = sorted(options.keys() - set(_RUN_KEYS))
    if unknown:
        found = _flashlane.visible_line(", ".join(unknown))
        raise TypeError(f"sweep: found {found}; allowed: {', '.join(_RUN_KEYS)}")
    if jobs is not None and jobs < 1:
        raise ValueError(f"sweep: jobs: found {jobs}, allowed: 1 and above")
    drive = device if isinstance(device, Device) else Device(device)
    load = workload if isinstance(workload, Workload) else Workload(workload)
    points = points_of(over)
    keep = None if folder is None else Path(folder)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    runner = _Runner(drive, load, options, keep, states)
    entries: list[dict[str, Any] | None] = [None] * len(points)
    with shown(progress, "sweep") as told:
        finished = _in_parallel(runner, points, jobs or os.cpu_count() or 1)
        for count, (index, outcome) in enumerate(finished, start=1):
            if outcome.damage is not None:
                warnings.warn(f"{outcome.damage}; the point was run again", RuntimeWarning, stacklevel=2)
            # As it comes back from a file, so that a resumed sweep gives the same.
            entries[index] = json.loads(json.dumps(outcome.entry))
            if told is not None:
                told(count / len(points))
    return Sweep([entry for entry in entries if entry is not None])


def _in_parallel(runner: _Runner, points: list[Point], jobs: int) -> Iterator[tuple[int, _Outcome]]:
    """Results as they come; at most ``jobs`` points at a time, so that an interrupt ends all soon."""
    ahead = iter(range(len(points)))
    run: Callable[[Point], _Outcome] = runner.run
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running: dict[Future[_Outcome], int] = {}
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
            runner.stop()
            raise
