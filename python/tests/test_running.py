from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import flashlane as fl

LONG = """
import flashlane as fl
print("ready", flush=True)
fl.simulate("fast18", [fl.Flow("a", queue_depth=64, read_ratio=1.0, requests=10**9)])
"""


def test_ctrl_c_ends_a_run_at_once() -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1.0)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert time.monotonic() - begun < 10.0
    assert b"KeyboardInterrupt" in stderr
    assert process.returncode != 0


def test_the_lock_is_free_during_a_run(device: fl.Device, workload: fl.Workload) -> None:
    turns = 0
    over = threading.Event()

    def count() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    longer = workload.replace(set={"flow.heavy.synthetic.requests": 40_000})
    fl.simulate(device, longer)
    over.set()
    thread.join()
    assert turns > 10, "another thread went on meanwhile"


def test_progress_rises_to_one_and_its_errors_end_the_run(device: fl.Device, workload: fl.Workload) -> None:
    seen: list[float] = []
    fl.simulate(device, workload, progress=seen.append)
    assert seen[-1] == 1.0 and seen == sorted(seen)

    def refuse(_share: float) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        fl.simulate(device, workload, progress=refuse)


@pytest.mark.parametrize("bar", ["tqdm", "rich", True])
def test_bars_work(
    device: fl.Device, workload: fl.Workload, bar: str, capfd: pytest.CaptureFixture[str]
) -> None:
    fl.simulate(device, workload, label="my run", progress=bar)  # type: ignore[arg-type]
    said = "".join(capfd.readouterr())
    assert "my run" in said


def test_waf_only_counts_pages(device: fl.Device) -> None:
    writer = [fl.Flow("writer", queue_depth=8, read_ratio=0.0, requests=20_000)]
    result = fl.simulate(device, writer, waf_only=True)
    assert result.write_amplification >= 1.0
    assert result.summary["simulated_s"] == 0.0


def test_it_runs_in_a_process_pool(device: fl.Device, workload: fl.Workload) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(fl.simulate, device, workload).result()
    here = fl.simulate(device, workload)
    assert there.flows[0].mean_us == here.flows[0].mean_us


def test_reproduce_lists_and_refuses() -> None:
    assert {"fast18", "flin", "upi", "warp"} == set(fl.papers())
    with pytest.raises(fl.ConfigError, match="fast18"):
        fl.reproduce("fast81")
    rows = fl.reproduce("fast18", "latency", smoke=True)
    assert rows and {"experiment", "metric", "paper", "ours", "verdict"} <= set(rows[0])


assert os.name == "posix", "signals are tested where there are some"
