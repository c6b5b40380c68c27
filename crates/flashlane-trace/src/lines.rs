//! Reads the lines or binary records of a file through one buffer that is reused.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::TraceError;
use crate::place::{Place, Unit};
use crate::source::{self, Bytes, Codec};

/// Longest line that is read. Unit: bytes. The longest record of any known format is far below
/// this.
pub(crate) const LINE_LIMIT_BYTES: usize = 64 * 1024;

/// Unit: bytes. Invariant: above [`LINE_LIMIT_BYTES`], so that a refill always has room.
const BUFFER_BYTES: usize = 256 * 1024;

const _: () = assert!(BUFFER_BYTES > LINE_LIMIT_BYTES + 2);

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line without its line end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Range: 1 and up.
    pub(crate) number: u64,
    pub(crate) bytes: &'a [u8],
    /// True if the line may hold NUL bytes, because its part of the file holds some.
    pub(crate) suspect: bool,
}

/// Reads a file line by line, or record by record.
pub(crate) struct LineReader {
    path: PathBuf,
    codec: Codec,
    /// The unit that `line` counts.
    unit: Unit,
    source: Bytes,
    buffer: Box<[u8]>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Number of lines or records that were delivered.
    line: u64,
    /// Number of bytes of text that were received.
    received_bytes: u64,
    at_end: bool,
    saw_nul: bool,
}

impl LineReader {
    pub(crate) fn open(path: &Path) -> Result<LineReader, TraceError> {
        let (codec, source) = source::open(path)?;
        Ok(LineReader::new(path, codec, source))
    }

    fn new(path: &Path, codec: Codec, source: Bytes) -> LineReader {
        LineReader {
            path: path.to_owned(),
            codec,
            unit: Unit::Line,
            source,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            line: 0,
            received_bytes: 0,
            at_end: false,
            saw_nul: false,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn codec(&self) -> Codec {
        self.codec
    }

    /// Number of lines or records that were delivered.
    pub(crate) fn line_count(&self) -> u64 {
        self.line
    }

    /// Counts records from now on, and not lines.
    pub(crate) fn count_records(&mut self) {
        self.unit = Unit::Record;
        self.line = 0;
    }

    /// The unit that is counted: lines or records.
    pub(crate) fn unit(&self) -> Unit {
        self.unit
    }

    /// The line or record that was delivered last.
    pub(crate) fn place(&self) -> Place {
        Place { unit: self.unit, number: self.line }
    }

    /// Notes that another record begins, which is not read by [`LineReader::record`].
    #[inline]
    pub(crate) fn begin_record(&mut self) {
        self.line += 1;
    }

    /// The next `count` bytes, or all remaining bytes if there are fewer, without stepping over
    /// them.
    pub(crate) fn peek(&mut self, count: usize) -> Result<&[u8], TraceError> {
        assert!(count <= LINE_LIMIT_BYTES, "{count} bytes at once");
        while self.end - self.start < count && !self.at_end {
            self.refill()?;
        }
        let end = self.end.min(self.start + count);
        Ok(&self.buffer[self.start..end])
    }

    /// The next record, which has `count` bytes; `None` at the end of the file.
    #[inline]
    pub(crate) fn record(&mut self, count: usize) -> Result<Option<&[u8]>, TraceError> {
        let mut there = self.end - self.start;
        if there < count {
            there = self.peek(count)?.len();
            if there == 0 {
                return Ok(None);
            }
        }
        self.line += 1;
        if there < count {
            return Err(self.cut_short(there as u64, count as u64));
        }
        self.start += count;
        Ok(Some(&self.buffer[self.start - count..self.start]))
    }

    /// Steps over the next `count` bytes, which must be there.
    pub(crate) fn skip(&mut self, count: u64) -> Result<(), TraceError> {
        let mut left = count;
        while left > 0 {
            let found = self.peek(left.min(LINE_LIMIT_BYTES as u64) as usize)?.len();
            if found == 0 {
                return Err(self.cut_short(count - left, count));
            }
            self.start += found;
            left -= found as u64;
        }
        Ok(())
    }

    #[cold]
    fn cut_short(&self, found: u64, wanted: u64) -> TraceError {
        TraceError::CutShort { path: self.path.clone(), place: self.place(), found, wanted }
    }

    /// An error about the record that was delivered last.
    #[cold]
    pub(crate) fn malformed(&self, found: String, allowed: &'static str) -> TraceError {
        TraceError::Malformed { path: self.path.clone(), place: self.place(), found, allowed }
    }

    /// The next line, or `None` at the end of the file. The last line needs no line end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, TraceError> {
        let mut searched = 0;
        let (length, taken) = loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(index) = find_newline(&unread[searched..]) {
                break (searched + index, searched + index + 1);
            }
            if unread.len() > LINE_LIMIT_BYTES {
                return Err(self.line_too_long());
            }
            if self.at_end {
                if unread.is_empty() {
                    return Ok(None);
                }
                break (unread.len(), unread.len());
            }
            searched = unread.len();
            self.refill()?;
        };
        if length > LINE_LIMIT_BYTES {
            return Err(self.line_too_long());
        }
        self.line += 1;
        let mut bytes = &self.buffer[self.start..self.start + length];
        self.start += taken;
        if self.line == 1 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        Ok(Some(Line { number: self.line, bytes, suspect: self.saw_nul }))
    }

    /// Moves the unread bytes to the front of the buffer and reads more behind them.
    fn refill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let count = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => break count,
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                Err(fault) => return Err(self.read_fault(fault)),
            }
        };
        self.at_end = count == 0;
        self.saw_nul |= has_nul(&self.buffer[self.end..self.end + count]);
        self.end += count;
        self.received_bytes += count as u64;
        Ok(())
    }

    #[cold]
    fn line_too_long(&self) -> TraceError {
        TraceError::LineTooLong {
            path: self.path.clone(),
            line: self.line + 1,
            limit: LINE_LIMIT_BYTES,
        }
    }

    #[cold]
    fn read_fault(&self, source: io::Error) -> TraceError {
        let (path, codec) = (self.path.clone(), self.codec);
        let place = Place { unit: self.unit, number: self.line + 1 };
        let bytes = self.received_bytes;
        if codec == Codec::Plain {
            TraceError::Io { path, place, source }
        } else if source.kind() == ErrorKind::UnexpectedEof {
            TraceError::Truncated { path, codec, place, bytes, source }
        } else {
            TraceError::Damaged { path, codec, place, bytes, source }
        }
    }
}

/// Index of the first `wanted`. Looks at eight bytes at a time, because lines are too short for a
/// search with a slow start.
#[inline]
pub(crate) fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = equal_bytes(u64::from_le_bytes(*word), wanted);
        if found != 0 {
            return Some(index * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let behind = tail.iter().position(|byte| *byte == wanted)?;
    Some(words.len() * 8 + behind)
}

/// Sets the high bit of the bytes that equal `wanted`. Only the lowest set bit is exact.
#[inline]
pub(crate) fn equal_bytes(word: u64, wanted: u8) -> u64 {
    // The wanted byte becomes 0, and only a 0 borrows into its own high bit.
    let word = word ^ (u64::from(wanted) * LOW_BITS);
    word.wrapping_sub(LOW_BITS) & !word & HIGH_BITS
}

/// The lowest and the highest bit of every byte.
const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Index of the first newline. Looks at 32 bytes at once, the width of a vector register.
#[inline]
fn find_newline(bytes: &[u8]) -> Option<usize> {
    let (blocks, tail) = bytes.as_chunks::<32>();
    for (index, block) in blocks.iter().enumerate() {
        let found = block.iter().fold(0_u8, |found, byte| found | u8::from(*byte == b'\n'));
        if found != 0 {
            return find(block, b'\n').map(|at| index * 32 + at);
        }
    }
    find(tail, b'\n').map(|at| blocks.len() * 32 + at)
}

/// True if there is a NUL byte.
#[inline]
fn has_nul(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) == 0 && !bytes.is_empty()
}

/// `bytes` without spaces, tabs and carriage returns at either end.
#[inline]
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let mut bytes = trim_end(bytes);
    while let [b' ' | b'\t' | b'\r', rest @ ..] = bytes {
        bytes = rest;
    }
    bytes
}

/// `bytes` without spaces, tabs and carriage returns at the end.
#[inline]
pub(crate) fn trim_end(mut bytes: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r'] = bytes {
        bytes = rest;
    }
    bytes
}

/// True if a line is blank or a comment. A comment starts with `#`, possibly after blanks.
#[inline(always)]
pub(crate) fn holds_no_record(line: &[u8]) -> bool {
    match line.first() {
        Some(b' ' | b'\t' | b'\r') => is_blank_or_comment(line),
        Some(byte) => *byte == b'#',
        None => true,
    }
}

/// As [`holds_no_record`], for a line that starts with a blank.
fn is_blank_or_comment(line: &[u8]) -> bool {
    matches!(trim(line).first(), None | Some(b'#'))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::test_support::{TempTrace, message};

    fn lines(content: &[u8]) -> Result<Vec<Vec<u8>>, TraceError> {
        let file = TempTrace::new(content);
        let mut reader = LineReader::open(file.path())?;
        let mut lines = Vec::new();
        while let Some(line) = reader.next()? {
            assert_eq!(line.number, lines.len() as u64 + 1);
            lines.push(line.bytes.to_vec());
        }
        Ok(lines)
    }

    #[test]
    fn the_last_line_needs_no_line_end() {
        assert_eq!(lines(b"").expect("empty"), Vec::<Vec<u8>>::new());
        assert_eq!(lines(b"a\n\nb").expect("readable"), [&b"a"[..], b"", b"b"]);
        assert_eq!(lines(b"a\nb\n").expect("readable"), [b"a", b"b"]);
        assert_eq!(lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb").expect("readable")[0], b"a");
    }

    #[test]
    fn lines_cross_the_border_of_the_buffer() {
        let expected: Vec<Vec<u8>> =
            (0..60).map(|n| vec![b'a' + (n % 26) as u8; 9000 + n]).collect();
        assert!(expected.iter().map(Vec::len).sum::<usize>() > 2 * BUFFER_BYTES);
        assert_eq!(lines(&expected.join(&b'\n')).expect("readable"), expected);
    }

    #[test]
    fn endless_lines_are_an_error() {
        let fits = vec![b'1'; LINE_LIMIT_BYTES];
        assert_eq!(lines(&fits).expect("just fits").len(), 1);
        for size in [LINE_LIMIT_BYTES + 1, 3 * BUFFER_BYTES] {
            let mut content = b"first\n".to_vec();
            content.resize(6 + size, b'1');
            assert!(message(lines(&content)).contains("line 2: found more than 65536 bytes"));
            content.push(b'\n');
            assert!(message(lines(&content)).contains("line 2: found more than 65536 bytes"));
        }
    }

    /// Gives one byte at a time, with an interruption before each, and fails at the end.
    struct Trickle {
        left: &'static [u8],
        interrupt: bool,
        fault: ErrorKind,
    }

    impl io::Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.interrupt = !self.interrupt;
            match self.left {
                _ if self.interrupt => Err(ErrorKind::Interrupted.into()),
                [] => Err(self.fault.into()),
                [first, left @ ..] => {
                    (buffer[0], self.left) = (*first, left);
                    Ok(1)
                }
            }
        }
    }

    #[test]
    fn a_fault_of_the_source_comes_after_the_whole_lines() {
        let cases = [
            (Codec::Plain, ErrorKind::Other, "t: line 2: cannot read on: other error"),
            (
                Codec::Xz,
                ErrorKind::UnexpectedEof,
                "t: line 2: the xz data ends early, after 4 bytes",
            ),
            (
                Codec::Gzip,
                ErrorKind::InvalidData,
                "t: line 2: the gzip data is damaged, after 4 bytes",
            ),
        ];
        for (codec, fault, expected) in cases {
            let source = Box::new(Trickle { left: b"ab\nc", interrupt: false, fault });
            let mut reader = LineReader::new(Path::new("t"), codec, source);
            let line = reader.next().expect("a whole line").expect("a whole line");
            assert_eq!(line.bytes, b"ab");
            let message = message(reader.next());
            assert!(message.starts_with(expected), "{message}");
        }
    }

    proptest! {
        #[test]
        fn the_first_newline_is_found(
            bytes in vec(select(b"\n\x0b\x0a\x09\x8aa\0\xff19 ".to_vec()), 0..40),
        ) {
            prop_assert_eq!(find_newline(&bytes), bytes.iter().position(|byte| *byte == b'\n'));
        }

        #[test]
        fn a_newline_far_away_is_found(length in 0..100_usize) {
            let mut bytes = vec![0x0b; length];
            prop_assert_eq!(find_newline(&bytes), None);
            bytes.push(b'\n');
            bytes.push(b'\n');
            prop_assert_eq!(find_newline(&bytes), Some(length));
        }
    }

    #[test]
    fn trims_blanks_and_carriage_returns() {
        assert_eq!(trim(b" \ta b \r"), b"a b");
        assert_eq!(trim(b" \r"), b"");
        assert_eq!(trim_end(b" a \t\r"), b" a");
    }

    #[test]
    fn blanks_and_comments_hold_no_record() {
        for line in [&b""[..], b" \t\r", b"#", b" \t# a", b"#1 2"] {
            assert!(holds_no_record(line), "{line:?}");
        }
        for line in [&b"1"[..], b" 1", b"1 # 2"] {
            assert!(!holds_no_record(line), "{line:?}");
        }
    }
}
