"""Write docs/api.md: what the Python package has, from its docstrings.

Usage: python_api.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/api.md"

#: Everything public, in the order in which people need it.
GROUPS = {
    "Run": ["simulate", "Device", "Flow", "Workload"],
    "Results": ["Result", "FlowResult", "Seeds", "Estimate", "Table", "compare", "plot_compare"],
    "Many runs": ["sweep", "sweep_grid", "Sweep", "search", "search_file", "Search"],
    "Questions to the command": [
        "advise", "Advice", "Tried", "plan", "Plan", "PlanAnswer", "PlanTrial", "PlanGoal",
        "probe", "Probe", "ProbeSeries", "fit", "Fit", "FitKey", "FitPoint",
    ],
    "Traces and clones": ["read_trace", "clone_trace", "clone_names", "Clone"],
    "A drive that your program steps": [
        "Drive", "Completion", "Snapshot", "Zone", "PlacementEvent", "US", "MS", "S",
    ],
    "Policies": [
        "policies", "PolicyInfo", "Scheduler", "VictimPolicy", "DriveShape", "Work", "State", "Plane",
        "Random", "conformance", "Verdict",
    ],
    "Papers": ["papers", "reproduce"],
    "Errors": [
        "Error", "ConfigError", "TraceError", "OutputError", "RefusedError", "StuckError",
    ],
}  # fmt: skip

INTRO = """# Python API

What `import flashlane as fl` gives. [Use it from Python](python.md) shows how the parts work together.
Units are in the names: `_us` are microseconds, `_ps` picoseconds, `_s` seconds of simulated time. In Python,
`help(fl.simulate)` prints the same text.

Keys of devices and flows are typed: `fl.keys` has a typed dictionary for each table of
[the configuration](configuration.md), and `fl.figures` one for each part of [the results](results.md). A slip
in a key is found by mypy and by editors, and by the constructor, which names the key that was probably meant.
Names of policies and their parameters are open there: your own ones are allowed too.

"""


def plain(text: str) -> str:
    """Roles and double backticks as Markdown has them."""
    text = re.sub(r":(?:class|meth|func|data|mod|attr):`~?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`").strip()


def one_line(text: str) -> str:
    """For a cell of a table."""
    return " ".join(plain(text).split()).replace("|", "\\|")


def annotation(of: object) -> str:
    """A type, short."""
    return str(of or "").replace("flashlane._flashlane.", "").replace("typing.", "")


def signature(name: str, function: griffe.Function, *, method: bool) -> str:
    """As one writes it."""
    parts, star = [], False
    for one in list(function.parameters)[1 if method else 0 :]:
        kind = one.kind
        if kind is griffe.ParameterKind.keyword_only and not star:
            parts.append("*")
            star = True
        mark = {"variadic positional": "*", "variadic keyword": "**"}.get(kind.value if kind else "", "")
        star = star or mark == "*"
        shown = f"{mark}{one.name}"
        if one.annotation is not None:
            shown += f": {annotation(one.annotation)}"
        if one.default is not None and not mark:
            shown += f" = {one.default}" if one.annotation is not None else f"={one.default}"
        parts.append(shown)
    returns = f" -> {annotation(function.returns)}" if function.returns is not None else ""
    line = f"{name}({', '.join(parts)}){returns}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def sections(of: griffe.Object) -> list[str]:
    """The docstring, part by part."""
    lines: list[str] = []
    if of.docstring is None:
        return lines
    for section in of.docstring.parse("google", warnings=False):
        kind = section.kind.value
        if kind == "text":
            lines += [plain(section.value), ""]
        elif kind in ("parameters", "other parameters", "attributes"):
            heads = {"attributes": "attribute"}
            lines += [f"| {heads.get(kind, 'parameter')} | |", "| --- | --- |"]
            lines += [f"| `{one.name}` | {one_line(one.description)} |" for one in section.value]
            lines.append("")
        elif kind == "raises":
            lines += ["| raises | when |", "| --- | --- |"]
            lines += [f"| `{one.annotation}` | {one_line(one.description)} |" for one in section.value]
            lines.append("")
        elif kind == "returns":
            lines += [f"Returns: {one_line(one.description)}" for one in section.value] + [""]
        elif kind == "examples":
            for part, text in section.value:
                code = re.sub(r"\s*# doctest: \+\w+", "", text)
                fenced = ["```python", code, "```", ""]
                lines += fenced if part.value == "examples" else [plain(text), ""]
    return lines


def described(of: griffe.Object) -> str:
    """The first paragraph, on one line."""
    return one_line(of.docstring.value.split("\n\n")[0]) if of.docstring is not None else ""


def members(of: griffe.Class) -> list[str]:
    """Attributes in a table, then the methods."""
    lines: list[str] = []
    own = [one for name, one in of.all_members.items() if not name.startswith("_")]
    own = [one.final_target if one.is_alias else one for one in own]
    attributes = [one for one in own if one.is_attribute and one.docstring is not None]
    if attributes:
        lines += ["| attribute | |", "| --- | --- |"]
        for one in attributes:
            kind = annotation(one.annotation).replace("|", "\\|")
            lines.append(f"| `{one.name}`{f': `{kind}`' if kind else ''} | {described(one)} |")
        lines.append("")
    for one in own:
        if one.is_function:
            static = "staticmethod" in one.labels
            lines += ["```python", signature(f".{one.name}", one, method=not static), "```", ""]
            lines += sections(one)
    return lines


def entry(package: griffe.Module, name: str) -> list[str]:
    """A heading, the signature, what it says, and what it has."""
    of = package[name]
    of = of.final_target if of.is_alias else of
    lines = [f"### {name}", ""]
    if of.is_function:
        return [*lines, "```python", signature(name, of, method=False), "```", "", *sections(of)]
    if not of.is_class:
        return [*lines, described(of), ""]
    init = of.all_members.get("__init__")
    dataclass = "dataclass" in of.labels or any("NamedTuple" in str(base) for base in of.bases)
    if init is not None and not dataclass and name not in NOT_MADE:
        init = init.final_target if init.is_alias else init
        made = signature(name, init, method=True).removesuffix(" -> None")
        lines += ["```python", made, "```", ""]
    return [*lines, *sections(of), *members(of)]


#: Classes that users are given and do not make.
NOT_MADE = {
    "Result", "FlowResult", "Seeds", "Sweep", "Search", "Scheduler", "VictimPolicy",
    "Error", "ConfigError", "TraceError", "OutputError", "RefusedError", "StuckError",
}  # fmt: skip


def page() -> str:
    """The whole page."""
    package = griffe.load("flashlane", search_paths=[ROOT / "python"])
    public = {name.strip("\"'") for name in map(str, package.exports or [])} - {
        "__version__",
        "errors",
        "figures",
        "keys",
    }
    listed = [name for names in GROUPS.values() for name in names]
    if public != set(listed):
        sys.exit(f"python_api.py: in no group, or not public: {sorted(public ^ set(listed))}")
    lines = [INTRO.rstrip(), ""]
    for title, names in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += entry(package, name)
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def main(arguments: list[str]) -> None:
    """Write the page, or fail where it is out of date."""
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/api.md is out of date: run scripts/python_api.py")


if __name__ == "__main__":
    main(sys.argv[1:])
