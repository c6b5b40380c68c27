//! Format NVM: a namespace becomes empty.

use crate::controller::io::Space;
use crate::entry::Entry;
use crate::media::{Action, Range};
use crate::status::Status;

/// What Format NVM asks of its namespace.
///
/// # Errors
///
/// [`Status::INVALID_FORMAT`] for another format than the only one, which has the present block
/// size and neither metadata nor protection; [`Status::INVALID_FIELD`] for an erase other than that
/// of user data.
pub(crate) fn action(entry: &Entry, space: Space) -> Result<Action, Status> {
    let settings = entry.dword(10);
    let (format, erase) = (settings & 0xf | settings >> 12 & 3, settings >> 9 & 7);
    let (metadata, protection) = (settings >> 4 & 1, settings >> 5 & 0xf);
    if (format, metadata, protection) != (0, 0, 0) {
        return Err(Status::INVALID_FORMAT);
    }
    match erase {
        0 | 1 => Ok(Action::Format(Range { sector: 0, sectors: space.sectors })),
        _ => Err(Status::INVALID_FIELD),
    }
}
