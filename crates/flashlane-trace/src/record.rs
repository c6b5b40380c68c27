//! The record into which every format is converted.

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Arrival time. Unit: picoseconds, since the first record of the file unless
    /// [`TraceOptions::rebase`](crate::TraceOptions::rebase) is off.
    pub time_ps: u64,
    /// The operation of the request.
    pub op: Op,
    /// First byte that the request touches. Unit: bytes, from the start of the device's address
    /// space.
    pub offset_bytes: u64,
    /// Length of the request. Unit: bytes. Range: at least 1, except for [`Op::Flush`], where it
    /// may be 0.
    pub length_bytes: u64,
    /// Number of the device, disk, volume or address space unit that the trace names; 0 if the
    /// format names none. The address spaces of different devices overlap: each starts at offset 0.
    pub device: u32,
    /// The placement identifier that a write names: a handle of flexible data placement, or a
    /// stream. `None` if the trace names none. Range: 0 to [`Record::PLACEMENT_MAX`].
    pub placement: Option<u8>,
}

impl Record {
    /// The largest placement identifier that a drive may have.
    pub const PLACEMENT_MAX: u8 = 64;

    /// First byte after the request. Unit: bytes. Readers reject records for which this exceeds
    /// `u64`.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Data moves from the drive to the host.
    Read,
    /// Data moves from the host to the drive.
    Write,
    /// The host no longer needs the range (TRIM, discard, deallocate).
    Trim,
    /// The host asks that volatile data be made durable.
    Flush,
}

/// A record on the clock of the file, before rebasing.
///
/// The time is `u128` because a Windows filetime in picoseconds exceeds `u64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawRecord {
    pub(crate) time_ps: u128,
    pub(crate) op: Op,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    pub(crate) device: u32,
    /// The tag of the record, if the options ask for one; else 0.
    pub(crate) tag: u32,
    /// Placement identifier, as in [`Record`].
    pub(crate) placement: Option<u8>,
}

impl RawRecord {
    /// A record without a tag that names no placement identifier. `range`: its first byte and its
    /// length.
    pub(crate) fn of(time_ps: u128, op: Op, range: (u64, u64), device: u32) -> Self {
        let (offset_bytes, length_bytes) = range;
        Self { time_ps, op, offset_bytes, length_bytes, device, tag: 0, placement: None }
    }
}
