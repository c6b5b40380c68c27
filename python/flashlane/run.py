"""Runs one scenario."""

from __future__ import annotations

import operator
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from flashlane import _flashlane
from flashlane._flashlane import Device
from flashlane.errors import ConfigError
from flashlane.progress import Progress, shown
from flashlane.result import Result
from flashlane.workload import Flow, Workload

if TYPE_CHECKING:
    from flashlane._flashlane import SimulateCall


def simulate(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
    *,
    seed: int = 1,
    seeds: int = 1,
    alone: bool = False,
    alone_basis: Literal["whole-drive", "same-isolation"] = "whole-drive",
    leave_one_out: bool = False,
    warmup: str | int | None = None,
    until_steady: bool | Literal["iops", "bandwidth", "latency"] = False,
    round: str | int = "1s",
    requests: bool = False,
    submissions: bool = False,
    timeseries: bool | str = False,
    blame: bool = False,
    energy: bool = False,
    timeline: bool | str = False,
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
        seed: root of all random draws. Range: 0 to 2^64 - 1.
        seeds: number of consecutive seeds with which the run is repeated; figures are then means, and
            ``Result.seeds`` has every figure with its 95 % interval.
        alone: also run every flow by itself, and give slowdowns and fairness.
        alone_basis: what a flow has in its run alone: the whole drive, or what isolation and its lists give
            to it beside the others.
        leave_one_out: also run the others without each flow in turn (``without`` of the flows of the
            summary).
        warmup: load that does not count: a time (``"10ms"``) or a number of requests.
        until_steady: run in rounds until the last five are steady by SNIA's rule, 25 at most; what has to be
            steady: ``"iops"`` (also ``True``), ``"bandwidth"`` or ``"latency"``. The last five rounds are
            what counts (``Result.steady_state``).
        round: length of such a round: a time, or a number of completed requests.
        requests: keep a record of every request (``Result.requests``): 120 bytes each.
        submissions: keep what the flows submit (``Result.submissions``), for :meth:`Drive.replay`.
        timeseries: keep the run in windows (``Result.timeseries``); a text such as ``"1ms"`` is their length.
        blame: charge all waiting to causes and culprits (``Result.blame``).
        energy: what each flow spends: ``energy`` and ``wear`` of the summary and of its flows.
        timeline: keep what channels, dies, cache and requests did (``Result.timeline``): ``True`` for the
            start of the run, ``"10ms..12ms"`` for a span.
        windows: with ``alone``, slowdown in windows of this length as well.
        waf_only: placement, collection and wear without time.
        check: audit the state of the model during the run (slow).
        threads: threads for the runs alone; 0 for all cores. Never changes a result.
        states: folder in which states of preconditioned drives are kept for later runs, or ``"off"``. Without
            it: ``FLASHLANE_STATES`` if that is set, else ``flashlane/states`` among your caches. Never
            changes a result.
        label: name of the run in reports. Default: the workload's name, or its flows'.
        progress: called with the share that is done, from 0 to 1; ``True`` for a bar.

    Returns:
        Summary, tables, charts and the page of the run.

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
        call: SimulateCall = {
            "seed": _whole("seed", seed, 0, 2**64 - 1),
            "seeds": _whole("seeds", seeds, 1, 10_000),
            "alone": alone,
            "alone_basis": alone_basis,
            "leave_one_out": leave_one_out,
            "check": check,
            "warmup": warmup,
            "until_steady": "iops" if until_steady is True else until_steady or None,
            "round": round,
            "windows": windows,
            "requests": requests,
            "submissions": submissions,
            "timeseries": timeseries,
            "blame": blame,
            "energy": energy,
            "timeline": "" if timeline is True else timeline or None,
            "waf_only": waf_only,
            "threads": _whole("threads", threads, 0, 1024),
            "states": states,
            "program": _flashlane.__file__,
            "label": label,
            "named": named,
        }
        outcome = _flashlane.simulate(drive, load._native, call, told)
    return Result(outcome, device=drive, workload=load, label=label)


def _whole(name: str, value: int, least: int, most: int) -> int:
    value = operator.index(value)
    if not least <= value <= most:
        shown = f"{least} to {most}" if most < 2**63 else f"{least} to 2^64 - 1"
        message = f"found {value}, allowed: {shown}"
        raise ConfigError(f"{name}: {message}", [(name, message)])
    return value
