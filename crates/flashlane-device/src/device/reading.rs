//! Readings: the counters of a drive at an instant, as values. The difference of two readings is
//! the work between them.

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::Device;
use crate::cache::AdmissionCounts;
use crate::flash::FlashCounters;
use crate::ftl::counts::{FlowPages, FtlCounts};
use crate::host::HostFlow;
use crate::host::counts::{ByteCounts, RequestCounts};
use crate::interface::processors::ProcessorReading;
use crate::interface::zones::ZoneCounts;
use crate::transaction::{Op, Place, Transaction};

/// Page transactions that are over, and the sums of their times. Unit of the sums: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransactionTimes {
    /// Number of transactions.
    pub count: u64,
    /// Time in the queue of a die.
    pub wait: u128,
    /// Time on the bus.
    pub transfer: u128,
    /// Time in the array of the flash.
    pub execution: u128,
}

impl TransactionTimes {
    /// Adds a transaction that is over.
    #[inline(always)]
    pub(super) fn note(&mut self, tr: &Transaction) {
        self.count += 1;
        self.wait += u128::from(tr.chain.total() - tr.chain.bus - tr.chain.array);
        self.transfer += u128::from(tr.chain.bus);
        self.execution += u128::from(tr.chain.array);
    }

    /// Mean time on bus and in the array; `None` without a transaction. Unit: picoseconds.
    pub(super) fn mean(&self) -> Option<u64> {
        let time = (self.transfer + self.execution).checked_div(u128::from(self.count))?;
        Some(u64::try_from(time).expect("a transaction takes less than months"))
    }

    /// Adds the transactions of `more`.
    pub fn add(&mut self, more: Self) {
        self.count += more.count;
        self.wait += more.wait;
        self.transfer += more.transfer;
        self.execution += more.execution;
    }

    /// The transactions since an earlier reading.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            count: self.count - before.count,
            wait: self.wait - before.wait,
            transfer: self.transfer - before.transfer,
            execution: self.execution - before.execution,
        }
    }
}

/// Requests of a flow at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Requests that arrived since the start of the run.
    pub arrived: u64,
    /// Requests that arrived and are not complete.
    pub outstanding: u64,
}

impl Level {
    /// Requests that are complete.
    #[must_use]
    pub fn completed(self) -> u64 {
        self.arrived - self.outstanding
    }
}

/// Readings of the device since the start of the run.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Free blocks of the plane that has the fewest.
    pub free_blocks_min: u64,
    /// Free blocks of all planes.
    pub free_blocks: u64,
    /// Pages programmed for requests.
    pub user_programs: u64,
    /// Pages programmed by collection.
    pub gc_programs: u64,
    /// Translation pages programmed.
    pub mapping_programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Sum over all channels of the time for which they were taken, and over all chips of the time
    /// for which they were busy. Unit: picoseconds.
    pub channels: u128,
    /// Sum over all chips of the time for which they were busy. Unit: picoseconds.
    pub chips: u128,
    /// The busy time of each chip; empty where it is not kept. Unit: picoseconds.
    pub each_chip: Vec<u64>,
}

/// Counters of a chip up to an instant. Unit: picoseconds, unless named otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChipReading {
    /// Time with at least one die in an array operation.
    pub busy: u64,
    /// Array time of the dies: host, collection, mapping.
    pub by_source: [u128; 3],
    /// Transactions times the time that they waited.
    pub waited: u128,
    /// Largest number of waiting transactions since the window opened, or in the whole run if all
    /// of it counts. Unit: transactions.
    pub longest: u64,
}

/// Work of the device for a flow since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowWork {
    /// Host pages programmed.
    pub host_programs: u64,
    /// Pages programmed by collection and for translation on behalf of the flow.
    pub other_programs: u64,
    /// Writes of a part of a page for which the rest of the page was read first.
    pub read_modify_writes: u64,
    /// Look-ups that found their entry in the cached mapping table.
    pub cmt_hits: u64,
    /// Look-ups that had to read a translation page.
    pub cmt_misses: u64,
    /// Pages that were asked of the data cache and were there.
    pub cache_hits: u64,
    /// Pages that were asked of the data cache and were not there.
    pub cache_misses: u64,
    /// Pages that were read again.
    pub retried_pages: u64,
    /// The time that this took. Unit: picoseconds.
    pub retry_time: u64,
}

impl FlowWork {
    /// The work on pages, and hits and misses of the data cache. Without retries.
    fn of(pages: &FlowPages, (cache_hits, cache_misses): (u64, u64)) -> Self {
        Self {
            host_programs: pages.host_programs,
            other_programs: pages.other_programs,
            read_modify_writes: pages.read_modify_writes,
            cmt_hits: pages.cmt_hits,
            cmt_misses: pages.cmt_misses,
            cache_hits,
            cache_misses,
            ..Self::default()
        }
    }
}

/// Counters of a flow up to an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowReading {
    /// Requests that arrived, counted or not.
    pub arrived: u64,
    /// Requests that completed, counted or not.
    pub completed: RequestCounts,
    /// Bytes of the requests that completed.
    pub bytes: ByteCounts,
    /// Work of the device for the flow.
    pub work: FlowWork,
    /// Array time of all dies: host, collection, mapping. Unit: picoseconds.
    pub device_time: [u128; 3],
    /// Transactions times the time that they waited. Unit: picoseconds.
    pub waited: u128,
    /// True if it had no completion for so long that a run does not wait for it.
    pub starved: bool,
}

/// All counters of a drive up to an instant.
#[derive(Clone, Debug, Default)]
pub struct DeviceReading {
    /// The instant.
    pub at: Time,
    /// Counters of the flash.
    pub flash: FlashCounters,
    /// Counters of the translation layer.
    pub ftl: FtlCounts,
    /// Pages that the data cache evicted.
    pub evictions: u64,
    /// What the pace of the data cache did, where it admits writes by rate.
    pub admission: Option<AdmissionCounts>,
    /// Commands that changed zones; `None` where the drive has none.
    pub zones: Option<ZoneCounts>,
    /// Work of the controller's processors.
    pub processors: ProcessorReading,
    /// Erases of each block; empty before the first one.
    pub block_erases: Vec<u32>,
    /// Time that each channel was taken; where commands have their own bus, its data bus. Unit:
    /// picoseconds.
    pub channels: Vec<u64>,
    /// Time that each command bus was taken; empty where commands have none. Unit: picoseconds.
    pub command_buses: Vec<u64>,
    /// One entry for each chip.
    pub chips: Vec<ChipReading>,
    /// One entry for each flow.
    pub flows: Vec<FlowReading>,
}

impl DeviceReading {
    /// The reading at the start of the run of `later`, before anything happened.
    pub fn start(later: &Self) -> Self {
        Self {
            channels: vec![0; later.channels.len()],
            command_buses: vec![0; later.command_buses.len()],
            chips: vec![ChipReading::default(); later.chips.len()],
            flows: vec![FlowReading::default(); later.flows.len()],
            ..Self::default()
        }
    }

    /// Number of completed requests of all flows.
    pub fn completed(&self) -> u64 {
        self.flows.iter().map(|flow| flow.completed.all()).sum()
    }
}

impl Device {
    /// Counts a page transaction of a host request, or of the data cache, that is over.
    #[inline(always)]
    pub(super) fn transaction_over(&mut self, tr: &Transaction) {
        self.transaction_times[tr.flow][usize::from(tr.op != Op::Read)].note(tr);
    }

    /// The page transactions of each flow that are over: reads, and programs.
    pub fn transaction_times(&self) -> impl Iterator<Item = &[TransactionTimes; 2]> {
        self.transaction_times.iter()
    }

    /// Reads all counters at `at`: everything that happens at that instant has happened, and
    /// nothing later.
    pub fn read(&self, at: Time) -> DeviceReading {
        let mut flows: Vec<FlowReading> = self
            .host
            .flows()
            .zip(self.cache.asked())
            .zip(self.flash.array_time_of_flows().zip(self.scheduler.queues_of_flows()))
            .zip(self.ftl.pages_of_flows())
            .map(|(((host, cache), (device_time, queue)), pages)| FlowReading {
                starved: host.has_starved(),
                arrived: host.submitted(),
                completed: host.done().requests(),
                bytes: host.done().bytes(),
                work: FlowWork::of(&pages, (cache.hits, cache.misses)),
                device_time,
                waited: queue.area,
            })
            .collect();
        for (flow, retries) in flows.iter_mut().zip(self.flash.retries_of_flows()) {
            (flow.work.retried_pages, flow.work.retry_time) = (retries.pages, retries.time);
        }
        let mut chips: Vec<ChipReading> = self
            .flash
            .array_time_of_chips()
            .zip(self.scheduler.queues_of_chips())
            .zip(self.flash.busy_chips(at))
            .map(|((by_source, queue), busy)| ChipReading {
                busy,
                by_source,
                waited: queue.area,
                longest: queue.max.into(),
            })
            .collect();
        for (_, tr) in self.context.transactions.iter().filter(|(_, tr)| tr.place == Place::Queue) {
            let waited = u128::from(at.saturating_sub(tr.mark).0);
            flows[tr.flow.index()].waited += waited;
            chips[self.flash.chip_of(self.flash.die_of(tr.plane)).index()].waited += waited;
        }
        self.flash.each_unfinished(at, &self.context.transactions, |chip, flow, account, time| {
            chips[chip].by_source[account] += time;
            flows[flow].device_time[account] += time;
        });
        let erases = self.flash.counters().erases;
        DeviceReading {
            at,
            flash: *self.flash.counters(),
            ftl: self.ftl.counts(),
            evictions: self.cache.evictions(),
            admission: self.cache.admission_counts(),
            zones: self.zone_counts(),
            processors: self.interface.processors_done(),
            block_erases: if erases == 0 { Vec::new() } else { self.ftl.erases_of_blocks() },
            channels: self.flash.taken(at, &self.context.transactions),
            command_buses: self.flash.command_buses_taken(at),
            chips,
            flows,
        }
    }

    /// Request counts of each flow so far.
    pub fn levels(&self) -> Vec<Level> {
        let level =
            |flow: &HostFlow| Level { arrived: flow.submitted(), outstanding: flow.outstanding() };
        self.host.flows().map(level).collect()
    }

    /// Requests of each flow that arrived at `since` or later and are not complete.
    pub fn backlog(&self, since: Time) -> Vec<u64> {
        let mut backlog = vec![0; self.host.flows().len()];
        for (_, request) in self.context.requests.iter() {
            let inside = request.marks.counted() && request.arrival >= since;
            backlog[request.flow.index()] += u64::from(inside);
        }
        backlog
    }

    /// Counters of the device up to `at`, and the chips that each flow may write to, where sets of
    /// chips move.
    pub fn counters(&self, at: Time) -> (Counters, Vec<Option<u32>>) {
        let free = self.ftl.free_blocks();
        let flash = self.flash.counters();
        let each_chip: Vec<u64> = self.flash.busy_chips(at).into_iter().collect();
        let counters = Counters {
            free_blocks_min: free.clone().min().unwrap_or(0).into(),
            free_blocks: free.map(u64::from).sum(),
            user_programs: flash.user_programs,
            gc_programs: flash.gc_programs,
            mapping_programs: flash.mapping_programs,
            erases: flash.erases,
            channels: self
                .flash
                .taken(at, &self.context.transactions)
                .into_iter()
                .map(u128::from)
                .sum(),
            chips: each_chip.iter().copied().map(u128::from).sum(),
            each_chip,
        };
        let flows = (0..self.host.flows().len()).map(FlowId::at);
        (counters, flows.map(|flow| self.ftl.chips_of(flow)).collect())
    }
}
