"""FLIN's first stage, fairness-aware queue insertion, once more in Python.

It gives the results of the built-in ``flin`` with ``stages = ["insertion"]``, on drives whose dies have one
plane. Source: Tavakkol et al., FLIN (ISCA 2018), Algorithm 1 and section 5. What the paper leaves open is
decided as in docs/flin.md. The places are found by the paper's two plain passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import flashlane as fl

READ, WRITE = 0, 1
"""Kinds of queues."""


@dataclass
class Entry:
    """Work in a queue. Times in picoseconds."""

    work: fl.Work
    low: bool
    wait_alone: int
    promoted: bool = False

    def slowdown(self, ahead: int, start: int) -> float:
        """Equations 3 and 5: behind work of ``ahead``, where the region begins at ``start``."""
        work = self.work
        return (start + ahead + work.service - work.since) / max(work.service + self.wait_alone, 1)


@dataclass
class Lane:
    """The state of a tenant's work of one kind at a die."""

    queued: int = 0
    unfinished: int = 0
    alone_until: int = 0
    slowdowns: float = 0.0
    departed: int = 0
    bytes: int = 0
    """Bytes of this epoch."""
    intense: bool = False


@dataclass
class Die:
    """Queues and slots; reads and writes apart. In a queue, work of low intensity stands in front."""

    low: list[list[Entry]] = field(default_factory=lambda: [[], []])
    high: list[list[Entry]] = field(default_factory=lambda: [[], []])
    slots: list[Entry | None] = field(default_factory=lambda: [None, None])
    others: dict[tuple[str, str], list[fl.Work]] = field(default_factory=dict)
    lanes: list[list[Lane]] = field(default_factory=list)


class Insertion(fl.Scheduler, name="python-flin-insertion", source="FLIN (ISCA'18) section 4.1"):
    """Fairness-aware queue insertion; reads go before writes, and both before collection."""

    def __init__(
        self,
        drive: fl.DriveShape,
        *,
        epoch_ms: int = 10,
        read_intensity: int = 32_000_000,
        write_intensity: int = 256_000,
        fairness_threshold: float = 0.6,
    ) -> None:
        """Makes the queues.

        Args:
            drive: sizes of the drive.
            epoch_ms: interval of intensity classification.
            read_intensity: a tenant that reads less is of low intensity. Unit: bytes per second.
            write_intensity: the same for writes.
            fairness_threshold: below this fairness of what departed, the most slowed tenant goes first.
        """
        if drive.planes_per_die != 1:
            raise ValueError(f"python-flin-insertion: found {drive.planes_per_die} planes a die, allowed: 1")
        self.page_bytes = drive.page_bytes
        self.epoch = epoch_ms * fl.MS
        self.end = self.epoch
        # Every die counts for itself, against its share of the threshold.
        rates = (read_intensity, write_intensity)
        self.limits = [rate * (self.epoch / 1e12) / drive.dies for rate in rates]
        self.fairness_threshold = fairness_threshold
        self.dies = [
            Die(lanes=[[Lane() for _ in range(drive.tenants)] for _ in range(2)]) for _ in range(drive.dies)
        ]
        self.entries: dict[fl.Work, Entry] = {}

    def enqueue(self, die: int, work: fl.Work) -> None:
        """Algorithm 1."""
        unit = self.dies[die]
        if work.op == "erase" or work.source in ("gc", "mapping"):
            unit.others.setdefault((work.source, work.op), []).append(work)
            return
        op = READ if work.op == "read" else WRITE
        self.end_epochs(work.since)
        lane = unit.lanes[op][work.tenant]
        lane.bytes += self.page_bytes
        # Lines 12 and 17, equation 4.
        wait_alone = max(lane.alone_until - work.since, 0) if lane.unfinished else 0
        lane.unfinished += 1
        lane.alone_until = work.since + work.service + wait_alone
        low = not lane.intense
        new = Entry(work, low, wait_alone)
        self.entries[work] = new
        slot = unit.slots[op]
        # Equation 5: the rest of the running operation, and the slot.
        start = work.since + work.die_busy + (slot.work.service if slot else 0)
        if low:
            insert(unit.low[op], new, start)
        elif self.is_treated_worst(unit, op, work.tenant):
            # Line 20.
            region = unit.high[op]
            new.promoted = True
            region.insert(len(region) - passable(region, new), new)
        else:
            insert(unit.high[op], new, start + sum(one.work.service for one in unit.low[op]))
        lane.queued += 1

    def end_epochs(self, now: int) -> None:
        """Section 5.1: tenants are classified at the end of each epoch."""
        if now < self.end:
            return
        for unit in self.dies:
            for lanes, limit in zip(unit.lanes, self.limits, strict=True):
                for lane in lanes:
                    # Epochs without a transaction leave a tenant low.
                    high = now < self.end + self.epoch and lane.bytes >= limit
                    if high and not lane.intense:
                        lane.slowdowns, lane.departed = 0.0, 0
                    lane.intense, lane.bytes = high, 0
        self.end = now - now % self.epoch + self.epoch

    def is_treated_worst(self, unit: Die, op: int, tenant: int) -> bool:
        """Lines 18 and 19."""
        slowdowns = [
            (lane.slowdowns / lane.departed, other)
            for other, lane in enumerate(unit.lanes[op])
            if (lane.queued or other == tenant) and lane.departed and lane.intense
        ]
        if len(slowdowns) < 2:
            return False
        most = max(slowdown for slowdown, _ in slowdowns)
        worst = next(other for slowdown, other in slowdowns if slowdown == most)
        least = min(slowdown for slowdown, _ in slowdowns)
        return least / most < self.fairness_threshold and worst == tenant

    def refill(self, unit: Die, state: fl.State) -> None:
        """Fills empty slots: the head of the reads, and the first write that can go."""
        for op in (READ, WRITE):
            if unit.slots[op] is not None:
                continue
            for region in (unit.low[op], unit.high[op]):
                found = next((one for one in region if state.is_ready(one.work)), None)
                if found is not None:
                    region.remove(found)
                    unit.lanes[op][found.work.tenant].queued -= 1
                    unit.slots[op] = found
                    break

    def next(self, die: int, state: fl.State) -> fl.Work | list[fl.Work] | None:
        """Mapping, then collection where blocks run out, then reads, writes and collection."""
        unit = self.dies[die]
        if mapping := serve(unit, [("mapping", "read"), ("mapping", "program")], state):
            return mapping
        self.refill(unit, state)
        if state.urgent and (
            urgent := serve(unit, [("gc", "program"), ("gc", "erase"), ("gc", "read")], state)
        ):
            return urgent
        for op in (READ, WRITE):
            if (slot := unit.slots[op]) is not None:
                unit.slots[op] = None
                return slot.work
        return serve(unit, [("gc", "program"), ("gc", "read"), ("gc", "erase")], state)

    def next_read(self, die: int, state: fl.State) -> fl.Work | list[fl.Work] | None:
        """The read in the slot."""
        unit = self.dies[die]
        if mapping := serve(unit, [("mapping", "read")], state):
            return mapping
        if unit.others.get(("mapping", "program")):
            return None
        self.refill(unit, state)
        slot = unit.slots[READ]
        unit.slots[READ] = None
        return slot.work if slot else None

    def interrupt(self, die: int, state: fl.State) -> fl.Work | list[fl.Work] | None:
        """Without stage 3, every read may interrupt a program or an erase."""
        unit = self.dies[die]
        if mapping := serve(unit, [("mapping", "read")], state):
            return mapping
        self.refill(unit, state)
        slot = unit.slots[READ]
        unit.slots[READ] = None
        return slot.work if slot else None

    def completed(self, die: int, work: fl.Work, now: int) -> None:
        """Notes the slowdown of what departs."""
        entry = self.entries.pop(work, None)
        if entry is None:
            return
        lane = self.dies[die].lanes[READ if work.op == "read" else WRITE][work.tenant]
        lane.unfinished -= 1
        lane.slowdowns += (now - work.since) / max(work.service + entry.wait_alone, 1)
        lane.departed += 1


def passable(region: list[Entry], new: Entry) -> int:
    """How many stand behind the last of its own tenant and the last promoted one."""
    for passed, entry in enumerate(reversed(region)):
        if entry.work.tenant == new.work.tenant or entry.promoted:
            return passed
    return len(region)


def insert(region: list[Entry], new: Entry, start: int) -> None:
    """Section 5.3: tries every place from the tail on; the fairest one counts, ties stay nearer the tail."""
    ahead = [0]
    for entry in region:
        ahead.append(ahead[-1] + entry.work.service)
    before = [entry.slowdown(work, start) for entry, work in zip(region, ahead, strict=False)]
    tail = len(region)
    own = new.slowdown(ahead[tail], start)
    best, place = min([*before, own]) / max([*before, own]), tail
    behind: list[float] = []
    for at in range(tail - 1, tail - 1 - passable(region, new), -1):
        behind.append(region[at].slowdown(ahead[at], start + new.work.service))
        slowdowns = [*before[:at], new.slowdown(ahead[at], start), *behind]
        fairness = min(slowdowns) / max(slowdowns)
        if fairness > best:
            best, place = fairness, at
    region.insert(place, new)


def serve(unit: Die, kinds: Iterable[tuple[str, str]], state: fl.State) -> list[fl.Work]:
    """The oldest of the first kind of which something can go, and pointless moves before it."""
    taken: list[fl.Work] = []
    for kind in kinds:
        queue = unit.others.get(kind, [])
        for work in list(queue):
            if state.is_pointless(work) or state.is_ready(work):
                queue.remove(work)
                taken.append(work)
                if state.is_ready(work):
                    return taken
    return taken


def main() -> None:
    """Two tenants under the built-in stage, the one above, and first come, first served."""
    load = fl.Workload(
        [
            fl.Flow("light", queue_depth=1, read_ratio=0.9, requests=1000),
            fl.Flow("heavy", queue_depth=16, read_ratio=0.6, size="16KiB", requests=1000),
        ]
    )
    for scheduler in [{"flin": {"stages": ["insertion"]}}, "python-flin-insertion", "fcfs"]:
        device = fl.Device("tiny", set={"scheduler": scheduler, "flash.planes_per_die": 1})
        result = fl.simulate(device, load)
        means = [result[name].mean_us for name in ("light", "heavy")]
        print(f"{device.scheduler:22} light {means[0]:8.1f} us, heavy {means[1]:8.1f} us")


if __name__ == "__main__":
    main()
