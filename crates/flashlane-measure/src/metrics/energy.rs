//! Energy and wear that a drive and its tenants cause.

use flashlane_units::Power;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::span::Span;
use crate::metrics::summary::Summary;
use flashlane_config::DeviceConfig;
use flashlane_device::transaction::Source;

/// Energy inside the window. Unit: picojoules. Each operation is rounded to whole picojoules, so
/// that the tenants sum to the drive exactly. Left out where 64 bits are not enough: that is 18 MJ,
/// which a drive of 5 W takes in 42 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnergySummary {
    /// Sum of all parts below, with collection counted once.
    pub total_pj: u64,
    /// Arrays that read, for any purpose.
    pub reads_pj: u64,
    /// Arrays that program.
    pub programs_pj: u64,
    /// Arrays that erase.
    pub erases_pj: u64,
    /// Data on the channels.
    pub transfers_pj: u64,
    /// The memory of the data cache.
    pub dram_pj: u64,
    /// Idle energy of the drive over the whole window. Tenants have equal parts of it; the
    /// remainder of the division goes to the first tenants.
    pub idle_pj: u64,
    /// The part of reads, programs, erases and transfers that belongs to collection. It is charged
    /// to the flows whose writes use up the blocks.
    pub collection_pj: u64,
}

impl EnergySummary {
    fn since(&self, before: &Self) -> Self {
        // A sum that has reached the largest value of its type stays there.
        let minus = |now: u64, then: u64| if now == u64::MAX { now } else { now - then };
        Self {
            total_pj: 0,
            reads_pj: minus(self.reads_pj, before.reads_pj),
            programs_pj: minus(self.programs_pj, before.programs_pj),
            erases_pj: minus(self.erases_pj, before.erases_pj),
            transfers_pj: minus(self.transfers_pj, before.transfers_pj),
            dram_pj: minus(self.dram_pj, before.dram_pj),
            idle_pj: 0,
            collection_pj: minus(self.collection_pj, before.collection_pj),
        }
    }

    /// Sum of both, with a new total. `None` where it does not fit.
    fn plus(&self, other: &Self) -> Option<Self> {
        let sum = Self {
            total_pj: 0,
            reads_pj: self.reads_pj.checked_add(other.reads_pj)?,
            programs_pj: self.programs_pj.checked_add(other.programs_pj)?,
            erases_pj: self.erases_pj.checked_add(other.erases_pj)?,
            transfers_pj: self.transfers_pj.checked_add(other.transfers_pj)?,
            dram_pj: self.dram_pj.checked_add(other.dram_pj)?,
            idle_pj: self.idle_pj.checked_add(other.idle_pj)?,
            collection_pj: self.collection_pj.checked_add(other.collection_pj)?,
        };
        let parts = [sum.programs_pj, sum.erases_pj, sum.transfers_pj, sum.dram_pj, sum.idle_pj];
        let all = parts.into_iter().try_fold(sum.reads_pj, u64::checked_add);
        let total_pj = all.filter(|&total| total < u64::MAX)?;
        Some(Self { total_pj, ..sum })
    }
}

/// Wear inside the window. A page programmed by collection belongs to the tenants whose writes use
/// up the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WearSummary {
    /// Pages programmed, for any purpose; with one-shot and two-pass programming, word lines.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Share of this tenant in the pages that the drive programs. Range: 0..=1.
    pub share: f64,
    /// `programs` over the pages programmed for hosts; null without host writes.
    pub write_amplification: Option<f64>,
    /// Bytes of host writes that completedper day, as a multiple of the drive's capacity. Null for
    /// a window without length.
    pub drive_writes_per_day: Option<f64>,
    /// Host writes until the flash has had its rated cycles, at this write amplification. Unit:
    /// terabytes (10^12 bytes). Null without host writes or without `endurance.rated_cycles`.
    pub tbw: Option<f64>,
    /// Years until the rated wear at the rate of the window, as if all other tenants wrote nothing.
    /// Computed from programmed pages, because their erases may come after the window. Null where
    /// nothing is programmed, or without `endurance.rated_cycles`.
    pub years_to_rated_wear: Option<f64>,
}

/// Expenses of a flow since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowEnergy {
    /// Energy without the total and the idle energy.
    pub(crate) energy: EnergySummary,
    /// Pages programmed.
    pub(crate) programs: u64,
    /// Blocks erased.
    pub(crate) erases: u64,
}

impl FlowEnergy {
    /// Adds energy to the collection part, if `source` is collection.
    pub(crate) fn collects(&mut self, source: Source, energy_pj: u64) {
        if source == Source::Gc {
            let sum = &mut self.energy.collection_pj;
            *sum = sum.saturating_add(energy_pj);
        }
    }

    /// Expenses since an earlier reading.
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

/// Fills the expenses of the window into a summary that is otherwise complete. Does nothing if no
/// meter ran.
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
    let geometry = device.geometry();
    let program_bytes = device.flash.page_size.0 * u64::from(geometry.pages_per_program);
    let cycles = device.endurance.rated_cycles;
    let (units, programs) = (geometry.units_per_program(), geometry.programs_per_unit());
    let all_programs = geometry.pages() / u64::from(units) * u64::from(programs);
    let rated = cycles.map(|cycles| u128::from(all_programs) * u128::from(cycles));
    let book = WearFigures {
        length_s: summary.window_end_s - summary.window_start_s,
        all_programs: spent.iter().map(|one| one.programs).sum(),
        units_per_program: units,
        programs_per_unit: programs,
        logical_bytes,
        program_bytes,
        rated_programs: rated.map(|pages| pages as f64),
    };
    let (mut all, mut bytes, mut host_programs) = (FlowEnergy::default(), 0, 0);
    for (index, (flow, one)) in summary.flows.iter_mut().zip(&spent).enumerate() {
        let written = flow.completed_in_window.bytes.write;
        let programs = window.work(index).host_programs;
        flow.wear = Some(book.wear(one, programs, written));
        all.programs += one.programs;
        all.erases += one.erases;
        bytes += written;
        host_programs += programs;
    }
    let flash = &summary.flash;
    let erased = flash.erases == all.erases;
    let counted = flash.user_programs + flash.gc_programs + flash.mapping_programs;
    assert!(erased && counted == all.programs, "tenants sum to the drive");
    summary.wear = Some(book.wear(&all, host_programs, bytes));
    if let Some((flows, drive)) = energies(&spent, device.energy.idle_power, window.length()) {
        for (flow, energy) in summary.flows.iter_mut().zip(flows) {
            flow.energy = Some(energy);
        }
        summary.energy = Some(drive);
    }
}

/// Energy of each flow and of the drive, with idle energy. `None` where it does not fit.
fn energies(
    spent: &[FlowEnergy],
    idle_power: Power,
    window_ps: u64,
) -> Option<(Vec<EnergySummary>, EnergySummary)> {
    let idle = idle_parts(idle_power, window_ps, spent.len() as u64)?;
    let own = |(one, idle_pj): (&FlowEnergy, u64)| {
        one.energy.plus(&EnergySummary { idle_pj, ..EnergySummary::default() })
    };
    let flows = spent.iter().zip(idle).map(own).collect::<Option<Vec<_>>>()?;
    let drive = flows.iter().try_fold(EnergySummary::default(), |sum, one| sum.plus(one))?;
    Some((flows, drive))
}

/// Idle energy over a time, in equal parts. Unit: picojoules. `None` where it does not fit.
fn idle_parts(power: Power, window_ps: u64, parts: u64) -> Option<impl Iterator<Item = u64>> {
    let all = u64::try_from(u128::from(power.0) * u128::from(window_ps) / 1_000_000).ok()?;
    Some((0..parts).map(move |part| all / parts + u64::from(part < all % parts)))
}

/// Figures from which wear is computed, beside the expenses.
struct WearFigures {
    length_s: f64,
    all_programs: u64,
    /// Programs of hosts are counted in units, of which the flash programs this many at once.
    units_per_program: u32,
    /// Programs of the flash for a unit of several pages; otherwise 1.
    programs_per_unit: u32,
    logical_bytes: u64,
    /// What the flash programs at once: a page or a word line.
    program_bytes: u64,
    /// Programs for which the whole flash is rated.
    rated_programs: Option<f64>,
}

impl WearFigures {
    fn wear(&self, spent: &FlowEnergy, host_programs: u64, written_bytes: u64) -> WearSummary {
        let FlowEnergy { programs, erases, .. } = *spent;
        let over = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        let host_programs = host_programs as f64 * f64::from(self.programs_per_unit)
            / f64::from(self.units_per_program);
        let amplification = over(programs as f64, host_programs);
        let per_second = over(programs as f64, self.length_s);
        let written = over(written_bytes as f64 * DAY_S, self.length_s);
        WearSummary {
            programs,
            erases,
            share: over(programs as f64, self.all_programs as f64).unwrap_or(0.0),
            write_amplification: amplification,
            drive_writes_per_day: written.and_then(|bytes| over(bytes, self.logical_bytes as f64)),
            tbw: self.rated_programs.zip(amplification).and_then(|(rated, amplification)| {
                over(rated * self.program_bytes as f64 / 1e12, amplification)
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
        let parts: Vec<u64> =
            idle_parts(Power(1_000_000), 7_000_000, 3).expect("it fits").collect();
        assert_eq!(parts, [2_333_334, 2_333_333, 2_333_333]);
        assert_eq!(parts.iter().sum::<u64>(), 7_000_000);
    }

    #[test]
    fn more_than_64_bits_of_picojoules_are_left_out() {
        let (watt, month_ps) = (Power(1_000_000), 30 * 86_400 * 1_000_000_000_000_u64);
        let idle = [FlowEnergy::default(); 2];
        let (_, drive) = energies(&idle, Power(5_000_000), month_ps).expect("13 MJ fit");
        assert_eq!(drive.total_pj, 5 * month_ps);
        assert_eq!(energies(&idle, Power(8_000_000), month_ps), None, "21 MJ do not");
        let mut full = FlowEnergy::default();
        full.energy.reads_pj = u64::MAX;
        assert_eq!(energies(&[full.since(&full)], watt, 1), None, "a sum at its end is none");
    }

    #[test]
    fn years_and_terabytes_of_a_drive_that_is_written_once_a_day() {
        // A drive of 1000 pages of 4 KiB, 900 of them for hosts, rated for 365.25 cycles.
        let book = WearFigures {
            length_s: DAY_S,
            all_programs: 2_000,
            units_per_program: 1,
            programs_per_unit: 1,
            logical_bytes: 900 * 4_096,
            program_bytes: 4_096,
            rated_programs: Some(365_250.0),
        };
        let spent = FlowEnergy { programs: 1_000, erases: 15, ..FlowEnergy::default() };
        let wear = book.wear(&spent, 500, 450 * 4_096);
        assert_eq!((wear.programs, wear.erases, wear.share), (1_000, 15, 0.5));
        assert_eq!(wear.write_amplification, Some(2.0));
        assert_eq!(wear.drive_writes_per_day, Some(0.5));
        assert_eq!(wear.years_to_rated_wear, Some(1.0), "365.25 times a thousand pages a day");
        assert_eq!(wear.tbw, Some(365_250.0 * 4_096.0 / 1e12 / 2.0));
        let nothing = book.wear(&FlowEnergy::default(), 0, 0);
        assert_eq!((nothing.write_amplification, nothing.years_to_rated_wear), (None, None));
        let unrated = WearFigures { rated_programs: None, ..book }.wear(&spent, 500, 1);
        assert_eq!((unrated.tbw, unrated.years_to_rated_wear), (None, None));
    }
}
