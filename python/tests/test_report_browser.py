"""The report in a real browser: no error, every chart drawn, interactions work."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import flashlane as fl

ROOT = Path(__file__).resolve().parents[2]
#: What a page may load: itself, and what is in it.
LOCAL = ("file:", "data:", "blob:")


@pytest.fixture(scope="module")
def four(device: fl.Device) -> fl.Result:
    tenants = [
        fl.Flow("latency", queue_depth=1, read_ratio=1.0, duration="100ms"),
        fl.Flow("mixed", queue_depth=4, read_ratio=0.7, duration="100ms"),
        fl.Flow("scan", queue_depth=8, read_ratio=1.0, size="64KiB", address="streaming", duration="100ms"),
        fl.Flow("writer", queue_depth=16, read_ratio=0.0, duration="100ms"),
    ]
    return fl.simulate(
        device, fl.Workload(tenants, name="four tenants"), alone=True, timeseries=True, blame=True
    )


def _open(browser: Any, path: Path, **options: Any) -> tuple[Any, list[str]]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True, **options)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda r: said.append(r.url) if not r.url.startswith(LOCAL) else None)
    page.goto(path.as_uri())
    return page, said


def _painted(page: Any, selector: str) -> int:
    """Different colours in the canvas of a chart: axes alone have few."""
    return page.evaluate(
        """(selector) => {
            const canvas = document.querySelector(selector + ' canvas');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const colours = new Set();
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 200) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
            return colours.size;
        }""",
        selector,
    )


def test_every_chart_is_drawn_without_an_error(browser: Any, four: fl.Result, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    page_text = four.report(path)
    assert len(page_text.encode()) < 1_540_000
    page, said = _open(browser, path)
    charts = page.locator("[data-chart]")
    kinds = {charts.nth(index).get_attribute("data-chart") for index in range(charts.count())}
    assert {
        "latency",
        "breakdown",
        "blame",
        "chips",
        "queues",
        "series-mean_us",
        "series-iops",
        "chip-heat",
    } <= kinds
    chips = len(four.summary["chips"])
    assert page.locator(".heat canvas").get_attribute("data-drawn") == str(chips)
    assert "Busiest: channel" in page.locator(".heat figcaption").inner_text()
    page.locator(".heat canvas").hover()
    assert re.fullmatch(
        r"channel \d+, chip \d+, up to [\d.]+ s: \d+ % at work",
        page.locator(".heat figcaption").inner_text(),
    )
    drawn = page.locator("[data-drawn]")
    assert drawn.count() >= 6
    for index in range(drawn.count()):
        assert int(drawn.nth(index).get_attribute("data-drawn")) >= 1
    assert _painted(page, "#chart-latency") > 20
    assert page.locator("#chart-latency .plot").get_attribute("data-drawn") == "4"
    assert said == []


def test_the_first_screen_names_who_suffers_and_who_causes_it(
    browser: Any, four: fl.Result, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    four.report(path)
    page, _ = _open(browser, path)
    worst = max(four.flows, key=lambda flow: flow.slowdown)
    waiting = four.waiting()[worst.name]
    culprit = max((name for name in waiting if name != worst.name), key=lambda name: waiting[name])
    headline, cause = page.locator(".headline").first, page.locator(".cause").first
    assert headline.inner_text().startswith(worst.name)
    assert cause.inner_text().startswith(culprit)
    for element in (headline, cause, page.locator(".cards").first):
        box = element.bounding_box()
        assert box["y"] + box["height"] <= 800, "it is on the first screen"


def test_what_if_gives_the_numbers_of_another_run(browser: Any, device: fl.Device, tmp_path: Path) -> None:
    load = fl.Workload(
        [
            fl.Flow("reader", queue_depth=2, read_ratio=1.0, requests=2000),
            fl.Flow("writer", queue_depth=8, read_ratio=0.0, requests=1000),
        ]
    )
    was = fl.simulate(device.replace(scheduler="fcfs"), load, alone=True, blame=True, seed=3)
    path = tmp_path / "report.html"
    if "flashlane-module" not in was.report(path):
        pytest.skip("the package has no what_if.b64: Rust cannot compile for browsers here")
    page, said = _open(browser, path)
    page.select_option("[data-what=scheduler]", "out-of-order")
    writer = page.locator("[data-what=loads] input").nth(1)
    # Four steps of a quarter of a doubling each: twice the load.
    writer.evaluate("(e) => { e.value = 4; e.dispatchEvent(new Event('input')); }")
    assert page.locator("[data-what=loads] output").nth(1).inner_text() == "2×"
    page.click("[data-what=go]")
    page.wait_for_function("document.getElementById('what-if').dataset.runs >= 1", timeout=30_000)
    changed = load.replace(set={"flow.writer.synthetic.queue_depth": 16})
    now = fl.simulate(device.replace(scheduler="out-of-order"), changed, alone=True, blame=True, seed=3)
    rows = page.locator("[data-what=table] tbody tr")
    for index, name in enumerate(("reader", "writer")):
        cells = rows.nth(index).locator("td").all_inner_texts()
        for cell, before, after in zip(
            (cells[0], cells[2]),
            (was[name].mean_us, was[name].slowdown),
            # Slowdowns of both runs are against the tenants alone in the run as it was.
            (now[name].mean_us, now[name]["end_to_end_us"]["mean"] / was[name]["alone_end_to_end_us"]),
            strict=True,
        ):
            change = re.search(r"\(([+-]?\d+) %\)", cell)
            assert change, cell
            assert int(change[1]) == pytest.approx(100 * (after / before - 1), abs=0.51), cell
    assert page.locator("[data-what=said]").inner_text().startswith("reader suffers most")
    page.select_option("[data-what=isolation]", "upi")
    page.click("[data-what=go]")
    page.wait_for_function("document.getElementById('what-if').dataset.runs >= 2", timeout=30_000)
    assert page.locator("[data-what=said]").inner_text() != ""
    assert said == []


def test_what_if_is_left_out_where_it_cannot_be(device: fl.Device, tmp_path: Path) -> None:
    trace = tmp_path / "some.csv"
    trace.write_text("# t_us,op(R/W),offset_bytes,size_bytes,device\n0.000,R,0,4096,0\n9.000,R,4096,4096,0\n")
    result = fl.simulate(device, [fl.Flow("replayed", trace=trace, format="csv")])
    assert "flashlane-module" not in result.report(), "the browser has no trace"

    class Waiting(fl.Scheduler, name="test-first-in"):
        """In the order of arrival."""

        def __init__(self, drive: fl.DriveShape) -> None:
            self.waiting: list[list[fl.Work]] = [[] for _ in range(drive.dies)]

        def enqueue(self, die: int, work: fl.Work) -> None:
            self.waiting[die].append(work)

        def next(self, die: int, state: fl.State) -> fl.Work | None:
            for work in self.waiting[die]:
                if state.is_ready(work) or state.is_pointless(work):
                    self.waiting[die].remove(work)
                    return work
            return None

    own = fl.simulate(device.replace(scheduler=Waiting.name), [fl.Flow("a", queue_depth=2, requests=50)])
    assert "flashlane-module" not in own.report(), "the browser has no such scheduler"
    plain = fl.simulate(device, [fl.Flow("a", queue_depth=2, requests=50)])
    assert Waiting.name not in plain.report().split('data-what="scheduler"')[-1].split("</select>")[0]


def test_goals_are_marks_in_the_charts(browser: Any, device: fl.Device, tmp_path: Path) -> None:
    flows = [
        fl.Flow("a", queue_depth=1, duration="20ms", slo={"p99": "300us", "mean": "1ms", "min_iops": 100}),
        fl.Flow("b", queue_depth=4, duration="20ms"),
    ]
    path = tmp_path / "report.html"
    fl.simulate(device, fl.Workload(flows), timeseries=True).report(path)
    page, said = _open(browser, path)
    drawn = {
        chart: page.locator(f"[data-chart={chart}] .plot").get_attribute("data-drawn")
        for chart in ("latency", "series-p99_us", "series-mean_us", "series-iops", "series-queue")
    }
    # Two tenants, and a mark where one was promised something.
    assert drawn == {
        "latency": "3",
        "series-p99_us": "3",
        "series-mean_us": "3",
        "series-iops": "3",
        "series-queue": "2",
    }
    assert said == []


def test_interactions_work(browser: Any, four: fl.Result, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    four.report(path)
    page, said = _open(browser, path)
    page.select_option("#latency-op", "write")
    assert page.locator("#chart-latency .plot").get_attribute("data-drawn") == "2", "two tenants write"
    page.select_option("#latency-op", "all")
    page.select_option("#latency-shape", "cdf")
    page.select_option("#latency-shape", "tail")
    page.locator("#chart-latency").scroll_into_view_if_needed()
    box = page.locator("#chart-latency .u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    values = page.locator("#chart-latency .u-legend .u-value").all_inner_texts()
    assert any("p" in value for value in values), "the legend reads the curves under the pointer"
    before = page.locator("#chart-latency canvas").first.evaluate("c => c.toDataURL()")
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    zoomed = page.locator("#chart-latency canvas").first.evaluate("c => c.toDataURL()")
    assert zoomed != before, "a drag zooms"
    page.click("#latency-reset")
    assert page.locator("#chart-latency canvas").first.evaluate("c => c.toDataURL()") != zoomed
    page.locator("#chart-latency .u-legend .u-series").nth(1).click()
    page.locator("summary").first.click()
    assert page.locator("details").first.evaluate("d => d.open")
    assert said == []


def test_what_if_gives_each_tenant_a_handle(browser: Any, tmp_path: Path) -> None:
    flash = {"channels": 2, "chips_per_channel": 2, "blocks_per_plane": 72, "pages_per_block": 24}
    ftl = {
        "superblock": "drive",
        "over_provisioning": 0.3,
        "precondition": {"enabled": False},
        "gc": {"threshold": "6 blocks", "hard_threshold": "4 blocks", "max_concurrent_per_plane": 1},
    }
    device = fl.Device({"base": "fast18", "flash": flash, "ftl": ftl, "cache": {"capacity": "4MiB"}})
    load = fl.Workload(
        [
            fl.Flow("log", queue_depth=8, read_ratio=0.1, size="64KiB", address="streaming", requests=5000),
            fl.Flow("table", queue_depth=8, read_ratio=0.2, size="16KiB", requests=16000),
        ]
    )
    was = fl.simulate(device, load, alone=True, blame=True, seed=3)
    path = tmp_path / "report.html"
    if "flashlane-module" not in was.report(path):
        pytest.skip("the package has no what_if.b64: Rust cannot compile for browsers here")
    page, said = _open(browser, path)
    labels = page.locator("[data-what=placement] option").all_inner_texts()
    assert labels[0] == "as it was"
    assert [label.split(", ")[1] for label in labels[1:]] == ["initially isolated", "persistently isolated"]
    page.select_option("[data-what=placement]", index=1)
    page.click("[data-what=go]")
    page.wait_for_function("document.getElementById('what-if').dataset.runs >= 1", timeout=60_000)
    sets = {"flow.log.placement": 0, "flow.table.placement": 1}
    placed = device.replace(set={"placement.mode": "fdp", "placement.handles": 2})
    now = fl.simulate(placed, load.replace(set=sets), alone=True, blame=True, seed=3)
    told = page.locator("[data-what=amplification]").inner_text()
    found = re.match(r"With a handle each: amplification ([\d.]+) → ([\d.]+), p99 of (log|table) ", told)
    assert found, told
    for shown, run in zip(found.groups()[:2], (was, now), strict=True):
        assert float(shown) == pytest.approx(run.summary["flash"]["write_amplification"], abs=0.006)
    assert said == []


def test_dark_print_and_narrow_screens(browser: Any, four: fl.Result, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    four.report(path)
    page, said = _open(browser, path, color_scheme="dark")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(20, 22, 26)"
    page.emulate_media(media="print", color_scheme="light")
    assert page.pdf()[:4] == b"%PDF"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_timeout(200)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 2, "no sideways scrolling of the page"
    assert said == []


def test_it_can_be_read_without_seeing_it(browser: Any, four: fl.Result, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    four.report(path)
    page, _ = _open(browser, path)
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.title()
    plots = page.locator("[role=img]")
    for index in range(plots.count()):
        assert plots.nth(index).get_attribute("aria-label"), "every picture says what it shows"
    for name in ("select", "button"):
        for index in range(page.locator(name).count()):
            element = page.locator(name).nth(index)
            assert element.evaluate("e => (e.labels && e.labels.length) || e.textContent.trim()"), name
    assert page.locator("th:not([scope]):not(.u-legend th)").count() == 0, "cells know their headings"
    assert page.locator("h1").count() == 1


def test_several_runs_side_by_side(browser: Any, four: fl.Result, device: fl.Device, tmp_path: Path) -> None:
    other = fl.simulate(device.replace(scheduler="fcfs"), four.workload, alone=True, label="fcfs")
    path = tmp_path / "both.html"
    fl.compare(four, other, path=path)
    page, said = _open(browser, path)
    assert page.locator("#comparison tbody tr").count() > 10
    assert page.locator("#chart-latency .plot").get_attribute("data-drawn") == "8"
    page.select_option("#series-run", "1")
    assert "no time series" in page.locator("#series-grid").inner_text()
    assert said == []


def test_series_of_several_runs_lie_over_each_other(browser: Any, device: fl.Device, tmp_path: Path) -> None:
    flows = [fl.Flow(name, queue_depth=2, duration="20ms") for name in ("a", "b")]
    runs = [
        fl.simulate(device.replace(scheduler=name), fl.Workload(flows), timeseries=True, label=name)
        for name in ("fcfs", "out-of-order")
    ]
    path = tmp_path / "over.html"
    fl.compare(*runs, path=path)
    page, said = _open(browser, path)
    drawn = page.locator("[data-chart=series-mean_us] .plot")
    assert drawn.get_attribute("data-drawn") == "4", "two tenants of two runs"
    names = drawn.locator(".u-label").all_inner_texts()
    assert "a, fcfs" in names and "b, out-of-order" in names
    assert _painted(page, "[data-chart=series-mean_us]") > 20
    page.select_option("#series-run", "1")
    assert drawn.get_attribute("data-drawn") == "2"
    assert said == []


CONTRAST = """(element) => {
    const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map(Number).map(channel);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = getComputedStyle(document.querySelector("#warning")).backgroundColor;
    const [a, b] = [light(getComputedStyle(element).color), light(paper)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_warning_stands_first_and_can_be_read(
    browser: Any, saturated: fl.Result, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "report.html"
    saturated.report(path)
    page, said = _open(browser, path, color_scheme=scheme)
    warning = page.locator("#warning")
    assert "the drive does not keep up with flow busy" in warning.inner_text()
    box = warning.bounding_box()
    assert box["y"] + box["height"] < page.locator(".headline").first.bounding_box()["y"]
    assert box["y"] + box["height"] <= 800, "it is on the first screen"
    for element in ("#warning h2", "#warning p"):
        assert page.locator(element).first.evaluate(CONTRAST) >= 7.0, element
    legend = page.locator("#chart-latency .u-legend .u-label").all_inner_texts()
    assert "busy *" in legend and "calm" in legend
    assert said == []


def test_odd_names_are_shown_harmlessly(browser: Any, saturated: fl.Result, tmp_path: Path) -> None:
    odd = pickle.loads(pickle.dumps(saturated))
    run = json.loads(odd._outcome["report"])
    run["summary"]["flows"][0]["name"] = "\x1b[2J<img src=x onerror=alert(1)>\u202e"
    run["label"] = "</script><script>alert(2)</script>\x07"
    odd._outcome["report"] = json.dumps(run)
    path = tmp_path / "report.html"
    odd.report(path)
    page, said = _open(browser, path)
    assert said == [], "nothing of a name runs or is loaded"
    legend = page.locator("#chart-latency .u-legend .u-label").all_inner_texts()
    assert r"\u{1b}[2J<img src=x onerror=alert(1)>\u{202e} *" in legend
    assert page.locator(".card h4").first.inner_text() == r"\u{1b}[2J<img src=x onerror=alert(1)>\u{202e}"
    assert page.locator("h1").inner_text().startswith(r"</script><script>alert(2)</script>\u{7}")
