//! What blktrace and blkparse say about a request of Linux' block layer.

use crate::record::Op;

/// Bytes of a sector of the block layer.
pub(super) const SECTOR_BYTES: u64 = 512;

/// The operation that the letters of blkparse mean; `bytes`: whether there is data.
///
/// A leading `F` asks for a flush before the data; without data it is a flush. Letters behind the
/// first (`S` synchronous, `M` metadata, `A` ahead, `F` forced to the medium) do not matter here.
/// `None`: no request for data.
pub(super) fn operation(rwbs: &[u8], has_data: bool) -> Option<Op> {
    let (flushes, rest) = match rwbs {
        [b'F', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    match rest.first() {
        Some(b'R') if has_data => Some(Op::Read),
        Some(b'W') if has_data => Some(Op::Write),
        Some(b'D' | b'E') if has_data => Some(Op::Trim),
        _ if flushes && !has_data => Some(Op::Flush),
        _ => None,
    }
}

/// Categories of an event: the upper half of blktrace's action.
mod category {
    pub(super) const WRITE: u64 = 1 << 1;
    pub(super) const FLUSH: u64 = 1 << 2;
    pub(super) const PASSTHROUGH: u64 = 1 << 9;
    pub(super) const NOTIFY: u64 = 1 << 10;
    pub(super) const DISCARD: u64 = 1 << 13;
    pub(super) const READ: u64 = 1;
}

/// Whether blktrace's categories are those of a note.
pub(super) fn is_note(categories: u64) -> bool {
    categories & category::NOTIFY != 0
}

/// The operation that blktrace's categories mean. `None`: no request for data.
pub(super) fn operation_of(categories: u64, has_data: bool) -> Option<Op> {
    let is = |bits: u64| categories & bits != 0;
    if is(category::NOTIFY | category::PASSTHROUGH) {
        return None;
    }
    if !has_data {
        return is(category::FLUSH).then_some(Op::Flush);
    }
    if is(category::DISCARD) {
        Some(Op::Trim)
    } else if is(category::WRITE) {
        Some(Op::Write)
    } else if is(category::READ) {
        Some(Op::Read)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_mean_operations() {
        let cases = [
            ("R", true, Some(Op::Read)),
            ("RA", true, Some(Op::Read)),
            ("WSM", true, Some(Op::Write)),
            ("WFS", true, Some(Op::Write)),
            ("FWFS", true, Some(Op::Write)),
            ("FWS", false, Some(Op::Flush)),
            ("F", false, Some(Op::Flush)),
            ("FN", false, Some(Op::Flush)),
            ("DS", true, Some(Op::Trim)),
            ("N", false, None),
            ("N", true, None),
            ("W", false, None),
            ("", true, None),
        ];
        for (rwbs, has_data, expected) in cases {
            assert_eq!(operation(rwbs.as_bytes(), has_data), expected, "{rwbs} {has_data}");
        }
    }

    #[test]
    fn categories_mean_operations() {
        let cases = [
            (0x1, true, Some(Op::Read)),
            (0xa, true, Some(Op::Write)),
            (0x2002, true, Some(Op::Trim)),
            (0x6, false, Some(Op::Flush)),
            (0x400, true, None),
            (0x201, true, None),
            (0x1, false, None),
            (0x8, true, None),
        ];
        for (categories, has_data, expected) in cases {
            assert_eq!(operation_of(categories, has_data), expected, "{categories:x} {has_data}");
        }
    }
}
