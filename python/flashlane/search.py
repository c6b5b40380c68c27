"""Find good configurations: objectives, constraints, a Pareto front (with ``optuna``)."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import itertools
import json
import math
import os
import re
import sqlite3
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from flashlane import _flashlane, search_page
from flashlane._flashlane import Device
from flashlane.command import ended
from flashlane.errors import ConfigError
from flashlane.metrics import Metric, Rule
from flashlane.optional import needed
from flashlane.progress import Progress, shown
from flashlane.result import write_whole
from flashlane.sweeps import Point, sweep
from flashlane.workload import Flow, Workload

#: Candidates that are looked at together. It never depends on the number of cores, so that the same seed
#: gives the same study everywhere.
BATCH = 4
#: One in this many candidates of a batch runs in full. All run cheaply first.
SCREENED = 3
#: Candidates drawn at random before the sampler has learnt anything.
STARTUP = 16
#: A number with a unit: such values of a list have an order.
_QUANTITY = re.compile(r"^[0-9][0-9._]* ?[A-Za-z%/]+$")


class Search(Sequence[dict[str, Any]]):
    """What came out of a search: one entry for each configuration that was to run in full, in order.

    Each entry is a dict. ``point`` has keys and values, and ``values`` has a figure for each objective, in
    its own unit. ``violated`` says how far each constraint is missed (0 if it is kept). ``front`` is true if
    no other configuration is better in every objective. ``error`` is None, or says why it could not run.
    """

    def __init__(
        self,
        entries: list[dict[str, Any]],
        objectives: list[Metric],
        constraints: list[Rule],
        base: dict[str, Any],
        effort: dict[str, float],
        refused: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Keep what was found; ``base`` is the entry of the configuration that the search began with."""
        self._entries = entries
        self.objectives = objectives
        self.constraints = constraints
        self.base = base
        #: ``full`` and ``cheap`` evaluations that ran now, and ``per_minute``, both together.
        self.effort = effort
        #: The runs that failed, in order: ``point``, ``run`` (``full`` or ``cheap``), ``error_kind`` (as in
        #: :class:`flashlane.Sweep`, or ``figure`` where the run has no such figure) and ``error``.
        self.refused = list(refused)
        good = [self._costs(entry) for entry in entries if self._good(entry)]
        for entry in entries:
            entry["front"] = self._good(entry) and not any(
                _beats(costs, self._costs(entry)) for costs in good
            )

    @staticmethod
    def _good(entry: dict[str, Any]) -> bool:
        return entry["error"] is None and not any(entry["violated"])

    def _costs(self, entry: dict[str, Any]) -> list[float]:
        return [metric.cost(value) for metric, value in zip(self.objectives, entry["values"], strict=True)]

    def __len__(self) -> int:
        """Number of configurations that were to run in full, those that failed included."""
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        """An entry."""
        return self._entries[index]

    @property
    def front(self) -> list[dict[str, Any]]:
        """The Pareto front, best in the first objective first: each configuration once."""
        seen: dict[str, dict[str, Any]] = {}
        for entry in self._entries:
            if entry["front"]:
                seen.setdefault(json.dumps(entry["point"], sort_keys=True), entry)
        return sorted(seen.values(), key=self._costs)

    @property
    def best(self) -> dict[str, Any] | None:
        """The entry that is best in the first objective; None where none keeps the constraints."""
        return self.front[0] if self.front else None

    def rows(self) -> list[dict[str, Any]]:
        """One row a configuration: its keys, the objectives, the constraints, ``front`` and ``error``."""
        return [
            {
                **entry["point"],
                **dict(zip([m.text for m in self.objectives], entry["values"] or [], strict=False)),
                **dict(zip([r.text for r in self.constraints], entry["violated"] or [], strict=False)),
                "front": entry["front"],
                "error": entry["error"],
            }
            for entry in self._entries
        ]

    def refused_rows(self) -> list[dict[str, Any]]:
        """One row for each run that could not be made: its keys, ``run``, ``error_kind`` and ``error``."""
        return [
            {**one["point"], "run": one["run"], "error_kind": one["error_kind"], "error": one["error"]}
            for one in self.refused
        ]

    def to_pandas(self) -> Any:
        """:meth:`rows` as a pandas DataFrame."""
        return needed("pandas", "pandas").DataFrame(self.rows())

    def said(self) -> str:
        """The answer in a sentence or two."""
        kept = len(self.front)
        if self.failed and len(self.failed) == len(self):
            return f"None of {len(self)} configurations could run; the first one: {self.failed[0]['error']}"
        if not self.best:
            return f"None of {len(self) - len(self.failed)} configurations keeps all constraints."
        metric = self.objectives[0]
        point = ", ".join(f"{key} = {value}" for key, value in self.best["point"].items())
        told = f"{metric.text} of {metric.shown(self.best['values'][0])} with {point}"
        if self._good(self.base):
            before, now = self.base["values"][0], self.best["values"][0]
            told += f"; the drive as it was has {metric.shown(before)}"
            if before and now != before:
                told += f" ({100 * (now / before - 1):+.1f} %)"
        are = "One configuration is" if kept == 1 else f"{kept} configurations are"
        several = f" {are} best in some way." if len(self.objectives) > 1 else ""
        return f"{told}.{several}"

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write ``trials.csv``, ``front.csv``, ``refused.csv`` and ``search.html`` into a folder.

        The folder is made where it does not exist.

        Args:
            folder: the folder. Files of these names that flashlane did not write, or that were changed since,
                are refused.
            overwrite: replace such files.

        Raises:
            flashlane.errors.OutputError: a file cannot be written; nothing is left of it.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        rows = self.rows()
        names = list(dict.fromkeys(key for row in rows for key in row))
        chosen = [row for row in rows if row["front"]]
        keys = dict.fromkeys(key for entry in self._entries + self.refused for key in entry["point"])
        why = [*keys, "run", "error_kind", "error"]
        tables = (
            ("trials.csv", names, rows),
            ("front.csv", names, chosen),
            ("refused.csv", why, self.refused_rows()),
        )
        for name, columns, some in tables:
            text = io.StringIO()
            writer = csv.DictWriter(text, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows({key: _cell(value) for key, value in row.items()} for row in some)
            write_whole(folder / name, text.getvalue().encode(), overwrite)
        write_whole(folder / "search.html", search_page.page(self).encode(), overwrite)

    def plot(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> Any:
        """The first two objectives of every configuration, the front as a line; a matplotlib Figure.

        With one objective: its value over the evaluations, and the best so far.

        Args:
            path: where to write the picture, too, in the format that the name ends in. A file there that
                flashlane did not write, or that was changed since, is refused.
            overwrite: replace such a file.
        """
        figure = needed("matplotlib.figure", "plot").Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        good = [entry for entry in self._entries if self._good(entry)]
        first = self.objectives[0]
        if len(self.objectives) == 1:
            values = [entry["values"][0] for entry in good]
            best = list(itertools.accumulate(values, lambda a, b: min(a, b, key=first.cost)))
            axes.scatter(range(1, len(values) + 1), values, s=12, color="0.6", label="each")
            axes.step(range(1, len(values) + 1), best, where="post", label="best so far")
            axes.set(xlabel="evaluation", ylabel=first.label)
        else:
            second = self.objectives[1]
            axes.scatter(*zip(*[e["values"][:2] for e in good], strict=True), s=12, color="0.6", label="each")
            points = sorted(entry["values"][:2] for entry in self.front)
            axes.plot(*zip(*points, strict=True), marker="o", label="front")
            axes.set(xlabel=first.label, ylabel=second.label)
        axes.legend(frameon=False)
        if path is not None:
            picture = io.BytesIO()
            figure.savefig(picture, format=Path(path).suffix.lstrip(".") or None)
            write_whole(Path(path), picture.getvalue(), overwrite)
        return figure

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The entries of the configurations that could not run: refused, stuck, or without a metric."""
        return [entry for entry in self._entries if entry["error"] is not None]

    def ran(self) -> str:
        """How many configurations ran in full, and how many could not run, in words."""
        failed = len(self.failed)
        ran = f"{len(self) - failed} configurations ran in full"
        cheap = sum(one["run"] == "cheap" for one in self.refused)
        also = f", and {cheap} could not run cheaply" if cheap else ""
        told = f"{ran}, {failed} could not run" if failed else ran
        return f"{told}{also} (refused.csv)" if failed or cheap else ran

    def __repr__(self) -> str:
        """How many configurations there are, how many failed, and how many are on the front."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"Search({len(self)} configurations{failed}, {len(self.front)} on the front)"


def _beats(one: list[float], other: list[float]) -> bool:
    """Whether costs are nowhere larger than others, and not the same."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and one != other


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def search(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    space: Mapping[str, Any],
    objectives: Mapping[str, str] | Sequence[str],
    *,
    constraints: Sequence[str] = (),
    trials: int = 100,
    cheap: str | Mapping[str, Any] | None = None,
    folder: str | PathLike[str] | None = None,
    seed: int = 1,
    jobs: int | None = None,
    memory: int | None = None,
    states: str | PathLike[str] | None = None,
    client: Any = None,
    progress: Progress = None,
    **options: Any,
) -> Search:
    """Search for the configurations that are best in one or several objectives.

    Candidates come from ``optuna`` (a tree-structured Parzen estimator, for several objectives too). Each
    runs as a point of :func:`flashlane.sweep`. Equal seeds give equal studies, with any number of runs at a
    time, and a study that was killed goes on where it was.

    Args:
        device: the drive that the search begins with, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes.
        space: keys, and what each may be: a list of values, or a range ``{"from": 1, "to": 64}`` with
            ``"step"`` or ``"scale": "log"`` where wanted. Keys are those of :func:`flashlane.sweep`.
        objectives: what is to be small or large: ``{"p99:shop": "min", "fairness": "max"}``, or a list of
            names that have a direction of their own, ``["p99:shop", "waf"]``. See docs/search.md.
        constraints: what has to hold: ``["iops:log >= 1000", "waf <= 2.5"]``.
        trials: configurations that run in full, those of earlier calls on the same folder included.
        cheap: let candidates run cheaply first and only the best third of them in full: ``"short"`` (a tenth
            of the requests or of the duration of every synthetic flow), ``"waf-only"`` (without time; all
            objectives and constraints are then ``waf``), or the keys to set for a cheap run.
        folder: for the study (``study.sqlite``) and the results of all points.
        seed: of the sampler. The seed of the runs is an option, as in ``sweep``.
        jobs: runs at a time; as many as there are cores without it.
        memory: bytes that all runs together may take.
        states: where states of preconditioned drives are kept.
        client: a ``distributed.Client``: the points run on its cluster.
        progress: called with the share that is done; ``True`` for a bar.
        options: of :func:`flashlane.simulate` at every point. ``alone`` and ``energy`` come by themselves
            where an objective needs them.

    Raises:
        ValueError: a name, a direction or a space that does not exist.
        flashlane.errors.ConfigError: the folder has the study of another question.
    """
    drive = device if isinstance(device, Device) else Device(device)
    load = workload if isinstance(workload, Workload) else Workload(workload)
    named = objectives.items() if isinstance(objectives, Mapping) else [(name, "") for name in objectives]
    metrics = [Metric(name, direction) for name, direction in named]
    rules = [Rule(text) for text in constraints]
    if not metrics or not space:
        raise ValueError("search: found nothing to search, allowed: at least one objective and one key")
    if trials < 1:
        raise ValueError(f"search: trials: found {trials}, allowed: 1 and above")
    for metric in [*metrics, *(rule.metric for rule in rules)]:
        metric.check(load.flows)
        options = {**metric.options(), **options}
    axes = [_Axis(key, values) for key, values in space.items()]
    question = {
        "device": drive.to_toml(),
        "workload": load.to_toml(),
        "space": {key: _flashlane.plain(value, key) for key, value in space.items()},
        "objectives": [[metric.text, metric.direction] for metric in metrics],
        "constraints": [rule.text for rule in rules],
        "options": {key: _flashlane.plain(value, key) for key, value in options.items()},
        "cheap": _flashlane.plain(cheap, "cheap"),
        "seed": seed,
    }
    with contextlib.ExitStack() as until_the_end:
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            until_the_end.enter_context(_flashlane.HeldFolder(folder, [], False))
        study = _study(metrics, folder, question)
        kept = None if folder is None else Path(folder) / "points"

        def run(points: list[Point], baseline: Mapping[str, Any] | None) -> list[dict[str, Any]]:
            how = {"folder": kept, "jobs": jobs, "memory": memory, "states": states, "client": client}
            return list(sweep(drive, load, points, baseline=baseline, **how, **options))

        shortcut = _cheap_keys(cheap, load)
        timed = [metric.text for metric in [*metrics, *(rule.metric for rule in rules)] if not metric.untimed]
        if cheap == "waf-only" and timed:
            raise ValueError(
                f"search: cheap: found 'waf-only' with {timed[0]}, which takes time; allowed: 'short'"
            )
        with shown(progress, "search") as told:
            return _Studied(study, axes, metrics, rules, run, shortcut, seed).go(trials, told)


class _Axis:
    """A key and what it may be."""

    def __init__(self, key: str, values: Any) -> None:
        self.key = key
        self.values: list[Any] | None = None
        if isinstance(values, Mapping):
            unknown = set(values) - {"from", "to", "step", "scale"}
            if unknown or not {"from", "to"} <= set(values):
                raise ValueError(f"search: {key}: found {dict(values)}, allowed: from, to, step, scale")
            self.low, self.high = values["from"], values["to"]
            self.step, self.log = values.get("step"), values.get("scale") == "log"
            if not self.low < self.high:
                raise ValueError(f"search: {key}: found {dict(values)}, allowed: a `to` above `from`")
            self.whole = all(isinstance(v, int) for v in (self.low, self.high, self.step or 1))
            return
        self.values = [_flashlane.plain(value, key) for value in values]
        if not self.values:
            raise ValueError(f"search: {key}: found no value, allowed: at least one")
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)
        texts = all(isinstance(v, str) and _QUANTITY.match(v) for v in self.values)
        self.ordered = numbers or texts

    def suggest(self, trial: Any) -> Any:
        """What a trial has for this key."""
        if self.values is None:
            if self.whole:
                return trial.suggest_int(self.key, self.low, self.high, step=self.step or 1, log=self.log)
            return trial.suggest_float(self.key, self.low, self.high, step=self.step, log=self.log)
        last = len(self.values) - 1
        if self.ordered:
            return self.values[trial.suggest_int(self.key, 0, last)]
        return self.values[trial.suggest_categorical(self.key, list(range(last + 1)))]


def _study(metrics: list[Metric], folder: Any, question: dict[str, Any]) -> Any:
    """The study of a folder, or a new one."""
    optuna = needed("optuna", "search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = None
    if folder is not None:
        _refuse_other_database(Path(folder) / "study.sqlite")
        storage = f"sqlite:///{os.path.abspath(folder)}/study.sqlite"
    text = json.dumps(question, sort_keys=True)
    directions = ["maximize" if metric.direction == "max" else "minimize" for metric in metrics]
    try:
        study = optuna.load_study(study_name="flashlane", storage=storage)
    except (KeyError, ValueError):
        study = optuna.create_study(study_name="flashlane", storage=storage, directions=directions)
        study.set_user_attr("question", text)
    if study.user_attrs["question"] != text:
        raise ConfigError(
            f"{folder}: found the study of another question, allowed: the same, or a new folder"
        )
    return study


def _refuse_other_database(path: Path) -> None:
    """Refuse a database that no search made: this one would write into it."""
    if not path.exists():
        return
    names: set[str] = set()
    ours = True
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            tables = {name for (name,) in database.execute(query)}
            ours = not tables or "studies" in tables
            if "studies" in tables:
                names = {name for (name,) in database.execute("SELECT study_name FROM studies")}
    except sqlite3.DatabaseError:
        ours = False
    if not ours or names - {"flashlane"}:
        raise ConfigError(f"{path}: no search of flashlane wrote it; allowed: another folder")


def _cheap_keys(cheap: str | Mapping[str, Any] | None, load: Workload) -> Point | None:
    """The keys of a cheap run; None where there is none."""
    if cheap is None or isinstance(cheap, Mapping):
        return None if cheap is None else dict(cheap)
    if cheap == "waf-only":
        return {"waf_only": True}
    if cheap != "short":
        raise ValueError(f"search: cheap: found {cheap!r}, allowed: 'short', 'waf-only', keys to set")
    keys: Point = {}
    for flow in load.to_dict()["flow"]:
        synthetic = flow.get("synthetic", {})
        place = f"flow.{flow['name']}.synthetic"
        if "requests" in synthetic:
            keys[f"{place}.requests"] = max(1, synthetic["requests"] // 10)
        elif isinstance(synthetic.get("duration"), str):
            number, unit = re.match(r"([0-9.]+) ?(.*)", synthetic["duration"]).groups()  # type: ignore[union-attr]
            keys[f"{place}.duration"] = f"{float(number) / 10:g}{unit}"
    if not keys:
        raise ValueError("search: cheap: found no synthetic flow to shorten, allowed: keys to set")
    return keys


class _Studied:
    """A study under way."""

    def __init__(
        self,
        study: Any,
        axes: list[_Axis],
        metrics: list[Metric],
        rules: list[Rule],
        run: Callable[[list[Point], Mapping[str, Any] | None], list[dict[str, Any]]],
        cheap: Point | None,
        seed: int,
    ) -> None:
        self.study, self.axes, self.metrics, self.rules = study, axes, metrics, rules
        self._run, self.cheap, self.seed = run, cheap, seed
        #: The drive as it is, with its tenants alone: slowdowns of all candidates are against them.
        self.baseline: Mapping[str, Any] | None = None
        self.optuna = needed("optuna", "search")
        self.cheap_runs = self.full_runs = 0
        #: Trials of a process that was killed: their number decides what is drawn, so they go on.
        self.running = [t for t in self._trials() if t.state == self.optuna.trial.TrialState.RUNNING]

    def run(self, points: list[Point]) -> list[dict[str, Any]]:
        """Results of some points."""
        return self._run(points, self.baseline)

    def go(self, trials: int, told: Callable[[float], object] | None) -> Search:
        """Run until ``trials`` configurations have run in full."""
        begun = time.monotonic()
        (as_it_is,) = self.run([{}])
        base = self._entry({}, as_it_is)
        summary = as_it_is.get("summary")
        if summary and all(flow["alone_end_to_end_us"] is not None for flow in summary["flows"]):
            self.baseline = summary
        while (done := len(self._full())) < trials:
            room = min(BATCH, trials - done)
            if any("chosen" in trial.user_attrs for trial in self.running):
                chosen = self._resumed()
            else:
                batch = [self._ask() for _ in range(room * (SCREENED if self.cheap else 1))]
                chosen = self._screened(batch, room) if self.cheap else batch
            found = self.run([point for _, point in chosen])
            for (trial, point), result in zip(chosen, found, strict=True):
                self._tell(trial, self._entry(point, result))
            self.full_runs += len(chosen)
            if told is not None:
                told(min(1.0, len(self._full()) / trials))
        minutes = max(time.monotonic() - begun, 1e-9) / 60
        runs = self.full_runs + self.cheap_runs
        effort = {"full": self.full_runs, "cheap": self.cheap_runs, "per_minute": runs / minutes}
        full = self._full()[:trials]
        entries = [dict(trial.user_attrs["entry"]) for trial in full]
        refused = self._refused({trial.number for trial in full})
        return Search(entries, self.metrics, self.rules, base, effort, refused)

    def _refused(self, full: set[int]) -> list[dict[str, Any]]:
        """The runs that failed: full runs of these trials, and cheap ones."""
        refused = []
        for trial in self._trials():
            runs = {"cheap": trial.user_attrs.get("refused")}
            if trial.number in full:
                runs["full"] = trial.user_attrs["entry"]
            for run, entry in runs.items():
                if entry is not None and entry["error"] is not None:
                    kind = entry.get("error_kind")
                    why = {"run": run, "error_kind": kind, "error": entry["error"]}
                    refused.append({"point": entry["point"], **why})
        return refused

    def _resumed(self) -> list[tuple[Any, Point]]:
        """The rest of a batch whose best candidates were known when the process was killed."""
        batch = [self._ask() for _ in range(len(self.running))]
        for trial, _ in batch:
            if "chosen" not in trial.user_attrs:
                self.study.tell(trial, state=self.optuna.trial.TrialState.PRUNED)
        return [(trial, point) for trial, point in batch if "chosen" in trial.user_attrs]

    def _trials(self) -> list[Any]:
        return list(self.study.get_trials(deepcopy=False))

    def _full(self) -> list[Any]:
        """Trials that ran in full, in order."""
        return [trial for trial in self._trials() if "entry" in trial.user_attrs]

    def _ask(self) -> tuple[Any, Point]:
        """A candidate that did not run yet, if there is one."""
        for tries in range(50):
            old = self.running.pop(0) if self.running else None
            number = old.number if old else len(self._trials())
            seen = {trial.user_attrs.get("key") for trial in self._trials() if trial.number < number}
            self.study.sampler = self._sampler(number, at_random=tries >= 10)
            trial = self.optuna.trial.Trial(self.study, old._trial_id) if old else self.study.ask()
            point = {axis.key: axis.suggest(trial) for axis in self.axes}
            key = json.dumps(point, sort_keys=True)
            if key not in seen or tries == 49:
                break
            self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        trial.set_user_attr("key", key)
        return trial, point

    def _sampler(self, number: int, at_random: bool) -> Any:
        """The sampler of a trial: what it draws depends on the trials before it and on nothing else."""
        seed = (self.seed * 1_000_003 + number) % (1 << 32)
        if at_random:
            return self.optuna.samplers.RandomSampler(seed=seed)
        with warnings.catch_warnings():
            # Drawing several keys together is marked as experimental.
            warnings.simplefilter("ignore", self.optuna.exceptions.ExperimentalWarning)
            return self.optuna.samplers.TPESampler(
                seed=seed,
                n_startup_trials=STARTUP,
                multivariate=True,
                constant_liar=True,
            )

    def _screened(self, batch: list[tuple[Any, Point]], room: int) -> list[tuple[Any, Point]]:
        """The candidates of a batch that are best when they run cheaply."""
        results = self.run([{**point, **(self.cheap or {})} for _, point in batch])
        self.cheap_runs += len(batch)
        entries = [self._entry(point, result) for (_, point), result in zip(batch, results, strict=True)]
        costs = [self._rank(entry, entries) for entry in entries]
        order = sorted(range(len(batch)), key=lambda index: (costs[index], index))
        for index in order:
            if entries[index]["error"] is not None:
                batch[index][0].set_user_attr("refused", entries[index])
        for index in order[:room]:
            batch[index][0].set_user_attr("chosen", True)
        for index in order[room:]:
            trial, _ = batch[index]
            if len(self.metrics) == 1 and entries[index]["error"] is None:
                trial.report(entries[index]["values"][0], step=0)
            self._note_rules(trial, entries[index])
            self.study.tell(trial, state=self.optuna.trial.TrialState.PRUNED)
        return [batch[index] for index in sorted(order[:room])]

    def _rank(self, entry: dict[str, Any], others: list[dict[str, Any]]) -> tuple[float, float, float]:
        """Small is good: constraints first, then by how many it is beaten, then the first objective."""
        if entry["error"] is not None:
            return (math.inf, 0.0, 0.0)

        def costs(one: dict[str, Any]) -> list[float]:
            return [metric.cost(value) for metric, value in zip(self.metrics, one["values"], strict=True)]

        ran = [other for other in others if other["error"] is None]
        beaten = sum(_beats(costs(other), costs(entry)) for other in ran)
        return (sum(entry["violated"]), beaten, costs(entry)[0])

    def _entry(self, point: Point, result: dict[str, Any]) -> dict[str, Any]:
        """What a configuration is worth."""
        entry: dict[str, Any] = {"point": point, "values": None, "violated": None, "error": None}
        if "error" in result:
            return {**entry, "error": result["error"], "error_kind": result["error_kind"]}
        try:
            entry["values"] = [metric.of(result["summary"]) for metric in self.metrics]
            entry["violated"] = [rule.missed_by(result["summary"]) for rule in self.rules]
        except LookupError as error:
            return {**entry, "values": None, "error": str(error.args[0]), "error_kind": "figure"}
        return entry

    def _note_rules(self, trial: Any, entry: dict[str, Any]) -> None:
        for rule, missed in zip(self.rules, entry["violated"] or [], strict=False):
            trial.set_constraint(rule.text, missed)

    def _tell(self, trial: Any, entry: dict[str, Any]) -> None:
        self._note_rules(trial, entry)
        trial.set_user_attr("entry", entry)
        state = self.optuna.trial.TrialState
        if entry["error"] is None:
            self.study.tell(trial, entry["values"])
        else:
            self.study.tell(trial, state=state.FAIL)


def search_file(path: str | PathLike[str], **changes: Any) -> Search:
    """Search as a file says, as ``flashlane search`` does (docs/search.md).

    Args:
        path: a TOML file with the arguments of :func:`search`; paths in it start at its folder.
        changes: arguments in place of those of the file.

    Raises:
        flashlane.errors.ConfigError: the file is refused.
    """
    path = Path(path)
    try:
        wish = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from error
    allowed = {
        "device",
        "workload",
        "space",
        "objectives",
        "constraints",
        "trials",
        "cheap",
        "seed",
        "run",
        "set",
    }
    for key in wish.keys() - allowed:
        raise ConfigError(f"{path}: {key}: found an unknown key, allowed: {', '.join(sorted(allowed))}")
    for key in ("device", "workload", "space", "objectives"):
        if key not in wish:
            raise ConfigError(
                f"{path}: {key}: found nothing, allowed: {'a table' if key == 'space' else 'a value'}"
            )
    beside = path.parent / str(wish["device"])
    device = Device(beside if beside.is_file() else wish["device"])
    workload = Workload(path.parent / wish["workload"])
    changed = wish.pop("set", {})
    sets = dict(_flattened(changed))
    own = {key: value for key, value in sets.items() if key.startswith("flow.")}
    device = device.replace(set={key: value for key, value in sets.items() if key not in own})
    workload = workload.replace(set=own)
    space = dict(_flattened(wish["space"]))
    rest = {key: wish[key] for key in ("constraints", "trials", "cheap", "seed") if key in wish}
    try:
        return search(
            device, workload, space, wish["objectives"], **{**rest, **wish.get("run", {}), **changes}
        )
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def _flattened(keys: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys of tables in tables, down to lists, values and ranges."""
    for key, value in keys.items():
        if isinstance(value, dict) and "from" not in value:
            yield from _flattened(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m flashlane.search", description=search_file.__doc__)
    parser.add_argument("study", metavar="STUDY.toml")
    parser.add_argument("--out", required=True, help="folder for tables, page, study and results")
    parser.add_argument("--trials", type=int, help="configurations that run in full")
    parser.add_argument("--jobs", type=int, default=0, help="runs at a time; 0 for one on each core")
    parser.add_argument("--memory", type=int, help="bytes that all runs together may take")
    parser.add_argument("--states", help="folder for states of drives")
    parser.add_argument("--overwrite", action="store_true", help="replace files of others")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Search as a file says and write what was found; the exit status."""
    wish = _parsed(arguments)
    return ended(lambda: _search(wish))


def _search(wish: argparse.Namespace) -> None:
    """Search, write what was found, and say it."""
    changes = {} if wish.trials is None else {"trials": wish.trials}
    _flashlane.refuse_others(
        wish.out, ["trials.csv", "front.csv", "refused.csv", "search.html"], wish.overwrite
    )
    found = search_file(
        wish.study,
        folder=wish.out,
        jobs=wish.jobs or None,
        memory=wish.memory,
        states=wish.states,
        progress=None if wish.quiet else True,
        **changes,
    )
    found.save(wish.out, overwrite=wish.overwrite)
    if not wish.quiet:
        print(found.said())
        if found.refused:
            print(found.ran(), file=sys.stderr)
        ran = f"{found.effort['full']} full and {found.effort['cheap']} cheap evaluations"
        page = Path(wish.out) / "search.html"
        print(f"{ran}, {found.effort['per_minute']:.0f} a minute; {page}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
