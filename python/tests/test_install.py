"""The wheel in a fresh environment: there in seconds, without a compiler, and the README's Python runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    maturin = Path(sys.executable).with_name("maturin")
    # The profile of the tests, whose crates are compiled already.
    subprocess.run([maturin, "build", "--quiet", "--profile", "dev", "--out", folder], cwd=ROOT, check=True)
    (found,) = folder.glob("*.whl")
    return found


def test_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    assert "-abi3-" in wheel.name, "one wheel for every Python from 3.11 on"
    home = tmp_path / "fresh"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    # No compiler, no network: the wheel is enough.
    plain = {"PATH": str(home / "bin"), "HOME": str(tmp_path), "PIP_NO_INDEX": "1"}
    begun = time.monotonic()
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], env=plain, check=True)
    assert time.monotonic() - begun < 30, "seconds"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE))
    done = subprocess.run(
        [python, "-c", program], env=plain, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "reader" in done.stdout


def test_the_wheel_has_its_types_and_nothing_else(wheel: Path) -> None:
    import zipfile

    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        text = packed.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "flashlane/py.typed" in names and "flashlane/_flashlane.pyi" in names
    assert not [name for name in names if "test" in name.lower()]
    assert "Requires-Python: >=3.11" in text and "License-Expression: Apache-2.0 OR MIT" in text
    assert not re.search(r"^Requires-Dist: (?!.*extra ==)", text, re.MULTILINE), "no other package is needed"


def test_examples_are_strict() -> None:
    paths = sorted(str(path) for path in (ROOT / "examples").glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "target" / "mypy"), *paths]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    done = subprocess.run(
        command, cwd=ROOT / "examples", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
