//! Trace events of the kernel as text: what ftrace, `trace-cmd report` and `perf script` print.
//!
//! Source: the kernel's documentation of trace events, and `include/trace/events/block.h` and
//! `drivers/nvme/host/trace.h` for what an event prints:
//!
//! | event | counts as | text behind the name |
//! | --- | --- | --- |
//! | `block_bio_queue` | `Q` | `maj,min rwbs sector + blocks [process]` |
//! | `block_rq_issue` | `D` | `maj,min rwbs bytes (command) sector + blocks [process]` |
//! | `block_rq_complete` | `C` | `maj,min rwbs (command) sector + blocks [error]` |
//! | `nvme_setup_cmd` | `D` | `nvme0: disk=nvme0n1, qid=1, cmdid=2, nsid=1, ..., cmd=(nvme_cmd_read slba=0, len=7, ...)` |
//! | `nvme_complete_rq` | `C` | `nvme0: disk=nvme0n1, qid=1, cmdid=2, ...` |
//!
//! ftrace prints `process-pid [cpu] flags seconds: event:` in front, perf `process pid [cpu]
//! seconds: block:event:`. Blocks of the block layer have 512 bytes; those of NVMe commands are the
//! drive's: the size unit says which. The length of an NVMe command counts from 0. A trace of both
//! kinds has every request twice: the kind that comes first counts. Without an arrival (`Q`) in the
//! trace the dispatch (`D`) takes its place. Records leave by time.

use std::collections::HashMap;

use super::blk_event::{Account, Asked, ReadAs, SECTOR_BYTES, asked};
use super::five_columns::{next_field, range};
use super::names::Names;
use super::order::ByArrival;
use super::{FormatInfo, LineParser};
use crate::lines::trim;
use crate::number;
use crate::options::{Action, Reading};
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::tags::{TagField, TagKind, Tags};
use crate::units::{SpaceUnit, TimeUnit};

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "ftrace",
    description: "events of ftrace, trace-cmd and perf script: block_rq_issue, nvme_setup_cmd and the like",
    example: "fio-103 [001] d..1. 12.000345: block_rq_issue: 259,1 R 16384 () 133576 + 32 [fio]",
    time_unit: TimeUnit::Seconds,
    size_unit: Some(SpaceUnit::Sectors),
    has_actions: true,
    has_preamble: true,
    tags: &[TagKind::Process, TagKind::Pid, TagKind::Queue, TagKind::Namespace],
    recognises: |line| Event::of(line).is_some(),
    ..FormatInfo::PLAIN
};

/// Commands of NVMe that may be under way at a time.
const UNDER_WAY_MAX: usize = 1 << 20;
/// Bit of an NVMe command's control word: forced to the medium.
const FORCED: u64 = 1 << 14;

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Block,
    Nvme,
}

/// The events that are read.
const EVENTS: [(&[u8], Layer, Action); 5] = [
    (b"block_bio_queue", Layer::Block, Action::Queue),
    (b"block_rq_issue", Layer::Block, Action::Issue),
    (b"block_rq_complete", Layer::Block, Action::Complete),
    (b"nvme_setup_cmd", Layer::Nvme, Action::Issue),
    (b"nvme_complete_rq", Layer::Nvme, Action::Complete),
];

/// A line, cut up.
#[derive(Clone, Copy, Debug)]
struct Event<'a> {
    layer: Layer,
    action: Action,
    /// What stands in front of the time: process, processor, flags.
    head: &'a [u8],
    time: &'a [u8],
    /// What stands behind the name of the event.
    text: &'a [u8],
}

impl<'a> Event<'a> {
    /// `None`: no event that is read.
    fn of(line: &'a [u8]) -> Option<Event<'a>> {
        let mut from = 0;
        while let Some(at) = line[from..].windows(2).position(|pair| pair == b": ") {
            let (end, behind) = (from + at, from + at + 2);
            let word = last_word(&line[from..end]);
            let name = word.rsplit(|byte| *byte == b':').next().unwrap_or_default();
            if let Some((_, layer, action)) = EVENTS.iter().find(|(known, ..)| *known == name) {
                let head = trim(&line[..from]);
                let head = head.strip_suffix(b":").unwrap_or(head);
                let time = last_word(head);
                let head = trim(&head[..head.len() - time.len()]);
                let (layer, action, text) = (*layer, *action, &line[behind..]);
                return (!time.is_empty()).then_some(Event { layer, action, head, time, text });
            }
            from = behind;
        }
        None
    }

    /// Name and number of the process, of which blanks may be a part.
    fn process(&self) -> (&'a [u8], &'a [u8]) {
        let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        // Up to the processor, without the number of the group that ftrace may show.
        let end =
            self.head.windows(2).rposition(|pair| pair[0] == b'[' && pair[1].is_ascii_digit());
        let mut who = trim(&self.head[..end.unwrap_or(self.head.len())]);
        if let Some(open) = who.iter().rposition(|byte| *byte == b'(')
            && who.ends_with(b")")
        {
            who = trim(&who[..open]);
        }
        let word = last_word(who);
        let thread = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if word.len() < who.len() && digits(thread) {
            return (trim(&who[..who.len() - word.len()]), thread);
        }
        match who.iter().rposition(|byte| *byte == b'-') {
            Some(at) if digits(&who[at + 1..]) => (trim(&who[..at]), &who[at + 1..]),
            _ => (who, b""),
        }
    }
}

/// What stands behind the last blank.
fn last_word(text: &[u8]) -> &[u8] {
    let text = trim(text);
    let start = text.iter().rposition(|byte| matches!(byte, b' ' | b'\t'));
    &text[start.map_or(0, |at| at + 1)..]
}

/// The value of `key=` in the text of an NVMe event, up to the next comma or parenthesis.
fn value<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let starts = |at: usize| at == 0 || matches!(text[at - 1], b' ' | b'(' | b',');
    let at = (0..text.len()).find(|at| text[*at..].starts_with(key) && starts(*at))?;
    let rest = &text[at + key.len()..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b')' | b' ')).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// An NVMe command under way: controller, queue and number.
type Command = (Vec<u8>, u64, u64);

/// Which event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// This one.
    Only(Action),
    /// Arrivals are wanted, and none has come: so far dispatches count.
    Dispatches,
}

pub(super) struct Ftrace {
    unit: TimeUnit,
    /// Unit of the blocks of NVMe commands. Unit: bytes.
    block_bytes: u64,
    counted: Counted,
    layer: Option<Layer>,
    disks: Names,
    /// Never iterated over.
    under_way: HashMap<Command, (Asked, RawRecord)>,
    waiting: ByArrival,
    account: Account,
    skipped: u64,
    /// Deallocations, whose ranges an event does not show.
    without_range: u64,
    tag: Option<TagField>,
    tags: Tags,
}

pub(super) fn parser(reading: &Reading) -> Ftrace {
    Ftrace {
        unit: reading.time_unit,
        block_bytes: reading.size_unit.bytes(),
        counted: match reading.action {
            Action::Queue => Counted::Dispatches,
            action => Counted::Only(action),
        },
        layer: None,
        disks: Names::default(),
        under_way: HashMap::new(),
        waiting: ByArrival::default(),
        account: Account::default(),
        skipped: 0,
        without_range: 0,
        tag: reading.tag,
        tags: Tags::default(),
    }
}

impl LineParser for Ftrace {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        let Some(event) = Event::of(line) else {
            self.skipped += 1;
            return Ok(None);
        };
        if *self.layer.get_or_insert(event.layer) != event.layer {
            self.skipped += 1;
            return Ok(None);
        }
        self.account.saw(event.action);
        let counts = self.counts(event.action);
        let joins = event.layer == Layer::Nvme && self.counted == Counted::Only(Action::Complete);
        let request = match event.layer {
            _ if !counts && !joins => None,
            Layer::Block => self.block_request(&event)?,
            Layer::Nvme if joins => self.completed_command(&event)?,
            Layer::Nvme => self.command(&event)?,
        };
        let Some((asked, mut record)) = request else {
            self.skipped += 1;
            return Ok(None);
        };
        if let Some(field) = self.tag {
            record.tag = match field {
                _ if joins => record.tag,
                field => self.tags.number(tag_text(&event, field)),
            };
        }
        self.account.hand_on(event.action, asked, record, &mut self.waiting);
        if self.counted == Counted::Dispatches && self.waiting.is_full() {
            self.counted = Counted::Only(Action::Issue);
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
        let mut notes = self.account.notes();
        let [arrivals, dispatches, _] = self.account.events();
        if self.counted == Counted::Dispatches && arrivals == 0 && dispatches > 0 {
            notes.push((
                "dispatches (D), which count because the trace has no arrivals (Q)",
                dispatches,
            ));
        }
        if self.without_range > 0 {
            notes.push(("deallocations without their ranges (skipped)", self.without_range));
        }
        notes
    }

    fn events(&self) -> [u64; 3] {
        let mut events = self.account.events();
        if self.counted == Counted::Dispatches {
            // Issues are counted as arrivals in a trace without arrivals.
            events[0] += events[1];
        }
        events
    }
}

fn tag_text<'a>(event: &Event<'a>, field: TagField) -> &'a [u8] {
    match field {
        TagField::Process => event.process().0,
        TagField::Pid => event.process().1,
        TagField::Queue => value(event.text, b"qid=").unwrap_or_default(),
        TagField::Namespace => value(event.text, b"nsid=").unwrap_or_default(),
        _ => b"",
    }
}

impl Ftrace {
    /// Whether an event of this action is a request. The first arrival takes the place of the
    /// dispatches so far.
    fn counts(&mut self, action: Action) -> bool {
        match self.counted {
            Counted::Only(wanted) => action == wanted,
            Counted::Dispatches if action == Action::Queue => {
                self.skipped += self.account.events()[Action::Issue as usize];
                self.waiting.clear();
                self.account.forget();
                self.counted = Counted::Only(Action::Queue);
                true
            }
            Counted::Dispatches => action == Action::Issue,
        }
    }

    fn time(&self, event: &Event<'_>) -> Result<u128, Reason> {
        // Without a fraction it is a counter and no time.
        if !event.time.contains(&b'.') {
            return Err(Reason::BadTime);
        }
        number::fractional_time(event.time, self.unit)
    }

    /// The request of an event of the block layer; `None`: no request for data.
    fn block_request(&self, event: &Event<'_>) -> Result<Option<(Asked, RawRecord)>, Reason> {
        let mut rest = event.text;
        let device = next_field(&mut rest).ok_or(Reason::FieldCount)?;
        let rwbs = next_field(&mut rest).ok_or(Reason::FieldCount)?;
        if let Some(end) = rest.iter().position(|byte| *byte == b')')
            && event.action != Action::Queue
        {
            rest = &rest[end + 1..];
        }
        let mut field = || next_field(&mut rest).ok_or(Reason::FieldCount);
        let [sector, plus, blocks] = [field()?, field()?, field()?];
        if plus != b"+" {
            return Err(Reason::FieldCount);
        }
        let blocks = number::decimal(blocks).map_err(|fault| fault.reason(Reason::BadLength))?;
        let Some(asked) = asked(rwbs, blocks > 0) else { return Ok(None) };
        let (op, time_ps) = (asked.op, self.time(event)?);
        let comma = device.iter().position(|byte| *byte == b',').ok_or(Reason::BadDevice)?;
        let device = number::linux_device(&device[..comma], &device[comma + 1..])?;
        let sector = match op {
            Op::Flush => 0,
            _ => number::decimal(sector).map_err(|fault| fault.reason(Reason::BadOffset))?,
        };
        let range = range(op, sector, blocks, SECTOR_BYTES, SECTOR_BYTES)?;
        Ok(Some((asked, RawRecord::of(time_ps, op, range, device))))
    }

    /// The request of an NVMe command as it is set up; `None`: it is none.
    fn command(&mut self, event: &Event<'_>) -> Result<Option<(Asked, RawRecord)>, Reason> {
        let text = event.text;
        let start = text.windows(5).position(|five| five == b"cmd=(").ok_or(Reason::FieldCount)?;
        let (about, command) = (&text[..start], &text[start + 5..]);
        let mut rest = command;
        let name = next_field(&mut rest).unwrap_or_default();
        let (op, read_as) = match name.strip_suffix(b")").unwrap_or(name) {
            b"nvme_cmd_read" => (Op::Read, None),
            b"nvme_cmd_write" => (Op::Write, None),
            b"nvme_cmd_flush" => (Op::Flush, None),
            b"nvme_cmd_write_zeroes" => (Op::Trim, Some(ReadAs::Zeroes)),
            b"nvme_cmd_zone_append" => (Op::Write, Some(ReadAs::Append)),
            b"nvme_cmd_dsm" => {
                self.without_range += 1;
                return Ok(None);
            }
            _ => return Ok(None),
        };
        let number = |key: &[u8], reason: Reason| {
            let text = value(command, key).ok_or(Reason::FieldCount)?;
            number::decimal_or_hex(text).map_err(|fault| fault.reason(reason))
        };
        let (first, blocks, control) = match op {
            Op::Flush => (0, 0, 0),
            _ => (
                number(b"slba=", Reason::BadOffset)?,
                number(b"len=", Reason::BadLength)?.checked_add(1).ok_or(Reason::TooLarge)?,
                number(b"ctrl=", Reason::FieldCount).unwrap_or(0),
            ),
        };
        let disk = value(about, b"disk=").ok_or(Reason::BadDevice)?;
        let device = self.disks.number(disk)?;
        let time_ps = self.time(event)?;
        let range = range(op, first, blocks, self.block_bytes, self.block_bytes)?;
        let forced = op == Op::Write && control & FORCED != 0;
        let asked = Asked { forced, read_as, ..Asked::plain(op) };
        Ok(Some((asked, RawRecord::of(time_ps, op, range, device))))
    }

    /// Keeps a command that is set up, or gives the request of one that is complete.
    fn completed_command(
        &mut self,
        event: &Event<'_>,
    ) -> Result<Option<(Asked, RawRecord)>, Reason> {
        let text = event.text;
        let number = |key: &[u8]| number::decimal(value(text, key)?).ok();
        let end = text.iter().position(|byte| *byte == b':').unwrap_or(0);
        let (Some(queue), Some(command)) = (number(b"qid="), number(b"cmdid=")) else {
            return Err(Reason::FieldCount);
        };
        let key = (text[..end].to_vec(), queue, command);
        if event.action == Action::Complete {
            let Some((asked, record)) = self.under_way.remove(&key) else { return Ok(None) };
            return Ok(Some((asked, RawRecord { time_ps: self.time(event)?, ..record })));
        }
        if let Some((asked, mut record)) = self.command(event)?
            && self.under_way.len() < UNDER_WAY_MAX
        {
            if let Some(field) = self.tag {
                record.tag = self.tags.number(tag_text(event, field));
            }
            self.under_way.insert(key, (asked, record));
        }
        Ok(None)
    }
}

#[cfg(test)]
#[path = "ftrace_tests.rs"]
mod tests;
