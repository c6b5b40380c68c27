from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, Unpack, final

from flashlane.keys import DeviceKeys

__version__: str
RUN_KEYS: list[str]

@final
class Device:
    """A drive: every key resolved and checked.

    Args:
        source: name of a preset (see :meth:`presets`; ``"flin"`` without one), path of a TOML file
            or of an MQSim ``ssdconfig.xml``, or a dict with the keys of a device file.
        compat: ``"mqsim"`` for the arithmetic of the released MQSim.
        set: keys by their paths, for example ``{"ftl.gc.victim": "greedy", "flash.channels": 4}``.
        keys: keys of a device file by name, on top of the source: ``scheduler="flin"``,
            ``isolation="partitioned"``, ``flash={"channels": 4}``. Those of
            :class:`flashlane.keys.DeviceKeys`; units, ranges and defaults are in
            docs/configuration.md.

    Raises:
        flashlane.errors.ConfigError: with the key, what was found and what is allowed.

    Examples:
        >>> Device("tiny", scheduler="fcfs", flash={"channels": 4})
        Device("tiny", scheduler="fcfs", isolation="unified", 4 channels x 2 chips)
    """

    def __init__(
        self,
        source: str | PathLike[str] | dict[str, Any] | None = None,
        *,
        compat: Literal["mqsim"] | None = None,
        set: dict[str, Any] | None = None,
        **keys: Unpack[DeviceKeys],
    ) -> None: ...
    @staticmethod
    def from_toml(text: str) -> Device:
        """A device from the text of a TOML file.

        Raises:
            flashlane.errors.ConfigError: with the line, what was found and what is allowed.
        """
    @staticmethod
    def presets() -> list[str]:
        """Names of the devices that ship with the package."""
    def replace(
        self,
        *,
        compat: Literal["mqsim"] | None = None,
        set: dict[str, Any] | None = None,
        **keys: Unpack[DeviceKeys],
    ) -> Device:
        """A copy of this device with some keys changed.

        Args:
            compat: ``"mqsim"`` for the arithmetic of the released MQSim.
            set: keys by their paths.
            keys: keys of a device file by name, as ``Device`` takes them.

        Raises:
            flashlane.errors.ConfigError: with the key, what was found and what is allowed.
        """
    def to_toml(self) -> str:
        """Every key, as TOML."""
    def to_dict(self) -> dict[str, Any]:
        """Every key, as nested dictionaries."""
    @property
    def name(self) -> str:
        """Name in reports."""
    @property
    def scheduler(self) -> str:
        """Name of the scheduling policy."""
    @property
    def isolation(self) -> str:
        """Name of the isolation policy."""
    @property
    def warnings(self) -> list[str]:
        """Settings that were ignored or assumed."""

class _Workload:
    @staticmethod
    def from_toml(
        text: str,
        set: dict[str, Any] | None = None,
        folder: str | PathLike[str] | None = None,
    ) -> _Workload: ...
    @staticmethod
    def from_dict(keys: dict[str, Any], set: dict[str, Any] | None = None) -> _Workload: ...
    @staticmethod
    def from_file(path: str | PathLike[str], set: dict[str, Any] | None = None) -> list[_Workload]: ...
    def to_toml(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def changed(self, set: dict[str, Any]) -> _Workload: ...
    @property
    def name(self) -> str: ...
    @property
    def flows(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...

@final
class Table:
    """Named columns of equal length in Arrow's memory layout.

    Every library that reads Arrow takes it without a copy: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``, ``pandas.DataFrame.from_arrow(t)``, ``duckdb``. As an iterable it gives
    its rows as dictionaries, slowly: ``pandas.DataFrame(t)``, ``for row in t``.
    """

    @property
    def column_names(self) -> list[str]:
        """Names of the columns; those of times and sizes end in their unit."""
    @property
    def num_rows(self) -> int:
        """Rows."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``. Needs pandas and pyarrow.

        Raises:
            ModuleNotFoundError: they are not installed; the message says how to get them.
        """
    def to_polars(self) -> Any:
        """The rows as a ``polars.DataFrame``, without a copy. Needs polars.

        Raises:
            ModuleNotFoundError: it is not installed; the message says how to get it.
        """
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's PyCapsule interface."""
    @staticmethod
    def _from_ipc(data: bytes) -> Table: ...

@final
class Completion:
    """A command of a :class:`Drive` that is over.

    Times are in picoseconds from the start. The nine stages, ``submission_ps`` to ``transfer_out_ps``, sum
    to ``latency_ps``.
    """

    @property
    def cookie(self) -> int:
        """What the submitter knows the command by."""
    @property
    def tenant(self) -> str:
        """Name of the tenant."""
    @property
    def op(self) -> str:
        """Operation of the command: ``"read"``, ``"write"``, ``"trim"`` or ``"flush"``."""
    @property
    def offset_bytes(self) -> int:
        """First byte in the tenant's space."""
    @property
    def bytes(self) -> int:
        """Length in bytes."""
    @property
    def pages(self) -> int:
        """Flash pages that the command touches, in part or whole."""
    @property
    def refusal(self) -> str | None:
        """The rule of zones that the command broke; the drive then did nothing."""
    @property
    def latency_ps(self) -> int:
        """From ``submit_ps`` to ``complete_ps``."""
    @property
    def arrival_ps(self) -> int:
        """When the command was submitted."""
    @property
    def submit_ps(self) -> int:
        """When the command was written to the submission queue."""
    @property
    def complete_ps(self) -> int:
        """When the host saw the completion."""
    @property
    def submission_ps(self) -> int:
        """Time in the submission queue."""
    @property
    def transfer_in_ps(self) -> int:
        """Time of the command and its data on the way in."""
    @property
    def firmware_ps(self) -> int:
        """Time of the controller's processor."""
    @property
    def cache_ps(self) -> int:
        """Time of the data cache."""
    @property
    def mapping_ps(self) -> int:
        """Time until the physical pages are known."""
    @property
    def flash_queue_ps(self) -> int:
        """Time in the queues of the dies."""
    @property
    def flash_bus_ps(self) -> int:
        """Time on the channels."""
    @property
    def flash_array_ps(self) -> int:
        """Time of the flash arrays."""
    @property
    def transfer_out_ps(self) -> int:
        """Time of data and completion on the way out."""

@final
class Snapshot:
    """The state of a :class:`Drive` at an instant."""

    @property
    def now_ps(self) -> int:
        """The time of the snapshot, in picoseconds."""

@final
class _Drive:
    def __init__(
        self, device: Device, tenants: dict[str, Any], *, seed: int, check: bool, blame: bool
    ) -> None: ...
    @property
    def tenants(self) -> list[str]: ...
    @property
    def now(self) -> int: ...
    @property
    def next_event(self) -> int | None: ...
    @property
    def outstanding(self) -> int: ...
    @property
    def reports(self) -> int: ...
    def sectors(self, tenant: str | int) -> int: ...
    def zones(self, tenant: str | int) -> list[tuple[int, int, str, int]]: ...
    def fail_zone(self, tenant: str | int, zone: int, state: str) -> None: ...
    def placement_events(self) -> list[tuple[int, str, int | None, int]]: ...
    def submit(
        self,
        tenant: str | int,
        op: str,
        lba: int,
        sectors: int,
        *,
        at: int | None,
        cookie: int,
        namespace: int,
        placement: int | None,
        by_clock: bool,
    ) -> None: ...
    def submit_batch(self, table: object, by_clock: bool) -> int: ...
    def replay(self, table: object) -> Table: ...
    def advance(self, until: int | None) -> Table: ...
    def step(self, until: int | None = None) -> tuple[str, list[Completion]] | None: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...
    def summary(self) -> str: ...
    def blame(self) -> str | None: ...

class SimulateCall(TypedDict):
    """What ``flashlane.simulate`` is asked for, beside drive and workload."""

    seed: int
    seeds: int
    alone: bool
    alone_basis: str
    leave_one_out: bool
    check: bool
    warmup: str | int | None
    until_steady: str | None
    round: str | int
    windows: str | None
    requests: bool
    submissions: bool
    timeseries: bool | str | None
    blame: bool
    energy: bool
    timeline: str | None
    waf_only: bool
    threads: int
    states: str | PathLike[str] | None
    program: str
    label: str
    named: bool

class Outcome(TypedDict):
    """What a run leaves: JSON texts and tables."""

    summary: str
    seeds: str | None
    report: str
    histograms: Table
    requests: Table | None
    submissions: Table | None
    timeseries: Table | None
    timeline: Table | None
    pftrace: bytes | None
    blame: str | None

class Reading(TypedDict):
    """How to read a trace."""

    path: str
    format: str | None
    columns: str | None
    time_unit: str | None
    size_unit: str | None
    action: str | None
    devices: list[int] | None
    limit: int | None
    delay: bool

def schema(of: str) -> str: ...
def check_flow(keys: dict[str, Any]) -> None: ...
def policies() -> list[tuple[str, str, str, str, bool]]: ...
def capacity(device: Device, workload: _Workload) -> dict[str, float]: ...
def simulate(
    device: Device,
    workload: _Workload,
    call: SimulateCall,
    progress: Callable[[float], object] | None,
) -> Outcome: ...
def plain(value: object, place: str) -> Any: ...
def report(columns: list[list[str]], module: str | None) -> str: ...
def without_wall_times(summary: str) -> str: ...
def write_whole(path: str | PathLike[str], content: bytes, overwrite: bool = False) -> None: ...
def refuse_others(
    folder: str | PathLike[str], names: Sequence[str | PathLike[str]], overwrite: bool
) -> None: ...

class HeldFolder:
    def __init__(
        self, folder: str | PathLike[str], names: Sequence[str | PathLike[str]], overwrite: bool
    ) -> None: ...
    def __enter__(self) -> HeldFolder: ...
    def __exit__(self, kind: object, error: object, trace: object) -> None: ...

def visible_line(text: str) -> str: ...
def read_trace(reading: Reading) -> tuple[Table, int]: ...
def clone_parameters(
    reading: Reading, name: str | None, progress: Callable[[float], object] | None
) -> str: ...
def clone_names() -> list[str]: ...
def generate(parameters: str, requests: int, time_scale: float, seed: int | None) -> Table: ...
def papers() -> list[tuple[str, str, list[tuple[str, str, str]]]]: ...
def reproduce(
    paper: str,
    experiments: list[str],
    *,
    full: bool,
    quick: bool,
    smoke: bool,
    seed: int,
    threads: int,
    traces: str | PathLike[str] | None,
    progress: Callable[[float], object] | None,
) -> str: ...

@final
class Work:
    """A page-sized piece of work that waits for a die. It never changes. Times in picoseconds."""

    @property
    def op(self) -> str:
        """What the die does: ``"read"``, ``"program"`` or ``"erase"``."""
    @property
    def source(self) -> str:
        """On whose behalf: ``"user"``, ``"cache"`` (write-back), ``"gc"`` (collection), ``"mapping"``."""
    @property
    def tenant(self) -> int:
        """The flow, numbered from 0; for collection, the one whose data is moved."""
    @property
    def priority(self) -> int:
        """Class of the flow: 0 urgent to 3 low."""
    @property
    def plane(self) -> int:
        """The plane of its page, among all planes of the drive."""
    @property
    def page(self) -> int:
        """Place of its page in the block; 0 for an erase."""
    @property
    def sectors(self) -> int:
        """Sectors that are read or written; 512 bytes each."""
    @property
    def request(self) -> int | None:
        """The host request that waits for it: work of one request has the same number."""
    @property
    def since(self) -> int:
        """Since when it waits."""
    @property
    def service(self) -> int:
        """Command, transfer and array time."""
    @property
    def die_busy(self) -> int:
        """When the work came, the time until its die would have served all work that it had begun."""

@final
class State:
    """The drive as a scheduler sees it when it decides. Times in picoseconds."""

    @property
    def now(self) -> int:
        """The time of the drive."""
    @property
    def urgent(self) -> bool:
        """Collection goes first: a plane of the chip is short of free blocks."""
    @property
    def planes_per_die(self) -> int:
        """The most transactions of a command."""
    @property
    def busy(self) -> int:
        """The time until the die has served all work that it has begun."""
    def is_ready(self, work: Work) -> bool:
        """Nothing but the scheduler keeps the work waiting."""
    def is_pointless(self, work: Work) -> bool:
        """The move of a page that is no longer valid: returned by ``next``, it is dropped."""
    @staticmethod
    def together(one: Work, other: Work) -> bool:
        """Two transactions can go in one command if they differ in their planes only."""

@final
class Plane:
    """The blocks of a plane as they are when a victim is chosen."""

    @property
    def pages_per_block(self) -> int:
        """Pages of a block."""
    def __len__(self) -> int:
        """Number of blocks."""
    def valid(self, block: int) -> int | None:
        """Valid pages of a block; ``None`` if it may not be collected."""
    def age(self, block: int) -> int:
        """Larger the longer ago the block was filled: blocks of the plane that were filled after it."""
    def is_read(self, block: int) -> bool:
        """Reads of the block are under way or queued."""
    def candidates(self) -> list[int]:
        """Blocks that may be collected with a gain: those with an invalid page."""
    def emptiest(self) -> int | None:
        """The candidate with the fewest valid pages; the first of several."""

@final
class Random:
    """Draws of the run's seed."""

    def below(self, bound: int) -> int:
        """A number below ``bound``, each as likely."""
    def unit(self) -> float:
        """A number from 0 up to, and without, 1."""

def register_policy(
    *,
    family: str,
    name: str,
    summary: str,
    source: str,
    read: Callable[[dict[str, Any] | None], dict[str, Any]],
    methods: list[str],
    fingerprint: str,
    **rest: Any,
) -> None: ...
def conformance(family: str, name: str) -> list[tuple[str, str | None]]: ...
def sweep(
    device: Device,
    workload: _Workload,
    *,
    points: str,
    options: str,
    folder: str | PathLike[str] | None,
    jobs: int,
    memory: int | None,
    states: str | PathLike[str] | None,
    program: str,
    progress: Callable[[float], object] | None,
) -> list[tuple[str, str | None]]: ...
def share_baseline(points: str, results: list[str], baseline: str | None) -> list[str]: ...
def sweep_page(title: str, keys: list[str], entries: str) -> str: ...
def search_page(view: str) -> str: ...
def sweep_table(keys: list[str], entries: str) -> tuple[str, bytes]: ...
def grid_points(path: str | PathLike[str]) -> tuple[list[str], str]: ...
def sweep_grid(
    path: str | PathLike[str],
    *,
    numbers: list[int],
    folder: str | PathLike[str] | None,
    jobs: int,
    memory: int | None,
    states: str | PathLike[str] | None,
    program: str,
    progress: Callable[[float], object] | None,
) -> list[tuple[str, str | None]]: ...
