from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import flashlane as fl

STAGES = [
    "submission_ps",
    "transfer_in_ps",
    "firmware_ps",
    "cache_ps",
    "mapping_ps",
    "flash_queue_ps",
    "flash_bus_ps",
    "flash_array_ps",
    "transfer_out_ps",
]


def drive(**keys: Any) -> fl.Drive:
    return fl.Drive("tiny", ["a", "b"], check=True, **keys)


def rows(table: fl.Table) -> list[dict[str, Any]]:
    return pa.table(table).to_pylist()


def commands(count: int) -> dict[str, list[Any]]:
    """Reads and writes of both tenants, one a microsecond."""
    return {
        "tenant": ["a" if i % 3 else "b" for i in range(count)],
        "op": ["read" if i % 2 else "write" for i in range(count)],
        "lba": [8 * (i * 7 % 97) for i in range(count)],
        "sectors": [8 * (1 + i % 4) for i in range(count)],
        "at_ps": [i * fl.US for i in range(count)],
        "cookie": [1000 + i for i in range(count)],
    }


def one_by_one(target: fl.Drive, table: dict[str, list[Any]]) -> None:
    for tenant, op, lba, sectors, at, cookie in zip(*table.values(), strict=True):
        target.submit(tenant, op, lba, sectors, at=at, cookie=cookie)


def test_a_read_and_a_write_complete_with_their_stages() -> None:
    it = drive()
    it.submit("a", "write", 0, 8, cookie=7)
    it.submit(1, "read", 64, 8, at=5 * fl.US, cookie=8)
    assert it.outstanding == 2 and it.now == 0 and it.next_event == 0
    done = rows(it.advance(fl.MS))
    assert sorted(row["cookie"] for row in done) == [7, 8]
    for row in done:
        assert sum(row[stage] for stage in STAGES) == row["complete_ps"] - row["submit_ps"]
        assert row["bytes"] == 4096
    assert {row["tenant"]: row["op"] for row in done} == {"a": "write", "b": "read"}
    assert (it.outstanding, it.next_event) == (0, None)
    summary = it.summary()
    assert summary["requests_completed"] == 2
    assert [flow["name"] for flow in summary["flows"]] == it.tenants == ["a", "b"]


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "pandas", "dictionary", "places"])
def test_batches_of_every_library_do_what_single_commands_do(kind: str) -> None:
    table = commands(300)
    made: Any = {
        "pyarrow": lambda: pa.table(table),
        "polars": lambda: pl.DataFrame(table),
        "pandas": lambda: pd.DataFrame(table),
        "dictionary": lambda: pa.table({**table, "op": pa.array(table["op"]).dictionary_encode()}),
        "places": lambda: pa.table(
            {**table, "tenant": pa.array([0 if t == "a" else 1 for t in table["tenant"]])}
        ),
    }[kind]()
    one, other = drive(), drive()
    one_by_one(one, table)
    assert other.submit_batch(made) == 300
    assert rows(one.advance()) == rows(other.advance())
    assert one.summary()["events"] == other.summary()["events"]


def test_advancing_in_small_steps_is_advancing_at_once() -> None:
    one, other, third = drive(), drive(), drive()
    for it in (one, other, third):
        it.submit_batch(pa.table(commands(200)))
    at_once = rows(one.advance())
    by_time = [row for at in range(0, 40 * fl.MS, 100 * fl.US) for row in rows(other.advance(at))]
    assert by_time + rows(other.advance()) == at_once
    stepped = []
    while (step := third.step()) is not None:
        report, done = step
        assert report in ("arrived", "completed", "nothing") and (report == "completed" or not done)
        stepped += done
    assert [(c.cookie, c.complete_ps, c.flash_array_ps) for c in stepped] == [
        (row["cookie"], row["complete_ps"], row["flash_array_ps"]) for row in at_once
    ]
    assert all(sum(getattr(c, stage) for stage in STAGES) == c.latency_ps for c in stepped)
    assert third.reports == 399, "199 arrivals after time 0, 200 completions"


def test_a_snapshot_goes_back() -> None:
    it = drive(blame=True)
    it.submit_batch(pa.table(commands(100)))
    it.advance(50 * fl.US)
    kept = it.snapshot()
    first, blame = rows(it.advance()), it.blame()
    it.restore(kept)
    assert it.now == kept.now_ps <= 50 * fl.US
    assert rows(it.advance()) == first and it.blame() == blame is not None
    with pytest.raises(ValueError, match="snapshot of another drive"):
        drive().restore(kept)
    assert drive().blame() is None


def test_a_reaction_by_steps_is_the_closed_loop_of_a_run() -> None:
    flow = fl.Flow("a", queue_depth=4, read_ratio=0.5, requests=300, size="4KiB", align="4KiB")
    run = fl.simulate("tiny", [flow], requests=True, check=True)
    wanted = pa.table(run.requests).to_pylist()
    # What the flow drew, in the order of submission.
    drawn = sorted(range(300), key=lambda i: (wanted[i]["submit_ps"], wanted[i]["submission_ps"]))
    it = fl.Drive("tiny", [flow], check=True)
    left = iter(drawn)

    def submit() -> None:
        if (i := next(left, None)) is not None:
            row = wanted[i]
            it.submit("a", row["op"], row["offset_bytes"] // 512, row["bytes"] // 512, cookie=i)

    for _ in range(4):
        submit()
    done = []
    while (step := it.step()) is not None:
        for completion in step[1]:
            done.append(completion)
            submit()
    assert [c.complete_ps for c in done] == [row["complete_ps"] for row in wanted]


def test_commands_that_a_drive_does_not_take_are_named() -> None:
    it = drive()
    last = it.sectors("a")
    for arguments, message in [
        (("a", "read", last, 8), "range: found sector"),
        (("a", "read", 0, 0), "range: found sector 0 \\+ 0"),
        ((2, "read", 0, 8), "tenant: found 2, allowed: 0 to 1"),
        (("a", "zone_append", 0, 8), "found a command of zones"),
    ]:
        with pytest.raises(fl.RefusedError, match=message):
            it.submit(*arguments)
    with pytest.raises(fl.RefusedError, match="placement"):
        it.submit("a", "write", 0, 8, placement=1)
    with pytest.raises(ValueError, match="tenant: found `c`, allowed: a, b"):
        it.submit("c", "read", 0, 8)
    with pytest.raises(ValueError, match="op: found `erase`"):
        it.submit("a", "erase", 0, 8)
    with pytest.raises(OverflowError):
        it.submit("a", "read", -1, 8)
    it.advance(fl.US)
    with pytest.raises(fl.RefusedError, match="at: found"):
        it.submit("a", "read", 0, 8, at=0) if it.now else it.submit("a", "read", 0, 8, at=2**64 - 1)
    assert it.outstanding == 0


def test_tables_that_are_none_of_commands_are_refused_with_their_column() -> None:
    good = commands(10)
    for change, message in [
        ({"size": [1] * 10}, "found a column `size`"),
        ({"lba": ["x"] * 10}, "column `lba`: found Utf8, allowed: integers"),
        ({"lba": [-1] * 10}, "column `lba`, row 0: found -1, allowed: 0 or more"),
        ({"op": [None] * 10}, "column `op`"),
        ({"op": ["read"] * 9 + [None]}, "column `op`, row 9: found no value"),
        ({"op": [1] * 10}, "column `op`: found Int64, allowed: text"),
    ]:
        it = drive()
        with pytest.raises(fl.ConfigError, match=message):
            it.submit_batch(pa.table({**good, **change}))
        assert it.outstanding == 0
    with pytest.raises(fl.ConfigError, match="found no column `op`"):
        drive().submit_batch(pa.table({"tenant": ["a"], "lba": [0], "sectors": [8]}))
    with pytest.raises(TypeError, match="found list, allowed: a table with Arrow"):
        drive().submit_batch([good])
    it = drive()
    with pytest.raises(fl.RefusedError, match="row 4: range") as caught:
        it.submit_batch(pa.table({**good, "sectors": [8] * 4 + [10**6] + [8] * 5}))
    assert caught.value.row == 4 and it.outstanding == 4


def test_tenants_are_names_flows_or_dicts() -> None:
    it = fl.Drive("tiny", ["a", fl.Flow("b", queue_depth=1), {"name": "c", "occupancy": 0.5}])
    assert it.tenants == ["a", "b", "c"] and repr(it).startswith("Drive('tiny': a, b, c")
    with pytest.raises(TypeError, match="allowed: a list of names"):
        fl.Drive("tiny", "a")
    with pytest.raises(TypeError, match="found a tenant of type int"):
        fl.Drive("tiny", [1])  # type: ignore[list-item]
    with pytest.raises(fl.ConfigError, match="typo"):
        fl.Drive("tiny", [{"name": "a", "typo": 1}])
    with pytest.raises(fl.ConfigError):
        fl.Drive("tiny", [])


def test_the_lock_is_free_and_a_second_thread_is_told_off() -> None:
    it = fl.Drive("tiny", ["a"])
    count = 400_000
    table = {"lba": [8 * (i % 500) for i in range(count)], "sectors": [8] * count}
    it.submit_batch(pa.table({"tenant": ["a"] * count, "op": ["write"] * count, **table}))
    over = threading.Event()

    def work() -> None:
        it.advance()
        over.set()

    thread = threading.Thread(target=work)
    thread.start()
    told = 0
    while not over.is_set():
        try:
            it.now  # noqa: B018
        except RuntimeError as error:
            assert "in use by another thread" in str(error)
            told += 1
        time.sleep(0.001)
    thread.join()
    assert told > 3 and it.outstanding == 0


ENDLESS = """
import pyarrow as pa, flashlane as fl
drive = fl.Drive("tiny", ["a"])
count = 4_000_000
drive.submit_batch(pa.table({
    "tenant": pa.array([0] * count), "op": pa.array(["write"] * count).dictionary_encode(),
    "lba": pa.array(range(count)).cast("int64").to_numpy() % 500 * 8, "sectors": [8] * count,
}))
print("ready", flush=True)
try:
    drive.advance()
except KeyboardInterrupt:
    before = drive.outstanding
    print(before, len(drive.advance(drive.now)), flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_ends_an_advance_and_loses_no_completion() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert time.monotonic() - begun < 10.0, stderr
    left, handed_out = map(int, stdout.split())
    assert left > 0 and left + handed_out == 4_000_000, stderr


def random_run(rng: random.Random) -> tuple[fl.Device, list[fl.Flow]]:
    """A small drive and up to three tenants, drawn at random."""
    device = fl.Device(
        {
            "base": "tiny",
            "scheduler": rng.choice(["out-of-order", "fcfs", "flin", "sprinkler", "host-first"]),
            "interface": {"queue_fetch_size": rng.choice([1, 8, 512])},
        },
        set={"ftl.gc.victim": rng.choice(["greedy", "fifo", "random"])},
    )

    def flow(name: str) -> fl.Flow:
        keys: dict[str, Any] = {
            "read_ratio": rng.random(),
            "size": rng.choice(["512B", "4KiB", "24KiB"]),
            "requests": rng.randint(50, 800),
            "cache": rng.choice(["off", "write", "write-read"]),
        }
        load: dict[str, Any] = rng.choice([{"queue_depth": rng.choice([1, 7, 32])}, {"iops": 20_000.0}])
        if "queue_depth" in load and rng.random() < 0.3:
            load["think_time"] = "30us"
        return fl.Flow(name, **keys, **load)

    return device, [flow(name) for name in "abc"[: rng.randint(1, 3)]]


@pytest.mark.slow
def test_recorded_arrivals_complete_at_the_same_picosecond() -> None:
    completed = 0
    for run in range(10):
        device, flows = random_run(random.Random(run))
        result = fl.simulate(device, flows, seed=run, requests=True, submissions=True)
        columns = ["op", "offset_bytes", "bytes", "pages", "arrival_ps", "submit_ps", "complete_ps", *STAGES]
        wanted = pa.table(result.requests).select(columns).to_pylist()
        recording = pa.table(result.submissions)
        replayed = fl.Drive(device, flows, seed=run, check=True).replay(recording)
        assert pa.table(replayed).select(columns).to_pylist() == wanted, f"run {run}"

        # Single commands and steps give these rows, too.
        it = fl.Drive(device, flows, seed=run)
        done: list[fl.Completion] = []
        for cookie, row in enumerate(recording.to_pylist()):
            after = row.pop("after_reports")
            while it.reports < after:
                step = it.step()
                assert step is not None
                done += step[1]
            it.submit(row.pop("tenant"), row.pop("op"), at=row.pop("at_ps"), cookie=cookie, **row)
        while (step := it.step()) is not None:
            done += step[1]
        assert [{name: getattr(c, name) for name in columns} for c in done] == wanted, f"run {run}"
        completed += len(done)
    assert completed > 3000


def test_a_recording_is_for_the_drive_that_it_is_from() -> None:
    flows = [fl.Flow("a", queue_depth=2, read_ratio=0.5, requests=100)]
    recording = fl.simulate("tiny", flows, submissions=True).submissions
    used = fl.Drive("tiny", flows)
    used.submit("a", "read", 0, 8)
    with pytest.raises(fl.ConfigError, match="replay: found a drive that is in use"):
        used.replay(recording)
    late = pa.table(recording).to_pylist()
    late[-1]["after_reports"] = 10**6
    with pytest.raises(fl.StuckError, match="it is not the drive of the recording"):
        fl.Drive("tiny", flows).replay(pa.Table.from_pylist(late))
    assert fl.simulate("tiny", flows).submissions is None


def test_batches_cost_little_more_than_a_run() -> None:
    requests = 200_000
    flow = fl.Flow("a", iops=400_000.0, read_ratio=0.7, requests=requests, size="4KiB", align="4KiB")
    load = fl.Workload([flow], window="whole-run")
    recording = pa.table(fl.simulate("tiny", load, submissions=True).submissions)
    commands = recording.drop_columns(["after_reports", "by_clock"])

    begun = time.process_time()
    fl.simulate("tiny", load)
    run = time.process_time() - begun

    begun = time.process_time()
    it = fl.Drive("tiny", [flow])
    completed = 0
    for row in range(0, requests, 10_000):
        batch = commands.slice(row, 10_000)
        it.submit_batch(batch)
        completed += len(it.advance(batch["at_ps"][-1].as_py()))
    completed += len(it.advance())
    stepped = time.process_time() - begun
    print(f"{requests} commands in batches: {stepped / run:.2f} times the processor time of a run")
    assert completed == requests and stepped < 2 * run


@pytest.mark.parametrize("tenant", [2, 9, -1, "c"])
def test_a_tenant_that_does_not_exist_has_no_sectors(tenant: int | str) -> None:
    drive = fl.Drive("tiny", ["a", "b"])
    assert drive.sectors(1) > 0
    with pytest.raises(ValueError, match="tenant: found"):
        drive.sectors(tenant)


def test_zones_are_written_at_their_pointers() -> None:
    device = {
        "base": "tiny",
        "placement": {"mode": "zones", "zones": {"max_open": 2, "max_active": 2}},
        "ftl": {"superblock": "drive", "mapping": {"ideal": True}},
    }
    it = fl.Drive(device, ["a"], check=True)
    first, second = it.zones("a")[:2]
    assert first == fl.Zone(0, second.start, "empty", 0)
    it.submit("a", "zone_append", 0, 8, cookie=1)
    it.submit("a", "zone_append", 0, 8, cookie=2)
    it.submit("a", "write", 8, 8, cookie=3)
    it.submit("a", "zone_open", second.start, cookie=4)
    it.submit("a", "zone_finish", 0, cookie=5)
    it.submit("a", "zone_reset", 0, cookie=6)
    done = []
    while (step := it.step()) is not None:
        done.extend(step[1])
    found = {c.cookie: (c.op, c.offset_bytes, c.refusal) for c in done}
    assert found[1] == ("write", 0, None)
    assert found[2] == ("write", 4096, None)
    assert found[3][0] == "refused"
    assert "write pointer of zone 0 is at sector 16" in str(found[3][2])
    assert [found[cookie][0] for cookie in (4, 5, 6)] == ["zone_open", "zone_finish", "zone_reset"]
    assert [zone.state for zone in it.zones("a")[:2]] == ["empty", "explicitly open"]


def test_a_drive_tells_of_the_placement_of_data() -> None:
    device = {
        "base": "tiny",
        "placement": {"mode": "fdp", "handles": 2, "groups": 2},
        "ftl": {"superblock": "2 dies", "precondition": {"enabled": False}},
    }
    it = fl.Drive(device, ["a"], check=True)
    assert it.placement_events() == []
    for cookie in range(1200):
        it.submit("a", "write", 32 * cookie, 32, cookie=cookie, placement=3)
        it.advance()
    events = it.placement_events()
    assert events and all(isinstance(event, fl.PlacementEvent) for event in events)
    assert {(event.kind, event.identifier, event.pages) for event in events} == {("moved", 3, 0)}
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_zones_fail_where_a_program_says_so() -> None:
    device = {
        "base": "tiny",
        "placement": {"mode": "zones"},
        "ftl": {"superblock": "drive", "mapping": {"ideal": True}},
    }
    it = fl.Drive(device, ["a"], check=True)
    start = it.zones("a")[1].start
    it.submit("a", "write", start, 8, cookie=1)
    it.advance()
    it.fail_zone("a", 1, "read only")
    assert it.zones("a")[1].state == "read only"
    it.submit("a", "read", start, 8, cookie=2)
    it.submit("a", "write", start + 8, 8, cookie=3)
    found = {done["cookie"]: done["op"] for done in it.advance()}
    assert found == {2: "read", 3: "refused"}
    with pytest.raises(ValueError, match="allowed: read only, offline"):
        it.fail_zone("a", 1, "full")
    with pytest.raises(ValueError, match="zone: found 100000, allowed: 0 to"):
        it.fail_zone("a", 100_000, "offline")
