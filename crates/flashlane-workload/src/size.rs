//! Distributions of request sizes.

use flashlane_engine::Rng;

use crate::config::SizeConfig;
use flashlane_device::layout::SECTOR_BYTES;

/// Largest request that a source makes: 16 MiB. Unit: sectors.
pub(crate) const REQUEST_SECTORS_MAX: u64 = (16 << 20) / SECTOR_BYTES;

/// A distribution over a few values, drawn in constant time (Walker's and Vose's alias method).
#[derive(Clone, Debug)]
pub(crate) struct Alias<T> {
    /// Value, the share of its cell that it keeps, and the index of the value that gets the rest of
    /// the cell.
    cells: Vec<(T, f64, usize)>,
}

impl<T: Copy> Alias<T> {
    /// From pairs of value and weight; weights are not negative and not all 0.
    pub(crate) fn new(points: &[(T, f64)]) -> Self {
        let total: f64 = points.iter().map(|point| point.1).sum();
        assert!(total > 0.0, "a distribution without weight");
        let count = points.len() as f64;
        let mut cells: Vec<(T, f64, usize)> =
            points.iter().zip(0..).map(|(p, i)| (p.0, p.1 * count / total, i)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..cells.len()).partition(|&i| cells[i].1 < 1.0);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            cells[poor].2 = rich;
            cells[rich].1 -= 1.0 - cells[poor].1;
            if cells[rich].1 < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        // A cell that is left over because of rounding is full.
        for index in small.into_iter().chain(large) {
            cells[index].1 = 1.0;
        }
        Self { cells }
    }

    /// The value that belongs to a number drawn from `0..1`.
    pub(crate) fn at(&self, unit: f64) -> T {
        let scaled = unit * self.cells.len() as f64;
        let index = (scaled as usize).min(self.cells.len() - 1);
        let (value, keep, other) = self.cells[index];
        if scaled - (index as f64) < keep { value } else { self.cells[other].0 }
    }
}

/// The sizes of the requests of a synthetic flow.
#[derive(Clone, Debug)]
pub(crate) enum SizeDraw {
    /// All requests have this size. Unit: sectors.
    Fixed(u64),
    /// Normal, rounded up, at least one sector. Unit: sectors.
    Normal { mean: f64, stddev: f64 },
    /// A few sizes. Unit: sectors.
    Discrete { points: Vec<(u64, f64)>, alias: Alias<u64> },
}

impl SizeConfig {
    /// Mean of the sizes as they are drawn, rounding and limits included. Unit: bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        SizeDraw::new(self).mean_bytes()
    }
}

/// Bytes to sectors, rounded up and limited to the allowed sizes.
fn to_sectors(bytes: u64) -> u64 {
    bytes.div_ceil(SECTOR_BYTES).clamp(1, REQUEST_SECTORS_MAX)
}

impl SizeDraw {
    /// The distribution that a configuration describes.
    pub(crate) fn new(config: &SizeConfig) -> Self {
        match config {
            SizeConfig::Fixed(size) => Self::Fixed(to_sectors(size.0)),
            SizeConfig::Normal { normal } => Self::Normal {
                mean: normal.mean.0 as f64 / SECTOR_BYTES as f64,
                stddev: normal.stddev.0 as f64 / SECTOR_BYTES as f64,
            },
            SizeConfig::Discrete { discrete } => {
                let points: Vec<(u64, f64)> =
                    discrete.iter().map(|&(size, weight)| (to_sectors(size.0), weight)).collect();
                let alias = Alias::new(&points);
                Self::Discrete { points, alias }
            }
        }
    }

    /// The next size. Unit: sectors. Range: `1..=REQUEST_SECTORS_MAX`.
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Self::Fixed(sectors) => *sectors,
            Self::Normal { mean, stddev } => {
                // Casts of floats to integers saturate, so a negative draw becomes 0.
                let sectors = libm::ceil(mean + stddev * rng.normal()) as u64;
                sectors.clamp(1, REQUEST_SECTORS_MAX)
            }
            Self::Discrete { alias, .. } => alias.at(rng.unit()),
        }
    }

    /// Mean of the sizes as they are drawn, rounding and limits included. Unit: bytes.
    pub(crate) fn mean_bytes(&self) -> f64 {
        let sectors = match self {
            Self::Fixed(sectors) => *sectors as f64,
            Self::Normal { mean, stddev } => normal_mean(*mean, *stddev),
            Self::Discrete { points, .. } => {
                let total: f64 = points.iter().map(|p| p.1).sum();
                points.iter().map(|p| p.0 as f64 * p.1).sum::<f64>() / total
            }
        };
        sectors * SECTOR_BYTES as f64
    }
}

/// Mean of a normal number rounded up and limited to `1..=REQUEST_SECTORS_MAX`: the sum over `k` of
/// the probability that the result is `k` or more.
fn normal_mean(mean: f64, stddev: f64) -> f64 {
    if stddev <= 0.0 {
        return libm::ceil(mean).clamp(1.0, REQUEST_SECTORS_MAX as f64);
    }
    let above = |x: f64| 0.5 * libm::erfc((x - mean) / (stddev * std::f64::consts::SQRT_2));
    1.0 + (2..=REQUEST_SECTORS_MAX)
        .map(|k| above(k as f64 - 1.0))
        .take_while(|&p| p > 1e-12)
        .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NormalSizeConfig;
    use flashlane_units::ByteSize;

    fn measured(draw: &SizeDraw) -> f64 {
        let mut rng = Rng::stream(3, "test.size", 0);
        let n = 200_000;
        (0..n).map(|_| draw.draw(&mut rng) as f64).sum::<f64>() / f64::from(n) * 512.0
    }

    #[test]
    fn means_are_those_of_the_draws() {
        let normal = |mean, stddev| {
            let normal = NormalSizeConfig { mean: ByteSize(mean), stddev: ByteSize(stddev) };
            SizeDraw::new(&SizeConfig::Normal { normal })
        };
        let discrete = vec![(ByteSize(4096), 3.0), (ByteSize(65_536), 1.0), (ByteSize(512), 0.0)];
        let draws = [
            SizeDraw::new(&SizeConfig::Fixed(ByteSize(4000))),
            normal(8192, 0),
            normal(8192, 1024),
            normal(2048, 8192),
            SizeDraw::new(&SizeConfig::Discrete { discrete }),
        ];
        assert_eq!(draws[0].mean_bytes(), 4096.0);
        assert_eq!(draws[4].mean_bytes(), 4096.0 * 0.75 + 65_536.0 * 0.25);
        for draw in draws {
            let (expected, found) = (draw.mean_bytes(), measured(&draw));
            assert!((found / expected - 1.0).abs() < 0.01, "{draw:?}: {found} {expected}");
        }
    }

    #[test]
    fn alias_tables_keep_the_weights() {
        let points = [('a', 0.1), ('b', 5.0), ('c', 0.0), ('d', 2.0), ('e', 0.9)];
        let alias = Alias::new(&points);
        let n = 80_000;
        for (value, weight) in points {
            let found = (0..n).filter(|&i| alias.at(f64::from(i) / f64::from(n)) == value).count();
            assert!((found as f64 / f64::from(n) - weight / 8.0).abs() < 1e-3, "{value}");
        }
    }
}
