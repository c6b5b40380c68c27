//! Distributions of request addresses.

use flashlane_engine::{Rng, Time};

use super::footprint::Footprint;
use super::permutation::Permutation;
use super::scatter::Scatter;
use super::zipf::Zipf;
use super::zones::Zones;
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
    /// Hot and cold blocks of `align` sectors anywhere in the space: the first `hot` of `order`.
    HotAnywhere {
        hot: u64,
        traffic: f64,
        order: Scatter,
    },
    Zipf {
        ranks: Zipf,
        scatter: Scatter,
        extent: u64,
    },
    /// Each extent has the ranks of several out of `whole`.
    ScaledZipf {
        ranks: Zipf,
        whole: u64,
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
    /// A stream in each of some zones.
    Zones(Zones),
    /// The whole space once, from its start on, before another shape. Unit of `next`: sectors.
    Filling {
        next: u64,
        then: Box<Shape>,
    },
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
            AddressConfig::HotCold(c) if c.scattered => {
                let blocks = (limit / align).max(1);
                Shape::HotAnywhere {
                    hot: share_of(blocks, c.hot_region.0).max(1),
                    traffic: c.hot_traffic.0,
                    order: Scatter::new(blocks, rng.next_u64()),
                }
            }
            AddressConfig::HotCold(c) => Shape::HotCold {
                hot: share_of(limit, c.hot_region.0).max(1).next_multiple_of(align).min(limit),
                traffic: c.hot_traffic.0,
            },
            AddressConfig::Zipf(c) => {
                let extent = c.extent.0.div_ceil(SECTOR_BYTES).max(1).next_multiple_of(align);
                let count = limit.div_ceil(extent);
                let scatter = Scatter::new(count, rng.next_u64());
                let whole = c.stands_for.map_or(0, |size| size.0 / SECTOR_BYTES / extent);
                if whole > count {
                    let ranks = Zipf::new(whole, c.theta);
                    Shape::ScaledZipf { ranks, whole, scatter, extent }
                } else {
                    Shape::Zipf { ranks: Zipf::new(count, c.theta), scatter, extent }
                }
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
            AddressConfig::Zones(c) => {
                let size = (c.size.0 / SECTOR_BYTES).max(1).next_multiple_of(align);
                Shape::Zones(Zones::new(limit, size, c.active, rng))
            }
        };
        let wraps = if let Shape::Mixed { wraps, .. } = shape { wraps } else { limit };
        let stream = rng.below(wraps.div_ceil(align)) * align;
        Self { shape, limit, align, stream, gone: None, starts: Starts { room: 0, count: 1 } }
    }

    /// The whole space is written once, from its start on, before this. A stream then goes on from
    /// the start.
    pub(crate) fn after_filling(mut self) -> Self {
        self.stream = 0;
        self.shape = Shape::Filling { next: 0, then: Box::new(self.shape) };
        self
    }

    /// Makes this the past of a stream, which begins `back` sectors before its start and reaches it
    /// after that distance. It wraps in its space, cut to whole alignments.
    pub(crate) fn diverge(&mut self, back: u64) {
        if let Shape::Permutation(permutation) = &mut self.shape {
            permutation.diverge();
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

    /// The next start of the filling, and the part of `sectors` that is left there. The last one
    /// ends it.
    fn fill(&mut self, sectors: u64) -> Option<(u64, u64)> {
        let Shape::Filling { next, then } = &mut self.shape else { return None };
        let (start, sectors) = (*next, sectors.min(self.limit - *next));
        *next = (start + sectors).next_multiple_of(self.align);
        if *next >= self.limit {
            self.shape = std::mem::replace(then, Shape::Uniform);
        }
        Some((start, sectors))
    }

    /// Start of a request that arrives at `now`, and the part of its size that fits there. Unit:
    /// sectors.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
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
            Shape::Filling { .. } => {
                return self.fill(sectors).expect("the space is being filled");
            }
            Shape::Zones(ref mut zones) => zones.draw(sectors, rng).min(self.limit - sectors),
            Shape::HotAnywhere { hot, traffic, ref order } => {
                let blocks = order.count();
                let index = match rng.unit() < traffic || hot == blocks {
                    true => rng.below(hot),
                    false => hot + rng.below(blocks - hot),
                };
                let last = self.limit - sectors;
                (order.at(index) * self.align).min(last - last % self.align)
            }
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
            Shape::ScaledZipf { ref ranks, whole, ref scatter, extent } => {
                let rank = u128::from(ranks.draw(rng)) * u128::from(scatter.count());
                let first = scatter.at((rank / u128::from(whole)) as u64) * extent;
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
        let shape = match &self.shape {
            Shape::Filling { then, .. } => then,
            shape => shape,
        };
        match shape {
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
#[path = "address_tests.rs"]
mod tests;
