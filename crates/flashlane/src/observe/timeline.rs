//! Every command on channels and dies in a span of the run, for trace viewers.

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

/// Slices of a span of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Start of the span. Unit: picoseconds.
    pub from: u64,
    /// End of the span, or the time at which there were enough slices. Unit: picoseconds.
    pub to: u64,
    /// It ended early.
    pub truncated: bool,
    /// Names of the flows, in the order of the workload.
    pub flows: Vec<String>,
    /// What slices lie on; parents before their children.
    pub tracks: Vec<Track>,
    /// In order of their start on each track.
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
    /// Number of the request that it works for, from 1 in the order of arrival; 0 for none.
    pub request: u64,
}
