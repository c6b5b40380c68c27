"""Writes what `flashlane reproduce` measured into the tables of README.md and docs/reproduce.md.

    flashlane reproduce fast18 --out out/fast18    # and upi, flin
    python scripts/reproduced_tables.py out

A table stands between a pair of comments, such as `<!-- upi verdicts -->`. Papers without results are left as they are.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERDICTS = {"agrees-in-shape": "in shape", "disagrees": "**disagrees**", "no-reference": "no reference"}
HEADLINES = [
    "das-as.p99.upi-vs-unified",
    "das-as.p99.partitioned-vs-unified",
    "lm-tbe.mean.upi-vs-partitioned",
    "lm-tbe.mean.unified-vs-partitioned",
]
SHARES = ["25 % high", "50 %", "75 %", "100 %"]


def number(value: float) -> str:
    """Three figures after the point for what is less than one, two otherwise."""
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def value(number_of: float | None, unit: str, interval: list[float] | None = None) -> str:
    if number_of is None:
        return ""
    spread = f" ({number(interval[0])}..{number(interval[1])})" if interval else ""
    unit = {"relative change": "", "change": " change"}.get(unit, f" {unit}")
    return number(number_of) + spread + unit


def verdicts(rows: list[dict]) -> list[str]:
    lines = ["| experiment | metric | paper | ours | verdict |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        paper = value(row["paper"], row["unit"])
        ours = value(row["ours"], row["unit"], row["interval"])
        verdict = VERDICTS.get(row["verdict"], row["verdict"])
        lines.append(f"| {row['experiment']} | {row['metric']} | {paper} | {ours} | {verdict} |")
    return lines


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def headlines(rows: list[dict]) -> list[str]:
    lines = ["| metric | paper | ours |", "| --- | --- | --- |"]
    found = {row["metric"]: row for row in rows if row["experiment"] == "isolation"}
    for metric in HEADLINES:
        row = found[metric]
        low, high = row["interval"]
        ours = f"{percent(row['ours'])} ({percent(low)} to {percent(high)})"
        lines.append(f"| `{metric}` | {percent(row['paper'])} | {ours} |")
    return lines


def replace(page: Path, mark: str, lines: list[str]) -> None:
    text = page.read_text()
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    page.write_text(before + begin + "\n".join(lines) + "\n" + end + after)


def results(folder: Path, paper: str) -> list[dict]:
    file = folder / paper / "results.json"
    if not file.exists():
        print(f"{file}: not there, its tables stay")
        return []
    rows = json.loads(file.read_text())
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("agrees", *VERDICTS)}
    print(f"{paper}: {len(rows)} comparisons: {counts}")
    return rows
