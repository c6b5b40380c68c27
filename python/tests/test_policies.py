"""Policies that are written in Python."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow
import pytest

import flashlane as fl

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import python_flin  # noqa: F401
import python_schedulers

READER_AND_WRITER = [
    fl.Flow("reader", queue_depth=4, read_ratio=1.0, requests=1500),
    fl.Flow("writer", queue_depth=16, read_ratio=0.1, size="16KiB", requests=1500, cache="off"),
]


def same(one: fl.Result, other: fl.Result) -> bool:
    """True where two runs gave the same figures, whatever their schedulers are called."""
    keys = ("flows", "flash", "simulated_s")
    return all(one.summary[key] == other.summary[key] for key in keys)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_fifo_gives_the_results_of_the_built_in_one(seed: int) -> None:
    """The worked example and `fcfs`, with collection running and every audit on."""
    runs = [
        fl.simulate(fl.Device("tiny", scheduler=name), READER_AND_WRITER, seed=seed, check=True)
        for name in ("fcfs", "python-fcfs", "out-of-order")
    ]
    assert runs[0].summary["flash"]["erases"] > 20
    assert same(runs[0], runs[1])
    assert not same(runs[0], runs[2])


FLIN = {"flin": {"stages": ["insertion"]}}
LIGHT_AND_HEAVY = [
    fl.Flow("light", queue_depth=2, read_ratio=0.8, requests=800, cache="off"),
    fl.Flow("heavy", queue_depth=24, read_ratio=0.7, size="16KiB", requests=800, cache="off"),
    fl.Flow("third", queue_depth=12, read_ratio=0.9, size="8KiB", requests=800, cache="off"),
]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stage_1_of_flin_gives_the_results_of_the_built_in_one(seed: int) -> None:
    """The worked example and `flin`, with all three ways into a queue, and collection."""
    runs = []
    for scheduler in (FLIN, "python-flin-insertion", {"flin": {"stages": []}}):
        device = fl.Device("tiny", set={"scheduler": scheduler, "flash.planes_per_die": 1})
        runs.append(fl.simulate(device, LIGHT_AND_HEAVY, seed=seed, check=True))
    overhead = runs[0].summary["scheduler_overhead"]
    assert overhead["promotions"] > 10 and runs[0].summary["flash"]["erases"] > 10
    assert same(runs[0], runs[1])
    assert not same(runs[0], runs[2]), "insertion makes a difference"


class Greedy(fl.VictimPolicy, name="python-greedy"):
    """The block with the fewest valid pages."""

    def select(self, plane: fl.Plane, random: fl.Random) -> int | None:
        """The first of those with the fewest."""
        return min(plane.candidates(), key=lambda block: plane.valid(block), default=None)


class Drawn(fl.VictimPolicy, name="python-drawn"):
    """The emptiest of some blocks that are drawn."""

    def __init__(self, *, choices: int = 8) -> None:
        """Notes how many are drawn."""
        self.choices = choices

    def select(self, plane: fl.Plane, random: fl.Random) -> int | None:
        """The first of those with the fewest."""
        candidates = plane.candidates()
        if not candidates:
            return None
        drawn = [candidates[random.below(len(candidates))] for _ in range(self.choices)]
        return min(drawn, key=lambda block: (plane.valid(block), block))


def test_greedy_chooses_what_the_built_in_one_chooses() -> None:
    """From an empty drive on, where no steady state decides the start."""
    runs = [
        fl.simulate(
            fl.Device("tiny", set={"ftl.gc.victim": name, "ftl.precondition.enabled": False}),
            [fl.Flow("writer", queue_depth=8, read_ratio=0.0, requests=30_000, cache="off")],
            check=True,
        )
        for name in ("greedy", "python-greedy")
    ]
    assert runs[0].summary["flash"]["erases"] > 100
    assert same(*runs)


def test_the_start_of_a_victim_policy_is_its_steady_state() -> None:
    """Write amplification from the start on is near that of the closed form of the same policy."""

    def amplification(victim: str | dict[str, object]) -> float:
        device = fl.Device("tiny", set={"ftl.gc.victim": victim})
        writer = fl.Flow("writer", queue_depth=8, read_ratio=0.0, requests=20_000, cache="off")
        return fl.simulate(device, [writer]).write_amplification

    assert amplification("python-greedy") == pytest.approx(amplification("greedy"), rel=0.03)
    drawn = amplification({"python-drawn": {"choices": 8}})
    assert drawn == pytest.approx(amplification({"rga": {"choices": 8}}), rel=0.05)
    assert amplification({"python-drawn": {"choices": 1}}) > 1.2 * drawn


@pytest.mark.slow
@pytest.mark.parametrize("policy", [python_schedulers.Fifo, python_schedulers.Turns, Greedy, Drawn])
def test_the_examples_keep_the_rules(policy: type[fl.Scheduler] | type[fl.VictimPolicy]) -> None:
    """All rules of their families, a small drive with every audit among them."""
    verdicts = fl.conformance(policy)
    assert len(verdicts) >= 3
    assert all(verdicts), verdicts


def test_a_policy_that_breaks_a_rule_is_told_which() -> None:
    """One that forgets work, and one that chooses what may not be collected."""

    class Forgetful(fl.Scheduler, name="forgetful"):
        """Serves every second piece of work."""

        def __init__(self, drive: fl.DriveShape) -> None:
            self.waiting: list[list[fl.Work]] = [[] for _ in range(drive.dies)]
            self.count = 0

        def enqueue(self, die: int, work: fl.Work) -> None:
            self.count += 1
            if self.count % 2:
                self.waiting[die].append(work)

        def next(self, die: int, state: fl.State) -> fl.Work | None:
            return python_schedulers.take(self.waiting[die], state)

    broken = [verdict for verdict in fl.conformance(Forgetful) if not verdict]
    assert broken and "at an idle die" in str(broken[0].broken)

    class First(fl.VictimPolicy, name="first"):
        """Always the first block."""

        def select(self, plane: fl.Plane, random: fl.Random) -> int | None:
            return 0

    with pytest.raises(ValueError, match="found block 0, which may not be collected"):
        fl.conformance(First)

    class Idle(fl.VictimPolicy, name="idle"):
        """Chooses nothing."""

        def select(self, plane: fl.Plane, random: fl.Random) -> None:
            return None

    with pytest.raises(ValueError, match=r"Idle\.select: found None; allowed: a block"):
        fl.conformance(Idle)

    class Useless(fl.VictimPolicy, name="useless"):
        """The fullest block, or none."""

        def select(self, plane: fl.Plane, random: fl.Random) -> int | None:
            blocks = [block for block in range(len(plane)) if plane.valid(block) == plane.pages_per_block]
            return blocks[0] if blocks else plane.emptiest()

    broken = [verdict for verdict in fl.conformance(Useless) if not verdict]
    assert broken and "something to gain: false" in str(broken[0].broken)


class Faulty(python_schedulers.Turns, name="faulty"):
    """Does something wrong after a while."""

    def __init__(self, drive: fl.DriveShape, *, how: str = "raise") -> None:
        """Notes what goes wrong."""
        super().__init__(drive)
        self.how = how
        self.count = 0

    def next(self, die: int, state: fl.State) -> fl.Work | None:
        """Work of the same die until the hundredth time."""
        self.count += 1
        if self.count < 100:
            return super().next(die, state)
        if self.how == "raise":
            raise ZeroDivisionError("on purpose")
        if self.how == "type":
            return 7  # type: ignore[return-value]
        return self.last if hasattr(self, "last") else self._keep(super().next(die, state))

    def _keep(self, work: fl.Work | None) -> fl.Work | None:
        """Gives the same work again later."""
        if work is not None:
            self.last = work
        return work


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ("raise", ZeroDivisionError, "on purpose"),
        ("type", TypeError, "int"),
        ("twice", ValueError, "which does not wait at die"),
    ],
)
def test_what_a_policy_raises_comes_out(how: str, error: type[Exception], words: str) -> None:
    """From a run, from runs alone on threads, and from a drive that is stepped; the process lives."""
    device = fl.Device("tiny", set={"scheduler": {"faulty": {"how": how}}})
    for alone in (False, True):
        with pytest.raises(error, match=words):
            fl.simulate(device, READER_AND_WRITER, alone=alone, threads=2)
    drive = fl.Drive(device, ["a"])
    with pytest.raises(error, match=words):
        for request in range(2000):
            drive.submit("a", "read", request * 8, 8)
            drive.advance(drive.now + 10 * fl.US)
    assert fl.simulate("tiny", READER_AND_WRITER).flows


def test_parameters_and_names_are_checked() -> None:
    """As those of built-in policies are."""
    with pytest.raises(fl.ConfigError, match="did you mean `turn`"):
        fl.Device("tiny", set={"scheduler": {"python-turns": {"trn": 2}}})
    with pytest.raises(fl.ConfigError, match="turn"):
        fl.simulate(fl.Device("tiny", scheduler="python-turn"), READER_AND_WRITER)
    with pytest.raises(ValueError, match="found 0, allowed: 1 or more"):
        fl.simulate(fl.Device("tiny", set={"scheduler": {"python-turns": {"turn": 0}}}), READER_AND_WRITER)
    for name in ("fcfs", "My Own", ""):
        with pytest.raises(ValueError, match="allowed"):

            class Mine(python_schedulers.Turns, name=name):
                """Taken."""

    device = fl.Device("tiny", set={"scheduler": {"python-turns": {"turn": 3}}})
    assert device.scheduler == "python-turns"
    assert device.to_dict()["scheduler"] == {"python-turns": {"turn": 3}}
    assert fl.Device.from_toml(device.to_toml()) == device


def test_a_snapshot_copies_the_policy() -> None:
    """A restored drive continues as the original did."""
    drive = fl.Drive(fl.Device("tiny", scheduler="python-turns"), ["a", "b"])
    for request in range(300):
        drive.submit("ab"[request % 2], "write" if request % 3 else "read", request * 8, 8)
    drive.advance(drive.now + 200 * fl.US)
    kept = drive.snapshot()
    ends = []
    for _ in range(2):
        ends.append(drive.advance(drive.now + 100 * fl.MS))
        drive.restore(kept)
    tables = [pyarrow.table(end) for end in ends]
    assert tables[0].num_rows > 50
    assert tables[0].equals(tables[1])


def test_the_cost_of_a_decision_is_as_documented() -> None:
    """docs/policies.md says below 30 us of processor time a request beside the built-in scheduler."""
    load = [fl.Flow("reader", queue_depth=8, read_ratio=1.0, requests=20_000)]

    def seconds(scheduler: str) -> float:
        start = time.process_time()
        fl.simulate(fl.Device("tiny", scheduler=scheduler), load)
        return time.process_time() - start

    built_in = min(seconds("fcfs") for _ in range(3))
    python = min(seconds("python-fcfs") for _ in range(3))
    print(f"a request: built in {built_in / 20_000 * 1e6:.2f} us, Python {python / 20_000 * 1e6:.2f} us")
    assert python < built_in + 20_000 * 30e-6 * 3
