"""What came out of a run."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashlane import _flashlane, plots
from flashlane._flashlane import Device, Table
from flashlane.figures import FlowFigures

if TYPE_CHECKING:
    from flashlane._flashlane import Outcome
    from flashlane.figures import Blame, FlowSummary, SteadySummary, Summary
    from flashlane.plots import Backend
    from flashlane.workload import Workload


class FlowResult(FlowFigures, Mapping[str, Any]):
    """One flow of a result: a mapping with the keys of ``flows[]`` in summary.json, also as attributes.

    Every key, with its unit, is in docs/results.md and in ``flashlane.figures.FlowSummary``.

    Examples:
        >>> result["reader"].iops == result["reader"]["iops"]  # doctest: +SKIP
        True
    """

    def __init__(self, summary: FlowSummary) -> None:
        """Wrap an element of ``flows``."""
        self._summary: dict[str, Any] = dict(summary)

    def __getitem__(self, key: str) -> Any:
        """Value of a key of summary.json."""
        return self._summary[key]

    def __iter__(self) -> Iterator[str]:
        """Keys."""
        return iter(self._summary)

    def __len__(self) -> int:
        """Number of keys."""
        return len(self._summary)

    if not TYPE_CHECKING:
        # Type checkers know the figures from FlowFigures.
        def __getattr__(self, name: str) -> Any:
            """Value of a key of summary.json."""
            if name.startswith("_"):
                # Unpickling and copying ask for such names before there is a summary.
                raise AttributeError(name)
            if name not in self._summary:
                raise AttributeError(f"a flow has no {name!r}; it has {', '.join(self._summary)}")
            return self._summary[name]

    @property
    def mean_us(self) -> float:
        """Mean response time. Unit: microseconds."""
        return float(self["response_time_us"]["mean"])

    @property
    def p99_us(self) -> float:
        """99th percentile of the response time. Unit: microseconds."""
        return float(self["response_time_us"]["p99"])

    def __repr__(self) -> str:
        """The figures that people ask for first; a star marks those that depend on the length of the run."""
        star = "*" if self["saturated"] or self["starved"] else ""
        slow = "" if self["slowdown"] is None else f", slowdown {self['slowdown']:.2f}{star}"
        state = "starved, " if self["starved"] else "saturated, " if star else ""
        return (
            f"FlowResult({self['name']!r}: {state}{self['iops']:.0f} IOPS, "
            f"mean {self.mean_us:.1f}{star} us, p99 {self.p99_us:.1f}{star} us{slow})"
        )


@dataclass(frozen=True)
class Estimate:
    """A figure over several seeds."""

    mean: float
    """Mean of the values."""
    low: float | None
    """Lower end of the 95 % confidence interval (Student t); None for a single value."""
    high: float | None
    """Upper end of the 95 % confidence interval."""
    values: tuple[float | None, ...]
    """The value under each seed; None where there is none."""

    def __repr__(self) -> str:
        """Mean and half of the interval."""
        half = "" if self.high is None else f" ± {self.high - self.mean:.4g}"
        return f"{self.mean:.6g}{half}"


class Seeds(Mapping[str, Estimate]):
    """Every figure of a scenario over several seeds, by its path in summary.json.

    Attributes:
        seeds: the seeds, in the order of the values.

    Examples:
        >>> result = simulate("tiny", load, seeds=8)  # doctest: +SKIP
        >>> result.seeds["flows[0].response_time_us.p99"].mean  # doctest: +SKIP
        123.4
    """

    def __init__(self, read: dict[str, Any]) -> None:
        """Wrap seeds.json."""
        self.seeds: list[int] = read["seeds"]
        self._figures = {
            path: Estimate(one["mean"], one["ci95_low"], one["ci95_high"], tuple(one["values"]))
            for path, one in read.items()
            if isinstance(one, dict)
        }

    def __getitem__(self, path: str) -> Estimate:
        """The figure with this path."""
        return self._figures[path]

    def __iter__(self) -> Iterator[str]:
        """Paths."""
        return iter(self._figures)

    def __len__(self) -> int:
        """Number of figures."""
        return len(self._figures)

    def __repr__(self) -> str:
        """How many."""
        return f"Seeds({len(self.seeds)} seeds, {len(self)} figures)"


class Result:
    """What came out of a run: the summary, tables, a page. Pickles whole.

    Attributes:
        device: the drive.
        workload: the tenants.
        label: name of the run.
    """

    def __init__(self, outcome: Outcome, *, device: Device, workload: Workload, label: str) -> None:
        """Keep what the native part gives."""
        self._outcome = outcome
        self.device = device
        self.workload = workload
        self.label = label

    @cached_property
    def summary(self) -> Summary:
        """summary.json as nested dictionaries; means over the seeds where there are several."""
        value: Summary = json.loads(self._outcome["summary"])
        return value

    @cached_property
    def seeds(self) -> Seeds | None:
        """Every figure over the seeds of ``simulate(..., seeds=8)``; None for a single seed."""
        text = self._outcome["seeds"]
        return None if text is None else Seeds(json.loads(text))

    @property
    def steady_state(self) -> SteadySummary | None:
        """The rounds of a run with ``until_steady``, and whether the last five were steady; or None."""
        return self.summary["steady_state"]

    @cached_property
    def blame(self) -> Blame | None:
        """blame.json as nested dictionaries: which tenant kept which waiting. None without ``blame=True``."""
        text = self._outcome["blame"]
        if text is None:
            return None
        value: Blame = json.loads(text)
        return value

    @property
    def timeline(self) -> Table | None:
        """One row a slice of a channel, die, cache or request. None without ``timeline``.

        Columns: ``part`` and ``track`` (what it lies on), ``name``, ``flow``, ``request`` (its number, from
        1, or null), ``start_ps``, ``end_ps``.
        """
        return self._outcome["timeline"]

    @property
    def histograms(self) -> Table:
        """Distributions of response times, one row a step.

        Columns: ``flow``, ``op`` (``all``, ``read``, ``write``), ``response_us`` (rising) and
        ``share_at_or_below`` (0 to 1).
        """
        return self._outcome["histograms"]

    @property
    def requests(self) -> Table | None:
        """One row a request, in the order of completion. None without ``requests=True``.

        Columns: ``flow``, ``op``, ``offset_bytes``, ``bytes``, the times ``arrival_ps``, ``submit_ps`` and
        ``complete_ps`` from the start of the run, and nine stages that sum to ``complete_ps - submit_ps``.
        """
        return self._outcome["requests"]

    @property
    def submissions(self) -> Table | None:
        """What the flows submitted, for :meth:`Drive.replay`. None without ``submissions=True``."""
        return self._outcome["submissions"]

    @property
    def timeseries(self) -> Table | None:
        """One row a window and flow, one with an empty ``flow`` for the drive. None without ``timeseries``.

        Columns: ``start_s``, ``end_s``, ``flow``, then figures of the flow (``read_iops``,
        ``response_p99_us``, …) and figures of the drive (``free_blocks``, ``chips_busy``, …).
        """
        return self._outcome["timeseries"]

    @property
    def flows(self) -> list[FlowResult]:
        """The flows, in the order of the workload."""
        return [FlowResult(flow) for flow in self.summary["flows"]]

    def __getitem__(self, flow: str | int) -> FlowResult:
        """A flow by its name or number."""
        if isinstance(flow, int):
            return self.flows[flow]
        for one in self.flows:
            if one["name"] == flow:
                return one
        names = ", ".join(repr(one["name"]) for one in self.flows)
        raise KeyError(f"no flow {flow!r}; there are {names}")

    def operations(self) -> list[dict[str, Any]]:
        """Response times by operation: one row a flow and operation that it has requests of.

        Keys: ``flow``, ``op`` (``read``, ``write``, ``trim``, ``flush``), then those of a latency in
        summary.json (``count``, ``mean``, ``p99``, …). Unit: microseconds. Good for a pandas DataFrame.
        """
        return [
            {"flow": flow["name"], "op": op, **latency}
            for flow in self.flows
            for op in ("read", "write", "trim", "flush")
            if (latency := flow[f"{op}_response_time_us"])["count"]
        ]

    @property
    def saturated(self) -> bool:
        """The drive does not keep up with at least one flow: ``result["name"].saturated``."""
        return bool(self.summary["saturated"])

    @property
    def starved(self) -> bool:
        """The drive serves other flows and nothing of at least one: ``result["name"].starved``."""
        return bool(self.summary["starved"])

    @property
    def verdict(self) -> list[str]:
        """What to know before any number, in sentences: ``verdict`` in summary.json. Often empty."""
        value: list[str] = self.summary["verdict"]
        return value

    @property
    def fairness(self) -> float | None:
        """Smallest slowdown over largest; None without ``alone``."""
        value: float | None = self.summary["fairness"]["fairness"]
        return value

    @property
    def write_amplification(self) -> float:
        """All page programs over those for the host."""
        return float(self.summary["flash"]["write_amplification"])

    def waiting(self) -> dict[str, dict[str, float]]:
        """Which tenant kept which waiting: seconds by victim and culprit. Needs ``blame=True``.

        Raises:
            ValueError: the run kept no blame.
        """
        if self.blame is None:
            raise ValueError("this run kept no blame: simulate(..., blame=True)")
        matrix: dict[str, dict[str, float]] = {}
        for victim in self.blame["victims"]:
            row = matrix.setdefault(victim["flow"], dict.fromkeys(self.blame["flows"], 0.0))
            for cell in victim["cells"]:
                row[cell["culprit"]] = row.get(cell["culprit"], 0.0) + cell["waiting_s"]
        return matrix

    def _rows(self) -> list[list[str]]:
        rows = []
        for flow in self.flows:
            times = flow["response_time_us"]
            slow = flow["slowdown"]
            figures = (times["mean"], times["p50"], times["p99"], times["p99_9"])
            star = "*" if flow["saturated"] or flow["starved"] else ""
            rows.append(
                [
                    _flashlane.visible_line(flow["name"]),
                    f"{flow['iops']:.0f}",
                    f"{flow['bandwidth_bytes_per_s'] / 1e6:.1f}",
                    *(f"{value:.1f}{star}" for value in figures),
                    "-" if slow is None else f"{slow:.2f}{star}",
                ]
            )
        return rows

    _HEADS = ("flow", "IOPS", "MB/s", "mean us", "p50", "p99", "p99.9", "slowdown")

    _STAR = "* depends on the length of the run: the backlog of the flow grows, or the flow starves"

    def _verdict(self) -> list[str]:
        return [_flashlane.visible_line(sentence) for sentence in self.verdict]

    def _fairness(self) -> str | None:
        star = "*" if self.saturated or self.starved else ""
        return None if self.fairness is None else f"fairness {self.fairness:.3f}{star}"

    def _title(self) -> str:
        s = self.summary
        seed = f"seed {s['seed']}"
        if self.seeds is not None:
            seed = f"means over {len(self.seeds.seeds)} seeds from {s['seed']}"
        return (
            f"{_flashlane.visible_line(s['device'])}, scheduler {s['scheduler']}, "
            f"isolation {s['isolation']}, {seed}: {s['simulated_s']:.3f} s simulated"
        )

    def __repr__(self) -> str:
        """The verdict, then the summary as a table."""
        rows = [list(self._HEADS), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self._HEADS))]
        lines = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        below = [
            line
            for line in (self._fairness(), self._STAR if self.saturated or self.starved else None)
            if line
        ]
        verdict = "".join(f"{sentence}\n\n" for sentence in self._verdict())
        return verdict + "\n".join([self._title(), *lines, *below])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in self._HEADS)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        below = [
            line
            for line in (self._fairness(), self._STAR if self.saturated or self.starved else None)
            if line
        ]
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self._verdict())
        # A border shows on light and on dark paper.
        border = "border: 2px solid #c77700; border-left-width: 8px; padding: 0 .8em"
        verdict = f'<div class="flashlane-verdict" style="{border}">{said}</div>' if said else ""
        title = html.escape(self._title())
        notes = "".join(f"<p>{line}</p>" for line in below)
        return f"{verdict}<p>{title}</p><table><tr>{head}</tr>{body}</table>{notes}"

    def report(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Make the report: one HTML page that needs nothing else. Writes it if ``path`` is given.

        Args:
            path: the file. One that flashlane did not write, or that was changed since, is refused.
            overwrite: replace such a file.
        """
        return compare(self, path=path, overwrite=overwrite)

    def plot_latency(self, op: str = "all", ax: Any = None, *, backend: Backend = "matplotlib") -> Any:
        """Draw which share of the requests is slower than a response time, a line a flow.

        Needs pyarrow, and matplotlib or Altair.

        Args:
            op: ``all``, ``read`` or ``write``.
            ax: matplotlib axes to draw on; new ones without it.
            backend: ``"matplotlib"`` or ``"altair"``.

        Returns:
            The axes, or the Altair chart.

        Raises:
            ValueError: another operation or backend.
        """
        rows = plots.latency_rows(self, op)
        return plots.lines(rows, ax, backend, x="response time (us)", y="share that is slower", tail=True)

    def plot_breakdown(self, ax: Any = None, *, backend: Backend = "matplotlib") -> Any:
        """Draw where the time goes: mean of each stage, a bar a flow. Needs matplotlib or Altair.

        Args:
            ax: matplotlib axes to draw on; new ones without it.
            backend: ``"matplotlib"`` or ``"altair"``.

        Returns:
            The axes, or the Altair chart.
        """
        return plots.stacked(plots.breakdown_rows(self), ax, backend, x="mean response time (us)")

    def plot_timeseries(
        self, figure: str = "mean_us", ax: Any = None, *, backend: Backend = "matplotlib"
    ) -> Any:
        """Draw a figure over the run, a line a flow.

        Needs ``timeseries=True``, pyarrow, and matplotlib or Altair.

        Args:
            figure: ``mean_us``, ``p99_us`` (response times), ``iops``, or a numeric column of ``timeseries``.
            ax: matplotlib axes to draw on; new ones without it.
            backend: ``"matplotlib"`` or ``"altair"``.

        Returns:
            The axes, or the Altair chart.

        Raises:
            ValueError: the run kept no series, or it has no such column.
        """
        rows = plots.timeseries_rows(self, figure)
        return plots.lines(rows, ax, backend, x="time (s)", y=plots.label(figure))

    def plot_blame(self, ax: Any = None, *, backend: Backend = "matplotlib") -> Any:
        """Draw which tenant delays which: mean waiting time of a request by culprit, a bar a flow.

        Needs ``blame=True``, and matplotlib or Altair.

        Args:
            ax: matplotlib axes to draw on; new ones without it.
            backend: ``"matplotlib"`` or ``"altair"``.

        Returns:
            The axes, or the Altair chart.

        Raises:
            ValueError: the run kept no blame.
        """
        rows = plots.blame_rows(self)
        return plots.stacked(rows, ax, backend, x="waiting time of a request (us)", title="caused by")

    def save_timeline(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the timeline for https://ui.perfetto.dev (``.pftrace``), whole or not at all.

        Args:
            path: the file. One that flashlane did not write, or that was changed since, is refused.
            overwrite: replace such a file.

        Raises:
            ValueError: the run kept no timeline.
            flashlane.errors.OutputError: the file cannot be written.
        """
        trace = self._outcome["pftrace"]
        if trace is None:
            raise ValueError("this run kept no timeline: simulate(..., timeline=True)")
        write_whole(Path(path), trace, overwrite)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is derived."""
        return {
            "_outcome": dict(self._outcome),
            "device": self.device,
            "workload": self.workload,
            "label": self.label,
        }


def compare(
    *results: Result | Sequence[Result], path: str | PathLike[str] | None = None, overwrite: bool = False
) -> str:
    """Make a page with several results side by side. Writes it if ``path`` is given, whole or not at all.

    Args:
        results: each a column: a result, or a list of results of the same scenario with different seeds. A
            column of several seeds shows means with 95 % intervals. Columns are named by what differs: the
            labels that :func:`flashlane.simulate` was given, or scenario, scheduler, isolation and device.
        path: where the page is written. A file there that flashlane did not write, or that was changed
            since, is refused.
        overwrite: replace such a file.

    Raises:
        flashlane.errors.ConfigError: the results of a list differ in more than their seeds.
    """
    if not results:
        raise TypeError("compare: found no result, allowed: one or more")
    columns = [[one] if isinstance(one, Result) else list(one) for one in results]
    texts = [[result._outcome["report"] for result in column] for column in columns]
    page = _flashlane.report(texts, _module())
    if path is not None:
        write_whole(Path(path), page, overwrite)
    return page


def _module() -> str | None:
    """The simulator for browsers, where the package has it: pages then run scenarios again."""
    named = os.environ.get("FLASHLANE_WHAT_IF")
    path = Path(named) if named else Path(__file__).with_name("what_if.b64")
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return None


def write_whole(path: Path, content: str | bytes, overwrite: bool = False) -> None:
    """Write a file whole or not at all; what dead processes left in its folder goes.

    A file that flashlane did not write, or that was changed since, is replaced with ``overwrite`` only.
    """
    _flashlane.write_whole(path, content.encode() if isinstance(content, str) else content, overwrite)
