"""Figures of results: what summary.json and blame.json hold, with their units.

Written by scripts/python_keys.py from the schemas of the simulator.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class OverloadSummary(TypedDict):
    """A load that ended before its time. Every request that had arrived by then completed."""

    flow: str
    """The flow with the most outstanding requests."""

    alone: bool
    """True if that flow had the drive to itself."""

    at_s: float
    """Time at which the load ended, from the beginning of the run. Unit: seconds."""

    outstanding: int
    """Requests of open loops that were outstanding at that time."""


Tracked: TypeAlias = Literal["iops", "bandwidth", "latency"]
"""The quantity that has to be steady, over all flows."""


class RoundSummary(TypedDict):
    """A round of a run until steady state."""

    start_s: float
    """From the beginning of the run. Unit: seconds."""

    end_s: float
    """End, from the beginning of the run. Unit: seconds."""

    value: float
    """The tracked value."""


class SteadySummary(TypedDict):
    """Result of a run until steady state, with its plot data."""

    reached: bool
    """True if both criteria were met."""

    tracked: Tracked
    """The tracked quantity."""

    rounds: list[RoundSummary]
    """Every round."""

    window_first: int
    """First round of the window, counted from 0; the window ends with the last round."""

    mean: float
    """Mean of the values in the window."""

    band: list[float]
    """90 % and 110 % of the mean."""

    range: float
    """Largest less smallest value in the window, as a share of the mean. Allowed: 0.2."""

    line: list[float]
    """The line of least squares at the first and at the last round of the window."""

    slope: float
    """The difference of these two values, as a share of the mean. Allowed: 0.1."""


class RequestCounts(TypedDict):
    """Counts by kind of request."""

    read: int
    """Reads."""

    write: int
    """Writes."""

    trim: int
    """Trims (deallocate)."""

    flush: int
    """Flushes."""

    zone: NotRequired[int]
    """Commands that manage zones. Left out where there are none."""


class ByteCounts(TypedDict):
    """Bytes by direction."""

    read: int
    """Bytes read."""

    write: int
    """Bytes written."""


class CompletedInWindow(TypedDict):
    """Requests of a flow that completed inside the window, whenever they arrived."""

    requests: RequestCounts
    """Requests by kind."""

    bytes: ByteCounts
    """Bytes of these requests."""


class Latency(TypedDict):
    """Distribution of a latency. Unit: microseconds."""

    count: int
    """Number of requests."""

    mean: float
    """Mean, exact."""

    min: float
    """Smallest, exact."""

    max: float
    """Largest, exact."""

    stddev: float
    """Population standard deviation."""

    p50: float
    """Median."""

    p90: float
    """90th percentile."""

    p95: float
    """95th percentile."""

    p99: float
    """99th percentile."""

    p99_9: float
    """99.9th percentile."""

    p99_99: float
    """99.99th percentile."""


class BreakdownSummary(TypedDict):
    """Mean time per stage of the life of a request. Unit: microseconds."""

    submission: float
    """In the submission queue until the device starts to fetch it."""

    transfer_in: float
    """Entry and write data over the link."""

    firmware: float
    """Firmware."""

    cache: float
    """DRAM access, and waiting for cache room."""

    mapping: float
    """Waiting for translation pages."""

    flash_queue: float
    """Waiting in the scheduler, suspended time included."""

    flash_bus: float
    """Commands, addresses and data on the channel."""

    flash_array: float
    """tR, tPROG; and decoding, where bit errors are modelled."""

    transfer_out: float
    """Read data and completion over the link, and waiting for a full completion queue."""


class TransactionSummary(TypedDict):
    """Mean times of page transactions on behalf of a flow's requests. Unit: microseconds."""

    count: int
    """Flash transactions."""

    wait_us: float
    """Waiting in the scheduler and for the bus."""

    transfer_us: float
    """On the bus."""

    execution_us: float
    """In the array."""


class HitCounts(TypedDict):
    """Hits and misses of look-ups."""

    hits: int
    """Found."""

    misses: int
    """Not found."""


class DeviceTime(TypedDict):
    """Time of the arrays of the dies by cause. The time of a command over several planes is divided
    equally among its pages. A page that collection moves or erases belongs to the flow that owns it."""

    host_s: float
    """Host reads and programs. Unit: seconds."""

    gc_s: float
    """Collection: copies and erases. Unit: seconds."""

    mapping_s: float
    """Translation pages. Unit: seconds."""

    host_share: float
    """``host_s`` over the time of all dies. Range: 0..=1."""

    gc_share: float
    """``gc_s`` over the time of all dies. Range: 0..=1."""

    mapping_share: float
    """``mapping_s`` over the time of all dies. Range: 0..=1."""


AloneBasis: TypeAlias = Literal["whole-drive", "same-isolation"]
"""The part of the drive that a flow has when it runs alone."""


class AloneSummary(TypedDict):
    """A flow that has the drive to itself, over the same window."""

    iops: float
    """Completions inside the window per second of it."""

    response_time_us: Latency
    """Submission queue entry written to completion seen by the host."""

    cmt: HitCounts
    """Mapping look-ups."""

    cache: HitCounts
    """Data cache accesses, pages."""

    mean_chip_queue_length: float
    """Mean number of the flow's transactions that wait at a chip."""

    device_time: DeviceTime
    """Time of the arrays of all dies inside the window."""


class GoalSummary(TypedDict):
    """A goal of a tenant."""

    goal: str
    """Key of the goal, for example ``p99`` or ``min_iops``."""

    limit: float
    """The promised value. Unit: microseconds for times, bytes per second for ``min_bandwidth``, otherwise
    1."""

    value: NotRequired[float | None]
    """The value that the tenant got, in the same unit; null where no request was counted."""

    met: bool
    """True if the promise is kept."""


class SloSummary(TypedDict):
    """Goals of a tenant, with their results."""

    met: bool
    """True if all goals are met."""

    goals: list[GoalSummary]
    """The goals, in the order of the keys of ``slo``."""


class RetrySummary(TypedDict):
    """Pages that were read again for a flow: its reads, and those that complete its partial writes."""

    retried_pages: int
    """Pages that were read more than once."""

    mean_us: float
    """Mean time from the first arrival of the data of such a page to the last: decoding that fails,
    commands, reads and transfers, and waiting for the channel. It is a part of the stages ``flash_queue``,
    ``flash_bus`` and ``flash_array``; 0 without such pages."""


class EnergySummary(TypedDict):
    """Energy inside the window. Unit: picojoules. Each operation is rounded to whole picojoules, so that
    the tenants sum to the drive exactly. Left out where 64 bits are not enough: that is 18 MJ, which a
    drive of 5 W takes in 42 days."""

    total_pj: int
    """Sum of all parts below, with collection counted once."""

    reads_pj: int
    """Arrays that read, for any purpose."""

    programs_pj: int
    """Arrays that program."""

    erases_pj: int
    """Arrays that erase."""

    transfers_pj: int
    """Data on the channels."""

    dram_pj: int
    """The memory of the data cache."""

    idle_pj: int
    """Idle energy of the drive over the whole window. Tenants have equal parts of it; the remainder of the
    division goes to the first tenants."""

    collection_pj: int
    """The part of reads, programs, erases and transfers that belongs to collection. It is charged to the
    flows whose writes use up the blocks."""


class WearSummary(TypedDict):
    """Wear inside the window. A page programmed by collection belongs to the tenants whose writes use up
    the blocks."""

    programs: int
    """Pages programmed, for any purpose; with one-shot and two-pass programming, word lines."""

    erases: int
    """Blocks erased."""

    share: float
    """Share of this tenant in the pages that the drive programs. Range: 0..=1."""

    write_amplification: NotRequired[float | None]
    """``programs`` over the pages programmed for hosts; null without host writes."""

    drive_writes_per_day: NotRequired[float | None]
    """Bytes of host writes that completedper day, as a multiple of the drive's capacity. Null for a window
    without length."""

    tbw: NotRequired[float | None]
    """Host writes until the flash has had its rated cycles, at this write amplification. Unit: terabytes
    (10^12 bytes). Null without host writes or without ``endurance.rated_cycles``."""

    years_to_rated_wear: NotRequired[float | None]
    """Years until the rated wear at the rate of the window, as if all other tenants wrote nothing.
    Computed from programmed pages, because their erases may come after the window. Null where nothing is
    programmed, or without ``endurance.rated_cycles``."""


class FlowSummary(TypedDict):
    """A flow in a summary."""

    name: str
    """Name of the flow."""

    priority: str
    """NVMe class."""

    requests: RequestCounts
    """Counted requests: those that arrived inside the window. All latencies are those of these requests,
    however late they ended."""

    bytes: ByteCounts
    """Bytes of these requests."""

    offered_iops: float
    """Arrivals per second of the window."""

    iops: float
    """Completions inside the window per second of it, including requests that arrived before it. It never
    exceeds the rate of the drive."""

    bandwidth_bytes_per_s: float
    """Bytes of reads and writes that completed inside the window, per second of it."""

    completed_in_window: CompletedInWindow
    """The completions from which these two rates are computed."""

    backlog_at_end: int
    """Requests that arrived inside the window and were not complete at its end."""

    saturated: bool
    """True if the drive does not keep up with the flow, which is an open loop. Then its latencies and its
    slowdowns depend on the length of the run, and say nothing about the drive.  There are two criteria. In
    the first, the outstanding requests grow by more than 5 % of the flow's arrivals over the window, and
    likewise over its second half. (The request that arrives last is not enough.) In the second, they rise
    and do not come back. In the last quarter of the window they then always exceed the mean of the first
    quarter by more than 16, and by more than chance would give for steps like those of the first half. At
    least a third of that rise comes after the second quarter. Where the window is the whole run, the load
    up to the last arrival decides."""

    starved: NotRequired[bool]
    """True if the flow starves: the drive serves other flows, but nothing of this one.  Over the second
    half of the window, at least 20 ms, requests of the flow were outstanding all the time and none
    completed. In that time other flows completed at least 1,000 requests, and ten times as many as they
    had outstanding in the middle. Or a flow was in this state for 20 s at any time, which ends the load.
    The requests of such a flow complete only because the load ends, so its times say nothing about the
    drive. Summaries before ``flashlane.summary/3`` have false."""

    response_time_us: Latency
    """Submission queue entry written to completion seen by the host."""

    read_response_time_us: Latency
    """Response times of reads."""

    write_response_time_us: Latency
    """Response times of writes."""

    trim_response_time_us: NotRequired[Latency]
    """Response times of trims. Summaries before ``flashlane.summary/3`` have none."""

    flush_response_time_us: NotRequired[Latency]
    """Response times of flushes. Summaries before ``flashlane.summary/3`` have none."""

    zone_response_time_us: NotRequired[Latency | None]
    """Response times of commands that manage zones, and of commands that break a rule of zones. Left out
    where there are none."""

    end_to_end_us: Latency
    """Arrival to completion seen by the host."""

    measured_response_time_us: NotRequired[Latency | None]
    """Response times that the trace of the flow reports, from the event that counts as the arrival (``Q``,
    or ``D``) to the completion (``C``). They are of the requests of the first pass that arrive inside the
    window. [``FlowSummary::end_to_end_us``] is the model's time for the same span. Left out where the
    trace has no completions."""

    measured_error: NotRequired[float | None]
    """Relative error of the model: ``end_to_end_us.mean / measured_response_time_us.mean - 1``. Left out
    where that is left out."""

    breakdown_us: BreakdownSummary
    """Mean per stage; sums to the mean response time. Keys in pipeline order."""

    transactions: TransactionSummary
    """Page transactions of the whole run; with ``--until-steady``, of the window."""

    read_transactions: TransactionSummary
    """Page transactions that read."""

    write_transactions: TransactionSummary
    """Page transactions that write."""

    cmt: HitCounts
    """Mapping look-ups of the flow inside the window."""

    cache: HitCounts
    """Data cache accesses of the flow inside the window, pages."""

    mean_chip_queue_length: float
    """Mean number of the flow's transactions that wait at a chip, inside the window."""

    page_writes: NotRequired[int]
    """Host pages of the flow that were programmed inside the window. Default: ``0``."""

    read_modify_writes: NotRequired[int]
    """Host pages of which only a part was written, so that the rest was read first. Default: ``0``."""

    write_amplification: float
    """Page programs on behalf of the flow, divided by its host page programs, inside the window; 0 without
    writes. It is large for a flow that writes little beside a flow that writes much, because collection
    moves the data of both."""

    device_time: DeviceTime
    """Time of the arrays of all dies for the flow, inside the window."""

    alone_end_to_end_us: NotRequired[float | None]
    """Mean end-to-end time of the same requests with the flow alone. Null without ``--alone``."""

    alone_basis: NotRequired[AloneBasis | None]
    """The part of the drive that the flow has when it runs alone. Left out without ``--alone``."""

    slowdown: NotRequired[float | None]
    """``end_to_end_us.mean / alone_end_to_end_us``."""

    own_slowdown: NotRequired[float | None]
    """Slowdown against the flow's own run alone, where [``FlowSummary::slowdown``] and the fairness of the
    run are against the runs alone of another run. Left out where they are the same."""

    slowdown_device: NotRequired[float | None]
    """Slowdown by mean response times."""

    slowdown_transaction: NotRequired[float | None]
    """Slowdown by the mean turnaround of the flow's page transactions, from their creation to their end.
    It is the sum of the times in [``FlowSummary::transactions``]."""

    alone: NotRequired[AloneSummary | None]
    """The flow when it has the drive to itself. Null without ``--alone``."""

    without: NotRequired[dict[str, Any] | None]
    """Mean end-to-end time of the same requests without another flow, by the name of that flow. Unit:
    microseconds. The difference from ``end_to_end_us.mean`` is what the other flow really costs this one.
    Left out without ``--leave-one-out``."""

    slo: NotRequired[SloSummary | None]
    """Results of the tenant's goals; left out where it has none."""

    retries: NotRequired[RetrySummary | None]
    """Pages that were read again for the flow inside the window; left out where bit errors are not
    modelled."""

    energy: NotRequired[EnergySummary | None]
    """Energy of the flow inside the window; left out without ``--energy``."""

    wear: NotRequired[WearSummary | None]
    """The flow's part of the wear; left out without ``--energy``."""

    wrapped_requests: int
    """Trace requests whose address was wrapped into the flow's space."""

    clipped_requests: int
    """Trace requests dropped because of their address."""

    split_requests: NotRequired[int]
    """Reads and writes above the drive's largest transfer, which went out in pieces."""

    rejected_lines: dict[str, Any]
    """Trace lines that could not be read, by reason."""

    trace_records: NotRequired[int]
    """Records of a trace that were read, in all passes over the file; left out without a trace."""

    changed_records: NotRequired[int]
    """Trace records that were delayed or rejected; left out where there are none."""

    named_lines: NotRequired[list[str]]
    """The first ten lines of each kind that were not replayed unchanged, with the reason; left out where
    there are none."""


class TransactionFairness(TypedDict):
    """Fairness of the turnaround of page transactions, instead of that of requests. Source: FLIN (ISCA'18)
    section 6, Eq. 11."""

    fairness: NotRequired[float | None]
    """Smallest slowdown over largest. Range: 0..=1."""

    max_slowdown: NotRequired[float | None]
    """Largest slowdown."""

    stdev_slowdown: NotRequired[float | None]
    """Population standard deviation of the slowdowns."""

    weighted_speedup: NotRequired[float | None]
    """Sum of alone over shared mean turnaround times."""


class Fairness(TypedDict):
    """Comparison of the flows with their runs alone."""

    fairness: NotRequired[float | None]
    """Smallest slowdown over largest. Range: 0..=1."""

    max_slowdown: NotRequired[float | None]
    """Largest slowdown."""

    stdev_slowdown: NotRequired[float | None]
    """Population standard deviation of the slowdowns."""

    weighted_speedup: NotRequired[float | None]
    """Sum of alone over shared mean end-to-end times."""

    by_transaction: TransactionFairness
    """The metrics of this table, computed from ``slowdown_transaction``."""


class FlowWindow(TypedDict):
    """A flow in a window: its requests that arrived in the window or, in a closed loop, completed in it."""

    requests: int
    """Counted requests."""

    end_to_end_us: NotRequired[float | None]
    """Mean time of these requests from arrival to completion; null without requests. Unit: microseconds."""

    alone_requests: int
    """Counted requests of the flow's run alone. In an open loop they are the same requests."""

    alone_end_to_end_us: NotRequired[float | None]
    """Mean time of those requests from arrival to completion; null without requests. Unit: microseconds."""

    slowdown: NotRequired[float | None]
    """``end_to_end_us / alone_end_to_end_us``; null if either is null."""


class SlowdownWindow(TypedDict):
    """A window of [``WindowedSlowdown``]."""

    start_s: float
    """Start, from the beginning of the run. Unit: seconds."""

    flows: list[FlowWindow]
    """One entry per flow, in the order of the workload."""

    fairness: NotRequired[float | None]
    """Smallest slowdown over largest; null where a flow has no slowdown in the window. Range: 0..=1."""

    max_slowdown: NotRequired[float | None]
    """Largest slowdown; null where a flow has no slowdown in the window."""


class WindowedSlowdown(TypedDict):
    """Slowdown over time."""

    window_s: float
    """Length of a window. Unit: seconds."""

    windows: list[SlowdownWindow]
    """The windows in which a flow has a counted request, in order of time."""


class EraseSummary(TypedDict):
    """Erases by block. Unit: erases."""

    min: int
    """Erases of the least erased block."""

    max: int
    """Erases of the most erased block."""

    mean: float
    """Mean over the blocks."""

    stddev: float
    """Population standard deviation."""


class FlashSummary(TypedDict):
    """Flash operations. Unit: pages unless named otherwise."""

    user_reads: int
    """Pages read for the host, reads that complete partial writes included. With mapping units of several
    pages: those that were sensed, as in all counts of reads."""

    zero_fill_reads: int
    """Reads of never-written pages answered by the controller."""

    user_programs: int
    """Pages programmed for the host; with one-shot and two-pass programming, word lines, as in all counts
    of programs. A mapping unit of several pages counts each of them."""

    gc_reads: int
    """Pages read by collection."""

    gc_programs: int
    """Pages programmed by collection."""

    mapping_reads: int
    """Translation pages read."""

    mapping_programs: int
    """Translation pages programmed."""

    erases: int
    """Blocks erased."""

    wear_leveling_moves: int
    """Blocks moved by static wear levelling."""

    read_scrubbing_moves: NotRequired[int]
    """Blocks moved by read scrubbing, or because of their errors (``errors.refresh_at``). Default: ``0``."""

    block_erases: EraseSummary
    """Erases of each block."""

    copybacks: int
    """Pages that collection moved inside their plane, without the channel."""

    multiplane_commands: int
    """Commands that used more than one plane."""

    interleaved_commands: int
    """Commands sent to a chip while another of its dies was busy."""

    program_suspends: int
    """Programs suspended."""

    erase_suspends: int
    """Erases suspended."""

    gc_invocations: int
    """Blocks that collection started on; with hybrid mapping, blocks that merges gave up."""

    blocks_owed_at_end: NotRequired[int]
    """Free blocks that planes lacked at the end to reach ``ftl.gc.threshold``. Collection goes on until
    this is 0, or nothing is left to collect. 0 with hybrid mapping, and without time (``--waf-only``).
    Default: ``0``."""

    full_merges: int
    """Hybrid mapping: logical blocks gathered in a new data block."""

    partial_merges: int
    """Hybrid mapping: sequential log blocks completed by copies."""

    switch_merges: int
    """Hybrid mapping: sequential log blocks that became data blocks unchanged."""

    write_amplification: float
    """All page programs divided by host page programs; 0 without writes. With mapping units smaller than a
    page: of units, empty ones included."""


class CommandCounts(TypedDict):
    """Commands of one operation."""

    single: int
    """Commands of one plane, while no other die of the chip was busy."""

    multiplane: int
    """Commands of several planes, while no other die of the chip was busy."""

    interleaved: int
    """Commands of one plane, while another die of the chip was busy."""

    interleaved_multiplane: int
    """Commands of several planes, while another die of the chip was busy."""


class CommandSummary(TypedDict):
    """Commands sent to dies, by operation."""

    read: CommandCounts
    """Reads."""

    program: CommandCounts
    """Programs, copybacks included."""

    erase: CommandCounts
    """Erases."""


class CacheSummary(TypedDict):
    """Data cache. Unit: pages."""

    hits: int
    """Page accesses found."""

    misses: int
    """Page accesses not found."""

    evictions: int
    """Pages evicted, clean or dirty."""


class CmtSummary(TypedDict):
    """Cached mapping table."""

    hits: int
    """Look-ups that found the entry."""

    misses: int
    """Look-ups that did not find the entry."""

    writebacks: int
    """Translation pages written back."""


class ChannelSummary(TypedDict):
    """A channel in a summary."""

    channel: int
    """Index."""

    busy_fraction: float
    """Share of the window in which the bus was taken. With ``flash.command_bus = 'separate'``, by data."""

    command_bus_busy_fraction: NotRequired[float | None]
    """Share of the window in which the command bus was taken. Only with ``flash.command_bus =
    'separate'``."""


class BusyBySource(TypedDict):
    """Array time by cause, as a share of the window."""

    host: float
    """Host reads and programs."""

    gc: float
    """Collection: copies and erases."""

    mapping: float
    """Translation pages."""


class ChipSummary(TypedDict):
    """A chip in a summary."""

    channel: int
    """Channel index."""

    chip: int
    """Index on the channel."""

    busy_fraction: float
    """Share of the window in which at least one die was in an array operation."""

    busy_by_source: BusyBySource
    """Array time of the dies by cause, as a share of the window."""

    mean_queue_length: float
    """Time average of waiting transactions."""

    max_queue_length: int
    """Largest number of waiting transactions."""

    erases: int
    """Blocks erased."""


class OutsideWindow(TypedDict):
    """What happened outside the measurement window."""

    length_s: float
    """Length of this part of the run. Unit: seconds."""

    requests_completed: int
    """Requests that completed in it, counted or not."""

    flash: FlashSummary
    """Flash operations. Unit: pages unless named otherwise."""

    cache: CacheSummary
    """Data cache, page accesses."""

    cmt: CmtSummary
    """Cached mapping table, look-ups."""


class SchedulerOverhead(TypedDict):
    """Cost of FLIN for the drive, over the whole run. Source: FLIN (ISCA'18) section 5.5."""

    dram_bytes: int
    """DRAM for the tables of the policy, with as many transactions as the drive's DRAM holds pages. Unit:
    bytes."""

    insertions: int
    """Transactions that stage 1 inserted."""

    positions_scanned: int
    """Queue positions that the two passes of stage 1 look at, over all insertions."""

    positions_scanned_mean: float
    """Mean of ``positions_scanned`` over the insertions."""

    positions_scanned_max: int
    """Largest number of positions that one insertion looked at."""

    promotions: int
    """Transactions moved ahead of all others of high intensity (line 20 of Algorithm 1)."""

    suspensions: int
    """Programs and erases that were interrupted for the read slot."""

    migrations_with_writes: int
    """Pages that collection moved ahead of a write (lines 13 to 16 of Algorithm 2)."""


class IsolationWindow(TypedDict):
    """Sets after the allocation step of a window."""

    end_s: float
    """End of the window, from the beginning of the run. Unit: seconds."""

    chips: list[int]
    """Chips of each set after the step."""

    owners: NotRequired[list[int | None]]
    """The flow that alone writes to each chip after the step, counted in the order of the workload, by
    chip, channel by channel; null for chips that all or none write to."""

    utilities: list[float]
    """Utility of each flow, by which the step decided."""


class IsolationSummary(TypedDict):
    """Sets of chips that flows write to, over the whole run. Lists have one entry per flow, in the order
    of the workload. Source: UPI (HotStorage) section 3."""

    sets: list[list[int]]
    """Chips of each set at the end, numbered channel by channel."""

    ended_windows: int
    """Windows that ended with an allocation step."""

    transfers: int
    """Chips that the allocation step moved."""

    forced_transfers: int
    """Chips that went to a flow whose set had no room."""

    relocated_pages: list[int]
    """Pages that collection moved to a chip of their owner."""

    away_reads: list[int]
    """Pages that the host read from chips that their owner did not write to at that moment."""

    away_pages: list[int]
    """Valid pages at the end on chips that their owner does not write to."""

    stranded_copies: int
    """Copies that stayed on a chip that their owner does not write to, since its set had no room."""

    overflow_pages: int
    """Writes that went outside of their set, with ``overflow``."""

    utilities: list[float]
    """Utility of each flow in the last window. Range: 0..=1."""

    write_amplification: list[float]
    """Running mean of the write amplification of each flow, as the equations use it."""

    windows: list[IsolationWindow]
    """Windows in order; every second one, fourth one and so on of long runs."""


class MemorySummary(TypedDict):
    """Memory of the page tables."""

    physical_pages: int
    """Pages of the flash."""

    page_table_bytes: int
    """Tables with an entry per page. Unit: bytes, whether touched or not."""

    partial_page_bytes: int
    """Side table of pages written in part; 0 if there was no such page. Unit: bytes, whether touched or
    not."""


class ProcessorsSummary(TypedDict):
    """Work of the controller's processors, as shares of the time of all cores. Work that was begun counts
    whole, so that a share may slightly exceed 1."""

    busy_fraction: float
    """Sum of the next three."""

    commands: float
    """Commands of hosts with their pages and look-ups."""

    own_pages: float
    """Pages that collection, the data cache and the mapping move."""

    decisions: float
    """Decisions that lead to flash commands."""

    lookups: int
    """Look-ups of the mapping table."""

    lookup_misses: int
    """Look-ups that missed the processors' cache."""


class ErrorSummary(TypedDict):
    """Bit errors of the flash. Pages of hosts, of collection and of the mapping."""

    pages: int
    """Pages whose data was decoded."""

    retried_pages: int
    """Pages that were read more than once."""

    retries: int
    """Read retries."""

    mean_retries: float
    """Read retries per page; 0 without pages."""

    soft_pages: int
    """Pages that needed soft decoding."""

    soft_reads: int
    """Reads for soft decoding."""

    lost_pages: int
    """Pages whose data no decoder could correct. Flashlane keeps no data, so the host gets an ordinary
    completion."""

    refreshes: int
    """Blocks whose data was moved because of its errors (``errors.refresh_at``)."""


class UnitSummary(TypedDict):
    """Mapping units that are packed into pages and word lines. Unit: mapping units, unless named
    otherwise."""

    per_page: int
    """Mapping units in a page of the flash."""

    per_program: NotRequired[int]
    """Mapping units that a plane programs at once: those of a page, or of a word line with one-shot and
    two-pass programming. Default: ``0``."""

    padded: int
    """Empty units that were programmed, since their page or word line was sent before it was full."""

    waiting_max: NotRequired[int]
    """Most units that waited at a time in the controller's memory for others of their page or word line,
    or for those of the next word line with two-pass programming. 0 in runs without time. Default: ``0``."""

    buffered_reads: int
    """Reads of units that were not programmed yet: the controller answered from its memory."""

    joined_reads: int
    """Units that were read along with another unit of their page, without a sensing of their own."""

    first_passes: NotRequired[int | None]
    """First passes of word lines that ended; only with two-pass programming, in runs with time. The
    programs that ``flash`` and ``wear`` count are word lines whose second pass ended. Unit: word lines."""

    early_second_passes: NotRequired[int | None]
    """Second passes that did not wait for the first pass of the next word line, since no data came for it,
    as ``first_passes``. Unit: word lines."""


class SlcCacheSummary(TypedDict):
    """The SLC cache. Unit: pages of the flash, unless named otherwise."""

    written: int
    """Pages that the host wrote into the cache."""

    direct: int
    """Pages that the host wrote around the cache, into ordinary blocks."""

    reads: int
    """Reads of the host that the cache served."""

    folds: int
    """Blocks of the cache whose data began to move into ordinary blocks."""

    idle_folds: int
    """The folds that began in idle time (``slc_cache.fold_after``)."""

    folded: int
    """Valid pages of those blocks when it began."""

    erases: int
    """Erases of blocks in SLC mode. They are part of all erases."""

    blocks: int
    """Blocks in SLC mode at the end of the window."""

    pages_per_block: int
    """Pages of a block in SLC mode."""


class SeparationSummary(TypedDict):
    """Pages that the host wrote to flash, by the frontier that they went to."""

    hot: int
    """Pages that went to frontiers for hot pages."""

    cold: int
    """Pages that went to frontiers for cold pages."""


PlacementMode: TypeAlias = Literal["none", "fdp", "streams", "zones"]
"""What a drive offers to hosts that know which of their data belongs together."""

HandleIsolation: TypeAlias = Literal["initially", "persistently"]
"""Type of a reclaim unit handle. Source: NVMe 2.1, FDP configuration descriptor."""


class PlacementEvents(TypedDict):
    """Events of placement inside the window, by kind. Source of the kinds: NVMe 2.1, log page 23h."""

    moved: int
    """A reclaim unit was full, and its handle moved to another one by itself."""

    time_limit: int
    """A reclaim unit was open for longer than ``placement.unit_time``, and its handle moved to another
    one."""

    reallocated: int
    """Data lies elsewhere than the host has put it: collection began to copy a reclaim unit with data, or
    a page went to another reclaim group, because its own had no room."""


class HandleSummary(TypedDict):
    """Data of a placement handle."""

    handle: int
    """Number of the handle, or of the stream. With several reclaim groups, the placement identifier:
    ``group * handles + handle``."""

    group: NotRequired[int | None]
    """The reclaim group. Left out where there is one."""

    host_bytes: int
    """Data that the host wrote to flash by the handle."""

    media_bytes: int
    """Data of the handle that was written: by the host, and copies of it."""

    erased_bytes: int
    """Reclaim units of this handle alone that were erased, times their size."""

    write_amplification: NotRequired[float | None]
    """``media_bytes`` over ``host_bytes``; null if the host wrote nothing."""

    filled_units: int
    """Reclaim units that the host filled. The drive then moved the handle to another one."""

    remaining_bytes: int
    """Data that the host may still write until the handle moves to another reclaim unit, at the end of the
    window."""

    copied_for_bytes: list[int]
    """Copies of data of this handle, by the handle whose writes made room necessary."""

    caused_bytes: int
    """Copies of data of all handles that writes of this handle made necessary."""


class PlacementSummary(TypedDict):
    """Data by placement handle, or by stream. Sums over handles are the figures of the endurance group,
    which is the whole drive. Translation pages and parity are not part of them."""

    mode: PlacementMode
    """What the drive offers."""

    isolation: HandleIsolation
    """What collection does with the data of different handles."""

    reclaim_unit_bytes: int
    """Data that a reclaim unit holds."""

    host_bytes: int
    """Data that the host wrote to flash."""

    media_bytes: int
    """Data that the host wrote, and copies of it."""

    erased_bytes: int
    """Reclaim units that were erased, times their size."""

    shared_erased_bytes: int
    """The part of ``erased_bytes`` that held copies of several handles."""

    events: NotRequired[PlacementEvents]
    """What the drive told of the placement of data."""

    handles: list[HandleSummary]
    """By handle."""


class ZonesSummary(TypedDict):
    """Commands to zones."""

    capacity_bytes: int
    """Data that a zone holds."""

    size_bytes: int
    """From the start of a zone to that of the next."""

    zones: int
    """Zones of all flows."""

    appends: int
    """Appends."""

    resets: int
    """Resets of zones that were not empty."""

    finishes: int
    """Finishes of zones that were neither empty nor full."""

    left_bytes: int
    """What those zones had left. The drive fills it, unless ``placement.zones.finish`` leaves it."""

    active_max: int
    """Most zones that were active, since the start of the run."""


class AdmissionSummary(TypedDict):
    """Admission of writes to the data cache by rate, and pauses of the cache."""

    paced: int
    """Pages that were admitted at the pace, since the buffer was filled above its mark."""

    drain_bytes_per_s: float
    """The rate at which data got to flash while the buffer was filled above its mark; 0 if it never was.
    Where flows have buffers of their own, it is the mean of one buffer. Unit: bytes per second."""

    pauses: int
    """Pauses of the write buffer that delayed a write (``[cache.pause]``)."""


class WafOnlyFlow(TypedDict):
    """Pages programmed on behalf of a flow in a run without time."""

    host_programs: int
    """Pages programmed for its requests."""

    gc_programs: int
    """Pages programmed by collection and wear levelling."""

    mapping_programs: int
    """Translation pages written back."""


class WafOnlySummary(TypedDict):
    """A run without time (``--waf-only``): the fields above that are times, rates or shares of simulated
    time are 0."""

    page_writes: int
    """Pages programmed, for any purpose."""

    page_writes_per_wall_s: float
    """Pages programmed, for any purpose, per wall second, preconditioning excluded. Differs from run to
    run."""

    host_page_writes_per_wall_s: float
    """Pages programmed for the host per wall second. Differs from run to run."""

    free_blocks_min: int
    """Free blocks at the end on the plane with the fewest."""

    free_blocks_mean: float
    """Mean number of free blocks of a plane at the end."""

    free_blocks_max: int
    """Free blocks at the end on the plane with the most."""

    flows: list[WafOnlyFlow]
    """One entry per flow, in the order of the workload. Unit: pages."""


class BlameCause(TypedDict):
    """A kind of obstacle."""

    name: str
    """Name of the kind."""

    doc: str
    """Description of the obstacle."""


class BlameCell(TypedDict):
    """Time that a victim waited for one culprit and one cause."""

    culprit: str
    """Name of a flow, which may be the victim itself; ``device`` where no flow's work was in the way."""

    cause: str
    """Name of the cause."""

    waiting_s: float
    """Sum over the counted requests of the victim."""


class BlameVictim(TypedDict):
    """The waits of the counted requests of a flow."""

    flow: str
    """Name of the flow."""

    requests: int
    """Number of counted requests of the flow."""

    end_to_end_s: float
    """Sum of the end-to-end times of these requests."""

    service_s: float
    """The part of that sum in which the device worked for the requests: on the link, in firmware, in DRAM,
    on the bus and in the array."""

    waiting_s: float
    """The rest of the end-to-end time: the sum of the cells."""

    cells: list[BlameCell]
    """Largest first; none is 0."""


class Summary(TypedDict):
    """The result of one scenario."""

    schema: str
    """Always ``flashlane.summary/3``."""

    version: str
    """Version of the program."""

    verdict: NotRequired[list[str]]
    """Warnings that come before any other number, in sentences: flows that the drive does not keep up
    with, and flows without a request in the window. Empty where there are none."""

    workload: NotRequired[str]
    """Name of the workload, or of this scenario of a workload file with several; empty where it has none."""

    device: str
    """Name of the device."""

    scheduler: str
    """Name of the scheduling policy."""

    isolation: str
    """Name of the isolation policy."""

    seed: int
    """Root seed of the random streams."""

    compat: NotRequired[str | None]
    """``mqsim`` with ``--compat mqsim``, else null."""

    simulated_s: float
    """Simulated time of the run. Unit: seconds."""

    window_start_s: float
    """Measurement window: its start, from the beginning of the run. Unit: seconds."""

    window_end_s: float
    """Measurement window: its end. Unit: seconds."""

    saturated: bool
    """True if the drive does not keep up with the load of at least one flow: see ``flows[].saturated``."""

    overload: NotRequired[list[OverloadSummary]]
    """The runs whose load ended before its time, because the largest number of requests of open loops was
    outstanding (``outstanding_max`` of the workload): the run of all flows, then runs of ``--alone``.
    Empty where there are none."""

    starved: NotRequired[bool]
    """True if at least one flow starves: see ``flows[].starved``."""

    wall_s: float
    """Wall time of the run, preconditioning excluded. Unit: seconds. Differs from run to run."""

    precondition_wall_s: float
    """Wall time of preconditioning. Unit: seconds. Differs from run to run."""

    events: int
    """Events that went through the queue. A doorbell that is the next event anyway does not count."""

    requests_per_wall_s: float
    """Requests (counted or not) per wall second. Differs from run to run."""

    peak_rss_bytes: int
    """Peak resident memory of the process. Unit: bytes. Differs from run to run."""

    requests_generated: int
    """Requests that the hosts generated, counted or not."""

    requests_completed: int
    """Requests completed, counted or not. Equal to ``requests_generated`` in a finished run."""

    steady_state: NotRequired[SteadySummary | None]
    """Rounds of a run until steady state, whose last five are the measurement window; null without
    ``--until-steady``."""

    flows: list[FlowSummary]
    """One entry per flow, in the order of the workload."""

    fairness: Fairness
    """Comparison with runs of each flow alone; all null without ``--alone``."""

    slowdown_over_time: NotRequired[WindowedSlowdown | None]
    """Slowdown and fairness window by window; null without ``--windows``."""

    flash: FlashSummary
    """Flash operations inside the window. Unit: pages unless named otherwise."""

    commands: CommandSummary
    """Flash commands inside the window."""

    cache: CacheSummary
    """Data cache, page accesses inside the window."""

    cmt: CmtSummary
    """Cached mapping table, look-ups inside the window."""

    channels: list[ChannelSummary]
    """One entry per channel, inside the window."""

    chips: list[ChipSummary]
    """One entry per chip, inside the window."""

    device_time: DeviceTime
    """Time of the arrays of all dies inside the window."""

    before_window: OutsideWindow
    """What happened before the window: the warm-up."""

    after_window: OutsideWindow
    """What happened after the window: completions of requests that were outstanding at its end, flows that
    started over meanwhile, and collection that went on."""

    scheduler_overhead: NotRequired[SchedulerOverhead | None]
    """Cost of the scheduling policy for the drive; null for policies that do not count it."""

    isolation_sets: NotRequired[IsolationSummary | None]
    """Changes to the sets of chips over the whole run, for isolation policies that change them; otherwise
    null."""

    memory: MemorySummary
    """Memory of the page tables."""

    processors: NotRequired[ProcessorsSummary | None]
    """The controller's processors inside the window; left out where they are not modelled
    (``interface.processors``)."""

    errors: NotRequired[ErrorSummary | None]
    """Bit errors inside the window; left out where they are not modelled (``[errors]``)."""

    units: NotRequired[UnitSummary | None]
    """Mapping units inside the window; left out where pages are mapped whole (``ftl.mapping.unit``)."""

    slc_cache: NotRequired[SlcCacheSummary | None]
    """The SLC cache inside the window; left out where there is none (``[slc_cache]``)."""

    separation: NotRequired[SeparationSummary | None]
    """Hot and cold pages that the host wrote inside the window; left out where no policy tells them apart
    (``ftl.separation = 'counts'``)."""

    placement: NotRequired[PlacementSummary | None]
    """Data by placement handle inside the window; left out where hosts place nothing (``placement.mode``)."""

    zones: NotRequired[ZonesSummary | None]
    """Commands to zones inside the window; left out where the drive has none (``placement.mode``)."""

    admission: NotRequired[AdmissionSummary | None]
    """Admission of writes to the data cache inside the window; left out unless that is by rate
    (``cache.admission``), or there are pauses (``cache.pause``)."""

    energy: NotRequired[EnergySummary | None]
    """Energy of the drive inside the window: the sums over its tenants. Left out without ``--energy``."""

    wear: NotRequired[WearSummary | None]
    """Wear of the drive's flash; left out without ``--energy``."""

    waf_only: NotRequired[WafOnlySummary | None]
    """Additional figures of a run without time; left out of other runs."""


class Blame(TypedDict):
    """The waits of every flow's requests, by cause and by the flow whose work was in the way. Times are
    exact here: the cells of a victim sum to its waiting time. Sums over many requests exceed 2^64 ps, so
    the file gives them in seconds."""

    schema: str
    """Always ``flashlane.blame/2``."""

    flows: list[str]
    """Names of the flows, in the order of the workload."""

    causes: list[BlameCause]
    """The causes that a cell may name."""

    victims: list[BlameVictim]
    """One entry for each flow, in the order of the workload."""


class FlowFigures:
    """Figures of a flow as attributes: those of ``FlowSummary``."""

    name: str
    """Name of the flow."""

    priority: str
    """NVMe class."""

    requests: RequestCounts
    """Counted requests: those that arrived inside the window. All latencies are those of these requests,
    however late they ended."""

    bytes: ByteCounts
    """Bytes of these requests."""

    offered_iops: float
    """Arrivals per second of the window."""

    iops: float
    """Completions inside the window per second of it, including requests that arrived before it. It never
    exceeds the rate of the drive."""

    bandwidth_bytes_per_s: float
    """Bytes of reads and writes that completed inside the window, per second of it."""

    completed_in_window: CompletedInWindow
    """The completions from which these two rates are computed."""

    backlog_at_end: int
    """Requests that arrived inside the window and were not complete at its end."""

    saturated: bool
    """True if the drive does not keep up with the flow, which is an open loop. Then its latencies and its
    slowdowns depend on the length of the run, and say nothing about the drive.  There are two criteria. In
    the first, the outstanding requests grow by more than 5 % of the flow's arrivals over the window, and
    likewise over its second half. (The request that arrives last is not enough.) In the second, they rise
    and do not come back. In the last quarter of the window they then always exceed the mean of the first
    quarter by more than 16, and by more than chance would give for steps like those of the first half. At
    least a third of that rise comes after the second quarter. Where the window is the whole run, the load
    up to the last arrival decides."""

    starved: bool
    """True if the flow starves: the drive serves other flows, but nothing of this one.  Over the second
    half of the window, at least 20 ms, requests of the flow were outstanding all the time and none
    completed. In that time other flows completed at least 1,000 requests, and ten times as many as they
    had outstanding in the middle. Or a flow was in this state for 20 s at any time, which ends the load.
    The requests of such a flow complete only because the load ends, so its times say nothing about the
    drive. Summaries before ``flashlane.summary/3`` have false."""

    response_time_us: Latency
    """Submission queue entry written to completion seen by the host."""

    read_response_time_us: Latency
    """Response times of reads."""

    write_response_time_us: Latency
    """Response times of writes."""

    trim_response_time_us: Latency
    """Response times of trims. Summaries before ``flashlane.summary/3`` have none."""

    flush_response_time_us: Latency
    """Response times of flushes. Summaries before ``flashlane.summary/3`` have none."""

    zone_response_time_us: Latency | None
    """Response times of commands that manage zones, and of commands that break a rule of zones. Left out
    where there are none."""

    end_to_end_us: Latency
    """Arrival to completion seen by the host."""

    measured_response_time_us: Latency | None
    """Response times that the trace of the flow reports, from the event that counts as the arrival (``Q``,
    or ``D``) to the completion (``C``). They are of the requests of the first pass that arrive inside the
    window. [``FlowSummary::end_to_end_us``] is the model's time for the same span. Left out where the
    trace has no completions."""

    measured_error: float | None
    """Relative error of the model: ``end_to_end_us.mean / measured_response_time_us.mean - 1``. Left out
    where that is left out."""

    breakdown_us: BreakdownSummary
    """Mean per stage; sums to the mean response time. Keys in pipeline order."""

    transactions: TransactionSummary
    """Page transactions of the whole run; with ``--until-steady``, of the window."""

    read_transactions: TransactionSummary
    """Page transactions that read."""

    write_transactions: TransactionSummary
    """Page transactions that write."""

    cmt: HitCounts
    """Mapping look-ups of the flow inside the window."""

    cache: HitCounts
    """Data cache accesses of the flow inside the window, pages."""

    mean_chip_queue_length: float
    """Mean number of the flow's transactions that wait at a chip, inside the window."""

    page_writes: int
    """Host pages of the flow that were programmed inside the window. Default: ``0``."""

    read_modify_writes: int
    """Host pages of which only a part was written, so that the rest was read first. Default: ``0``."""

    write_amplification: float
    """Page programs on behalf of the flow, divided by its host page programs, inside the window; 0 without
    writes. It is large for a flow that writes little beside a flow that writes much, because collection
    moves the data of both."""

    device_time: DeviceTime
    """Time of the arrays of all dies for the flow, inside the window."""

    alone_end_to_end_us: float | None
    """Mean end-to-end time of the same requests with the flow alone. Null without ``--alone``."""

    alone_basis: AloneBasis | None
    """The part of the drive that the flow has when it runs alone. Left out without ``--alone``."""

    slowdown: float | None
    """``end_to_end_us.mean / alone_end_to_end_us``."""

    own_slowdown: float | None
    """Slowdown against the flow's own run alone, where [``FlowSummary::slowdown``] and the fairness of the
    run are against the runs alone of another run. Left out where they are the same."""

    slowdown_device: float | None
    """Slowdown by mean response times."""

    slowdown_transaction: float | None
    """Slowdown by the mean turnaround of the flow's page transactions, from their creation to their end.
    It is the sum of the times in [``FlowSummary::transactions``]."""

    alone: AloneSummary | None
    """The flow when it has the drive to itself. Null without ``--alone``."""

    without: dict[str, Any] | None
    """Mean end-to-end time of the same requests without another flow, by the name of that flow. Unit:
    microseconds. The difference from ``end_to_end_us.mean`` is what the other flow really costs this one.
    Left out without ``--leave-one-out``."""

    slo: SloSummary | None
    """Results of the tenant's goals; left out where it has none."""

    retries: RetrySummary | None
    """Pages that were read again for the flow inside the window; left out where bit errors are not
    modelled."""

    energy: EnergySummary | None
    """Energy of the flow inside the window; left out without ``--energy``."""

    wear: WearSummary | None
    """The flow's part of the wear; left out without ``--energy``."""

    wrapped_requests: int
    """Trace requests whose address was wrapped into the flow's space."""

    clipped_requests: int
    """Trace requests dropped because of their address."""

    split_requests: int
    """Reads and writes above the drive's largest transfer, which went out in pieces."""

    rejected_lines: dict[str, Any]
    """Trace lines that could not be read, by reason."""

    trace_records: int
    """Records of a trace that were read, in all passes over the file; left out without a trace."""

    changed_records: int
    """Trace records that were delayed or rejected; left out where there are none."""

    named_lines: list[str]
    """The first ten lines of each kind that were not replayed unchanged, with the reason; left out where
    there are none."""
