"""Figures of a summary by name, for searches: ``p99:shop``, ``fairness``, ``waf <= 2.5``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Summary = dict[str, Any]

_TIMES = ["mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99"]
_KINDS = {
    "": "response_time_us",
    **{f"{op}_": f"{op}_response_time_us" for op in ("read", "write", "trim", "flush")},
}


def _latency(key: str, field: str) -> Callable[[Summary], float | None]:
    def of(flow: Summary) -> float | None:
        latency = flow[key]
        return latency[field] if latency["count"] else None

    return of


#: Figures of a flow: where they are, how those of several flows become one, their unit and direction.
_OF_FLOWS: dict[str, tuple[Callable[[Summary], float | None], Callable[..., float], str, str]] = {
    **{
        f"{kind}{field}": (_latency(key, field), max, "us", "min")
        for kind, key in _KINDS.items()
        for field in _TIMES
    },
    "slowdown": (lambda flow: flow["slowdown"], max, "", "min"),
    "iops": (lambda flow: flow["iops"], sum, "", "max"),
    "bandwidth": (lambda flow: flow["bandwidth_bytes_per_s"] / 1e6, sum, "MB/s", "max"),
    "energy": (lambda flow: flow["energy"]["total_pj"] / 1e12, sum, "J", "min"),
    "wear": (lambda flow: float(flow["wear"]["programs"]), sum, "pages", "min"),
}


def _power(summary: Summary) -> float | None:
    span = summary["window_end_s"] - summary["window_start_s"]
    return summary["energy"]["total_pj"] / 1e12 / span if span > 0 else None


def _energy_per_gb(summary: Summary) -> float | None:
    bytes_moved = sum(sum(flow["completed_in_window"]["bytes"].values()) for flow in summary["flows"])
    return summary["energy"]["total_pj"] / 1e3 / bytes_moved if bytes_moved else None


def _missed(summary: Summary) -> float:
    goals = [goal for flow in summary["flows"] for goal in (flow.get("slo") or {"goals": []})["goals"]]
    return float(sum(not goal["met"] for goal in goals))


#: Figures of the drive: unit and direction.
_OF_DRIVE: dict[str, tuple[Callable[[Summary], float | None], str, str]] = {
    "fairness": (lambda s: s["fairness"]["fairness"], "", "max"),
    "max_slowdown": (lambda s: s["fairness"]["max_slowdown"], "", "min"),
    "weighted_speedup": (lambda s: s["fairness"]["weighted_speedup"], "", "max"),
    "waf": (lambda s: s["flash"]["write_amplification"], "", "min"),
    "erases": (lambda s: float(s["flash"]["erases"]), "", "min"),
    "power": (_power, "W", "min"),
    "energy_per_gb": (_energy_per_gb, "J/GB", "min"),
    "years": (lambda s: s["wear"]["years_to_rated_wear"], "years", "max"),
    "missed": (_missed, "goals", "min"),
    "pages": (lambda s: float(s["memory"]["physical_pages"]), "pages", "min"),
}

_ENERGY = {"energy", "wear", "power", "energy_per_gb", "years"}
_UNTIMED = {"waf", "erases", "pages"}
_ALONE = {"slowdown", "fairness", "max_slowdown", "weighted_speedup"}


class Metric:
    """A figure and whether it is to be small (``min``) or large (``max``)."""

    def __init__(self, text: str, direction: str = "") -> None:
        """``NAME``, or ``NAME:FLOW`` of one flow. Without a direction it has the one that people want."""
        self.text = text
        self.name, _, self.flow = text.partition(":")
        names = sorted([*_OF_FLOWS, *_OF_DRIVE])
        if self.name not in names or (self.flow and self.name in _OF_DRIVE):
            raise ValueError(f"search: found {text!r}, allowed: {', '.join(names)}; NAME:FLOW of one flow")
        if direction not in ("", "min", "max"):
            raise ValueError(f"search: {text}: found {direction!r}, allowed: 'min', 'max'")
        unit, own = _OF_DRIVE[self.name][1:] if self.name in _OF_DRIVE else _OF_FLOWS[self.name][2:]
        self.unit, self.direction = unit, direction or own

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.text}, {self.unit}" if self.unit else self.text

    @property
    def untimed(self) -> bool:
        """A run without time has it, too."""
        return self.name in _UNTIMED

    def check(self, flows: list[str]) -> None:
        """Refuse a flow that does not exist."""
        if self.flow and self.flow not in flows:
            raise ValueError(f"search: {self.text}: found flow {self.flow!r}, allowed: {', '.join(flows)}")

    def options(self) -> dict[str, bool]:
        """What a run has to be told so that the figure is there."""
        return {
            **({"energy": True} if self.name in _ENERGY else {}),
            **({"alone": True} if self.name in _ALONE else {}),
        }

    def of(self, summary: Summary) -> float:
        """The figure.

        Raises:
            LookupError: the run has no such figure.
        """
        if self.name in _OF_DRIVE:
            value = _OF_DRIVE[self.name][0](summary)
        else:
            take, together, _, _ = _OF_FLOWS[self.name]
            flows = [flow for flow in summary["flows"] if self.flow in ("", flow["name"])]
            values = [found for flow in flows if (found := take(flow)) is not None]
            value = together(values) if values else None
        if value is None:
            raise LookupError(f"{self.text}: the run has no such figure")
        return float(value)

    def cost(self, value: float) -> float:
        """The figure with a sign that makes small ones good."""
        return -value if self.direction == "max" else value

    def shown(self, value: float) -> str:
        """The figure with its unit."""
        return f"{value:.4g} {self.unit}".rstrip()


class Rule:
    """A bound: ``iops:log >= 1000``."""

    def __init__(self, text: str) -> None:
        """Parse the text."""
        found = re.fullmatch(r"\s*(\S.*?)\s*(<=|>=)\s*([-+0-9.eE]+)\s*", text)
        if not found:
            raise ValueError(f"search: found constraint {text!r}, allowed: NAME <= NUMBER, NAME >= NUMBER")
        self.text = text
        self.metric = Metric(found[1])
        self.at_most = found[2] == "<="
        self.bound = float(found[3])

    def missed_by(self, summary: Summary) -> float:
        """How far a run misses it, as a share of the bound; 0 where it is kept."""
        value = self.metric.of(summary)
        over = value - self.bound if self.at_most else self.bound - value
        return max(0.0, over) / (abs(self.bound) or 1.0)
