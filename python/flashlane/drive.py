"""A drive that a program loads and steps: the same simulated drive that ``simulate`` uses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any, NamedTuple

from flashlane import _flashlane
from flashlane._flashlane import Completion, Device, Snapshot, Table
from flashlane.workload import Flow


class Zone(NamedTuple):
    """A zone of a tenant, on a drive with zones."""

    start: int
    """First sector in the tenant's space."""
    capacity: int
    """Sectors that can be written."""
    state: str
    """``empty``, ``implicitly open``, ``explicitly open``, ``closed`` or ``full``; of a zone that failed,
    ``read only`` or ``offline``."""
    pointer: int
    """The sector at which the next write begins; of a zone that failed, where it was then."""


class PlacementEvent(NamedTuple):
    """What a drive told of the placement of data (``Drive.placement_events``)."""

    at: int
    """When it happened, in picoseconds."""
    kind: str
    """``moved`` (a reclaim unit was full), ``time-limit`` (it was open for too long) or ``reallocated`` (data
    lies elsewhere than the host has put it)."""
    identifier: int | None
    """The placement identifier; ``None`` for copies in a reclaim unit that all handles share."""
    pages: int
    """Mapping units that lie elsewhere; 0 for the other kinds."""


class Drive:
    """A preconditioned drive at time 0, which the program itself loads with commands.

    Times are whole picoseconds of simulated time from the start (:data:`US`, :data:`MS` and :data:`S` are
    factors). A sector has 512 bytes. Equal calls give equal completions, to the picosecond. One
    thread at a time may use a drive; several drives may run in several threads, since the interpreter's lock
    is free while a drive works.

    Args:
        device: the drive, or what ``Device`` takes.
        tenants: who shares the drive: names, ``Flow`` objects or dicts with the keys of a flow. What a
            ``Flow`` says of its requests is only the tenant's past: what the drive and its caches hold of it.
        seed: root of all random draws.
        check: audit the state of the model during the run (slow).
        blame: keep which tenant delayed which, for :meth:`blame`.

    Raises:
        flashlane.errors.ConfigError: the device or the tenants are refused.

    Examples:
        >>> import flashlane as fl
        >>> drive = fl.Drive("tiny", ["reader", "writer"])
        >>> for i in range(4):
        ...     drive.submit("writer", "write", 8 * i, 8, at=i * fl.US, cookie=i)
        >>> drive.submit("reader", "read", 0, 8, cookie=100)
        >>> len(drive.advance(1 * fl.MS)), drive.outstanding
        (5, 0)
    """

    def __init__(
        self,
        device: Device | str | PathLike[str] | dict[str, Any],
        tenants: Iterable[str | Flow | dict[str, Any]],
        seed: int = 1,
        *,
        check: bool = False,
        blame: bool = False,
    ) -> None:
        """Make and precondition the drive."""
        if isinstance(tenants, str):
            raise TypeError(f"Drive: found tenants {tenants!r}, allowed: a list of names, flows or dicts")
        flows = [_keys(tenant) for tenant in tenants]
        #: The drive's configuration.
        self.device = device if isinstance(device, Device) else Device(device)
        self._native = _flashlane._Drive(self.device, {"flow": flows}, seed=seed, check=check, blame=blame)

    @property
    def tenants(self) -> list[str]:
        """Names of the tenants, in their order."""
        return self._native.tenants

    @property
    def now(self) -> int:
        """The time of the last event. Before the first one it is 0. Unit: picoseconds."""
        return self._native.now

    @property
    def next_event(self) -> int | None:
        """The time of the next event, in picoseconds; ``None`` if there is nothing left to do."""
        return self._native.next_event

    @property
    def outstanding(self) -> int:
        """Commands that were submitted and are not complete."""
        return self._native.outstanding

    @property
    def reports(self) -> int:
        """Arrivals and completions that :meth:`step` has reported, and completions of :meth:`advance`."""
        return self._native.reports

    def sectors(self, tenant: str | int) -> int:
        """Sectors of a tenant's space, which are numbered from 0."""
        return self._native.sectors(tenant)

    def fail_zone(self, tenant: str | int, zone: int, state: str) -> None:
        """A zone of a tenant fails, from now on. It is then ``read only`` or ``offline``; so a program tests
        what a host does. Writes of the zone must not be under way."""
        self._native.fail_zone(tenant, zone, state)

    def placement_events(self) -> list[PlacementEvent]:
        """The latest events of placement (``placement.mode`` of ``fdp`` or ``streams``), oldest first, 63 at
        most: what log page 23h of NVMe has."""
        return [PlacementEvent(*row) for row in self._native.placement_events()]

    def zones(self, tenant: str | int) -> list[Zone]:
        """The zones of a tenant, in order; none on a drive without zones."""
        return [Zone(*row) for row in self._native.zones(tenant)]

    def submit(
        self,
        tenant: str | int,
        op: str,
        lba: int = 0,
        sectors: int = 0,
        *,
        at: int | None = None,
        cookie: int = 0,
        namespace: int = 1,
        placement: int | None = None,
        by_clock: bool = False,
    ) -> None:
        """Submit one command.

        Args:
            tenant: name of the tenant, or its place in the list.
            op: ``"read"``, ``"write"``, ``"trim"`` or ``"flush"``.
            lba: first sector, in the tenant's space.
            sectors: length, 1 to 32,768 sectors; 0 for a flush.
            at: time, in picoseconds; without it now.
            cookie: comes back with the completion.
            namespace: every tenant has one, number 1.
            placement: placement identifier of a write, a handle or a stream; without it that of the tenant.
            by_clock: a command for now enters after everything that is scheduled for now, instead of at once.

        Raises:
            flashlane.errors.RefusedError: the drive does not take the command, and is as it was before.
        """
        self._native.submit(
            tenant,
            op,
            lba,
            sectors,
            at=at,
            cookie=cookie,
            namespace=namespace,
            placement=placement,
            by_clock=by_clock,
        )

    def submit_batch(self, commands: Any, *, by_clock: bool = False) -> int:
        """Submit the rows of a table, in their order.

        Args:
            commands: a table of pyarrow, polars, pandas (2.2 or later) or this package. Columns: ``tenant``
                (names, or places in the list), ``op`` (names), ``lba``, ``sectors``; optional ``at_ps`` (now
                without it), ``cookie`` (the number of the row without it) and ``by_clock``.
            by_clock: for all rows, as in :meth:`submit`.

        Returns:
            The number of rows.

        Raises:
            flashlane.errors.ConfigError: the table has other columns or types; nothing was submitted.
            flashlane.errors.RefusedError: the drive does not take the row ``error.row``. The rows before it
                are submitted.
        """
        return self._native.submit_batch(commands, by_clock)

    def replay(self, recording: Any) -> Table:
        """Submit a recording to a drive that nobody has used, and run it to its end.

        Args:
            recording: ``Result.submissions`` of a run, or a table with the same columns: those of
                :meth:`submit_batch`, and ``after_reports``, the number of arrivals and completions that the
                drive has reported before the command. Device, tenants and seed have to be those of the run.

        Returns:
            The commands that completed, as from :meth:`advance`. The cookie is the row of the recording.

        Raises:
            flashlane.errors.StuckError: it is not the drive of the recording, or cannot finish its work.
        """
        return self._native.replay(recording)

    def advance(self, until: int | None = None) -> Table:
        """Handle every event up to and including a time.

        Args:
            until: the time, in picoseconds. Without it the drive works until nothing is left to do.

        Returns:
            The commands that completed, in order: a row each, with ``cookie``, ``tenant``, ``op``, the times
            ``arrival_ps``, ``submit_ps`` and ``complete_ps``, and the nine stages that sum to
            ``complete_ps - submit_ps``.

        Raises:
            flashlane.errors.StuckError: the drive cannot finish its work; it is dead then.
        """
        return self._native.advance(until)

    def step(self, *, until: int | None = None) -> tuple[str, list[Completion]] | None:
        """Handle one event.

        Commands that are submitted for ``now`` before the next call are the host's reaction to the event.

        Args:
            until: leave an event after this time alone. Unit: picoseconds.

        Returns:
            ``"arrived"`` (a command that was submitted for a later time), ``"completed"`` or ``"nothing"``
            (something inside the drive), and the commands that completed. ``None`` without an event.

        Raises:
            flashlane.errors.StuckError: as in :meth:`advance`.
        """
        return self._native.step(until)

    def snapshot(self) -> Snapshot:
        """Keep the state of the drive, to go back to with :meth:`restore`."""
        return self._native.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this drive; a dead drive lives again."""
        self._native.restore(snapshot)

    def summary(self) -> dict[str, Any]:
        """What the drive has done so far, with the keys of ``summary.json``."""
        summary: dict[str, Any] = json.loads(self._native.summary())
        return summary

    def blame(self) -> dict[str, Any] | None:
        """Which tenant delayed which so far; ``None`` for a drive that was made without ``blame=True``."""
        text = self._native.blame()
        return None if text is None else json.loads(text)

    def __repr__(self) -> str:
        """Device, tenants and time."""
        tenants = ", ".join(self.tenants)
        return f"Drive({self.device.name!r}: {tenants}; at {self.now} ps, {self.outstanding} outstanding)"


US = 10**6
"""Picoseconds of a microsecond."""
MS = 10**9
"""Picoseconds of a millisecond."""
S = 10**12
"""Picoseconds of a second."""


def _keys(tenant: object) -> dict[str, Any]:
    if isinstance(tenant, str):
        return {"name": tenant}
    if isinstance(tenant, Flow):
        return tenant.to_dict()
    if isinstance(tenant, dict):
        return tenant
    raise TypeError(f"Drive: found a tenant of type {type(tenant).__name__}, allowed: str, Flow or dict")
