//! Distributions of request addresses.

use flashlane_engine::{Rng, Time};

use super::footprint::Footprint;
use super::scatter::{Scatter, mix};
use super::zipf::Zipf;
use crate::config::AddressConfig;
use flashlane_device::layout::SECTOR_BYTES;

/// The address distribution of a synthetic flow.
#[derive(Clone, Debug)]
pub(crate) struct AddressDraw {
    shape: Shape,
    /// End of the sectors that may be touched. Unit: sectors.
    limit: u64,
    /// Request starts are multiples of this. Unit: sectors.
    align: u64,
    /// Next start of the stream. Unit: sectors.
    stream: u64,
    /// Distance that the stream has gone in its past; `None` in a run. Unit: sectors.
    gone: Option<u64>,
    /// The last range of starts. Requests of one size need the same range.
    starts: Starts,
}

/// A range of starts.
#[derive(Clone, Copy, Debug)]
struct Starts {
    /// Size of the range. Unit: sectors.
    room: u64,
    /// Number of aligned starts in the range.
    count: u64,
}

#[derive(Clone, Debug)]
enum Shape {
    Uniform,
    Streaming,
    HotCold {
        hot: u64,
        traffic: f64,
    },
    Zipf {
        ranks: Zipf,
        scatter: Scatter,
        extent: u64,
    },
    /// `phase`: length of a round of streaming and uniform draws; 0 if each request draws its kind.
    Mixed {
        streaming: f64,
        wraps: u64,
        phase: u64,
    },
    /// Every block once a round. `fresh`: each round has another order.
    Permutation(Permutation),
}

/// Position in an order of all blocks that needs no memory.
#[derive(Clone, Debug)]
struct Permutation {
    order: Scatter,
    key: u64,
    fresh: bool,
    /// Number of blocks of the round so far, and number of rounds so far.
    next: u64,
    round: u64,
}

impl Permutation {
    fn new(blocks: u64, key: u64, fresh: bool) -> Self {
        Self { order: Scatter::new(blocks, key), key, fresh, next: 0, round: 0 }
    }

    /// The next block out of `blocks`.
    fn next(&mut self, blocks: u64) -> u64 {
        if blocks != self.order.count() {
            *self = Self::new(blocks, self.key, self.fresh);
        } else if self.next == blocks {
            (self.next, self.round) = (0, self.round + 1);
            if self.fresh {
                self.order = Scatter::new(blocks, self.key ^ mix(self.round));
            }
        }
        self.next += 1;
        self.order.at(self.next - 1)
    }
}

impl AddressDraw {
    /// The distribution of `config` over the sectors `0..limit`; `align` in sectors, at least 1.
    /// `rng` decides the start of the stream and the order of the extents.
    pub(crate) fn new(config: &AddressConfig, limit: u64, align: u64, rng: &mut Rng) -> Self {
        assert!(limit > 0, "a flow needs space");
        assert!(align > 0, "addresses are multiples of something");
        let shape = match config {
            AddressConfig::Uniform => Shape::Uniform,
            AddressConfig::Streaming => Shape::Streaming,
            AddressConfig::HotCold(c) => Shape::HotCold {
                hot: share_of(limit, c.hot_region.0).max(1).next_multiple_of(align).min(limit),
                traffic: c.hot_traffic.0,
            },
            AddressConfig::Zipf(c) => {
                let extent = c.extent.0.div_ceil(SECTOR_BYTES).max(1).next_multiple_of(align);
                let count = limit.div_ceil(extent);
                let scatter = Scatter::new(count, rng.next_u64());
                Shape::Zipf { ranks: Zipf::new(count, c.theta), scatter, extent }
            }
            AddressConfig::Mixed(c) => Shape::Mixed {
                streaming: c.streaming.0,
                wraps: share_of(limit, c.stream_space.0).max(align).min(limit),
                phase: c.phase.map_or(0, |span| span.0),
            },
            AddressConfig::Permutation | AddressConfig::Permutations => {
                let fresh = matches!(config, AddressConfig::Permutations);
                Shape::Permutation(Permutation::new(1, rng.next_u64(), fresh))
            }
        };
        let wraps = if let Shape::Mixed { wraps, .. } = shape { wraps } else { limit };
        let stream = rng.below(wraps.div_ceil(align)) * align;
        Self { shape, limit, align, stream, gone: None, starts: Starts { room: 0, count: 1 } }
    }

    /// Makes this the past of a stream, which begins `back` sectors before its start and reaches it
    /// after that distance. It wraps in its space, cut to whole alignments.
    pub(crate) fn diverge(&mut self, back: u64) {
        if let Shape::Permutation(permutation) = &mut self.shape {
            // A different round for the past, so that the run does not repeat it block by block.
            permutation.round = u64::MAX / 2;
            permutation.order = Scatter::new(permutation.order.count(), mix(!permutation.key));
            return;
        }
        let space = match self.shape {
            Shape::Mixed { wraps, .. } => wraps,
            _ => self.limit,
        };
        let round = space.next_multiple_of(self.align);
        self.stream = (self.stream + round - back % round) % round;
        self.gone = Some(0);
    }

    /// Distance that the stream has gone since [`AddressDraw::diverge`]. Unit: sectors.
    pub(crate) fn gone(&self) -> u64 {
        self.gone.unwrap_or(0)
    }

    /// Start of the next request, if it has the size of the last one. Unit: sectors.
    #[inline]
    pub(crate) fn foresee(&self, sectors: u64, rng: &Rng) -> Option<u64> {
        let known = matches!(self.shape, Shape::Uniform)
            && self.limit.checked_sub(sectors) == Some(self.starts.room);
        known.then(|| rng.clone().below(self.starts.count) * self.align)
    }

    /// Start of a request that arrives at `now`, and the part of its size that fits there. Unit:
    /// sectors.
    pub(crate) fn draw(&mut self, sectors: u64, now: Time, rng: &mut Rng) -> (u64, u64) {
        let sectors = sectors.min(self.limit);
        if let Shape::Permutation(permutation) = &mut self.shape {
            let block = sectors.next_multiple_of(self.align);
            let blocks = (self.limit / block).max(1);
            let start = permutation.next(blocks) * block;
            return (start.min(self.limit - sectors), sectors);
        }
        let start = match self.shape {
            Shape::Permutation(_) => 0,
            Shape::Uniform => self.within(0, self.limit, sectors, rng),
            Shape::Streaming => self.next_of_stream(sectors, self.limit),
            Shape::Mixed { streaming, wraps, phase } => {
                let streams = match now.0.checked_rem(phase) {
                    None => rng.unit() < streaming,
                    Some(into) => (into as f64) < streaming * phase as f64,
                };
                if streams {
                    self.next_of_stream(sectors, wraps)
                } else {
                    self.within(0, self.limit, sectors, rng)
                }
            }
            Shape::HotCold { hot, traffic } => {
                if rng.unit() < traffic || hot == self.limit {
                    self.within(0, hot, sectors, rng)
                } else {
                    self.within(hot, self.limit, sectors, rng)
                }
            }
            Shape::Zipf { ref ranks, ref scatter, extent } => {
                let first = scatter.at(ranks.draw(rng)) * extent;
                self.within(first, (first + extent).min(self.limit), sectors, rng)
            }
        };
        debug_assert!(start + sectors <= self.limit, "{start} + {sectors} > {}", self.limit);
        (start, sectors)
    }

    /// A uniform aligned start between `from` (aligned) and `to`, such that the request ends at
    /// `to` or before. If that is impossible, the last start that fits into the space.
    #[inline(always)]
    fn within(&mut self, from: u64, to: u64, sectors: u64, rng: &mut Rng) -> u64 {
        let room = (to - from).saturating_sub(sectors);
        if room != self.starts.room {
            self.starts = Starts { room, count: room / self.align + 1 };
        }
        let start = from + rng.below(self.starts.count) * self.align;
        let last = self.limit - sectors;
        if start <= last { start } else { last - last % self.align }
    }

    /// The next start of the stream, which wraps at `wraps`.
    fn next_of_stream(&mut self, sectors: u64, wraps: u64) -> u64 {
        if let Some(gone) = &mut self.gone {
            let step = sectors.next_multiple_of(self.align);
            *gone += step;
            let last = wraps.saturating_sub(sectors) / self.align * self.align;
            let start = self.stream.min(last);
            self.stream = (self.stream + step) % wraps.next_multiple_of(self.align);
            return start;
        }
        let start = if self.stream + sectors <= wraps { self.stream } else { 0 };
        self.stream = start + sectors.next_multiple_of(self.align);
        start
    }

    /// End of the sectors that may be touched. Unit: sectors.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The part of the space that the draws touch.
    pub(crate) fn footprint(&self, space_sectors: u64) -> Footprint {
        match &self.shape {
            Shape::Streaming => Footprint::Streaming { sectors: self.limit },
            &Shape::HotCold { hot, traffic } => Footprint::HotCold {
                hot_sectors: hot,
                total_sectors: self.limit,
                hot_traffic: traffic,
            },
            _ if self.limit == space_sectors => Footprint::Whole,
            _ => Footprint::Prefix { sectors: self.limit },
        }
    }
}

/// A share of a number of sectors, rounded down. The tiny term keeps exact products exact.
pub(crate) fn share_of(sectors: u64, share: f64) -> u64 {
    ((sectors as f64 * share + 1e-6) as u64).min(sectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{HotColdConfig, MixedConfig, ZipfConfig};
    use flashlane_units::{ByteSize, Ratio, Span};

    fn draw(config: &AddressConfig, limit: u64, align: u64) -> (AddressDraw, Rng) {
        let mut rng = Rng::stream(5, "test.address", 0);
        (AddressDraw::new(config, limit, align, &mut rng), rng)
    }

    #[test]
    fn a_stream_goes_on_and_wraps() {
        let (mut address, mut rng) = draw(&AddressConfig::Streaming, 1000, 8);
        let mut expected = address.stream;
        for _ in 0..500 {
            let (start, sectors) = address.draw(12, Time::ZERO, &mut rng);
            assert_eq!(sectors, 12);
            assert_eq!(start, if expected + 12 <= 1000 { expected } else { 0 });
            expected = start + 16;
        }
    }

    #[test]
    fn the_past_of_a_stream_ends_where_the_stream_begins() {
        for (limit, align, sizes) in
            [(1000, 8, [8, 8, 8]), (1001, 8, [3, 12, 40]), (96, 1, [7, 5, 9])]
        {
            let (begins, mut rng) = draw(&AddressConfig::Streaming, limit, align);
            let mut first = begins.clone();
            first.diverge(0);
            let take = |address: &mut AddressDraw, rng: &mut Rng| -> Vec<(u64, u64)> {
                let sizes = sizes.iter().cycle().take(100);
                sizes.map(|&size| address.draw(size, Time::ZERO, rng)).collect()
            };
            take(&mut first, &mut rng);
            let mut past = begins.clone();
            past.diverge(first.gone());
            let (start, sectors) = take(&mut past, &mut rng)[99];
            assert_eq!(past.stream, begins.stream, "the run goes on where the past ends");
            let ends = (start + sectors).next_multiple_of(align);
            assert!(ends == begins.stream || begins.stream < 48, "{ends} {}", begins.stream);
            assert_eq!(past.gone(), first.gone(), "from wherever it comes");
        }
    }

    #[test]
    fn a_mixed_stream_wraps_in_its_part_of_the_space() {
        let config = AddressConfig::Mixed(MixedConfig {
            streaming: Ratio(1.0),
            stream_space: Ratio(0.1),
            phase: None,
        });
        let (mut address, mut rng) = draw(&config, 10_000, 8);
        let starts: Vec<u64> = (0..250).map(|_| address.draw(8, Time::ZERO, &mut rng).0).collect();
        assert!(starts.iter().all(|start| start + 8 <= 1000));
        assert_eq!(starts[..125], starts[125..], "a round of 125 requests repeats");
    }

    #[test]
    fn a_mixed_flow_streams_for_its_part_of_each_phase() {
        let config = AddressConfig::Mixed(MixedConfig {
            streaming: Ratio(0.25),
            stream_space: Ratio(0.01),
            phase: Some(Span(1000)),
        });
        let (mut address, mut rng) = draw(&config, 100_000, 8);
        let streamed = |address: &mut AddressDraw, rng: &mut Rng, from: u64| {
            (from..from + 250).filter(|&t| address.draw(8, Time(t), rng).0 < 1000).count()
        };
        for phase in [0, 1000, 7000] {
            assert_eq!(streamed(&mut address, &mut rng, phase), 250);
            assert!(streamed(&mut address, &mut rng, phase + 250) < 20);
            assert!(streamed(&mut address, &mut rng, phase + 750) < 20);
        }
    }

    #[test]
    fn hot_and_cold_get_their_shares() {
        let config = AddressConfig::HotCold(HotColdConfig {
            hot_region: Ratio(0.1),
            hot_traffic: Ratio(0.8),
        });
        let (mut address, mut rng) = draw(&config, 100_000, 8);
        let n = 50_000;
        let hot = (0..n).filter(|_| address.draw(8, Time::ZERO, &mut rng).0 < 10_000).count();
        assert!((hot as f64 / f64::from(n) - 0.8).abs() < 0.01, "{hot}");
        let footprint = address.footprint(100_000);
        let (hot_sectors, total_sectors, hot_traffic) = (10_000, 100_000, 0.8);
        assert_eq!(footprint, Footprint::HotCold { hot_sectors, total_sectors, hot_traffic });
    }

    #[test]
    fn a_permutation_visits_every_block_once_a_round() {
        for (config, same) in
            [(AddressConfig::Permutation, true), (AddressConfig::Permutations, false)]
        {
            for (limit, size) in [(8 * 1000, 8), (8 * 1000 + 7, 8), (8 * 999, 24), (8, 8)] {
                let (mut address, mut rng) = draw(&config, limit, 8);
                let blocks = (limit / size) as usize;
                let mut round = || -> Vec<u64> {
                    (0..blocks).map(|_| address.draw(size, Time::ZERO, &mut rng).0).collect()
                };
                let rounds = [round(), round(), round()];
                for round in &rounds {
                    let mut sorted = round.clone();
                    sorted.sort_unstable();
                    let all: Vec<u64> = (0..blocks as u64).map(|block| block * size).collect();
                    assert_eq!(sorted, all, "{limit} {size}");
                }
                assert_eq!(rounds[0] == rounds[1], same || blocks == 1);
                assert_eq!(rounds[1] == rounds[2], same || blocks == 1);
                assert!(blocks < 10 || rounds[0].windows(2).any(|pair| pair[0] > pair[1]));
            }
        }
    }

    #[test]
    fn requests_larger_than_their_region_still_fit_the_space() {
        let zipf = ZipfConfig { theta: 1.0, extent: ByteSize(4096) };
        let mixed = MixedConfig { streaming: Ratio(0.5), stream_space: Ratio(0.3), phase: None };
        let hot = HotColdConfig { hot_region: Ratio(0.01), hot_traffic: Ratio(0.5) };
        for config in [
            AddressConfig::Uniform,
            AddressConfig::Streaming,
            AddressConfig::Zipf(zipf),
            AddressConfig::Mixed(mixed),
            AddressConfig::HotCold(hot),
            AddressConfig::Permutation,
        ] {
            for limit in [1, 7, 8, 9, 100, 1001] {
                let (mut address, mut rng) = draw(&config, limit, 8);
                for size in 1..300 {
                    let (start, sectors) = address.draw(size, Time::ZERO, &mut rng);
                    assert_eq!(sectors, size.min(limit));
                    assert!(start + sectors <= limit);
                    assert_eq!(start % 8, 0);
                }
            }
        }
    }
}
