//! Past reads as an estimate of the reads to come: `Nr` of the equations.

use flashlane_units::ChipId;

use super::config::{PastReads, UpiConfig};

/// Reads of each flow on each chip. Unit: pages.
#[derive(Clone)]
pub(super) struct Past {
    rule: PastReads,
    gain: f64,
    chips: usize,
    /// Reads in this window, by flow and chip.
    window: Vec<f64>,
    /// A running mean over windows, or the sum since the chip last changed hands.
    kept: Vec<f64>,
    /// Number of windows so far.
    ended: u64,
    /// The value of `ended` when a chip last changed hands.
    since: Vec<u64>,
}

impl Past {
    pub(super) fn new(config: &UpiConfig, flows: usize, chips: usize) -> Self {
        Self {
            rule: config.past_reads,
            gain: config.read_gain,
            chips,
            window: vec![0.0; flows * chips],
            kept: vec![0.0; flows * chips],
            ended: 0,
            since: vec![0; chips],
        }
    }

    /// Counts a page of a flow that is read on a chip.
    #[inline]
    pub(super) fn read(&mut self, flow: usize, chip: ChipId) {
        debug_assert!(chip.index() < self.chips, "a chip of the drive is read");
        self.window[flow * self.chips + chip.index()] += 1.0;
    }

    /// Ends a window. Writes the reads that are expected in a coming window to `expected`.
    pub(super) fn estimate(&mut self, expected: &mut [f64]) {
        assert_eq!(expected.len(), self.window.len(), "an estimate for each flow and chip");
        self.ended += 1;
        match self.rule {
            PastReads::Window => expected.copy_from_slice(&self.window),
            PastReads::Average => {
                // At first the mean of all windows so far; otherwise the mean would begin near
                // zero.
                let gain = self.gain.max(1.0 / self.ended as f64);
                for (kept, &reads) in self.kept.iter_mut().zip(&self.window) {
                    *kept += gain * (reads - *kept);
                }
                expected.copy_from_slice(&self.kept);
            }
            PastReads::Owned => {
                for (kept, &reads) in self.kept.iter_mut().zip(&self.window) {
                    *kept += reads;
                }
                for (at, (expected, kept)) in expected.iter_mut().zip(&self.kept).enumerate() {
                    *expected = kept / (self.ended - self.since[at % self.chips]) as f64;
                }
            }
        }
        self.window.fill(0.0);
    }

    /// Counts windows that went by without a read or a write of the host.
    pub(super) fn skip(&mut self, windows: u64) {
        self.ended += windows;
        if self.rule == PastReads::Average && windows > 0 {
            let left = libm::pow(1.0 - self.gain, windows as f64);
            self.kept.iter_mut().for_each(|kept| *kept *= left);
        }
    }

    /// Notes that a chip changed hands.
    pub(super) fn transferred(&mut self, chip: ChipId) {
        self.since[chip.index()] = self.ended;
        if self.rule == PastReads::Owned {
            let of_chip = self.kept.iter_mut().skip(chip.index()).step_by(self.chips);
            of_chip.for_each(|kept| *kept = 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads that are expected after some windows. `windows`: the reads of a single flow on each of
    /// two chips; the first chip changes hands after the first window.
    fn expected(past_reads: PastReads, windows: &[[u32; 2]]) -> [f64; 2] {
        let config = UpiConfig { past_reads, read_gain: 0.25, ..UpiConfig::default() };
        let mut past = Past::new(&config, 1, 2);
        let mut found = [0.0; 2];
        for (window, reads) in windows.iter().enumerate() {
            for (chip, &count) in reads.iter().enumerate() {
                (0..count).for_each(|_| past.read(0, ChipId::at(chip)));
            }
            past.estimate(&mut found);
            if window == 0 {
                past.transferred(ChipId::new(0));
            }
        }
        found
    }

    #[test]
    fn readings_of_the_past_worked_by_hand() {
        let windows = [[8, 8], [4, 4], [0, 6], [2, 2]];
        assert_eq!(expected(PastReads::Window, &windows), [2.0, 2.0]);
        assert_eq!(expected(PastReads::Owned, &windows), [2.0, 5.0], "6 in 3 windows, 20 in 4");
        // 8, then a half, a third and a quarter of the way to each window's reads.
        let mean = |of: [f64; 4]| of.iter().sum::<f64>() / 4.0;
        let average = expected(PastReads::Average, &windows);
        assert!((average[0] - mean([8.0, 4.0, 0.0, 2.0])).abs() < 1e-12, "{average:?}");
        assert!((average[1] - mean([8.0, 4.0, 6.0, 2.0])).abs() < 1e-12, "{average:?}");
    }

    #[test]
    fn an_average_fades_in_windows_without_a_request() {
        let config = UpiConfig { read_gain: 0.25, ..UpiConfig::default() };
        let mut past = Past::new(&config, 1, 1);
        (0..8).for_each(|_| past.read(0, ChipId::new(0)));
        let mut found = [0.0];
        past.estimate(&mut found);
        past.skip(2);
        past.estimate(&mut found);
        // 8 * 0.75 * 0.75, and a quarter of the way to nothing once more.
        assert!((found[0] - 8.0 * (0.75 * 0.75 * 0.75)).abs() < 1e-12, "{found:?}");
    }
}
