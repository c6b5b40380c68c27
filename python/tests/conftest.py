"""Small drives and tenants that run in a moment."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flashlane as fl
from flashlane.program import VARIABLE

# Tests of states name a folder of their own; the others leave the user's caches alone.
os.environ["FLASHLANE_STATES"] = "off"

SMALL = {
    "base": "fast18",
    "flash": {"channels": 1, "chips_per_channel": 2, "blocks_per_plane": 160, "pages_per_block": 32},
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that need a browser as slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    script = Path(__file__).resolve().parents[2] / "scripts" / "browser.sh"
    path = subprocess.run([script], capture_output=True, text=True, check=False).stdout.strip()
    if not path:
        pytest.skip("no Chromium here, and none could be installed")
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def device() -> fl.Device:
    return fl.Device(SMALL)


@pytest.fixture(scope="session")
def workload() -> fl.Workload:
    return fl.Workload(
        [
            fl.Flow("light", queue_depth=1, read_ratio=1.0, requests=200),
            fl.Flow("heavy", queue_depth=16, read_ratio=0.5, requests=2000),
        ],
        name="pair",
    )


@pytest.fixture(scope="session")
def result(device: fl.Device, workload: fl.Workload) -> fl.Result:
    return fl.simulate(device, workload, alone=True, requests=True, timeseries=True, blame=True)


@pytest.fixture(scope="session")
def saturated() -> fl.Result:
    """A drive that keeps up with the second flow only."""
    return fl.simulate("tiny", overload(), alone=True)


def overload(iops: float = 200_000.0) -> fl.Workload:
    return fl.Workload(
        [
            fl.Flow("busy", iops=iops, read_ratio=0.0, size="4KiB", duration="20ms", cache="off"),
            fl.Flow("calm", queue_depth=1, read_ratio=1.0, duration="20ms"),
        ]
    )


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> str:
    """The command of this tree, or the one that is named."""
    root = Path(__file__).resolve().parents[2]
    built = [root / "target" / kind / "flashlane" for kind in ("debug", "release")]
    built = sorted((path for path in built if path.is_file()), key=lambda path: path.stat().st_mtime)
    found = os.environ.get(VARIABLE) or (str(built[-1]) if built else shutil.which("flashlane"))
    if found is None:
        pytest.skip("the command flashlane is not built: cargo build -p flashlane-cli")
    monkeypatch.setenv(VARIABLE, found)
    return found
