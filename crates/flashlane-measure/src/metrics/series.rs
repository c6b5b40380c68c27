//! Completions and mean response times over time.

use flashlane_engine::Time;

use flashlane_units::RequestOp;

/// An interval of a `Series`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Start, from the beginning of the run. Unit: seconds.
    pub start_s: f64,
    /// Counted reads that completed in the interval.
    pub reads: u64,
    /// Mean response time of these reads. Unit: microseconds; 0 without reads.
    pub read_mean_us: f64,
    /// Counted writes that completed in the interval.
    pub writes: u64,
    /// Mean response time of these writes. Unit: microseconds; 0 without writes.
    pub write_mean_us: f64,
    /// Bytes of these writes.
    pub written_bytes: u64,
}

/// Sums of an interval, for reads and for writes. Unit of the sums: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: [u64; 2],
    response: [u128; 2],
    written_bytes: u64,
}

/// Collects the time series of a flow: one entry for each interval of simulated time.
#[derive(Clone, Debug)]
pub struct Series {
    interval: u64,
    sums: Vec<Sums>,
}

impl Series {
    /// `interval` in picoseconds, at least 1.
    pub(crate) fn new(interval: u64) -> Self {
        assert!(interval > 0, "intervals have a length");
        Self { interval, sums: Vec::new() }
    }

    /// Adds a counted request of `bytes` bytes that completes at `now`.
    pub(crate) fn record(&mut self, op: RequestOp, bytes: u64, response: Time, now: Time) {
        let side = match op {
            RequestOp::Read => 0,
            RequestOp::Write => 1,
            _ => return,
        };
        let at = (now.0 / self.interval) as usize;
        if at >= self.sums.len() {
            self.sums.resize(at + 1, Sums::default());
        }
        self.sums[at].count[side] += 1;
        self.sums[at].response[side] += u128::from(response.0);
        self.sums[at].written_bytes += if op == RequestOp::Write { bytes } else { 0 };
    }

    /// Every interval from the start of the run to the last completion.
    pub fn intervals(&self) -> Vec<Interval> {
        let mean = |sums: &Sums, side: usize| match sums.count[side] {
            0 => 0.0,
            count => sums.response[side] as f64 / count as f64 / 1e6,
        };
        (0_u64..)
            .zip(&self.sums)
            .map(|(index, sums)| Interval {
                start_s: Time(index * self.interval).as_s(),
                reads: sums.count[0],
                read_mean_us: mean(sums, 0),
                writes: sums.count[1],
                write_mean_us: mean(sums, 1),
                written_bytes: sums.written_bytes,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_fall_into_their_interval() {
        let mut series = Series::new(Time::from_us(10).0);
        series.record(RequestOp::Read, 8192, Time::from_us(3), Time::from_us(5));
        series.record(RequestOp::Read, 8192, Time::from_us(5), Time::from_us(9));
        series.record(RequestOp::Write, 8192, Time::from_us(7), Time::from_us(10));
        series.record(RequestOp::Flush, 8192, Time::from_us(7), Time::from_us(35));
        series.record(RequestOp::Read, 8192, Time::from_us(1), Time::from_us(31));
        let intervals = series.intervals();
        let of = |i: usize| {
            let v = &intervals[i];
            (v.reads, v.read_mean_us, v.writes, v.write_mean_us)
        };
        assert_eq!(intervals.len(), 4);
        assert_eq!(of(0), (2, 4.0, 0, 0.0));
        assert_eq!(of(1), (0, 0.0, 1, 7.0));
        assert_eq!(of(2), (0, 0.0, 0, 0.0));
        assert_eq!(of(3), (1, 1.0, 0, 0.0));
        assert!((intervals[3].start_s - 30e-6).abs() < 1e-12);
        let written: Vec<u64> = intervals.iter().map(|v| v.written_bytes).collect();
        assert_eq!(written, [0, 8192, 0, 0], "reads and flushes write nothing");
    }
}
