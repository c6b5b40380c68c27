//! Placement identifiers, as the directive of a write names them.
//!
//! Source: NVMe 2.1, directives and flexible data placement.

use flashlane::config::DeviceConfig;

use crate::entry::Entry;
use crate::status::Status;

/// Directive type: none.
const NONE: u8 = 0;
/// Directive type: streams.
const STREAMS: u8 = 1;
/// Directive type: data placement.
const DATA_PLACEMENT: u8 = 2;

/// Bits of a placement identifier.
const IDENTIFIER_BITS: u8 = 16;

/// What writes to a drive may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placing {
    /// The directive type that the drive knows beside "none".
    directive: u8,
    /// Handles of a reclaim group; with streams, all streams and the number 0.
    handles: u16,
    groups: u16,
}

impl Placing {
    /// What writes to a device may name.
    pub(crate) fn of(device: &DeviceConfig) -> Self {
        let config = &device.placement;
        let (handles, groups) = (config.handles as u16, config.groups as u16);
        match (config.identifiers(), config.is_fdp()) {
            (0, _) => Self { directive: NONE, handles: 0, groups: 1 },
            (_, true) => Self { directive: DATA_PLACEMENT, handles, groups },
            (all, false) => Self { directive: STREAMS, handles: all as u16, groups: 1 },
        }
    }

    /// True with flexible data placement.
    pub(crate) fn is_fdp(self) -> bool {
        self.directive == DATA_PLACEMENT
    }

    /// Handles of a reclaim group.
    pub(crate) fn handles(self) -> u16 {
        self.handles
    }

    /// Reclaim groups.
    pub(crate) fn groups(self) -> u16 {
        self.groups
    }

    /// Identifiers that writes may name.
    pub(crate) fn identifiers(self) -> u16 {
        self.handles * self.groups
    }

    /// RGIF: the upper bits of a placement identifier that name the reclaim group.
    pub(crate) fn group_bits(self) -> u8 {
        (u16::BITS - (self.groups - 1).leading_zeros()) as u8
    }

    /// The placement identifier of hosts for an identifier of the drive.
    pub(crate) fn for_host(self, identifier: u16) -> u16 {
        let (group, handle) = (identifier / self.handles, identifier % self.handles);
        let shift = IDENTIFIER_BITS - self.group_bits();
        (u32::from(group) << shift) as u16 | handle
    }

    /// The identifier of the drive for a placement identifier of hosts.
    fn for_drive(self, identifier: u16) -> Option<u16> {
        let shift = IDENTIFIER_BITS - self.group_bits();
        let group = (u32::from(identifier) >> shift) as u16;
        let handle = (u32::from(identifier) & ((1 << shift) - 1)) as u16;
        let is_there = group < self.groups && handle < self.handles;
        is_there.then(|| group * self.handles + handle)
    }

    /// The identifier that a write names; `None` for a write without a directive.
    ///
    /// # Errors
    ///
    /// [`Status::INVALID_FIELD`] for a directive or an identifier that the drive has not. The
    /// standard lets a controller write by a default handle in place of a wrong one. A refusal
    /// shows the mistake to the host.
    pub(crate) fn named(self, entry: &Entry) -> Result<Option<u16>, Status> {
        let directive = (entry.dword(12) >> 20 & 0xf) as u8;
        let identifier = (entry.dword(13) >> 16) as u16;
        match directive {
            NONE => Ok(None),
            known if known == self.directive => {
                self.for_drive(identifier).map(Some).ok_or(Status::INVALID_FIELD)
            }
            _ => Err(Status::INVALID_FIELD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::io;

    fn write(directive: u32, identifier: u32) -> Entry {
        let entry = Entry::new(io::WRITE, 0, 1);
        entry.with_dword(12, directive << 20).with_dword(13, identifier << 16)
    }

    #[test]
    fn identifiers_have_the_group_in_their_upper_bits() {
        let placing = Placing { directive: DATA_PLACEMENT, handles: 5, groups: 3 };
        assert_eq!((placing.group_bits(), placing.identifiers()), (2, 15));
        for identifier in 0..15 {
            let named = placing.for_host(identifier);
            assert_eq!(named, ((identifier / 5) << 14) + identifier % 5);
            assert_eq!(placing.named(&write(2, named.into())), Ok(Some(identifier)));
        }
        for wrong in [5, 1 << 13, 3 << 14, 0xffff] {
            assert_eq!(placing.named(&write(2, wrong)), Err(Status::INVALID_FIELD), "{wrong:x}");
        }
        assert_eq!(placing.named(&write(0, 7)), Ok(None), "without a directive it says nothing");
        assert_eq!(placing.named(&write(1, 1)), Err(Status::INVALID_FIELD));
    }

    #[test]
    fn one_group_needs_no_bits() {
        let placing = Placing { directive: STREAMS, handles: 9, groups: 1 };
        assert_eq!((placing.group_bits(), placing.is_fdp()), (0, false));
        assert_eq!(placing.named(&write(1, 8)), Ok(Some(8)));
        assert_eq!(placing.named(&write(1, 9)), Err(Status::INVALID_FIELD));
        assert_eq!(placing.named(&write(2, 1)), Err(Status::INVALID_FIELD));
        let none = Placing { directive: NONE, handles: 0, groups: 1 };
        assert_eq!(none.named(&write(0, 0)), Ok(None));
        assert_eq!(none.named(&write(2, 0)), Err(Status::INVALID_FIELD));
    }
}
