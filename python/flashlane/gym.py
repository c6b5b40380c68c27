"""A Gymnasium environment: an agent shares one drive among tenants.

Needs the extra ``gym``: ``pip install 'flashlane[gym]'``.

>>> from flashlane.gym import Load, SharedDrive
>>> loads = [Load("light", depth=2, read_ratio=1.0), Load("heavy", depth=64, read_ratio=1.0)]
>>> env = SharedDrive("tiny", loads)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([0.5, 0.5])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from flashlane._flashlane import Completion, Device
from flashlane.drive import MS, Drive

try:
    import gymnasium
    import numpy as np
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"flashlane.gym needs {error.name}: pip install 'flashlane[gym]'", name=error.name
    ) from error

#: Name for ``gymnasium.make``.
ENVIRONMENT = "flashlane/SharedDrive-v0"


def _whole(where: str, value: Any, low: int, high: int) -> int:
    """Refuse what is no whole number of a range."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{where}: found {value!r}, allowed: whole numbers from {low} to {high}")
    return int(value)


@dataclass(frozen=True)
class Load:
    """A tenant in a closed loop: it keeps as many commands outstanding as it may.

    Args:
        name: name of the tenant.
        depth: commands that it would keep outstanding by itself.
        read_ratio: share of reads among its commands, 0 to 1; the others are writes.
        sectors: length of each command, in sectors of 512 bytes.
        working_set: share of its space that it uses, 0 to 1; addresses are uniform.
    """

    name: str
    depth: int = 8
    read_ratio: float = 0.5
    sectors: int = 8
    working_set: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what no drive could run."""
        where = f"Load {self.name!r}: "
        _whole(where + "depth", self.depth, 1, 65_535)
        _whole(where + "sectors", self.sectors, 1, 32_768)
        for key, value in (("read_ratio", self.read_ratio), ("working_set", self.working_set)):
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            # A comparison with NaN is false.
            if not number or not 0.0 <= value <= 1.0:
                raise ValueError(f"{where}{key}: found {value!r}, allowed: 0.0 to 1.0")


class _Tenant:
    """A load at work: its draws, and what completed in the current window."""

    def __init__(self, load: Load, place: int, sectors: int, rng: Any) -> None:
        self.load = load
        self.place = place
        self.slots = max(1, int(sectors * load.working_set) // load.sectors)
        self.rng = rng
        self.limit = load.depth
        self.outstanding = 0
        self.latencies: list[int] = []

    def fill(self, drive: Drive) -> None:
        """Submit commands up to the limit."""
        load = self.load
        while self.outstanding < self.limit:
            op = "read" if self.rng.random() < load.read_ratio else "write"
            lba = int(self.rng.integers(self.slots)) * load.sectors
            drive.submit(self.place, op, lba, load.sectors, cookie=self.place)
            self.outstanding += 1

    def completed(self, completion: Completion) -> None:
        self.outstanding -= 1
        self.latencies.append(completion.latency_ps)


def _run(drive: Drive, tenants: list[_Tenant], until: int) -> None:
    """Let the tenants work up to a time: each answers a completion with its next command."""
    for tenant in tenants:
        tenant.latencies.clear()
        tenant.fill(drive)
    while (step := drive.step(until=until)) is not None:
        for completion in step[1]:
            tenant = tenants[completion.cookie]
            tenant.completed(completion)
            tenant.fill(drive)


class SharedDrive(gymnasium.Env[Any, Any]):
    """Tenants share a drive; the agent divides the commands that may be outstanding among them.

    Each step is a window of simulated time. The action is a weight for each tenant: of ``budget`` commands,
    a tenant may have its share outstanding, at least one, and at most its ``depth``. The slowdown of a tenant
    is the number of commands that it completes in a window alone on the drive, at its own depth, over the
    number that it completes now. For a closed loop this is also the slowdown of a command, the time in which
    it is held back included (Little's law).

    Args:
        device: the drive, or what ``Device`` takes.
        loads: the tenants.
        budget: commands that may be outstanding in all. Default: the depths of all tenants.
        window_ps: simulated time of a step, in picoseconds.
        windows: steps of an episode.
        seed: seed of the drive; addresses and operations follow the seed of ``reset``.

    Observation: for each tenant the logarithm (base 10) of the mean latency of its commands in the device, in
    microseconds, its slowdown (0 to 1000), and its share of the commands that completed. A tenant without a
    completion in a window keeps the latency of the window before, and counts half a command.

    Reward: fairness, the smallest slowdown over the largest one, 0 to 1.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        device: Device | str | PathLike[str] | dict[str, Any],
        loads: Sequence[Load],
        *,
        budget: int | None = None,
        window_ps: int = 5 * MS,
        windows: int = 50,
        seed: int = 1,
    ) -> None:
        """Make the spaces; the drive is made by ``reset``."""
        if not loads:
            raise ValueError("SharedDrive: found no loads, allowed: one or more")
        self.device = device if isinstance(device, Device) else Device(device)
        self.loads = list(loads)
        self.budget = sum(load.depth for load in loads) if budget is None else budget
        if isinstance(self.budget, bool) or not isinstance(self.budget, (int, np.integer)):
            raise ValueError(f"budget: found {self.budget!r}, allowed: a whole number")
        if self.budget < len(self.loads):
            raise ValueError(f"budget: found {self.budget}, allowed: one for each tenant or more")
        self.window_ps = _whole("window_ps", window_ps, 1, 2**63)
        self.windows = _whole("windows", windows, 1, 2**31)
        self.seed = _whole("seed", seed, 0, 2**64 - 1)
        count = len(self.loads)
        self.action_space = gymnasium.spaces.Box(0.0, 1.0, (count,), np.float32)
        low = np.tile(np.array([-6.0, 0.0, 0.0], np.float32), count)
        high = np.tile(np.array([12.0, 1000.0, 1.0], np.float32), count)
        self.observation_space = gymnasium.spaces.Box(low, high, (3 * count,), np.float32)
        self._drive: Drive | None = None
        self._alone: list[float] | None = None

    def _tenants(self, drive: Drive, seed: int, only: int | None = None) -> list[_Tenant]:
        seeds = np.random.SeedSequence(seed).spawn(len(self.loads))
        made = []
        for place, load in enumerate(self.loads):
            rng = np.random.default_rng(seeds[place])
            tenant = _Tenant(load, place, drive.sectors(place), rng)
            if only not in (None, place):
                tenant.limit = 0
            made.append(tenant)
        return made

    def _new_drive(self) -> Drive:
        return Drive(self.device, [load.name for load in self.loads], self.seed)

    def _rate_alone(self, place: int) -> float:
        """Commands of a window of a tenant that has the drive for itself; the first window does not count."""
        drive = self._new_drive()
        tenants = self._tenants(drive, self.seed, only=place)
        completed = 0
        for window in range(1, 5):
            _run(drive, tenants, window * self.window_ps)
            completed += len(tenants[place].latencies) if window > 1 else 0
        if completed == 0:
            raise ValueError(
                f"window_ps: found {self.window_ps}, allowed: windows in which {self.loads[place].name!r} "
                "alone completes a command"
            )
        return completed / 3

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode on a fresh drive, with a window in which nobody is held back."""
        super().reset(seed=seed)
        if self._alone is None:
            self._alone = [self._rate_alone(place) for place in range(len(self.loads))]
        self._drive = self._new_drive()
        self._working = self._tenants(self._drive, int(self.np_random.integers(2**62)))
        self._means = [0.0] * len(self.loads)
        self._window = 0
        return self._advance()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Set the limits of the tenants by their weights, and let a window pass."""
        if self._drive is None:
            raise RuntimeError("step: allowed after reset")
        given = np.asarray(action, np.float64)
        if given.shape != (len(self.loads),):
            raise ValueError(f"action: found shape {given.shape}, allowed: ({len(self.loads)},)")
        if np.isnan(given).any():
            raise ValueError(f"action: found {given.tolist()}, allowed: a number for each tenant, 0 to 1")
        weights = np.clip(given, 0.0, 1.0)
        total = float(weights.sum())
        for tenant, weight in zip(self._working, weights, strict=True):
            share = float(weight) / total if total > 0.0 else 1.0 / len(self.loads)
            tenant.limit = max(1, min(tenant.load.depth, round(share * self.budget)))
        observation, info = self._advance()
        return observation, info["fairness"], False, self._window > self.windows, info

    def _advance(self) -> tuple[Any, dict[str, Any]]:
        assert self._drive is not None and self._alone is not None
        self._window += 1
        _run(self._drive, self._working, self._window * self.window_ps)
        counts = [len(tenant.latencies) for tenant in self._working]
        for place, tenant in enumerate(self._working):
            if tenant.latencies:
                self._means[place] = sum(tenant.latencies) / len(tenant.latencies)
        slowdowns = [alone / max(count, 0.5) for alone, count in zip(self._alone, counts, strict=True)]
        fairness = min(slowdowns) / max(slowdowns)
        done = max(1, sum(counts))
        rows = [
            (np.log10(max(mean, 1.0) / 1e6), min(slowdown, 1000.0), count / done)
            for mean, slowdown, count in zip(self._means, slowdowns, counts, strict=True)
        ]
        info = {
            "fairness": fairness,
            "slowdowns": slowdowns,
            "mean_latency_us": [mean / 1e6 for mean in self._means],
            "limits": [tenant.limit for tenant in self._working],
            "completed": counts,
        }
        return np.array(rows, np.float32).reshape(-1), info


if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(ENVIRONMENT, entry_point="flashlane.gym:SharedDrive")
