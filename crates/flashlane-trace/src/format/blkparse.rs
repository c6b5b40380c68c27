//! Text that blkparse prints.
//!
//! Source: blkparse(1), default output format: `maj,min cpu sequence seconds.nanoseconds pid action
//! rwbs sector + blocks [process]`, blocks of 512 bytes; the summary by CPU that follows. A request
//! has several events, of which one counts ([`Action`]): by default `Q`, the arrival. All other
//! events, and the summary, are skipped and counted. Flushes that go with data become requests of
//! their own. Events of several CPUs are nearly in order: records wait in a buffer of 65,536 and
//! leave it by time. The device is major * 2^20 + minor, as in blktrace.

use super::blk_event::{Account, Asked, SECTOR_BYTES, asked, plain_operation};
use super::five_columns::{next_field, range};
use super::order::ByArrival;
use super::{FormatInfo, LineParser};
use crate::cursor::Cursor;
use crate::lines::trim;
use crate::number;
use crate::options::{Action, Reading};
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::tags::{TagField, TagKind, Tags};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "blkparse",
    description: "maj,min cpu seq s.ns pid action rwbs sector + blocks [process]: 512-byte blocks",
    example: "259,1    1        1     0.000000000   103  Q   R 133576 + 32 [fio]",
    time_unit: TimeUnit::Seconds,
    has_actions: true,
    tags: &[TagKind::Process, TagKind::Pid],
    recognises,
    ..FormatInfo::PLAIN
};

pub(super) struct Blkparse {
    unit: TimeUnit,
    action: Action,
    waiting: ByArrival,
    account: Account,
    skipped: u64,
    tag: Option<TagField>,
    tags: Tags,
}

pub(super) fn parser(reading: &Reading) -> Blkparse {
    let Reading { time_unit: unit, action, tag, .. } = *reading;
    let (waiting, account, tags) = (ByArrival::default(), Account::default(), Tags::default());
    Blkparse { unit, action, waiting, account, skipped: 0, tag, tags }
}

impl LineParser for Blkparse {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        let event = match quick(line, self.unit, self.action) {
            Some(event) => event,
            None => event(line, self.unit, self.action)?,
        };
        match event {
            Event::Request(asked, mut record) => {
                if let Some(field) = self.tag {
                    record.tag = self.tags.number(tag_text(line, field));
                }
                self.account.saw(self.action);
                self.account.hand_on(self.action, asked, record, &mut self.waiting);
            }
            Event::Other(action) => {
                action.into_iter().for_each(|action| self.account.saw(action));
                self.skipped += 1;
            }
        }
        Ok(None)
    }

    fn held(&mut self) -> Option<&mut ByArrival> {
        Some(&mut self.waiting)
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn notes(&self) -> Vec<(&'static str, u64)> {
        self.account.notes()
    }

    fn events(&self) -> [u64; 3] {
        self.account.events()
    }
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A request, from the event that counts.
    Request(Asked, RawRecord),
    /// Another event of a request, or a line that is no event.
    Other(Option<Action>),
}

/// The action of an event of a request.
#[inline]
fn action_of(letters: &[u8]) -> Option<Action> {
    match letters {
        [b'Q'] => Some(Action::Queue),
        [b'D'] => Some(Action::Issue),
        [b'C'] => Some(Action::Complete),
        _ => None,
    }
}

/// Number or name of the process of an event; empty where the line has none. Names may hold blanks
/// and brackets.
fn tag_text(line: &[u8], field: TagField) -> &[u8] {
    if field == TagField::Pid {
        let mut rest = line;
        return std::iter::from_fn(|| next_field(&mut rest)).nth(4).unwrap_or_default();
    }
    let start = line.iter().position(|byte| *byte == b'[');
    let end = line.iter().rposition(|byte| *byte == b']');
    match (start, end) {
        (Some(start), Some(end)) if start < end => trim(&line[start + 1..end]),
        _ => b"",
    }
}

/// `major,minor`, which every event starts with and nothing else does.
fn numbers_of_device(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let comma = field.iter().position(|byte| *byte == b',')?;
    let (major, minor) = (&field[..comma], &field[comma + 1..]);
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    (is_number(major) && is_number(minor)).then_some((major, minor))
}

/// Reads a line of the usual shape: plain numbers between spaces. Invariant: [`event`] reads every
/// such line with the same result.
#[inline]
fn quick(line: &[u8], unit: TimeUnit, wanted: Action) -> Option<Event> {
    let mut cursor = Cursor::new(line);
    let space = |cursor: &mut Cursor<'_>| cursor.skip_spaces().then_some(());
    cursor.skip_spaces();
    let major = cursor.number()?;
    cursor.expect(b',')?;
    let minor = cursor.number()?;
    space(&mut cursor)?;
    // The CPU and the sequence number.
    cursor.skip_field()?;
    cursor.skip_field()?;
    let seconds = cursor.number()?;
    cursor.expect(b'.')?;
    let fraction_ps = cursor.fraction(unit.fraction_digits())?;
    space(&mut cursor)?;
    // The process.
    cursor.skip_field()?;
    let action = cursor.until(b' ');
    if action != [wanted.letter() as u8] {
        let is_whole = !action.is_empty() && !action.contains(&b'\t');
        return is_whole.then(|| Event::Other(action_of(action)));
    }
    space(&mut cursor)?;
    let op = plain_operation(cursor.until(b' '))?;
    space(&mut cursor)?;
    let sector = cursor.number()?;
    if !cursor.take_word(b" + ") {
        return None;
    }
    let blocks = cursor.number()?;
    if !cursor.rest().is_empty() {
        space(&mut cursor)?;
    }
    let device = number::joined_device(major, minor).ok()?;
    let (offset_bytes, length_bytes) =
        range(op, sector, blocks, SECTOR_BYTES, SECTOR_BYTES).ok()?;
    let time_ps = u128::from(seconds) * u128::from(unit.picoseconds()) + u128::from(fraction_ps);
    let record = RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device);
    Some(Event::Request(Asked::plain(op), record))
}

/// The kind of any line.
#[cold]
fn event(line: &[u8], unit: TimeUnit, wanted: Action) -> Result<Event, Reason> {
    const NOTHING: Event = Event::Other(None);
    let mut rest = line;
    let mut field = || next_field(&mut rest);
    let Some((major, minor)) = field().and_then(numbers_of_device) else { return Ok(NOTHING) };
    let mut more = || field().ok_or(Reason::FieldCount);
    let [_cpu, _sequence, time, _pid, action] = [more()?, more()?, more()?, more()?, more()?];
    if action != [wanted.letter() as u8] {
        return Ok(Event::Other(action_of(action)));
    }
    let rwbs = more()?;
    let (sector, plus, blocks) = (field(), field(), field());
    let has_data = plus == Some(b"+");
    // A flush may state a length of zero blocks.
    let is_empty = rwbs.first() == Some(&b'F') && blocks == Some(b"0");
    let Some(asked) = asked(rwbs, has_data && !is_empty) else { return Ok(NOTHING) };
    let op = asked.op;
    let time_ps = number::fractional_time(time, unit)?;
    let device = number::linux_device(major, minor)?;
    let (offset, length) = match (sector, blocks) {
        _ if op == Op::Flush => (0, 0),
        (Some(sector), Some(blocks)) if has_data => (
            number::decimal(sector).map_err(|fault| fault.reason(Reason::BadOffset))?,
            number::decimal(blocks).map_err(|fault| fault.reason(Reason::BadLength))?,
        ),
        _ if has_data => return Err(Reason::FieldCount),
        _ => (0, 0),
    };
    let (offset_bytes, length_bytes) = range(op, offset, length, SECTOR_BYTES, SECTOR_BYTES)?;
    let record = RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device);
    Ok(Event::Request(asked, record))
}

/// An event: device, three numbers of which one is a time with nine decimals, process, action.
fn recognises(line: &[u8]) -> bool {
    let mut rest = line;
    let mut field = || next_field(&mut rest).unwrap_or_default();
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let device = numbers_of_device(field()).is_some();
    let [cpu, sequence, time, pid, action] = [field(), field(), field(), field(), field()];
    let point = time.len().checked_sub(10);
    let is_time = point
        .is_some_and(|at| time[at] == b'.' && is_number(&time[..at]) && is_number(&time[at + 1..]));
    let is_action = (1..=2).contains(&action.len()) && action.iter().all(u8::is_ascii_alphabetic);
    device && is_time && is_action && [cpu, sequence, pid].into_iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{TempTrace, message, read};
    use crate::{Format, TraceOptions, TraceReader};

    const TEXT: &str = "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    1        3     0.000004000   697  Q FWS [kjournald]
  8,0    1        4     0.000003000   697  Q  RA 8 + 16 [a b]
  8,0    3        5     0.000005500   697  D   W 223490 + 8 [kjournald]
  8,16   3        5     0.000006000   697  Q  DS 0 + 2048 [fstrim]
  8,0    3        5     0.000006500   697  P   N [kjournald]
  8,0    3        6     0.000009000   697  C   W 223490 + 8 [0]
CPU3 (sda):
 Reads Queued:         578,     7288KiB\t Writes Queued:         617,     7548KiB
";

    fn brief(options: &TraceOptions) -> Vec<(u64, Op, u64)> {
        let records = read(TEXT, options).expect("a trace");
        records.iter().map(|r| (r.time_ps / 1_000_000, r.op, r.length_bytes)).collect()
    }

    #[test]
    fn arrivals_come_in_order_and_the_rest_is_counted() {
        let expected =
            [(0, Op::Write, 4096), (3, Op::Read, 8192), (4, Op::Flush, 0), (6, Op::Trim, 1 << 20)];
        assert_eq!(brief(&TraceOptions::default()), expected);
        let file = TempTrace::new(TEXT);
        let mut reader = TraceReader::open(file.path(), &TraceOptions::default()).expect("a trace");
        let last = reader.by_ref().last().expect("a record").expect("a record");
        assert_eq!(last.device, 8 << 20 | 16);
        assert_eq!((reader.skipped_count(), reader.rejected().count()), (6, 0));
        let shown: Vec<String> = reader.skipped_lines().iter().map(ToString::to_string).collect();
        assert!(shown[0].starts_with("line 2: no request: `8,0 "), "{shown:?}");
        assert_eq!(reader.record_line(), 6);
    }

    #[test]
    fn tags_name_the_process() {
        let tagged = |kind| {
            let options = TraceOptions { tag: Some(kind), ..TraceOptions::default() };
            let file = TempTrace::new(TEXT);
            let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
            let mut texts = Vec::new();
            while reader.next().expect("a record").is_some() {
                texts.push(reader.tag_text(reader.tag()).expect("a tag").to_owned());
            }
            texts
        };
        assert_eq!(tagged(TagKind::Process), ["kjournald", "a b", "kjournald", "fstrim"]);
        assert_eq!(tagged(TagKind::Pid), ["697"; 4]);
        let process = |line: &str| {
            let text = tag_text(line.as_bytes(), TagField::Process);
            String::from_utf8_lossy(text).into_owned()
        };
        assert_eq!(process("8,0 1 1 0.0 9 Q R 0 + 8 [kworker/[0]:1]"), "kworker/[0]:1");
        assert_eq!(process("8,0 1 1 0.0 9 Q R 0 + 8"), "");
        let options = TraceOptions { tag: Some(TagKind::Queue), ..TraceOptions::default() };
        let refused = message(read(TEXT, &options));
        let expected = "found no queue in the format blkparse; allowed: process, pid";
        assert!(refused.ends_with(expected), "{refused}");
    }

    #[test]
    fn another_action_may_count() {
        for (action, time) in [(Action::Issue, 5), (Action::Complete, 9)] {
            let options = TraceOptions { action, rebase: false, ..TraceOptions::default() };
            assert_eq!(brief(&options), [(time, Op::Write, 4096)]);
        }
    }

    #[test]
    fn bad_events_give_their_reason() {
        let cases = [
            ("8,0 1 1 0.0", Reason::FieldCount),
            ("8,0 1 1 x 1 Q R 0 + 8", Reason::BadTime),
            ("8,0 1 1 0.0 1 Q R x + 8", Reason::BadOffset),
            ("8,0 1 1 0.0 1 Q R 0 + x", Reason::BadLength),
            ("8,0 1 1 0.0 1 Q R 0 +", Reason::FieldCount),
            ("8,0 1 1 0.0 1 Q R 0 + 0", Reason::ZeroLength),
            ("4096,0 1 1 0.0 1 Q R 0 + 8", Reason::TooLarge),
        ];
        for (line, reason) in cases {
            let found = event(line.as_bytes(), TimeUnit::Seconds, Action::Queue);
            assert_eq!(found, Err(reason), "{line}");
        }
        let none = message(read("a\nb\n", &TraceOptions::new(Format::Blkparse)));
        assert!(none.contains("found no record in 2 lines"), "{none}");
    }

    #[test]
    fn usual_lines_go_the_quick_way() {
        let events: Vec<&str> = TEXT.lines().take(2).chain([INFO.example]).collect();
        for line in events {
            let found = quick(line.as_bytes(), TimeUnit::Seconds, Action::Queue);
            assert!(found.is_some(), "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn both_ways_agree(
            line in concat!(
                r" {0,3}[0-9]{1,4}(,| ,|)[0-9]{1,8} {1,3}([0-9]{1,2}|x) {1,9}[0-9]{1,21}",
                r"[ \t]{1,2}[0-9]{1,20}(\.[0-9]{0,13})? {1,2}[0-9]{1,3}",
                r" {1,3}(Q|D|QQ|Q\t|) {0,3}(R|WS|FWS|N|R\t|DS) {1,2}[0-9]{1,21}( \+ |  \+| - )",
                r"[0-9]{0,9}( \[a b\]|\[|\t\[a| )?",
            ),
        ) {
            let unit = TimeUnit::Seconds;
            if let Some(found) = quick(line.as_bytes(), unit, Action::Queue) {
                prop_assert_eq!(event(line.as_bytes(), unit, Action::Queue), Ok(found), "{}", line);
            }
        }
    }
}
