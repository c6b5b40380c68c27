"""Charts of results, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashlane.optional import needed

if TYPE_CHECKING:
    from flashlane.result import Result

#: Short names of columns of the time series.
_COLUMNS = {"mean_us": "response_mean_us", "p99_us": "response_p99_us"}
#: Colours that are told apart by everybody, as in reports.
COLOURS = ["#0b66b3", "#c2410c", "#15803d", "#a21caf", "#8a6d00", "#0e7490", "#be123c", "#4b5563"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    pyplot = needed("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=(7.2, 3.6), layout="constrained")[1]


def _label(figure: str) -> str:
    return figure.replace("_us", " (us)").replace("_", " ")


def _finished(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", linewidth=0.5, alpha=0.5)
    return ax


def timeseries(result: Result, figure: str, ax: Any) -> Any:
    """A figure over the run, a line a flow."""
    if result.timeseries is None:
        raise ValueError("this run kept no time series: simulate(..., timeseries=True)")
    ax = _axes(ax)
    rows = needed("pyarrow", "pandas").table(result.timeseries).to_pylist()
    column = _COLUMNS.get(figure, figure)
    for index, flow in enumerate(result.workload.flows):
        own = [row for row in rows if row["flow"] == flow]
        if own and figure == "iops":
            values = [row["read_iops"] + row["write_iops"] for row in own]
        elif own and column in own[0]:
            values = [row[column] for row in own]
        else:
            allowed = ", ".join(["mean_us", "p99_us", "iops", *(own[0] if own else [])])
            raise ValueError(f"plot_timeseries: found {figure!r}, allowed: {allowed}")
        ends = [row["end_s"] for row in own]
        ax.plot(ends, values, color=COLOURS[index % len(COLOURS)], label=flow)
    ax.set(xlabel="time (s)", ylabel=_label(figure))
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return _finished(ax)


def blame(result: Result, ax: Any) -> Any:
    """Mean waiting time of a request by culprit, a bar a flow."""
    waits = result.waiting()
    ax = _axes(ax)
    culprits = list(dict.fromkeys(name for row in waits.values() for name in row))
    left = dict.fromkeys(waits, 0.0)
    requests = {victim["flow"]: max(1, victim["requests"]) for victim in (result.blame or {})["victims"]}
    for index, culprit in enumerate(culprits):
        widths = {victim: 1e6 * row.get(culprit, 0.0) / requests[victim] for victim, row in waits.items()}
        if not any(widths.values()):
            continue
        colour = "#9aa0a6" if culprit == "device" else COLOURS[index % len(COLOURS)]
        ax.barh(list(waits), list(widths.values()), left=list(left.values()), color=colour, label=culprit)
        left = {victim: left[victim] + widths[victim] for victim in waits}
    ax.invert_yaxis()
    ax.set(xlabel="waiting time of a request (us)")
    ax.legend(frameon=False, title="caused by")
    return _finished(ax)


def plot_compare(*results: Result, figure: str = "p99_us", ax: Any = None) -> Any:
    """Draw a figure of every flow in several runs, side by side. Needs matplotlib.

    Args:
        results: the runs; their labels name the bars.
        figure: ``mean_us``, ``p99_us``, ``iops``, ``slowdown`` or another number of a flow.
        ax: axes to draw on; new ones without it.
    """
    if not results:
        raise ValueError("plot_compare: found no result, allowed: one or more")
    ax = _axes(ax)
    flows = results[0].workload.flows
    width = 0.8 / len(results)
    for number, result in enumerate(results):
        values = [getattr(result[flow], figure) or 0.0 for flow in flows]
        places = [index + (number - (len(results) - 1) / 2) * width for index in range(len(flows))]
        ax.bar(places, values, width * 0.92, label=result.label, color=COLOURS[number % len(COLOURS)])
    ax.set_xticks(range(len(flows)), flows)
    ax.set(ylabel=_label(figure))
    ax.legend(frameon=False)
    return _finished(ax)
