"""Two schedulers in Python: the built-in `fcfs` once more, and tenants that take turns."""

from __future__ import annotations

from collections import deque

import flashlane as fl


class Fifo(fl.Scheduler, name="python-fcfs"):
    """One queue per die, strictly in order of arrival."""

    def __init__(self, drive: fl.DriveShape) -> None:
        """Makes a queue for each die."""
        self.waiting: list[deque[fl.Work]] = [deque() for _ in range(drive.dies)]

    def enqueue(self, die: int, work: fl.Work) -> None:
        """Puts work behind all other."""
        self.waiting[die].append(work)

    def next(self, die: int, state: fl.State) -> list[fl.Work]:
        """The oldest that can go, and those right behind it that use other planes of the same command."""
        queue = self.waiting[die]
        dropped = []
        leader = None
        for work in list(queue):
            if state.is_pointless(work):
                dropped.append(work)
                queue.remove(work)
            elif state.is_ready(work):
                leader = work
                queue.remove(work)
                break
        if leader is None:
            return dropped
        command = [leader]
        while len(command) < state.planes_per_die and queue:
            work = queue[0]
            apart = all(state.together(work, taken) for taken in command)
            if not (apart and state.is_ready(work)):
                break
            command.append(queue.popleft())
        return dropped + command

    def next_read(self, die: int, state: fl.State) -> list[fl.Work] | None:
        """The choice of :meth:`next`, if the oldest work is a read."""
        queue = self.waiting[die]
        dropped = []
        while queue and state.is_pointless(queue[0]):
            dropped.append(queue.popleft())
        if queue and queue[0].op == "read":
            return dropped + self.next(die, state)
        return dropped


class Turns(fl.Scheduler, name="python-turns"):
    """Tenants take turns at every die; collection comes last until it must."""

    def __init__(self, drive: fl.DriveShape, *, turn: int = 1) -> None:
        """Makes a queue for each die and tenant, and one for collection.

        Args:
            drive: sizes of the drive.
            turn: commands that a tenant gets in a row.
        """
        if turn < 1:
            raise ValueError(f"turn: found {turn}, allowed: 1 or more")
        self.turn = turn
        self.tenants: list[list[list[fl.Work]]] = [
            [[] for _ in range(drive.tenants)] for _ in range(drive.dies)
        ]
        self.collection: list[list[fl.Work]] = [[] for _ in range(drive.dies)]
        self.at = [0] * drive.dies
        self.served = [0] * drive.dies

    def enqueue(self, die: int, work: fl.Work) -> None:
        """Puts work into the queue of its tenant, or into that of collection."""
        if work.source == "gc":
            self.collection[die].append(work)
        else:
            self.tenants[die][work.tenant].append(work)

    def next(self, die: int, state: fl.State) -> fl.Work | None:
        """The oldest of the tenant whose turn it is, or of the next one that has something to do."""
        if state.urgent and (work := take(self.collection[die], state)):
            return work
        tenants = self.tenants[die]
        if self.served[die] >= self.turn:
            self.at[die], self.served[die] = (self.at[die] + 1) % len(tenants), 0
        for _ in tenants:
            if work := take(tenants[self.at[die]], state):
                self.served[die] += 1
                return work
            self.at[die], self.served[die] = (self.at[die] + 1) % len(tenants), 0
        return take(self.collection[die], state)


def take(queue: list[fl.Work], state: fl.State) -> fl.Work | None:
    """Takes the oldest that can go, or that has become pointless."""
    for work in queue:
        if state.is_ready(work) or state.is_pointless(work):
            queue.remove(work)
            return work
    return None


def main() -> None:
    """A neighbour that writes, under four schedulers."""
    load = fl.Workload(
        [
            fl.Flow("reader", queue_depth=4, read_ratio=1.0, requests=1000),
            fl.Flow("writer", queue_depth=32, read_ratio=0.0, size="16KiB", requests=1000),
        ]
    )
    for scheduler in ["fcfs", "python-fcfs", "out-of-order", "python-turns"]:
        result = fl.simulate(fl.Device("tiny", scheduler=scheduler), load)
        means = [result[name].mean_us for name in ("reader", "writer")]
        print(f"{scheduler:14} reader {means[0]:8.1f} us, writer {means[1]:8.1f} us")


if __name__ == "__main__":
    main()
