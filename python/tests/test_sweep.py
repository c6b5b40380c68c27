from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import overload

import flashlane as fl

POINTS = 100
SCRIPT = """
import json, sys
import flashlane as fl
flash = {"channels": 1, "chips_per_channel": 2, "blocks_per_plane": 160, "pages_per_block": 32}
device = {"base": "fast18", "flash": flash}
work = [fl.Flow("a", queue_depth=1, read_ratio=0.9, requests=200),
        fl.Flow("b", queue_depth=8, read_ratio=0.5, requests=200)]
grid = {"scheduler": ["fcfs", "out-of-order", "read-priority", "sprinkler"],
        "flow.b.synthetic.queue_depth": [1, 2, 4, 8, 16], "seed": [1, 2, 3, 4, 5]}
done = fl.sweep(device, work, grid, folder=sys.argv[1], alone=True)
print(json.dumps(done.rows()))
"""


def _run(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE)


@pytest.mark.slow
def test_a_sweep_that_is_killed_and_restarted_gives_the_same_table(tmp_path: Path) -> None:
    undisturbed = _run(tmp_path / "one").communicate(timeout=600)[0]
    rows = json.loads(undisturbed)
    assert len(rows) == 2 * POINTS
    other = tmp_path / "two"
    kills = 0
    for share in (random.random() * 0.5, 0.5 + random.random() * 0.4):
        process = _run(other)
        while process.poll() is None:
            files = len(list(other.glob("point-*.json"))) if other.exists() else 0
            if files >= share * POINTS:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.01)
        process.communicate()
    assert kills == 2, "it was killed in the middle"
    kept = {path.name: path.stat().st_mtime_ns for path in other.glob("point-*.json")}
    assert 0 < len(kept) < POINTS
    assert _run(other).communicate(timeout=600)[0] == undisturbed
    for name, when in kept.items():
        assert (other / name).stat().st_mtime_ns == when, "points that are there are not run again"


def test_grids_lists_and_refused_points(device: fl.Device, workload: fl.Workload) -> None:
    done = fl.sweep(
        device,
        workload,
        [{"scheduler": "fcfs"}, {"scheduler": "no-such"}, {"flash.channels": 1, "seed": 3}],
        jobs=2,
    )
    assert [("error" in entry) for entry in done] == [False, True, False]
    assert "no-such" in done[1]["error"]
    assert done[2]["summary"]["seed"] == 3
    assert len(done.rows()) == 2 + 1 + 2
    assert repr(done) == "Sweep(3 points, 1 failed: 1 config)"
    assert [entry["error_kind"] for entry in done.failed] == ["config"]
    frame = done.to_pandas()
    assert set(frame["flow"].dropna()) == {"light", "heavy"}


def test_jobs_change_nothing(device: fl.Device, workload: fl.Workload) -> None:
    grid = {"seed": [1, 2, 3], "scheduler": ["fcfs", "out-of-order"]}
    assert fl.sweep(device, workload, grid, jobs=1).rows() == fl.sweep(device, workload, grid, jobs=3).rows()


def test_other_input_does_not_take_what_is_kept(
    device: fl.Device, workload: fl.Workload, tmp_path: Path
) -> None:
    fl.sweep(device, workload, {"seed": [1]}, folder=tmp_path)
    deeper = workload.replace(set={"flow.heavy.synthetic.queue_depth": 2})
    done = fl.sweep(device, deeper, {"seed": [1]}, folder=tmp_path)
    assert len(list(tmp_path.glob("point-*.json"))) == 2
    assert done.rows() == fl.sweep(device, deeper, {"seed": [1]}).rows()


def test_an_interrupt_ends_a_sweep_soon(device: fl.Device, workload: fl.Workload) -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    longer = workload.replace(set={"flow.heavy.synthetic.requests": 10_000_000})
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fl.sweep(device, longer, [{"flow.heavy.synthetic.requests": 10}, {}, {}], jobs=2, progress=stop)
    assert time.monotonic() - begun < 30.0


def _trace(path: Path, requests: int, sector: int = 0) -> Path:
    """A trace of reads in MQSim's format, 20 us apart."""
    lines = (f"{n * 20_000} 0 {sector + 8 * (n % 512)} 8 1\n" for n in range(requests))
    path.write_text("".join(lines))
    return path


def _replay(path: Path) -> fl.Workload:
    return fl.Workload([fl.Flow("replay", trace=path, format="mqsim")])


def _completed(done: fl.Sweep) -> list[int]:
    return [entry["summary"]["requests_completed"] for entry in done]


def test_a_rewritten_trace_gives_its_own_result(device: fl.Device, tmp_path: Path) -> None:
    trace, kept = _trace(tmp_path / "t.trace", 100), tmp_path / "kept"
    workload = _replay(trace)
    assert _completed(fl.sweep(device, workload, {"seed": [1]}, folder=kept)) == [100]
    _trace(trace, 300)
    assert _completed(fl.sweep(device, workload, {"seed": [1]}, folder=kept)) == [300], "not the old one"
    _trace(trace, 100)
    names = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert _completed(fl.sweep(device, workload, {"seed": [1]}, folder=kept)) == [100]
    assert {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == names, "both are kept"
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    trace.rename(moved / "t.trace")
    assert _completed(fl.sweep(device, _replay(moved / "t.trace"), {"seed": [1]}, folder=kept)) == [100]
    assert {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == names, "the place is no matter"


def test_rewritten_clones_jobs_and_device_files_give_their_own_results(tmp_path: Path) -> None:
    kept, clone, job, drive = (tmp_path / name for name in ("kept", "c.toml", "j.fio", "d.toml"))
    parameters = fl.clone_trace("tpcc")
    parameters.save(clone)
    flow = fl.Flow("oltp", clone=clone, requests=200)
    job.write_text("[global]\nrw=randread\nbs=4k\nsize=1m\niodepth=2\nioengine=libaio\n[a]\nnumber_ios=100\n")
    drive.write_text('base = "tiny"\n')

    def files() -> int:
        for workload in ([flow], str(job)):
            done = fl.sweep(str(drive), workload, {"seed": [1]}, folder=kept)
            assert not done.failed, done[0]
        return len(list(kept.iterdir()))

    assert files() == 2
    assert files() == 2
    clone.write_text(clone.read_text() + "# another\n")
    assert files() == 3
    job.write_text(job.read_text().replace("100", "120"))
    assert files() == 4
    drive.write_text('base = "tiny"\nscheduler = "fcfs"\n')
    assert files() == 6, "both workloads run on another drive"


def test_points_that_fail_end_no_sweep(device: fl.Device, tmp_path: Path) -> None:
    good, bad = _trace(tmp_path / "good.trace", 50), tmp_path / "bad.trace"
    bad.write_text("20 0 8 8 1\n10 0 8 8 1\n")
    # The requests last a little longer than simulated time, with this seed.
    slow = {"iops": 0.001, "requests": 18400}
    points: list[dict[str, object]] = [
        {"seed": 1},
        {"seed": 1, "flow.replay.trace.path": str(bad)},
        {"seed": 3, "flow.replay.on_end": "stop", "flow": [{"name": "slow", "synthetic": slow}]},
        {"seed": 1, "flow.replay.trace.path": str(tmp_path / "nowhere")},
        {"seed": -4},
        {"seed": 5},
    ]
    kinds = [None, "trace", "stuck", "config", "config", None]
    kept: dict[str, int] = {}
    for _ in range(2):
        done = fl.sweep(device, _replay(good), points, folder=tmp_path / "kept")
        assert [entry.get("error_kind") for entry in done] == kinds, [entry.get("error") for entry in done]
        assert [entry["point"] for entry in done] == points
        assert repr(done) == "Sweep(6 points, 4 failed: 2 config, 1 stuck, 1 trace)"
        assert "bad.trace" in done[1]["error"] and "213 days" in done[2]["error"]
        rows = done.rows()
        assert [row.get("error_kind") for row in rows] == kinds
        assert len(done.to_pandas()) == 6
        now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
        assert now == (kept or now) and len(now) == 4, "refused points have no result to keep"
        kept = now


def test_a_policy_that_raises_is_a_row(device: fl.Device, workload: fl.Workload) -> None:
    class Raises(fl.Scheduler, name="raises-in-a-sweep"):
        """Fails."""

        def enqueue(self, die: int, work: fl.Work) -> None:
            raise LookupError("no such entry")

        def next(self, die: int, state: fl.State) -> None:
            return None

    done = fl.sweep(device, workload, {"scheduler": ["fcfs", "raises-in-a-sweep"]}, jobs=2)
    assert [entry.get("error_kind") for entry in done] == [None, "internal"]
    assert "no such entry" in done[1]["error"]


def test_a_sweep_keeps_to_its_memory(device: fl.Device, workload: fl.Workload) -> None:
    done = fl.sweep(device, workload, {"seed": [1, 2]}, memory=1 << 20)
    assert [entry["error_kind"] for entry in done] == ["memory", "memory"]
    with pytest.raises(ValueError, match="memory: found 0"):
        fl.sweep(device, workload, {"seed": [1]}, memory=0)


def test_tables_are_those_of_the_command(device: fl.Device, workload: fl.Workload, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    points = [{"scheduler": "fcfs"}, {"scheduler": "no-such", "seed": 2}]
    done = fl.sweep(device, workload, points)
    done.save(tmp_path / "t.csv")
    done.save(tmp_path / "t.parquet")
    table = pandas.read_csv(tmp_path / "t.csv")
    assert list(table["flow"].dropna()) == ["light", "heavy"]
    assert list(table.columns[:3]) == ["point", "scheduler", "seed"]
    assert table["error_kind"].dropna().tolist() == ["config"]
    assert (tmp_path / "t.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[" * 100_000,
        lambda text: "[1, 2]",
        lambda text: text.replace('"requests_completed":', '"requests_completed":1'),
        lambda text: text.encode().replace(b"light", b"l\xff\xfeght"),
    ],
    ids=["cut", "empty", "deep", "list", "digit", "bytes"],
)
def test_a_damaged_file_is_replaced(
    device: fl.Device, workload: fl.Workload, tmp_path: Path, damage: Callable[[str], str | bytes]
) -> None:
    first = fl.sweep(device, workload, {"seed": [1]}, folder=tmp_path)
    (file,) = tmp_path.glob("point-*.json")
    whole = file.read_bytes()
    broken = damage(whole.decode())
    file.write_bytes(broken.encode() if isinstance(broken, str) else broken)
    assert file.read_bytes() != whole
    with pytest.warns(RuntimeWarning, match=r"point-.*\.json: .*; the point was run again"):
        again = fl.sweep(device, workload, {"seed": [1]}, folder=tmp_path)
    assert list(again) == list(first)
    assert file.read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == [file.name], "nothing else is left"


def test_values_of_points_are_plain_and_checked(device: fl.Device, workload: fl.Workload) -> None:
    numpy = pytest.importorskip("numpy")
    done = fl.sweep(device, workload, {"seed": numpy.array([1, 2]), "warmup": [None]})
    assert [entry["point"] for entry in done] == [{"seed": 1, "warmup": None}, {"seed": 2, "warmup": None}]
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(fl.ConfigError, match=r"point 1, flow.heavy.synthetic.address.*contains itself"):
        fl.sweep(device, workload, [{}, {"flow.heavy.synthetic.address": endless}])
    with pytest.raises(TypeError, match="found alnoe; allowed: seed"):
        fl.sweep(device, workload, [{}], alnoe=True)


def test_rows_say_whether_the_drive_keeps_up(device: fl.Device, workload: fl.Workload) -> None:
    swept = fl.sweep("tiny", overload(), {"flow.busy.synthetic.iops": [500.0, 200_000.0]})
    rows = [(row["flow"], row["saturated"]) for row in swept.rows()]
    assert rows == [("busy", False), ("calm", False), ("busy", True), ("calm", False)]
    assert repr(swept) == "Sweep(2 points, 1 of 4 rows saturated)"
    assert swept[1]["summary"]["verdict"][0].startswith("Saturated: ")
    assert repr(fl.sweep(device, workload, [{}])) == "Sweep(1 points)"


def test_files_keep_the_mode_of_the_user(device: fl.Device, workload: fl.Workload, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        fl.sweep(device, workload, {"seed": [1, 2, 3, 4]}, folder=tmp_path, jobs=4)
        assert os.umask(0o027) == 0o027, "threads leave the mask as it is"
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


assert os.cpu_count()


@pytest.mark.parametrize("axis", ["fcfs", b"fcfs", 4, None])
def test_an_axis_is_a_list_of_values(axis: object) -> None:
    with pytest.raises(TypeError, match=r"sweep: scheduler: found .*, allowed: a list of values"):
        fl.sweep("tiny", [fl.Flow("a", queue_depth=1, requests=9)], {"scheduler": axis})  # type: ignore[dict-item]


def test_a_sweep_makes_a_page_with_intervals_over_its_seeds(tmp_path: Path) -> None:
    work = [fl.Flow("a", queue_depth=2, read_ratio=0.9, requests=200)]
    grid = {"scheduler": ["fcfs", "out-of-order"], "flash.channels": [1, 2, 0], "seed": [1, 2, 3]}
    swept = fl.sweep("tiny", work, grid)
    page = swept.report(tmp_path / "sweep.html", title="Two <schedulers>")
    assert (tmp_path / "sweep.html").read_text(encoding="utf-8") == page
    assert "Two &lt;schedulers&gt;" in page
    assert "18 points: 4 settings with results under up to 3 seeds, 6 points failed." in page
    text = page.split('id="flashlane-sweep">')[1].split("</script>")[0]
    data = json.loads(text)
    assert [axis["key"] for axis in data["axes"]] == ["scheduler", "flash.channels"]
    assert data["axes"][1]["numbers"] == [1.0, 2.0, 0.0] and data["axes"][0]["numbers"] is None
    first = data["settings"][0]["flows"][0][0]
    p99 = [entry["summary"]["flows"][0]["response_time_us"]["p99"] for entry in swept[:3]]
    assert first["mean"] == pytest.approx(sum(p99) / 3)
    assert first["low"] <= first["mean"] <= first["high"]
    with pytest.raises(fl.OutputError):
        (tmp_path / "mine.html").write_text("mine")
        swept.report(tmp_path / "mine.html")


def test_the_charts_of_a_sweep_are_drawn(browser: Any, tmp_path: Path) -> None:
    work = [fl.Flow(name, queue_depth=2, read_ratio=0.9, requests=200) for name in ("a", "b")]
    grid = {"scheduler": ["fcfs", "flin"], "flow.a.synthetic.queue_depth": [1, 2, 4], "seed": [1, 2]}
    fl.sweep("tiny", work, grid).report(tmp_path / "sweep.html")
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "sweep.html").as_uri())
    drawn = page.eval_on_selector_all("#multiples .plot", "all => all.map(one => one.dataset.drawn)")
    assert drawn == ["2", "2"], "a chart for each scheduler, a line for each tenant"
    page.select_option('[data-choice="flow"]', "0")
    page.select_option('[data-choice="facet"]', "")
    drawn = page.eval_on_selector_all("#multiples .plot", "all => all.map(one => one.dataset.drawn)")
    assert drawn == ["2"], "one chart, a line for each scheduler"
    page.close()
    assert errors == []
