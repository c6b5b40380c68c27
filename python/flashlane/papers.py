"""The experiments of the papers, our numbers beside theirs."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

from flashlane import _flashlane
from flashlane.progress import Progress, shown


def papers() -> dict[str, dict[str, str]]:
    """Papers, and what each of their experiments is about."""
    return {
        name: {experiment: f"{figure}: {about}" for experiment, figure, about in experiments}
        for name, _, experiments in _flashlane.papers()
    }


def reproduce(
    paper: str,
    *experiments: str,
    full: bool = False,
    quick: bool = False,
    smoke: bool = False,
    seed: int = 1,
    threads: int = 0,
    traces: str | PathLike[str] | None = None,
    progress: Progress = None,
) -> list[dict[str, Any]]:
    """Run experiments of a paper.

    Args:
        paper: ``fast18``, ``flin`` or ``upi``.
        experiments: some of its experiments (:func:`papers`); all without a name.
        full: at full size and length.
        quick: a third of the workloads where an experiment compares many (FLIN's forty).
        smoke: the shortest runs that exercise everything: results mean nothing.
        seed: first seed.
        threads: simulations at a time; 0 for one on each core. Never changes a result.
        traces: folder with traces of your own instead of clones.
        progress: called with the share that is done; ``True`` for a bar.

    Returns:
        Rows of ``results.json``: ``experiment``, ``metric``, ``paper``, ``ours``, ``interval``, ``unit``,
        ``verdict``, ``note``.
    """
    with shown(progress, paper) as told:
        text = _flashlane.reproduce(
            paper,
            list(experiments),
            full=full,
            quick=quick,
            smoke=smoke,
            seed=seed,
            threads=threads,
            traces=traces,
            progress=told,
        )
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
