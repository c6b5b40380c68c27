//! Collects problems.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::Problem;
use flashlane_units::{ByteSize, Ratio, Span};

/// Problems found so far.
#[derive(Debug, Default)]
pub struct Rules {
    /// One entry for each rule that a value breaks.
    pub problems: Vec<Problem>,
}

impl Rules {
    /// Refuses what was found at `key`.
    pub fn refuse(&mut self, key: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem { place: key.into(), message: message.into() });
    }

    /// Refuses what was found at `key` unless the rule holds.
    pub fn require(
        &mut self,
        holds: bool,
        key: impl Into<String>,
        message: impl FnOnce() -> String,
    ) {
        if !holds {
            self.refuse(key, message());
        }
    }

    /// A number in a range.
    pub fn range<T: PartialOrd + Display>(
        &mut self,
        key: impl Into<String>,
        value: T,
        range: &RangeInclusive<T>,
    ) {
        self.require(range.contains(&value), key, || {
            format!("found {value}, allowed: {} to {}", range.start(), range.end())
        });
    }

    /// A size in a range.
    pub fn bytes(&mut self, key: impl Into<String>, value: ByteSize, range: RangeInclusive<u64>) {
        self.require(range.contains(&value.0), key, || {
            let (low, high) = (ByteSize(*range.start()), ByteSize(*range.end()));
            format!("found {value}, allowed: {low} to {high}")
        });
    }

    /// A size in a range that is a multiple of a host sector.
    pub fn sectors(&mut self, key: &str, value: ByteSize, range: RangeInclusive<u64>) {
        self.require(value.0.is_multiple_of(512), key, || {
            format!("found {value}, allowed: multiples of 512B")
        });
        self.bytes(key, value, range);
    }

    /// A time in a range.
    pub fn span(&mut self, key: impl Into<String>, value: Span, range: &RangeInclusive<u64>) {
        self.require(range.contains(&value.0), key, || {
            let (low, high) = (Span(*range.start()), Span(*range.end()));
            format!("found {value}, allowed: {low} to {high}")
        });
    }

    /// A share of something.
    pub fn share(&mut self, key: impl Into<String>, value: Ratio) {
        self.require((0.0..=1.0).contains(&value.0), key, || {
            format!("found {value}, allowed: 0 to 1 (or 0% to 100%)")
        });
    }

    /// A factor above zero.
    pub fn factor(&mut self, key: impl Into<String>, value: f64) {
        self.require((1e-9..=1e9).contains(&value), key, || {
            format!("found {value}, allowed: above 0 (1e-9 to 1e9)")
        });
    }
}
