"""The package as its users meet it: README, notebook, types, docstrings."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["flashlane", *(f"flashlane.{name}" for name in ("workload", "run", "result", "sweeps", "traces"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/own-policies.md"])
def test_the_snippets_of_a_page_run_word_for_word(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert snippets, "the page shows Python"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(snippets)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("reader") >= len(snippets), "each prints something of the reader"


def test_the_page_of_own_policies_shows_the_whole_example() -> None:
    page = (ROOT / "docs" / "own-policies.md").read_text(encoding="utf-8")
    program = (ROOT / "examples" / "fair-turns" / "src" / "main.rs").read_text(encoding="utf-8")
    assert f"```rust\n{program}```" in page


@pytest.mark.slow
def test_types_are_strict() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "target" / "mypy")]
    done = subprocess.run(
        [*command, "-p", "flashlane"], cwd=ROOT / "python", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert any(outputs)


def test_everything_public_is_documented() -> None:
    import flashlane

    for name in flashlane.__all__:
        thing = getattr(flashlane, name)
        if name not in ("__version__", "errors"):
            assert thing.__doc__, f"{name} has no docstring"
