"""What the tenants do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from flashlane import _flashlane
from flashlane.keys import FlowKeys

if TYPE_CHECKING:
    from flashlane.keys import CloneFlow, GroupConfig, SyntheticFlow, TraceFlow

#: Keys of the flow itself; all others of ``Flow`` say where its requests come from.
_FLOW_KEYS = frozenset(FlowKeys.__annotations__)


class Flow:
    """One tenant: a queue pair, a share of the drive, a source of requests.

    Without ``trace`` or ``clone`` its requests are drawn from distributions: the keys are those of
    ``[flow.synthetic]``, and exactly one of ``queue_depth``, ``iops`` and ``bandwidth`` is given.

    Args:
        name: name in reports; unique.
        trace: path of a trace to replay; the other keys are then those of ``[flow.trace]``.
        clone: name of a built-in clone (``flashlane.clone_names()``), or path of a file of
            parameters, as ``Clone.save`` writes it; the other keys are then those of ``[flow.clone]``.
        keys: those of :class:`flashlane.keys.SyntheticFlow`, ``TraceFlow`` or ``CloneFlow``: keys of the flow
            (``priority``, ``cache``, ``channels``, ``chips``, ``dies``, ``planes``,
            ``occupancy``, ``on_end``, ``starts_after``, ``slo``, ``limit``, ``weight``, ``count``) and of its
            source (``read_ratio``, ``size``, ``duration``, ``requests``, ``time_scale``, …). Sizes and times
            are text with a unit: ``"4KiB"``, ``"10ms"``.
            Every key, with its unit, range and default, is in docs/configuration.md.

    Raises:
        flashlane.errors.ConfigError: a key that no flow has, or a value that it does not take.

    Examples:
        >>> Flow("reader", queue_depth=4, read_ratio=1.0, duration="100ms")
        Flow('reader', synthetic={'queue_depth': 4, 'read_ratio': 1.0, 'duration': '100ms'})
        >>> Flow("oltp", clone="tpcc", time_scale=0.5, duration="1s", priority="high")
        Flow('oltp', priority='high', clone={'of': 'tpcc', 'time_scale': 0.5, 'duration': '1s'})
    """

    @overload
    def __init__(self, name: str, **keys: Unpack[SyntheticFlow]) -> None: ...
    @overload
    def __init__(self, name: str, *, trace: str | PathLike[str], **keys: Unpack[TraceFlow]) -> None: ...
    @overload
    def __init__(self, name: str, *, clone: str | PathLike[str], **keys: Unpack[CloneFlow]) -> None: ...
    def __init__(
        self,
        name: str,
        *,
        trace: str | PathLike[str] | None = None,
        clone: str | PathLike[str] | None = None,
        **keys: Any,
    ) -> None:
        """Sort the keys into those of the flow and those of its source, and check their names and types."""
        if trace is not None and clone is not None:
            raise TypeError(f"Flow {name!r}: found both `trace` and `clone`, allowed: one of them")
        self.name = name
        # A number of requests limits a trace, and rates limit a flow.
        flow_keys = _FLOW_KEYS
        if trace is None or isinstance(keys.get("limit"), Mapping):
            flow_keys = _FLOW_KEYS | {"limit"}
        own = {key: value for key, value in keys.items() if key in flow_keys}
        source = {key: value for key, value in keys.items() if key not in flow_keys}
        if trace is not None:
            own["trace"] = {"path": fspath(trace), **source}
        elif clone is not None:
            own["clone"] = {"of": fspath(clone), **source}
        else:
            own["synthetic"] = source
        #: The keys as in a workload file, without the name.
        self.keys: dict[str, Any] = own
        _flashlane.check_flow(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Keys as in a workload file."""
        return {"name": self.name, **self.keys}

    def __repr__(self) -> str:
        """As it is made."""
        return f"Flow({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self.keys.items())])})"

    def __eq__(self, other: object) -> bool:
        """Flows with the same keys are equal."""
        return isinstance(other, Flow) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


class Workload:
    """The flows that share a drive.

    Args:
        flows: :class:`Flow` objects, or the path of a workload file (TOML, MQSim XML with one scenario, fio
            job), or a dict with the keys of a workload file.
        name: name in reports.
        warmup: load that does not count, such as ``"10ms"``, where the run does not say otherwise.
        window: ``"steady"`` (requests that arrive while every flow loads the drive count) or
            ``"whole-run"``.
        groups: tenants with a limit that they share, as ``[[group]]`` in a file: ``[{"name": "batch",
            "members": ["a", "b"], "limit": {"iops": 1000}}]``. They come after those of ``flows``.
        set: keys to change, for example ``{"flow.reader.synthetic.queue_depth": 8}``.

    Raises:
        flashlane.errors.ConfigError: with the place, what was found and what is allowed.
    """

    def __init__(
        self,
        flows: list[Flow] | tuple[Flow, ...] | str | PathLike[str] | dict[str, Any],
        *,
        name: str | None = None,
        window: str | None = None,
        warmup: str | None = None,
        groups: Sequence[GroupConfig] = (),
        set: dict[str, Any] | None = None,
    ) -> None:
        """Resolve and check."""
        if isinstance(flows, (str, PathLike)):
            if groups:
                raise TypeError("Workload: found `groups` with a file, allowed: [[group]] in the file")
            scenarios = _flashlane._Workload.from_file(flows, set)
            if len(scenarios) != 1:
                raise ValueError(
                    f"{fspath(flows)}: found {len(scenarios)} scenarios, allowed: one; "
                    "Workload.scenarios() takes several"
                )
            self._native = scenarios[0]
            return
        if isinstance(flows, dict):
            keys: dict[str, Any] = dict(flows)
        else:
            strangers = [type(flow).__name__ for flow in flows if not isinstance(flow, Flow)]
            if strangers:
                raise TypeError(f"Workload: found {strangers[0]} in the list, allowed: Flow objects")
            keys = {"flow": [flow.to_dict() for flow in flows]}
        if name is not None:
            keys["name"] = name
        if window is not None:
            keys["window"] = window
        if warmup is not None:
            keys["warmup"] = warmup
        if groups:
            keys["group"] = [*keys.get("group", []), *map(dict, groups)]
        self._native = _flashlane._Workload.from_dict(keys, set)

    @classmethod
    def _of(cls, native: _flashlane._Workload) -> Workload:
        workload = cls.__new__(cls)
        workload._native = native
        return workload

    @classmethod
    def from_toml(cls, text: str, *, folder: str | PathLike[str] | None = None) -> Workload:
        """A workload from the text of a TOML file; ``folder`` is where its paths start."""
        return cls._of(_flashlane._Workload.from_toml(text, None, folder))

    @classmethod
    def scenarios(cls, path: str | PathLike[str], *, set: dict[str, Any] | None = None) -> list[Workload]:
        """Every scenario of a workload file."""
        return [cls._of(native) for native in _flashlane._Workload.from_file(Path(path), set)]

    def replace(self, *, set: dict[str, Any]) -> Workload:
        """A copy of the workload with some keys changed."""
        return self._of(self._native.changed(set))

    def to_toml(self) -> str:
        """Every key, as TOML."""
        return self._native.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """Every key, as nested dictionaries."""
        return self._native.to_dict()

    @property
    def name(self) -> str:
        """Name in reports."""
        return self._native.name

    @property
    def flows(self) -> list[str]:
        """Names of the flows."""
        return self._native.flows

    @property
    def warnings(self) -> list[str]:
        """Messages about keys that were ignored and values that were assumed."""
        return self._native.warnings

    def __repr__(self) -> str:
        """Name and flows."""
        name = f"{self.name!r}: " if self.name else ""
        return f"Workload({name}{', '.join(self.flows)})"

    def __eq__(self, other: object) -> bool:
        """Workloads with the same keys are equal."""
        return isinstance(other, Workload) and self._native == other._native

    __hash__ = None  # type: ignore[assignment]
