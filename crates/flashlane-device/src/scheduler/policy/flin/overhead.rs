//! Cost of FLIN for the drive: memory and work (section 5.5).

use crate::scheduler::overhead::SchedulerOverhead;

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead {
    insertions: u64,
    scanned: u64,
    scanned_most: u64,
    pub(super) promotions: u64,
    pub(super) suspensions: u64,
    pub(super) migrations_with_writes: u64,
}

/// Size of a number in FLIN's tables. Unit: bytes.
const WORD: u64 = 4;

/// DRAM that FLIN needs. It keeps arrival rates and average slowdowns of reads and writes by flow
/// and unit, the alone wait of every transaction, and writes and valid pages by flow. Unit: bytes.
/// Source: FLIN (ISCA'18) section 5.5.
#[must_use]
pub fn dram_bytes(flows: u64, units: u64, transactions: u64) -> u64 {
    let rates = 2 * flows * units;
    let slowdowns = 2 * flows * units;
    WORD * (rates + transactions + slowdowns + 2 * flows)
}

impl Overhead {
    /// Counts an insertion for which stage 1 looked at `scanned` positions.
    pub(super) fn inserted(&mut self, scanned: u64) {
        self.insertions += 1;
        self.scanned += scanned;
        self.scanned_most = self.scanned_most.max(scanned);
    }

    /// The summary. `transactions`: as many as the drive's DRAM has room for.
    pub(super) fn summary(&self, flows: u64, units: u64, transactions: u64) -> SchedulerOverhead {
        SchedulerOverhead {
            dram_bytes: dram_bytes(flows, units, transactions),
            insertions: self.insertions,
            positions_scanned: self.scanned,
            positions_scanned_mean: self.scanned as f64 / self.insertions.max(1) as f64,
            positions_scanned_max: self.scanned_most,
            promotions: self.promotions,
            suspensions: self.suspensions,
            migrations_with_writes: self.migrations_with_writes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_paper_says() {
        // Section 5.5: 64 chips, 2 GB of DRAM for pages of 8 KiB, 128 flows: 1.13 MB, below 0.06 %.
        let transactions = (2 << 30) / 8192;
        assert_eq!(transactions, 262_144);
        // 4 * (2 * 128 * 64 + 262,144 + 2 * 128 * 64 + 2 * 128) = 4 * 295,168.
        let bytes = dram_bytes(128, 64, transactions);
        assert_eq!(bytes, 1_180_672);
        let mib = bytes as f64 / f64::from(1 << 20);
        assert_eq!((100.0 * mib).round() / 100.0, 1.13);
        assert!((bytes as f64) < 0.0006 * f64::from(1_u32 << 31));
    }

    #[test]
    fn work_is_counted() {
        let mut overhead = Overhead::default();
        [3, 9, 6].iter().for_each(|&scanned| overhead.inserted(scanned));
        let summary = overhead.summary(1, 1, 0);
        assert_eq!(summary.dram_bytes, 4 * (2 + 2 + 2));
        assert_eq!((summary.insertions, summary.positions_scanned), (3, 18));
        assert_eq!((summary.positions_scanned_mean, summary.positions_scanned_max), (6.0, 9));
    }
}
