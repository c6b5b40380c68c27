//! A drive as new that is written in sequence until it is full, and the phases of that.
//!
//! The drive of the run is smaller (`scaled::filling`), and all sizes are given for the real one.
//! Phases are parts of the curve of the speed over the data written. Given their number, their ends
//! are where steps describe the curve best: the squares of the differences of the speeds add up to
//! the least. That is what the eye does with the picture of a review, whose axis of speeds is
//! linear.

use flashlane::config::DeviceConfig;
use flashlane::config::load::{Overrides, workload_from_toml};
use flashlane::{Error, RunOptions, simulate_in_detail};

use super::figure::{Figure, Metric};
use super::run::refuse;
use super::scaled;

/// Parts of the curve, of equal data.
const BINS: usize = 500;

/// Length of an interval of the record. Unit: picoseconds.
const INTERVAL: u64 = 500_000_000;

/// The course of a fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// Time of each part of the data, of which there are [`BINS`]. Unit: seconds of the real drive.
    seconds: Vec<f64>,
    /// Data of a part. Unit: bytes of the real drive.
    part: f64,
}

impl Fill {
    /// Fills a device.
    ///
    /// # Errors
    /// A device that the simulation refuses.
    pub(super) fn of(figure: &Figure, mut device: DeviceConfig) -> Result<Self, Error> {
        let real = scaled::logical_bytes(&device);
        scaled::filling(&mut device);
        let small = scaled::logical_bytes(&device);
        let requests = small / figure.size.0;
        // Requests begin at multiples of their size, so that no page is written by two of them.
        let text = format!(
            "[[flow]]\nname = \"one\"\n[flow.synthetic]\nsize = \"{}\"\n\
             address = \"streaming\"\nqueue_depth = {}\nread_ratio = 0\nrequests = {requests}\n",
            figure.size, figure.depth,
        );
        let workload = workload_from_toml(&text, "fill", &Overrides::default())?.config;
        refuse(&device, &workload)?;
        let options =
            RunOptions { series_interval: Some(INTERVAL), threads: 1, ..RunOptions::default() };
        let (_, details) = simulate_in_detail(&device, &workload, &options, &|_| {})?;
        let length = INTERVAL as f64 / 1e12;
        let (mut written, mut known) = (0, vec![(0.0, 0.0)]);
        for interval in details.series.iter().flatten().filter(|one| one.written_bytes > 0) {
            written += interval.written_bytes;
            known.push((written as f64, interval.start_s + length));
        }
        Ok(Self::from_course(&known, real as f64 / small as f64))
    }

    /// The course from data that is written by some times, in rising order. `larger`: how much
    /// larger the real drive is.
    fn from_course(known: &[(f64, f64)], larger: f64) -> Self {
        let (end, _) = known[known.len() - 1];
        let part = end / BINS as f64;
        let (mut seconds, mut at, mut before) = (Vec::with_capacity(BINS), 1, 0.0);
        for bin in 1..=BINS {
            let data = (part * bin as f64).min(end);
            while known[at].0 < data {
                at += 1;
            }
            let ((low, from), (high, to)) = (known[at - 1], known[at]);
            let now = from + (to - from) * (data - low) / (high - low);
            seconds.push((now - before) * larger);
            before = now;
        }
        Self { seconds, part: part * larger }
    }

    /// The value of a figure.
    pub(super) fn value(&self, figure: &Figure) -> f64 {
        let (from, to) = match figure.phase {
            None => (0, BINS),
            Some(phase) => {
                let ends = self.ends(phase.of as usize);
                let at = phase.number as usize;
                (if at == 1 { 0 } else { ends[at - 2] }, ends[at - 1])
            }
        };
        match figure.metric {
            Metric::FillGb => self.part * to as f64 / 1e9,
            _ => {
                let seconds: f64 = self.seconds[from..to].iter().sum();
                self.part * (to - from) as f64 / seconds / 1e6
            }
        }
    }

    /// Ends of a number of phases, as parts of the data.
    fn ends(&self, phases: usize) -> Vec<usize> {
        let mut sums = vec![(0.0, 0.0)];
        for seconds in &self.seconds {
            let (speed, (sum, squares)) = (1.0 / seconds, sums[sums.len() - 1]);
            sums.push((sum + speed, squares + speed * speed));
        }
        let cost = |from: usize, to: usize| {
            let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
            squares - sum * sum / (to - from) as f64
        };
        // Least cost of the parts before each one with one phase, and then with one more each time.
        let mut least: Vec<f64> =
            (0..=BINS).map(|to| if to == 0 { 0.0 } else { cost(0, to) }).collect();
        let mut begins: Vec<Vec<usize>> = Vec::new();
        for phase in 2..=phases {
            let best = |to: usize| {
                let all = (phase - 1..to).map(|from| (from, least[from] + cost(from, to)));
                all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY))
            };
            let found: Vec<(usize, f64)> = (0..=BINS).map(best).collect();
            begins.push(found.iter().map(|one| one.0).collect());
            least = found.iter().map(|one| one.1).collect();
        }
        let mut ends = vec![BINS];
        for begin in begins.iter().rev() {
            ends.push(begin[ends[ends.len() - 1]]);
        }
        ends.reverse();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Operation, Phase};
    use super::super::pattern::Pattern;
    use super::*;

    /// A drive of 1000 GB: 200 GB at 4 GB/s, 300 GB at 2 GB/s and 500 GB at 0.5 GB/s, by a drive
    /// that is ten times smaller.
    fn three_phases() -> Fill {
        let course = [(0.0, 0.0), (20e9, 5.0), (50e9, 20.0), (100e9, 120.0)];
        Fill::from_course(&course, 10.0)
    }

    fn value(fill: &Fill, metric: Metric, phase: Option<(u32, u32)>) -> f64 {
        let phase = phase.map(|(number, of)| Phase { number, of });
        let plain = Figure::of(Operation::Write, Pattern::Sequential, metric, 1.0);
        fill.value(&Figure { phase, ..plain })
    }

    #[test]
    fn phases_are_found_with_their_speeds() {
        let fill = three_phases();
        for (number, end, speed) in [(1, 200.0, 4000.0), (2, 500.0, 2000.0), (3, 1000.0, 500.0)] {
            let end_found = value(&fill, Metric::FillGb, Some((number, 3)));
            let found = value(&fill, Metric::FillMbPerS, Some((number, 3)));
            assert!((end_found - end).abs() < 3.0, "{number}: {end_found}");
            assert!((found / speed - 1.0).abs() < 0.01, "{number}: {found}");
        }
        let whole = value(&fill, Metric::FillMbPerS, None);
        assert!((whole - 1e6 / 1200.0).abs() < 1.0, "{whole}");
    }

    #[test]
    fn fewer_phases_join_the_nearest_speeds() {
        let fill = three_phases();
        let end = value(&fill, Metric::FillGb, Some((1, 2)));
        assert!((end - 200.0).abs() < 3.0 || (end - 500.0).abs() < 3.0, "{end}");
        let speed = value(&fill, Metric::FillMbPerS, Some((1, 1)));
        assert!((speed - 1e6 / 1200.0).abs() < 1.0, "{speed}");
    }
}
