//! Work of hosts, data cache, channels and dies in a span of the run, for trace viewers.

pub(crate) mod recorder;

/// Choice of the span that the timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Start of the span, from the beginning of the run. Unit: picoseconds.
    pub from: u64,
    /// End of the span, from the beginning of the run. Unit: picoseconds.
    pub to: u64,
    /// Most slices; the timeline ends early if there are more.
    pub slices_max: usize,
}

impl Default for TimelineOptions {
    /// From the start of the run, for 200,000 slices.
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
    /// True if the timeline ended before its span and the run because there were enough slices.
    pub truncated: bool,
    /// Names of the flows, in the order of the workload.
    pub flows: Vec<String>,
    /// The tracks that slices lie on. Parents come before their children, and no track is empty
    /// together with its children.
    pub tracks: Vec<Track>,
    /// The slices by track, then by start; of slices that start together the longest comes first.
    /// Slices of one track either lie inside one another or do not overlap.
    pub slices: Vec<Slice>,
}

/// A line of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Name of the track.
    pub name: String,
    /// The track that it belongs to, by its place in the list.
    pub parent: Option<u32>,
}

/// A piece of work that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Track of the slice, as an index into the tracks.
    pub track: u32,
    /// Start of the slice. Unit: picoseconds.
    pub start: u64,
    /// End of the slice, which is not before its start. Unit: picoseconds.
    pub end: u64,
    /// Name of the work.
    pub name: &'static str,
    /// The flow that the work belongs to, as an index into the workload.
    pub flow: u16,
    /// Number of the request that the work is for. Requests are numbered from 1, in the order in
    /// which they first appear; 0 for none, and for the stages inside a request.
    pub request: u64,
}
