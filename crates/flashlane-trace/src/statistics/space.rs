//! Statistics of the addresses of requests.

use std::collections::HashMap;

use super::popularity::{Places, Popularity};
use super::{EXTENT_BYTES, READ, TraceStatistics, WRITE, share};
use crate::record::Record;

/// Size of a page of the footprint. Unit: bytes.
const PAGE_BYTES: u64 = 4096;
/// Largest part of a request that counts, as in the simulator. It bounds memory and time, whatever
/// lengths a file holds. Unit: bytes.
const LENGTH_BYTES_MAX: u64 = 16 << 20;
/// Number of previous requests that a request may continue.
const RECENT: usize = 32;

/// Collects statistics of addresses.
#[derive(Debug)]
pub(super) struct Space {
    /// End of the latest request of each device.
    ends: HashMap<u32, u64>,
    /// Device and end of the latest requests.
    recent: [Option<(u32, u64)>; RECENT],
    requests: u64,
    aligned: u64,
    /// Numbers of accesses by device and page: reads and writes.
    pages: HashMap<(u32, u64), [u32; 2]>,
    sides: [Side; 2],
}

#[derive(Debug, Default)]
struct Side {
    requests: u64,
    seq1: u64,
    seq32: u64,
    aligned_starts: u64,
    accesses: u64,
    revisits: u64,
    /// Random starts, by device and unit of each size.
    starts: [HashMap<(u32, u64), u32>; 2],
}

impl Default for Space {
    fn default() -> Self {
        Self {
            ends: HashMap::new(),
            recent: [None; RECENT],
            requests: 0,
            aligned: 0,
            pages: HashMap::new(),
            sides: <[Side; 2]>::default(),
        }
    }
}

impl Space {
    pub(super) fn add(&mut self, record: &Record, at: usize) {
        let (device, start, end) = (record.device, record.offset_bytes, record.end_bytes());
        let is_aligned = |offset: u64| offset.is_multiple_of(PAGE_BYTES);
        let side = &mut self.sides[at];
        side.requests += 1;
        side.seq1 += u64::from(self.ends.get(&device) == Some(&start));
        if self.recent.contains(&Some((device, start))) {
            side.seq32 += 1;
        } else {
            side.aligned_starts += u64::from(is_aligned(start));
            for (starts, unit) in side.starts.iter_mut().zip(EXTENT_BYTES) {
                count(starts.entry((device, start / unit)).or_default());
            }
        }
        self.ends.insert(device, end);
        self.recent[(self.requests % RECENT as u64) as usize] = Some((device, end));
        self.requests += 1;
        self.aligned += u64::from(is_aligned(start) && is_aligned(end));
        let last = end.max(start.saturating_add(1)) - 1;
        let last = last.min(start.saturating_add(LENGTH_BYTES_MAX - 1));
        for page in start / PAGE_BYTES..=last / PAGE_BYTES {
            let accesses = &mut self.pages.entry((device, page)).or_default()[at];
            side.accesses += 1;
            side.revisits += u64::from(*accesses > 0);
            count(accesses);
        }
    }

    pub(super) fn finish(self, into: &mut TraceStatistics) {
        into.aligned = share(self.aligned as f64, self.requests);
        let of = |side: usize| {
            let touched = self.pages.values().map(move |both| both[side]);
            Popularity::of(touched.filter(|&accesses| accesses > 0).collect())
        };
        into.pages = Popularity::of(
            self.pages.values().map(|both| both[0].saturating_add(both[1])).collect(),
        );
        into.shared_pages =
            self.pages.values().filter(|both| both[0] > 0 && both[1] > 0).count() as u64;
        let [reads, writes] = &self.sides;
        let shared = std::array::from_fn(|unit| {
            let other = &writes.starts[unit];
            reads.starts[unit].keys().filter(|&place| other.contains_key(place)).count() as u64
        });
        for (into, at) in [(&mut into.read, READ), (&mut into.write, WRITE)] {
            let side = &self.sides[at];
            into.seq1 = share(side.seq1 as f64, side.requests);
            into.seq32 = share(side.seq32 as f64, side.requests);
            into.aligned_starts = share(side.aligned_starts as f64, side.requests - side.seq32);
            into.pages = of(at);
            into.revisits = share(side.revisits as f64, side.accesses);
            into.starts = side.starts.each_ref().map(Places::of);
            into.shared_starts = shared;
        }
    }
}

/// Counts one more. The count stays at its largest value.
fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
