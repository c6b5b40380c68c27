//! Channels and dies from the distances at which two reads conflict.
//!
//! Every geometry, with every order of addresses over channels, chips, dies and planes, gives a
//! pattern of distances. The drive may have any geometry that gives the measured pattern: a single
//! one, or a class of several that reads cannot distinguish.

use std::collections::BTreeMap;

use crate::battery::conflicts::PAIRS;
use crate::data::Measured;
use crate::series::{Request, Timing};

/// The resource that two reads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// Nothing.
    None,
    /// The channel.
    Channel,
    /// The die.
    Die,
}

/// The resources that pairs of reads share, by distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Conflicts from distance 1 on, in steps of one page.
    pub conflicts: Vec<Conflict>,
    /// True if pairs with a conflict at a channel can be distinguished from pairs without.
    pub shows_channels: bool,
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

    /// True if the letters of the order for numbers that are 1 come last, in the order "cwdp".
    /// Elsewhere they would mean the same.
    fn is_canonical(&self) -> bool {
        let size = |letter| match letter {
            'c' => self.channels,
            'w' => self.chips,
            'd' => self.dies,
            _ => self.planes,
        };
        let single: String = "cwdp".chars().filter(|letter| size(*letter) == 1).collect();
        self.order.ends_with(&single)
    }

    /// Channel, chip, die and plane of a page.
    fn place(&self, page: u64) -> [u64; 4] {
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
        at
    }

    /// True if a page lies on the same plane as the first page.
    #[must_use]
    pub fn on_first_plane(&self, page: u64) -> bool {
        self.place(page) == [0; 4]
    }

    /// Planes of the drive.
    #[must_use]
    pub fn all_planes(&self) -> u64 {
        u64::from(self.channels * self.dies_per_channel() * self.planes)
    }

    /// The resource that two pages at a distance share.
    fn conflict(&self, distance: u64, from: u64) -> Conflict {
        let (one, two) = (self.place(from), self.place(from + distance));
        match (one[..3] == two[..3], one[0] == two[0]) {
            (true, _) => Conflict::Die,
            (_, true) => Conflict::Channel,
            _ => Conflict::None,
        }
    }
}

/// A delay above this share of the longest delay shows a conflict at a die.
const DIE_SHARE: f64 = 0.3;
/// One in this many distances may differ from the pattern of a geometry.
const STRAYS: usize = 64;
/// This many more differing distances do not exclude a geometry.
const CHANCE: usize = 1;

/// The pattern of the pairs of `conflicts`; `None` if pairs of equal distance behave differently,
/// as on a drive that places data by the time of writing.
///
/// `page`: the page size in bytes.
#[must_use]
pub fn pattern(series: &[Measured], page: u64) -> Option<Pattern> {
    let ranks: Vec<_> = (0..PAIRS).map(|rank| delays(series, "small", rank, page)).collect();
    let large = delays(series, "large", 0, page);
    let steps = large.len();
    if steps < 4 || ranks[0].len() != steps {
        return None;
    }
    let longest = ranks[0].iter().copied().fold(0.0, f64::max);
    let is_die = |delay: f64| delay > DIE_SHARE * longest;
    let mut strays = 0;
    let mut dies = Vec::new();
    for step in 0..steps {
        let votes = ranks.iter().filter_map(|delays| delays.get(step)).map(|delay| is_die(*delay));
        let (yes, no): (Vec<bool>, Vec<bool>) = votes.partition(|met| *met);
        strays += usize::from(!yes.is_empty() && !no.is_empty());
        dies.push(yes.len() > no.len());
    }
    if strays * STRAYS > steps {
        return None;
    }
    let others = large.iter().zip(&dies).filter(|(_, die)| !**die).map(|(delay, _)| *delay);
    let others: Vec<f64> = others.collect();
    // If nearly all pairs wait, it is for something else: the link, or the only channel.
    let waits = |at: &f64| others.iter().filter(|delay| *delay > at).count();
    let from = split(others.clone()).filter(|at| waits(at) * 4 <= others.len() * 3);
    let conflict = |(&delay, &die): (&f64, &bool)| match (die, from.is_some_and(|at| delay > at)) {
        (true, _) => Conflict::Die,
        (_, true) => Conflict::Channel,
        _ => Conflict::None,
    };
    let conflicts = large.iter().zip(&dies).map(conflict).collect();
    Some(Pattern { conflicts, shows_channels: from.is_some() })
}

/// Delay of the two reads of each pair against each alone, from distance 1 on, in steps of one
/// page. Unit: microseconds.
fn delays(series: &[Measured], name: &str, rank: usize, page: u64) -> Vec<f64> {
    let us = |timing: &Timing| timing.latency.as_us();
    let mut alone = BTreeMap::new();
    for one in series.iter().filter(|one| one.series.name.starts_with(&format!("{name}-alone"))) {
        let requests = one.series.requests.iter().zip(&one.timings);
        alone.extend(requests.map(|(request, timing)| (request.offset, us(timing))));
    }
    let wanted = format!("{name}-{rank}");
    let Some(pairs) = series.iter().find(|one| one.series.name == wanted) else { return vec![] };
    let delay = |(requests, timings): (&[Request], &[Timing])| {
        let whole = requests[1].offset.abs_diff(requests[0].offset) % page == 0;
        let expected = alone.get(&requests[0].offset)? + alone.get(&requests[1].offset)?;
        let together: f64 = timings.iter().map(us).sum();
        whole.then_some(together - expected)
    };
    pairs
        .series
        .requests
        .chunks_exact(2)
        .zip(pairs.timings.chunks_exact(2))
        .filter_map(delay)
        .collect()
}

/// The border between two groups of delays; `None` if there are no two groups.
fn split(mut delays: Vec<f64>) -> Option<f64> {
    delays.sort_by(f64::total_cmp);
    let (low, high) = (*delays.first()?, *delays.last()?);
    let gaps = delays.windows(2).map(|two| (two[1] - two[0], f64::midpoint(two[0], two[1])));
    let widest = gaps.max_by(|one, two| one.0.total_cmp(&two.0))?;
    (widest.0 > 0.3 * (high - low) && high > low * 1.1 + 0.05).then_some(widest.1)
}

/// Every geometry that gives a pattern, simplest first: as few dies in a chip and planes in a die
/// as there can be.
#[must_use]
pub fn candidates(pattern: &Pattern) -> Vec<Geometry> {
    let most = pattern.conflicts.len();
    let mut allowed = most / STRAYS;
    let mut found = Vec::new();
    for channels in 1..=32 {
        for chips in 1..=32 {
            for (dies, planes) in PARTS {
                if 2 * channels * chips * dies * planes > most as u32 {
                    continue;
                }
                for order in ORDERS {
                    let order = order.to_owned();
                    let geometry = Geometry { channels, chips, dies, planes, order };
                    if geometry.is_canonical()
                        && let Some(strays) = strays(&geometry, pattern, allowed)
                    {
                        allowed = allowed.min(strays + CHANCE);
                        found.push((strays, geometry));
                    }
                }
            }
        }
    }
    found.retain(|(strays, _)| *strays <= allowed);
    found.sort_by_key(|(_, one)| (one.dies, one.planes));
    found.into_iter().map(|(_, geometry)| geometry).collect()
}

/// The number of distances at which a pattern differs from that of a geometry, from a base at the
/// start of a round over the whole geometry; `None` if there are more than allowed.
fn strays(geometry: &Geometry, pattern: &Pattern, allowed: usize) -> Option<usize> {
    let mut strays = 0;
    for (at, &measured) in pattern.conflicts.iter().enumerate() {
        let mut predicted = geometry.conflict(at as u64 + 1, 0);
        if predicted == Conflict::Channel && !pattern.shows_channels {
            predicted = Conflict::None;
        }
        strays += usize::from(predicted != measured);
        if strays > allowed {
            return None;
        }
    }
    Some(strays)
}

/// Combinations of dies of a chip and planes of a die that are tried.
const PARTS: [(u32, u32); 20] = {
    let (sizes, planes) = ([1, 2, 4, 8, 16], [1, 2, 4, 8]);
    let mut parts = [(0, 0); 20];
    let mut at = 0;
    while at < parts.len() {
        parts[at] = (sizes[at / 4], planes[at % 4]);
        at += 1;
    }
    parts
};

/// Orders of channel, chip ("way"), die and plane, as `ftl.allocation` names them.
const ORDERS: [&str; 24] = [
    "cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd", "wdcp", "wdpc", "wpcd", "wpdc",
    "dcwp", "dcpw", "dwcp", "dwpc", "dpcw", "dpwc", "pcwd", "pcdw", "pwcd", "pwdc", "pdcw", "pdwc",
];
