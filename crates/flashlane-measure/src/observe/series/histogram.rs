//! A small histogram of latencies: 32 buckets for every doubling, so that a value is known within
//! 1.6 %.

/// Bits of the buckets of a value.
const BUCKET_BITS: u32 = 6;

/// Latencies by bucket. The histogram is filled while a window is open, and packed when it is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// Counts by bucket; empty once packed.
    open: Vec<u32>,
    /// Buckets in use with their counts, in rising order.
    packed: Vec<(u16, u32)>,
}

/// The bucket of a value. Unit: nanoseconds.
fn bucket_of(ns: u64) -> u16 {
    let small = (1 << BUCKET_BITS) - 1;
    let dropped = u64::BITS - BUCKET_BITS - (ns | small).leading_zeros();
    ((u64::from(dropped) << (BUCKET_BITS - 1)) + (ns >> dropped)) as u16
}

/// The middle of a bucket. Unit: nanoseconds.
fn middle_of(bucket: u16) -> f64 {
    let dropped = (u64::from(bucket) >> (BUCKET_BITS - 1)).saturating_sub(1);
    let least = (u64::from(bucket) - (dropped << (BUCKET_BITS - 1))) << dropped;
    least as f64 + ((1_u64 << dropped) - 1) as f64 / 2.0
}

impl Histogram {
    /// Adds a latency. Unit: nanoseconds.
    pub(crate) fn record(&mut self, ns: u64) {
        let bucket = usize::from(bucket_of(ns));
        if bucket >= self.open.len() {
            self.open.resize(bucket + 1, 0);
        }
        self.open[bucket] += 1;
    }

    /// Keeps only the buckets in use, when no more latencies come.
    pub(crate) fn pack(&mut self) {
        let open = std::mem::take(&mut self.open);
        let used = (0..).zip(open).filter(|&(_, count)| count > 0).collect();
        self.merge(used);
    }

    /// Adds all latencies of another histogram.
    pub(crate) fn add(&mut self, other: &Self) {
        self.pack();
        self.merge(other.packed.clone());
        let open = (0..).zip(&other.open).filter(|&(_, &count)| count > 0);
        self.merge(open.map(|(bucket, &count)| (bucket, count)).collect());
    }

    fn merge(&mut self, mut more: Vec<(u16, u32)>) {
        more.append(&mut self.packed);
        more.sort_unstable();
        more.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0 };
            same
        });
        more.shrink_to_fit();
        self.packed = more;
    }

    /// A quantile of a packed histogram. Unit: microseconds; `None` without latencies.
    pub(crate) fn quantile_us(&self, quantile: f64) -> Option<f64> {
        let total: u64 = self.packed.iter().map(|&(_, count)| u64::from(count)).sum();
        let wanted = ((quantile * total as f64).ceil() as u64).max(1);
        let mut below = 0;
        self.packed.iter().find_map(|&(bucket, count)| {
            below += u64::from(count);
            (below >= wanted).then(|| middle_of(bucket) / 1e3)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_close_however_the_latencies_came_together() {
        let mut parts = [Histogram::default(), Histogram::default()];
        for us in 1..=10_000_u64 {
            parts[us as usize % 2].record(us * 1_000);
        }
        let [mut first, second] = parts;
        first.add(&second);
        for (quantile, exact) in [(0.5, 5_000.0), (0.99, 9_900.0)] {
            let found = first.quantile_us(quantile).expect("there are latencies");
            assert!((found / exact - 1.0_f64).abs() < 0.02, "{found} {exact}");
        }
        let total: u32 = first.packed.iter().map(|&(_, count)| count).sum();
        assert_eq!(total, 10_000);
        assert!(first.packed.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(Histogram::default().quantile_us(0.5), None);
    }

    #[test]
    fn buckets_hold_their_middle() {
        for ns in (0..2_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX >> 1]) {
            let bucket = bucket_of(ns);
            let middle = middle_of(bucket);
            assert_eq!(bucket_of(middle as u64), bucket, "{ns}");
            assert!((middle - ns as f64).abs() <= 0.016 * ns as f64 + 0.5, "{ns} {middle}");
        }
    }
}
