//! Numbers of requests over time, for a plot.

use crate::record::{Op, Record};

/// Largest number of intervals. Once time has passed, at least half of them are used.
const INTERVALS: usize = 256;
/// First length of an interval. Unit: picoseconds.
const FIRST_PS: u64 = 1_000;

/// Numbers of reads and writes in intervals of equal length. The length doubles as the trace grows,
/// so that the memory stays constant.
#[derive(Clone, Debug)]
pub struct Profile {
    counts: [Vec<u64>; 2],
    interval_ps: u64,
}

impl Default for Profile {
    fn default() -> Self {
        Profile { counts: [vec![0; INTERVALS], vec![0; INTERVALS]], interval_ps: FIRST_PS }
    }
}

impl Profile {
    /// Counts a record. Only reads and writes count.
    pub fn add(&mut self, record: &Record) {
        let side = match record.op {
            Op::Read => 0,
            Op::Write => 1,
            Op::Trim | Op::Flush => return,
        };
        while record.time_ps / self.interval_ps >= INTERVALS as u64 {
            for counts in &mut self.counts {
                for at in 0..INTERVALS / 2 {
                    counts[at] = counts[2 * at] + counts[2 * at + 1];
                }
                counts[INTERVALS / 2..].fill(0);
            }
            self.interval_ps *= 2;
        }
        self.counts[side][(record.time_ps / self.interval_ps) as usize] += 1;
    }

    /// Length of an interval. Unit: picoseconds.
    #[must_use]
    pub fn interval_ps(&self) -> u64 {
        self.interval_ps
    }

    /// Number of reads in each interval, up to the last interval with a request.
    #[must_use]
    pub fn reads(&self) -> &[u64] {
        &self.counts[0][..self.used()]
    }

    /// Number of writes in each interval, up to the last interval with a request.
    #[must_use]
    pub fn writes(&self) -> &[u64] {
        &self.counts[1][..self.used()]
    }

    fn used(&self) -> usize {
        let [reads, writes] = &self.counts;
        let last = (0..INTERVALS).rev().find(|&at| reads[at] + writes[at] > 0);
        last.map_or(0, |at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_double_and_lose_nothing() {
        let mut profile = Profile::default();
        assert_eq!((profile.reads().len(), profile.interval_ps()), (0, FIRST_PS));
        for n in 0..1000 {
            let op = if n % 4 == 0 { Op::Write } else { Op::Read };
            let record = Record {
                time_ps: n * 1_000_000,
                op,
                offset_bytes: 0,
                length_bytes: 512,
                device: 0,
                placement: None,
            };
            profile.add(&record);
            profile.add(&Record { op: Op::Flush, ..record });
        }
        assert_eq!(profile.interval_ps(), 4_096_000);
        assert_eq!((profile.reads().len(), profile.writes().len()), (244, 244));
        assert_eq!(profile.reads().iter().sum::<u64>(), 750);
        assert_eq!(profile.writes().iter().sum::<u64>(), 250);
        assert_eq!(profile.reads()[0], 3, "1, 2 and 3 us");
    }
}
