//! Runs a scenario with all tenants, and without each of them in turn.

use flashlane::config::load::{self, Overrides, workload_from_toml};
use flashlane::config::units::Span;
use flashlane::config::validate::validate;
use flashlane::observe::{Blame, Observe};
use flashlane::{RunOptions, Warmup, simulate_in_detail};

use super::draw::Drawn;

/// What one tenant makes another lose, and what it is blamed for. Unit: microseconds a request.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) victim: usize,
    pub(crate) culprit: usize,
    pub(crate) shared: f64,
    pub(crate) without: f64,
    pub(crate) blamed: f64,
    /// The differences that neighbours make to this victim sum to no more than it waits. Only then
    /// can a row that sums to its waiting name all of them.
    pub(crate) fits: bool,
}

impl Pair {
    /// The victim loses more than a fifth to the other one.
    pub(crate) fn loses(&self) -> bool {
        self.without > 0.0 && self.shared > 1.2 * self.without
    }

    /// Blame over the difference.
    pub(crate) fn ratio(&self) -> f64 {
        self.blamed / (self.shared - self.without)
    }
}

/// Mean end-to-end times in microseconds, and blame if nobody is removed. `None`: the drive refuses
/// the scenario, or cannot finish it.
fn run(drawn: &Drawn, removed: Option<usize>) -> Option<(Vec<f64>, Option<Blame>)> {
    let overrides = Overrides { sets: drawn.sets.clone(), ..Overrides::default() };
    let device = load::device(drawn.preset, &overrides).ok()?.config;
    let workload = workload_from_toml(&drawn.workload, "drawn", &Overrides::default());
    let mut workload = workload.unwrap_or_else(|error| panic!("{error}")).config;
    let length = drawn.duration_us * 1_000_000;
    if let Some(removed) = removed {
        // The data of the tenant stay on the drive. The tenant starts when the others have ended.
        let flow = &mut workload.flows[removed];
        flow.starts_after = Some(Span(2 * length));
        flow.synthetic.as_mut().expect("all are synthetic").duration = Some(Span(1_000_000));
    }
    if !validate(&device, &workload).is_empty() {
        return None;
    }
    let observe = Observe { blame: removed.is_none(), ..Observe::default() };
    let warmup = Warmup::Time(length / 10);
    let options = RunOptions { threads: 1, warmup, observe, ..RunOptions::default() };
    let (summary, details) = simulate_in_detail(&device, &workload, &options, &|_| {}).ok()?;
    let means = summary.flows.iter().map(|flow| flow.end_to_end_us.mean).collect();
    Some((means, details.blame))
}

/// All pairs of a scenario, and how often it was refused.
pub(crate) fn pairs(drawn: &Drawn) -> Option<Vec<Pair>> {
    let (shared, blame) = run(drawn, None)?;
    let blame = blame.expect("it was asked for");
    let mut found = Vec::new();
    for culprit in 0..shared.len() {
        let (without, _) = run(drawn, Some(culprit))?;
        for victim in (0..shared.len()).filter(|&victim| victim != culprit) {
            let row = &blame.victims[victim];
            let cells: u128 = row.cells.iter().map(|cell| cell.ps).sum();
            assert_eq!(cells, row.waiting_ps, "rows sum to the picosecond");
            let ps = row.by_culprit(&blame.flows[culprit]) as f64;
            let blamed = ps / row.requests.max(1) as f64 / 1e6;
            let (shared, without) = (shared[victim], without[victim]);
            found.push(Pair { victim, culprit, shared, without, blamed, fits: true });
        }
    }
    for (victim, row) in blame.victims.iter().enumerate() {
        let waiting = row.waiting_ps as f64 / row.requests.max(1) as f64 / 1e6;
        let of = found.iter().filter(|pair| pair.victim == victim);
        let all: f64 = of.map(|pair| (pair.shared - pair.without).max(0.0)).sum();
        found.iter_mut().filter(|p| p.victim == victim).for_each(|p| p.fits = all <= waiting);
    }
    Some(found)
}
