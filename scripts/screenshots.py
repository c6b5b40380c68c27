"""Make the pictures of the README: the report of four tenants on the FAST'18 drive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import flashlane as fl

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Simulate, write the page, and look at it."""
    tenants = fl.Workload(
        [
            fl.Flow("key-value store", queue_depth=2, read_ratio=1.0, duration="400ms"),
            fl.Flow("database", clone="tpcc", time_scale=1.0, duration="400ms"),
            fl.Flow(
                "analytics",
                queue_depth=8,
                read_ratio=1.0,
                size="64KiB",
                address="streaming",
                duration="400ms",
            ),
            fl.Flow(
                "backup", queue_depth=16, read_ratio=0.0, size="64KiB", address="streaming", duration="400ms"
            ),
        ],
        name="four tenants",
    )
    result = fl.simulate("fast18", tenants, alone=True, timeseries=True, blame=True)
    page = ROOT / "out" / "four-tenants.html"
    page.parent.mkdir(exist_ok=True)
    result.report(page)
    print(result)
    browser = subprocess.run([ROOT / "scripts" / "browser.sh"], capture_output=True, text=True, check=True)
    pictures = ROOT / "docs" / "images"
    pictures.mkdir(exist_ok=True)
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser.stdout.strip(), args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 1180, "height": 880})
        view.goto(page.as_uri())
        view.screenshot(path=pictures / "report.png")
        view.locator("#latency").screenshot(path=pictures / "report-latency.png")
        chromium.close()


if __name__ == "__main__":
    sys.exit(main())
