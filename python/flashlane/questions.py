"""Questions that the command ``flashlane`` answers: how many fit, how a drive behaves, what drive it is."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from flashlane._flashlane import Device
from flashlane.errors import ConfigError
from flashlane.optional import needed
from flashlane.program import asked, checked, device_file, files, html_table
from flashlane.workload import Flow, Workload


class _Answer:
    """What all answers have: rows, a table of them, and a sentence."""

    def rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def said(self) -> str:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return needed("pandas", "pandas").DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.said(), self.rows())


@dataclass(frozen=True)
class PlanGoal:
    """A goal at a level: the tenant, its goal and limit, and the mean figure over the seeds."""

    flow: str
    goal: str
    limit: float
    value: float | None
    #: How far the value goes beyond the limit: above 1 if the goal is missed.
    strain: float | None


@dataclass(frozen=True)
class PlanTrial:
    """A level that was tried: a number of copies, or a factor on the load."""

    level: float
    seeds: int
    #: ``met``, ``missed``, ``met-on-average`` or ``missed-on-average``.
    verdict: str
    goals: tuple[PlanGoal, ...]
    #: Why the drive cannot be set up for this level.
    refused: str | None


@dataclass(frozen=True)
class PlanAnswer:
    """The answer for one variant."""

    #: The keys that were set, as ``key=value``.
    variant: tuple[str, ...]
    drives: int
    #: The largest level that fits.
    fits: float
    #: The largest level of the first drive that fits with every seed's interval, if there is one.
    surely: float | None
    #: The smallest level of the first drive that surely misses a goal, if there is one.
    surely_not: float | None
    #: What limits it: the goal that is missed first, or why the next level cannot be set up.
    limited_by: str | None
    #: The cause of the wait that grows most, and the tenant whose work it is.
    grown: tuple[str, str] | None
    runs: int
    trials: tuple[PlanTrial, ...]


@dataclass(frozen=True)
class Plan(_Answer):
    """How many tenants fit, or how much load: what :func:`plan` answers."""

    #: ``count`` for a number of tenants, ``load`` for a factor on the load.
    grow: str
    flow: str
    answers: tuple[PlanAnswer, ...]

    @property
    def fits(self) -> float:
        """The answer for the first variant."""
        return self.answers[0].fits

    def rows(self) -> list[dict[str, Any]]:
        """One row a variant."""
        return [
            {
                "variant": ", ".join(one.variant) or "as it is",
                "drives": one.drives,
                "fits": one.fits,
                "surely": one.surely,
                "surely_not": one.surely_not,
                "limited_by": one.limited_by,
                "grown": None if one.grown is None else " of ".join(one.grown),
                "runs": one.runs,
            }
            for one in self.answers
        ]

    def said(self) -> str:
        """The answer for the first variant in a sentence."""
        first = self.answers[0]
        unit = "" if self.grow == "count" else " times the load"
        told = f"{first.fits:g}{unit} of {self.flow} fit"
        return f"{told}; the limit is {first.limited_by}." if first.limited_by else f"{told}."


def _plan_trial(trial: Mapping[str, Any]) -> PlanTrial:
    goals = tuple(
        PlanGoal(goal["flow"], goal["goal"], goal["limit"], goal["value"], goal["strain"])
        for goal in trial["goals"]
    )
    return PlanTrial(trial["level"], trial["seeds"], trial["verdict"], goals, trial.get("refused"))


def _plan_answer(answer: Mapping[str, Any]) -> PlanAnswer:
    first = answer["first"]
    limit = first["limited_by"] or {}
    missed, grown = limit.get("missed"), limit.get("grown")
    limited_by = limit.get("refused") or (f"{missed['goal']} of {missed['flow']}" if missed else None)
    return PlanAnswer(
        variant=tuple(answer["variant"]),
        drives=answer["drives"],
        fits=answer["fits"],
        surely=first["surely"],
        surely_not=first["surely_not"],
        limited_by=limited_by,
        grown=(grown["cause"], grown["culprit"]) if grown else None,
        runs=answer["runs"],
        trials=tuple(map(_plan_trial, first["trials"])),
    )


def plan(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    *,
    slo: Mapping[str, str] | None = None,
    count: str | None = None,
    load: str | None = None,
    most: int = 1024,
    over: Mapping[str, Sequence[Any]] | None = None,
    drives: Sequence[int] = (1,),
    warmup: str | None = None,
    seed: int = 1,
    seeds: int = 8,
    states: str | PathLike[str] | None = None,
    threads: int = 0,
) -> Plan:
    """Find how many tenants fit on a drive, or how much load, so that all goals are met.

    Runs the command ``flashlane plan`` (docs/capacity.md), which has to be on the path or in
    ``FLASHLANE_COMMAND``.

    Args:
        device: the drive, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes; goals may be in it (``slo``).
        slo: goals by tenant, in place of those: ``{"reader": "p99=1ms,slowdown=2"}``.
        count: the tenant whose copies are counted; the only one where there is one.
        load: the tenant whose load is multiplied, in place of ``count``.
        most: largest number of tenants that is tried.
        over: variants, every combination of them: ``{"scheduler": ["fcfs", "flin"]}``.
        drives: numbers of drives to answer for.
        warmup: load that does not count, such as ``"10ms"``.
        seed: first seed.
        seeds: seeds of each level at most.
        states: where states of preconditioned drives are kept, or ``"off"``.
        threads: simulations at a time; 0 for one on each core.

    Raises:
        flashlane.errors.ConfigError: the question is refused, or there is no command.

    Examples:
        >>> found = fl.plan("980-pro", tenants, slo={"reader": "p99=1ms"}, count="reader")  # doctest: +SKIP
        >>> found.fits, found.answers[0].limited_by  # doctest: +SKIP
    """
    with files(device, workload) as (drive, tenants):
        call: list[str | PathLike[str]] = ["plan", "--device", drive, "--workload", tenants]
        call += [part for flow, goals in (slo or {}).items() for part in ("--slo", f"{flow}:{goals}")]
        call += ["--count", count] if count is not None else []
        call += ["--load", load] if load is not None else ["--max", str(most)]
        for key, values in (over or {}).items():
            call += ["--over", f"{key}={','.join(map(str, values))}"]
        call += ["--drives", ",".join(map(str, drives)), "--seed", str(seed), "--seeds", str(seeds)]
        call += ["--warmup", warmup] if warmup is not None else []
        call += ["--states", fspath(states)] if states is not None else []
        call += ["--threads", str(threads), "--format", "json", "--quiet"]
        answer = checked(json.loads(asked(call)), "flashlane.plan/1")
    return Plan(answer["grow"], answer["flow"], tuple(map(_plan_answer, answer["answers"])))


@dataclass(frozen=True)
class ProbeSeries:
    """A series of requests of a probe."""

    probe: str
    name: str
    requests: int
    #: Mean, least and largest latency. Unit: microseconds. None without pyarrow, which reads them.
    mean_us: float | None
    min_us: float | None
    max_us: float | None


@dataclass(frozen=True)
class Probe(_Answer):
    """How a drive behaves: what :func:`probe` measured."""

    folder: Path
    #: The target: its name, ``simulated``, ``block-device`` or ``file``, and its size.
    target: str
    kind: str
    bytes: int
    series: tuple[ProbeSeries, ...]
    #: Probes that were left out, with the reason.
    skipped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Probe:
        """Read what ``flashlane probe`` wrote into a folder."""
        folder = Path(folder)
        try:
            about = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"{folder / 'probe.json'}: {error}") from error
        if about.get("schema") != "flashlane.probe/1":
            found = about.get("schema")
            raise ConfigError(f"{folder / 'probe.json'}: found schema {found}, allowed: flashlane.probe/1")
        facts = about["facts"]
        series: list[ProbeSeries] = []
        for path in sorted(folder.glob("*.parquet")):
            series += _series(path)
        skipped = dict(about["skipped"])
        return cls(folder, facts["name"], facts["kind"], facts["bytes"], tuple(series), skipped)

    def rows(self) -> list[dict[str, Any]]:
        """One row a series."""
        return [
            {
                "probe": one.probe,
                "series": one.name,
                "requests": one.requests,
                "mean_us": one.mean_us,
                "min_us": one.min_us,
                "max_us": one.max_us,
            }
            for one in self.series
        ]

    def said(self) -> str:
        """The numbers of series and probes, in a sentence."""
        probes = len({one.probe for one in self.series})
        told = f"{self.target}: {len(self.series)} series of {probes} probes"
        return f"{told}; left out: {', '.join(self.skipped)}." if self.skipped else f"{told}."


def _series(path: Path) -> list[ProbeSeries]:
    """The series of a probe, whose files are complete once the JSON file is there."""
    about = path.with_suffix(".json")
    if not about.exists():
        return []
    latencies = _latencies(path)
    series, begin = [], 0
    for one in json.loads(about.read_text(encoding="utf-8")):
        figures: list[float | None] = [None, None, None]
        own = None if latencies is None else latencies[begin : begin + one["requests"]]
        begin += one["requests"]
        if own:
            figures = [ps / 1e6 for ps in (sum(own) / len(own), min(own), max(own))]
        series.append(ProbeSeries(path.stem, one["name"], one["requests"], *figures))
    return series


def _latencies(path: Path) -> list[int] | None:
    """Latencies of all requests of a probe. Unit: picoseconds."""
    try:
        parquet = needed("pyarrow.parquet", "pandas")
    except ModuleNotFoundError:
        return None
    column: list[int] = parquet.read_table(path, columns=["latency_ps"])["latency_ps"].to_pylist()
    return column


def _target(target: Device | str | PathLike[str], folder: Path) -> str:
    """A target as the command takes it."""
    if isinstance(target, Device):
        return f"simulated:{device_file(target, folder)}"
    return fspath(target)


def probe(
    target: Device | str | PathLike[str],
    folder: str | PathLike[str],
    *,
    only: Sequence[str] = (),
    destroy_data: bool = False,
    counters: bool = True,
    time: str | None = None,
    seed: int = 1,
    overwrite: bool = False,
) -> Probe:
    """Measure a drive from outside, as ``flashlane probe`` does (docs/probe.md).

    The command has to be on the path or in ``FLASHLANE_COMMAND``.

    Args:
        target: a block device or a file, or ``"simulated:980-pro"``; a ``Device`` is simulated.
        folder: for the measurements. Complete probes that are in it are kept.
        only: names of some probes; all without one.
        destroy_data: allow writes, which destroy all data of the target.
        counters: read the drive's own counters.
        time: time for all probes together, such as ``"10m"``.
        seed: of random addresses.
        overwrite: replace files of others.

    Raises:
        flashlane.errors.ConfigError: the target is refused, or there is no command.
    """
    with tempfile.TemporaryDirectory(prefix="flashlane-") as own:
        name = _target(target, Path(own))
        call = ["probe", name, "--out", fspath(folder), "--seed", str(seed), "--quiet"]
        call += ["--only", ",".join(only)] if only else []
        call += ["--destroy-data", name] if destroy_data else []
        call += [] if counters else ["--no-counters"]
        call += ["--time", time] if time is not None else []
        call += ["--overwrite"] if overwrite else []
        asked(call)
    return Probe.load(folder)


@dataclass(frozen=True)
class FitKey:
    """A key of the fitted device."""

    key: str
    #: The value, its 95 % interval and the value of the base, for people.
    value: str
    interval: str
    base: str
    #: ``measured``, ``untold`` (the data do not determine it) or ``base``.
    source: str
    #: The measurement that determines it most, or why it was not varied.
    told_by: str


@dataclass(frozen=True)
class FitPoint:
    """A measurement beside the value of the fitted device."""

    name: str
    unit: str
    measured: float
    fitted: float
    #: The residual. Unit: sigmas.
    sigmas: float
    held_back: bool


@dataclass(frozen=True)
class Fit(_Answer):
    """The device that behaves like what was measured: what :func:`fit` found."""

    #: The device file.
    path: Path
    base: str
    #: Whether the fitted device agrees with the data.
    fits: bool
    converged: bool
    #: Number of simulated devices.
    evaluations: int
    keys: tuple[FitKey, ...]
    points: tuple[FitPoint, ...]
    #: What the data do not determine, what to measure next, and what no key expresses, in words.
    untold: tuple[str, ...]
    proposals: tuple[str, ...]
    observations: tuple[str, ...]

    def device(self) -> Device:
        """The fitted device."""
        return Device(self.path)

    def rows(self) -> list[dict[str, Any]]:
        """One row a key that was varied."""
        return [
            {
                "key": one.key,
                "value": one.value,
                "interval_95": one.interval,
                "base": one.base,
                "told_by": one.told_by,
            }
            for one in self.keys
            if one.source != "base"
        ]

    def said(self) -> str:
        """Whether it fits, in a sentence."""
        worst = max((abs(one.sigmas) for one in self.points if not one.held_back), default=0.0)
        says = "It fits" if self.fits else "It does not fit"
        return f"{says}: the worst figure is {worst:.1f} sigmas off; {self.evaluations} simulated devices."


def fit(
    data: Probe | str | PathLike[str],
    *,
    base: Device | str | PathLike[str] | None = None,
    out: str | PathLike[str] = "fitted.toml",
    vary: Sequence[str] = (),
    validate: Probe | str | PathLike[str] | None = None,
    starts: int = 8,
    evaluations: int = 400,
    effort: float = 1.0,
    threads: int = 0,
    overwrite: bool = False,
) -> Fit:
    """Find the device that behaves like measured figures, as ``flashlane fit`` does (docs/probe.md).

    The command has to be on the path or in ``FLASHLANE_COMMAND``.

    Args:
        data: what :func:`probe` measured, its folder, or a CSV table of figures.
        base: the device whose keys are varied. Without one, that of a table of figures is the nearest preset
            of a real drive.
        out: the device file to write; ``fit.json`` and ``fit.html`` are written beside it.
        vary: keys to vary in place of the usual ones, with a table of figures.
        validate: measurements of work that the fit does not see (``flashlane probe --trace``).
        starts: number of starting points of the search.
        evaluations: largest number of devices that are simulated.
        effort: factor on the number of requests for each figure.
        threads: simulations at a time; 0 for one on each core.
        overwrite: replace files of others.

    Raises:
        flashlane.errors.ConfigError: the data are refused, or there is no command.
    """
    with tempfile.TemporaryDirectory(prefix="flashlane-") as own:
        call = ["fit", fspath(data.folder if isinstance(data, Probe) else data), "--out", fspath(out)]
        call += ["--base", device_file(base, Path(own))] if base is not None else []
        call += ["--vary", ",".join(vary)] if vary else []
        if validate is not None:
            call += ["--validate", fspath(validate.folder if isinstance(validate, Probe) else validate)]
        call += ["--starts", str(starts), "--evaluations", str(evaluations), "--effort", str(effort)]
        call += ["--threads", str(threads), "--quiet", *(["--overwrite"] if overwrite else [])]
        asked(call)
    path = Path(out)
    found = json.loads((path.parent / "fit.json").read_text(encoding="utf-8"))
    return _fit(path, checked(found, "flashlane.fit/1"))


def _fit(path: Path, found: Mapping[str, Any]) -> Fit:
    keys = tuple(
        FitKey(one["key"], one["text"], one["interval_text"], one["base_text"], one["source"], one["told_by"])
        for one in found["keys"]
    )
    points = tuple(
        FitPoint(one["name"], one["unit"], one["measured"], one["fitted"], one["sigmas"], one["held_back"])
        for one in found["points"]
    )
    verdict = found["verdict"]
    return Fit(
        path=path,
        base=found["base"],
        fits=verdict["fits"],
        converged=verdict["converged"],
        evaluations=verdict["evaluations"],
        keys=keys,
        points=points,
        untold=tuple(one["text"] for one in found["untold"]),
        proposals=tuple(found["proposals"]),
        observations=tuple(found["observations"]),
    )
