"""Runs one scenario."""

from __future__ import annotations

from os import PathLike
from typing import Any

from flashlane import _flashlane
from flashlane._flashlane import Device
from flashlane.progress import Progress, shown
from flashlane.result import Result
from flashlane.workload import Flow, Workload


def simulate(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    *,
    seed: int = 1,
    alone: bool = False,
    warmup: str | int | None = None,
    requests: bool = False,
    submissions: bool = False,
    timeseries: bool | str = False,
    blame: bool = False,
    energy: bool = False,
    windows: str | None = None,
    waf_only: bool = False,
    check: bool = False,
    threads: int = 0,
    states: str | PathLike[str] | None = None,
    label: str | None = None,
    progress: Progress = None,
) -> Result:
    """Simulate a drive under a workload.

    The interpreter's lock is free meanwhile, so that several threads can simulate at a time; Ctrl-C ends
    the run at once.

    Args:
        device: the drive, or what ``Device`` takes.
        workload: the tenants, or what ``Workload`` takes.
        seed: root of all random draws.
        alone: also run every flow by itself, and give slowdowns and fairness.
        warmup: load that does not count: a time (``"10ms"``) or a number of requests.
        requests: keep a record of every request (``Result.requests``): 120 bytes each.
        submissions: keep what the flows submit (``Result.submissions``), for :meth:`Drive.replay`.
        timeseries: keep the run in windows (``Result.timeseries``); a text such as ``"1ms"`` is their length.
        blame: charge all waiting to causes and culprits (``Result.blame``).
        energy: what each flow spends: ``energy`` and ``wear`` of the summary and of its flows.
        windows: with ``alone``, slowdown in windows of this length as well.
        waf_only: placement, collection and wear without time.
        check: audit the state of the model during the run (slow).
        threads: threads for the runs alone; 0 for all cores. Never changes a result.
        states: folder in which states of preconditioned drives are kept for later runs, or ``"off"``. Without
            it: ``FLASHLANE_STATES`` if that is set, else ``flashlane/states`` among your caches. Never
            changes a result.
        label: name of the run in reports. Default: the workload's name, or its flows'.
        progress: called with the share that is done, from 0 to 1; ``True`` for a bar.

    Raises:
        flashlane.errors.ConfigError: the input is refused.
        flashlane.errors.TraceError: a trace is refused.
        flashlane.errors.StuckError: the device could not finish the work.
    """
    drive = device if isinstance(device, Device) else Device(device)
    load = workload if isinstance(workload, Workload) else Workload(workload)
    named = bool(label)
    label = label or load.name or ", ".join(load.flows)
    with shown(progress, label) as told:
        outcome = _flashlane.simulate(
            drive,
            load._native,
            seed=seed,
            alone=alone,
            check=check,
            warmup=warmup,
            windows=windows,
            requests=requests,
            submissions=submissions,
            timeseries=timeseries,
            blame=blame,
            energy=energy,
            waf_only=waf_only,
            threads=threads,
            states=states,
            program=_flashlane.__file__,
            label=label,
            named=named,
            progress=told,
        )
    return Result(outcome, device=drive, workload=load, label=label)
