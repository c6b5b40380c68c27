from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
    assert "1 refused" in repr(done)
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


assert os.cpu_count()
