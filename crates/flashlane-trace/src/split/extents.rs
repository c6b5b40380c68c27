//! Finds ranges of addresses with similar access.
//!
//! The requests of a trace are counted in cells. Adjacent cells are joined to extents with about
//! equal numbers of requests. Extents with similar figures become clusters: agglomerative
//! clustering with average linkage, cut where the silhouette is largest. No step is random.

use std::collections::BTreeMap;

use kodama::{Method, linkage};

use crate::record::{Op, Record};

/// Largest number of cells. Beyond it, two adjacent cells become one.
const CELLS_MAX: usize = 1 << 16;
/// Size of a cell at the start. Unit: bytes.
const CELL_BYTES: u64 = 1 << 20;
/// Largest number of extents, because memory grows with its square.
const EXTENTS_MAX: u64 = 512;
/// Largest number of clusters.
const CLUSTERS_MAX: usize = 8;
/// Number of previous requests that a sequential request may continue.
const STREAMS: usize = 32;
/// Extents closer than this are alike, whatever other extents there are. Unit: the scale of
/// [`Figures`].
const ALIKE: f64 = 1.0;
/// A cluster with a smaller share of the requests is not a tenant.
const CLUSTER_SHARE_MIN: f64 = 0.01;

/// Counts of a cell or an extent.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    requests: u64,
    writes: u64,
    sequential: u64,
    /// Sum of the base-two logarithms of the lengths.
    log_bytes: f64,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.requests += other.requests;
        self.writes += other.writes;
        self.sequential += other.sequential;
        self.log_bytes += other.log_bytes;
    }
}

/// Counts requests by their place.
#[derive(Debug)]
pub(super) struct Cells {
    cell_bytes: u64,
    cells: BTreeMap<(u32, u64), Counts>,
    /// Device and end of the latest requests, as a ring.
    ends: [(u32, u64); STREAMS],
    next_end: usize,
}

impl Default for Cells {
    fn default() -> Cells {
        let ends = [(0, u64::MAX); STREAMS];
        Cells { cell_bytes: CELL_BYTES, cells: BTreeMap::new(), ends, next_end: 0 }
    }
}

impl Cells {
    /// Counts a request. Flushes have no address.
    pub(super) fn add(&mut self, record: &Record) {
        if record.op == Op::Flush {
            return;
        }
        let start = (record.device, record.offset_bytes);
        let end = (record.device, record.end_bytes());
        let sequential = match self.ends.iter().position(|end| *end == start) {
            Some(stream) => {
                self.ends[stream] = end;
                1
            }
            None => {
                self.ends[self.next_end] = end;
                self.next_end = (self.next_end + 1) % STREAMS;
                0
            }
        };
        let counts = Counts {
            requests: 1,
            writes: u64::from(record.op != Op::Read),
            sequential,
            log_bytes: libm::log2(record.length_bytes.max(1) as f64),
        };
        let cell = (record.device, record.offset_bytes / self.cell_bytes);
        self.cells.entry(cell).or_default().add(&counts);
        while self.cells.len() > CELLS_MAX {
            self.widen();
        }
    }

    /// Joins pairs of adjacent cells.
    fn widen(&mut self) {
        self.cell_bytes *= 2;
        for ((device, cell), counts) in std::mem::take(&mut self.cells) {
            self.cells.entry((device, cell / 2)).or_default().add(&counts);
        }
    }

    /// Finds the clusters. Returns `None` if there are more extents than `most`.
    pub(super) fn clusters(self, most: usize) -> Option<Clusters> {
        let extents = self.extents();
        if extents.len() > most {
            return None;
        }
        let points: Vec<Figures> = extents.iter().map(Figures::of).collect();
        let weights: Vec<f64> = extents.iter().map(|one| one.counts.requests as f64).collect();
        let (labels, silhouette) = cluster(&points, &weights);
        let count = labels.iter().max().map_or(0, |last| last + 1);
        let mut kinds = vec![Kind::default(); count];
        for (extent, label) in extents.iter().zip(&labels) {
            kinds[*label].extents += 1;
            kinds[*label].bytes += extent.to - extent.from;
            kinds[*label].counts.add(&extent.counts);
        }
        let starts = extents.iter().map(|one| (one.device, one.from)).collect();
        Some(Clusters { starts, labels, kinds, silhouette })
    }

    /// Joins adjacent cells until each extent has its share of the requests, or the next cell is
    /// far away.
    fn extents(&self) -> Vec<Extent> {
        let total: u64 = self.cells.values().map(|cell| cell.requests).sum();
        let share = total.div_ceil(EXTENTS_MAX / 2).max(1);
        let mut extents: Vec<Extent> = Vec::new();
        for ((device, cell), counts) in &self.cells {
            let (from, to) = (cell * self.cell_bytes, (cell + 1).saturating_mul(self.cell_bytes));
            match extents.last_mut().filter(|last| last.takes(*device, from, share)) {
                Some(last) => {
                    last.to = to;
                    last.cells += 1;
                    last.counts.add(counts);
                }
                None => {
                    extents.push(Extent { device: *device, from, to, cells: 1, counts: *counts });
                }
            }
        }
        extents
    }
}

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
struct Extent {
    device: u32,
    from: u64,
    to: u64,
    cells: u64,
    counts: Counts,
}

impl Extent {
    /// True if the next cell belongs to this extent. Every extent but the last of a device has at
    /// least a quarter of the share, which bounds the number of extents.
    fn takes(&self, device: u32, from: u64, share: u64) -> bool {
        let gap = from - self.to.min(from);
        let is_far = gap > 16 * ((self.to - self.from) / self.cells);
        let is_started = self.counts.requests * 4 >= share.max(4);
        self.device == device && self.counts.requests < share && !(is_far && is_started)
    }
}

/// Figures of an extent, on scales on which a distance of 1 is noticeable: a factor of three in
/// hotness, a quarter in direction and in sequentiality, a factor of four in size.
#[derive(Clone, Copy, Debug)]
struct Figures([f64; 4]);

impl Figures {
    fn of(extent: &Extent) -> Figures {
        let Counts { requests, writes, sequential, log_bytes } = extent.counts;
        let requests = requests.max(1) as f64;
        let mib = (extent.to - extent.from).max(1) as f64 / CELL_BYTES as f64;
        Figures([
            libm::log10(requests / mib) / 0.5,
            writes as f64 / requests / 0.25,
            sequential as f64 / requests / 0.25,
            log_bytes / requests / 2.0,
        ])
    }

    fn distance(&self, other: &Figures) -> f64 {
        let squares = self.0.iter().zip(&other.0).map(|(a, b)| (a - b) * (a - b));
        libm::sqrt(squares.sum())
    }
}

/// The cluster of each point, numbered by first appearance, and the mean silhouette of the points,
/// weighted. If the points are alike, all are in one cluster and there is no silhouette.
fn cluster(points: &[Figures], weights: &[f64]) -> (Vec<usize>, Option<f64>) {
    let count = points.len();
    let mut distances = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    for (index, point) in points.iter().enumerate() {
        distances.extend(points[index + 1..].iter().map(|other| point.distance(other)));
    }
    let largest = distances.iter().copied().fold(0.0, f64::max);
    if count < 2 || largest < ALIKE {
        return (vec![0; count], None);
    }
    let tree = linkage(&mut distances, count, Method::Average);
    let merges: Vec<(usize, usize)> =
        tree.steps().iter().map(|step| (step.cluster1, step.cluster2)).collect();
    // Clusters that are alike stay merged.
    let apart = tree.steps().iter().filter(|step| step.dissimilarity >= ALIKE).count();
    let mut best: Option<(Vec<usize>, f64)> = None;
    for wanted in 2..=CLUSTERS_MAX.min(apart + 1) {
        let mut labels = cut(&merges, count, wanted);
        let clusters = absorb(points, weights, &mut labels, wanted);
        if clusters < 2 {
            continue;
        }
        let silhouette = silhouette(points, weights, &labels, clusters);
        if best.as_ref().is_none_or(|best| silhouette > best.1) {
            best = Some((labels, silhouette));
        }
    }
    match best {
        Some((labels, silhouette)) => (labels, Some(silhouette)),
        None => (vec![0; count], None),
    }
}

/// Moves the points of clusters with few requests to the closest other cluster, and numbers the
/// remaining clusters by first appearance. Returns their number.
fn absorb(points: &[Figures], weights: &[f64], labels: &mut [usize], clusters: usize) -> usize {
    let mut sizes = vec![0.0; clusters];
    for (label, weight) in labels.iter().zip(weights) {
        sizes[*label] += weight;
    }
    let least = CLUSTER_SHARE_MIN * weights.iter().sum::<f64>();
    let old = labels.to_vec();
    for (index, label) in labels.iter_mut().enumerate().filter(|(_, label)| sizes[**label] < least)
    {
        let to = distances_to(&points[index], points, weights, &old, clusters);
        let large = (0..clusters).filter(|cluster| sizes[*cluster] >= least);
        let mean = |cluster: &usize| to[*cluster] / sizes[*cluster];
        if let Some(closest) = large.min_by(|a, b| mean(a).total_cmp(&mean(b))) {
            *label = closest;
        }
    }
    number_by_first(labels)
}

/// Sums of the distances of a point to the points of each cluster, weighted.
fn distances_to(
    point: &Figures,
    points: &[Figures],
    weights: &[f64],
    labels: &[usize],
    clusters: usize,
) -> Vec<f64> {
    let mut to = vec![0.0; clusters];
    for ((other, label), weight) in points.iter().zip(labels).zip(weights) {
        to[*label] += weight * point.distance(other);
    }
    to
}

/// Numbers the clusters by first appearance. Returns their number.
fn number_by_first(labels: &mut [usize]) -> usize {
    let mut known: Vec<usize> = Vec::new();
    for label in labels {
        *label = known.iter().position(|one| one == label).unwrap_or_else(|| {
            known.push(*label);
            known.len() - 1
        });
    }
    known.len()
}

/// The clusters before the last merges.
fn cut(merges: &[(usize, usize)], count: usize, clusters: usize) -> Vec<usize> {
    // The cluster of which a point or a merge is part.
    let mut parent: Vec<usize> = (0..count + merges.len()).collect();
    for (index, (a, b)) in merges.iter().enumerate().take(count - clusters) {
        parent[*a] = count + index;
        parent[*b] = count + index;
    }
    let root = |mut at: usize| {
        while parent[at] != at {
            at = parent[at];
        }
        at
    };
    let mut labels: Vec<usize> = (0..count).map(root).collect();
    number_by_first(&mut labels);
    labels
}

/// Mean silhouette, weighted (Rousseeuw 1987): how much closer points are to their own cluster than
/// to the next one. Range: -1 to 1; 0 for a cluster of one point.
fn silhouette(points: &[Figures], weights: &[f64], labels: &[usize], clusters: usize) -> f64 {
    let mut sizes = vec![0.0; clusters];
    for (label, weight) in labels.iter().zip(weights) {
        sizes[*label] += weight;
    }
    let mut sum = 0.0;
    for (index, point) in points.iter().enumerate() {
        let to = distances_to(point, points, weights, labels, clusters);
        let own = labels[index];
        let others = sizes[own] - weights[index];
        let inside = to[own] / if others > 0.0 { others } else { weights[index] };
        let outside = (0..clusters)
            .filter(|cluster| *cluster != own)
            .map(|cluster| to[cluster] / sizes[cluster])
            .fold(f64::INFINITY, f64::min);
        let larger = inside.max(outside);
        if larger > 0.0 && others > 0.0 {
            sum += weights[index] * (outside - inside) / larger;
        }
    }
    sum / weights.iter().sum::<f64>()
}

/// The common properties of the extents of a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kind {
    extents: usize,
    bytes: u64,
    counts: Counts,
}

impl Kind {
    /// A name, for example `sequential-writes`.
    pub(super) fn name(&self) -> String {
        let requests = self.counts.requests.max(1) as f64;
        let order =
            if self.counts.sequential as f64 / requests >= 0.5 { "sequential" } else { "random" };
        let direction = match self.counts.writes as f64 / requests {
            share if share <= 0.1 => "reads",
            share if share >= 0.9 => "writes",
            _ => "mixed",
        };
        format!("{order}-{direction}")
    }

    /// The figures in words.
    pub(super) fn description(&self) -> String {
        let requests = self.counts.requests.max(1) as f64;
        let percent = |count: u64| 100.0 * count as f64 / requests;
        format!(
            "{} extents, {:.1} MiB in all, {:.3} requests per MiB, {:.0} % writes, {:.0} % sequential, \
             {:.1} KiB each",
            self.extents,
            self.bytes as f64 / CELL_BYTES as f64,
            requests / (self.bytes.max(1) as f64 / CELL_BYTES as f64),
            percent(self.counts.writes),
            percent(self.counts.sequential),
            libm::exp2(self.counts.log_bytes / requests) / 1024.0,
        )
    }
}

/// The extents and their clusters.
#[derive(Debug)]
pub(super) struct Clusters {
    /// Device and first byte of each extent, in ascending order.
    starts: Vec<(u32, u64)>,
    labels: Vec<usize>,
    pub(super) kinds: Vec<Kind>,
    /// The mean silhouette of the clusters. `None` if all extents are alike.
    pub(super) silhouette: Option<f64>,
}

impl Clusters {
    /// The cluster of a request. A flush has the first cluster.
    pub(super) fn of(&self, record: &Record) -> usize {
        if record.op == Op::Flush {
            return 0;
        }
        let place = (record.device, record.offset_bytes);
        let after = self.starts.partition_point(|start| *start <= place);
        self.labels.get(after.saturating_sub(1)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(op: Op, offset_bytes: u64, length_bytes: u64) -> Record {
        Record { time_ps: 0, op, offset_bytes, length_bytes, device: 0, placement: None }
    }

    /// Random reads over 64 GiB, and a sequential write of 1 GiB at higher addresses.
    fn two_kinds() -> Vec<Record> {
        let mut state = 1_u64;
        let mut requests = Vec::new();
        for index in 0..4000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            requests.push(request(Op::Read, (state >> 40) % (1 << 24) * 4096, 4096));
            requests.push(request(Op::Write, (80 << 30) + index * 262_144, 262_144));
        }
        requests
    }

    fn clusters(requests: &[Record]) -> Clusters {
        let mut cells = Cells::default();
        requests.iter().for_each(|request| cells.add(request));
        cells.clusters(4096).expect("few devices")
    }

    #[test]
    fn a_sequential_writer_is_told_from_random_reads() {
        let requests = two_kinds();
        let found = clusters(&requests);
        let names: Vec<String> = found.kinds.iter().map(Kind::name).collect();
        assert_eq!(names, ["random-reads", "sequential-writes"]);
        assert!(found.silhouette.is_some_and(|value| value > 0.8), "{:?}", found.silhouette);
        let wrong = requests.iter().filter(|one| found.of(one) != usize::from(one.op == Op::Write));
        assert!(wrong.count() < 40, "less than one request in a hundred is in the wrong cluster");
    }

    #[test]
    fn extents_that_are_alike_are_one_tenant() {
        let reads: Vec<Record> = two_kinds().into_iter().filter(|r| r.op == Op::Read).collect();
        let found = clusters(&reads);
        assert_eq!((found.kinds.len(), found.silhouette), (1, None));
        let one = clusters(&[request(Op::Flush, 0, 0), request(Op::Read, 0, 512)]);
        assert_eq!((one.kinds.len(), one.silhouette), (1, None));
    }

    #[test]
    fn cells_stay_bounded() {
        let mut cells = Cells::default();
        for index in 0..200_000 {
            cells.add(&request(Op::Read, index * (3 << 20), 4096));
        }
        assert!(cells.cells.len() <= CELLS_MAX);
        let total: u64 = cells.cells.values().map(|cell| cell.requests).sum();
        assert_eq!(total, 200_000);
        assert!(cells.extents().len() as u64 <= 4 * EXTENTS_MAX);
    }

    #[test]
    fn the_silhouette_of_two_pairs_is_that_of_a_hand() {
        let point = |x: f64| Figures([x, 0.0, 0.0, 0.0]);
        let points = [point(0.0), point(1.0), point(10.0), point(11.0)];
        let found = silhouette(&points, &[1.0; 4], &[0, 0, 1, 1], 2);
        // The outer points have distances 1 inside and 10.5 outside, the inner points 1 and 9.5.
        let expected = ((10.5 - 1.0) / 10.5 + (9.5 - 1.0) / 9.5) / 2.0;
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        let (labels, certain) = cluster(&points, &[1.0; 4]);
        assert_eq!((labels, certain), (vec![0, 0, 1, 1], Some(found)));
    }
}
