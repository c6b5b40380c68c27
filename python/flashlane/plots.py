"""Charts of results: with matplotlib, or as Altair charts for notebooks and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from flashlane.optional import needed

if TYPE_CHECKING:
    from flashlane.result import Result

#: What draws: ``"matplotlib"`` gives axes, ``"altair"`` a chart.
Backend = Literal["matplotlib", "altair"]

#: Short names of columns of the time series.
_COLUMNS = {"mean_us": "response_mean_us", "p99_us": "response_p99_us"}
#: Colours that are told apart by everybody, as in reports.
COLOURS = ["#0b66b3", "#c2410c", "#15803d", "#a21caf", "#8a6d00", "#0e7490", "#be123c", "#4b5563"]
#: Waiting that nobody's work caused.
_GREY = "#9aa0a6"


class Row(TypedDict):
    """A point of a chart: its place, and the line, bar or part of a bar that it belongs to."""

    x: float | str
    y: float | str
    series: str


def label(figure: str) -> str:
    """The name of a figure for an axis."""
    return figure.replace("_us", " (us)").replace("_", " ")


def _refuse(what: str, found: object, allowed: str) -> ValueError:
    return ValueError(f"{what}: found {found!r}, allowed: {allowed}")


def latency_rows(result: Result, op: str) -> list[Row]:
    """The share of requests that are slower than a response time, a line a flow."""
    if op not in ("all", "read", "write"):
        raise _refuse("plot_latency", op, "all, read, write")
    columns = needed("pyarrow", "pandas").table(result.histograms).to_pydict()
    steps = zip(*(columns[name] for name in ("flow", "op", "response_us", "share_at_or_below")), strict=True)
    shown = ((flow, us, share) for flow, kind, us, share in steps if kind == op and share < 1.0)
    return [{"x": us, "y": 1.0 - share, "series": flow} for flow, us, share in shown]


def breakdown_rows(result: Result) -> list[Row]:
    """Mean of each stage, a bar a flow."""
    stages = list(result.flows[0]["breakdown_us"])
    return [
        {"x": float(flow["breakdown_us"][stage]), "y": flow["name"], "series": stage.replace("_", " ")}
        for stage in stages
        for flow in result.flows
    ]


def timeseries_rows(result: Result, figure: str) -> list[Row]:
    """A figure over the run, a line a flow."""
    if result.timeseries is None:
        raise ValueError("this run kept no time series: simulate(..., timeseries=True)")
    rows = needed("pyarrow", "pandas").table(result.timeseries).to_pylist()
    column = _COLUMNS.get(figure, figure)
    points: list[Row] = []
    for row in rows:
        if row["flow"] is None:
            continue
        if figure == "iops":
            value = row["read_iops"] + row["write_iops"]
        elif column in row and not isinstance(row[column], str):
            value = row[column]
        else:
            raise _refuse("plot_timeseries", figure, ", ".join(["mean_us", "p99_us", "iops", *row]))
        points.append({"x": row["end_s"], "y": value, "series": row["flow"]})
    return points


def blame_rows(result: Result) -> list[Row]:
    """Mean waiting time of a request by culprit, a bar a flow."""
    waits, blame = result.waiting(), result.blame
    assert blame is not None  # else there were no waits
    culprits = list(dict.fromkeys(name for row in waits.values() for name in row))
    requests = {victim["flow"]: max(1, victim["requests"]) for victim in blame["victims"]}
    named = (name for name in culprits if any(row.get(name) for row in waits.values()))
    return [
        {"x": 1e6 * row.get(culprit, 0.0) / requests[victim], "y": victim, "series": culprit}
        for culprit in named
        for victim, row in waits.items()
    ]


def compare_rows(results: tuple[Result, ...], figure: str) -> list[Row]:
    """A figure of every flow, a bar a run."""
    if not results:
        raise ValueError("plot_compare: found no result, allowed: one or more")
    return [
        {"x": flow["name"], "y": float(getattr(flow, figure) or 0.0), "series": result.label}
        for result in results
        for flow in result.flows
    ]


def _series(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["series"], []).append(row)
    return found


def _colours(names: list[str]) -> dict[str, str]:
    found = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}
    return found | ({"device": _GREY} if "device" in found else {})


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    pyplot = needed("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=(7.2, 3.6), layout="constrained")[1]


def _finished(ax: Any, title: str | None = None) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="both" if ax.get_xscale() == "log" else "y", linewidth=0.5, alpha=0.5)
    ax.legend(frameon=False, title=title)
    return ax


def lines(rows: list[Row], ax: Any, backend: Backend, *, x: str, y: str, tail: bool = False) -> Any:
    """A line a series; ``tail`` for shares that fall, in steps on logarithmic axes."""
    colours = _colours(list(_series(rows)))
    if _checked(backend, ax) == "altair":
        alt = needed("altair", "altair")
        scale = alt.Scale(type="log") if tail else alt.Scale()
        mark = {"interpolate": "step-after"} if tail else {}
        chart = alt.Chart(alt.Data(values=rows)).mark_line(**mark)
        return chart.encode(
            x=alt.X("x:Q", title=x, scale=scale),
            y=alt.Y("y:Q", title=y, scale=scale),
            color=_altair_colour(alt, colours),
            tooltip=["series:N", "x:Q", "y:Q"],
        ).properties(width=560, height=260)
    ax = _axes(ax)
    for name, own in _series(rows).items():
        style = {"drawstyle": "steps-post"} if tail else {}
        ax.plot(
            [row["x"] for row in own], [row["y"] for row in own], label=name, color=colours[name], **style
        )
    ax.set(xlabel=x, ylabel=y, **({"xscale": "log", "yscale": "log"} if tail else {}))
    if not tail:
        ax.set_ylim(bottom=0)
    return _finished(ax)


def stacked(rows: list[Row], ax: Any, backend: Backend, *, x: str, title: str | None = None) -> Any:
    """A bar a flow, lying, its parts side by side."""
    colours = _colours(list(_series(rows)))
    if _checked(backend, ax) == "altair":
        alt = needed("altair", "altair")
        order = {name: index for index, name in enumerate(_series(rows))}
        values = [{**row, "order": order[row["series"]]} for row in rows]
        return (
            alt.Chart(alt.Data(values=values))
            .mark_bar()
            .encode(
                x=alt.X("x:Q", title=x, stack="zero"),
                y=alt.Y("y:N", title=None, sort=None),
                color=_altair_colour(alt, colours, title),
                order="order:Q",
                tooltip=["y:N", "series:N", "x:Q"],
            )
            .properties(width=560)
        )
    ax = _axes(ax)
    left: dict[str, float] = {}
    for name, own in _series(rows).items():
        places = [str(row["y"]) for row in own]
        widths = [float(row["x"]) for row in own]
        starts = [left.get(place, 0.0) for place in places]
        ax.barh(places, widths, left=starts, color=colours[name], label=name)
        left = {place: start + width for place, start, width in zip(places, starts, widths, strict=True)}
    ax.invert_yaxis()
    ax.set(xlabel=x)
    return _finished(ax, title)


def grouped(rows: list[Row], ax: Any, backend: Backend, *, y: str) -> Any:
    """A group of bars a flow, a bar a series."""
    series = _series(rows)
    colours = _colours(list(series))
    if _checked(backend, ax) == "altair":
        alt = needed("altair", "altair")
        return (
            alt.Chart(alt.Data(values=rows))
            .mark_bar()
            .encode(
                x=alt.X("x:N", title=None, sort=None, axis=alt.Axis(labelAngle=0)),
                xOffset=alt.XOffset("series:N", sort=None),
                y=alt.Y("y:Q", title=y),
                color=_altair_colour(alt, colours),
                tooltip=["series:N", "x:N", "y:Q"],
            )
            .properties(width=560, height=260)
        )
    ax = _axes(ax)
    flows = list(dict.fromkeys(str(row["x"]) for row in rows))
    width = 0.8 / len(series)
    for number, (name, own) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * width
        places = [flows.index(str(row["x"])) + shift for row in own]
        ax.bar(places, [row["y"] for row in own], width * 0.92, label=name, color=colours[name])
    ax.set_xticks(range(len(flows)), flows)
    ax.set(ylabel=y)
    return _finished(ax)


def _checked(backend: str, ax: Any) -> str:
    if backend not in ("matplotlib", "altair"):
        raise _refuse("backend", backend, "matplotlib, altair")
    if backend == "altair" and ax is not None:
        raise ValueError("ax: found with backend='altair', allowed: with matplotlib")
    return backend


def _altair_colour(alt: Any, colours: dict[str, str], title: str | None = None) -> Any:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("series:N", title=title, sort=None, scale=scale)


def plot_compare(
    *results: Result, figure: str = "p99_us", ax: Any = None, backend: Backend = "matplotlib"
) -> Any:
    """Draw a figure of every flow in several runs, side by side. Needs matplotlib or Altair.

    Args:
        results: the runs; their labels name the bars.
        figure: ``mean_us``, ``p99_us``, ``iops``, ``slowdown`` or another number of a flow.
        ax: matplotlib axes to draw on; new ones without it.
        backend: ``"matplotlib"`` or ``"altair"``.

    Returns:
        The axes, or the Altair chart.

    Raises:
        ValueError: no result, or another backend.
        AttributeError: a flow has no such figure.
    """
    return grouped(compare_rows(results, figure), ax, backend, y=label(figure))
