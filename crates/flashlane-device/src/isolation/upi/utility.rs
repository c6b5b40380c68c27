//! Equations 1 to 3 of UPI and its allocation step, over the counts of one window.

use flashlane_units::ChipId;

use super::config::FewestReads;
use super::sets::Sets;

/// Counts of a window, and the constants of the equations.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Host page reads, by flow and chip: `Nr`.
    pub(super) reads: Vec<f64>,
    /// Pages that each flow programs in a window, `Nw * WAF`.
    pub(super) programs: Vec<f64>,
    /// Share of a window that a page read takes, `tau_r / T`.
    pub(super) read_time: f64,
    /// Share of a window that a program takes, `tau_p / T`.
    pub(super) program_time: f64,
    /// Traffic beyond which a chip counts as overloaded.
    pub(super) traffic_limit: f64,
    /// Exponent on the idle share of a chip, by flow.
    pub(super) traffic_exponents: Vec<f64>,
    /// Exponent on the reads.
    pub(super) read_exponent: f64,
}

impl Counts {
    fn reads_of(&self, flow: usize, chips: usize) -> &[f64] {
        &self.reads[flow * chips..(flow + 1) * chips]
    }

    /// Assumes one page read from each chip of its set for a flow that reads nothing, or whose mean
    /// reads have faded so far that their weights are zero. Otherwise its utility would be 0/0, and
    /// it would give everything away. [ours]
    pub(super) fn assume_reads(&mut self, sets: &Sets) {
        let chips = sets.chips();
        for flow in 0..self.programs.len() {
            let faded = |&reads: &f64| {
                reads == 0.0 || libm::pow(reads, self.read_exponent) < f64::MIN_POSITIVE
            };
            if self.reads_of(flow, chips).iter().all(faded) {
                for chip in sets.all().filter(|&chip| sets.holds(flow, chip)) {
                    self.reads[flow * chips + chip.index()] = 1.0;
                }
            }
        }
    }

    /// `Np(t, c, S)`: equation 3.
    pub(super) fn programs_on(&self, flow: usize, chip: ChipId, sets: &Sets) -> f64 {
        if sets.holds(flow, chip) { self.programs[flow] / sets.size(flow) as f64 } else { 0.0 }
    }

    /// `Traffic(c, S)`: equation 2, without a limit.
    pub(super) fn traffic(&self, chip: ChipId, sets: &Sets) -> f64 {
        (0..self.programs.len())
            .map(|flow| {
                self.reads[flow * sets.chips() + chip.index()] * self.read_time
                    + self.programs_on(flow, chip, sets) * self.program_time
            })
            .sum()
    }

    /// `1 - Traffic`; beyond the limit a value that continues to fall but stays above zero. [ours]
    fn idle(&self, traffic: f64) -> f64 {
        let limit = self.traffic_limit;
        if traffic <= limit { 1.0 - traffic } else { (1.0 - limit) * limit / traffic }
    }

    /// `Util(t, S)` of every flow: equation 1, with the exponents of section 5.
    pub(super) fn utilities(&self, sets: &Sets) -> Vec<f64> {
        let idle: Vec<f64> = sets.all().map(|chip| self.idle(self.traffic(chip, sets))).collect();
        (0..self.programs.len())
            .map(|flow| {
                let exponent = self.traffic_exponents[flow];
                let (mut reads, mut delayed) = (0.0, 0.0);
                for (&count, &idle) in self.reads_of(flow, sets.chips()).iter().zip(&idle) {
                    if count > 0.0 {
                        let weight = libm::pow(count, self.read_exponent);
                        reads += weight;
                        delayed += weight / libm::pow(idle, exponent);
                    }
                }
                reads / delayed
            })
            .collect()
    }
}

/// A chip that changes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    pub(super) chip: ChipId,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Rules of the allocation step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepRules {
    pub(super) hysteresis: f64,
    pub(super) settle: bool,
    pub(super) fewest_reads: FewestReads,
}

/// The transfer of section 3.2, if its guard allows it. The flow with the largest utility gives its
/// chip with the fewest reads to the flow with the smallest utility. A flow with a single chip has
/// none to give, and the next flow gives one instead; otherwise a flow whose utility is always the
/// largest would stop all transfers. [ours]
///
/// `pages`: valid pages of a chip, which decide between chips with equal reads. [ours]
pub(super) fn step(
    counts: &Counts,
    sets: &Sets,
    rules: StepRules,
    pages: impl Fn(ChipId) -> u64,
) -> Option<Transfer> {
    let utilities = counts.utilities(sets);
    let flows = 0..utilities.len();
    let by_utility = |&a: &usize, &b: &usize| utilities[a].total_cmp(&utilities[b]).then(b.cmp(&a));
    let from = flows.clone().filter(|&flow| sets.own(flow) > 1).max_by(by_utility)?;
    let to = flows.min_by(|a, b| utilities[*a].total_cmp(&utilities[*b]))?;
    if from == to {
        return None;
    }
    assert!(utilities[from] >= utilities[to], "the best off gives: {utilities:?}");
    let chips = sets.chips();
    let of = |flow: usize, chip: ChipId| counts.reads[flow * chips + chip.index()];
    let read = |chip: ChipId| -> f64 {
        match rules.fewest_reads {
            FewestReads::Own => of(from, chip),
            FewestReads::All => (0..utilities.len()).map(|flow| of(flow, chip)).sum(),
        }
    };
    let chip = sets.all().filter(|&chip| sets.is_owner(from, chip)).min_by(|&a, &b| {
        read(a).total_cmp(&read(b)).then(pages(a).cmp(&pages(b))).then(a.cmp(&b))
    })?;
    let mut after = sets.clone();
    after.transfer(chip, to);
    debug_assert_eq!(after.own(from) + 1, sets.own(from), "one chip changes hands");
    let expected = counts.utilities(&after);
    if expected[from] < (1.0 + rules.hysteresis) * utilities[to] {
        return None;
    }
    let lowest = expected.iter().copied().fold(f64::INFINITY, f64::min);
    let rises = lowest > utilities[to] * (1.0 + 1e-9);
    (rises || !rules.settle).then_some(Transfer { chip, from, to })
}

#[cfg(test)]
#[path = "utility_tests.rs"]
mod tests;
