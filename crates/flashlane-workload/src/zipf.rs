//! Exact Zipf ranks in constant time.

use flashlane_engine::Rng;

/// Draws ranks `0..count` with probability proportional to `(rank + 1)^-theta`.
///
/// Rejection-inversion: the curve `x^-theta` covers the histogram of the ranks. A point under the
/// curve is drawn by inverting its integral, and the few points outside the histogram are drawn
/// again. This is exact for every count, and takes fewer than 1.2 draws on average. Source: Hörmann
/// and Derflinger, Rejection-inversion to generate variates from monotone discrete distributions,
/// ACM TOMACS 6(3), 1996.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    count: f64,
    theta: f64,
    /// Integral of the curve up to the left edge of rank 1, less the mass of rank 1.
    low: f64,
    /// Integral up to the right edge of the last rank.
    high: f64,
    /// Points this close to their rank are inside the histogram.
    squeeze: f64,
}

impl Zipf {
    /// Ranks `0..count`. Range: `count` 1..=2^40, `theta` 0..=5.
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        assert!((1..=1 << 40).contains(&count), "{count} ranks");
        assert!((0.0..=5.0).contains(&theta), "exponent {theta}");
        let mut zipf = Self { count: count as f64, theta, low: 0.0, high: 0.0, squeeze: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.count + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// The next rank. Range: `0..count`.
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        if self.theta == 0.0 {
            return rng.below(self.count as u64);
        }
        loop {
            let area = self.low + rng.unit() * (self.high - self.low);
            let x = self.inverse(area);
            let rank = libm::round(x).clamp(1.0, self.count);
            if rank - x <= self.squeeze || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// `(x^(1-theta) - 1) / (1-theta)`, and the logarithm at `theta = 1`.
    fn integral(&self, x: f64) -> f64 {
        let (power, log) = (1.0 - self.theta, libm::log(x));
        if (power * log).abs() < 1e-9 { log } else { libm::expm1(power * log) / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = 1.0 - self.theta;
        // Rounding must not make the argument of the logarithm -1 or less.
        let scaled = (power * area).max(-1.0 + 1e-15);
        if scaled.abs() < 1e-9 { libm::exp(area) } else { libm::exp(libm::log1p(scaled) / power) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_theory() {
        for theta in [0.0, 0.5, 0.99, 1.0, 1.01, 1.5, 3.0] {
            for count in [1_u64, 2, 10, 1000] {
                let zipf = Zipf::new(count, theta);
                let mut rng = Rng::stream(11, "test.zipf", count);
                let draws = 400_000;
                let mut seen = vec![0_u32; count as usize];
                for _ in 0..draws {
                    seen[zipf.draw(&mut rng) as usize] += 1;
                }
                let weight = |rank: u64| libm::pow(rank as f64 + 1.0, -theta);
                let total: f64 = (0..count).map(weight).sum();
                for rank in 0..count.min(20) {
                    let expected = f64::from(draws) * weight(rank) / total;
                    let found = f64::from(seen[rank as usize]);
                    let tolerance = 5.0 * expected.sqrt() + 1.0;
                    assert!((found - expected).abs() < tolerance, "{theta} {count} {rank}");
                }
            }
        }
    }

    #[test]
    fn huge_counts_and_steep_exponents_stay_in_range() {
        let mut rng = Rng::stream(1, "test.zipf", 0);
        for theta in [0.0, 0.3, 1.0, 2.0, 5.0] {
            let zipf = Zipf::new(1 << 32, theta);
            assert!((0..20_000).all(|_| zipf.draw(&mut rng) < 1 << 32));
        }
        let zipf = Zipf::new(1 << 32, 0.0);
        let mean = (0..20_000).map(|_| zipf.draw(&mut rng) as f64).sum::<f64>() / 20_000.0;
        assert!((mean / (1_u64 << 31) as f64 - 1.0).abs() < 0.02, "{mean}");
    }
}
