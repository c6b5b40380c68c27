//! Energy and wear: what a drive and its tenants spend.

use flashlane_units::Power;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::DeviceConfig;
use crate::layout::Geometry;
use crate::metrics::span::Span;
use crate::metrics::summary::{FlowSummary, Summary};

/// Energy inside the window. Units: picojoules; each operation is rounded to whole ones, so that
/// tenants sum to the drive exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnergySummary {
    /// All below, collection counted once.
    pub total_pj: u64,
    /// Arrays that read, whatever for.
    pub reads_pj: u64,
    /// Arrays that program.
    pub programs_pj: u64,
    /// Arrays that erase.
    pub erases_pj: u64,
    /// Data on the channels.
    pub transfers_pj: u64,
    /// The memory of the data cache.
    pub dram_pj: u64,
    /// What the drive takes when it does nothing, over the whole window. Tenants have equal parts
    /// of it; picojoules that are left over go to the first ones.
    pub idle_pj: u64,
    /// The part of reads, programs, erases and transfers that is collection, charged to those whose
    /// writes use up the blocks.
    pub collection_pj: u64,
}

impl EnergySummary {
    fn since(&self, before: &Self) -> Self {
        Self {
            total_pj: 0,
            reads_pj: self.reads_pj - before.reads_pj,
            programs_pj: self.programs_pj - before.programs_pj,
            erases_pj: self.erases_pj - before.erases_pj,
            transfers_pj: self.transfers_pj - before.transfers_pj,
            dram_pj: self.dram_pj - before.dram_pj,
            idle_pj: 0,
            collection_pj: self.collection_pj - before.collection_pj,
        }
    }

    fn with_total(self) -> Self {
        let work = self.reads_pj + self.programs_pj + self.erases_pj;
        let total_pj = work + self.transfers_pj + self.dram_pj + self.idle_pj;
        Self { total_pj, ..self }
    }
}

/// Wear inside the window. A page programmed by collection belongs to the tenants whose writes use
/// up the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WearSummary {
    /// Pages programmed, whatever for.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Of the pages that the drive programs. Range: 0..=1.
    pub share: f64,
    /// `programs` over the pages programmed for hosts; null without these.
    pub write_amplification: Option<f64>,
    /// Bytes of host writes that completed, as a multiple of what the drive holds, per day. Null
    /// for a window without length.
    pub drive_writes_per_day: Option<f64>,
    /// Host writes until the flash has had its rated cycles, at this write amplification. Unit:
    /// terabytes (10^12 bytes). Null without host writes or without `endurance.rated_cycles`.
    pub tbw: Option<f64>,
    /// Years until then at the rate of the window, as if all other tenants wrote nothing. Made of
    /// the pages programmed: the erases that they bring may come after the window. Null where
    /// nothing is programmed, or without `endurance.rated_cycles`.
    pub years_to_rated_wear: Option<f64>,
}

/// What a flow has spent since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Without total and idle.
    pub(crate) energy: EnergySummary,
    /// Pages programmed.
    pub(crate) programs: u64,
    /// Blocks erased.
    pub(crate) erases: u64,
}

impl Spent {
    /// Since an earlier reading.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            energy: self.energy.since(&before.energy),
            programs: self.programs - before.programs,
            erases: self.erases - before.erases,
        }
    }
}

const DAY_S: f64 = 86_400.0;
/// A Julian year.
const YEAR_S: f64 = 365.25 * DAY_S;

/// Writes what the window spent into a summary that is otherwise done. Nothing where no meter ran.
pub(crate) fn fill_in(
    summary: &mut Summary,
    window: &Span<'_>,
    device: &DeviceConfig,
    logical_bytes: u64,
) {
    let spent = window.spent();
    if spent.is_empty() {
        return;
    }
    let geometry = Geometry::new(&device.flash);
    let page_bytes = device.flash.page_size.0;
    let cycles = device.endurance.rated_cycles;
    let rated = cycles.map(|cycles| u128::from(geometry.pages()) * u128::from(cycles));
    let book = Book {
        length_s: summary.window_end_s - summary.window_start_s,
        all_programs: spent.iter().map(|one| one.programs).sum(),
        logical_bytes,
        page_bytes,
        rated_programs: rated.map(|pages| pages as f64),
    };
    let idle = idle_parts(device.energy.idle_power, window.length(), spent.len() as u64);
    let (mut energy, mut all, mut bytes) = (EnergySummary::default(), Spent::default(), 0);
    let mut host_programs = 0;
    for (index, (one, idle_pj)) in spent.iter().zip(idle).enumerate() {
        let flow: &mut FlowSummary = &mut summary.flows[index];
        let own = EnergySummary { idle_pj, ..one.energy }.with_total();
        let written = flow.completed_in_window.bytes.write;
        let programs = window.work(index).host_programs;
        flow.energy = Some(own);
        flow.wear = Some(book.wear(one, programs, written));
        add(&mut energy, &own);
        all.programs += one.programs;
        all.erases += one.erases;
        bytes += written;
        host_programs += programs;
    }
    let flash = &summary.flash;
    let erased = flash.erases == all.erases;
    let counted = flash.user_programs + flash.gc_programs + flash.mapping_programs;
    assert!(erased && counted == all.programs, "tenants sum to the drive");
    summary.energy = Some(energy);
    summary.wear = Some(book.wear(&all, host_programs, bytes));
}

fn add(sum: &mut EnergySummary, one: &EnergySummary) {
    sum.total_pj += one.total_pj;
    sum.reads_pj += one.reads_pj;
    sum.programs_pj += one.programs_pj;
    sum.erases_pj += one.erases_pj;
    sum.transfers_pj += one.transfers_pj;
    sum.dram_pj += one.dram_pj;
    sum.idle_pj += one.idle_pj;
    sum.collection_pj += one.collection_pj;
}

/// Idle energy over a time in equal parts. Unit: picojoules.
fn idle_parts(power: Power, window_ps: u64, parts: u64) -> impl Iterator<Item = u64> {
    let all = u128::from(power.0) * u128::from(window_ps) / 1_000_000;
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    (0..parts).map(move |part| all / parts + u64::from(part < all % parts))
}

/// What figures of wear are made of, beside what was spent.
struct Book {
    length_s: f64,
    all_programs: u64,
    logical_bytes: u64,
    page_bytes: u64,
    /// Page programs that the whole flash is rated for.
    rated_programs: Option<f64>,
}

impl Book {
    fn wear(&self, spent: &Spent, host_programs: u64, written_bytes: u64) -> WearSummary {
        let Spent { programs, erases, .. } = *spent;
        let over = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        let amplification = over(programs as f64, host_programs as f64);
        let per_second = over(programs as f64, self.length_s);
        let written = over(written_bytes as f64 * DAY_S, self.length_s);
        WearSummary {
            programs,
            erases,
            share: over(programs as f64, self.all_programs as f64).unwrap_or(0.0),
            write_amplification: amplification,
            drive_writes_per_day: written.and_then(|bytes| over(bytes, self.logical_bytes as f64)),
            tbw: self.rated_programs.zip(amplification).and_then(|(rated, amplification)| {
                over(rated * self.page_bytes as f64 / 1e12, amplification)
            }),
            years_to_rated_wear: self
                .rated_programs
                .zip(per_second)
                .and_then(|(rated, rate)| over(rated / YEAR_S, rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_energy_is_shared_to_the_last_picojoule() {
        // 1 W for 7 us over 3 tenants: 7,000,000 pJ.
        let parts: Vec<u64> = idle_parts(Power(1_000_000), 7_000_000, 3).collect();
        assert_eq!(parts, [2_333_334, 2_333_333, 2_333_333]);
        assert_eq!(parts.iter().sum::<u64>(), 7_000_000);
    }

    #[test]
    fn years_and_terabytes_of_a_drive_that_is_written_once_a_day() {
        // A drive of 1000 pages of 4 KiB, 900 of them for hosts, rated for 365.25 cycles.
        let book = Book {
            length_s: DAY_S,
            all_programs: 2_000,
            logical_bytes: 900 * 4_096,
            page_bytes: 4_096,
            rated_programs: Some(365_250.0),
        };
        let spent = Spent { programs: 1_000, erases: 15, ..Spent::default() };
        let wear = book.wear(&spent, 500, 450 * 4_096);
        assert_eq!((wear.programs, wear.erases, wear.share), (1_000, 15, 0.5));
        assert_eq!(wear.write_amplification, Some(2.0));
        assert_eq!(wear.drive_writes_per_day, Some(0.5));
        assert_eq!(wear.years_to_rated_wear, Some(1.0), "365.25 times a thousand pages a day");
        assert_eq!(wear.tbw, Some(365_250.0 * 4_096.0 / 1e12 / 2.0));
        let nothing = book.wear(&Spent::default(), 0, 0);
        assert_eq!((nothing.write_amplification, nothing.years_to_rated_wear), (None, None));
        let unrated = Book { rated_programs: None, ..book }.wear(&spent, 500, 1);
        assert_eq!((unrated.tbw, unrated.years_to_rated_wear), (None, None));
    }
}
