"""Keys of devices and flows, for type checkers and editors: units, ranges, defaults.

Written by scripts/python_keys.py from the schemas of the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Required, TypeAlias, TypedDict

Bandwidth: TypeAlias = str
"""Text, such as ``1GB/s``."""

ByteSize: TypeAlias = str
"""Text, such as ``8KiB``."""


class LinkConfig(TypedDict, total=False):
    """PCIe: two independent directions, each a first-come-first-served server. Source: MQSim (FAST'18)
    section 4; PCI Express base specification."""

    lanes: int
    """Number of lanes. Range: 1..=32. Default: ``4``."""

    generation: int
    """PCIe generation, which gives ``lane_bandwidth`` and ``packet_overhead`` where these are not given
    (see ``docs/model-host.md``). Range: 3..=6."""

    lane_bandwidth: Bandwidth
    """Usable rate of one lane and direction. Default: that of the generation, or 1 GB/s without a
    generation."""

    max_payload: ByteSize
    """Largest payload of one packet. Range: 64B..=4KiB. Default: ``128B``."""

    packet_overhead: ByteSize
    """Header, link-layer and framing bytes of one packet. Range: 0..=64 bytes. Default: that of the
    generation, or 28 bytes without a generation."""


InterfaceKind: TypeAlias = Literal["nvme", "sata"]
"""The protocol between host and drive."""

Span: TypeAlias = str
"""Text, such as ``75us``."""


class RoundRobinConfig(TypedDict, total=False):
    """Parameters of round robin."""

    burst: int
    """Commands fetched from one queue before the next queue's turn. Range: 1..=64. Default: ``1``."""


class WeightedConfig(TypedDict, total=False):
    """Parameters of weighted round robin with urgent priority class."""

    burst: int
    """Commands fetched from one queue before the next queue of its class. Range: 1..=64. Default: ``1``."""

    high: int
    """Weight of the class ``high``: commands per round. Range: 1..=256. Default: ``4``."""

    medium: int
    """Weight of the class ``medium``. Range: 1..=256. Default: ``2``."""

    low: int
    """Weight of the class ``low``. Range: 1..=256. Default: ``1``."""


class StrideConfig(TypedDict, total=False):
    """Parameters of stride scheduling (none)."""


ArbitrationTable = TypedDict(
    "ArbitrationTable",
    {"round-robin": RoundRobinConfig, "weighted-round-robin": WeightedConfig, "stride": StrideConfig},
    total=False,
)
Arbitration: TypeAlias = (
    Literal["round-robin", "weighted-round-robin", "stride"]
    | ArbitrationTable
    | str
    | Mapping[str, Mapping[str, Any]]
)

CostModel: TypeAlias = Literal["commands", "pages", "device-time"]
"""The cost of a command."""

Frequency: TypeAlias = str
"""Text, such as ``1GHz``."""


class ProcessorsConfig(TypedDict, total=False):
    """Processors of the controller. A command takes ``command_cycles``, and for each of its pages
    ``page_cycles`` and a look-up of its mapping. A page that collection, the data cache or the mapping
    moves takes the same cycles, and a flash command takes ``decision_cycles``. Neither waits for that
    itself, but commands do. The defaults are Flashlane's assumptions."""

    cores: int
    """Cores; each runs one piece of firmware at a time. Range: 1..=64. Default: ``2``."""

    clock: Frequency
    """Clock of every core. Range: 1MHz..=10GHz. Default: ``1GHz``."""

    command_cycles: int
    """Cycles for a command, whatever its size. Range: 0..=1000000. Default: ``500``."""

    page_cycles: int
    """Cycles for a page: of a command, or moved by the drive itself. Range: 0..=1000000. Default: ``100``."""

    lookup_cycles: int
    """Cycles for the look-up of a page in the mapping table. Range: 0..=1000000. Default: ``50``."""

    decision_cycles: int
    """Cycles for the decision of the scheduler that leads to a flash command. Range: 0..=1000000. Default:
    ``100``."""

    cache: ByteSize
    """Cache in front of the mapping table, shared by the cores: direct-mapped lines of eight entries.
    ``0B``: every look-up misses. Range: 0B..=1GiB. Default: ``32KiB``."""

    miss_time: Span
    """Additional time of a look-up whose entry is not in that cache. Range: 0ps..=1ms. Default: ``100ns``."""


class SataConfig(TypedDict, total=False):
    """A SATA drive and its host bus adapter. Source: Serial ATA specification 3.x; the adapter that takes
    one command at a time is MQSim's (FAST'18)."""

    tags: int
    """Commands with a tag, from the command to the host's sight of its completion. Range: 1..=32, which is
    NCQ's. Default: ``32``."""

    adapter_time: Span
    """Time of the adapter per command on the way to the drive, and the same again per completion; one of
    each at a time. The default is Flashlane's assumption. Default: ``1us``."""

    link_rate: Bandwidth
    """Rate of the link after 8b/10b coding, one direction at a time: 600 MB/s for the 6 Gb/s of SATA III.
    Default: ``600MB/s``."""

    frame_payload: ByteSize
    """Largest payload of a data frame. Range: 512B..=8KiB. Default: ``8KiB``."""

    frame_overhead: ByteSize
    """Bytes of a frame besides its contents: start, checksum and end take 12. Range: 0..=256 bytes.
    Default: ``12B``."""


class InterfaceConfig(TypedDict, total=False):
    """The host interface: NVMe with one submission and one completion queue per flow, doorbells, fetch and
    arbitration, or SATA with one tagged queue for all flows. Firmware is the same for both."""

    kind: InterfaceKind
    """The protocol. With ``sata`` the keys of queues, entries and arbitration, the link and the priorities
    of flows have no effect, nor have their lists of channels, chips, dies and planes: such a drive cannot
    tell flows apart. Default: ``nvme``."""

    queue_depth: int
    """Entries of each submission and completion queue. Range: 2..=65536. Default: ``65535``."""

    doorbell_batch: int
    """Entries of a submission queue for which the host writes the doorbell once: when that many entries
    wait for it, or after ``doorbell_limit``. Completions have a doorbell each. Range: 1..=65535; 1 for a
    doorbell per entry, and in effect at most ``queue_depth - 1``. NVMe only. Default: ``1``."""

    doorbell_limit: Span
    """Longest time for which an entry waits for others before the host writes the doorbell. No effect with
    ``doorbell_batch = 1``. Range: 1ns..=10s. The default is Flashlane's assumption. Default: ``1us``."""

    queue_fetch_size: int
    """Commands of one queue that the device holds at a time (QueueFetchSize). Range: 1..=65535. Source:
    MQSim (FAST'18) section 6.1 and Fig. 12. Default: ``512``."""

    arbitration: Arbitration
    """How the device picks the next queue to fetch from. Default: ``round-robin``."""

    cost: CostModel
    """What a command costs, for shares by weight (``arbitration = 'stride'``) and for limits of commands
    per second. NVMe only."""

    fetch_ahead: int
    """Commands of all queues together that may be between fetch and the end of their firmware time. Small
    values let arbitration decide; range: 1..=65535. Default: ``16``."""

    read_buffer: ByteSize
    """Buffers for the data of reads: while the reads that were fetched, and whose data has not been sent,
    have this much or more, no command is fetched. So large reads cannot fill the dies. Range: 4KiB..=1GiB;
    without it there is no bound. NVMe only. Source: our own rule; ``docs/drives.md`` names the
    measurements that it imitates."""

    firmware_time: Span
    """Firmware time per command; ``0ns`` for none. Source: MQSim (FAST'18) section 3.3, about 1 us.
    Default: ``1us``."""

    write_firmware_time: Span
    """Firmware time of a write, where it differs; a write that is acknowledged from the cache often takes
    less."""

    page_firmware_time: Span
    """Firmware time that a read or write adds for each page (or mapping unit) after its first, by its
    size. Without it the size has no effect."""

    firmware_servers: int
    """Processors that run the firmware in parallel. Range: 1..=64. Default: ``1``."""

    processors: ProcessorsConfig
    """A model of the processors, in place of the four keys before. Without it firmware takes a constant
    time for each command, and no time for other work."""

    submission_entry: ByteSize
    """Size of a submission queue entry. 64 by the NVMe standard. Default: ``64B``."""

    completion_entry: ByteSize
    """Size of a completion queue entry. 16 by the NVMe standard. Default: ``16B``."""

    max_transfer: ByteSize
    """Most data that one read or write may move (MDTS of NVMe). The host splits larger ones into pieces
    that arrive together, the rest last. Trims have no such limit. Range: 4KiB..=16MiB, whole sectors of
    512 bytes. Default: ``16MiB``."""

    sata: SataConfig
    """Host bus adapter, tags and link of a SATA drive (with ``kind = 'sata'``)."""


CacheMechanism: TypeAlias = Literal["advanced", "simple"]
"""How the data cache handles data."""

Sharing: TypeAlias = Literal["shared", "equal-partitioning"]
"""How flows divide a resource."""

Admission: TypeAlias = Literal["slots", "rate"]
"""When a write is admitted to the cache."""

Ratio: TypeAlias = float | str


class PauseConfig(TypedDict, total=False):
    """Pauses in which a drive does not empty its write buffer, for work of its own. From outside they show
    as writes that wait for up to the length of a pause without ``buffer / rate of writes``. Reads do not
    notice. With ``sharing = 'equal-partitioning'`` the buffer of each flow has pauses of its own."""

    interval: Span
    """Time from the end of a pause to the next one. With ``0s`` there are no pauses. Range: 0s, or
    10us..=100s. Default: ``0ps``."""

    time: Span
    """Length of a pause. Range: 0s..=1s. Default: ``0ps``."""

    rate: Bandwidth
    """The pause is longer by the time in which what was written since the last one goes by at this rate.
    Range: 1MB/s..=1TB/s. Default: it is not."""

    buffer: ByteSize
    """Data of writes that the buffer takes during a pause. Range: 0B..=1TiB. Default: ``0B``."""


TransferRate: TypeAlias = str
"""Text, such as ``333MT/s``."""


class DramConfig(TypedDict, total=False):
    """DRAM timing of the data cache: banks with an open row each behind one data bus."""

    row: ByteSize
    """Bytes of one row. Default: ``8KiB``."""

    banks: int
    """Banks; each keeps one row open. Range: 1..=256. Default: ``8``."""

    data_rate: TransferRate
    """Transfers per second of the interface. Default: ``800MT/s``."""

    bus_width: ByteSize
    """Bytes of one transfer. Default: ``4B``."""

    t_rcd: Span
    """Row-to-column delay. Default: ``13ns``."""

    t_cl: Span
    """Column latency. Default: ``13ns``."""

    t_rp: Span
    """Row precharge. Default: ``13ns``."""


class CacheConfig(TypedDict, total=False):
    """The DRAM data cache. Which flows use it, and how, is the flow's ``cache`` key. Source: MQSim
    (FAST'18) section 4.2.2."""

    mechanism: CacheMechanism
    """How the cache handles data. Default: ``advanced``."""

    sharing: Sharing
    """Whether the flows share slots, bound and memory queue, or have their own. Default: ``shared``."""

    capacity: ByteSize
    """Room for user data, cut into slots of one flash page. With ``0B`` the drive has no data cache: flows
    are served as with ``cache = 'off'``. Default: ``256MiB``."""

    write_back_pages_per_plane: int
    """Most dirty data on its way to flash, as pages per plane of the device, or as word lines per plane
    with ``flash.programming = 'one-shot'``. With ``'two-pass'`` one word line more for each plane and
    flow. A write that would exceed this bound waits. With ``sharing = 'equal-partitioning'`` each flow has
    a bound of its own. Range: 1..=65536. Default: ``1``."""

    eager_write_back: bool
    """Send the first write of a page to flash at once and keep only rewritten ('hot') pages dirty."""

    hot_epoch: Span
    """The epoch after which a page counts as cold again (with ``eager_write_back``). Default: ``1s``."""

    admission: Admission
    """When a write is admitted to the cache: while there is room, or at the rate at which the data on its
    way to flash gets there. Default: ``slots``."""

    admission_mark: Ratio
    """Part of the most data that may be on its way to flash, above which ``admission = 'rate'`` delays
    writes. Range: 0..=0.95. Default: ``0.7``."""

    admission_window: int
    """Pages over whose way to flash ``admission = 'rate'`` averages the rate. The pace is smooth if these
    are more than collection moves between two pauses. Range: 16..=16777216. Default: ``4096``."""

    pause: PauseConfig
    """Pauses in which the data of writes stays in the buffer."""

    dram: DramConfig
    """The memory behind the cache."""


MappingKind: TypeAlias = Literal["page", "hybrid"]
"""Unit of the mapping from logical to physical."""


class MappingConfig(TypedDict, total=False):
    """Page-level mapping. Source: MQSim (FAST'18) section 4.2.3, after DFTL."""

    kind: MappingKind
    """Unit of mapping. Default: ``page``."""

    unit: ByteSize
    """Page-level: size of the units that are mapped. Smaller ones, of which a page of the flash is a
    multiple, are packed into pages as they are written. Larger ones are 2 to 16 pages in a row of a block.
    Range: 512 B..=64 KiB. Default: ``flash.page_size``."""

    fill_time: Span
    """With units smaller than a page, or ``flash.programming = 'one-shot'`` or ``'two-pass'``: longest
    time for which a written unit waits until its page or word line is full. Then the page or word line is
    programmed with empty units. With ``'two-pass'`` also the time for which a word line waits for the next
    one of its block, after which it has its second pass without that. Range: 1 us..=10 s. Default: 1 ms."""

    ideal: bool
    """Page-level: the whole table is in DRAM: every look-up hits and nothing is written back."""

    cmt_capacity: ByteSize
    """Room of the cached mapping table (CMT). Default: ``2MiB``."""

    sharing: Sharing
    """Whether the flows share the CMT or have an equal part each. Default: ``shared``."""

    warm: bool
    """Start with the entries that the workload would have left in the CMT."""

    log_blocks: int
    """Hybrid: log blocks for random writes, for each plane and flow. Range: 2..=4096. Default: ``8``."""


class StripedConfig(TypedDict, total=False):
    """Parameters of static striping (none; the order is the name)."""


class DynamicConfig(TypedDict, total=False):
    """Parameters of dynamic allocation (none)."""


class AllocationTable(TypedDict, total=False):
    """``Allocation`` with parameters: one name, and its table."""

    cwdp: StripedConfig
    cwpd: StripedConfig
    cdwp: StripedConfig
    cdpw: StripedConfig
    cpwd: StripedConfig
    cpdw: StripedConfig
    wcdp: StripedConfig
    wcpd: StripedConfig
    wdcp: StripedConfig
    wdpc: StripedConfig
    wpcd: StripedConfig
    wpdc: StripedConfig
    dcwp: StripedConfig
    dcpw: StripedConfig
    dwcp: StripedConfig
    dwpc: StripedConfig
    dpcw: StripedConfig
    dpwc: StripedConfig
    pcwd: StripedConfig
    pcdw: StripedConfig
    pwcd: StripedConfig
    pwdc: StripedConfig
    pdcw: StripedConfig
    pdwc: StripedConfig
    dynamic: DynamicConfig


Allocation: TypeAlias = (
    Literal[
        "cwdp",
        "cwpd",
        "cdwp",
        "cdpw",
        "cpwd",
        "cpdw",
        "wcdp",
        "wcpd",
        "wdcp",
        "wdpc",
        "wpcd",
        "wpdc",
        "dcwp",
        "dcpw",
        "dwcp",
        "dwpc",
        "dpcw",
        "dpwc",
        "pcwd",
        "pcdw",
        "pwcd",
        "pwdc",
        "pdcw",
        "pdwc",
        "dynamic",
    ]
    | AllocationTable
    | str
    | Mapping[str, Mapping[str, Any]]
)

Superblock: TypeAlias = str
"""Text, such as ``block`` or ``drive`` or ``4 dies``."""


class NoSeparationConfig(TypedDict, total=False):
    """Parameters (none)."""


class TwoFrontiersConfig(TypedDict, total=False):
    """Parameters (none)."""


class CountsConfig(TypedDict, total=False):
    """Parameters of counts."""

    hot: int
    """Writes of a page, of late, from which on it is hot. Range: 1..=15. Default: ``4``."""

    halve_after: Ratio
    """The counts of a flow are halved after this many writes of the flow for each of its logical pages;
    with superblocks, those of all flows together. Range: 1 %..=10000 %. Default: ``1.25``."""


SeparationTable = TypedDict(
    "SeparationTable",
    {"none": NoSeparationConfig, "two-frontiers": TwoFrontiersConfig, "counts": CountsConfig},
    total=False,
)
Separation: TypeAlias = (
    Literal["none", "two-frontiers", "counts"] | SeparationTable | str | Mapping[str, Mapping[str, Any]]
)

UnwrittenRead: TypeAlias = Literal["zero-fill", "flash"]
"""The answer to a read of a page that was never written."""

UnwrittenOrder: TypeAlias = Literal["rows", "dies"]
"""The order of pages that were never written, in a superblock whose word lines have several pages."""


class GreedyConfig(TypedDict, total=False):
    """Parameters of greedy (none)."""


class RgaConfig(TypedDict, total=False):
    """Parameters of randomised greedy."""

    choices: int
    """Blocks drawn; 0 for floor(log2(blocks per plane)), as MQSim. Default: ``0``."""


class RandomConfig(TypedDict, total=False):
    """Parameters of random (none)."""


class RandomPlusConfig(TypedDict, total=False):
    """Parameters of random-plus (none)."""


class RandomPlusPlusConfig(TypedDict, total=False):
    """Parameters of random-plus-plus."""

    max_valid: Ratio
    """Valid share of a victim at most. 0 for the average of the full blocks of the plane. Range: 0..=1.
    Default: ``0.0``."""


class FifoConfig(TypedDict, total=False):
    """Parameters of first in, first out (none)."""


class CostBenefitConfig(TypedDict, total=False):
    """Parameters of cost-benefit (none)."""


class NoneConfig(TypedDict, total=False):
    """Parameters of no collection (none)."""


VictimTable = TypedDict(
    "VictimTable",
    {
        "greedy": GreedyConfig,
        "rga": RgaConfig,
        "random": RandomConfig,
        "random-plus": RandomPlusConfig,
        "random-plus-plus": RandomPlusPlusConfig,
        "fifo": FifoConfig,
        "cost-benefit": CostBenefitConfig,
        "none": NoneConfig,
    },
    total=False,
)
Victim: TypeAlias = (
    Literal["greedy", "rga", "random", "random-plus", "random-plus-plus", "fifo", "cost-benefit", "none"]
    | VictimTable
    | str
    | Mapping[str, Mapping[str, Any]]
)

BlockShare: TypeAlias = str
"""Text, such as ``5%`` or ``4 blocks``."""

Pacing: TypeAlias = Literal["burst", "proportional"]
"""When the valid pages of a block in collection move."""


class GcConfig(TypedDict, total=False):
    """Garbage collection. Source: MQSim (FAST'18) section 4.2.3."""

    victim: Victim
    """Which block is emptied. Default: ``rga``."""

    threshold: BlockShare
    """Collection of a plane starts when its free blocks fall below this. Default: ``5%``."""

    hard_threshold: BlockShare
    """Below this many free blocks collection goes before user work; host writes wait when only the reserve
    is left. Default: ``0.5%``."""

    preemptible: bool
    """User transactions go before collection while free blocks are at or above the hard threshold."""

    max_concurrent_per_plane: int
    """Blocks of a plane in collection at the same time, wear levelling included. Range: 1..=16. Default:
    ``1``."""

    copyback: bool
    """Valid pages move inside their plane, by way of its page register: read and programmed at once, their
    data never on the channel. Not with hybrid mapping."""

    pacing: Pacing
    """When the valid pages of a block move. Default: ``burst``."""

    read_wait_max: Span
    """With ``pacing = 'proportional'``: longest time for which collection goes before the reads of a die
    that wait. After it, these reads go first. At least one command of collection goes in each such turn.
    Range: 1us..=1s. Default: 1ms."""

    idle_after: Span
    """With ``pacing = 'proportional'``: collection goes on without writes, page by page, when no request
    has been in the drive for this time. Range: 1us..=1000s. Default: never."""


class WearConfig(TypedDict, total=False):
    """Wear levelling."""

    dynamic: bool
    """New frontiers take the least-erased free block of the plane, instead of the oldest."""

    static_threshold: int
    """Difference between the most and the least erased block of a plane at which the data of a least
    erased block is moved, so that the block is used again; 0 for never. Range: 0..=1000000. Source: MQSim
    (FAST'18), its released configuration. Default: ``100``."""


class ScrubbingConfig(TypedDict, total=False):
    """Read scrubbing: every read disturbs the other pages of its block a little, so that data is moved out
    of a block that was read often. Only where pages are mapped one by one."""

    limit: int
    """Host pages read from a block since its erase at which its data is moved; 0 for never. Vendors do not
    publish theirs: tens of thousands for flash with three bits a cell, a million for one. Range:
    0..=4000000000. Default: ``0``."""


Placement: TypeAlias = Literal["striped", "random"]
"""The planes on which the data of a flow lies at the start, among those that it writes to."""


class PreconditionConfig(TypedDict, total=False):
    """Instant steady state: valid and invalid pages are set directly before the run. Source: MQSim
    (FAST'18) section 5; mean-field model of the GC policy in use."""

    enabled: bool
    """Start from the steady state, instead of an empty drive."""

    occupancy: Ratio
    """Share of each flow's logical pages that hold data. Range: 0..=1. A flow can override it. Default:
    ``1.0``."""

    placement: Placement
    """The planes on which the data of a flow lies. Default: ``striped``."""

    warm_cache: bool
    """Start with the pages that the workload would have left in the data cache."""

    open_blocks: bool
    """Start with the blocks that each flow is writing, filled up to a random page, so that the planes do
    not begin to collect at the same time. Only where pages are mapped one by one; with
    ``compat.frontiers_at_start`` these blocks are open and empty instead."""


class FtlConfig(TypedDict, total=False):
    """Flash translation layer."""

    over_provisioning: Ratio
    """(physical - logical) / logical capacity. Range: 0.5 %..=1000 %. Default: ``0.28``."""

    mapping: MappingConfig
    """The page-level mapping table and its cache."""

    allocation: Allocation
    """The plane that a write goes to. With superblocks: the order of the planes in a stripe. Default:
    ``cwdp``."""

    superblock: Superblock
    """The blocks that are written, collected and erased together: ``'block'``, a block of one plane;
    ``'drive'``, a superblock of one block of each plane of the drive; ``'4 dies'``, a superblock of a set
    of dies. Free blocks and thresholds then count superblocks. Flows that write to the same planes share
    superblocks; others have sets of their own. Mapping units fill the page or the word line of one plane,
    and then that of the next plane. Default: ``block``."""

    parity: bool
    """The last page of each stripe of a superblock holds parity, and no data (with one-shot programming:
    the last word line). The pages for parity are part of over-provisioning."""

    separation: Separation
    """The separation of hot and cold data: the write frontiers that the data of a flow has on each plane,
    and which pages go to which. Default: two-frontiers."""

    unwritten_read: UnwrittenRead
    """What a read of a never-written page costs. Default: ``zero-fill``."""

    unwritten_order: UnwrittenOrder
    """Where such a page lies in a superblock, with ``unwritten_read = 'flash'`` and one-shot programming.
    Default: ``rows``."""

    gc: GcConfig
    """Garbage collection."""

    wear_leveling: WearConfig
    """Wear levelling."""

    read_scrubbing: ScrubbingConfig
    """Moves of data out of blocks that were read often (read scrubbing)."""

    precondition: PreconditionConfig
    """The state in which a run starts."""


class FcfsConfig(TypedDict, total=False):
    """Parameters (none)."""


class HostFirstConfig(TypedDict, total=False):
    """Parameters (none)."""


class ReadPriorityConfig(TypedDict, total=False):
    """Parameters of read priority."""

    write_age_limit: Span
    """A write that has waited this long goes before reads that came later. Without a bound, saturating
    reads would starve writes. Default: ``10ms``."""


class OutOfOrderConfig(TypedDict, total=False):
    """Parameters (none)."""


class PriorityOutOfOrderConfig(TypedDict, total=False):
    """Weights of the classes below ``urgent``."""

    high: int
    """Weight of ``high``. Range: 1..=256. Default: ``4``."""

    medium: int
    """Weight of ``medium``. Range: 1..=256. Default: ``2``."""

    low: int
    """Weight of ``low``. Range: 1..=256. Default: ``1``."""


class SprinklerConfig(TypedDict, total=False):
    """Parameters of Sprinkler."""

    window: int
    """Transactions, from the oldest on, that may lead a command. Range: 1..=1024. Default: ``16``."""

    suspend_collection: bool
    """Reads interrupt programs and erases of collection that may be preempted."""

    pending_writes: int
    """Collection is not preempted either if this many writes of hosts wait for the die. FLIN (ISCA'18)
    section 3.4 gives no number. Default: never. Range: 1 and above."""


class SprinklerFairnessConfig(TypedDict, total=False):
    """Parameters of Sprinkler with budgets."""

    window: int
    """As ``sprinkler.window``. Range: 1..=1024. Default: ``16``."""

    suspend_collection: bool
    """As ``sprinkler.suspend_collection``."""

    pending_writes: int
    """As ``sprinkler.pending_writes``."""

    round: Span
    """Wall time of a round in which every die works: the budgets of a round come to this time for each
    die. Range: 1ms..=10s. Default: ``500ms``."""

    idle: Span
    """A flow that had no work for this time does not keep others from the next round. Range: 1us..=1s.
    Default: ``100us``."""

    limit: Span
    """A round ends after this time at the latest. Range: 1ms..=10s. Default: ``5s``."""

    work_conserving: bool
    """Where no read of a flow with budget waits at a die, it takes reads of flows without budget. Writes
    go by that rule, too."""

    gc_compensation: bool
    """Flows pay for the collection that they cause."""

    least_factor: float
    """Least factor of compensation. Range: 0.1..=1. Default: ``0.25``."""

    most_factor: float
    """Largest factor of compensation. Range: 1..=10. Default: ``2.0``."""

    urgent: int
    """Weight of the budgets of urgent flows. Range: 1..=256. Default: ``1``."""

    high: int
    """Weight of ``high``. Range: 1..=256. Default: ``1``."""

    medium: int
    """Weight of ``medium``. Range: 1..=256. Default: ``1``."""

    low: int
    """Weight of ``low``. Range: 1..=256. Default: ``1``."""


Stage: TypeAlias = Literal["insertion", "arbitration", "wait-balancing"]
"""The stages of FLIN."""

Scope: TypeAlias = Literal["device", "unit", "each-unit"]
"""The rates that the thresholds of intensity apply to."""

Intensities: TypeAlias = Literal["low", "high"]
"""Intensity of a flow."""

FreePages: TypeAlias = Literal["plane", "unit", "device"]
"""Where free pages are counted for GC_FLIN."""

History: TypeAlias = Literal["device", "unit", "run"]
"""End of the history of writes of Eq. 10."""


class FlinConfig(TypedDict, total=False):
    """Parameters of FLIN. Defaults: FLIN (ISCA'18) section 6."""

    stages: list[Stage]
    """The stages in use."""

    epoch: Span
    """Interval of intensity classification. Range: 1us and above. Default: ``10ms``."""

    read_intensity: Bandwidth
    """A flow that reads less is of low read intensity (alpha for reads, C). Default: ``32MB/s``."""

    write_intensity: Bandwidth
    """A flow that writes less is of low write intensity (alpha for writes, C). Default: ``250KiB/s``."""

    intensity_scope: Scope
    """The rates that both thresholds apply to. Choice: the paper keeps rates by flow and chip (section
    5.5) and speaks of thresholds of flows. Default: ``unit``."""

    first_intensity: Intensities
    """Intensity of all flows in the first epoch. The paper does not say; the fragment of FLIN in the
    released MQSim begins with high."""

    fairness_threshold: float
    """Below this fairness of departed transactions, the most slowed flow of high intensity goes first
    (F_thr). Range: 0..=1. Default: ``0.6``."""

    gc_free_pages: int
    """Writes take migrations along when there are fewer free pages (GC_FLIN). Default: ``1024``."""

    gc_scope: FreePages
    """Where free pages are counted. The paper: 'available in the memory'. Default: ``device``."""

    gc_history: History
    """End of the history of writes that decides how flows share migrations. Choice: the paper counts
    'since the last garbage collection operation'. Default: ``device``."""

    suspend: bool
    """A read may interrupt a program or an erase that has waited proportionally less (section 4.3)."""

    age_limit: Span
    """A transaction that has waited this long is served next, whatever the stages decide. The paper has no
    bound. Default: none, but 100 ms without wait balancing, where reads go before all else."""

    scan_limit: int
    """Most transactions that insertion looks at, from the tail of a region on. The paper has no bound.
    Range: 1 and above."""


SchedulingTable = TypedDict(
    "SchedulingTable",
    {
        "fcfs": FcfsConfig,
        "host-first": HostFirstConfig,
        "read-priority": ReadPriorityConfig,
        "out-of-order": OutOfOrderConfig,
        "priority-out-of-order": PriorityOutOfOrderConfig,
        "sprinkler": SprinklerConfig,
        "sprinkler-fairness": SprinklerFairnessConfig,
        "flin": FlinConfig,
    },
    total=False,
)
Scheduling: TypeAlias = (
    Literal[
        "fcfs",
        "host-first",
        "read-priority",
        "out-of-order",
        "priority-out-of-order",
        "sprinkler",
        "sprinkler-fairness",
        "flin",
    ]
    | SchedulingTable
    | str
    | Mapping[str, Mapping[str, Any]]
)


class UnifiedConfig(TypedDict, total=False):
    """Parameters of unified allocation (none)."""


PartitionBy: TypeAlias = Literal["channel", "chip"]
"""What partitions are made of."""

PartitionShares: TypeAlias = Literal["equal", "capacity"]
"""Sizes of partitions."""


class PartitionedConfig(TypedDict, total=False):
    """Parameters of fixed partitions."""

    by: PartitionBy
    """The units that are dealt out to the flows, among those that their resource lists name. Default:
    ``chip``."""

    shares: PartitionShares
    """How much each flow gets. Logical capacities stay as with ``unified``; a flow that does not fit is
    refused. Default: ``equal``."""


FewestReads: TypeAlias = Literal["all", "own"]
"""Reads by which the chip to give away is chosen."""

PastReads: TypeAlias = Literal["window", "average", "owned"]
"""The reads that are expected in a coming window."""


class UpiConfig(TypedDict, total=False):
    """Parameters of UPI. Parameters that the paper does not give are ours, and marked so."""

    window: Span
    """Time between two allocation steps; ours, the paper gives none. Range: 1us..=3600s. Default: ``30s``."""

    hysteresis: float
    """A chip moves only if the utility of the flow that loses it is expected to be at least ``1 +
    hysteresis`` times that of the flow that gains it. The paper: 0. Range: 0..=100. Default: ``0.0``."""

    settle: bool
    """A chip moves only if the lowest utility is expected to rise, so that transfers come to an end while
    the load is constant; ours. Without it two flows with equal loads may swap a chip again and again."""

    fewest_reads: FewestReads
    """The reads by which a flow chooses the chip to give away: the chip with the fewest. The paper does
    not say whose reads count. It says that this is to reduce interference, which hits the reads of the
    flow whose data stays behind. Default: ``own``."""

    past_reads: PastReads
    """The reads of the past that stand for those to come. The paper does not say which. Default:
    ``average``."""

    read_gain: float
    """Weight of the last window in the running mean of the reads, with ``past_reads = 'average'``; ours.
    Range: 0.001..=1. Default: ``0.125``."""

    relocation: float
    """Weight of the reads of a block on a chip that its flow does not write to, against its invalid pages,
    when a victim is chosen (section 5): 0 never moves data for its reads, large values move it eagerly. At
    1 a block with as many reads as the mean block of its flow counts like a block without a valid page.
    The form of the score is ours. Range: 0..=1000000. Default: ``1.0``."""

    spread_copies: bool
    """Collection spreads the pages of a flow's own chips over its set, as it does for pages on chips of
    others. Otherwise they stay in their plane."""

    traffic_exponents: list[float]
    """Exponent on the idle share of a chip in the utility of each flow (section 5), in the order of the
    workload; 1 where the list ends. Range: 0..=100."""

    read_exponent: float
    """Exponent on the reads in the utilities (section 5). Range: 0..=10. Default: ``1.0``."""

    shared_chips: list[int]
    """Chips that every flow writes to (section 5, 'relaxing the mutually exclusive property'), numbered
    channel by channel."""

    read_only_chips: list[int]
    """Chips that no flow writes to (section 5): they start with a part of every flow's data and serve
    reads of it."""

    overflow: bool
    """A write that finds no room in its set goes outside of the set, which the paper forbids. Otherwise
    its flow is given another chip at once, a forced transfer; ours."""

    fill: Ratio
    """Share of valid pages from which on a plane takes no more pages of a set while another plane can;
    ours. Range: 0.01..=1. Default: ``0.85``."""

    amplification_gain: float
    """Weight of the last window in the running means of a flow's writes and copies, whose ratio is its
    write amplification; ours. Range: 0.001..=1. Default: ``0.125``."""

    read_memory: int
    """Windows over which the reads of a block are remembered, as a running mean; 0 counts all reads since
    its erase, as drives count them against read disturb; ours. Range: 0..=1000. Default: ``0``."""

    traffic_limit: float
    """Traffic from which on a chip counts as overloaded; ours, since the paper only says '0 to 1'. Range:
    0.1..=0.9999. Default: ``0.99``."""


class IsolationTable(TypedDict, total=False):
    """``Isolation`` with parameters: one name, and its table."""

    unified: UnifiedConfig
    partitioned: PartitionedConfig
    upi: UpiConfig


Isolation: TypeAlias = (
    Literal["unified", "partitioned", "upi"] | IsolationTable | str | Mapping[str, Mapping[str, Any]]
)

Technology: TypeAlias = Literal["slc", "mlc", "tlc", "qlc", "in-place"]
"""Cell technology."""

ChannelClass: TypeAlias = Literal["nv-ddr2", "nv-ddr3", "nv-lpddr4"]
"""Interface of the chips. Sources: ONFI 3.x, 4.2 and 5.1."""

CommandBus: TypeAlias = Literal["shared", "separate"]
"""The bus of a channel that carries commands and addresses. Source: ONFI 5.2; JEDEC JESD230G."""

Programming: TypeAlias = Literal["page", "one-shot", "two-pass"]
"""How a die programs pages."""

PageOrder: TypeAlias = Literal["turns", "mqsim"]
"""The types of the pages of a block, in order."""


class SmallReadConfig(TypedDict, total=False):
    """Reads of small parts of a page. Source: NVMeVirt (FAST'23) gives such times for real drives."""

    size: Required[ByteSize]
    """Largest part of a page that counts as small. A multiple of 512 B, up to the page."""

    time: Required[list[Span]]
    """tR of such a read by page type, as ``flash.read_time``."""


class SuspendConfig(TypedDict, total=False):
    """Program and erase suspension. Source: MQSim (FAST'18) section 4.1; reference values of its released
    configuration."""

    program: bool
    """A read may interrupt a program."""

    erase: bool
    """A read may interrupt an erase."""

    program_time: Span
    """Time from the suspend command until the die takes another one, for a program. Default: ``100us``."""

    erase_time: Span
    """Time from the suspend command until the die takes another one, for an erase. Default: ``700us``."""

    program_min_left: Span
    """A program with less than this left is not interrupted. Default: ``100us``."""

    erase_min_left: Span
    """An erase with less than this left is not interrupted by a read. Default: ``700us``."""

    erase_for_write: bool
    """A write may interrupt an erase too, unless collection goes before user work."""

    erase_min_left_for_write: Span
    """An erase with less than this left is not interrupted by a write. Default: ``700us``."""

    max_per_operation: int
    """A program or an erase is interrupted no more often than this. Without the key only ``min_progress``
    bounds it. Range: 1..=65535."""

    min_progress: Ratio
    """A resumed program or erase runs for this part of its whole time before it is interrupted again, and
    for no less than twice the time to settle. Range: 0.1 %..=100 %."""


class FlashConfig(TypedDict, total=False):
    """The flash memory, or memory that is written in place: geometry, timing, suspension."""

    technology: Technology
    """Bits per cell, which decide the latency of a page; or ``in-place`` for 3D XPoint, phase-change and
    other memory that is written in place. There a page is one media access; nothing is erased, mapped or
    collected, and logical pages keep their places, striped over the dies."""

    channels: int
    """Channels. Range: 1..=64."""

    chips_per_channel: int
    """Chips on each channel. Range: 1..=64."""

    dies_per_chip: int
    """Dies of a chip. Range: 1..=16."""

    planes_per_die: int
    """Planes of a die. Range: 1..=8."""

    blocks_per_plane: int
    """Blocks of a plane. Range: 8..=1048576."""

    pages_per_block: int
    """Pages of a block. Range: 4..=8192."""

    page_size: ByteSize
    """User bytes of a page. A multiple of 512 B, 512 B..=32KiB."""

    channel_width: ByteSize
    """Bytes that the channel moves per transfer. Range: 1..=8 bytes. Default: ``1B``."""

    channel_rate: TransferRate
    """Transfers per second of a channel (NV-DDR2: two per clock)."""

    channel_class: ChannelClass
    """The interface of the chips, which decides how long commands and addresses take; ``channel_rate``
    must be one that it allows. Without it the timing of NV-DDR2, at any rate."""

    command_time: Span
    """Channel time of the command and address of a page, instead of that of the interface."""

    command_bus: CommandBus
    """Whether commands and addresses share the bus of the data (``shared``, the default), or have a bus of
    their own beside it (separate command address, SCA; ONFI 5.2 and JESD230G). With a bus of its own, a
    read command is sent while data of another die moves. ``command_time`` may say how long the narrow bus
    takes for a command. Not with ``compat.class_rotation``, ``compat.one_die_per_dispatch``,
    ``compat.scan_at_once`` or ``compat.data_before_commands``."""

    programming: Programming
    """How pages are programmed. With ``one-shot`` and ``two-pass``, ``pages_per_block`` is a multiple of
    the pages of a word line, which are as many as a cell has bits; and TLC needs ``page_order = 'turns'``.
    ``program_time`` is one time with ``one-shot``, that of a word line, and two with ``two-pass``: those
    of the first and of the second pass. Default: ``page``."""

    page_order: PageOrder
    """The types of the pages of a block, in order. Default: ``mqsim``."""

    read_time: Span | list[Span]
    """tR by page type: one value, or a list with one per type (2 for MLC, 3 for TLC, 4 for QLC)."""

    program_time: list[Span]
    """tPROG by page type, as ``read_time``; with ``programming = 'two-pass'`` the times of the first and
    of the second pass of a word line."""

    cache_program: bool
    """A die takes the data of its next program while its array still programs the pages before (ONFI: page
    cache program, 15h), so that a program hides the transfer of the next one. Not with ``in-place``,
    ``suspend.program``, ``ftl.gc.copyback``, or the schedulers ``flin``, ``sprinkler`` and ``sprinkler-
    fairness``."""

    independent_plane_reads: bool
    """The planes of a die read independently (asynchronous independent plane read): each reads one page at
    any address, with a start of its own. Programs and erases occupy the whole die, as before. Not with
    ``in-place``, ``ftl.gc.copyback``, ``[errors]``, or the schedulers ``flin``, ``sprinkler`` and
    ``sprinkler-fairness``."""

    cache_read: bool
    """A plane senses the next page while the data of the last one crosses the channel (ONFI: read cache,
    31h). Only with ``independent_plane_reads``: each plane has a cache register of its own."""

    small_read: SmallReadConfig
    """Shorter times for reads of small parts of a page."""

    read_unit: ByteSize
    """With ``in-place``: bytes of one array read. A larger access takes ``read_time`` for each. Range: 16
    B..=``page_size``, which is the default."""

    write_unit: ByteSize
    """With ``in-place``: bytes of one array write, as ``read_unit``."""

    erase_time: Span
    """tBERS. Not with ``in-place``. Default: ``0ps``."""

    suspend: SuspendConfig
    """Which operations a more urgent one may interrupt."""


class SlcCacheConfig(TypedDict, total=False):
    """An SLC cache: the host writes into blocks whose cells hold one bit each, which is fast, and the
    drive moves the data into ordinary blocks later. Blocks of the static part are always in SLC mode. The
    dynamic part takes its blocks from the free ones of each plane and gives them back. Writes go around
    the cache where it is full."""

    size: ByteSize
    """Data that the blocks of the dynamic part may hold, all together. Range: 0, or one block in SLC mode
    of each plane to all blocks. Default: ``0B``."""

    static_size: ByteSize
    """Data that the blocks of the static part hold. These blocks never hold pages of an ordinary one, and
    are part of over-provisioning. Range: 0, or one block in SLC mode of each plane to half of all blocks.
    Default: ``0B``."""

    free_share: Ratio
    """Part of the free blocks of a plane that the dynamic part may take: it shrinks as the drive fills.
    Free blocks are those of the dynamic part and those of the pool above ``ftl.gc.threshold``. Range: 1
    %..=100 %. Default: ``1.0``."""

    read_time: Required[Span]
    """tR of a page in SLC mode."""

    program_time: Required[Span]
    """tPROG of a page in SLC mode."""

    dynamic_program_time: Span
    """tPROG of a page of the dynamic part, where it differs: some drives fill that part more slowly than
    the static one. Default: ``program_time``."""

    fold_time: Span
    """Time for which folding occupies a die beside tR, for each command that reads pages to be moved: what
    a drive does to move them with care, which no maker publishes. Range: up to 1 s. Default: none."""

    fold_after: Span
    """Idle time of the drive after which it folds the cache: it moves the data of full blocks into
    ordinary ones, oldest first, until the host comes back or the cache is empty. Without the key, blocks
    are folded only where a plane is short of free blocks. Range: 1 us..=1000 s."""


PlacementMode: TypeAlias = Literal["none", "fdp", "streams", "zones"]
"""What a drive offers to hosts that know which of their data belongs together."""

HandleIsolation: TypeAlias = Literal["initially", "persistently"]
"""Type of a reclaim unit handle. Source: NVMe 2.1, FDP configuration descriptor."""


class ZonesConfig(TypedDict, total=False):
    """Zones with streams."""

    active: Required[int]
    """Zones that are written at a time. A request goes to one of them, chosen at random. Range: 1..=65536."""

    size: Required[ByteSize]
    """Size of a zone, rounded up to a multiple of ``align``. A full zone gives its turn to any other one."""


class PlacementConfig(TypedDict, total=False):
    """Placement of data by the host: writes name a placement handle, and the data of each handle goes to
    reclaim units of its own. A reclaim unit is a superblock."""

    mode: PlacementMode
    """What the drive offers to hosts. Default: ``none``."""

    handles: int
    """Handles of the drive. Each has an open reclaim unit in each set of dies. With ``streams``: the
    number of streams that may be open. Range: 1..=64. Default: 8. Default: ``8``."""

    isolation: HandleIsolation
    """What collection does with the data of different handles, with ``fdp``. Default: initially. Default:
    ``initially``."""

    groups: int
    """Reclaim groups, with ``fdp``: the sets of dies of ``ftl.superblock`` in this many groups of equal
    size. A placement identifier is then ``group * handles + handle``, and the data of a group lies on its
    dies. ``handles`` times ``groups`` is 64 at most. Range: 1..=64. Default: 1."""

    always_open: bool
    """With ``fdp``: each handle holds an open reclaim unit in each of its sets of dies at all times, also
    before its first write. Otherwise it takes one with the next write. Default: false."""

    unit_time: Span
    """With ``fdp``: how long a reclaim unit may be open. With the next write of its handle after that
    time, the handle moves to another reclaim unit. Not with ``--waf-only``. Default: no limit."""

    zones: ZonesConfig
    """The zones, with ``zones``."""


FinishKind: TypeAlias = Literal["fill", "leave"]
"""What finishing a zone does to the pages that it has left."""

ErrorModel: TypeAlias = Literal["mlc-3x", "mlc-2y", "tlc-3d", "custom"]
"""Presets of the raw bit error rate. Source: Kim, Choi and Min, 'Design Tradeoffs for SSD Reliability'
(FAST 2019); the figures are from memory and unverified."""


class Coefficients(TypedDict, total=False):
    """The figures of the raw bit error rate: base + wear * cycles^wear_power + retention *
    cycles^retention_cycles_power * days^retention_power + disturb * cycles^disturb_cycles_power *
    reads^disturb_power. Range of the factors: 0..=1; of the powers: 0..=10."""

    base: float
    """Error rate of a new page. Default: ``0.0``."""

    wear: float
    """Factor of wear. Default: ``0.0``."""

    wear_power: float
    """Power of the cycles in wear. Default: ``0.0``."""

    retention: float
    """Factor of retention. Default: ``0.0``."""

    retention_cycles_power: float
    """Power of the cycles in retention. Default: ``0.0``."""

    retention_power: float
    """Power of the days in retention. Default: ``0.0``."""

    disturb: float
    """Factor of read disturb. Default: ``0.0``."""

    disturb_cycles_power: float
    """Power of the cycles in read disturb. Default: ``0.0``."""

    disturb_power: float
    """Power of the reads in read disturb. Default: ``0.0``."""


class AgeConfig(TypedDict, total=False):
    """The age of all blocks at the start of a run."""

    cycles: int
    """Program and erase cycles of each block. Range: 0..=1000000. Default: ``0``."""

    retention_days: float
    """Days since the data was programmed. Range: 0..=3650. Default: ``0.0``."""

    reads: int
    """Page reads of each block since it was programmed. Range: 0..=4000000000. Default: ``0``."""


class ErrorsConfig(TypedDict, total=False):
    """Bit errors of the flash, and their correction: hard decoding, read retries, soft decoding. Without
    this section every read succeeds at once."""

    model: Required[ErrorModel]
    """The raw bit error rate of a page."""

    coefficients: Coefficients
    """With ``model = 'custom'``: the figures of the model."""

    page_types: list[float]
    """Error rate by page type, as a multiple of that of the model. Default: in proportion to the reference
    voltages of the type (1, 2, 4, 8), with a mean of 1. Range of each: 0.001..=1000."""

    codeword: ByteSize
    """Data of a codeword: 1, 2 or 4 KiB; a page has a whole number of them. Default: ``1KiB``."""

    correctable_bits: int
    """Bits of a codeword that hard decoding corrects. Default: 72 for each KiB. Range: 1..=4000."""

    decode_time: Span
    """Time of hard decoding, after the data of a page has crossed the channel. Default: ``20us``."""

    retries: int
    """Read retries at most, with shifted reference voltages, before soft decoding. Range: 0..=60. Default:
    ``24``."""

    retry_factor: float
    """Error rate of a retry, as a multiple of that of the read before it. Range: 0.01..=1. Default:
    ``0.9``."""

    soft_senses: int
    """Reads of the page for soft decoding, once all retries have failed; 0 for no soft decoding. Range:
    0..=60. Default: ``6``."""

    soft_correctable_bits: int
    """Bits of a codeword that soft decoding corrects. Default: twice ``correctable_bits``. Range:
    ``correctable_bits``..=8000."""

    soft_decode_time: Span
    """Time of soft decoding, after the last of its reads. Default: ``80us``."""

    refresh_at: float
    """Error rate from which on the data of a block is moved. Without it no data is. Range: 0.000001..=0.5."""

    age: AgeConfig
    """The age of the blocks at the start."""


Power: TypeAlias = str
"""Text, such as ``82.5mW``."""


class EnergyConfig(TypedDict, total=False):
    """Power of the parts of a drive, for ``--energy``. A part takes its power while it works, as data
    sheets of chips state it: current times voltage. Energy is power times the simulated time, and changes
    no result. The defaults are assumptions, typical of chips with a 3.3 V core."""

    read_power: Power
    """Power of a plane whose array reads, for tR (ICC1 times VCC). Range: 0..=100W. Default: ``82500uW``."""

    program_power: Power
    """Power of a plane whose array programs, for tPROG (ICC2). Range: 0..=100W. Default: ``82500uW``."""

    erase_power: Power
    """Power of a plane whose array erases, for tBERS (ICC3). Range: 0..=100W. Default: ``82500uW``."""

    transfer_power: Power
    """Power of a channel with both its ends while data crosses it (ICC4). Range: 0..=100W. Default:
    ``100mW``."""

    dram_power: Power
    """Power of the memory of the data cache while it moves data (IDD4). Range: 0..=100W. Default:
    ``300mW``."""

    idle_power: Power
    """Power of the whole drive when it is idle, added at all times. 0 if it is not known. Range: 0..=100W.
    Default: ``0uW``."""


class EnduranceConfig(TypedDict, total=False):
    """Rated life of the flash, for ``--energy``."""

    rated_cycles: int
    """Programs and erases for which a block is rated. Without it, years of life are not reported. Range:
    1..=1000000000."""


class CompatConfig(TypedDict, total=False):
    """Switches to the released MQSim's arithmetic, so that its numbers can be checked one by one.
    ``--compat mqsim`` turns all of them on. None of them reproduces lost requests, hangs or crashes."""

    padded_sqe: bool
    """A submission queue entry is 72 bytes on the link (compiler padding) instead of 64."""

    zero_firmware_time: bool
    """No firmware time and no limit on commands between fetch and firmware."""

    one_die_per_dispatch: bool
    """A chip takes a command only when all its dies are idle, and the oldest transaction of the class
    decides the die. There is no die-level parallelism inside a chip."""

    class_rotation: bool
    """``priority-out-of-order`` rotates over the classes below ``urgent`` once for each chip and
    operation, not by credits of each die. The rotation moves with every look at a chip, whether the chip
    can take a command or not, and may end before it comes to the class ``low``. With
    ``one_die_per_dispatch``."""

    strict_queues: bool
    """``out-of-order`` and ``priority-out-of-order`` have no limit of age, and search their whole queues
    for pages that other planes can do at the same time. If several transactions entered a queue at one
    time, the first is the oldest. Reads of hosts join reads of mapping."""

    truncated_bus_clock: bool
    """Two beats of the channel last 2 * trunc(1000 / (MT/s)) ns instead of the exact time."""

    flash_unwritten_reads: bool
    """A read of a never-written page costs a flash read, at a page that is given in the order of such
    reads. Only the sectors of that first read count as present for partial writes."""

    dram_formula: bool
    """DRAM access time by MQSim's formula (rows halved, delays charged once)."""

    random_generators: bool
    """Random draws by MQSim's generator, draw for draw, and flows are started in the order in which the
    released MQSim's hash table of objects holds them. It depends on the numbers of channels, chips and
    flows. Only for flows that come from MQSim XML."""

    device_page_cuts: bool
    """Requests are cut at the page boundaries of the device, and their addresses are aligned to the
    device. Pages are still counted from the first sector of their flow. If that sector is no multiple of a
    page, one page of flash may get two parts of a request."""

    wrapped_requests: bool
    """A request that reaches over the end of its flow is not moved back. From the next page of the device
    on, it continues at its device address modulo the length of the flow."""

    truncated_link_time: bool
    """PCIe transfer times are cut to whole nanoseconds. A read whose command arrives at the time of other
    events begins after them."""

    unordered_programs: bool
    """Multi-plane programs may pair pages out of the order of their block, and reads do not wait for the
    program of their page."""

    scan_at_once: bool
    """Work that the end of an operation frees is offered to the channel before the die counts as idle, and
    once for every page of the command. The read of a translation page is sent as soon as it is asked for,
    before other pages of the request. What its data sets free is offered to its own channel last."""

    cache_drops_written: bool
    """A page leaves the data cache as soon as it is on flash, unless another request wrote it again. In
    that case the end of the write-back counts as a use of the page."""

    cache_milestones: bool
    """Pages count as written before since the first write after the last whole ``cache.hot_epoch``. The
    end of an epoch is noticed only for the flow that writes at that time, even if the write has to wait.
    The first write ends an epoch."""

    cache_writes_alone: bool
    """A write-back that starts at once carries only the sectors of its write, not all cached sectors of
    the page."""

    urgent_evictions: bool
    """Write-backs of evicted pages belong to the class ``urgent``, whatever their flow."""

    cache_drops_leaving: bool
    """The least recently used page leaves a full data cache although its write-back is under way."""

    cache_fills_written: bool
    """Reads fill the data cache only with pages that were written, in the run or before it. All others of
    a flow fill one place, and only the first of them takes time of the memory."""

    cold_cache: bool
    """The data cache starts empty."""

    partial_writes_in_queue: bool
    """A partial write gets its page at once, and is queued before the read of the old data. It then waits
    for that read in the queue."""

    cmt_per_flow: bool
    """A shared mapping cache has its whole capacity for every flow."""

    translation_pages_from_start: bool
    """Every whole translation page is on flash from the start, also on an empty drive."""

    cmt_reserves: bool
    """A miss takes its place in the mapping cache, and evicts an entry, when it starts to wait.
    Transactions that wait for a translation page go on page by page, in the order of the first misses."""

    short_mapping_reads: bool
    """A mapping read moves 512 B. A mapping read that merges a page moves the sectors of which unchanged
    entries are cached."""

    unprogrammed_mapping: bool
    """Mapping write-backs read the old page and are never programmed. The entries of a page that was
    written back once stay known."""

    scattered_occupancy: bool
    """Preconditioned data lies anywhere in a flow's space, unless the flow touches more than it holds; the
    mapping cache starts with entries of the lowest of these pages."""

    data_before_commands: bool
    """Waiting read data goes before every command on a channel: the dies of a busy channel run in step,
    and its bus idles for one tR a round. Mapping data goes before data of users, and data of users before
    data of collection, however long these wait."""

    no_suspension: bool
    """Programs and erases are never suspended."""

    frontiers_at_start: bool
    """Every flow takes its open blocks on each of its planes at the start (host data, translation pages,
    moved pages), and the next one as soon as a block is full. Blocks without data stay free if a nearly
    full plane would otherwise have none left for collection."""

    collection_per_block: bool
    """Collection starts once for each block taken while a plane has fewer free blocks than the threshold,
    for up to ten blocks at a time; an erase that leaves fewer than ten free blocks starts another one."""

    leveling_by_number: bool
    """Static wear levelling compares numbers of blocks in place of their erases: after each erase, the
    number of the first block with the most erases and of the first with the fewest. It acts where the
    first is greater by the threshold, or smaller."""

    planes_may_fill: bool
    """A run may start although some planes have no room for all data of their flows, for example those
    that flows share in part. If it fills such a plane, it ends with an error."""

    writes_wait_for_erases: bool
    """Host writes of a chip wait while urgent collection has blocks there whose erase has not started.
    With hybrid mapping they wait only when nothing but the erase is left: a merge may have to wait for
    host writes."""

    occupied_by_own_requests: bool
    """At the start, a random flow of MQSim's files holds the pages that its first requests touch, at most
    90 % of its space. The run then writes only pages that are there already. If it would touch too few
    pages, the requests are drawn from its whole space. A flow with hot pages, at most 30 %, holds these
    and the first others that it touches. With ``random_generators``."""

    first_sectors_only: bool
    """A page that preconditioning fills holds one sector, the first of an access. A write of this sector
    needs no old data; a write without it has to merge."""

    fullest_blocks_oldest: bool
    """Preconditioning leaves half as many free blocks as the threshold of collection, and the fullest
    blocks count as the oldest."""

    rounded_block_counts: bool
    """Preconditioning takes the release's steady state of every flow, and rounds the number of blocks with
    each number of valid pages down. Pages for which no block is left go to more of the fullest blocks, so
    that some blocks stay free. The highest pages lie in the fullest blocks, in front of what is invalid."""

    sata_over_pcie: bool
    """Commands, data and completions of a SATA drive cross the PCIe link, as messages of NVMe."""

    sata_tags_freed_on_fetch: bool
    """A SATA drive has ``interface.queue_depth - 1`` places instead of its tags, and a place is free again
    as soon as a completion reports that its command was fetched."""

    sata_one_stream: bool
    """A SATA drive sees one stream of commands: pages are those of the whole drive and take turns on its
    planes. All flows share write frontiers, mapping cache and data cache. The data cache works for all of
    them as the first flow asks. Not with hybrid mapping."""

    reporting: bool
    """``--format mqsim-xml`` writes rates over whole seconds of the whole run, times truncated to whole
    microseconds, and ``-nan`` for empty averages. Changes no other output."""


Priority: TypeAlias = Literal["urgent", "high", "medium", "low"]
"""NVMe weighted-round-robin class."""

CacheMode: TypeAlias = Literal["off", "write", "read", "write-read"]
"""The use of the data cache by a flow."""

OnEnd: TypeAlias = Literal["repeat", "stop"]
"""Behaviour of a flow at the end of its first pass."""


class SloConfig(TypedDict, total=False):
    """The goals of a tenant. Times are from arrival to completion (``end_to_end_us``), as the tenant sees
    them. A goal of time also counts as missed if the drive does not keep up with the tenant."""

    mean: Span
    """Largest mean time."""

    p50: Span
    """Largest median time."""

    p90: Span
    """Largest 90th percentile."""

    p95: Span
    """Largest 95th percentile."""

    p99: Span
    """Largest 99th percentile."""

    p99_9: Span
    """Largest 99.9th percentile."""

    p99_99: Span
    """Largest 99.99th percentile."""

    max: Span
    """Largest time of any request."""

    slowdown: float
    """Largest slowdown. The flows then also run alone, as with ``--alone``. Range: 1 and above."""

    min_iops: float
    """Fewest completions per second. Range: above 0."""

    min_bandwidth: Bandwidth
    """Fewest bytes per second."""


class RatesConfig(TypedDict, total=False):
    """Largest rates of one kind of command."""

    iops: float
    """Most commands per second. Range: 0.001..=1000000000."""

    bandwidth: Bandwidth
    """Most bytes per second."""


LimitPlace: TypeAlias = Literal["device", "host"]
"""Where a limit holds commands back."""


class LimitConfig(TypedDict, total=False):
    """Largest rates. The device fetches a command, or the host submits it, when its rates allow it."""

    iops: float
    """Most commands per second, of all kinds. Range: 0.001..=1000000000."""

    bandwidth: Bandwidth
    """Most bytes per second that reads and writes move together."""

    read: RatesConfig
    """Limits of reads alone."""

    write: RatesConfig
    """Limits of writes alone."""

    burst: Span
    """After a pause, as much may pass at once as the rates give in this time. In any window of length
    ``w``, a rate is kept to what it gives in ``w + burst``, and one command more. Range: 0s..=3600s.
    Default: 1ms."""

    at: LimitPlace
    """Where commands are held back."""


ThinkTimes: TypeAlias = Literal["constant", "exponential"]
"""Distribution of the think times of warps."""


class WarpsConfig(TypedDict, total=False):
    """Warps of a GPU whose threads read from the drive themselves. Each warp makes a batch of ``reads``
    requests at once, waits for all of them, thinks, and makes the next batch. All warps begin when the
    pass of the flow begins. Sizes and addresses are those of the flow, which only reads.  Source: BaM
    (ASPLOS'23), where the threads of a warp submit together and queue pairs are shared by many warps."""

    count: Required[int]
    """Number of warps. Range: 1..=1048576; ``count * reads`` is at most 16777216."""

    reads: int
    """Requests of a batch: one for each thread of a warp that needs data of its own. Range: 1..=1024.
    Default: 32, the threads of a warp. Default: ``32``."""

    think_time: Span
    """Mean time from the end of a warp's batch to its next batch. Range: up to 100 days. Default: none.
    Default: ``0ps``."""

    think: ThinkTimes
    """Distribution of the think times. Default: ``constant``."""

    queue_pairs: int
    """Queue pairs of the flow. Warp ``w`` uses number ``w`` modulo this for all of its requests. Range:
    1..=65535, and at most 65535 for all flows together. More than one only over NVMe. Default: one.
    Default: ``1``."""


Arrivals: TypeAlias = Literal["poisson", "constant"]
"""Gaps between the arrivals of an open loop."""


class HotColdConfig(TypedDict, total=False):
    """Hot and cold regions."""

    hot_region: Required[Ratio]
    """Share of the space that is hot. Range: 0..1."""

    hot_traffic: Required[Ratio]
    """Share of the requests that go to the hot region. Range: 0..=1."""

    scattered: bool
    """Hot blocks of ``align`` bytes lie anywhere in the space, instead of at its start."""


class ZipfConfig(TypedDict, total=False):
    """Zipf popularity."""

    theta: Required[float]
    """Exponent: probability of rank k is proportional to k^-theta. Range: 0..=5."""

    extent: ByteSize
    """Unit of popularity, rounded up to a multiple of ``align``. Default: 64KiB. Default: ``64KiB``."""

    stands_for: ByteSize
    """Popularity as over a space of this size, from which the flow's space is scaled down: an extent gets
    the draws of all those that it stands for. Default: the flow's space."""


class MixedConfig(TypedDict, total=False):
    """Streaming and uniform, mixed."""

    streaming: Required[Ratio]
    """Share of requests that continue the stream. Range: 0..=1."""

    stream_space: Ratio
    """Share of the space, from its start, in which the stream wraps. Range: above 0, 1 at most. Default:
    ``1.0``."""

    phase: Span
    """Stream and uniform requests alternate in spans of this length: the stream runs for its share of each
    span. Default: every request draws its kind."""


AddressConfigTable = TypedDict(
    "AddressConfigTable",
    {"hot-cold": HotColdConfig, "zipf": ZipfConfig, "mixed": MixedConfig, "zones": ZonesConfig},
    total=False,
)
AddressConfig: TypeAlias = Literal["uniform", "streaming", "permutation", "permutations"] | AddressConfigTable
"""Address distribution of a synthetic flow."""


class NormalSizeConfig(TypedDict, total=False):
    """Normal request sizes."""

    mean: Required[ByteSize]
    """Mean."""

    stddev: Required[ByteSize]
    """Standard deviation."""


class SizeConfigTable(TypedDict, total=False):
    """``SizeConfig`` with parameters: one name, and its table."""

    normal: NormalSizeConfig
    discrete: list[list[Any]]


SizeConfig: TypeAlias = ByteSize | SizeConfigTable
"""Request sizes of a synthetic flow: ``'4KiB'``, or a table."""


class PartConfig(TypedDict, total=False):
    """A part of the requests of a flow, with addresses, sizes and a placement handle of its own. Every
    request draws its part."""

    share: Required[float]
    """Bytes of this part, relative to those of the other parts. Range: 1e-12..=1e12."""

    placement: int
    """Placement identifier of the part's writes, instead of that of the flow."""

    start: Ratio
    """Start of the part's addresses, as a share of the flow's space, rounded down to a multiple of
    ``align``. Range: 0..1. Default: 0. Default: ``0.0``."""

    end: Ratio
    """End of the part's addresses, as a share of the flow's space. Range: above ``start``, up to 1.
    Default: 1. Default: ``1.0``."""

    read_ratio: Ratio
    """Share of reads among reads and writes. Range: 0..=1. Default: 0, only writes. Default: ``0.0``."""

    trim_ratio: Ratio
    """Share of trims among all requests. Range: 0..=1. Default: ``0.0``."""

    address: AddressConfig
    """Distribution of addresses. Default: ``uniform``."""

    fill_first: bool
    """The part first writes every one of its addresses once, in order. Parts do this one after the other,
    before anything else. Only where all of its requests are writes."""

    size: SizeConfig
    """Request sizes. Default: ``4KiB``."""

    align: ByteSize
    """Request addresses are multiples of this, from the start of the part. Default: as for a flow."""


class CacheEngineConfig(TypedDict, total=False):
    """A cache engine on flash. Small objects share buckets, which are overwritten at random places at the
    start of the flow's space. Large objects are in a log, which is written in sequence over the rest of
    the space. Popularity is left out: an object's hash decides about its bucket, so that buckets are about
    equally popular.  Source: CacheLib as WARP (FAST'26) runs it, with buckets of ``BigHash`` and a log-
    structured cache of large objects. A default is published where its key says so."""

    small_space: Ratio
    """Share of the flow's space for buckets of small objects, from its start. 0: all objects are large,
    whatever the other keys of small ones say. Range: 0..1. Default: 4%; WARP (FAST'26) has 0, 4, 20 and
    40%. Default: ``0.04``."""

    bucket: ByteSize
    """Size of a bucket: that of all reads and writes of small objects. Default: 4KiB, as in WARP
    (FAST'26). Default: ``4KiB``."""

    small_bytes: Ratio
    """Share of small objects among the bytes that are written. Range: above 0, below 1. Default: 50%. WARP
    (FAST'26) publishes none; this one value is fitted to six of its amplifications. Default: ``0.5``."""

    large_write: ByteSize
    """Size of a write to the log of large objects. Default: 128KiB, our choice. Default: ``128KiB``."""

    read_ratio: Ratio
    """Share of reads among all requests. Range: 0..=1. Default: 0, our choice. Default: ``0.0``."""

    small_reads: Ratio
    """Share of small objects among the reads. Range: 0..=1. Default: 50%, our choice. Default: ``0.5``."""

    large_read: ByteSize
    """Size of a read of a large object, which may be anywhere in the log. Default: 4KiB, our choice.
    Default: ``4KiB``."""

    small_placement: int
    """Placement identifier of the writes of small objects, instead of that of the flow."""

    large_placement: int
    """Placement identifier of the writes of large objects, instead of that of the flow."""

    fill_first: bool
    """The flow first writes its whole space once, in order: first the buckets, then the log."""


ZoneUse: TypeAlias = Literal["append", "write", "reset"]
"""The commands of a flow to zones."""


class ZoneUseConfig(TypedDict, total=False):
    """The use of zones. The flow's writes become commands to zones, which take turns: every zone of the
    space has one before the first one has its second. Reads keep the addresses of the flow."""

    kind: ZoneUse
    """The commands. Default: ``append``."""

    active: int
    """Zones that are written at a time, in turn. Range: 1..=64, and no more than the drive allows
    (``placement.zones.max_active``) together with those of other flows. Default: ``1``."""

    finish_after: ByteSize
    """A zone is finished when this much is written to it. Default: zones are filled."""


FioRw: TypeAlias = Literal["read", "write", "trim", "readwrite", "trimwrite"]
"""Operations of a job (``rw``, without ``rand``)."""


class FioSkew(TypedDict, total=False):
    """A skewed distribution."""

    parameter: Required[float]
    """Exponent, power or deviation."""

    center: float
    """Place of the most popular block, as a share of the space. Default: drawn for zipf and pareto, 0.5
    for normal."""


class FioExtentTable(TypedDict, total=False):
    """``FioExtent`` with parameters: one name, and its table."""

    bytes: ByteSize
    percent: int
    zones: int


FioExtent: TypeAlias = FioExtentTable
"""A length in bytes or in percent."""


class FioDistributionTable(TypedDict, total=False):
    """``FioDistribution`` with parameters: one name, and its table."""

    zipf: FioSkew
    pareto: FioSkew
    normal: FioSkew
    zoned: list[list[Any]]


FioDistribution: TypeAlias = Literal["random"] | FioDistributionTable
"""Distribution of random addresses."""


class FioDirection(TypedDict, total=False):
    """Sizes and addresses of one operation."""

    smallest: ByteSize
    """Smallest request (``bs``, ``bsrange``). Default: ``4KiB``."""

    largest: ByteSize
    """Largest request. Default: ``4KiB``."""

    split: list[list[Any]]
    """Sizes with percentages, the rarest first (``bssplit``), instead of a range."""

    align: ByteSize
    """Random addresses are multiples of this, from the offset on (``blockalign``). Default: the smallest
    request."""

    random_percent: int
    """Percentage of requests that are random in a random job (``percentage_random``). Default: ``100``."""

    distribution: FioDistribution
    """Distribution of random addresses (``random_distribution``). Default: ``random``."""

    rate: int
    """Most bytes per second (``rate``)."""


FioFileOrderTable = TypedDict("FioFileOrderTable", {"round-robin": int, "random": int}, total=False)
FioFileOrder: TypeAlias = Literal["sequential"] | FioFileOrderTable
"""Order in which files get requests. The number is the requests that a file gets at a time."""


class FioThink(TypedDict, total=False):
    """Pauses of a job."""

    time: Required[Span]
    """Length of a pause, which begins when no request is outstanding (``thinktime``)."""

    blocks: int
    """Requests between pauses (``thinktime_blocks``). Default: 1, or no such pauses beside ``after``."""

    issued: bool
    """True if ``blocks`` counts issued requests, instead of complete ones (``thinktime_blocks_type``)."""

    after: Span
    """Time between pauses (``thinktime_iotime``)."""

    shifts_rate: bool
    """True if pauses shift the times of paced requests (``rate_ignore_thinktime``); otherwise the job
    catches up."""


class FioZones(TypedDict, total=False):
    """Parts of the space that requests visit in turn."""

    size: Required[ByteSize]
    """Bytes to transfer before the next zone (``zonesize``)."""

    range: Required[ByteSize]
    """Size of a zone (``zonerange``)."""

    skip: ByteSize
    """Bytes between zones (``zoneskip``). Default: ``0B``."""


class FioZbd(TypedDict, total=False):
    """A job on the zones of a drive."""

    size: ByteSize
    """Size of a zone (``zonesize``). Default: that of the drive, which it has to equal."""

    capacity: ByteSize
    """Bytes that can be written of a zone (``zonecapacity``). Default: those of the drive, which it has to
    equal."""

    max_open: int
    """Zones that all copies of the job write at a time (``max_open_zones``). Range: at least one for each
    file of each copy, and at most what the drive lets be open. Default: the equal share of the flow of
    ``placement.zones.max_open``."""

    max_open_each: int
    """Zones that each copy writes at a time (``job_max_open_zones``). Range: at least one for each file.
    Default: no limit beside ``max_open``."""

    ignore_limits: bool
    """``max_open`` may be above the open zones of the drive, up to its active zones
    (``ignore_zone_limits``)."""

    read_beyond: bool
    """Reads go to the whole capacity of each zone (``read_beyond_wp``). Otherwise they go to what is
    written, and to all of a zone that the job has not touched."""


class FioPlacement(TypedDict, total=False):
    """Placement identifiers among which each write of a job takes one: handles of flexible data placement,
    or streams."""

    ids: Required[list[int]]
    """The identifiers (``plids``); one may stand several times. No effect on a drive with ``placement.mode
    = 'none'``. Range: 1 to 128 identifiers, each below the number of the drive's identifiers
    (``placement.handles``)."""

    random: bool
    """Each write draws its identifier (``plid_select=random``); otherwise the writes to a file take them
    in turn."""


class FioConfig(TypedDict, total=False):
    """The sequence of requests that fio would issue for a job. A job file fills these keys. The flow's
    keys ``queue_depth`` (of each copy of the job), ``requests`` and ``duration`` also apply. Its keys for
    operations, sizes and addresses are only for reports."""

    rw: FioRw
    """Operations of the job. Default: ``read``."""

    random: bool
    """True if addresses are random."""

    read_percent: int
    """Percentage of reads where the job reads and writes (``rwmixread``). Range: 0..=100. Default: ``50``."""

    read: FioDirection
    """Sizes, alignment and randomness of reads."""

    write: FioDirection
    """Sizes, alignment and randomness of writes."""

    trim: FioDirection
    """Sizes, alignment and randomness of trims."""

    unaligned: bool
    """Sizes need not be multiples of the smallest (``bs_unaligned``)."""

    in_a_row: int
    """Requests that follow each other from each random address on (``rw=randread:8``). Range: 1 and above.
    Default: ``1``."""

    hole: int
    """Bytes left out behind each request of a sequential job (``rw=read:8k``); negative to go backwards.
    Default: ``0``."""

    identical: bool
    """Requests in a row have the same address (``rw_sequencer=identical``)."""

    map: bool
    """Each block once a pass, in a random order (the opposite of ``norandommap``)."""

    file_size: ByteSize
    """Size of each file, from its start to the end of the part that requests touch. Default: the flow's
    space."""

    offset: FioExtent
    """Where requests begin in a file (``offset``)."""

    offset_align: ByteSize
    """Unit that an offset in percent is rounded to (``offset_align``). Default: the smallest request."""

    offset_increment: FioExtent
    """Addition to the offset for each copy of the job (``offset_increment``)."""

    size: FioExtent
    """Part of each file that requests touch (``size`` over the number of files). Default: the rest of the
    file."""

    io_size: FioExtent
    """Bytes after which the job is through (``io_size``). Default: its size."""

    number_ios: int
    """Most requests of a pass (``number_ios``)."""

    loops: int
    """Passes. Range: 1 and above. Default: ``1``."""

    time_based: bool
    """Only ``duration`` and ``requests`` end the job (``time_based``)."""

    files: int
    """Number of files of the job, one behind the other in the flow's space. Range: 1 and above. Default:
    ``1``."""

    file_order: FioFileOrder
    """Order in which files get requests (``file_service_type``)."""

    fsync: int
    """Writes before each flush (``fsync``); 0: no flush. Default: ``0``."""

    fdatasync: int
    """Writes before each flush (``fdatasync``), unless a flush is due already; 0: no flush. Default:
    ``0``."""

    end_fsync: bool
    """A flush of each file at the end of a pass (``end_fsync``, ``fsync_on_close``)."""

    queued_flushes: bool
    """Flushes are queued like other requests, and the job continues meanwhile (io_uring)."""

    blocking: bool
    """The engine returns when a request is complete (sync, psync). ``think`` then counts complete
    requests."""

    think: FioThink
    """Pauses (``thinktime``)."""

    poisson: bool
    """Gaps of paced requests are exponential (``rate_process=poisson``)."""

    zones: FioZones
    """Parts of the space that requests visit in turn (``zonemode=strided``)."""

    zbd: FioZbd
    """The job follows the rules of zones (``zonemode=zbd``). No effect on a drive without zones."""

    placement: FioPlacement
    """Placement identifiers of writes (``plids``, where ``fdp`` or ``dataplacement`` is on). Default: the
    flow's ``placement``."""

    repeat: bool
    """Each pass and each run has equal draws (``randrepeat``)."""

    seed: int
    """Seed of the draws (``randseed``). Default: 137, as in fio; without ``repeat`` the seed of the run."""

    jobs: int
    """Copies of the job in this flow (``numjobs``). Range: 1..=1024. Default: ``1``."""

    first_job: int
    """Number of the first copy among all jobs of its file, on which fio's draws depend. Range: 1 and
    above. Default: ``1``."""

    own_files: bool
    """Each copy has separate files, one behind the other; otherwise all copies share the files."""

    file_block: ByteSize
    """A request that is no multiple of 512 bytes covers whole blocks of this size, as it would in a file
    system. Default: ``4KiB``."""


OutOfRange: TypeAlias = Literal["wrap", "clip", "refuse"]
"""Addresses of a trace beyond the flow's logical space."""

DecreasingTimes: TypeAlias = Literal["refuse", "delay"]
"""Times of a trace that step back."""


class GroupConfig(TypedDict, total=False):
    """Several tenants with a limit of their own, which they share."""

    name: Required[str]
    """Name in messages; unique."""

    members: Required[list[str]]
    """Names of the flows. A flow with a ``count`` stands for all its copies."""

    limit: Required[LimitConfig]
    """The rates that the members have together, besides the limits of their own."""


WindowRule: TypeAlias = Literal["steady", "whole-run"]
"""The rule for the requests that count."""


class DeviceKeys(TypedDict, total=False):
    """What ``Device`` takes by name: the keys of a device file."""

    name: str
    """Name in reports."""

    power_loss_protection: bool
    """True if the controller's memory survives a loss of power: the data cache, and mapping units that
    wait for others of their page or word line. A flush then has no effect and is complete at once. Writes
    past the data cache still end on flash. Source: NVMe, Flush command, which asks that a volatile write
    cache be made non-volatile."""

    link: LinkConfig
    """The link between host and device."""

    interface: InterfaceConfig
    """The NVMe front end."""

    cache: CacheConfig
    """The DRAM data cache."""

    ftl: FtlConfig
    """The flash translation layer."""

    scheduler: Scheduling
    """Policy that chooses the transaction that the flash serves next. Default: ``out-of-order``."""

    isolation: Isolation
    """Policy that decides which flow may write to which chips. Default: ``unified``."""

    flash: FlashConfig
    """The flash memory."""

    slc_cache: SlcCacheConfig
    """Blocks in SLC mode that take the host's writes first. Without this section there are none."""

    placement: PlacementConfig
    """Placement of data by the host: flexible data placement (FDP) or streams."""

    errors: ErrorsConfig
    """Bit errors of the flash and their correction. Without this section there are none."""

    energy: EnergyConfig
    """Power of the parts of the drive, for ``--energy``."""

    endurance: EnduranceConfig
    """Rated life of the flash, for ``--energy``."""


class FlowKeys(TypedDict, total=False):
    """Keys of a flow itself."""

    priority: Priority
    """NVMe class of the submission queue. Default: ``medium``."""

    weight: int
    """Share beside the other flows, with ``interface.arbitration = 'stride'``; no effect with others. Each
    queue pair of the flow has this weight. Range: 1..=10000. Default: 1."""

    cache: CacheMode
    """The use of the data cache by this flow. Default: ``write``."""

    channels: list[int]
    """Channels that the flow's pages are striped over. All by default."""

    chips: list[int]
    """Chips of each channel."""

    dies: list[int]
    """Dies of each chip."""

    planes: list[int]
    """Planes of each die."""

    placement: int
    """Placement identifier of the flow's writes: a handle of flexible data placement, or a stream. No
    effect on a drive with ``placement.mode = 'none'``. Range: below the number of the drive's identifiers
    (``placement.handles``). Default: 0."""

    occupancy: Ratio
    """Share of the flow's logical pages that hold data at the start, instead of the device's."""

    on_end: OnEnd
    """At the end of the first pass: start over while others still run, or stop. Default: start over when
    there are several flows."""

    starts_after: Span
    """Time from the start of the run to the first requests. With ``window = 'steady'`` nothing counts
    before the last flow has started. Range: up to 604800s, a week."""

    slo: SloConfig
    """Promises to the tenant; each goal is judged at the end of the run."""

    count: int
    """Number of tenants of this kind, named ``NAME-1``, ``NAME-2``, …. Each has its own draws, queue pair
    and share of the drive. Range: 1..=1024. Default: one tenant, with the name unchanged."""


class SyntheticFlow(FlowKeys, total=False):
    """What ``Flow`` takes for a flow whose requests are drawn from distributions."""

    queue_depth: int
    """Closed loop: requests outstanding at any time. Range: 1..=65535."""

    bandwidth: Bandwidth
    """Open loop: mean bytes per second."""

    iops: float
    """Open loop: mean requests per second."""

    warps: WarpsConfig
    """Closed loop of batches: warps of a GPU that read from the drive themselves."""

    arrivals: Arrivals
    """Open loop: distribution of the gaps. Default: ``poisson``."""

    read_ratio: Ratio
    """Share of reads among reads and writes. Range: 0..=1. Default: ``0.0``."""

    trim_ratio: Ratio
    """Share of trims among all requests. Range: 0..=1. Default: ``0.0``."""

    flush_ratio: Ratio
    """Share of flushes among all requests. Range: 0..=1. Default: ``0.0``."""

    address: AddressConfig
    """Distribution of addresses. Default: ``uniform``."""

    fill_first: bool
    """The first requests write every address once, in order; ``address`` is for those after them. Only
    where all requests are writes."""

    size: SizeConfig
    """Request sizes. Default: ``4KiB``."""

    align: ByteSize
    """Request addresses are multiples of this, from the start of the flow's part of its space. Default:
    the largest power of two that divides every request size. Blocks of 64KiB then start at multiples of
    64KiB, and blocks of 12KiB at multiples of 4KiB. With normal sizes: the largest power of two that
    divides the mean, at most 4KiB."""

    working_set: Ratio
    """Share of the flow's logical space, from its start, that requests touch. Default: all."""

    region: ByteSize
    """Size of the part of the flow's logical space that requests touch, instead of ``working_set``."""

    region_start: ByteSize
    """Where that part starts, from the start of the flow's logical space. Default: 0B."""

    think_time: Span
    """Closed loop: pause between the completion of a request and the next one in its place. Default: none."""

    seed: int
    """Seed of the flow's draws, instead of that of the run."""

    parts: list[PartConfig]
    """Parts of the requests, each with addresses, sizes and placement of its own. Operations, addresses
    and sizes of the flow itself then have no effect, and are not allowed."""

    cache_engine: CacheEngineConfig
    """The requests of a cache engine on flash: small objects at random, a log of large ones. In place of
    ``parts``, with the same limits."""

    zones: ZoneUseConfig
    """How the writes of the flow use zones, on a drive that has some (``placement.mode = 'zones'``)."""

    fio: FioConfig
    """A job of fio, which issues the requests that fio would issue."""

    requests: int
    """Number of requests after which the pass ends."""

    duration: Span
    """Simulated time after which the pass ends."""

    limit: LimitConfig
    """Largest rates. The device fetches no command that would exceed them."""


class TraceFlow(FlowKeys, total=False):
    """What ``Flow`` takes for a flow that replays a trace."""

    format: str
    """Format by name (``flashlane trace formats``; ``docs/traces.md``). May be absent where the file
    describes itself."""

    columns: str
    """Column map, with ``format = 'columns'``, for example ``'t=1[us],op=3,off=4,len=5;sep=comma'``."""

    time_unit: str
    """Unit of the time column, instead of the format's: ``s``, ``ms``, ``us``, ``ns``, ``ps``."""

    size_unit: str
    """Unit of offsets and lengths, instead of the format's, where files come in several: ``B``, ``KiB``,
    ``sector``, ``4KiB``."""

    action: str
    """Event of a request that counts in traces of Linux' block layer: ``Q`` (arrival, the default), ``D``
    (sent to the drive), ``C`` (completed)."""

    time_scale: float
    """Arrival times are multiplied by this: 0.5 replays twice as fast. Range: above 0. Default: ``1.0``."""

    queue_depth: int
    """Closed loop: ignore the times and keep this many requests outstanding."""

    out_of_range: OutOfRange
    """What to do with addresses beyond the flow's logical space. Default: ``wrap``."""

    offset: ByteSize
    """Added to every address of the trace before anything else. Default: ``0B``."""

    devices: list[int]
    """Only requests of these devices of the trace."""

    device_stride: ByteSize
    """Distance between the devices of the trace, which are then laid out one after the other. Default: all
    devices share one address space, as in MQSim."""

    decreasing_times: DecreasingTimes
    """Treatment of a request whose time is before that of the request above it. Default: ``refuse``."""

    repeat: int
    """Passes over the file that make up the first pass of the flow. Range: 1 and above. Default: ``1``."""

    limit: int | LimitConfig
    """Number of requests of the file that are used, from its start. Default: all. A table of rates limits
    the flow instead."""


class CloneFlow(FlowKeys, total=False):
    """What ``Flow`` takes for a flow that draws the requests of a clone."""

    time_scale: float
    """Gaps are multiplied by this: 0.1 is ten times the published rate. Range: above 0. Default: ``1.0``."""

    requests: int
    """Number of requests after which the pass ends."""

    duration: Span
    """Simulated time after which the pass ends."""

    start: Span
    """Time of the day at which a pass starts, unscaled: ``'61200s'`` for hour 17. Only for clones whose
    rates follow the hour. Range: 0s to below 86400s. Default: 0s."""

    day: Span
    """Length of the day, unscaled. A shorter day passes through all hours with their rates, as a sample of
    the day. Only for clones whose rates follow the hour. Range: 24s..=86400s. Default: 86400s."""

    footprint: float
    """Sizes of the sets of places that reads and writes go to, as multiples of those of the clone. Range:
    0.001..=1000. Default: 1."""

    theta: float
    """Zipf exponent of the popularity of places, of reads and of writes, in place of the clone's. Range:
    0..=5."""

    read_sizes: list[list[Any]]
    """Sizes of reads in KiB, multiples of 0.5, with weights, in place of the clone's. Their mean stays
    that of the clone, so that the sizes must include it in their range."""

    limit: LimitConfig
    """Largest rates. The device fetches no command that would exceed them."""
