"""Look at the prose of the pages: length of sentences, our own list of riddles, and proselint.

Usage: prose.py [--sentences N]  (N: print the longest sentences)
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path

from proselint.checks import __register__
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parents[1]
#: Words of the median sentence of all pages, and of the median sentence of one page, at most.
MEDIAN_MAX, PAGE_MEDIAN_MAX = 16, 19
#: Words that nine in ten sentences of a page stay below.
LONG_MAX = 36
#: Turns of phrase that a newcomer has to puzzle over, and what to write instead.
RIDDLES = {
    r"has queues use no more": "say what is shrunk",
    r"two ends are no events": "say what becomes an event, and when",
    r"so much for the": "say what is counted",
    r"\bwho makes whom wait\b": "who delays whom",
    r"\bas the paper seems to\b": "name the section or the equation",
    r"\bwhat is asked for ahead\b": "prefetching",
    r"\bthe text says\b": "name the section",
    r"builds with assertions check that": "debug builds check this; release builds …",
    r"\bknows_mapping\b": "begin_lookup",
    r"\bothers find some value\b": "say what happens in release builds",
}
#: Rules of proselint that fit a technical reference.
CHECKS = {
    "cliches",
    "hedging",
    "malapropisms",
    "mondegreens",
    "mixed_metaphors",
    "nonwords",
    "oxymorons",
    "redundancy",
    "restricted",
    "skunked_terms",
    "weasel_words",
}


def pages() -> list[Path]:
    """Every page that a user or a newcomer reads."""
    return sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def prose(text: str) -> str:
    """The running text of a page: no code, no tables, no headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    lines = [line for line in text.split("\n") if not re.match(r"\s*(\||#|<|!\[|\$|>|    )", line)]
    text = "\n".join(lines)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").replace("`", "")


def sentences(text: str) -> list[str]:
    """The sentences of running text. A list item and a line before a list end one, too."""
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", prose(text)):
        flat = " ".join(paragraph.split())
        parts += re.split(r"(?<=[.!?:])\s+(?=[A-Z\"'(])", flat)
    cleaned = [re.sub(r"^[-*\d.]+\s+", "", part) for part in parts]
    return [part for part in cleaned if len(part.split()) >= 4]


def main(arguments: list[str]) -> int:
    """Print what was found; the exit status."""
    problems: list[str] = []
    everything: list[tuple[int, str, str]] = []
    CheckRegistry().register_many(__register__)
    for path in pages():
        name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        found = [(len(one.split()), name, one) for one in sentences(text)]
        everything += found
        if len(found) >= 8:
            lengths = [length for length, _, _ in found]
            median, long = statistics.median(lengths), statistics.quantiles(lengths, n=10)[8]
            if long > LONG_MAX:
                problems.append(f"{name}: one sentence in ten has {long:.0f} words, allowed: {LONG_MAX}")
            if median > PAGE_MEDIAN_MAX:
                problems.append(f"{name}: median sentence of {median:.0f} words, allowed: {PAGE_MEDIAN_MAX}")
        for number, line in enumerate(text.split("\n"), start=1):
            for riddle, instead in RIDDLES.items():
                if re.search(riddle, line, re.I):
                    problems.append(f"{name}:{number}: {riddle!r}: {instead}")
        for result in LintFile(source=name, content=prose(text)).lint():
            check = result.check_result.check_path
            if check.split(".")[0] in CHECKS:
                problems.append(f"{name}: {check}: {result.check_result.message}")
    median = statistics.median(length for length, _, _ in everything)
    print(f"{len(everything)} sentences, median {median:.0f} words")
    if median > MEDIAN_MAX:
        problems.append(f"all pages: median sentence of {median:.0f} words, allowed: {MEDIAN_MAX}")
    if "--sentences" in arguments:
        count = int(arguments[arguments.index("--sentences") + 1])
        for length, name, one in sorted(everything, reverse=True)[:count]:
            print(f"{length} {name}: {one[:160]}")
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
