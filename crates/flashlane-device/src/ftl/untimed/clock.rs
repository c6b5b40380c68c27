//! The clock of each die: the time at which the die has done the work that it was given.
//!
//! This is no model of time. It only tells who is behind: a request starts when its die has done
//! the earlier work, and collection gets the time that the host leaves idle. Bus, link and firmware
//! take no time.

use flashlane_engine::Array;
use flashlane_units::{ChipId, DieId, PlaneId, Span};

use super::super::config::GcConfig;
use super::arrival::Arrival;
use crate::collection_order::{CollectionOrder, Presses, Reads, Steps};
use crate::flash::config::FlashConfig;
use crate::flash::page_types::time_by_page;
use crate::layout::Geometry;
use crate::transaction::STARVING;

/// Time of a request that the controller answers by itself. Unit: picoseconds.
pub const ANSWER: u64 = 5_000_000;

/// Time from the end of one request's work to the start of the next request's work in a closed
/// loop. While the host reacts, the die goes on with collection, and the next request finds it
/// busy. Unit: picoseconds.
pub const TURN_ROUND: u64 = 2_000_000;

/// Times of operations, transfers included. Unit: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) program: u64,
    /// Read of a page that collection moves; with copyback without the transfer.
    pub(super) gc_read: u64,
    pub(super) gc_program: u64,
    pub(super) erase: u64,
}

/// Mean of the times of page types. Unit: picoseconds.
pub fn mean(times: &[Span]) -> u64 {
    times.iter().map(|time| time.0).sum::<u64>() / times.len().max(1) as u64
}

/// The time that a page takes on its channel. Unit: picoseconds.
pub fn page_transfer(flash: &FlashConfig) -> u64 {
    let bytes_per_s = u128::from(flash.channel_rate.0 * flash.channel_width.0);
    let page = u128::from(flash.page_size.0) * 1_000_000_000_000;
    (page / bytes_per_s.max(1)) as u64
}

impl Times {
    /// Collection reads the pages, as they are mapped, of a page of the flash together, and
    /// programs together as many as the flash programs at once. A unit of several pages is read and
    /// programmed page by page, or in its word line.
    fn new(flash: &FlashConfig, copyback: bool, geometry: Geometry) -> Self {
        let of_unit = u64::from(geometry.pages_per_unit);
        let all_pages =
            page_transfer(flash) * u64::from(geometry.pages_moved_by_program()) * flash.passes();
        let transfer = page_transfer(flash) * of_unit;
        let read = mean(&flash.read_time) * of_unit;
        let program = flash.mean_program() * u64::from(geometry.programs_per_unit());
        let over_channel = |transfer: u64| if copyback { 0 } else { transfer };
        let (of_page, of_program) = (geometry.units_per_page, geometry.units_per_program());
        // With cache program the data of the next program crosses the channel meanwhile.
        let programs = |over_channel: u64| match flash.cache_program {
            true => program.max(over_channel),
            false => program + over_channel,
        };
        Self {
            program: programs(all_pages),
            gc_read: ((read + over_channel(transfer)) / u64::from(of_page)).max(1),
            gc_program: (programs(over_channel(all_pages)) / u64::from(of_program)).max(1),
            erase: flash.erase_time.0,
        }
    }
}

/// The operations that a pool does at the same time: with superblocks, its dies work side by side,
/// and one clock stands for all of them.
#[derive(Clone, Copy, Debug)]
struct Together {
    dies: u64,
    /// Programs: one on each die, or on each plane where programs of several planes form a command.
    programs: u64,
    /// The least time between two pages of the flash, since pages cross the channels of the pool
    /// one by one. Unit: picoseconds.
    least: u64,
    /// Mapping units of a page of the flash.
    units_per_page: u64,
    /// Pages of the flash in a mapping unit.
    pages_per_unit: u64,
    /// Pages of the flash that cross the channel for a program.
    pages_moved: u64,
}

impl Together {
    fn new(drive: Geometry, pools: Geometry, planes_join: bool, transfer: u64) -> Self {
        let dies = u64::from(drive.dies() / pools.dies()).max(1);
        let planes = u64::from(drive.planes() / pools.planes()).max(1);
        let channels = dies.min(u64::from(drive.channels));
        let least = if planes == 1 { 1 } else { (transfer / channels).max(1) };
        Self {
            dies,
            programs: if planes_join { planes } else { dies },
            least,
            units_per_page: u64::from(drive.units_per_page),
            pages_per_unit: u64::from(drive.pages_per_unit),
            pages_moved: u64::from(drive.pages_moved_by_program()),
        }
    }

    /// The times that a page takes of the clock. The blocks of a superblock are erased at once.
    fn shorten(self, times: Times) -> Times {
        let of_unit = (self.least * self.pages_per_unit / self.units_per_page).max(1);
        Times {
            program: (times.program / self.programs).max(self.least * self.pages_moved),
            gc_read: (times.gc_read / self.dies).max(of_unit),
            gc_program: (times.gc_program / self.programs).max(of_unit),
            erase: times.erase,
        }
    }
}

/// The last program of a host page that was given to a die.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    start: u64,
    plane: PlaneId,
    page: u32,
}

/// The clocks of all dies.
#[derive(Clone, Debug)]
pub(super) struct Dies {
    /// Time at which each die has done all of its work. Unit: picoseconds.
    pub(super) free_at: Array<DieId, u64>,
    /// Time at which each die has done the reads that it was given. Unit: picoseconds.
    reads_until: Array<DieId, u64>,
    last: Array<DieId, Last>,
    die_of_plane: Array<PlaneId, DieId>,
    geometry: Geometry,
    pub(super) times: Times,
    /// Time of a read of a host by the index of its page in its block. With units of several pages,
    /// by that of the unit: of the mean page of it, since most reads want one. Unit: picoseconds.
    reads: Array<usize, u64>,
    /// Set where collection waits its turn among the writes of hosts.
    pub(super) arrival: Option<Arrival>,
    /// When collection goes before the work of hosts.
    pub(super) presses: Presses,
    /// True if collection always goes before the work of hosts.
    pub(super) always_first: bool,
    /// The order in which a die does the operations of collection.
    pub(super) steps: Steps,
    /// True if programs of hosts on several planes of a die form one command.
    hosts_join: bool,
    /// True if programs of moved pages join the commands of hosts, and each other.
    pub(super) moves_join: bool,
    /// Longest time that a read waits for the operation under way; it also waits for earlier reads.
    /// `None`: a read waits for all earlier work. Unit: picoseconds.
    read_wait: Option<u64>,
    /// True if a read suspends the operation under way.
    suspends: bool,
}

impl Dies {
    pub(super) fn new(
        flash: &FlashConfig,
        gc: &GcConfig,
        order: CollectionOrder,
        (drive, geometry): (Geometry, Geometry),
    ) -> Self {
        let (arrival, presses, steps, reads) = match order {
            CollectionOrder::Behind { presses, steps, reads } => (None, presses, steps, reads),
            CollectionOrder::Arrival { reads_first, erases_wait } => {
                let reads = if reads_first { Reads::Interrupt } else { Reads::InOrder };
                let arrival = Some(Arrival { reads_first, erases_wait });
                (arrival, Presses::Urgent, Steps::OneList, reads)
            }
            CollectionOrder::Unspecified => unreachable!("refused"),
        };
        let units = geometry.units_per_program();
        let times = Times::new(flash, gc.copyback, geometry);
        assert!(times.program > 0 && times.erase > 0, "operations of the flash take time");
        let suspends = reads == Reads::Interrupt && flash.suspend.program;
        let read_wait = if suspends { flash.suspend.program_time.0 } else { times.program };
        let several = geometry.planes_per_die > 1;
        let joins = steps != Steps::OneList && !gc.copyback;
        let together = Together::new(drive, geometry, joins, page_transfer(flash));
        let times = together.shorten(times);
        let by_page: Vec<u64> = time_by_page(flash, &flash.read_time).collect();
        let by_unit = by_page.chunks(drive.pages_per_unit as usize);
        let mean_read = |unit: &[u64]| unit.iter().sum::<u64>() / unit.len() as u64;
        Self {
            free_at: Array::of(0, geometry.dies() as usize),
            reads_until: Array::of(0, geometry.dies() as usize),
            last: Array::of(Last::default(), geometry.dies() as usize),
            die_of_plane: PlaneId::first(geometry.planes())
                .map(|plane| geometry.die_of(plane))
                .collect(),
            geometry,
            times,
            reads: by_unit
                .map(|unit| (mean_read(unit) + page_transfer(flash)) / together.dies)
                .collect(),
            arrival,
            presses,
            always_first: arrival.is_none() && !gc.preemptible,
            steps,
            hosts_join: several && steps != Steps::OneList && !gc.copyback,
            moves_join: several && steps == Steps::ReadsFirst && !gc.copyback && units == 1,
            read_wait: (reads != Reads::InOrder).then_some(read_wait),
            suspends,
        }
    }

    /// Die of a plane.
    #[inline]
    pub(super) fn of(&self, plane: PlaneId) -> DieId {
        self.die_of_plane[plane]
    }

    /// Dies of a chip.
    pub(super) fn of_chip(&self, chip: ChipId) -> impl Iterator<Item = DieId> + Clone + use<> {
        self.geometry.dies_of_chip(chip)
    }

    /// Planes of a chip.
    pub(super) fn planes(&self, chip: ChipId) -> impl Iterator<Item = PlaneId> + Clone + use<> {
        self.geometry.planes_of_chip(chip)
    }

    /// Planes of a die.
    pub(super) fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let count = self.geometry.planes_per_die;
        (die.get() * count..(die.get() + 1) * count).map(PlaneId::new)
    }

    /// Chip of a die.
    pub(super) fn chip(&self, die: DieId) -> ChipId {
        self.geometry.chip_of_die(die)
    }

    /// Delays the next work of a die until `at`.
    #[inline]
    pub(super) fn begin(&mut self, die: DieId, at: u64) {
        let free_at = &mut self.free_at[die];
        *free_at = (*free_at).max(at);
    }

    /// Adds work that comes at `at` and takes `time`. Returns its end.
    #[inline]
    pub(super) fn work(&mut self, die: DieId, at: u64, time: u64) -> u64 {
        let free_at = &mut self.free_at[die];
        *free_at = (*free_at).max(at).saturating_add(time);
        *free_at
    }

    /// Adds the program of a host page. Returns its end, and whether it joined the last program. It
    /// joins a program that has not begun, is for another plane, and for the same page number of
    /// its block.
    #[inline]
    pub(super) fn program(
        &mut self,
        die: DieId,
        plane: PlaneId,
        page: u32,
        at: u64,
    ) -> (u64, bool) {
        let last = &mut self.last[die];
        let begins = last.start + self.times.program == self.free_at[die];
        if self.hosts_join
            && (self.arrival.is_none() || begins)
            && last.page == page
            && last.plane != plane
            && at <= last.start
        {
            let end = last.start.saturating_add(self.times.program);
            // So that a third plane can join as well.
            last.plane = plane;
            return (end, true);
        }
        let end = self.work(die, at, self.times.program);
        self.last[die] = Last { start: end - self.times.program, plane, page };
        (end, false)
    }

    /// Adds the read of a host page, which is the page `page` of its block. Returns its end. The
    /// read waits for the operation under way and for earlier reads, but not for the operations
    /// behind them; those are delayed no longer than in the timed drive.
    #[inline]
    pub(super) fn read(&mut self, die: DieId, page: u32, at: u64) -> u64 {
        debug_assert!((page as usize) < self.reads.len(), "page {page} is one of its block");
        let read = self.reads[page as usize];
        if self.read_wait.is_none() {
            self.work(die, at, read)
        } else {
            self.read_for(die, at, read)
        }
    }

    /// Adds reads that take `read` in all, of hosts or of collection, where reads go first. Returns
    /// their end.
    #[inline]
    pub(super) fn read_for(&mut self, die: DieId, at: u64, read: u64) -> u64 {
        let wait = self.read_wait.expect("reads go first");
        let (free_at, reads_until) = (&mut self.free_at[die], &mut self.reads_until[die]);
        let behind_all = (*free_at).max(at);
        // The model takes the operation under way and those behind it for programs.
        let program = self.times.program.max(1);
        let left = (behind_all - at).checked_sub(1).map_or(0, |left| left % program + 1).min(wait);
        let begin = at.saturating_add(left).max(*reads_until);
        let end = begin.saturating_add(read);
        *reads_until = end;
        if behind_all - at < STARVING.0 {
            // The suspended operation takes longer by the time that its suspension takes.
            let lost = if self.suspends { begin.saturating_sub(at).min(wait) } else { 0 };
            *free_at = behind_all.saturating_add(read).saturating_add(lost);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// A die whose reads take 1 ms and whose programs take 4 ms.
    fn die() -> Dies {
        Dies {
            free_at: Array::of(0, 1),
            reads_until: Array::of(0, 1),
            last: Array::of(Last::default(), 1),
            die_of_plane: Array::of(DieId::new(0), 1),
            geometry: Geometry {
                channels: 1,
                chips_per_channel: 1,
                dies_per_chip: 1,
                planes_per_die: 1,
                blocks_per_plane: 1,
                pages_per_block: 1,
                sectors_per_page: 8,
                units_per_page: 1,
                pages_per_program: 1,
                pages_per_unit: 1,
            },
            reads: Array::of(MS, 1),
            times: Times { program: 4 * MS, gc_read: 0, gc_program: 0, erase: 0 },
            arrival: None,
            presses: Presses::Urgent,
            always_first: false,
            steps: Steps::ReadsFirst,
            hosts_join: false,
            moves_join: false,
            read_wait: Some(4 * MS),
            suspends: false,
        }
    }

    #[test]
    fn reads_wait_for_the_operation_under_way_and_for_each_other() {
        let mut dies = die();
        for _ in 0..5 {
            dies.program(DieId::new(0), PlaneId::new(0), 0, 0);
        }
        let ends = [(); 4].map(|()| dies.read(DieId::new(0), 0, 0) / MS);
        assert_eq!(ends, [5, 6, 7, 8], "past the programs that wait");
        assert_eq!(dies.free_at[DieId::new(0)], 24 * MS, "which are late by as much");
    }

    #[test]
    fn reads_hold_a_program_up_for_a_while_only() {
        let mut dies = die();
        for _ in 0..1_000 {
            dies.read(DieId::new(0), 0, 0);
        }
        let (end, _) = dies.program(DieId::new(0), PlaneId::new(0), 0, 0);
        assert_eq!(end, STARVING.0 + 4 * MS);
        assert_eq!(dies.read(DieId::new(0), 0, 0), 1_001 * MS, "behind all reads");
    }
}
