"""Write the table of docs/isolation.md: four properties of isolation for each mechanism, from small runs.

Usage: isolation_table.py [--check]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flashlane as fl

PAGE = Path(__file__).resolve().parents[1] / "docs/isolation.md"
MARKS = ("<!-- isolation -->\n", "<!-- end of isolation -->")

#: The drive of all runs. Its firmware takes 100,000 commands a second, so that their order matters.
DRIVE: dict[str, Any] = {
    "interface.firmware_time": "10us",
    "interface.fetch_ahead": 2,
    "ftl.precondition.enabled": True,
    "ftl.over_provisioning": 0.55,
}


@dataclass
class Mechanism:
    """Keys of the drive, of the tenant that is to be protected, and of its neighbour."""

    name: str
    drive: dict[str, Any] = field(default_factory=dict)
    protected: dict[str, Any] = field(default_factory=dict)
    neighbour: dict[str, Any] = field(default_factory=dict)
    #: Tenants that share a limit.
    groups: bool = False


STRIDE: dict[str, Any] = {"interface.arbitration": "stride"}
WEIGHTED: dict[str, Any] = {"interface.arbitration": "weighted-round-robin"}
HEAVY, LIGHT = {"weight": 4}, {"weight": 1}
MECHANISMS = [
    Mechanism("none: `out-of-order`, `round-robin`"),
    Mechanism("`weighted-round-robin`, high beside low", WEIGHTED, {"priority": "high"}, {"priority": "low"}),
    Mechanism("`stride`, 4 to 1, by commands", STRIDE, HEAVY, LIGHT),
    Mechanism("`stride`, 4 to 1, by pages", {**STRIDE, "interface.cost": "pages"}, HEAVY, LIGHT),
    Mechanism("`stride`, 4 to 1, by device time", {**STRIDE, "interface.cost": "device-time"}, HEAVY, LIGHT),
    Mechanism("`limit` of the neighbour, 2,000 commands/s", neighbour={"limit": {"iops": 2000}}),
    Mechanism("the same limit in the host", neighbour={"limit": {"iops": 2000, "at": "host"}}),
    Mechanism("the limit for both as a `[[group]]`", groups=True),
    Mechanism("scheduler `flin`", {"scheduler": "flin"}),
    Mechanism("scheduler `sprinkler-fairness`", {"scheduler": "sprinkler-fairness"}),
    Mechanism("scheduler `read-priority`", {"scheduler": "read-priority"}),
    Mechanism("isolation `partitioned`", {"isolation": "partitioned"}),
    Mechanism("isolation `upi`", {"isolation": "upi"}),
]

READS: dict[str, Any] = {"read_ratio": 1.0, "size": "4KiB"}
MIXED: dict[str, Any] = {"read_ratio": 0.7, "size": "32KiB"}


def run(
    mechanism: Mechanism, protected: dict[str, Any], neighbour: dict[str, Any] | None, **how: Any
) -> fl.Result:
    """A run of the protected tenant beside its neighbour, or by itself."""
    flows = [fl.Flow("protected", **READS, **mechanism.protected, **protected)]
    if neighbour is not None:
        flows.append(fl.Flow("neighbour", **{**MIXED, **mechanism.neighbour, **neighbour}))
    names = [flow.name for flow in flows]
    group: fl.keys.GroupConfig = {"name": "both", "members": names, "limit": {"iops": 2000}}
    window = how.pop("window", None)
    work = fl.Workload(flows, window=window, groups=[group] if mechanism.groups else [])
    return fl.simulate(fl.Device("tiny", set={**DRIVE, **mechanism.drive}), work, states="off", **how)


@dataclass
class Row:
    """The properties of a mechanism, and what they are made of."""

    front: float
    flash: float
    neighbour_bytes: float
    burst_us: float
    alone_us: float


def measured(mechanism: Mechanism) -> Row:
    """The figures of a mechanism."""
    busy = {"queue_depth": 64, "duration": "200ms"}
    few = {"queue_depth": 4, "duration": "200ms"}
    front = run(mechanism, few, {**READS, **busy}, alone=True)
    flash = run(mechanism, few, busy, alone=True)
    light = run(mechanism, {"iops": 200, "duration": "200ms"}, busy)
    # The neighbour comes in the middle of the run.
    burst = {"queue_depth": 128, "duration": "50ms", "starts_after": "100ms", "on_end": "stop"}
    steady = {"iops": 1000, "duration": "300ms", "on_end": "stop"}
    bursts = run(mechanism, steady, burst, window="whole-run")
    alone = run(mechanism, {"queue_depth": 1, "duration": "100ms"}, None)
    return Row(
        front=float(front.summary["fairness"]["fairness"] or 0.0),
        flash=float(flash.summary["fairness"]["fairness"] or 0.0),
        neighbour_bytes=light.flows[1].bandwidth_bytes_per_s,
        burst_us=bursts.flows[0].p99_us,
        alone_us=alone.flows[0].mean_us,
    )


def table() -> str:
    """The table as Markdown."""
    rows = {mechanism.name: measured(mechanism) for mechanism in MECHANISMS}
    first = rows[MECHANISMS[0].name]
    lines = [
        "| mechanism | fairness, small | fairness, large | use of the drive | p99 in bursts | overhead |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for name, row in rows.items():
        cells = [
            f"{row.front:.2f}",
            f"{row.flash:.2f}",
            f"{100 * row.neighbour_bytes / first.neighbour_bytes:.0f} %",
            f"{row.burst_us / first.burst_us:.2f}",
            f"{100 * (row.alone_us / first.alone_us - 1):+.1f} %",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, or check that it is up to date."""
    page = PAGE.read_text(encoding="utf-8")
    begin, rest = page.split(MARKS[0])
    old, end = rest.split(MARKS[1])
    new = table()
    if "--check" in sys.argv:
        if old != new:
            print(f"{PAGE.name} is out of date; run scripts/isolation_table.py\n{new}", file=sys.stderr)
        return int(old != new)
    PAGE.write_text(begin + MARKS[0] + new + MARKS[1] + end, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
