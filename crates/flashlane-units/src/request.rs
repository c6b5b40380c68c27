//! The kinds of host requests.

/// What a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestOp {
    /// Read data.
    #[default]
    Read,
    /// Write data.
    Write,
    /// Deallocate.
    Trim,
    /// Make everything acknowledged durable.
    Flush,
    /// Write at the write pointer of a zone, wherever that is. The drive answers with the place.
    ZoneAppend,
    /// Empty a zone.
    ZoneReset,
    /// Make a zone full.
    ZoneFinish,
    /// Open a zone, and keep it open.
    ZoneOpen,
    /// Close an open zone.
    ZoneClose,
    /// A command that breaks a rule of zones: the drive answers it with an error.
    Refused,
    /// Move the write pointer of a zone with a random write area over what was written there.
    ZoneCommit,
}

impl RequestOp {
    /// True for a command that manages a zone.
    #[inline]
    #[must_use]
    pub fn manages_zone(self) -> bool {
        matches!(
            self,
            Self::ZoneReset
                | Self::ZoneFinish
                | Self::ZoneOpen
                | Self::ZoneClose
                | Self::ZoneCommit
        )
    }

    /// True if data of the host crosses the link.
    #[inline]
    #[must_use]
    pub fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::ZoneAppend)
    }

    /// The name in records and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
            Self::ZoneAppend => "zone_append",
            Self::ZoneReset => "zone_reset",
            Self::ZoneFinish => "zone_finish",
            Self::ZoneOpen => "zone_open",
            Self::ZoneClose => "zone_close",
            Self::Refused => "refused",
            Self::ZoneCommit => "zone_commit",
        }
    }

    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Read,
        Self::Write,
        Self::Trim,
        Self::Flush,
        Self::ZoneAppend,
        Self::ZoneReset,
        Self::ZoneFinish,
        Self::ZoneOpen,
        Self::ZoneClose,
        Self::Refused,
        Self::ZoneCommit,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_the_order_of_their_numbers() {
        for (number, op) in RequestOp::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, number, "{}", op.name());
        }
    }
}
