//! The streams of writes: pages of each go to blocks of their own.

/// Which write frontier a page comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// Pages that the host writes.
    #[default]
    Host,
    /// Pages that collection copies.
    Gc,
    /// Translation pages that are written back.
    Mapping,
    /// Translation pages that collection copies: a frontier of its own, so that write-backs cannot
    /// use up what the reserve gave to collection.
    GcMapping,
    /// Pages that collection moves to another chip: a frontier of its own, so that they cannot use
    /// up what the reserve gave to the collection there.
    Relocated,
    /// Pages that the host writes into the SLC cache.
    Slc,
    /// Pages that the host writes often, with `ftl.separation` of three frontiers.
    Hot,
    /// Pages that the host writes and pages that collection copies, without separation.
    Shared,
}

impl Stream {
    /// All streams, in order of their numbers.
    pub(super) const ALL: [Self; 8] = [
        Self::Host,
        Self::Gc,
        Self::Mapping,
        Self::GcMapping,
        Self::Relocated,
        Self::Slc,
        Self::Hot,
        Self::Shared,
    ];

    /// True for data of the host, written or moved.
    pub(crate) fn is_data(self) -> bool {
        !matches!(self, Self::Mapping | Self::GcMapping)
    }

    /// The stream for pages that collection copies out of a block of this stream.
    pub(crate) fn moved(self) -> Self {
        match self {
            Self::Mapping | Self::GcMapping => Self::GcMapping,
            Self::Host | Self::Gc | Self::Relocated | Self::Slc | Self::Hot => Self::Gc,
            Self::Shared => Self::Shared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_listed_by_number() {
        for (number, &stream) in Stream::ALL.iter().enumerate() {
            assert_eq!(stream as usize, number, "{stream:?}");
        }
    }
}
