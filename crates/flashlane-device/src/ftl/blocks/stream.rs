//! The streams of writes: pages of each go to blocks of their own.

use std::fmt;

use flashlane_units::Handle;

/// Which write frontier a page comes from.
///
/// A number of one byte, since every block has one. The first numbers are those of the streams that
/// any drive may have. Behind them are those of the placement handles: one for each handle that
/// is initially isolated, and two for each that is persistently isolated.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Stream(u8);

/// Streams without those of placement handles.
const WITHOUT_HANDLES: u8 = 8;
/// The stream of the first persistently isolated handle.
const PERSISTENT: u8 = WITHOUT_HANDLES + HANDLES_MAX;
/// Most placement handles, or streams and what belongs to none, that a drive could have.
pub(in crate::ftl) const HANDLES_MAX: u8 = 72;

impl Stream {
    /// Pages that the host writes.
    pub const HOST: Self = Self(0);
    /// Pages that collection copies.
    pub const GC: Self = Self(1);
    /// Translation pages that are written back.
    pub const MAPPING: Self = Self(2);
    /// Translation pages that collection copies: a frontier of its own, so that write-backs cannot
    /// use up what the reserve gave to collection.
    pub const GC_MAPPING: Self = Self(3);
    /// Pages that collection moves to another chip: a frontier of its own, so that they cannot use
    /// up what the reserve gave to the collection there.
    pub const RELOCATED: Self = Self(4);
    /// Pages that the host writes into the SLC cache.
    pub const SLC: Self = Self(5);
    /// Pages that the host writes often, with `ftl.separation` of three frontiers.
    pub const HOT: Self = Self(6);
    /// Pages that the host writes and pages that collection copies, without separation.
    pub const SHARED: Self = Self(7);

    /// The stream of a number.
    pub(super) fn numbered(number: usize) -> Option<Self> {
        let count = usize::from(PERSISTENT) + 2 * usize::from(HANDLES_MAX);
        (number < count).then_some(Self(number as u8))
    }

    /// The number of the stream.
    #[inline(always)]
    pub(crate) fn number(self) -> usize {
        usize::from(self.0)
    }

    /// Number of streams of a drive: one above the largest number. `handles`: the placement handles
    /// of the drive; `persistent`: they are persistently isolated.
    pub(super) fn count(handles: u8, persistent: bool) -> usize {
        match (handles, persistent) {
            (0, _) => WITHOUT_HANDLES.into(),
            (_, false) => usize::from(WITHOUT_HANDLES + handles),
            (_, true) => usize::from(PERSISTENT) + 2 * usize::from(handles),
        }
    }

    /// Pages that the host writes by a placement handle. `persistent`: copies of them stay apart
    /// from those of other handles.
    #[inline]
    pub(crate) fn placed(handle: Handle, persistent: bool) -> Self {
        debug_assert!(handle.get() < HANDLES_MAX, "{handle} is a handle of a drive");
        match persistent {
            false => Self(WITHOUT_HANDLES + handle.get()),
            true => Self(PERSISTENT + 2 * handle.get()),
        }
    }

    /// The placement handle to which all pages of the stream belong, if there is one.
    pub(crate) fn handle(self) -> Option<Handle> {
        match self.0 {
            PERSISTENT.. => Some(Handle::new((self.0 - PERSISTENT) / 2)),
            WITHOUT_HANDLES.. => Some(Handle::new(self.0 - WITHOUT_HANDLES)),
            _ => None,
        }
    }

    /// True for pages that the host writes by a placement handle.
    pub(crate) fn is_of_handle(self) -> bool {
        self.handle().is_some() && self.moved() != self
    }

    /// True for data of the host, written or moved.
    pub(crate) fn is_data(self) -> bool {
        !matches!(self, Self::MAPPING | Self::GC_MAPPING)
    }

    /// The stream for pages that collection copies out of a block of this stream.
    pub(crate) fn moved(self) -> Self {
        match self {
            Self::MAPPING | Self::GC_MAPPING => Self::GC_MAPPING,
            Self::SHARED => Self::SHARED,
            // An odd distance from the first one is the stream of a handle's copies.
            Self(number @ PERSISTENT..) => Self(number | 1),
            _ => Self::GC,
        }
    }
}

const _: () = assert!(PERSISTENT.is_multiple_of(2), "a handle's copies have the odd number");

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["host", "gc", "mapping", "gc-mapping", "relocated", "slc", "hot", "shared"];
        match (names.get(self.number()), self.handle()) {
            (Some(name), _) => f.write_str(name),
            (None, Some(handle)) if self.moved() == *self => write!(f, "copies-{handle}"),
            (None, handle) => write!(f, "handle-{}", handle.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_handles_are_told_apart() {
        for persistent in [false, true] {
            let mut seen: Vec<usize> = (0..WITHOUT_HANDLES.into()).collect();
            for handle in (0..HANDLES_MAX).map(Handle::new) {
                let stream = Stream::placed(handle, persistent);
                assert_eq!(stream.handle(), Some(handle));
                assert!(stream.is_data());
                let moved = stream.moved();
                assert_eq!(moved.moved(), moved, "copies stay where they are");
                assert_eq!(moved.handle(), persistent.then_some(handle), "{stream:?}");
                let copies = persistent.then_some(moved.number());
                seen.extend([stream.number()].into_iter().chain(copies));
                assert!(stream.number() < Stream::count(handle.get() + 1, persistent));
                assert!(moved.number() < Stream::count(handle.get() + 1, persistent));
            }
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), count, "no two have the same number");
        }
        assert_eq!(Stream::count(0, true), 8);
    }

    #[test]
    fn numbers_name_streams() {
        for number in 0..Stream::count(HANDLES_MAX, true) {
            assert_eq!(Stream::numbered(number).map(Stream::number), Some(number));
        }
        assert_eq!(Stream::numbered(Stream::count(HANDLES_MAX, true)), None);
    }
}
