//! Latencies of the flash interface and array. Unit: picoseconds.
//!
//! Sources: ONFI; NV-DDR2 timing parameters as MQSim (FAST'18) uses them.

use flashlane_engine::Array;
use flashlane_units::{ByteSize, Span};

use crate::compat::CompatConfig;
use crate::flash::config::{ChannelClass, FlashConfig, Technology};
use crate::flash::page_types::{Programming, time_by_page};
use crate::flash::unit_pages::{PageSet, UnitTimes};
use crate::layout::{Geometry, SECTOR_BYTES};
use crate::transaction::Op;

const fn ns(n: u64) -> u64 {
    n * 1_000
}

/// Cycles of an interface. Unit: picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cycles {
    cs: u64,
    wc: u64,
    wb: u64,
    rr: u64,
    adl: u64,
    cals: u64,
    wpst: u64,
    wpsth: u64,
    dbsy: u64,
}

/// NV-DDR2, as MQSim (FAST'18) has it.
const NV_DDR2: Cycles = Cycles {
    cs: ns(20),
    wc: ns(25),
    wb: ns(100),
    rr: ns(20),
    adl: ns(70),
    cals: ns(15),
    wpst: ns(6),
    wpsth: ns(15),
    dbsy: ns(500),
};

/// NV-DDR3 and NV-LPDDR4: commands and addresses are no faster, and data waits longer for them.
/// Source: ONFI 4.2 and 5.1; the figures tADL 150 ns and tWPSTH 25 ns are from memory and
/// unverified.
const NV_DDR3: Cycles = Cycles { adl: ns(150), wpsth: ns(25), ..NV_DDR2 };

/// Time from ready/busy until the controller notices the end of a read.
pub(super) const READY_DELAY: u64 = ns(20);

impl Cycles {
    /// Bus time of command and address cycles for `planes` planes. Unit: picoseconds.
    fn command(self, op: Op, planes: u64) -> u64 {
        let Self { cs, wc, wb, rr, adl, cals, wpst, wpsth, dbsy } = self;
        let more = planes.saturating_sub(1);
        match op {
            Op::Read => cs + 6 * wc + wb + rr + more * (6 * wc + dbsy),
            Op::Program => {
                cs + 6 * wc
                    + adl
                    + wpst
                    + wpsth
                    + wb
                    + more * (5 * wc + adl + wpst + cals + wb + dbsy)
            }
            Op::Erase => cs + 4 * wc + wb + more * (dbsy + 4 * wc + wb),
        }
    }
}

/// The cells that a command works on, as far as its time depends on them. The translation layer
/// fills it in (`ftl/blocks/flash_pages.rs`), and the driver hands it on with the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Number of the first page in its block; with mapping units of several pages, that of the
    /// unit.
    pub page: u32,
    /// How they are used.
    pub mode: CellMode,
}

/// How cells are used, as far as times depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMode {
    /// Like those of any other page.
    Ordinary,
    /// In a block in SLC mode (`ftl/slc_cache`).
    Slc,
    /// In a block of the dynamic part of the SLC cache.
    DynamicSlc,
    /// In a block of the SLC cache whose pages are moved.
    FoldedSlc,
    /// In a word line that has its first pass, with two-pass programming (`ftl/units/passes.rs`).
    FirstPass,
    /// In a word line that has its second pass.
    SecondPass,
    /// In those pages of a mapping unit from which sectors are read, where a unit has several pages
    /// (`flash/unit_pages.rs`). Which they are follows from the transactions of the command.
    Pages,
}

impl Cells {
    /// The cells of a page with this number in a block like any other.
    #[must_use]
    pub fn of_page(page: u32) -> Self {
        Self { page, mode: CellMode::Ordinary }
    }
}

/// All latencies of a device, looked up by index.
#[derive(Clone, Debug)]
pub struct FlashTiming {
    /// Transfer time by number of sectors, up to the most that a transaction may move.
    data: Array<usize, u64>,
    /// tR plus ready delay by page in the block.
    read: Array<usize, u64>,
    /// tR plus ready delay of reads of up to `small_sectors`; empty without such a time.
    small_read: Vec<u64>,
    small_sectors: u32,
    /// tPROG by page in the block; with two-pass programming, that of both passes.
    program: Array<usize, u64>,
    /// Array times of the first and of the second pass of a word line; 0 where there are none.
    passes: [u64; 2],
    erase: u64,
    /// Array times in SLC mode: of a read, of a program, of a program in the dynamic part of the
    /// cache, and of a read of pages that are moved; 0 where no block is in it.
    slc: [u64; 4],
    /// Memory that is written in place: array time of a read and of a write, by number of sectors.
    in_place: Option<[Vec<u64>; 2]>,
    /// Times of the pages of mapping units of several pages; `None` where a unit is a page or less.
    units: Option<Box<UnitTimes>>,
    /// Bus time of commands and addresses by operation and number of planes, `0..=planes_per_die`.
    commands: [Array<usize, u64>; 3],
    /// Command of a suspension.
    pub(crate) suspend_command: u64,
    /// Time from the suspend command until a die that ran a program takes another command.
    suspend_program: u64,
    /// Time from the suspend command until a die that ran an erase takes another command.
    suspend_erase: u64,
}

impl FlashTiming {
    /// Derives every latency from the configuration.
    pub(crate) fn new(flash: &FlashConfig, compat: &CompatConfig) -> Self {
        let sectors = flash.page_size.0 / SECTOR_BYTES;
        // With these cuts, a part of a request may reach over the end of its page.
        let sectors_max = if compat.device_page_cuts { u64::from(u64::BITS) } else { sectors };
        let by_page = |times: &[Span], extra: u64| -> Vec<u64> {
            time_by_page(flash, times).map(|time| time + extra).collect()
        };
        let small = flash.small_read.as_ref();
        let accesses = |time: Span, unit: Option<ByteSize>, extra: u64| {
            let unit = unit.unwrap_or(flash.page_size).0;
            let access = |n: u64| (n.min(sectors) * SECTOR_BYTES).div_ceil(unit) * time.0 + extra;
            (0..=sectors_max).map(access).collect()
        };
        let in_place = flash.technology == Technology::InPlace;
        let (program, passes) = programs(flash);
        let cycles = match flash.channel_class {
            None | Some(ChannelClass::NvDdr2) => NV_DDR2,
            Some(ChannelClass::NvDdr3 | ChannelClass::NvLpddr4) => NV_DDR3,
        };
        Self {
            data: transfers(flash, compat, sectors_max * u64::from(flash.pages_per_program())),
            read: by_page(&flash.read_time, READY_DELAY).into(),
            small_read: small.map_or_else(Vec::new, |small| by_page(&small.time, READY_DELAY)),
            small_sectors: small.map_or(0, |small| (small.size.0 / SECTOR_BYTES) as u32),
            program: by_page(&program, 0).into(),
            passes,
            erase: flash.erase_time.0,
            slc: [0; 4],
            units: None,
            in_place: in_place.then(|| {
                [
                    accesses(flash.read_time[0], flash.read_unit, READY_DELAY),
                    accesses(flash.program_time[0], flash.write_unit, 0),
                ]
            }),
            commands: [Op::Read, Op::Program, Op::Erase].map(|op| {
                let time = |planes: u64| match flash.command_time {
                    Some(time) => planes * time.0,
                    None => cycles.command(op, planes),
                };
                (0..=u64::from(flash.planes_per_die)).map(time).collect()
            }),
            suspend_command: flash.command_time.map_or(cycles.cs + 3 * cycles.wc, |time| time.0),
            suspend_program: flash.suspend.program_time.0,
            suspend_erase: flash.suspend.erase_time.0,
        }
    }

    /// Maps units of several pages from now on. Times of programs are those of units then, and
    /// those of reads that name no pages (see [`CellMode::Pages`]) too.
    pub(super) fn map_units(&mut self, flash: &FlashConfig, geometry: Geometry) {
        let times = UnitTimes::new(flash, geometry);
        self.read = times.whole_reads().into();
        if flash.programming == Programming::Page {
            let units = self.program.chunks(geometry.pages_per_unit as usize);
            let units: Array<usize, u64> = units.map(|unit| unit.iter().sum()).collect();
            let sum = |times: &Array<usize, u64>| times.iter().sum::<u64>();
            assert_eq!(sum(&units), sum(&self.program), "a block of units has all of its pages");
            self.program = units;
        }
        self.small_sectors = 0;
        let pages = u64::from(geometry.pages_moved_by_program());
        let sectors = flash.page_size.0 / SECTOR_BYTES * pages;
        self.data = transfers(flash, &CompatConfig::default(), sectors);
        self.units = Some(Box::new(times));
    }

    /// Time from the suspend command until a die that ran `op` takes another command.
    pub(super) fn settling(&self, op: Op) -> u64 {
        match op {
            Op::Read => 0,
            Op::Program => self.suspend_program,
            Op::Erase => self.suspend_erase,
        }
    }

    /// Bus time of command and address cycles for `planes` planes.
    #[inline]
    pub(crate) fn command(&self, op: Op, planes: u64) -> u64 {
        self.commands[op as usize][planes as usize]
    }

    /// Bus time of `sectors` sectors of data, either direction.
    #[inline]
    pub(crate) fn data(&self, sectors: u32) -> u64 {
        self.data[sectors as usize]
    }

    /// Array time of an operation on `sectors` sectors of page `page` of a block.
    #[inline(always)]
    pub(crate) fn array(&self, op: Op, cells: Cells, sectors: u32) -> u64 {
        if cells.mode != CellMode::Ordinary {
            return self.array_in_mode(op, cells.mode);
        }
        let page = cells.page as usize;
        if let Some([read, write]) = &self.in_place {
            return if op == Op::Read { read } else { write }[sectors as usize];
        }
        match op {
            // A read of no sector takes as long as a read of the whole page.
            Op::Read if sectors.wrapping_sub(1) < self.small_sectors => self.small_read[page],
            Op::Read => self.read[page],
            Op::Program => self.program[page],
            Op::Erase => self.erase,
        }
    }

    /// Sets the times of pages in SLC mode: of a read, of a program, of a program in the dynamic
    /// part of the cache, and what a read of pages that are moved takes beside that of a read.
    pub(crate) fn allow_slc(&mut self, read: Span, program: Span, dynamic: Span, fold: Span) {
        let read = read.0 + READY_DELAY;
        self.slc = [read, program.0, dynamic.0, read + fold.0];
    }

    /// Array time of an operation on a page, or on a block, in SLC mode, or of a pass of a word
    /// line.
    #[cold]
    #[inline(never)]
    fn array_in_mode(&self, op: Op, mode: CellMode) -> u64 {
        let [read, program, dynamic, folded] = self.slc;
        let [first, second] = self.passes;
        let time = match (op, mode) {
            (_, CellMode::Ordinary) => unreachable!("ordinary pages have times by type"),
            (Op::Read, CellMode::Slc | CellMode::DynamicSlc) => read,
            (Op::Program, CellMode::Slc) => program,
            (Op::Program, CellMode::DynamicSlc) => dynamic,
            (Op::Read, CellMode::FoldedSlc) => folded,
            (Op::Program, CellMode::FoldedSlc) => unreachable!("pages are moved out of the cache"),
            (Op::Program, CellMode::FirstPass) => first,
            (Op::Program, CellMode::SecondPass) => second,
            (_, CellMode::Pages) => unreachable!("reads of parts of units know their pages"),
            (Op::Read, _) => unreachable!("a read is no pass"),
            (Op::Erase, _) => self.erase,
        };
        assert!(time > 0, "the mode of cells has times of its own");
        time
    }

    /// Array time of a read of some pages of a mapping unit, by its number in the block.
    pub(super) fn sensing(&self, unit: u32, pages: PageSet) -> u64 {
        self.units.as_ref().expect("units have several pages").read(unit, pages)
    }
}

/// Bus time of data by number of sectors, up to `most`. Unit: picoseconds.
fn transfers(flash: &FlashConfig, compat: &CompatConfig, most: u64) -> Array<usize, u64> {
    let width = flash.channel_width.0;
    let transfer = |bytes: u64| {
        if compat.truncated_bus_clock {
            // Two beats last twice the truncated period; an odd beat is dropped.
            let beats_ns = 2 * (1_000_000_000 / flash.channel_rate.0);
            bytes / width / 2 * ns(beats_ns)
        } else {
            let beats = u128::from(bytes.div_ceil(width));
            (beats * 1_000_000_000_000 / u128::from(flash.channel_rate.0)) as u64
        }
    };
    (0..=most).map(|sectors| transfer(sectors * SECTOR_BYTES)).collect()
}

/// The times of programs by page type, and those of the passes of a word line.
fn programs(flash: &FlashConfig) -> (Vec<Span>, [u64; 2]) {
    match (flash.programming, &flash.program_time[..]) {
        (Programming::TwoPass, &[first, second]) => {
            (vec![Span(first.0 + second.0)], [first.0, second.0])
        }
        (_, times) => (times.to_vec(), [0; 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::config::SmallReadConfig;
    use crate::flash::page_types::{PageOrder, page_type};
    use flashlane_units::TransferRate;

    fn flash() -> FlashConfig {
        FlashConfig {
            technology: Technology::Mlc,
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 4,
            blocks_per_plane: 16,
            pages_per_block: 16,
            page_size: ByteSize(8192),
            channel_rate: TransferRate(333_000_000),
            page_order: PageOrder::Turns,
            read_time: vec![Span(75_000_000), Span(90_000_000)],
            program_time: vec![Span(750_000_000)],
            erase_time: Span(3_800_000_000),
            ..FlashConfig::without_options()
        }
    }

    #[test]
    fn command_times_are_the_published_sums() {
        let timing = FlashTiming::new(&flash(), &CompatConfig::default());
        for (op, expected) in [
            (Op::Read, [290, 940, 1590, 2240]),
            (Op::Program, [361, 1177, 1993, 2809]),
            (Op::Erase, [220, 920, 1620, 2320]),
        ] {
            for planes in 1..=4 {
                assert_eq!(timing.command(op, planes), ns(expected[planes as usize - 1]));
            }
        }
        assert_eq!(timing.suspend_command, ns(95));
    }

    #[test]
    fn data_time_is_exact_or_truncated() {
        let exact = FlashTiming::new(&flash(), &CompatConfig::default());
        assert_eq!(exact.data(8), 4096 * 1_000_000 / 333);
        let compat = FlashTiming::new(&flash(), &CompatConfig::mqsim());
        assert_eq!(compat.data(8), ns(12_288));
        assert_eq!(compat.data(16), ns(24_576));
        assert_eq!(compat.data(0), 0);
    }

    #[test]
    fn newer_interfaces_and_a_given_time() {
        let of = |change: fn(&mut FlashConfig)| {
            let mut config = flash();
            change(&mut config);
            FlashTiming::new(&config, &CompatConfig::default())
        };
        let ddr3 = of(|c| c.channel_class = Some(ChannelClass::NvDdr3));
        assert_eq!(ddr3.command(Op::Read, 1), ns(290));
        assert_eq!(ddr3.command(Op::Program, 1), ns(361 + 80 + 10));
        let given = of(|c| c.command_time = Some(Span(ns(5))));
        assert_eq!((given.command(Op::Program, 2), given.suspend_command), (ns(10), ns(5)));
    }

    #[test]
    fn small_reads_take_less() {
        let mut config = flash();
        let time = vec![Span(ns(40_000)), Span(ns(50_000))];
        config.small_read = Some(SmallReadConfig { size: ByteSize(4096), time });
        let timing = FlashTiming::new(&config, &CompatConfig::default());
        assert_eq!(timing.array(Op::Read, Cells::of_page(0), 8), ns(40_020));
        assert_eq!(timing.array(Op::Read, Cells::of_page(1), 1), ns(50_020));
        assert_eq!(timing.array(Op::Read, Cells::of_page(1), 9), ns(90_020));
    }

    #[test]
    fn memory_written_in_place_works_unit_by_unit() {
        let mut config = flash();
        config.technology = Technology::InPlace;
        config.read_time = vec![Span(ns(100))];
        config.program_time = vec![Span(ns(500))];
        (config.read_unit, config.write_unit) = (Some(ByteSize(256)), Some(ByteSize(1024)));
        let timing = FlashTiming::new(&config, &CompatConfig::default());
        assert_eq!(timing.array(Op::Read, Cells::of_page(7), 1), ns(2 * 100 + 20));
        assert_eq!(timing.array(Op::Read, Cells::of_page(7), 16), ns(32 * 100 + 20));
        assert_eq!(timing.array(Op::Program, Cells::of_page(7), 1), ns(500));
        assert_eq!(timing.array(Op::Program, Cells::of_page(7), 16), ns(8 * 500));
    }

    #[test]
    fn each_pass_of_a_word_line_has_its_own_time() {
        let mut config = flash();
        config.programming = Programming::TwoPass;
        config.program_time = vec![Span(ns(300_000)), Span(ns(900_000))];
        assert_eq!((config.passes(), config.pages_per_program()), (2, 2));
        assert_eq!(config.mean_program(), ns(1_200_000));
        let timing = FlashTiming::new(&config, &CompatConfig::default());
        let array = |page, mode| timing.array(Op::Program, Cells { page, mode }, 32);
        assert_eq!(array(0, CellMode::FirstPass), ns(300_000));
        assert_eq!(array(7, CellMode::SecondPass), ns(900_000));
        assert_eq!(array(3, CellMode::Ordinary), ns(1_200_000), "what a program costs in all");
    }

    #[test]
    fn page_types_pick_the_latency() {
        let timing = FlashTiming::new(&flash(), &CompatConfig::default());
        assert_eq!(timing.array(Op::Read, Cells::of_page(0), 16), ns(75_020));
        assert_eq!(timing.array(Op::Read, Cells::of_page(1), 16), ns(90_020));
        assert_eq!(timing.array(Op::Program, Cells::of_page(1), 16), ns(750_000));
        assert_eq!(timing.array(Op::Erase, Cells::of_page(3), 16), ns(3_800_000));
        let order = |technology, page_order, types: usize| {
            let flash = FlashConfig { technology, page_order, ..flash() };
            (0..14).map(|page| page_type(&flash, page, types)).collect::<Vec<_>>()
        };
        let (turns, mqsim) = (PageOrder::Turns, PageOrder::Mqsim);
        let tlc = order(Technology::Tlc, mqsim, 3);
        assert_eq!(tlc, [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2]);
        assert_eq!(order(Technology::Tlc, turns, 3)[..5], [0, 1, 2, 0, 1]);
        assert_eq!(order(Technology::Qlc, mqsim, 4), order(Technology::Qlc, turns, 4));
        assert_eq!(order(Technology::Qlc, turns, 4)[..6], [0, 1, 2, 3, 0, 1]);
        assert_eq!(order(Technology::Tlc, mqsim, 1), [0; 14], "one time is for all pages");
    }
}
