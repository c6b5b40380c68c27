"""What helps the tenants of a drive: the answer of the command ``flashlane advise``."""

from __future__ import annotations

import csv
import html
import io
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from flashlane._flashlane import Device
from flashlane.errors import ConfigError
from flashlane.optional import needed
from flashlane.program import asked, files
from flashlane.workload import Flow, Workload

#: The judgement on a candidate.
Judgement = Literal[
    "winner", "runner-up", "helps", "no-effect", "worse", "breaks", "failed", "refused", "left-out"
]
#: The answer in a word.
Answer = Literal["helps", "met-already", "nothing-helps", "missed"]


@dataclass(frozen=True)
class Tried:
    """Settings that were tried, and what they did.

    Attributes:
        label: what is done, in plain words.
        sets: the settings, as ``set`` of a device or ``--set`` takes them.
        verdict: the judgement.
        reason: why it may not be chosen, or was not run.
        value: the figure of the goal, the median over ``seeds``.
        interval: its 95 % interval; ``None`` for fewer than six seeds.
        before: the figure on the unchanged drive, under the same seeds.
        loss: the largest part of its rate that a tenant loses.
        on_front: true if nothing else gains as much and costs less.
        amplification: write amplification on the unchanged drive and with the settings; ``None`` where the
            host wrote nothing.
        seeds: the seeds of these figures.
        effects: for each tenant ``tenant``, ``iops``, ``rate_change``, ``p99_us``, ``p99_change``
            and ``slowdown``.
    """

    label: str
    sets: list[str]
    verdict: Judgement
    reason: str | None
    value: float | None
    interval: tuple[float, float] | None
    before: float | None
    loss: float | None
    on_front: bool
    amplification: tuple[float, float] | None
    seeds: list[int]
    effects: list[dict[str, Any]]

    @classmethod
    def _of(cls, entry: dict[str, Any]) -> Tried:
        value, before = entry["value"] or {}, entry["before"] or {}
        interval = value.get("interval")
        return cls(
            label=entry["label"],
            sets=entry["sets"],
            verdict=entry["verdict"],
            reason=entry["reason"],
            value=value.get("median"),
            interval=(interval[0], interval[1]) if interval else None,
            before=before.get("median"),
            loss=entry["loss"],
            on_front=entry["on_front"],
            amplification=tuple(entry["amplification"]) if entry["amplification"] else None,
            seeds=entry["seeds"],
            effects=entry["effects"],
        )


class Advice(Sequence[Tried]):
    """What helps: one entry for each candidate, the best first. A notebook shows it as a table.

    Attributes:
        answer: ``helps``, ``met-already``, ``nothing-helps``, or ``missed`` where a goal of ``slo``
            cannot be met.
        said: the answer in sentences.
        goal: the goal, as it was asked for.
        victim: the tenant that the goal protects.
        unchanged: the drive as it is.
        simulations: how many simulations it took.
        data: the whole content of ``advice.json``.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        """Read the content of ``advice.json``."""
        if data.get("schema") != "flashlane.advice/1":
            raise ConfigError(f"advice: found the schema {data.get('schema')!r}, allowed: flashlane.advice/1")
        self.data = data
        self.answer: Answer = data["answer"]
        self.said: list[str] = data["said"]
        self.goal: str = data["goal"]
        self.victim: str = data["victim"]
        self.unchanged = Tried._of(data["unchanged"])
        self.simulations: int = data["simulations"]
        self._entries = [Tried._of(entry) for entry in data["candidates"]]

    @property
    def winner(self) -> Tried | None:
        """The answer; ``None`` if nothing is better than the drive as it is."""
        return next((entry for entry in self if entry.verdict == "winner"), None)

    @property
    def runner_up(self) -> Tried | None:
        """The best candidate that shares no kind of setting with the answer."""
        return next((entry for entry in self if entry.verdict == "runner-up"), None)

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        """Return a candidate by its number."""
        return self._entries[index]

    def __repr__(self) -> str:
        """Give the answer in sentences."""
        return "\n".join(self.said)

    def _rows(self) -> list[list[str]]:
        def figure(value: float | None) -> str:
            return "" if value is None else f"{value:.4g}"

        def row(one: Tried, verdict: str) -> list[str]:
            low, high = one.interval or (None, None)
            loss = "" if one.loss is None else f"{100 * one.loss:.0f} %"
            return [one.label, verdict, figure(one.value), figure(low), figure(high), loss, one.reason or ""]

        rows = [row(self.unchanged, "as it is")]
        return rows + [row(one, one.verdict) for one in self]

    def _repr_html_(self) -> str:
        """Show the answer and the table in a notebook."""
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self.said)
        head = ["what", "verdict", self.goal, "from", "to", "largest loss", "reason"]
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return f"{said}<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>"

    def to_csv(self) -> str:
        """Return the table as CSV."""
        text = io.StringIO()
        head = ["what", "verdict", "value", "low", "high", "loss", "reason"]
        csv.writer(text, lineterminator="\n").writerows([head, *self._rows()])
        return text.getvalue()

    def to_pandas(self) -> Any:
        """Return one row for each candidate, as a ``pandas.DataFrame``."""
        pandas = needed("pandas", "pandas")
        keys = ["label", "verdict", "value", "interval", "before", "loss", "on_front", "sets", "reason"]
        return pandas.DataFrame([{key: getattr(one, key) for key in keys} for one in self])


def advise(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    *,
    goal: str | None = None,
    keep: Sequence[str] = (),
    candidates: dict[str, list[str]] | None = None,
    seeds: int = 5,
    seed: int = 1,
    budget: str | None = None,
    jobs: int = 0,
    folder: str | PathLike[str] | None = None,
) -> Advice:
    """Find what helps the tenants of a drive, by trying what the drive can do.

    Runs the command ``flashlane advise`` (docs/advise.md), which has to be on the path or in
    ``FLASHLANE_COMMAND``.

    Args:
        device: the drive, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes; goals may be in it (``slo``).
        goal: ``fairness``, ``slo``, ``speedup``, or a time of a tenant such as ``p99:shop``.
        keep: what tenants keep, each such as ``backup:iops=90%``.
        candidates: what is tried, by its name: a list of settings such as ``flash.suspend.program = true``.
        seeds: most seeds of a candidate for the choice; the answer has as many fresh ones.
        seed: the first seed.
        budget: no round starts after this time, such as ``2min``.
        jobs: runs at a time; 0 for one on each core.
        folder: where results are kept, so that a second call goes on; none are kept without it.

    Raises:
        flashlane.errors.ConfigError: the question is refused, or there is no command.
        flashlane.errors.StuckError: if the drive as it is cannot finish its work.
    """
    with tempfile.TemporaryDirectory(prefix="flashlane-") as temporary, files(device, workload) as given:
        drive, tenants = given
        out = Path(folder) if folder is not None else Path(temporary) / "out"
        call: list[str | PathLike[str]] = ["advise", "--device", drive, "--workload", tenants, "--out", out]
        call += ["--quiet", "--format", "json", "--seeds", str(seeds), "--seed", str(seed)]
        call += ["--jobs", str(jobs)]
        call += ["--goal", goal] if goal is not None else []
        call += ["--budget", budget] if budget is not None else []
        call += [part for one in keep for part in ("--keep", one)]
        if candidates is not None:
            written = Path(temporary) / "candidates.toml"
            entries = (
                f"[[candidate]]\nlabel = {json.dumps(label)}\nset = {json.dumps(sets)}\n"
                for label, sets in candidates.items()
            )
            written.write_text("\n".join(entries), encoding="utf-8")
            call += ["--candidates", written]
        # A goal that cannot be met is an answer, too.
        return Advice(json.loads(asked(call, answers=(0, 4))))
