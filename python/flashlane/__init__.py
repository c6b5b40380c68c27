"""Finds which tenant of a shared SSD slows down another, why, and which device policy fixes it.

>>> import flashlane as fl
>>> work = fl.Workload([
...     fl.Flow("reader", queue_depth=1, read_ratio=1.0, duration="50ms"),
...     fl.Flow("writer", queue_depth=16, read_ratio=0.0, size="64KiB", duration="50ms"),
... ])
>>> result = fl.simulate(fl.Device("fast18"), work, alone=True)  # doctest: +SKIP
>>> result  # doctest: +SKIP

Units are in the names: ``_us`` microseconds, ``_ps`` picoseconds, ``_s`` seconds of simulated time.
"""

from flashlane import errors, figures, keys
from flashlane._flashlane import (
    Completion,
    Device,
    Plane,
    Random,
    Snapshot,
    State,
    Table,
    Work,
    __version__,
)
from flashlane.advise import Advice, Tried, advise
from flashlane.drive import MS, US, Drive, PlacementEvent, S, Zone
from flashlane.errors import ConfigError, Error, OutputError, RefusedError, StuckError, TraceError
from flashlane.papers import papers, reproduce
from flashlane.plots import plot_compare
from flashlane.policies import (
    DriveShape,
    PolicyInfo,
    Scheduler,
    Verdict,
    VictimPolicy,
    conformance,
    policies,
)
from flashlane.questions import (
    Fit,
    FitKey,
    FitPoint,
    Plan,
    PlanAnswer,
    PlanGoal,
    PlanTrial,
    Probe,
    ProbeSeries,
    fit,
    plan,
    probe,
)
from flashlane.result import Estimate, FlowResult, Result, Seeds, compare
from flashlane.run import simulate
from flashlane.search import Search, search, search_file
from flashlane.sweeps import Sweep, sweep, sweep_grid
from flashlane.traces import Clone, clone_names, clone_trace, read_trace
from flashlane.workload import Flow, Workload

__all__ = [
    "MS",
    "US",
    "Advice",
    "Clone",
    "Completion",
    "ConfigError",
    "Device",
    "Drive",
    "DriveShape",
    "Error",
    "Estimate",
    "Fit",
    "FitKey",
    "FitPoint",
    "Flow",
    "FlowResult",
    "OutputError",
    "PlacementEvent",
    "Plan",
    "PlanAnswer",
    "PlanGoal",
    "PlanTrial",
    "Plane",
    "PolicyInfo",
    "Probe",
    "ProbeSeries",
    "Random",
    "RefusedError",
    "Result",
    "S",
    "Scheduler",
    "Search",
    "Seeds",
    "Snapshot",
    "State",
    "StuckError",
    "Sweep",
    "Table",
    "TraceError",
    "Tried",
    "Verdict",
    "VictimPolicy",
    "Work",
    "Workload",
    "Zone",
    "__version__",
    "advise",
    "clone_names",
    "clone_trace",
    "compare",
    "conformance",
    "errors",
    "figures",
    "fit",
    "keys",
    "papers",
    "plan",
    "plot_compare",
    "policies",
    "probe",
    "read_trace",
    "reproduce",
    "search",
    "search_file",
    "simulate",
    "sweep",
    "sweep_grid",
]
