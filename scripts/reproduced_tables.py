"""Writes what `flashlane reproduce` measured into the tables of docs/papers.md and docs/reproduce.md.

    flashlane reproduce fast18 --out out/fast18    # and upi, flin
    python scripts/reproduced_tables.py out

A table stands between a pair of comments, such as `<!-- upi verdicts -->`. Tables of papers without results
stay as they are.
"""

import csv
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERDICTS = {
    "same-direction": "same direction",
    "other-magnitude": "other magnitude",
    "disagrees": "**disagrees**",
    "no-effect": "no effect",
    "no-reference": "no reference",
}
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
    """A number with its unit and, in brackets, its interval."""
    if number_of is None:
        return ""
    ends = [number(end) for end in interval] if interval else []
    # Some figures hardly differ between seeds.
    spread = f" ({'..'.join(ends)})" if len(set(ends)) == 2 else ""
    if unit == "change":
        return f"{number(number_of)}{spread} change"
    unit = "" if unit.startswith("relative") else unit
    return f"{number(number_of)} {unit}".strip() + spread


def verdicts(rows: list[dict]) -> list[str]:
    """Every comparison, a line each."""
    lines = ["| experiment | metric | paper | ours | verdict |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        paper = value(row["paper"], row["unit"])
        ours = value(row["ours"], row["unit"], row["interval"])
        verdict = VERDICTS.get(row["verdict"], row["verdict"])
        lines.append(f"| {row['experiment']} | {row['metric']} | {paper} | {ours} | {verdict} |")
    return lines


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.1f} %"


def headlines(rows: list[dict]) -> list[str]:
    """UPI's main numbers."""
    lines = ["| metric | paper | ours |", "| --- | --- | --- |"]
    found = {row["metric"]: row for row in rows if row["experiment"] == "isolation"}
    for metric in HEADLINES:
        row = found[metric]
        low, high = row["interval"]
        ours = f"{percent(row['ours'])} ({percent(low)} to {percent(high)})"
        lines.append(f"| `{metric}` | {percent(row['paper'])} | {ours} |")
    return lines


def readings(folder: Path, name: str) -> list[str]:
    """UPI's main numbers under other assumptions: a table of an experiment, changes in per cent."""
    with (folder / "upi" / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    metrics = [head.index(metric) for metric in HEADLINES]
    others = [at for at in range(metrics[2]) if head[at] != "+-"]
    columns = [head[at] for at in others] + [f"`{metric}`" for metric in HEADLINES]
    lines = ["| " + " | ".join(columns) + " |", "| --- " * len(columns) + "|"]
    for row in rows:
        cells = [row[others[0]]] + [f"{float(row[at]):.1f}" for at in others[1:]]
        for at in metrics:
            half = row[at + 1] if at + 1 < len(row) and head[at + 1] == "+-" else ""
            cells.append(percent(float(row[at])) + (f" ± {100 * float(half):.1f}" if half else ""))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def bars(folder: Path) -> list[str]:
    """UPI's Fig. 3, the whole day and its peak hour."""
    lines = [
        "| piece | tenant | policy | mean read, us | p99 read, us | write amplification |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for piece, stem in (("whole day", "isolation"), ("peak hour", "isolation-peak")):
        with (folder / "upi" / f"{stem}.csv").open() as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            numbers = [f"{float(row[key]):.0f}" for key in ("mean, us", "p99, us")]
            waf = f"{float(row['write amplification']):.2f}"
            lines.append("| " + " | ".join([piece, row["tenant"], row["policy"], *numbers, waf]) + " |")
    return lines


def replace(page: Path, mark: str, lines: list[str]) -> None:
    """Puts lines between a pair of comments of a page."""
    text = page.read_text()
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    page.write_text(before + begin + "\n".join(lines) + "\n" + end + after)


def table(file: Path, columns: list[str]) -> list[str]:
    """Some columns of a table of an experiment."""
    with file.open() as content:
        rows = list(csv.DictReader(content))
    lines = ["| " + " | ".join(columns) + " |", "| --- " * len(columns) + "|"]
    for row in rows:
        cells = [row[columns[0]]] + [f"{float(row[column]):.3g}" for column in columns[1:]]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def fetch_sizes(folder: Path, name: str, columns: list[str]) -> list[str]:
    """A sweep of depths under both sizes of QueueFetchSize."""
    lines: list[str] = []
    for size in ("1024", "16"):
        head, rule, *rows = table(folder / "fast18" / f"{name}-{size}.csv", columns)
        lines = lines or [f"| QueueFetchSize {head}", f"| --- {rule}"]
        lines += [f"| {size} {row}" for row in rows]
    return lines


def fast18_figures(page: Path, folder: Path) -> None:
    """The tables behind MQSim's Fig. 2, 9 and 12, and of a reader beside a writer."""
    slowdowns = ["flow-1 slowdown", "flow-2 slowdown", "fairness"]
    throughput = ["flow-1 throughput of alone", "flow-2 throughput of alone", "flow-1 IOPS", "flow-2 IOPS"]
    times = [
        "reader us",
        "reader in the submission queue us",
        "reader waits for flash us",
        "writer in the submission queue us",
        "writer waits for flash us",
    ]
    for name, columns in (
        ("fetch-size", ["flow-2 depth", *slowdowns, *throughput]),
        ("reader-writer", ["writer depth", *slowdowns, *times]),
    ):
        if (folder / "fast18" / f"{name}-16.csv").exists():
            replace(page, f"fast18 {name}", fetch_sizes(folder, name, columns))
    pairs = folder / "fast18" / "application-level.csv"
    if pairs.exists():
        columns = ["pair", "QueueFetchSize", "first slowdown", "second slowdown", "fairness"]
        replace(page, "fast18 application-level", table(pairs, columns))


def checks(folder: Path, paper: str) -> list[str]:
    """Checks of our own, a line each."""
    rows = json.loads((folder / paper / "checks.json").read_text())
    lines = ["| experiment | check | ours | verdict | |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        ours = value(row["ours"], row["unit"], row["interval"])
        verdict = VERDICTS.get(row["verdict"], row["verdict"])
        lines.append(f"| {row['experiment']} | {row['metric']} | {ours} | {verdict} | {row['note']} |")
    return lines


def results(folder: Path, paper: str) -> list[dict]:
    """The measurements of a paper; an empty list if its experiments were not run."""
    file = folder / paper / "results.json"
    if not file.exists():
        print(f"{file}: not there, its tables stay")
        return []
    rows = json.loads(file.read_text())
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("agrees", *VERDICTS)}
    print(f"{paper}: {len(rows)} comparisons: {counts}")
    return rows


def policies(rows: list[dict]) -> list[str]:
    """FLIN's main result, ours and in brackets the paper's."""
    found = {row["metric"]: row for row in rows if row["experiment"] == "policies"}

    def size(number: float, unit: str) -> str:
        if unit == "change":
            return f"{100 * number:+.0f} %"
        return f"{number:.2f}x" if number < 100 else f"{number:.0f}x"

    lines = [
        f"| FLIN against | metric | {' | '.join(SHARES)} |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for other in ("sprinkler", "sprinkler-fairness"):
        for metric in ("fairness", "maximum slowdown", "STDEV of slowdown", "weighted speedup"):
            cells = []
            for share in SHARES:
                share = share.removesuffix(" high")
                row = found[f"{metric}, {share} high, flin against {other}"]
                ours, paper = (size(row[key], row["unit"]) for key in ("ours", "paper"))
                cells.append(f"{ours} ({paper})")
            lines.append(f"| `{other}` | {metric} | {' | '.join(cells)} |")
    return lines


def workloads(folder: Path) -> list[str]:
    """FLIN's forty workloads under its three schedulers. Those that FLIN does not serve are named last."""
    with (folder / "flin" / "policies-workloads.csv").open() as file:
        rows = list(csv.DictReader(file))
    by_mix: dict[str, list[dict]] = {}
    for row in rows:
        by_mix.setdefault(row["traces"], []).append(row)
    lines = [
        "| high, % | traces | fairness: Sprinkler, with budgets, FLIN | largest slowdown | STDEV "
        "| chips busy, % | seeds with growing backlogs | served by FLIN |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for mix, runs in sorted(by_mix.items(), key=lambda pair: pair[1][0]["served by flin"] == "no"):
        cells = [runs[0]["high, %"], mix.replace("+", ", ")]
        for key in ("fairness", "max slowdown", "STDEV", "chips busy", "seeds with growing backlogs"):
            factor = 100 if key == "chips busy" else 1
            cells.append(", ".join(f"{factor * float(run[key]):.3g}" for run in runs if run[key]))
        cells.append(runs[0]["served by flin"])
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def composition(folder: Path) -> list[str]:
    """Isolation by scheduling, at two loads."""
    lines = [
        "| load | scheduler | isolation | fairness | das-as p99 read, us | lm-tbe mean read, us | WAF "
        "| erases of a chip, range / mean |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for load in ("moderate", "high"):
        before = None
        with (folder / "upi" / f"composition-{load}.csv").open() as file:
            _, *rows = csv.reader(file)
        for scheduler, isolation, *numbers in rows:
            fairness, fairness_half, tail, tail_half, mean, mean_half, waf, _, chips = map(float, numbers)
            first = [load if before is None else "", scheduler if scheduler != before else ""]
            before = scheduler
            cells = [
                isolation,
                f"{fairness:.3f} ± {fairness_half:.3f}",
                f"{tail:.0f} ± {tail_half:.0f}",
                f"{mean:.0f} ± {mean_half:.0f}",
                f"{waf:.2f}",
                f"{chips:.2f}",
            ]
            lines.append("| " + " | ".join(first + cells) + " |")
    return [line.replace("|  |", "| |").replace("|  |", "| |") for line in lines]


def sensitivity(folder: Path) -> list[str]:
    """FLIN's main result with one thing changed at a time, over both baselines."""
    lines = [
        "| changed | to | FLIN over | fairness | max slowdown | STDEV | weighted speedup "
        "| largest slowdown of FLIN | of the other | workloads with growing backlogs, FLIN and the other |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    with (folder / "flin" / "sensitivity.csv").open() as file:
        _, *rows = csv.reader(file)
    for axis, to, over, *numbers in rows:
        fairness, slowdown, spread, speedup, flin, other, growing, growing_other = map(float, numbers)
        cells = [axis, to, f"`{over}`", *(f"{gain:.3g}x" for gain in (fairness, slowdown, spread))]
        cells += [
            f"{100 * speedup:+.0f} %",
            f"{flin:.3g}",
            f"{other:.3g}",
            f"{growing:.0f}, {growing_other:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Writes all tables."""
    folder = Path(sys.argv[1])
    short, page = ROOT / "docs/papers.md", ROOT / "docs/reproduce.md"
    papers = {paper: results(folder, paper) for paper in ("fast18", "flin", "upi")}
    for paper, rows in papers.items():
        if rows:
            replace(
                page,
                f"{paper} verdicts",
                verdicts([row for row in rows if row["experiment"] not in ("composition", "sensitivity")]),
            )
            replace(page, f"{paper} checks", checks(folder, paper))
    if rows := papers["fast18"]:
        # The rest is in docs/reproduce.md.
        numbers = [row for row in rows if row["paper"] is not None and row["verdict"] != "no-reference"]
        replace(short, "fast18 numbers", verdicts(numbers))
        fast18_figures(page, folder)
    if rows := papers["flin"]:
        replace(short, "flin policies", policies(rows))
        replace(page, "flin sensitivity", sensitivity(folder))
        replace(page, "flin workloads", workloads(folder))
    if rows := papers["upi"]:
        replace(short, "upi headlines", headlines(rows))
        replace(page, "upi bars", bars(folder))
        for name in ("variants", "held", "load"):
            if (folder / "upi" / f"{name}.csv").exists():
                replace(page, f"upi {name}", readings(folder, name))
        if (folder / "upi" / "composition-high.csv").exists():
            replace(page, "upi composition", composition(folder))


if __name__ == "__main__":
    main()
