//! Blame against runs alone, over all seeds that have both.
//!
//! Most runs of the swarm are far too short to tell the difference that others make in one of them.
//! So each victim that lost enough is kept, and the middle one of many has to be right.

use std::sync::Mutex;

use flashlane::metrics::Summary;
use flashlane::observe::Blame;

/// Counted requests of a victim that tell something.
const REQUESTS_MIN: u64 = 100;

/// Victims that tell something together. Where each is off by 30 % either way at random, the middle
/// one of so many is off by less than `OFF_MAX` in all but one of 10,000 cases.
const VICTIMS_MIN: usize = 20;

/// How far the middle one may be off.
const OFF_MAX: f64 = 0.3;

/// What others are blamed for, over the difference that they make.
static RATIOS: Mutex<Vec<f64>> = Mutex::new(Vec::new());

/// Keeps the victims of a run that lost more than a fifth to all others together.
pub(crate) fn keep(summary: &Summary, blame: &Blame) {
    for (row, flow) in blame.victims.iter().zip(&summary.flows) {
        let (shared, alone) = (flow.end_to_end_us.mean, flow.alone_end_to_end_us.unwrap_or(0.0));
        if row.requests < REQUESTS_MIN || alone <= 0.0 || shared <= 1.2 * alone {
            continue;
        }
        let others = blame.flows.iter().filter(|&name| *name != row.flow);
        let ps: u128 = others.map(|name| row.by_culprit(name)).sum();
        let blamed = ps as f64 / row.requests as f64 / 1e6;
        RATIOS.lock().expect("no panic").push(blamed / (shared - alone));
    }
}

/// All seeds are over.
pub(crate) fn report() {
    let mut ratios = RATIOS.lock().expect("no panic");
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios.get(((ratios.len() as f64 - 1.0) * share) as usize);
    let quarters = [0.25, 0.5, 0.75].map(at);
    println!("blame over difference of {} victims, by quarters: {quarters:.2?}", ratios.len());
    if let Some(median) = at(0.5).filter(|_| ratios.len() >= VICTIMS_MIN) {
        assert!((median - 1.0).abs() <= OFF_MAX, "blame is off: {median} of the difference");
    }
}
