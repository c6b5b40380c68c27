"""Report, comparison, playground and documentation in a real browser: on a desk, on a phone, in the dark.

The pictures are left in ``out/screens``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flashlane as fl

ROOT = Path(__file__).resolve().parents[2]
SCREENS = ROOT / "out" / "screens"
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")

VIEWS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1600, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}
READY = {
    "playground": "document.documentElement.dataset.runs >= 1",
    "report": "document.documentElement.dataset.charts > 0",
    "comparison": "document.documentElement.dataset.charts > 0",
    "docs": "document.readyState === 'complete'",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, device: fl.Device) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    tenants = [
        fl.Flow("key-value store", queue_depth=1, read_ratio=1.0, duration="100ms", slo={"p99": "500us"}),
        fl.Flow("database", queue_depth=4, read_ratio=0.7, duration="100ms"),
        fl.Flow(
            "analytics", queue_depth=8, read_ratio=1.0, size="64KiB", address="streaming", duration="100ms"
        ),
        fl.Flow("backup", queue_depth=16, read_ratio=0.0, duration="100ms"),
    ]
    work = fl.Workload(tenants, name="four tenants")
    runs = [
        fl.simulate(
            device.replace(scheduler=name),
            work,
            alone=True,
            timeseries=True,
            blame=True,
            energy=True,
            label=name,
        )
        for name in ("fcfs", "out-of-order")
    ]
    runs[0].report(folder / "report.html")
    fl.compare(*runs, path=folder / "comparison.html")
    subprocess.run([sys.executable, ROOT / "scripts" / "site.py"], check=True)
    site = ROOT / "out" / "site"
    return {
        "report": folder / "report.html",
        "comparison": folder / "comparison.html",
        "playground": site / "playground.html",
        "docs": site / "index.html",
    }


def opened(browser: Any, path: Path, view: str) -> tuple[Any, list[str]]:
    context = browser.new_context(offline=True, **VIEWS[view])
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    own = ("file:", "data:", "blob:")
    page.on("request", lambda r: said.append(r.url) if not r.url.startswith(own) else None)
    page.goto(path.as_uri())
    return page, said


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", READY)
def test_a_page_is_seen_and_can_be_read_by_everybody(
    browser: Any, pages: dict[str, Path], name: str, view: str
) -> None:
    if not pages[name].exists():
        pytest.skip("Rust has no libraries for wasm32-unknown-unknown, and none could be had")
    page, said = opened(browser, pages[name], view)
    page.wait_for_function(READY[name], timeout=30_000)
    page.wait_for_timeout(300)
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}-{view}.png")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off"
    assert said == [], "no error, and no request to anywhere"
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    # What the generator of the site draws around the pages is not ours to mend.
    found = axe.Axe().run(page, context=".md-content" if name == "docs" else None, options=rules)
    violations = [
        (one["id"], [node["html"][:160] for node in one["nodes"]][:3]) for one in found.response["violations"]
    ]
    assert violations == []
    page.context.close()


def test_a_report_is_small_and_quick(browser: Any, pages: dict[str, Path]) -> None:
    assert pages["report"].stat().st_size < 1_500_000
    page, _ = opened(browser, pages["report"], "desktop")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < 1000, f"{paint} ms to the first paint"
    page.context.close()


def test_the_documentation_is_searched_from_files(browser: Any, pages: dict[str, Path]) -> None:
    page, said = opened(browser, pages["docs"], "desktop")
    page.wait_for_timeout(800)
    page.keyboard.press("/")
    page.wait_for_timeout(300)
    page.keyboard.type("garbage collection")
    page.locator("a:has-text('garbage collection'), a:has-text('collection')").first.wait_for(timeout=10_000)
    page.wait_for_timeout(500)
    page.screenshot(path=SCREENS / "docs-search.png")
    body = page.evaluate("document.body.innerText")
    assert "unavailable" not in body and "results" in body.lower()
    assert said == []
    page.context.close()
