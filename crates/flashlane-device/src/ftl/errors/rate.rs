//! The raw bit error rate of a block by its age.
//!
//! `rate = base + wear c^k + retention c^m d^n + disturb c^p r^q` for `c` program and erase cycles,
//! `d` days since the program and `r` reads since then. Source: Kim, Choi and Min (FAST 2019).

use super::config::Coefficients;

/// Milliseconds of a day.
pub(super) const DAY_MS: f64 = 86_400_000.0;
/// Places between two powers of two.
const STEPS: usize = 256;

/// A power of whole numbers, by look-up: relative error below 0.00003 for powers up to 4.
#[derive(Clone, Debug)]
struct Power {
    power: f64,
    of_exponent: Vec<f64>,
    of_mantissa: Vec<f64>,
}

impl Power {
    fn new(power: f64) -> Self {
        let mantissa = |step: usize| libm::pow(1.0 + step as f64 / STEPS as f64, power);
        Self {
            power,
            of_exponent: (0..64).map(|at| libm::pow(2.0, f64::from(at) * power)).collect(),
            of_mantissa: (0..=STEPS).map(mantissa).collect(),
        }
    }

    /// `x` to the power; 1 for a power of 0.
    fn of(&self, x: u64) -> f64 {
        if x == 0 {
            return if self.power == 0.0 { 1.0 } else { 0.0 };
        }
        let exponent = x.ilog2();
        // The bits after the first one, from the top of the word on.
        let fraction = (x << (63 - exponent)) << 1;
        let step = (fraction >> 56) as usize;
        let rest = ((fraction << 8) >> 11) as f64 / (1_u64 << 53) as f64;
        let (low, high) = (self.of_mantissa[step], self.of_mantissa[step + 1]);
        self.of_exponent[exponent as usize] * (low + (high - low) * rest)
    }
}

/// The age of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Age {
    pub(super) cycles: u64,
    /// Time since the program. Unit: milliseconds.
    pub(super) retention_ms: u64,
    /// Page reads since the program.
    pub(super) reads: u64,
}

/// The raw bit error rate by age.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    base: f64,
    /// Factors and powers of wear, retention and disturb.
    wear: (f64, Power),
    retention: (f64, Power, Power),
    disturb: (f64, Power, Power),
}

impl Rate {
    pub(super) fn new(of: &Coefficients) -> Self {
        let per_ms = of.retention * libm::pow(DAY_MS, -of.retention_power);
        let retention = (of.retention_cycles_power, of.retention_power);
        let disturb = (of.disturb_cycles_power, of.disturb_power);
        Self {
            base: of.base,
            wear: (of.wear, Power::new(of.wear_power)),
            retention: (per_ms, Power::new(retention.0), Power::new(retention.1)),
            disturb: (of.disturb, Power::new(disturb.0), Power::new(disturb.1)),
        }
    }

    /// The rate of a page of mean type. It may exceed what a memory can show.
    pub(super) fn of(&self, age: Age) -> f64 {
        let Self { base, wear, retention, disturb } = self;
        let mut rate = base + wear.0 * wear.1.of(age.cycles);
        if retention.0 > 0.0 {
            rate += retention.0 * retention.1.of(age.cycles) * retention.2.of(age.retention_ms);
        }
        if disturb.0 > 0.0 {
            rate += disturb.0 * disturb.1.of(age.cycles) * disturb.2.of(age.reads);
        }
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{ErrorModel, ErrorsConfig};
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for power in [0.0, 0.14, 0.54, 1.0, 1.71, 2.05, 3.33] {
            let table = Power::new(power);
            for x in [1, 2, 3, 7, 100, 255, 257, 1000, 12_345, 7_776_000_000, 1 << 50] {
                let exact = libm::pow(x as f64, power);
                let off = table.of(x) / exact - 1.0;
                assert!(off.abs() < 3e-5, "{x}^{power}: off by {off}");
            }
        }
        assert_eq!((Power::new(0.0).of(0), Power::new(0.5).of(0)), (1.0, 0.0));
    }

    #[test]
    fn the_terms_are_those_of_the_equation() {
        let text = "model = 'tlc-3d'";
        let config: ErrorsConfig = toml::from_str(text).expect("errors");
        assert_eq!(config.model, ErrorModel::Tlc3d);
        let rate = Rate::new(&config.coefficients());
        let days = 90.0_f64;
        let age = Age { cycles: 3000, retention_ms: (days * DAY_MS) as u64, reads: 10_000 };
        let c = 3000.0_f64;
        let exact = 1.48e-3
            + 3.9e-10 * libm::pow(c, 2.05)
            + 6.28e-5 * libm::pow(c, 0.14) * libm::pow(days, 0.54)
            + 1.5e-14 * libm::pow(c, 1.46) * 10_000.0;
        assert!((rate.of(age) / exact - 1.0).abs() < 1e-4, "{} {exact}", rate.of(age));
        assert_eq!(rate.of(Age::default()), 1.48e-3);
    }
}
