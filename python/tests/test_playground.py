"""The playground in a real browser: the command line's numbers, in two seconds, without an error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flashlane as fl
from flashlane import _flashlane

ROOT = Path(__file__).resolve().parents[2]


TWO = """
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.9
requests = {reads}
[[flow]]
name = "writer"
[flow.synthetic]
iops = 5000.0
read_ratio = 0.0
size = "16KiB"
requests = {writes}
"""
FAST = 'base = "fast18"\nflash.blocks_per_plane = 128\nftl.over_provisioning = "20%"'
SMALL = TWO.format(reads=3000, writes=1000)


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("playground") / "index.html"
    command = [sys.executable, ROOT / "scripts" / "playground.py", path]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if "rustup target add" in made.stderr:
        pytest.skip("Rust has no libraries for wasm32-unknown-unknown, and none could be had")
    assert made.returncode == 0, made.stderr
    return path


@pytest.fixture(scope="module")
def page(browser: Any, playground: Path) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    page = context.new_page()
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on(
        "request",
        lambda r: page.said.append(r.url) if not r.url.startswith(("file:", "data:", "blob:")) else None,
    )
    page.goto(playground.as_uri())
    page.wait_for_function("document.documentElement.dataset.runs >= 1", timeout=30_000)
    yield page
    assert page.said == [], "no error, and no request to anywhere"
    context.close()


def ask(page: Any, question: dict[str, Any]) -> tuple[str, float]:
    """The answer as it came, and the milliseconds that it took."""
    found = page.evaluate("(question) => window.flashlane.ask(question)", question)
    return found["answer"], found["ms"]


@pytest.mark.parametrize(
    ("device", "change"),
    [
        ("tiny", {}),
        ("tiny", {"scheduler": "flin", "seed": 7, "set": ["ftl.precondition.enabled=true"]}),
        ("fast18", {"set": ["flash.blocks_per_plane=128", 'ftl.over_provisioning="20%"'], "alone": True}),
        ("p4800x", {"set": ["flash.blocks_per_plane=256"], "energy": True}),
    ],
)
def test_the_bytes_of_the_command_line(page: Any, device: str, change: dict[str, Any]) -> None:
    question = {"device": f'base = "{device}"', "workload": SMALL, **change}
    answer, _ = ask(page, question)
    keys = dict(one.split("=", 1) for one in change.get("set", []))
    sets = {key: json.loads(value) for key, value in keys.items()}
    drive = fl.Device(device, set=sets)
    policies = {key: change[key] for key in ("scheduler", "isolation") if key in change}
    result = fl.simulate(
        drive.replace(**policies),
        fl.Workload.from_toml(SMALL),
        seed=change.get("seed", 1),
        alone=change.get("alone", False),
        energy=change.get("energy", False),
    )
    wanted = _flashlane.without_wall_times(json.dumps(result.summary))
    assert answer.startswith('{"summary":' + wanted + ","), answer[:300]


# A hundred million steps that depend on each other: how fast this machine is now, in the same browser.
YARDSTICK = """() => {
    const began = performance.now();
    let x = 1;
    for (let i = 0; i < 1e8; i++) x = Math.imul(x ^ (x >>> 13), 0x5bd1e995);
    return [performance.now() - began, x][0];
}"""
# Two seconds where the yardstick takes 110 ms.
LIMIT = 18.0


def test_a_hundred_thousand_requests_take_a_second_or_two(page: Any, capsys: Any) -> None:
    workload = TWO.format(reads=75_000, writes=25_000)
    question = {"device": FAST, "workload": workload}
    times: list[tuple[float, float]] = []
    # Other tests run beside this one, and slow the yardstick down as well, but not always as much.
    while len(times) < 3 or (min(times)[0] >= LIMIT and len(times) < 12):
        before = page.evaluate(YARDSTICK)
        answer, ms = ask(page, question)
        assert json.loads(answer)["summary"]["requests_completed"] >= 100_000
        times.append((ms / min(before, page.evaluate(YARDSTICK)), ms))
    with capsys.disabled():
        share, ms = min(times)
        print(f"\n100,000 requests in the browser: {share:.1f} of the yardstick, {ms:.0f} ms")
    assert min(times)[0] < LIMIT


def test_wrong_questions_are_answered(page: Any) -> None:
    for question, said in [
        ({"device": 'base = "nothing"', "workload": SMALL}, "no preset `nothing`"),
        ({"device": 'base = "tiny"', "workload": "[[flow]]"}, "flow[0]"),
        ({"device": 'base = "tiny"', "workload": SMALL, "colour": 3}, "unknown field `colour`"),
    ]:
        answer, _ = ask(page, question)
        assert said in json.loads(answer)["error"]


def _runs(page: Any, act: Any) -> None:
    before = int(page.evaluate("document.documentElement.dataset.runs"))
    act()
    page.wait_for_function(f"document.documentElement.dataset.runs > {before}", timeout=30_000)


def test_settings_change_the_results(page: Any) -> None:
    assert "suffers most" in page.locator("#headline").inner_text()
    assert page.locator(".card").count() == 2
    assert page.locator("#chart-latency .plot").get_attribute("data-drawn") == "2"
    assert page.locator("#blame tbody tr").count() == 2
    assert int(page.locator("#lanes").get_attribute("data-drawn")) > 4
    page.click("#keep")
    assert page.locator("#chart-latency .plot").get_attribute("data-drawn") == "4"
    mean = page.locator(".card dd").nth(1).inner_text()
    _runs(page, lambda: page.select_option("#scheduler", "fcfs"))
    assert page.locator(".card dd").nth(1).inner_text() != mean
    assert page.locator(".change").count() > 0
    _runs(page, lambda: page.click("#add"))
    assert page.locator(".card").count() == 3
    _runs(page, lambda: page.locator("fieldset button").last.click())
    assert page.locator(".card").count() == 2
    picture = page.evaluate("document.getElementById('lanes').toDataURL()")
    page.click("#play")
    page.wait_for_timeout(300)
    page.click("#play")
    assert page.evaluate("document.getElementById('lanes').toDataURL()") != picture
    assert "--scheduler fcfs" in page.locator("#command").text_content()


def test_the_command_that_is_shown_gives_the_same(page: Any) -> None:
    text = page.locator("#command").text_content()
    device, rest = text.split("# tenants.toml\n")
    workload = rest.split("flashlane run")[0]
    asked = page.evaluate("window.flashlane.question()")
    assert device.split("# device.toml\n")[1].strip() == asked["device"].strip()
    assert workload.strip() == asked["workload"].strip()
