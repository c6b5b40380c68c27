"""The page of a search: one file that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashlane.search import Search

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2733;--paper:#fff;--soft:#667;--line:#dde;--mark:#0b62b0}
@media(prefers-color-scheme:dark){
:root{--ink:#e6e9ee;--paper:#14181d;--soft:#9aa4b0;--line:#333b45;--mark:#6db3f2}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
main{margin:0 auto;max-width:72rem;padding:1rem}
.answer{font-size:1.25rem}.scroll{overflow-x:auto}table{border-collapse:collapse}
th,td{border-bottom:1px solid var(--line);padding:.25rem .7rem;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto}
.axis{stroke:var(--soft)}.each{fill:var(--soft);opacity:.5}.front{fill:var(--mark)}.way{fill:none;stroke:var(--mark)}
.refused td:last-child{text-align:left;white-space:normal;min-width:24rem}
text{fill:var(--ink);font-size:12px}
"""

#: Columns that say why a configuration could not run, with their heads.
_WHY = {"run": "run", "error_kind": "kind", "error": "reason"}
#: Width, height and margin of the picture.
_WIDTH, _HEIGHT, _MARGIN = 640, 380, 56


def page(found: Search) -> str:
    """HTML of a search."""
    names = list(dict.fromkeys(key for entry in found for key in entry["point"]))
    heads = [*names, *(metric.label for metric in found.objectives)]
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(entry, names)) + "</tr>"
        for entry in found.front
    )
    effort = found.effort
    ran = f"{found.ran()}; {effort['per_minute']:.0f} evaluations a minute."
    rules = "; ".join(rule.text for rule in found.constraints)
    kept = f"<p>Constraints: {escape(rules)}.</p>" if rules else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>Search</title><style>{_STYLE}</style><main><h1>Search</h1>'
        f'<p class="answer">{escape(found.said())}</p><p>{escape(ran)}</p>{kept}{_picture(found)}'
        f'<h2>The best ones</h2><div class="scroll" tabindex="0"><table><thead><tr>'
        + "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
        + f"</tr></thead><tbody>{rows}</tbody></table></div>{_refused(found)}</main></html>"
    )


def _refused(found: Search) -> str:
    """The runs that failed, with the reasons; nothing where all ran."""
    rows = found.refused_rows()
    if not rows:
        return ""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    # The reason is last, whatever keys the rows have.
    heads = [head for head in heads if head not in _WHY] + [*_WHY]
    head = "".join(f'<th scope="col">{escape(_WHY.get(name, name))}</th>' for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(row.get(name, '')))}</td>" for name in heads) + "</tr>"
        for row in rows
    )
    return (
        f'<h2>What could not run</h2><div class="scroll" tabindex="0"><table class="refused"><thead>'
        f"<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(entry: dict[str, Any], names: list[str]) -> list[str]:
    keys = [str(entry["point"].get(name, "")) for name in names]
    return keys + [f"{value:.4g}" for value in entry["values"]]


def _picture(found: Search) -> str:
    """Two objectives against each other, or one over the evaluations."""
    several = len(found.objectives) > 1
    good = [
        (float(number), entry)
        for number, entry in enumerate(found, start=1)
        if entry["error"] is None and not any(entry["violated"])
    ]
    if not good:
        return ""
    places = [(e["values"][0], e["values"][1]) if several else (n, e["values"][0]) for n, e in good]
    labels = [m.label for m in found.objectives[:2]] if several else ["evaluation", found.objectives[0].label]
    (left, right), (low, high) = (_range([place[axis] for place in places]) for axis in (0, 1))

    def at(place: tuple[float, float]) -> str:
        x = _MARGIN + (place[0] - left) / (right - left) * (_WIDTH - 2 * _MARGIN)
        y = _HEIGHT - _MARGIN - (place[1] - low) / (high - low) * (_HEIGHT - 2 * _MARGIN)
        return f"{x:.1f},{y:.1f}"

    def dot(place: tuple[float, float], kind: str) -> str:
        x, y = at(place).split(",")
        return f'<circle class="{kind}" cx="{x}" cy="{y}" r="4"/>'

    dots = "".join(
        dot(place, "front" if entry["front"] else "each")
        for place, (_, entry) in zip(places, good, strict=True)
    )
    front = sorted(place for place, (_, e) in zip(places, good, strict=True) if e["front"])
    way = f'<polyline class="way" points="{" ".join(map(at, front))}"/>' if several else ""
    bottom, end = _HEIGHT - _MARGIN, _WIDTH - _MARGIN
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        f'aria-label="{escape(labels[1])} against {escape(labels[0])}">'
        f'<path class="axis" fill="none" d="M{_MARGIN} {_MARGIN}V{bottom}H{end}"/>{way}{dots}'
        f'<text x="{_MARGIN}" y="{bottom + 16}">{left:.4g}</text>'
        f'<text x="{end}" y="{bottom + 16}" text-anchor="end">{right:.4g}</text>'
        f'<text x="{_WIDTH / 2}" y="{bottom + 36}" text-anchor="middle">{escape(labels[0])}</text>'
        f'<text x="{_MARGIN - 6}" y="{bottom}" text-anchor="end">{low:.4g}</text>'
        f'<text x="{_MARGIN - 6}" y="{_MARGIN}" text-anchor="end">{high:.4g}</text>'
        f'<text x="{_MARGIN}" y="{_MARGIN - 20}">{escape(labels[1])}</text></svg>'
    )


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)
