//! How busy the parts of the drive were, and which tenant delayed which, between two looks at the
//! drive.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use flashlane::metrics::Summary;
use flashlane::observe::{Blame, BlameVictim};

/// Looks that are kept are so far apart, in real time.
const APART: Duration = Duration::from_secs(4);

/// The time that a change is to be over, in real time.
const MINUTE: Duration = Duration::from_secs(60);

/// A look at the drive: sums from the start.
#[derive(Clone)]
struct Frame {
    when: Instant,
    /// Simulated time. Unit: seconds.
    at_s: f64,
    /// Time in which each channel was busy. Unit: seconds.
    channels: Vec<f64>,
    /// Time in which each chip was busy. Unit: seconds.
    chips: Vec<f64>,
    blame: Option<Blame>,
}

impl Frame {
    fn of(when: Instant, summary: &Summary, blame: Option<Blame>) -> Self {
        let at_s = summary.window_end_s - summary.window_start_s;
        let busy = |share: f64| share * at_s;
        Self {
            when,
            at_s,
            channels: summary.channels.iter().map(|it| busy(it.busy_fraction)).collect(),
            chips: summary.chips.iter().map(|it| busy(it.busy_fraction)).collect(),
            blame,
        }
    }
}

/// Time that a tenant waited for one culprit and one cause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wait {
    pub(super) culprit: String,
    pub(super) cause: String,
    /// Share of the response time of the tenant's commands. Range: 0..=1.
    pub(super) share: f64,
}

/// What happened between two looks.
#[derive(Debug, PartialEq)]
pub(super) struct Change {
    /// Real time between the looks.
    pub(super) real: Duration,
    /// Share of the time in which each channel was busy.
    pub(super) channels: Vec<f64>,
    /// Share of the time in which each chip was busy.
    pub(super) chips: Vec<f64>,
    /// The waits of each tenant, longest first, without those of 0; `None` without blame.
    pub(super) waits: Option<Vec<Vec<Wait>>>,
}

/// Looks at the drive in the last minutes.
pub(super) struct Frames(VecDeque<Frame>);

impl Frames {
    /// The first look is at an unused drive.
    pub(super) fn new(now: Instant) -> Self {
        let (channels, chips) = (Vec::new(), Vec::new());
        Self([Frame { when: now, at_s: 0.0, channels, chips, blame: None }].into())
    }

    /// What happened since the look that is nearest to a minute ago.
    pub(super) fn change(
        &mut self,
        now: Instant,
        summary: &Summary,
        blame: Option<Blame>,
    ) -> Change {
        let frame = Frame::of(now, summary, blame);
        let age = |frame: &Frame| now.saturating_duration_since(frame.when);
        let nearest = self.0.iter().min_by_key(|frame| age(frame).abs_diff(MINUTE));
        let change = between(nearest.expect("the first look is there"), &frame);
        while self.0.len() > 1 && age(&self.0[1]) >= MINUTE {
            self.0.pop_front();
        }
        if self.0.back().is_none_or(|last| age(last) >= APART) {
            self.0.push_back(frame);
        }
        change
    }
}

fn between(before: &Frame, after: &Frame) -> Change {
    let passed = after.at_s - before.at_s;
    let shares = |before: &[f64], after: &[f64]| {
        let share = |(index, &busy): (usize, &f64)| {
            let busy = busy - before.get(index).copied().unwrap_or_default();
            if passed > 0.0 { (busy / passed).clamp(0.0, 1.0) } else { 0.0 }
        };
        after.iter().enumerate().map(share).collect()
    };
    let waits = |blame: &Blame| {
        let earlier = |index| before.blame.as_ref().and_then(|it| it.victims.get(index));
        let victims = blame.victims.iter().enumerate();
        victims.map(|(index, victim)| waits(earlier(index), victim)).collect()
    };
    Change {
        real: after.when.saturating_duration_since(before.when),
        channels: shares(&before.channels, &after.channels),
        chips: shares(&before.chips, &after.chips),
        waits: after.blame.as_ref().map(waits),
    }
}

fn waits(before: Option<&BlameVictim>, after: &BlameVictim) -> Vec<Wait> {
    let cells = before.map(|it| it.cells.as_slice()).unwrap_or_default();
    let earlier: BTreeMap<_, u128> =
        cells.iter().map(|it| ((&it.culprit, &it.cause), it.ps)).collect();
    let before_ps = before.map_or(0, |it| it.end_to_end_ps);
    let whole_ps = after.end_to_end_ps.saturating_sub(before_ps).max(1) as f64;
    let wait = |cell: &flashlane::observe::BlameCell| {
        let before = earlier.get(&(&cell.culprit, &cell.cause)).copied().unwrap_or_default();
        let share = cell.ps.saturating_sub(before) as f64 / whole_ps;
        let (culprit, cause) = (cell.culprit.clone(), cell.cause.clone());
        (share > 0.0).then(|| Wait { culprit, cause, share: share.min(1.0) })
    };
    let mut waits: Vec<Wait> = after.cells.iter().filter_map(wait).collect();
    waits.sort_by(|a, b| b.share.total_cmp(&a.share));
    waits
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::ChannelSummary;
    use flashlane::observe::BlameCell;

    fn summary(end_s: f64, busy_fraction: f64) -> Summary {
        let channels = vec![ChannelSummary { busy_fraction, ..ChannelSummary::default() }];
        Summary { window_end_s: end_s, channels, ..Summary::default() }
    }

    fn blame(end_to_end_ps: u128, ps: u128) -> Option<Blame> {
        let cell = BlameCell { culprit: "noisy".to_owned(), cause: "die".to_owned(), ps };
        let victim = BlameVictim { end_to_end_ps, cells: vec![cell], ..BlameVictim::default() };
        Some(Blame { victims: vec![victim], ..Blame::default() })
    }

    #[test]
    fn a_change_is_over_about_a_minute() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut frames = Frames::new(start);
        let first = frames.change(at(100), &summary(100.0, 0.5), blame(1000, 500));
        assert_eq!((first.real.as_secs(), &first.channels[..]), (100, &[0.5][..]));
        assert!((first.waits.expect("blame")[0][0].share - 0.5).abs() < 1e-9);
        // The channel is idle from then on, and nobody waits.
        for second in 101..=170 {
            let share = 50.0 / f64::from(second);
            let summary = summary(f64::from(second), share);
            let change = frames.change(at(second as u64), &summary, blame(2000, 500));
            assert!(change.real <= Duration::from_secs(110));
            if second > 140 {
                assert!(change.real >= Duration::from_secs(40) && change.channels[0] < 1e-9);
                assert_eq!(change.waits, Some(vec![Vec::new()]));
            }
        }
        assert!(frames.0.len() <= 18);
    }
}
