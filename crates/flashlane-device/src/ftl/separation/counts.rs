//! Three frontiers: pages that the host wrote often of late are hot.
//!
//! Each logical page has a counter of four bits, which every write of the host raises by one, up to
//! 15. After a number of writes all counters of a space are halved, so that older writes count
//! less. A page is hot if its counter is at least [`CountsConfig::hot`].
//!
//! Source: Hsieh, Kuo and Chang, "Efficient identification of hot data for flash memory storage
//! systems", ACM Transactions on Storage 2(1), 2006: counters of four bits, halved periodically,
//! hot if one of the two upper bits is set. There, hash functions share few counters among all
//! pages; here each page has a counter of its own. Reconstructed: the time between two halvings,
//! 1.25 writes for each page. The counter of an average page is then 1.25 to 2.5, so that it stays
//! cold, and a page that is written four times as often is hot.

use std::ops::Range;

use flashlane_units::{Lpa, PolicyDoc, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SeparationPolicy;

/// Largest count.
const MOST: u8 = 15;

/// Counts from which on a page may be hot.
pub const HOT: std::ops::RangeInclusive<u32> = 1..=MOST as u32;

/// Writes between two halvings, for each logical page.
pub const HALVE_AFTER: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// Parameters of counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CountsConfig {
    /// Writes of a page, of late, from which on it is hot. Range: 1..=15.
    pub hot: u32,
    /// The counts of a flow are halved after this many writes of the flow for each of its logical
    /// pages; with superblocks, those of all flows together. Range: 1 %..=10000 %.
    pub halve_after: Ratio,
}

impl Default for CountsConfig {
    fn default() -> Self {
        Self { hot: 4, halve_after: Ratio(1.25) }
    }
}

impl PolicyDoc for CountsConfig {
    const SUMMARY: &'static str = "three frontiers: one for pages that the host wrote at least \
        `hot` times of late, one for its other pages, one for pages that collection copies";
    const SOURCE: &'static str = "Hsieh, Kuo and Chang 2006, direct counters";
    const RECONSTRUCTED: bool = true;
}

/// Logical pages that are compared with each other.
#[derive(Clone, Debug)]
struct Space {
    pages: Range<u32>,
    /// Writes until the next halving.
    left: u64,
    /// Writes between two halvings.
    period: u64,
    /// Sum of the counters.
    sum: u64,
}

/// The policy.
#[derive(Clone)]
pub(super) struct Counts {
    hot: u8,
    /// By logical page. A drive would keep two counters in a byte.
    counts: Vec<u8>,
    /// In rising order of their pages.
    spaces: Vec<Space>,
}

impl Counts {
    pub(super) fn new(config: &CountsConfig, spaces: &[Range<u32>]) -> Self {
        let pages = spaces.last().map_or(0, |space| space.end);
        let space = |pages: &Range<u32>| {
            let period = (config.halve_after.0 * f64::from(pages.end - pages.start)) as u64;
            Space { pages: pages.clone(), left: period.max(1), period: period.max(1), sum: 0 }
        };
        let hot = config.hot as u8;
        assert!((1..=MOST).contains(&hot), "a page is hot after some of the counted writes");
        Self { hot, counts: vec![0; pages as usize], spaces: spaces.iter().map(space).collect() }
    }
}

impl Space {
    /// Halves the counters of the space.
    fn halve(&mut self, counts: &mut [u8]) {
        self.left = self.period;
        let counts = &mut counts[self.pages.start as usize..self.pages.end as usize];
        counts.iter_mut().for_each(|count| *count /= 2);
        self.sum = counts.iter().map(|&count| u64::from(count)).sum();
    }
}

impl SeparationPolicy for Counts {
    fn is_hot(&self, lpa: Lpa) -> bool {
        self.counts[lpa.index()] >= self.hot
    }

    fn written(&mut self, lpa: Lpa) {
        let at = self.spaces.partition_point(|space| space.pages.end <= lpa.get());
        let space = &mut self.spaces[at];
        assert!(space.pages.contains(&lpa.get()), "page {lpa} is one of a space");
        let count = &mut self.counts[lpa.index()];
        if *count < MOST {
            *count += 1;
            space.sum += 1;
        }
        space.left -= 1;
        if space.left == 0 {
            space.halve(&mut self.counts);
        }
    }

    fn audit(&self) {
        for Space { pages, left, period, sum } in &self.spaces {
            let counts = &self.counts[pages.start as usize..pages.end as usize];
            let found: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            assert_eq!(found, *sum, "the counts of writes add up");
            assert!(counts.iter().all(|&count| count <= MOST), "counts have four bits");
            assert!((1..=*period).contains(left), "counts are halved in time");
            // Each period counts, and halves what it found: the sum is below twice a period.
            assert!(*sum < 2 * *period, "counts of older writes are halved");
        }
    }
}
