"""The page of a search: one file that needs nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashlane import _flashlane

if TYPE_CHECKING:
    from flashlane.search import Search

#: Columns that say why a configuration could not run, with their heads.
_WHY = {"run": "run", "error_kind": "kind", "error": "reason"}


def page(found: Search) -> str:
    """HTML of a search."""
    names = list(dict.fromkeys(key for entry in found for key in entry["point"]))
    view = {
        "said": found.said(),
        "ran": f"{found.ran()}; {found.effort['per_minute']:.0f} evaluations a minute.",
        "constraints": "; ".join(rule.text for rule in found.constraints),
        "best": {
            "heads": [*names, *(metric.label for metric in found.objectives)],
            "rows": [_cells(entry, names) for entry in found.front],
        },
        "refused": _refused(found),
        "chart": _chart(found),
    }
    return _flashlane.search_page(json.dumps(view))


def _refused(found: Search) -> dict[str, Any]:
    """The runs that failed, with the reasons."""
    rows = found.refused_rows()
    heads = list(dict.fromkeys(key for row in rows for key in row))
    # The reason is last, whatever keys the rows have.
    heads = [head for head in heads if head not in _WHY] + [*_WHY]
    return {
        "heads": [_WHY.get(name, name) for name in heads],
        "rows": [[str(row.get(name, "")) for name in heads] for row in rows],
    }


def _cells(entry: dict[str, Any], names: list[str]) -> list[str]:
    keys = [str(entry["point"].get(name, "")) for name in names]
    return keys + [f"{value:.4g}" for value in entry["values"]]


def _chart(found: Search) -> dict[str, Any]:
    """Two objectives against each other, or one over the evaluations."""
    several = len(found.objectives) > 1
    points = [
        {
            "x": entry["values"][0] if several else number,
            "y": entry["values"][1] if several else entry["values"][0],
            "best": entry["front"],
            "what": ", ".join(f"{key} = {value}" for key, value in entry["point"].items()),
        }
        for number, entry in enumerate(found, start=1)
        if entry["error"] is None and not any(entry["violated"])
    ]
    labels = [metric.label for metric in found.objectives[:2]]
    x, y = labels if several else ["evaluation", labels[0]]
    return {"x": x, "y": y, "joined": several, "points": points}
