//! Latencies of the flash interface and array. Unit: picoseconds.
//!
//! Source: ONFI NV-DDR2 timing parameters as MQSim (FAST'18) uses them.

use crate::config::{CompatConfig, FlashConfig, Technology};
use crate::layout::SECTOR_BYTES;
use crate::transaction::Op;

const fn ns(n: u64) -> u64 {
    n * 1_000
}

const T_CS: u64 = ns(20);
const T_WC: u64 = ns(25);
const T_WB: u64 = ns(100);
const T_RR: u64 = ns(20);
const T_ADL: u64 = ns(70);
const T_CALS: u64 = ns(15);
const T_WPST: u64 = ns(6);
const T_WPSTH: u64 = ns(15);
const T_DBSY: u64 = ns(500);
/// From ready/busy to the controller's notice of the end of a read.
const READY_DELAY: u64 = ns(20);

/// All latencies of a device, looked up by index.
#[derive(Clone, Debug)]
pub(crate) struct FlashTiming {
    /// Transfer time by number of sectors, `0..=sectors_per_page`.
    data: Vec<u64>,
    /// tR plus ready delay by page in the block.
    read: Vec<u64>,
    /// tPROG by page in the block.
    program: Vec<u64>,
    erase: u64,
    /// Command of a suspension.
    pub(crate) suspend_command: u64,
    /// From the suspend command until the die takes another one.
    pub(crate) suspend_program: u64,
    /// The same for an erase.
    pub(crate) suspend_erase: u64,
}

impl FlashTiming {
    /// Derives every latency from the configuration.
    pub(crate) fn new(flash: &FlashConfig, compat: &CompatConfig) -> Self {
        let sectors = flash.page_size.0 / SECTOR_BYTES;
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
        let by_page = |times: &[crate::config::units::Span], extra: u64| {
            (0..flash.pages_per_block)
                .map(|page| {
                    let kind = page_type(flash.technology, page).min(times.len() - 1);
                    times[kind].0 + extra
                })
                .collect()
        };
        Self {
            data: (0..=sectors).map(|n| transfer(n * SECTOR_BYTES)).collect(),
            read: by_page(&flash.read_time, READY_DELAY),
            program: by_page(&flash.program_time, 0),
            erase: flash.erase_time.0,
            suspend_command: T_CS + 3 * T_WC,
            suspend_program: flash.suspend.program_time.0,
            suspend_erase: flash.suspend.erase_time.0,
        }
    }

    /// Bus time of command and address cycles for `planes` planes.
    #[inline]
    pub(crate) fn command(&self, op: Op, planes: u64) -> u64 {
        match op {
            Op::Read => T_CS + 6 * T_WC + T_WB + T_RR + (planes - 1) * (6 * T_WC + T_DBSY),
            Op::Program => {
                T_CS + 6 * T_WC
                    + T_ADL
                    + T_WPST
                    + T_WPSTH
                    + T_WB
                    + (planes - 1) * (5 * T_WC + T_ADL + T_WPST + T_CALS + T_WB + T_DBSY)
            }
            Op::Erase => T_CS + 4 * T_WC + T_WB + (planes - 1) * (T_DBSY + 4 * T_WC + T_WB),
        }
    }

    /// Bus time of `sectors` sectors of data, either direction.
    #[inline]
    pub(crate) fn data(&self, sectors: u32) -> u64 {
        self.data[sectors as usize]
    }

    /// Array time of an operation on page `page` of a block.
    #[inline]
    pub(crate) fn array(&self, op: Op, page: u32) -> u64 {
        match op {
            Op::Read => self.read[page as usize],
            Op::Program => self.program[page as usize],
            Op::Erase => self.erase,
        }
    }
}

/// Page type, 0 for the fastest, by position in the block.
///
/// MLC alternates; TLC starts with the six LSB and two CSB pages that MQSim's layout has and then
/// goes by pairs; QLC alternates over its four types.
pub(crate) fn page_type(technology: Technology, page: u32) -> usize {
    match technology {
        Technology::Slc => 0,
        Technology::Mlc => (page % 2) as usize,
        Technology::Tlc => match page {
            0..=5 => 0,
            6..=7 => 1,
            _ => (((page - 8) >> 1) % 3) as usize,
        },
        Technology::Qlc => (page % 4) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::units::{ByteSize, Span, TransferRate};

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
            channel_width: ByteSize(1),
            channel_rate: TransferRate(333_000_000),
            read_time: vec![Span(75_000_000), Span(90_000_000)],
            program_time: vec![Span(750_000_000)],
            erase_time: Span(3_800_000_000),
            suspend: crate::config::SuspendConfig::default(),
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
    fn page_types_pick_the_latency() {
        let timing = FlashTiming::new(&flash(), &CompatConfig::default());
        assert_eq!(timing.array(Op::Read, 0), ns(75_020));
        assert_eq!(timing.array(Op::Read, 1), ns(90_020));
        assert_eq!(timing.array(Op::Program, 1), ns(750_000));
        assert_eq!(timing.array(Op::Erase, 3), ns(3_800_000));
        let tlc: Vec<usize> = (0..14).map(|p| page_type(Technology::Tlc, p)).collect();
        assert_eq!(tlc, [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2]);
        assert_eq!(page_type(Technology::Qlc, 7), 3);
    }
}
