//! Channels and dies from the distances at which two reads meet.
//!
//! Every geometry and every order in which addresses go over channels, chips, dies and planes makes
//! a pattern of distances. Those that make the measured one are what the drive may be: one, or a
//! class of several that reads cannot tell apart.

use crate::data::Measured;
use crate::series::Timing;

/// What two reads have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// Nothing.
    None,
    /// The channel.
    Channel,
    /// The die.
    Die,
}

/// What pairs of reads have in common, by distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// From distance 0 on, one page each.
    pub conflicts: Vec<Conflict>,
    /// After so many pages it repeats itself. Unit: pages.
    pub period: usize,
}

/// A geometry, and the order in which addresses go over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Chips of a channel.
    pub chips: u32,
    /// Dies of a chip.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// The order, as a policy of `ftl.allocation`: `cwdp`.
    pub order: String,
}

impl Geometry {
    /// Dies on a channel.
    #[must_use]
    pub fn dies_per_channel(&self) -> u32 {
        self.chips * self.dies
    }

    /// Channel, die of the drive, of a page.
    fn place(&self, page: u64) -> (u64, u64) {
        let (mut left, mut at) = (page, [0; 4]);
        for letter in self.order.chars() {
            let (slot, size) = match letter {
                'c' => (0, self.channels),
                'w' => (1, self.chips),
                'd' => (2, self.dies),
                _ => (3, self.planes),
            };
            at[slot] = left % u64::from(size);
            left /= u64::from(size);
        }
        let chip = at[0] * u64::from(self.chips) + at[1];
        (at[0], chip * u64::from(self.dies) + at[2])
    }

    /// What two pages at a distance have in common.
    fn conflict(&self, distance: u64, from: u64) -> Conflict {
        let (one, two) = (self.place(from), self.place(from + distance));
        match (one.1 == two.1, one.0 == two.0) {
            (true, _) => Conflict::Die,
            (_, true) => Conflict::Channel,
            _ => Conflict::None,
        }
    }
}

/// A share of the longest delay beyond which two reads met at a die.
const DIE_SHARE: f64 = 0.3;

/// The pattern of the pairs of `conflicts`; `None` where there is none that repeats itself, as on a
/// drive that places data by the time of their writing.
///
/// `page` is the page size. Unit: bytes.
#[must_use]
pub fn pattern(series: &[Measured], page: u64) -> Option<Pattern> {
    let find = |name: &str| series.iter().find(|one| one.series.name == name);
    let mut agreed: Option<Vec<Conflict>> = None;
    for base in 0.. {
        let delays = |name: &str| {
            let pairs = find(&format!("{name}-{base}"))?;
            Some(delays(pairs, find(&format!("{name}-{base}-alone"))?))
        };
        let Some(small) = delays("small") else { break };
        let conflicts = classify(&small, &delays("large")?, page)?;
        if agreed.as_ref().is_some_and(|before| *before != conflicts) {
            return None;
        }
        agreed = Some(conflicts);
    }
    let conflicts = agreed?;
    let whole = |period: &usize| {
        let repeats = |at: usize| conflicts[at] == conflicts[at % period];
        (0..conflicts.len()).all(repeats)
    };
    let period = (1..=conflicts.len() / 2).find(whole)?;
    Some(Pattern { conflicts, period })
}

/// What the pairs of one base have in common. Distances that are no whole page are left out.
fn classify(small: &[(u64, f64)], large: &[(u64, f64)], page: u64) -> Option<Vec<Conflict>> {
    let longest = small.iter().map(|(_, delay)| *delay).fold(0.0, f64::max);
    let is_die = |delay: f64| delay > DIE_SHARE * longest;
    let others: Vec<f64> = large
        .iter()
        .zip(small)
        .filter(|(_, small)| !is_die(small.1))
        .map(|(large, _)| large.1)
        .collect();
    let channel_from = split(&others);
    let mut conflicts = vec![Conflict::Die];
    for (&(distance, delay), &(_, waited)) in small.iter().zip(large) {
        if distance % page != 0 {
            continue;
        }
        conflicts.push(match (is_die(delay), waited >= channel_from) {
            (true, _) => Conflict::Die,
            (_, true) => Conflict::Channel,
            _ => Conflict::None,
        });
    }
    (conflicts.len() >= 4).then_some(conflicts)
}

/// Distance of each pair, and how much longer its two reads took than each alone.
fn delays(pairs: &Measured, alone: &Measured) -> Vec<(u64, f64)> {
    let us = |timing: &Timing| timing.latency.as_us();
    let first = alone.timings.first().map_or(0.0, us);
    let requests = pairs.series.requests.chunks(2);
    requests
        .zip(pairs.timings.chunks(2))
        .zip(alone.timings.iter().skip(1))
        .map(|((requests, timings), second)| {
            let distance = requests[1].offset.abs_diff(requests[0].offset);
            let together: f64 = timings.iter().map(us).sum();
            (distance, together - first - us(second))
        })
        .collect()
}

/// Where delays fall apart into two groups; beyond all of them where they do not.
fn split(delays: &[f64]) -> f64 {
    let mut sorted = delays.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return f64::INFINITY };
    let gaps = sorted.windows(2).map(|two| (two[1] - two[0], f64::midpoint(two[0], two[1])));
    let widest = gaps.max_by(|one, two| one.0.total_cmp(&two.0)).unwrap_or((0.0, 0.0));
    match widest.0 > 0.5 * (high - low) && high > low * 1.1 + 0.05 {
        true => widest.1,
        false => f64::INFINITY,
    }
}

/// Every geometry that makes a pattern, the plainest first: as few dies in a chip and planes in a
/// die as there can be.
#[must_use]
pub fn candidates(pattern: &Pattern) -> Vec<Geometry> {
    let period = &pattern.conflicts[..pattern.period];
    let of_channel = period.iter().filter(|one| **one != Conflict::None).count() as u32;
    let channels = pattern.period as u32 / of_channel;
    let mut found = Vec::new();
    for planes in [1, 2, 4, 8] {
        for dies in [1, 2, 4, 8, 16] {
            for chips in 1..=64 {
                let dies_seen = chips * dies;
                // With planes that go last a period has each die once, else once for each plane.
                if dies_seen > of_channel || of_channel % dies_seen != 0 {
                    continue;
                }
                for order in ORDERS {
                    let order = order.to_owned();
                    let geometry = Geometry { channels, chips, dies, planes, order };
                    if makes(&geometry, pattern) {
                        found.push(geometry);
                    }
                }
            }
        }
    }
    found.sort_by_key(|one| (one.dies, one.planes));
    found
}

/// A geometry makes a pattern, from whichever page the pairs start.
fn makes(geometry: &Geometry, pattern: &Pattern) -> bool {
    let predicted = |distance: usize| geometry.conflict(distance as u64, 0);
    (0..pattern.conflicts.len()).all(|distance| pattern.conflicts[distance] == predicted(distance))
}

/// Orders of channel, chip ("way"), die and plane, as `ftl.allocation` names them.
const ORDERS: [&str; 24] = [
    "cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd", "wdcp", "wdpc", "wpcd", "wpdc",
    "dcwp", "dcpw", "dwcp", "dwpc", "dpcw", "dpwc", "pcwd", "pcdw", "pwcd", "pwdc", "pdcw", "pdwc",
];
