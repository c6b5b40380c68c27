"""Look at the prose of the project: pages, and the comments of Rust and Python.

Usage: prose.py [--sentences N] [PATH …]

Pages are held to a median and a largest length of their sentences, and proselint reads them. In
pages and comments, `RIDDLES` and `riddles` find turns of phrase at which a newcomer has to stop;
each finding says what to write instead. `--sentences N` prints the N longest sentences. With
paths, only files below them are searched.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import statistics
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proselint.checks import __register__
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parents[1]
#: Words of the median sentence of all pages, and of the median sentence of one page, at most.
MEDIAN_MAX, PAGE_MEDIAN_MAX = 16, 19
#: Words that nine in ten sentences of a page stay below.
LONG_MAX = 36
#: Words of any sentence, at most.
SENTENCE_MAX = 40
#: Words of a sentence in which three pronouns leave little that tells what is meant.
SHORT = 15

#: Turns of phrase that a newcomer has to puzzle over, and what to write instead. They are matched
#: at the start of a sentence; a leading `.*` finds one anywhere in it.
RIDDLES = [
    (
        r"The same\b",
        "a sentence that begins with 'The same': name what is meant",
    ),
    (
        r"Of [a-z]",
        "a sentence that begins with 'Of': begin with its subject",
    ),
    (
        r"(?:So|As|Nor|Neither) (?:do|does|did|is|are|was|were|has|have|had|can|will)\b(?! [\w`]+ed\b)",
        "'So does …' leans on the sentence before: say what happens",
    ),
    (
        r"Has (?!no\b|to\b|been\b)",
        "'Has X do …': say what is done, with an active verb",
    ),
    (
        r"What (?:is|are|was|were|has|have|had|may|can|could|must|does|did) ",
        "'What is …' hides the subject: name the thing",
    ),
    (
        r"(?:.*\b)?[Ss]o (?:many|much)\b(?!.* that\b)(?! (?:\w+ )?as\b)",
        "'so many': name the quantity or the parameter",
    ),
    (
        r".*\bat hand\b",
        "'at hand': say 'current', or name the thing",
    ),
    (
        r".*\b(?:[Ii]t|[Tt]hey|[Tt]hose|[Oo]nes?) (?:[\w']+ ){1,2}(?:it|them|those|ones?)$",
        "a sentence of pronouns only: name the things",
    ),
]
#: A tenant may wait for somebody, but the parts of a drive are no persons: for comments only.
PERSONS = re.compile(r".*\bwhom\b")
#: What the first sentence of a comment must not begin with: nothing stands before it.
DANGLING = re.compile(
    r"(?:It|They|That|Those|These|Such|Both|Neither|One of (?:it|them|these|those))\b"
    r"(?! (?:[a-z]+s|two|three)\b)|(?:It|They|Its|Their|That (?:of|is|was)|Those)\b"
)
#: Words that stand for a noun.
PRONOUN = re.compile(
    r"\b(?:it|they|them|those|ones|one(?= (?:of|that|which|is|was|in|for|to)\b|[.,:;]|$)"
    r"|(?:such|these|this|that)(?=[.,:;]|$)|(?:these|that)(?= of\b)|that(?= is\b))\b",
    re.I,
)
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


class Comment(NamedTuple):
    """A comment: the line where it begins, its text, and the code behind it."""

    line: int
    text: str
    code: str


def pages() -> list[Path]:
    """Every page that a user or a newcomer reads."""
    roots = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "GLOSSARY.md")
    return sorted([*(ROOT / name for name in roots), *(ROOT / "docs").glob("*.md")])


def sources() -> Iterator[Path]:
    """Every file of Rust and Python whose comments are read."""
    for folder in ("crates", "python", "scripts", "examples"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in {".rs", ".py"} and "target" not in path.relative_to(ROOT).parts:
                yield path


def running_text(text: str) -> str:
    """The running text of a page with its code spans: no code blocks, no tables, no headings."""
    text = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    lines = [line for line in text.split("\n") if not re.match(r"\s*(\||#|<|!\[|\$|>|    )", line)]
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(lines)).replace("**", "")


def prose(text: str) -> str:
    """The running text of a page, as proselint reads it."""
    return running_text(text).replace("`", "")


def page_parts(text: str) -> Iterator[Comment]:
    """The paragraphs of a page and the cells of its tables, without code blocks."""
    for hidden in (r"^\s*```.*?^\s*```", r"<!--.*?-->"):
        text = re.sub(hidden, lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S)
    start, paragraph = 0, []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if row := re.match(r"\s*\|(.*)\|\s*$", line):
            yield from (Comment(number, cell.strip(), "") for cell in re.split(r"(?<!\\)\|", row[1]))
        if row or not line.strip():
            if paragraph:
                yield Comment(start, "\n".join(paragraph), "")
            paragraph = []
        else:
            start = number if not paragraph else start
            paragraph.append(line)


def sentences(text: str) -> list[str]:
    """The sentences of running text. A list item and a line before a list end one, too.

    A code span counts as one word.
    """
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", running_text(text)):
        flat = " ".join(paragraph.split())
        parts += re.split(
            r"(?<=[.!?:])\s+(?=[A-Z\"'(])|(?<=[.!?])\s+(?=[`\[])|(?<=[.!?]\))\s+(?=[A-Z])", flat
        )
    bare = [re.sub(r"^(?:[-*]|\d+\.)\s+", "", part) for part in parts if part]
    return [re.sub(r"`([^`]*)`", lambda span: span[1].replace(" ", "_"), part) for part in bare]


def rust_comments(text: str) -> Iterator[Comment]:
    """The comments of a Rust file; lines of one kind and indentation that follow each other are one."""
    lines = text.split("\n")
    pattern = re.compile(r"(\s*)(///|//!|//)(?: (.*))?$")
    number = 0
    while number < len(lines):
        match = pattern.match(lines[number])
        number += 1
        if not match:
            continue
        start, block = number, [match[3] or ""]
        while number < len(lines) and (more := pattern.match(lines[number])):
            if more[1] != match[1] or more[2] != match[2]:
                break
            block.append(more[3] or "")
            number += 1
        behind = number
        while behind < len(lines) and lines[behind].lstrip().startswith("#["):
            behind += 1
        code = lines[behind].strip() if match[2] == "///" and behind < len(lines) else ""
        yield Comment(start, "\n".join(block), code)


def python_comments(text: str) -> Iterator[Comment]:
    """The comments and the documentation of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            body = inspect.cleandoc(str(node.value.value))
            body = re.sub(r"^\s*(?:>>>|\.\.\.).*$", "", body, flags=re.M)
            # Each argument in a list of arguments is a paragraph of its own.
            yield Comment(node.lineno, re.sub(r"\n\s+(?=\w+: )", "\n\n", body), "")
    block: list[str] = []
    start, last = 0, -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            if block and line != last + 1:
                yield Comment(start, "\n".join(block), "")
                block = []
            start = line if not block else start
            block.append(token.string.lstrip("#:").strip())
            last = line
    if block:
        yield Comment(start, "\n".join(block), "")


def riddle(sentence: str, first: bool, page: bool) -> str | None:
    """The fault of a sentence, or None. `first`: no sentence stands before it."""
    for pattern, instead in RIDDLES:
        if re.match(pattern, sentence):
            return instead
    if not page and PERSONS.match(sentence):
        return "'whom': parts of a drive are no persons: name the part, with an active verb"
    if first and DANGLING.match(sentence):
        return "a first sentence that begins with a pronoun: name the thing"
    length = len(sentence.split())
    if length <= SHORT and len(PRONOUN.findall(sentence)) >= 3:
        return "three pronouns in a short sentence: name the things"
    if length > SENTENCE_MAX:
        return f"a sentence of {length} words, allowed: {SENTENCE_MAX}"
    return None


def says_only_the_name(comment: Comment) -> bool:
    """Whether a doc comment is only the name of its item again."""
    kind = r"(?:pub(?:\([\w ]+\))? )?(?:const )?(?:fn|struct|enum|trait|type|const|static) (\w+)"
    field = r"(?:pub(?:\([\w ]+\))? )?(\w+)\s*[:(<{=,;]"
    item = re.match(kind, comment.code) or re.match(field, comment.code)
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", item[1] if item else "").lower().replace("_", " ")
    words = re.findall(r"[a-z]+", parts)
    told = [one for one in re.findall(r"[a-z]+", comment.text.lower()) if one not in {"the", "a", "an", "of"}]
    return bool(told) and len(words) > 1 and sorted(told) == sorted(words)


def riddles(name: str, comments: Iterator[Comment]) -> Iterator[str]:
    """The findings in the comments of a file, or in the parts of a page."""
    for comment in comments:
        if says_only_the_name(comment):
            yield f"{name}:{comment.line}: the name again: say what the name does not say"
        for index, sentence in enumerate(sentences(comment.text)):
            if instead := riddle(sentence, index == 0, name.endswith(".md")):
                yield f"{name}:{comment.line}: {instead}\n    {sentence[:200]}"


def lengths_of(name: str, lengths: list[int]) -> Iterator[str]:
    """The faults in the lengths of the sentences of a page."""
    if len(lengths) < 8:
        return
    median, long = statistics.median(lengths), statistics.quantiles(lengths, n=10)[8]
    if long > LONG_MAX:
        yield f"{name}: one sentence in ten has {long:.0f} words, allowed: {LONG_MAX}"
    if median > PAGE_MEDIAN_MAX:
        yield f"{name}: median sentence of {median:.0f} words, allowed: {PAGE_MEDIAN_MAX}"


def linted(name: str, text: str) -> Iterator[str]:
    """The findings of proselint on a page."""
    for result in LintFile(source=name, content=prose(text)).lint():
        check = result.check_result.check_path
        if check.split(".")[0] in CHECKS:
            yield f"{name}: {check}: {result.check_result.message}"


def main(arguments: list[str]) -> int:
    """Print what was found; the exit status."""
    count = 0
    if "--sentences" in arguments:
        at = arguments.index("--sentences")
        count = int(arguments[at + 1])
        del arguments[at : at + 2]

    def chosen(name: str) -> bool:
        return not arguments or any(name.startswith(path) for path in arguments)

    problems: list[str] = []
    everything: list[tuple[int, str, str]] = []
    CheckRegistry().register_many(__register__)
    for path in pages():
        name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        if not chosen(name):
            continue
        found = [(len(one.split()), name, one) for one in sentences(text) if len(one.split()) >= 4]
        everything += found
        problems += lengths_of(name, [length for length, _, _ in found])
        problems += linted(name, text)
        problems += riddles(name, page_parts(text))
    median = statistics.median([length for length, _, _ in everything] or [0])
    if median > MEDIAN_MAX:
        problems.append(f"all pages: median sentence of {median:.0f} words, allowed: {MEDIAN_MAX}")
    files = [path for path in sources() if chosen(str(path.relative_to(ROOT)))]
    for path in files:
        comments = rust_comments if path.suffix == ".rs" else python_comments
        problems += riddles(str(path.relative_to(ROOT)), comments(path.read_text(encoding="utf-8")))
    print(f"{len(everything)} sentences on pages, median {median:.0f} words; comments of {len(files)} files")
    for length, name, one in sorted(everything, reverse=True)[:count]:
        print(f"{length} {name}: {one[:160]}")
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
