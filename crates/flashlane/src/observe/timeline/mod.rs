//! What hosts, data cache, channels and dies did in a span of the run, for trace viewers.

pub(crate) mod recorder;

/// What to put on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Start of the span, from the beginning of the run. Unit: picoseconds.
    pub from: u64,
    /// Its end. Unit: picoseconds.
    pub to: u64,
    /// Slices at most; the timeline ends early where there are more.
    pub slices_max: usize,
}

impl Default for TimelineOptions {
    /// The start of the run, as far as 200,000 slices go.
    fn default() -> Self {
        Self { from: 0, to: u64::MAX, slices_max: 200_000 }
    }
}

/// Slices of a span of the run. A slice belongs to the timeline if some of it lies in the span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Start of the span. Unit: picoseconds.
    pub from: u64,
    /// End of the span, of the run, or the time at which there were enough slices. Unit:
    /// picoseconds.
    pub to: u64,
    /// It ended before its span and the run because there were enough slices.
    pub truncated: bool,
    /// Names of the flows, in the order of the workload.
    pub flows: Vec<String>,
    /// What slices lie on; parents before their children, and none that is empty together with its
    /// children.
    pub tracks: Vec<Track>,
    /// By track, then by start; those that start together, the longest first. Slices of one track
    /// either lie inside one another or have nothing in common.
    pub slices: Vec<Slice>,
}

/// A line of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// The track that it belongs to, by its place in the list.
    pub parent: Option<u32>,
}

/// Something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its track, by its place in the list.
    pub track: u32,
    /// Unit: picoseconds.
    pub start: u64,
    /// Unit: picoseconds. Not before the start.
    pub end: u64,
    /// What it is.
    pub name: &'static str,
    /// Whose work it is, by its place in the workload.
    pub flow: u16,
    /// Number of the request that it works for, from 1 in the order in which they first show; 0 for
    /// none, and for the stages inside a request.
    pub request: u64,
}
