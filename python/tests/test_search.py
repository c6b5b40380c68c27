"""Searches: against whole grids, with constraints, several objectives, and killed in mid-run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import flashlane as fl
from flashlane.metrics import Metric, Rule

pytest.importorskip("optuna", reason="the extra `search` is not installed")

SPACE: dict[str, list[Any]] = {
    "scheduler": ["fcfs", "out-of-order", "sprinkler", "flin"],
    "isolation": ["unified", "partitioned"],
    "ftl.over_provisioning": [0.18, 0.22, 0.28, 0.35],
    "ftl.gc.threshold": ["3 blocks", "4 blocks", "5 blocks", "6 blocks"],
    "cache.capacity": ["256KiB", "1MiB", "4MiB", "8MiB"],
}
if os.environ.get("FLASHLANE_FULL"):
    SPACE["cache.write_back_pages_per_plane"] = [1, 2, 4, 8]
    SPACE["interface.firmware_servers"] = [1, 2]
WORKLOADS = {
    "a reader beside a writer": [
        fl.Flow("reader", iops=3000, read_ratio=1.0, size="4KiB", requests=400),
        fl.Flow("writer", queue_depth=8, read_ratio=0.0, size="16KiB", requests=400),
    ],
    "two that do both": [
        fl.Flow("a", iops=2000, read_ratio=0.7, size="8KiB", requests=400),
        fl.Flow("b", iops=1500, read_ratio=0.5, size="8KiB", requests=300),
    ],
    "a log beside a scan": [
        fl.Flow("log", queue_depth=4, read_ratio=0.0, size="4KiB", requests=800),
        fl.Flow("scan", queue_depth=2, read_ratio=1.0, size="32KiB", requests=300),
    ],
}
SMALL = {"scheduler": SPACE["scheduler"], "cache.capacity": SPACE["cache.capacity"]}


def drive() -> fl.Device:
    return fl.Device("tiny", set={"ftl.precondition.enabled": True})


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_hundred_evaluations_come_close_to_the_best_of_a_grid(name: str, capsys: Any) -> None:
    work = fl.Workload(WORKLOADS[name])
    grid = fl.sweep(drive(), work, SPACE)
    metric = Metric("p99")
    best = min(metric.of(entry["summary"]) for entry in grid if "summary" in entry)
    found = fl.search(drive(), work, SPACE, ["p99"], trials=100)
    assert found.best is not None and len(found) == 100 and len(grid) >= 512
    assert found.best["values"][0] <= 1.05 * best
    with capsys.disabled():
        print(f"\n{name}: the best of {len(grid)} has {best:.1f} us, the search {found.said()}")


def test_the_front_is_what_no_other_one_beats() -> None:
    found = fl.search(drive(), WORKLOADS["a log beside a scan"], SPACE, ["p99:scan", "waf"], trials=40)
    costs = [tuple(entry["values"]) for entry in found if entry["error"] is None]
    beaten = [one for one in costs if any(o != one and o[0] <= one[0] and o[1] <= one[1] for o in costs)]
    assert {tuple(entry["values"]) for entry in found.front} == set(costs) - set(beaten)
    assert sorted(found.front, key=lambda entry: entry["values"][0]) == found.front


def test_constraints_hold_on_the_front() -> None:
    work = WORKLOADS["a reader beside a writer"]
    free = fl.search(drive(), work, SMALL, ["p99:reader"], trials=16)
    rates = sorted(
        entry["point"]
        and Metric("iops:writer").of(fl.simulate(drive().replace(set=entry["point"]), work).summary)
        for entry in free.front
    )
    bound = f"iops:writer >= {1.05 * rates[-1]:.0f}"
    kept = fl.search(drive(), work, SMALL, ["p99:reader"], constraints=[bound], trials=16)
    assert all(not any(entry["violated"]) for entry in kept.front)
    assert any(any(entry["violated"]) for entry in kept if entry["violated"])
    impossible = fl.search(drive(), work, SMALL, ["p99"], constraints=["iops >= 1e9"], trials=4)
    assert impossible.front == [] and impossible.said().startswith("None of 4")


def test_energy_and_slowdown_are_asked_for_by_themselves() -> None:
    found = fl.search(drive(), WORKLOADS["two that do both"], SMALL, ["energy_per_gb", "fairness"], trials=4)
    assert all(entry["error"] is None for entry in found)
    assert all(entry["values"][0] > 0 and 0 < entry["values"][1] <= 1 for entry in found)


@pytest.mark.parametrize("cheap", ["short", "waf-only", {"warmup": 10}])
def test_candidates_run_cheaply_first(cheap: Any) -> None:
    found = fl.search(drive(), WORKLOADS["a log beside a scan"], SPACE, ["waf"], trials=8, cheap=cheap)
    assert (found.effort["full"], found.effort["cheap"]) == (8, 24)
    assert found.best is not None


def test_candidates_that_cannot_run_cheaply_are_listed_with_the_reason(tmp_path: Path) -> None:
    space = {"flash.channels": [2, 0], "cache.capacity": ["256KiB", "1MiB", "4MiB"]}
    work = WORKLOADS["a log beside a scan"]
    found = fl.search(drive(), work, space, ["waf"], trials=2, cheap="short", folder=tmp_path / "study")
    cheap = [one for one in found.refused if one["run"] == "cheap"]
    assert cheap and all(one["point"]["flash.channels"] == 0 for one in cheap)
    assert all(one["error_kind"] == "config" and "found 0" in one["error"] for one in cheap)
    assert f"{len(cheap)} could not run cheaply" in found.ran()
    again = fl.search(drive(), work, space, ["waf"], trials=2, cheap="short", folder=tmp_path / "study")
    assert again.refused == found.refused, "they are in the study"


def test_ranges_are_drawn_from() -> None:
    space = {
        "ftl.over_provisioning": {"from": 0.2, "to": 0.4, "step": 0.05},
        "interface.queue_fetch_size": {"from": 1, "to": 64, "scale": "log"},
    }
    found = fl.search(drive(), WORKLOADS["two that do both"], space, {"waf": "min"}, trials=6)
    for entry in found:
        assert 0.2 <= entry["point"]["ftl.over_provisioning"] <= 0.4
        assert 1 <= entry["point"]["interface.queue_fetch_size"] <= 64


@pytest.mark.slow
def test_a_study_that_is_killed_goes_on_and_ends_alike(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_search as t; import flashlane as fl\n"
        "fl.search(t.drive(), t.WORKLOADS['two that do both'], t.SPACE, ['p99', 'waf'], trials=40, "
        "folder=sys.argv[2])"
    )
    folder = tmp_path / "study"
    running = subprocess.Popen([sys.executable, "-c", script, str(Path(__file__).parent), str(folder)])
    while not (folder / "points").is_dir() or len(list((folder / "points").iterdir())) < 12:
        assert running.poll() is None, "it is killed before it ends"
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    work = WORKLOADS["two that do both"]
    resumed = fl.search(drive(), work, SPACE, ["p99", "waf"], trials=40, folder=folder)
    assert len(resumed) == 40 and resumed.effort["full"] < 40
    whole = fl.search(drive(), work, SPACE, ["p99", "waf"], trials=40, jobs=1)
    assert list(resumed) == list(whole), "as if nothing had happened"
    again = fl.search(drive(), work, SPACE, ["p99", "waf"], trials=40, folder=folder)
    assert list(again) == list(resumed) and again.effort["full"] == 0
    once = fl.search(drive(), work, SPACE, ["p99", "waf"], trials=40, jobs=2)
    assert list(once) == list(whole), "however many run at a time"
    with pytest.raises(fl.ConfigError, match="another question"):
        fl.search(drive(), work, SPACE, ["waf", "p99"], trials=40, folder=folder)


def test_tables_picture_and_page(tmp_path: Path) -> None:
    found = fl.search(drive(), WORKLOADS["two that do both"], SMALL, ["p99", "waf"], trials=8)
    found.save(tmp_path)
    lines = (tmp_path / "trials.csv").read_text().splitlines()
    assert len(lines) == 9 and lines[0] == "scheduler,cache.capacity,p99,waf,front,error"
    assert len((tmp_path / "front.csv").read_text().splitlines()) >= 1 + len(found.front)
    page = (tmp_path / "search.html").read_text()
    assert "What could not run" not in page and found.refused == []
    assert len((tmp_path / "refused.csv").read_text().splitlines()) == 1
    assert "uPlot" in page and '"best":true' in page
    found.plot(tmp_path / "front.png")
    assert (tmp_path / "front.png").stat().st_size > 1000
    assert len(found.to_pandas()) == 8


def test_the_chart_names_the_settings_of_a_point(browser: Any, tmp_path: Path) -> None:
    found = fl.search(drive(), WORKLOADS["two that do both"], SMALL, ["p99", "waf"], trials=8)
    found.save(tmp_path)
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url))
    page.goto((tmp_path / "search.html").as_uri())
    assert complaints.pop(0).endswith("search.html"), "the page itself"
    ran = sum(1 for entry in found if entry["error"] is None)
    assert page.locator(".plot").get_attribute("data-drawn") == str(ran)
    page.locator(".plot .u-over").hover(position={"x": 5, "y": 5})
    said = page.locator("[data-choice=said]").inner_text()
    assert "scheduler = " in said and "cache.capacity = " in said and "p99" in said
    page.close()
    complaints = [one for one in complaints if not one.startswith("data:")]
    assert complaints == [], "no error, and nothing that the page loads from elsewhere"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objectives": ["p98"]}, "found 'p98', allowed: bandwidth"),
        ({"objectives": ["p99:nobody"]}, "found flow 'nobody', allowed: a, b"),
        ({"objectives": {"p99": "small"}}, "allowed: 'min', 'max'"),
        ({"objectives": []}, "at least one objective"),
        ({"space": {"scheduler": []}}, "found no value"),
        ({"space": {"ftl.over_provisioning": {"from": 1}}}, "allowed: from, to, step, scale"),
        ({"constraints": ["p99 < 3"]}, "allowed: NAME <= NUMBER"),
        ({"trials": 0}, "allowed: 1 and above"),
        ({"cheap": "waf-only"}, "found 'waf-only' with p99, which takes time"),
        ({"cheap": "fast"}, "allowed: 'short', 'waf-only'"),
    ],
)
def test_questions_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    wish: dict[str, Any] = {"space": SMALL, "objectives": ["p99"], **change}
    with pytest.raises(ValueError, match=message):
        fl.search(drive(), WORKLOADS["two that do both"], **wish)


def test_a_rule_is_missed_by_a_share_of_its_bound() -> None:
    summary = {"flash": {"write_amplification": 3.0}}
    assert Rule("waf <= 2.0").missed_by(summary) == 0.5
    assert Rule("waf >= 2.0").missed_by(summary) == 0.0
    assert Rule("p99:key-value store <= 3").metric.flow == "key-value store"


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "tenants.toml").write_text(
        '[[flow]]\nname = "a"\nsynthetic = { iops = 2000.0, read_ratio = 0.5, requests = 300 }\n'
    )
    (tmp_path / "study.toml").write_text(
        'device = "tiny"\nworkload = "tenants.toml"\nobjectives = { p99 = "min", waf = "min" }\n'
        'constraints = ["iops:a >= 1"]\ntrials = 50\n'
        "[set]\nftl.precondition.enabled = true\n"
        '[space]\nscheduler = ["fcfs", "flin"]\n'
        "ftl.over_provisioning = { from = 0.2, to = 0.4, step = 0.02 }\n"
    )
    command = [sys.executable, "-m", "flashlane.search", "study.toml", "--out", "out", "--trials", "6"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("p99 of ") and "evaluations" in done.stderr
    assert len((tmp_path / "out/trials.csv").read_text().splitlines()) == 7
    (tmp_path / "study.toml").write_text("device = 'tiny'\n")
    failed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert failed.returncode == 2 and "workload: found nothing" in failed.stderr


def test_configurations_that_cannot_run_are_not_counted_among_those_that_did(tmp_path: Path) -> None:
    space = {"flash.channels": [2, 0], "cache.capacity": ["256KiB", "1MiB", "4MiB"]}
    found = fl.search(drive(), WORKLOADS["a log beside a scan"], space, ["waf"], trials=6)
    refused = [entry for entry in found if entry["point"]["flash.channels"] == 0]
    assert len(refused) == 3 and found.failed == refused
    assert found.ran() == "3 configurations ran in full, 3 could not run (refused.csv)"
    assert "3 failed" in repr(found)
    found.save(tmp_path)
    page = (tmp_path / "search.html").read_text()
    assert found.ran() in page and page.count("flash.channels: found 0") == 3
    lines = (tmp_path / "refused.csv").read_text().splitlines()
    assert lines[0] == "flash.channels,cache.capacity,run,error_kind,error" and len(lines) == 4
    assert [one["point"] for one in found.refused] == [entry["point"] for entry in refused]
    assert all(line.startswith("0,") and ",full,config," in line for line in lines[1:])
    none = fl.search(drive(), WORKLOADS["a log beside a scan"], {"flash.channels": [0]}, ["waf"], trials=1)
    assert none.said().startswith("None of 1 configurations could run; the first one: ")
