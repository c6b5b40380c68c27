//! Traces of Florida International University (IODedup).
//!
//! Source: Koller and Rangaswami, I/O Deduplication, FAST 2010; SNIA IOTTA 391: `ts pid process lba
//! size W|R major minor md5`, separated by blanks; the time in nanoseconds, address and size in
//! 512-byte blocks. The device is major * 2^20 + minor, as in blktrace. Names of processes may hold
//! blanks, so that all columns behind them count from the end of the line. The digest of the
//! content is not read.

use super::five_columns::range;
use super::{FormatInfo, LineParser};
use crate::cursor::Cursor;
use crate::lines::find;
use crate::number;
use crate::options::Reading;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::tags::{TagField, TagKind, Tags};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "fiu",
    description: "ts pid process lba size W|R major minor md5: ns, 512-byte blocks",
    example: "89966550126 4253 nfsd 508955144 8 W 6 0 3fc0bf4e6ba8a4ac0d2ab1dbc1a9c8a7",
    time_unit: TimeUnit::Nanoseconds,
    fixed_clock: false,
    tags: &[TagKind::Process, TagKind::Pid],
    recognises,
    ..FormatInfo::PLAIN
};

/// Size of a block. Unit: bytes.
const BLOCK_BYTES: u64 = 512;
/// Number of digits of the digest.
const DIGEST_DIGITS: usize = 32;

pub(super) struct Fiu {
    unit: TimeUnit,
    tag: Option<TagField>,
    tags: Tags,
}

pub(super) fn parser(reading: &Reading) -> Fiu {
    Fiu { unit: reading.time_unit, tag: reading.tag, tags: Tags::default() }
}

/// The columns that matter: time, address, size, operation, major, minor, digest.
fn columns(line: &[u8]) -> Option<[&[u8]; 7]> {
    let mut fields = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|f| !f.is_empty());
    let time = fields.next()?;
    let _pid = fields.next()?;
    let (digest, minor, major) = (fields.next_back()?, fields.next_back()?, fields.next_back()?);
    let (op, size, lba) = (fields.next_back()?, fields.next_back()?, fields.next_back()?);
    let _process = fields.next()?;
    Some([time, lba, size, op, major, minor, digest])
}

/// Number or name of the process; blanks in a name become single.
fn tag_text(line: &[u8], wanted: TagField) -> Vec<u8> {
    let fields = line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|f| !f.is_empty());
    let fields: Vec<&[u8]> = fields.collect();
    match wanted {
        TagField::Pid => fields.get(1).copied().unwrap_or_default().to_vec(),
        _ => fields.get(2..fields.len().saturating_sub(6)).unwrap_or_default().join(&b' '),
    }
}

fn operation(field: &[u8]) -> Option<Op> {
    match field {
        b"R" | b"r" => Some(Op::Read),
        b"W" | b"w" => Some(Op::Write),
        _ => None,
    }
}

impl LineParser for Fiu {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        // A line with a tag is cut into fields in any case.
        let Some(field) = self.tag else {
            return match self.quick(line) {
                Some(record) => Ok(Some(record)),
                None => self.careful(line).map(Some),
            };
        };
        let record = self.careful(line)?;
        Ok(Some(RawRecord { tag: self.tags.number(&tag_text(line, field)), ..record }))
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

impl Fiu {
    /// Reads a line of the usual shape: nine fields with one space between them.
    /// Invariant: what this reads, [`Fiu::careful`] reads as the same record.
    #[inline]
    fn quick(&self, line: &[u8]) -> Option<RawRecord> {
        let mut cursor = Cursor::new(line);
        let time = cursor.number()?;
        cursor.expect(b' ')?;
        // Number and name of the process.
        cursor.skip_field()?;
        cursor.skip_field()?;
        let lba = cursor.number()?;
        cursor.expect(b' ')?;
        let size = cursor.number()?;
        let op = if cursor.take_word(b" W ") {
            Op::Write
        } else if cursor.take_word(b" R ") {
            Op::Read
        } else {
            return None;
        };
        let major = cursor.number()?;
        cursor.expect(b' ')?;
        let minor = cursor.number()?;
        cursor.expect(b' ')?;
        let digest = cursor.rest();
        if digest.is_empty() || find(digest, b' ').is_some() || find(digest, b'\t').is_some() {
            return None;
        }
        let device = number::joined_device(major, minor).ok()?;
        let (offset_bytes, length_bytes) = range(op, lba, size, BLOCK_BYTES, BLOCK_BYTES).ok()?;
        let time_ps = u128::from(time) * u128::from(self.unit.picoseconds());
        Some(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }

    /// Reads any line, or says why it is none.
    #[cold]
    fn careful(&self, line: &[u8]) -> Result<RawRecord, Reason> {
        let [time, lba, size, op, major, minor, _] = columns(line).ok_or(Reason::FieldCount)?;
        let time_ps = number::integer_time(time, self.unit)?;
        let lba = number::decimal(lba).map_err(|fault| fault.reason(Reason::BadOffset))?;
        let size = number::decimal(size).map_err(|fault| fault.reason(Reason::BadLength))?;
        let op = operation(op).ok_or(Reason::UnknownOp)?;
        let device = number::linux_device(major, minor)?;
        let (offset_bytes, length_bytes) = range(op, lba, size, BLOCK_BYTES, BLOCK_BYTES)?;
        Ok(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }
}

/// Nine columns or more, with `R` or `W` four from the end and a digest at the end: no other format
/// looks like this.
fn recognises(line: &[u8]) -> bool {
    columns(line).is_some_and(|[time, lba, size, op, major, minor, digest]| {
        let numbers = [time, lba, size, major, minor];
        operation(op).is_some()
            && numbers.into_iter().all(|field| field.iter().all(u8::is_ascii_digit))
            && digest.len() == DIGEST_DIGITS
            && digest.iter().all(u8::is_ascii_hexdigit)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TraceOptions;
    use crate::test_support::{read, reading};

    #[test]
    fn a_line_describes_itself_whatever_the_process_is_called() {
        let digest = "0123456789abcdef0123456789ABCDEF";
        let text = format!("5 1 nfsd 8 16 R 6 3 {digest}\n7 1 a b 7 9 0 8 W 6 0 {digest}\n");
        let found = read(&text, &TraceOptions::default()).expect("a trace");
        assert_eq!((found[0].offset_bytes, found[0].length_bytes), (4096, 8192));
        assert_eq!((found[0].device, found[0].op), (6 << 20 | 3, Op::Read));
        assert_eq!((found[1].time_ps, found[1].offset_bytes, found[1].op), (2_000, 0, Op::Write));
    }

    #[test]
    fn tags_name_the_process() {
        let mut parser = parser(&reading(TimeUnit::Nanoseconds));
        for (field, expected) in [(TagField::Process, "a b 7 9"), (TagField::Pid, "1")] {
            parser.tag = Some(field);
            let line = b"7 1 a b 7 9 0 8 W 6 0 0123456789abcdef0123456789ABCDEF";
            let tag = parser.parse(line).expect("a good line").expect("a request").tag;
            assert_eq!(parser.tags.text(tag), Some(expected));
        }
    }

    #[test]
    fn bad_lines_give_their_reason() {
        let cases = [
            ("1 2 p 0 8 W 6 0", Reason::FieldCount),
            ("x 2 p 0 8 W 6 0 d", Reason::BadTime),
            ("1 2 p x 8 W 6 0 d", Reason::BadOffset),
            ("1 2 p 0 x W 6 0 d", Reason::BadLength),
            ("1 2 p 0 8 X 6 0 d", Reason::UnknownOp),
            ("1 2 p 0 8 W x 0 d", Reason::BadDevice),
            ("1 2 p 0 8 W 4096 0 d", Reason::TooLarge),
            ("1 2 p 0 0 W 6 0 d", Reason::ZeroLength),
        ];
        let mut parser = parser(&reading(TimeUnit::Nanoseconds));
        for (line, reason) in cases {
            assert_eq!(parser.parse(line.as_bytes()), Err(reason), "{line}");
        }
    }

    #[test]
    fn usual_lines_go_the_quick_way() {
        assert!(parser(&reading(TimeUnit::Nanoseconds)).quick(INFO.example.as_bytes()).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn both_ways_agree(
            line in concat!(
                r"[0-9]{1,21} {1,2}[0-9]{1,3} (a|a b|7 9|a\tb|) ?[0-9]{1,20} [0-9]{1,3}",
                r" (W|R|w|X|W 5) ([0-9]|4096) ([0-9]|1048576)( [0-9a-f]{1,32}){0,2}[ \t]?",
            ),
        ) {
            let parser = parser(&reading(TimeUnit::Nanoseconds));
            if let Some(record) = parser.quick(line.as_bytes()) {
                prop_assert_eq!(parser.careful(line.as_bytes()), Ok(record));
            }
        }
    }
}
