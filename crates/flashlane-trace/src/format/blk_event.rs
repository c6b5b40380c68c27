//! Events of requests in the block layer of Linux, as blktrace, blkparse and ftrace record them.

use super::order::ByArrival;
use crate::options::Action;
use crate::record::{Op, RawRecord};

/// Size of a sector of the block layer. Unit: bytes.
pub(super) const SECTOR_BYTES: u64 = 512;

/// The operations that an event stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// A flush before the data (`F` in front of the operation).
    pub(super) flush_before: bool,
    pub(super) op: Op,
    /// The data is forced to the medium (`F` behind the operation): a flush after it.
    pub(super) forced: bool,
    /// The operation in the block layer, if it is none of [`Op`].
    pub(super) read_as: Option<ReadAs>,
}

/// Operations of the block layer that are read as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadAs {
    /// A write to the end of a zone: a write.
    Append,
    /// Zeroes without data: a trim.
    Zeroes,
    /// A zone reset, read as a trim.
    ZoneReset,
}

impl Asked {
    pub(super) const fn plain(op: Op) -> Asked {
        Asked { flush_before: false, op, forced: false, read_as: None }
    }
}

/// The operation of letters that stand for a plain read or write. This is a fast path: it returns
/// `None` where the letters have to be examined one by one.
#[inline(always)]
pub(super) fn plain_operation(rwbs: &[u8]) -> Option<Op> {
    let is_plain =
        |letters: &[u8]| letters.iter().all(|letter| matches!(letter, b'S' | b'A' | b'M'));
    match rwbs {
        [b'R', rest @ ..] if is_plain(rest) => Some(Op::Read),
        [b'W', rest @ ..] if is_plain(rest) => Some(Op::Write),
        _ => None,
    }
}

/// What the letters of blkparse and of the kernel's trace events ask for; `has_data`: whether the
/// event has a length.
///
/// A leading `F` asks for a flush before the data; without data it is a flush. Then comes the
/// operation: `R`, `W`, `D` (discard), `DE` or `E` (secure erase), `WZ` (write zeroes), `ZA` (zone
/// append), `ZR` (zone reset), `ZO`, `ZC`, `ZF` (open, close, finish a zone), `F` (flush), `N`
/// (none). An `F` among the letters behind it means forced to the medium (FUA); `S` (synchronous),
/// `M` (metadata), `A` (ahead) and others change nothing here. `None`: no request for data.
pub(super) fn asked(rwbs: &[u8], has_data: bool) -> Option<Asked> {
    let (flush_before, rest) = match rwbs {
        [b'F', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if !has_data {
        return flush_before.then_some(Asked::plain(Op::Flush));
    }
    let (op, read_as, flags) = match rest {
        [b'R', flags @ ..] => (Op::Read, None, flags),
        [b'W', b'Z', flags @ ..] => (Op::Trim, Some(ReadAs::Zeroes), flags),
        [b'W', flags @ ..] => (Op::Write, None, flags),
        [b'D', b'E', flags @ ..] | [b'D' | b'E', flags @ ..] => (Op::Trim, None, flags),
        [b'Z', b'A', flags @ ..] => (Op::Write, Some(ReadAs::Append), flags),
        [b'Z', b'R', flags @ ..] => (Op::Trim, Some(ReadAs::ZoneReset), flags),
        _ => return None,
    };
    let forced = op == Op::Write && flags.contains(&b'F');
    Some(Asked { flush_before, op, forced, read_as })
}

/// Categories of an event: the upper half of blktrace's action.
mod category {
    pub(super) const WRITE: u64 = 1 << 1;
    pub(super) const FLUSH: u64 = 1 << 2;
    pub(super) const PASSTHROUGH: u64 = 1 << 9;
    pub(super) const NOTIFY: u64 = 1 << 10;
    pub(super) const DISCARD: u64 = 1 << 13;
    pub(super) const FUA: u64 = 1 << 15;
    pub(super) const READ: u64 = 1;
}

/// True for categories of a note of the tracer, which is not an event.
pub(super) fn is_note(categories: u64) -> bool {
    categories & category::NOTIFY != 0
}

/// What blktrace's categories ask for. Zone appends and zeroes have none of their own in version 7:
/// they are writes there. `None`: no request for data.
pub(super) fn asked_of(categories: u64, has_data: bool) -> Option<Asked> {
    let is = |bits: u64| categories & bits != 0;
    if is(category::NOTIFY | category::PASSTHROUGH) {
        return None;
    }
    if !has_data {
        return is(category::FLUSH).then_some(Asked::plain(Op::Flush));
    }
    let op = if is(category::DISCARD) {
        Op::Trim
    } else if is(category::WRITE) {
        Op::Write
    } else if is(category::READ) {
        Op::Read
    } else {
        return None;
    };
    let forced = op == Op::Write && is(category::FUA);
    Some(Asked { flush_before: is(category::FLUSH), op, forced, read_as: None })
}

/// Counts how events were read, and which other events there were.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    flushes_before: u64,
    flushes_after: u64,
    appends: u64,
    zeroes: u64,
    zone_resets: u64,
    /// Events by action: `Q`, `D`, `C`.
    events: [u64; 3],
    /// Device of the latest event, if that event was a flush.
    flushed: Option<u32>,
}

impl Account {
    /// An event of this action.
    #[inline]
    pub(super) fn saw(&mut self, action: Action) {
        self.events[action as usize] += 1;
    }

    /// Events by action: `Q`, `D`, `C`.
    pub(super) fn events(&self) -> [u64; 3] {
        self.events
    }

    /// Forgets the events that were delivered.
    pub(super) fn forget(&mut self) {
        *self = Account { events: self.events, ..Account::default() };
    }

    /// Delivers the requests of an event: a flush before it, the request, and a flush after it.
    ///
    /// Below the block layer (`D`, `C`) flushes are also events of their own. There, a flush before
    /// or after the data is added only if the trace has none.
    #[inline(always)]
    pub(super) fn hand_on(
        &mut self,
        action: Action,
        asked: Asked,
        record: RawRecord,
        waiting: &mut ByArrival,
    ) {
        let is_plain = !asked.flush_before && !asked.forced && asked.read_as.is_none();
        if is_plain && asked.op != Op::Flush && waiting.owed().is_none() {
            self.flushed = None;
            return waiting.push(record);
        }
        self.hand_on_all(action, asked, record, waiting);
    }

    /// Does what [`Account::hand_on`] does, for any event.
    #[inline(never)]
    fn hand_on_all(
        &mut self,
        action: Action,
        asked: Asked,
        record: RawRecord,
        waiting: &mut ByArrival,
    ) {
        let flush = RawRecord { op: Op::Flush, offset_bytes: 0, length_bytes: 0, ..record };
        let above = action == Action::Queue;
        let is_flush = asked.op == Op::Flush;
        match waiting.owed() {
            Some(owed) if is_flush && owed.device == record.device => {
                waiting.forgive();
                self.flushes_after -= 1;
            }
            _ => waiting.settle(),
        }
        if asked.flush_before && (above || self.flushed != Some(record.device)) {
            self.flushes_before += 1;
            waiting.push(flush);
        }
        waiting.push(record);
        if asked.forced {
            self.flushes_after += 1;
            if above { waiting.push(flush) } else { waiting.owe(flush) }
        }
        self.flushed = is_flush.then_some(record.device);
        match asked.read_as {
            None => {}
            Some(ReadAs::Append) => self.appends += 1,
            Some(ReadAs::Zeroes) => self.zeroes += 1,
            Some(ReadAs::ZoneReset) => self.zone_resets += 1,
        }
    }

    /// How events were read, as text.
    pub(super) fn notes(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("flushes before data (F in front of the operation)", self.flushes_before),
            ("flushes after forced writes (F behind the operation)", self.flushes_after),
            ("zone appends read as writes", self.appends),
            ("write zeroes read as trims", self.zeroes),
            ("zone resets read as trims", self.zone_resets),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
#[path = "blk_event_tests.rs"]
mod tests;
