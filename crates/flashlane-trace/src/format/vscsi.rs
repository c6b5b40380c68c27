//! Traces of VMware's vscsiStats, as CloudPhysics collected them.
//!
//! Source: what libCacheSim's documentation says of the format. Little-endian records without a
//! header, each with its version in the high byte of a field:
//!
//! | version | bytes | fields |
//! | --- | --- | --- |
//! | 1 | 32 | serial u32, length u32, segments u32, command u16, version u16, block u64, time u64 |
//! | 2 | 40 | command u16, version u16, serial u32, length u32, segments u32, block u64, time u64, response u64 |
//!
//! Lengths in bytes, blocks of 512 bytes, times in microseconds. Commands are those of SCSI; what
//! neither moves data nor frees or flushes it is skipped and counted. (The order of version 2 is
//! from memory of the format, not from a file.)

use std::path::Path;

use super::five_columns::range;
use super::{Entry, FormatInfo, RecordParser};
use crate::error::TraceError;
use crate::lines::LineReader;
use crate::options::Reading;
use crate::place::Unit;
use crate::record::Op;
use crate::reject::{NamedLine, Rejected};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "vscsi",
    description: "binary records of vscsiStats, versions 1 and 2: us, 512-byte blocks, SCSI commands",
    example: "serial, length in bytes, segments, SCSI command, version, block, time in us",
    time_unit: TimeUnit::Microseconds,
    recognises: |head| Layout::of(head).is_some(),
    ..FormatInfo::PLAIN
};

/// Size of a block. Unit: bytes.
const BLOCK_BYTES: u64 = 512;

/// Offsets of the fields of a record that are read. Unit: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    bytes: usize,
    version: u8,
    command: usize,
    length: usize,
    block: usize,
}

const LAYOUTS: [Layout; 2] = [
    Layout { bytes: 32, version: 1, command: 12, length: 4, block: 16 },
    Layout { bytes: 40, version: 2, command: 0, length: 8, block: 16 },
];

impl Layout {
    /// The layout for which the first record, and the second if there is one, have a version and a
    /// known command.
    fn of(head: &[u8]) -> Option<Layout> {
        LAYOUTS.into_iter().find(|layout| {
            let mut records = head.chunks_exact(layout.bytes).take(2).peekable();
            records.peek().is_some()
                && records.all(|record| {
                    layout.has_version(record) && operation(layout.command(record)).is_some()
                })
        })
    }

    fn has_version(&self, record: &[u8]) -> bool {
        record[self.command + 3] == self.version && record[self.command + 1] == 0
    }

    fn command(&self, record: &[u8]) -> u16 {
        u16::from_le_bytes([record[self.command], record[self.command + 1]])
    }
}

fn operation(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        // Writes, writes with verification, and writes of one block many times.
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae | 0x41 | 0x93 => Some(Op::Write),
        0x42 => Some(Op::Trim),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

pub(super) struct Vscsi {
    unit: TimeUnit,
    layout: Option<Layout>,
    skipped: u64,
    skipped_first: Vec<NamedLine>,
    /// Command, block and length of the last record.
    last: (u16, u64, u64),
}

#[expect(clippy::unnecessary_wraps, reason = "the parsers of binary formats are made alike")]
pub(super) fn parser(reading: &Reading, _: &Path) -> Result<Vscsi, TraceError> {
    let (layout, skipped, skipped_first) = (None, 0, Vec::new());
    Ok(Vscsi { unit: reading.time_unit, layout, skipped, skipped_first, last: (0, 0, 0) })
}

impl RecordParser for Vscsi {
    fn next(&mut self, input: &mut LineReader) -> Result<Option<Entry>, TraceError> {
        let layout = match self.layout {
            Some(layout) => layout,
            None => {
                let head = input.peek(super::HEAD_BYTES)?;
                if head.is_empty() {
                    return Ok(None);
                }
                let Some(layout) = Layout::of(head) else {
                    input.begin_record();
                    let found = "neither version 1 nor 2 of vscsiStats".to_owned();
                    return Err(input.malformed(found, "records of 32 or 40 bytes with a version"));
                };
                *self.layout.insert(layout)
            }
        };
        loop {
            let Some(record) = input.record(layout.bytes)? else { return Ok(None) };
            let number = |at: usize| {
                u64::from_le_bytes(*record[at..].first_chunk().expect("it lies in the record"))
            };
            let length = number(layout.length) & u64::from(u32::MAX);
            let (block, time) = (number(layout.block), number(layout.block + 8));
            let (command, is_right) = (layout.command(record), layout.has_version(record));
            if !is_right {
                let found = "a record of another version".to_owned();
                return Err(input.malformed(found, "records of one version"));
            }
            self.last = (command, block, length);
            let Some(op) = operation(command) else {
                self.skipped += 1;
                if self.skipped_first.len() < Rejected::KEPT {
                    let line = input.line_count();
                    let shown = self.shown();
                    self.skipped_first.push(NamedLine::skipped(Unit::Record, line, &shown));
                }
                continue;
            };
            let time_ps = u128::from(time) * u128::from(self.unit.picoseconds());
            let found = match op {
                Op::Flush => Ok((0, 0)),
                _ => range(op, block, length, BLOCK_BYTES, 1),
            };
            return Ok(Some(Entry::of(time_ps, op, found)));
        }
    }

    fn shown(&self) -> String {
        let (command, block, length) = self.last;
        format!("command {command:#04x} block {block} length {length}")
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn skipped_lines(&self) -> &[NamedLine] {
        &self.skipped_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{TempTrace, message, read};
    use crate::{Format, TraceOptions, TraceReader};

    fn record(version: u8, command: u8, block: u64, length: u32, time: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let kind = [command, 0, 0, version];
        if version == 2 {
            out.extend(kind);
        }
        out.extend(7_u32.to_le_bytes());
        out.extend(length.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        if version == 1 {
            out.extend(kind);
        }
        out.extend(block.to_le_bytes());
        out.extend(time.to_le_bytes());
        if version == 2 {
            out.extend(99_u64.to_le_bytes());
        }
        out
    }

    #[test]
    fn both_versions_say_the_same() {
        for version in [1, 2] {
            let file = TempTrace::new(
                [
                    record(version, 0x2a, 8, 4096, 1000),
                    record(version, 0x28, 16, 512, 1005),
                    record(version, 0x12, 0, 36, 1006),
                    record(version, 0x35, 0, 0, 1007),
                    record(version, 0x42, 64, 1 << 20, 1008),
                ]
                .concat(),
            );
            let mut reader =
                TraceReader::open(file.path(), &TraceOptions::default()).expect("a trace");
            let found: Vec<_> = reader.by_ref().map(|record| record.expect("a record")).collect();
            let brief: Vec<_> =
                found.iter().map(|r| (r.time_ps / 1_000_000, r.op, r.length_bytes)).collect();
            let expected = [
                (0, Op::Write, 4096),
                (5, Op::Read, 512),
                (7, Op::Flush, 0),
                (8, Op::Trim, 1 << 20),
            ];
            assert_eq!(brief, expected, "version {version}");
            assert_eq!((found[0].offset_bytes, reader.skipped_count()), (4096, 1));
            assert_eq!((reader.line(), reader.format()), (5, &Format::Vscsi));
        }
    }

    #[test]
    fn damage_is_named_with_its_record() {
        let good = record(1, 0x28, 8, 512, 5);
        let options =
            TraceOptions { max_rejected_fraction: 0.0, ..TraceOptions::new(Format::Vscsi) };
        let cases = [
            (
                [&good[..], &good[..31]].concat(),
                "record 2: found the end of the file after 31 bytes of 32",
            ),
            (b"short".to_vec(), "record 1: found neither version 1 nor 2"),
            (
                [&good[..], &good[..], &[9; 32]].concat(),
                "record 3: found a record of another version",
            ),
            (
                [&good[..], &record(1, 0x28, 8, 0, 5)].concat(),
                "record 2: length 0 in `command 0x28",
            ),
            ([&good[..], &record(1, 0x28, u64::MAX, 1, 5)].concat(), "record 2: number too large"),
        ];
        for (content, expected) in cases {
            let found = message(read(&content, &options));
            assert!(found.contains(expected), "{found}");
        }
    }
}
