//! The controller's processors: cores that run the firmware, and a cache in front of the mapping
//! table.
//!
//! Source: MQSim (FAST'18) section 4.3 estimates firmware from a model of the processor and of its
//! cache, without figures. The parts of the model and all defaults are ours.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_units::{ByteSize, Frequency, Lpa, RequestOp, Span};

use crate::layout::Layout;
use crate::request::Request;

/// Bytes of a line of the processors' cache.
const LINE: u64 = 64;
/// Entries of the mapping table in a line, of 8 bytes each.
const ENTRIES: u64 = LINE / 8;

/// Processors of the controller. A command takes `command_cycles`, and for each of its pages
/// `page_cycles` and a look-up of its mapping. A page that collection, the data cache or the
/// mapping moves takes the same cycles, and a flash command takes `decision_cycles`. Neither waits
/// for that itself, but commands do. The defaults are Flashlane's assumptions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessorsConfig {
    /// Cores; each runs one piece of firmware at a time. Range: 1..=64.
    pub cores: u32,
    /// Clock of every core. Range: 1MHz..=10GHz.
    pub clock: Frequency,
    /// Cycles for a command, whatever its size. Range: 0..=1000000.
    pub command_cycles: u32,
    /// Cycles for a page: of a command, or moved by the drive itself. Range: 0..=1000000.
    pub page_cycles: u32,
    /// Cycles for the look-up of a page in the mapping table. Range: 0..=1000000.
    pub lookup_cycles: u32,
    /// Cycles for the decision of the scheduler that leads to a flash command. Range: 0..=1000000.
    pub decision_cycles: u32,
    /// Cache in front of the mapping table, shared by the cores: direct-mapped lines of eight
    /// entries. `0B`: every look-up misses. Range: 0B..=1GiB.
    pub cache: ByteSize,
    /// Additional time of a look-up whose entry is not in that cache. Range: 0ps..=1ms.
    pub miss_time: Span,
}

impl Default for ProcessorsConfig {
    fn default() -> Self {
        Self {
            cores: 2,
            clock: Frequency(1_000_000_000),
            command_cycles: 500,
            page_cycles: 100,
            lookup_cycles: 50,
            decision_cycles: 100,
            cache: ByteSize(32 << 10),
            miss_time: Span(100_000),
        }
    }
}

/// The pages of a drive, as its processors see them.
#[derive(Clone, Debug)]
pub(crate) struct PageSpace {
    pub(crate) sectors_per_page: u32,
    /// First page of each flow.
    pub(crate) first_lpas: Vec<u64>,
}

impl PageSpace {
    /// The pages of the flows of a drive.
    pub(crate) fn of(layout: &Layout) -> Self {
        Self {
            sectors_per_page: layout.geometry.sectors_per_page,
            first_lpas: layout.flows.iter().map(|flow| flow.first_lpa).collect(),
        }
    }
}

/// Work of the controller's processors, where they are modelled. Times are of all cores together;
/// unit: picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorReading {
    /// Number of cores; 0 if they are not modelled.
    pub cores: u32,
    /// Commands of the host.
    pub commands: u128,
    /// Pages that the drive moves for itself.
    pub own_pages: u128,
    /// Decisions of the scheduling policy.
    pub decisions: u128,
    /// Look-ups of the mapping table.
    pub lookups: u64,
    /// Look-ups that missed the processors' cache.
    pub misses: u64,
}

/// Work of the drive itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnWork {
    /// A page that the drive moves for itself, or a block that it erases.
    Page { lpa: Lpa },
    /// The decision that leads to a flash command.
    Decision,
}

/// Costs of firmware. Times in picoseconds.
#[derive(Clone)]
pub(super) struct Processors {
    command: u64,
    page: u64,
    lookup: u64,
    decision: u64,
    miss: u64,
    space: PageSpace,
    /// The line of the mapping table in each line of the cache, plus one; 0 for none.
    cached: Vec<u64>,
    pub(super) done: ProcessorReading,
}

impl Processors {
    pub(super) fn new(config: &ProcessorsConfig, space: PageSpace) -> Self {
        let time = |cycles: u32| {
            (u128::from(cycles) * 1_000_000_000_000 / u128::from(config.clock.0)) as u64
        };
        Self {
            command: time(config.command_cycles),
            page: time(config.page_cycles),
            lookup: time(config.lookup_cycles),
            decision: time(config.decision_cycles),
            miss: config.miss_time.0,
            space,
            cached: vec![0; (config.cache.0 / LINE) as usize],
            done: ProcessorReading { cores: config.cores, ..ProcessorReading::default() },
        }
    }

    /// First page of a request on the drive, and the number of its pages. A flush has none.
    fn pages_of(&self, request: &Request) -> (u64, u64) {
        let Request { flow, op, sector, sectors, .. } = *request;
        if op == RequestOp::Flush || op.manages_zone() || sectors == 0 {
            return (0, 0);
        }
        let size = u64::from(self.space.sectors_per_page);
        let (first, last) = (sector / size, (sector + u64::from(sectors) - 1) / size);
        (self.space.first_lpas[flow.index()] + first, last - first + 1)
    }

    /// Time of a command if all of its look-ups hit.
    pub(super) fn at_least(&self, request: &Request) -> u64 {
        self.command + self.pages_of(request).1 * (self.page + self.lookup)
    }

    /// Time of a command. Its look-ups change the cache.
    pub(super) fn command(&mut self, request: &Request) -> u64 {
        let (first, count) = self.pages_of(request);
        let misses = self.look_up(first, count);
        debug_assert!(misses <= count, "a page needs at most one line");
        let time = self.command + count * (self.page + self.lookup) + misses * self.miss;
        self.done.commands += u128::from(time);
        time
    }

    /// Time of work of the drive itself.
    pub(super) fn own(&mut self, work: OwnWork) -> u64 {
        match work {
            OwnWork::Decision => {
                self.done.decisions += u128::from(self.decision);
                self.decision
            }
            OwnWork::Page { lpa } => {
                let mut time = self.page;
                if lpa != Lpa::NONE {
                    time += self.lookup + self.look_up(u64::from(lpa.get()), 1) * self.miss;
                }
                self.done.own_pages += u128::from(time);
                time
            }
        }
    }

    /// Looks up pages that follow each other. Returns the number of look-ups that miss the cache.
    fn look_up(&mut self, first: u64, count: u64) -> u64 {
        self.done.lookups += count;
        let lines = self.cached.len() as u64;
        let mut misses = if lines == 0 { count } else { 0 };
        if lines > 0 && count > 0 {
            for line in first / ENTRIES..=(first + count - 1) / ENTRIES {
                let place = &mut self.cached[(line % lines) as usize];
                misses += u64::from(*place != line + 1);
                *place = line + 1;
            }
        }
        self.done.misses += misses;
        debug_assert!(self.done.misses <= self.done.lookups, "only a look-up misses");
        misses
    }
}

/// A request of the first flow, for tests.
#[cfg(test)]
pub(super) fn request(op: RequestOp, sector: u64, sectors: u32) -> Request {
    Request { op, sector, sectors, ..Request::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of 1 GHz: a cycle is a nanosecond. Pages of 8 sectors.
    fn processors(cache: u64) -> Processors {
        let config = ProcessorsConfig { cache: ByteSize(cache), ..ProcessorsConfig::default() };
        Processors::new(&config, PageSpace { sectors_per_page: 8, first_lpas: vec![0] })
    }

    #[test]
    fn a_command_costs_its_pages_and_the_misses_of_their_lines() {
        let mut processors = processors(128);
        let read = |sector, sectors| request(RequestOp::Read, sector, sectors);
        // Sectors 4 to 11: two pages of one line.
        assert_eq!(processors.at_least(&read(4, 8)), 500_000 + 2 * 150_000);
        assert_eq!(processors.command(&read(4, 8)), 500_000 + 2 * 150_000 + 100_000);
        assert_eq!(processors.command(&read(0, 64)), 500_000 + 8 * 150_000, "all in the line");
        // Page 16 is in the third line, which replaces the first.
        assert_eq!(processors.command(&read(128, 8)), 500_000 + 150_000 + 100_000);
        assert_eq!(processors.command(&read(0, 8)), 500_000 + 150_000 + 100_000);
        assert_eq!(processors.command(&request(RequestOp::Flush, 0, 0)), 500_000);
        assert_eq!((processors.done.lookups, processors.done.misses), (12, 3));
    }

    #[test]
    fn work_of_the_drive_itself_is_counted_apart() {
        let mut processors = processors(0);
        assert_eq!(processors.own(OwnWork::Page { lpa: Lpa::new(9) }), 250_000, "no cache");
        assert_eq!(processors.own(OwnWork::Page { lpa: Lpa::NONE }), 100_000, "an erase");
        assert_eq!(processors.own(OwnWork::Decision), 100_000);
        let done = processors.done;
        assert_eq!((done.commands, done.own_pages, done.decisions), (0, 350_000, 100_000));
    }
}
