//! Splits a trace of several tenants into a trace for each tenant.
//!
//! [`Split::plan`] reads the trace once and finds the tenants. [`Split::write`] reads the trace
//! again and writes the requests of each tenant to a file. Addresses and times stay those of the
//! trace.

mod extents;
mod names;
mod write;

pub use self::write::SplitError;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use self::extents::{Cells, Clusters};
use self::names::Names;
use crate::completions::Completions;
use crate::error::TraceError;
use crate::format::Format;
use crate::options::{Action, TraceOptions};
use crate::reader::TraceReader;
use crate::record::{Op, Record};
use crate::tags::TagKind;

/// Name of the tenant to which the smallest tenants are joined.
const OTHERS: &str = "others";
/// Largest number of extents whose figures are compared, because time and memory grow with its
/// square.
const COMPARED_MAX: usize = 4096;

/// The property that tells tenants apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// A tag of the requests.
    Tag(TagKind),
    /// The device that the trace names.
    Device,
    /// Ranges of addresses whose requests are alike in hotness, direction, sequentiality and size.
    Lba,
}

impl SplitBy {
    /// The names that [`SplitBy::by_name`] takes, for messages.
    pub const ALLOWED: &str = "process, pid, cgroup, device, lba, queue, namespace, column:NAME";

    /// The property with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<SplitBy> {
        match name {
            "device" => Some(SplitBy::Device),
            "lba" => Some(SplitBy::Lba),
            name => TagKind::by_name(name).map(SplitBy::Tag),
        }
    }
}

impl fmt::Display for SplitBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitBy::Tag(kind) => kind.fmt(f),
            SplitBy::Device => f.write_str("device"),
            SplitBy::Lba => f.write_str("lba"),
        }
    }
}

/// Counts of the requests of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Number of requests by operation: reads, writes, trims, flushes.
    pub requests: [u64; 4],
    /// Number of bytes by operation.
    pub bytes: [u64; 4],
    /// Time of the first request of the tenant. Unit: picoseconds from the first request of the
    /// trace.
    pub first_ps: u64,
    /// Time of the last request of the tenant. Unit: as above.
    pub last_ps: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { requests: [0; 4], bytes: [0; 4], first_ps: u64::MAX, last_ps: 0 }
    }
}

impl Tally {
    /// Number of all requests.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.requests.iter().sum()
    }

    fn count_in(&mut self, record: &Record) {
        let op = record.op as usize;
        self.requests[op] += 1;
        self.bytes[op] = self.bytes[op].saturating_add(record.length_bytes);
        self.first_ps = self.first_ps.min(record.time_ps);
        self.last_ps = self.last_ps.max(record.time_ps);
    }

    fn add(&mut self, other: &Tally) {
        for (own, more) in self.requests.iter_mut().zip(other.requests) {
            *own += more;
        }
        for (own, more) in self.bytes.iter_mut().zip(other.bytes) {
            *own = own.saturating_add(more);
        }
        self.first_ps = self.first_ps.min(other.first_ps);
        self.last_ps = self.last_ps.max(other.last_ps);
    }
}

/// A tenant of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenant {
    /// Name of the tenant, which is a legal name of a flow and of a file, and unique.
    pub name: String,
    /// The texts of the trace for this tenant. A joined tenant has several. With [`SplitBy::Lba`]
    /// they are the figures of its extents.
    pub texts: Vec<String>,
    /// Counts of the requests of the tenant.
    pub tally: Tally,
}

/// The tenants of a trace, with the largest number of requests first.
#[derive(Debug)]
pub struct Split {
    path: PathBuf,
    options: TraceOptions,
    by: SplitBy,
    format: Format,
    tenants: Vec<Tenant>,
    /// The tenant of each tag, device or cluster.
    tenant_of: BTreeMap<u32, usize>,
    clusters: Option<Clusters>,
    has_completions: bool,
    action: Action,
}

/// The key by which a request is counted while the trace is read for the first time.
#[derive(Default)]
struct Counted {
    tallies: BTreeMap<u32, Tally>,
    cells: Cells,
}

impl Split {
    /// Finds the tenants of a trace. At most `top` tenants with the most requests are kept; the
    /// others become one more tenant, called `others`.
    ///
    /// # Errors
    /// Any [`TraceError`] of reading. [`TraceError::NoTag`] if the trace does not have the
    /// property. [`TraceError::TooManyTenants`] if the property has too many values.
    pub fn plan(
        path: impl AsRef<Path>,
        options: &TraceOptions,
        by: &SplitBy,
        top: usize,
    ) -> Result<Split, TraceError> {
        let path = path.as_ref();
        let mut options = options.clone();
        options.tag = match by {
            SplitBy::Tag(kind) => Some(kind.clone()),
            SplitBy::Device | SplitBy::Lba => None,
        };
        let mut reader = TraceReader::open(path, &options)?;
        let mut counted = Counted::default();
        while let Some(record) = reader.next()? {
            match by {
                SplitBy::Tag(_) => counted.count(reader.tag(), &record),
                SplitBy::Device => counted.count(record.device, &record),
                SplitBy::Lba => counted.cells.add(&record),
            }
        }
        let untagged = reader.untagged_count();
        if untagged > 0 {
            return Err(TraceError::TooManyTenants { path: path.to_owned(), by: by.to_string() });
        }
        let mut split = Split {
            path: path.to_owned(),
            by: by.clone(),
            format: reader.format().clone(),
            tenants: Vec::new(),
            tenant_of: BTreeMap::new(),
            clusters: None,
            has_completions: Completions::open(path, &options)?.is_some(),
            action: reader.action(),
            options,
        };
        if *by == SplitBy::Lba {
            split.find_clusters(&mut reader, &mut counted)?;
        }
        let mut groups: BTreeMap<String, (Vec<u32>, Tally)> = BTreeMap::new();
        for (key, tally) in counted.tallies {
            let group = groups.entry(split.text(key, &reader)).or_default();
            group.0.push(key);
            group.1.add(&tally);
        }
        split.rank(groups, top);
        Ok(split)
    }

    /// Finds clusters of addresses, and counts the requests of each.
    fn find_clusters(
        &mut self,
        reader: &mut TraceReader,
        counted: &mut Counted,
    ) -> Result<(), TraceError> {
        let Some(clusters) = std::mem::take(&mut counted.cells).clusters(COMPARED_MAX) else {
            let by = "lba".to_owned();
            return Err(TraceError::TooManyTenants { path: self.path.clone(), by });
        };
        reader.rewind()?;
        while let Some(record) = reader.next()? {
            counted.count(clusters.of(&record) as u32, &record);
        }
        self.clusters = Some(clusters);
        Ok(())
    }

    /// The text of the trace for a key.
    fn text(&self, key: u32, reader: &TraceReader) -> String {
        if let Some(clusters) = &self.clusters {
            return clusters.kinds[key as usize].description();
        }
        match self.by {
            SplitBy::Device => match self.format {
                Format::Blkparse | Format::Blktrace | Format::Fiu => {
                    format!("{},{}", key >> 20, key & 0xf_ffff)
                }
                _ => key.to_string(),
            },
            _ => reader.tag_text(key).unwrap_or_default().to_owned(),
        }
    }

    /// Orders and names the tenants, and joins the smallest.
    fn rank(&mut self, groups: BTreeMap<String, (Vec<u32>, Tally)>, top: usize) {
        let mut ranked: Vec<(String, (Vec<u32>, Tally))> = groups.into_iter().collect();
        // The sort is stable: tenants with equal numbers of requests stay in the order of their
        // texts.
        ranked.sort_by_key(|(_, (_, tally))| std::cmp::Reverse(tally.count()));
        let mut names = Names::default();
        for (rank, (text, (keys, tally))) in ranked.into_iter().enumerate() {
            if rank > top.max(1) {
                let others = self.tenants.len() - 1;
                self.tenants[others].texts.push(text);
                self.tenants[others].tally.add(&tally);
            } else {
                let name = if rank == top.max(1) {
                    names.name(OTHERS, OTHERS)
                } else {
                    self.name(&mut names, &text, keys[0])
                };
                self.tenants.push(Tenant { name, texts: vec![text], tally });
            }
            let tenant = self.tenants.len() - 1;
            self.tenant_of.extend(keys.into_iter().map(|key| (key, tenant)));
        }
    }

    fn name(&self, names: &mut Names, text: &str, key: u32) -> String {
        let kind = self.clusters.as_ref().map(|clusters| clusters.kinds[key as usize].name());
        let prefix = match &self.by {
            SplitBy::Tag(TagKind::Column(column)) => column.clone(),
            by => by.to_string(),
        };
        let named = !prefix.is_empty() && !prefix.bytes().all(|byte| byte.is_ascii_digit());
        names.name(kind.as_deref().unwrap_or(text), if named { &prefix } else { "tenant" })
    }

    /// The tenants, with the largest number of requests first.
    #[must_use]
    pub fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    /// The mean silhouette of the clusters of addresses, weighted by requests. Range: -1 to 1.
    /// Above 0.7 the clusters are well separated, below 0.5 they overlap. `None` if the trace is
    /// not split by address, or has one cluster.
    #[must_use]
    pub fn silhouette(&self) -> Option<f64> {
        self.clusters.as_ref().and_then(|clusters| clusters.silhouette)
    }

    /// True if the trace has completions.
    #[must_use]
    pub fn has_completions(&self) -> bool {
        self.has_completions
    }

    /// The event of a request that counts as its arrival, in formats with several events.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// Name of the format of the files: `blkparse` if there are completions, else `csv`.
    #[must_use]
    pub fn output(&self) -> &'static str {
        if self.has_completions { "blkparse" } else { "csv" }
    }

    /// The tenant of a request.
    fn tenant(&self, record: &Record, tag: u32) -> usize {
        let key = match (&self.by, &self.clusters) {
            (_, Some(clusters)) => clusters.of(record) as u32,
            (SplitBy::Device, None) => record.device,
            _ => tag,
        };
        self.tenant_of.get(&key).copied().unwrap_or(0)
    }
}

impl Counted {
    fn count(&mut self, key: u32, record: &Record) {
        self.tallies.entry(key).or_default().count_in(record);
    }
}

/// Operations in the order of [`Tally`]'s counts.
const _: () = assert!(Op::Read as usize == 0 && Op::Flush as usize == 3);

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
