"""Draw the figures of the model's pages, docs/images/*.svg.

The numbers of `read.svg`, `retries.svg`, `superblocks.svg`, `word_lines.svg`, `two_passes.svg`,
`command_bus.svg`, `large_units.svg`, `slc_cliff.svg` and `admission.svg` are those of runs.

Usage: drawings.py [--check]  (--check: only compare with what is there)
"""

from __future__ import annotations

import math
import sys
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import flashlane as fl

ROOT = Path(__file__).resolve().parents[1]
#: Colours that read on white and on black: of the paper, of text and lines, and of areas.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .small { font-size: 11px; fill: #57606a; }
  .line { stroke: #57606a; fill: none; stroke-width: 1.5; }
  .box { fill: #f6f8fa; stroke: #8c959f; }
  .valid { fill: #54aeff; } .stale { fill: #d0d7de; } .open { fill: #4ac26b; }
  .free { fill: #ffffff; stroke: #8c959f; }
  .wait { fill: #ffb77c; } .work { fill: #54aeff; } .lead { fill: #c297ff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .small { fill: #9198a1; } .line { stroke: #9198a1; }
    .box { fill: #212830; stroke: #656c76; } .stale { fill: #3d444d; } .free { fill: #0d1117; }
  }
"""


class Drawing:
    """A picture in the making. Places and sizes are in pixels, from the upper left."""

    def __init__(self, title: str, width: int, height: int) -> None:
        """An empty picture."""
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto">'
            '<path d="M0 0 8 4 0 8z" fill="#8c959f"/></marker></defs>',
        ]

    def area(self, kind: str, x: float, y: float, width: float, height: float) -> None:
        """A rectangle of a kind of `STYLE`."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>'
        )

    def line(self, *points: tuple[float, float], arrow: bool = False, dashed: bool = False) -> None:
        """A line through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        more = (' marker-end="url(#tip)"' if arrow else "") + (' stroke-dasharray="4 3"' if dashed else "")
        self.parts.append(f'<polyline class="line" points="{path}"{more}/>')

    def text(self, x: float, y: float, words: str, *, anchor: str = "middle", small: bool = False) -> None:
        """Words at a place."""
        kind = ' class="small"' if small else ""
        self.parts.append(f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>')

    def svg(self) -> str:
        """The picture as text."""
        return "\n".join([*self.parts, "</svg>", ""])


def timeline(drive: fl.Device, read_ratio: float, queue_depth: int, requests: int, size: str) -> list[Any]:
    """What happens while one tenant reads or writes in sequence past the cache: a row of `timeline` each."""
    flow = fl.Flow(
        "flow",
        cache="off",
        read_ratio=read_ratio,
        address="streaming",
        queue_depth=queue_depth,
        size=size,
        align=size,
        requests=requests,
    )
    rows = fl.simulate(drive, [flow], states="off", timeline=True).timeline
    assert rows is not None
    return list(rows)


def device() -> Drawing:
    """The path of a request through the stages."""
    drawing = Drawing("The path of a request", 900, 268)
    stages = [
        ("Host", "queue pairs of", "the tenants"),
        ("Link", "PCIe or SATA,", "two directions"),
        ("Interface", "fetch, arbitration,", "firmware"),
        ("Data cache", "DRAM slots,", "write-back"),
        ("Translation", "mapping, blocks,", "collection"),
        ("Scheduler", "queues of the dies,", "the policy"),
    ]
    wide, gap = 124, 26
    for index, (name, first, second) in enumerate(stages):
        x = 12 + index * (wide + gap)
        drawing.area("box", x, 40, wide, 72)
        drawing.text(x + wide / 2, 62, name)
        drawing.text(x + wide / 2, 82, first, small=True)
        drawing.text(x + wide / 2, 98, second, small=True)
        if index:
            drawing.line((x - gap + 2, 66), (x - 2, 66), arrow=True)
            drawing.line((x - 2, 90), (x - gap + 2, 90), arrow=True)
    drawing.text(12, 24, "requests go down the path, completions come back", anchor="start", small=True)
    last = 12 + 5 * (wide + gap) + wide / 2
    drawing.line((last, 112), (last, 136), (40, 136))
    for channel in range(4):
        x = 40 + channel * 215
        drawing.line((x + 80, 136), (x + 80, 160), arrow=True)
        drawing.area("box", x, 162, 185, 88)
        drawing.text(x + 92, 180, f"channel {channel}: chips of two dies", small=True)
        for chip in range(2):
            for die in range(2):
                drawing.area(
                    "work" if (channel + chip + die) % 3 else "stale",
                    x + 12 + chip * 86 + die * 38,
                    190,
                    32,
                    30,
                )
            drawing.text(x + 47 + chip * 86, 238, f"chip {chip}", small=True)
    return drawing


def read() -> Drawing:
    """The stages of one read on an idle drive."""
    drive = fl.Device("fast18", ftl={"mapping": {"ideal": True}})
    alone = fl.Flow("reader", read_ratio=1.0, queue_depth=1, size="4KiB", requests=200)
    stages = fl.simulate(drive, [alone], states="off").summary["flows"][0]["breakdown_us"]
    names = {
        "link": stages["submission"] + stages["transfer_in"] + stages["transfer_out"],
        "firmware": stages["firmware"],
        "array": stages["flash_array"],
        "channel": stages["flash_bus"],
    }
    total = sum(stages.values())
    drawing = Drawing(f"One 4 KiB read of the preset fast18: {total:.2f} us", 900, 120)
    x, kinds = 20.0, {"link": "lead", "firmware": "wait", "array": "work", "channel": "open"}
    for name, time_us in names.items():
        width = max(860 * time_us / total, 2.0)
        drawing.area(kinds[name], x, 20, width, 34)
        x += width
    for index, (name, time_us) in enumerate(names.items()):
        drawing.area(kinds[name], 20 + index * 215, 78, 14, 14)
        drawing.text(40 + index * 215, 90, f"{name} {time_us:.2f} us", anchor="start")
    drawing.text(880, 112, f"response time {total:.2f} us", anchor="end", small=True)
    return drawing


def retries() -> Drawing:
    """Retries and read time over wear, for two ages of the data."""
    cycles, ages = range(0, 5001, 250), (0, 90)

    def worn(cycles: int, days: int) -> dict[str, Any]:
        age = {"cycles": cycles, "retention_days": days}
        flash = {"technology": "tlc", "page_size": "16KiB", "read_time": ["50us"]}
        drive = fl.Device("tiny", flash=flash, errors={"model": "tlc-3d", "age": age})
        reader = fl.Flow(
            "reader", cache="off", read_ratio=1.0, queue_depth=1, size="16KiB", align="16KiB", requests=4000
        )
        return fl.simulate(drive, [reader], states="off").summary

    found = {days: [worn(count, days) for count in cycles] for days in ages}
    drawing = Drawing("Read retries over wear", 900, 300)
    panels = [
        ("retries per page", 8, lambda run: run["errors"]["mean_retries"]),
        ("mean time of a 16 KiB read, us", 800, lambda run: run["flows"][0]["response_time_us"]["mean"]),
    ]
    for panel, (name, most, of) in enumerate(panels):
        left, width, base, height = 60 + panel * 440, 360, 250, 200
        drawing.text(left, 30, name, anchor="start")
        drawing.line((left, base - height), (left, base), (left + width, base))
        for part in range(5):
            y = base - height * part / 4
            drawing.text(left - 8, y + 4, f"{most * part / 4:g}", anchor="end", small=True)
        for count in range(0, 5001, 1000):
            drawing.text(left + width * count / 5000, base + 16, f"{count}", small=True)
        drawing.text(left + width / 2, base + 36, "program and erase cycles", small=True)
        for days, runs in found.items():
            values = [of(run) for run in runs]
            points = [
                (left + width * count / 5000, base - height * min(value / most, 1.0))
                for count, value in zip(cycles, values, strict=True)
            ]
            drawing.line(*points, dashed=days == 0)
            below = 22 if days == 0 else -6
            drawing.text(points[-1][0], points[-1][1] + below, f"{days} days", anchor="end", small=True)
    return drawing


def superblocks() -> Drawing:
    """The programs of the planes of a drive while superblocks fill."""
    ftl = {"superblock": "drive", "parity": True, "mapping": {"ideal": True}}
    drive = fl.Device("tiny", flash={"pages_per_block": 4}, ftl=ftl)
    programs: list[list[tuple[str, int, int]]] = []
    last = ""
    for row in timeline(drive, 0.0, 7, 56, "4KiB"):
        track = row["track"]
        if not track.startswith("plane"):
            continue
        if track != last:
            programs.append([])
        last = track
        programs[-1].append((row["name"], row["start_ps"], row["end_ps"]))
    left, width = 90, 790
    until = max(end for plane in programs for _, _, end in plane)
    drawing = Drawing("Eight stripes of two superblocks with parity", 900, 60 + 22 * len(programs))
    for number, plane in enumerate(programs):
        y = 16 + 22 * number
        drawing.text(left - 8, y + 13, f"plane {number}", anchor="end", small=True)
        for name, start, end in plane:
            kind = "lead" if name == "gc program" else "work"
            drawing.area(kind, left + width * start / until, y, width * (end - start) / until, 18)
    below = 34 + 22 * len(programs)
    for index, (kind, words) in enumerate([("work", "program of data"), ("lead", "program of parity")]):
        drawing.area(kind, left + index * 160, below, 12, 12)
        drawing.text(left + 18 + index * 160, below + 11, words, anchor="start", small=True)
    drawing.text(left + width, below + 11, f"{until / 1e9:.1f} ms", anchor="end", small=True)
    return drawing


def word_lines() -> Drawing:
    """A die that is written page by page and word line by word line, and reads of the three types."""
    one = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    flash = {
        **dict.fromkeys(one, 1),
        "technology": "tlc",
        "page_size": "16KiB",
        "pages_per_block": 48,
        "page_order": "turns",
        "read_time": ["45us", "56us", "68us"],
        "program_time": ["600us"],
    }

    def work(programming: str, read_ratio: float, requests: int) -> list[tuple[int, int]]:
        ftl = {"mapping": {"ideal": True}}
        drive = fl.Device("tiny", flash={**flash, "programming": programming}, ftl=ftl)
        slices = timeline(drive, read_ratio, 1 if read_ratio else 12, requests, "16KiB")
        name = "read" if read_ratio else "program"
        rows = (row for row in slices if row["part"].startswith("chip") and row["name"] == name)
        return [(row["start_ps"], row["end_ps"]) for row in rows]

    rows = {
        "page by page": (work("page", 0.0, 6), 1),
        "word lines": (work("one-shot", 0.0, 6), 3),
        "reads": (work("one-shot", 1.0, 9), 1),
    }
    until = max(end for slices, _ in rows.values() for _, end in slices)
    left, width = 110, 760
    drawing = Drawing("Six pages of a plane, written in two ways and read", 900, 190)
    for number, (name, (slices, pages)) in enumerate(rows.items()):
        y = 16 + 44 * number
        drawing.text(left - 10, y + 20, name, anchor="end", small=True)
        for start, end in slices:
            x, long = left + width * start / until, width * (end - start) / until
            for page in range(pages):
                drawing.area(
                    "open" if name == "reads" else "work", x, y + 30 / pages * page, long, 30 / pages - 1
                )
    drawing.line((left, 150), (left + width, 150), arrow=True)
    drawing.text(left + width, 168, f"{until / 1e9:.1f} ms", anchor="end", small=True)
    times = sorted({(end - start) / 1e6 for start, end in rows["reads"][0]})
    found = ", ".join(f"{time:.0f} us" for time in times)
    drawing.text(left, 168, f"reads of the three types take {found}", anchor="start", small=True)
    return drawing


def two_passes() -> Drawing:
    """The passes of the word lines of a block that is written in one go."""
    one = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    flash = {
        **dict.fromkeys(one, 1),
        "technology": "qlc",
        "page_size": "16KiB",
        "pages_per_block": 24,
        "read_time": ["50us"],
        "program_time": ["600us", "1400us"],
        "programming": "two-pass",
    }
    drive = fl.Device("tiny", flash=flash, ftl={"mapping": {"ideal": True}})
    programs = [
        (row["start_ps"], row["end_ps"])
        for row in timeline(drive, 0.0, 24, 24, "16KiB")
        if row["part"].startswith("chip") and row["name"] == "program"
    ]
    middle = (min(end - start for start, end in programs) + max(end - start for start, end in programs)) / 2
    passes = {
        "F": [program for program in programs if program[1] - program[0] < middle],
        "S": [program for program in programs if program[1] - program[0] > middle],
    }
    until = max(end for _, end in programs)
    left, width = 110, 760
    lines = len(passes["F"])
    drawing = Drawing("First and second passes of six word lines", 900, 66 + 26 * lines)
    for kind, label in (("wait", "F"), ("work", "S")):
        for line, (start, end) in enumerate(passes[label]):
            x, long = left + width * start / until, width * (end - start) / until
            drawing.area(kind, x, 16 + 26 * line, long, 22)
            drawing.text(x + long / 2, 16 + 26 * line + 16, f"{label}({line})", small=True)
    for line in range(lines):
        drawing.text(left - 10, 16 + 26 * line + 16, f"word line {line}", anchor="end", small=True)
    below = 26 + 26 * lines
    drawing.line((left, below), (left + width, below), arrow=True)
    drawing.text(left + width, below + 18, f"{until / 1e9:.1f} ms", anchor="end", small=True)
    for index, (kind, words) in enumerate([("wait", "first pass"), ("work", "second pass")]):
        drawing.area(kind, left + index * 120, below + 8, 12, 12)
        drawing.text(left + 18 + index * 120, below + 18, words, anchor="start", small=True)
    return drawing


def command_bus() -> Drawing:
    """The buses of a channel of four dies that are read without end: one bus, and two."""
    flash = {
        "channels": 1,
        "chips_per_channel": 4,
        "dies_per_chip": 1,
        "planes_per_die": 1,
        "page_size": "16KiB",
        "channel_rate": "1600MT/s",
        "command_time": "3us",
        "read_time": ["20us"],
    }

    def uses(bus: str) -> list[tuple[str, int, int]]:
        ftl = {"mapping": {"ideal": True}, "unwritten_read": "flash", "precondition": {"enabled": False}}
        drive = fl.Device("tiny", flash={**flash, "command_bus": bus}, ftl=ftl)
        slices = timeline(drive, 1.0, 8, 16, "16KiB")
        return [(row["name"], row["start_ps"], row["end_ps"]) for row in slices if row["part"] == "channels"]

    shared, separate = uses("shared"), uses("separate")
    rows = {
        "one bus": shared,
        "command bus": [use for use in separate if use[0] == "command"],
        "data bus": [use for use in separate if use[0] != "command"],
    }
    until = max(end for uses in rows.values() for _, _, end in uses)
    left, width = 110, 760
    drawing = Drawing("Sixteen pages of four dies over one bus and over two", 900, 190)
    for number, (name, row) in enumerate(rows.items()):
        y = 16 + 40 * number
        drawing.text(left - 10, y + 20, name, anchor="end", small=True)
        for use, start, end in row:
            kind = "wait" if use == "command" else "work"
            drawing.area(kind, left + width * start / until, y, width * (end - start) / until, 28)
    drawing.line((left, 144), (left + width, 144), arrow=True)
    drawing.text(left + width, 162, f"{until / 1e6:.0f} us", anchor="end", small=True)
    for index, (kind, words) in enumerate([("wait", "command"), ("work", "data of a page")]):
        drawing.area(kind, left + index * 120, 152, 12, 12)
        drawing.text(left + 18 + index * 120, 162, words, anchor="start", small=True)
    return drawing


def large_units() -> Drawing:
    """What random writes of 4 KiB cost in mapping units of five sizes."""
    flash = {"blocks_per_plane": 256, "pages_per_block": 64}
    costs: list[tuple[str, float, float]] = []
    for unit in (4, 8, 16, 32, 64):
        ftl = {"mapping": {"ideal": True, "unit": f"{unit}KiB"}, "gc": {"victim": "greedy"}}
        drive = fl.Device("tiny", flash=flash, ftl=ftl)
        pages: dict[str, Any] = {"size": "4KiB", "align": "4KiB", "queue_depth": 16, "requests": 12_000}
        writer = fl.Flow("writer", cache="off", read_ratio=0.0, **pages)
        counts = fl.simulate(drive, [writer], states="off", warmup=2_000).summary["flash"]
        # A page has 4 KiB, like a write: pages for each write are bytes for each byte.
        user, moved = (counts[programs] / 10_000 for programs in ("user_programs", "gc_programs"))
        costs.append((f"{unit} KiB", user, moved))
    left, width, base, height = 70, 800, 270, 220
    most = max(user + moved for _, user, moved in costs)
    drawing = Drawing("Bytes programmed for each byte that random writes of 4 KiB bring", 900, 340)
    drawing.text(left, 26, "bytes programmed for each byte written", anchor="start", small=True)
    drawing.line((left, base - height), (left, base), (left + width, base))
    step = width / len(costs)
    for at, (name, user, moved) in enumerate(costs):
        x, above = left + step * (at + 0.25), base
        parts = [("work", 1.0), ("wait", user - 1.0), ("lead", moved)]
        for kind, part in parts:
            tall = round(height * part / most, 1)
            if tall > 0.0:
                above -= tall
                drawing.area(kind, x, above, step / 2, tall)
        drawing.text(x + step / 4, above - 8, f"{user + moved:.1f}")
        drawing.text(x + step / 4, base + 18, f"units of {name}", small=True)
    words = ["the data itself", "the rest of its unit", "copies of collection"]
    for index, (kind, word) in enumerate(zip(("work", "wait", "lead"), words, strict=True)):
        drawing.area(kind, left + index * 170, base + 42, 12, 12)
        drawing.text(left + 18 + index * 170, base + 53, word, anchor="start", small=True)
    return drawing


def slc_cliff() -> Drawing:
    """The write speed of one tenant while it fills the SLC cache, goes around it, and waits for folding."""
    one = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    flash = {**dict.fromkeys(one, 1), "technology": "tlc", "pages_per_block": 96, "program_time": ["500us"]}
    cache = {"size": "3MiB", "read_time": "20us", "program_time": "150us"}
    ftl = {
        "over_provisioning": "10%",
        "mapping": {"ideal": True},
        "precondition": {"enabled": False},
        "gc": {"threshold": "4 blocks", "hard_threshold": "2 blocks"},
    }
    drive = fl.Device("tiny", flash=flash, ftl=ftl, slc_cache=cache, cache={"capacity": "0B"})
    writer = fl.Flow(
        "writer",
        cache="off",
        read_ratio=0.0,
        address="streaming",
        queue_depth=8,
        size="4KiB",
        align="4KiB",
        requests=5500,
    )
    rows = fl.simulate(drive, [writer], states="off", requests=True).requests
    assert rows is not None
    ends = sorted(row["complete_ps"] for row in rows)
    step = 110
    edges = pairwise(ends[::step])
    speeds = [step * 4096 / (end - start) * 1e6 for start, end in edges]
    left, width, base, height, most = 60, 800, 250, 200, 30
    drawing = Drawing("The three speeds of a long write into an SLC cache", 900, 300)
    drawing.text(left, 30, "MB/s", anchor="start")
    drawing.line((left, base - height), (left, base), (left + width, base))
    for part in range(4):
        y = base - height * part / 3
        drawing.text(left - 8, y + 4, f"{most * part / 3:g}", anchor="end", small=True)
    points = []
    for number, speed in enumerate(speeds):
        y = base - height * speed / most
        points += [(left + width * at / len(speeds), y) for at in (number, number + 1)]
    drawing.line(*points)
    for x, y, words in [(115, 66, "into the cache"), (420, 184, "around it"), (765, 196, "folding")]:
        drawing.text(x, y, words, small=True)
    written = len(speeds) * step * 4096 / 1e6
    for mb in range(0, int(written) + 1, 5):
        drawing.text(left + width * mb / written, base + 16, f"{mb}", small=True)
    drawing.text(left + width / 2, base + 36, "MB written", small=True)
    return drawing


def admission() -> Drawing:
    """The 99.9th percentile of write latency against load, with both ways of admission to the data cache."""
    array = {"channels": 4, "chips_per_channel": 2, "dies_per_chip": 1, "planes_per_die": 2}
    times = {"read_time": ["50us"], "program_time": ["300us"], "erase_time": "3ms"}
    flash: dict[str, Any] = {**array, **times, "blocks_per_plane": 128, "pages_per_block": 64}
    buffer: dict[str, Any] = {"mechanism": "simple", "capacity": "64MiB", "write_back_pages_per_plane": 128}
    ftl: dict[str, Any] = {"gc": {"victim": "greedy"}}
    sustained = 12_350.0

    def latency(kind: str, pace: dict[str, Any]) -> float:
        cache: dict[str, Any] = {**buffer, "admission": kind, "admission_mark": 0.7}
        drive = fl.Device("tiny", flash=flash, ftl=ftl, cache=cache)
        pages: dict[str, Any] = {"size": "4KiB", "align": "4KiB", "requests": 140_000}
        writer = fl.Flow("writer", cache="write", read_ratio=0.0, **pages, **pace)
        summary = fl.simulate(drive, [writer], states="off", warmup=50_000).summary
        return float(summary["flows"][0]["write_response_time_us"]["p99_9"])

    left, width, base, height, decades = 70, 800, 290, 250, 5
    drawing = Drawing("Write latency against load, with both ways of admission", 900, 340)
    drawing.text(left, 26, "99.9th percentile of write latency", anchor="start", small=True)
    drawing.line((left, base - height), (left, base), (left + width, base))
    for decade, words in enumerate(["1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms"]):
        drawing.text(left - 8, base - height * decade / decades + 4, words, anchor="end", small=True)
    loads, depths = [0.2, 0.4, 0.6, 0.8, 0.9, 0.95], [4, 8, 16, 32, 64, 128, 256]
    steps: list[tuple[str, dict[str, Any]]] = [(f"{load:.0%}", {"iops": load * sustained}) for load in loads]
    steps += [(f"{depth}", {"queue_depth": depth}) for depth in depths]
    step = width / len(steps)
    for at, (name, _) in enumerate(steps):
        drawing.text(left + step * (at + 0.5), base + 16, name, small=True)
    drawing.text(left + step * 3, base + 36, "part of the sustained rate", small=True)
    drawing.text(left + step * 9.5, base + 36, "queue depth of a writer without pauses", small=True)
    for kind in ("slots", "rate"):
        points = []
        for at, (_, pace) in enumerate(steps):
            y = base - height * math.log10(latency(kind, pace)) / decades
            points.append((left + step * (at + 0.5), round(y, 1)))
        drawing.line(*points, dashed=kind == "slots")
        x, y = points[8]
        drawing.text(x, y + (-14 if kind == "slots" else 22), kind, small=True)
    return drawing


def plane() -> Drawing:
    """The blocks of a plane."""
    drawing = Drawing("The blocks of a plane", 900, 236)
    pages, height = 8, 15

    def block(x: float, kinds: list[str]) -> None:
        for page, kind in enumerate(kinds):
            drawing.area(kind, x, 40 + page * (height + 2), 30, height)

    for index, (filled, name) in enumerate([(5, "host data"), (3, "moved data"), (2, "mapping")]):
        block(30 + index * 66, ["open"] * filled + ["free"] * (pages - filled))
        drawing.text(45 + index * 66, 194, name, small=True)
    drawing.text(110, 28, "open blocks of one flow")
    for index, valid in enumerate([7, 6, 5, 2, 6]):
        stale = pages - valid
        block(
            262 + index * 44,
            ["stale" if (page * 5 + index) % pages < stale else "valid" for page in range(pages)],
        )
    drawing.text(365, 28, "full blocks")
    drawing.line((409, 212), (409, 182), arrow=True)
    drawing.text(409, 226, "victim: the fewest valid pages", small=True)
    for index in range(8):
        block(520 + index * 44, ["free"] * pages)
    drawing.text(690, 28, "free blocks")
    thresholds = [
        (2, "reserve", "hosts wait"),
        (4, "hard_threshold", "collection first"),
        (7, "threshold", "collection starts"),
    ]
    for index, name, meaning in thresholds:
        edge = 520 + index * 44 - 7
        drawing.line((edge, 34), (edge, 184), dashed=True)
        drawing.text(edge, 198, name, small=True)
        drawing.text(edge, 213, meaning, small=True)
    drawing.text(690, 230, "what happens with fewer free blocks than this", small=True)
    for index, (kind, name) in enumerate([("valid", "valid"), ("stale", "invalid"), ("open", "written")]):
        drawing.area(kind, 30 + index * 84, 216, 12, 12)
        drawing.text(47 + index * 84, 226, name, anchor="start", small=True)
    return drawing


def window() -> Drawing:
    """Which requests count."""
    drawing = Drawing("The measurement window", 900, 220)
    left, right = 220.0, 660.0
    drawing.area("box", left, 34, right - left, 132)
    drawing.text((left + right) / 2, 24, "measurement window")
    drawing.text(115, 24, "warm-up")
    drawing.text(775, 24, "until all that counts is complete")
    rows = [
        (60, [(60, 130, False), (150, 260, False), (270, 360, True), (400, 470, True), (620, 740, True)]),
        (96, [(90, 170, False), (240, 330, True), (350, 520, True), (540, 600, True), (690, 760, False)]),
        (132, [(40, 110, False), (190, 215, False), (300, 420, True), (450, 640, True), (680, 820, False)]),
    ]
    for y, requests in rows:
        for start, end, counts in requests:
            drawing.area("work" if counts else "stale", start, y - 8, end - start, 16)
    drawing.line((20, 166), (880, 166), arrow=True)
    drawing.text(880, 184, "time", anchor="end", small=True)
    drawing.text(left, 184, "first request after the warm-up", small=True)
    drawing.text(right, 184, "every flow has ended its first pass", small=True)
    drawing.area("work", 40, 200, 12, 12)
    drawing.text(58, 211, "arrives in the window: it counts", anchor="start", small=True)
    drawing.area("stale", 300, 200, 12, 12)
    drawing.text(318, 211, "loads the drive, and is not counted", anchor="start", small=True)
    return drawing


def main(arguments: list[str]) -> int:
    """Write all figures, or compare them; the exit status."""
    stale = 0
    of_flash = (read, retries, superblocks, word_lines, two_passes, command_bus)
    runs = (*of_flash, large_units, slc_cliff, admission)
    for draw in (device, *runs, plane, window):
        path, picture = ROOT / "docs/images" / f"{draw.__name__}.svg", draw().svg()
        if "--check" not in arguments:
            path.write_text(picture, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != picture:
            print(f"{path.name} is not what scripts/drawings.py draws: run it", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
