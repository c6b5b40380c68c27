//! DRAM timing: banks with an open row each behind one data bus.
//!
//! An access consists of pieces, one for each cached page. A piece in the open row of its bank
//! costs the column latency; any other piece first closes that row and opens its own. Rows of
//! different banks open side by side; data moves over the bus in the order of the accesses. With a
//! partitioned cache every flow has a queue of its own, and the flows take turns.

use std::collections::VecDeque;

use flashlane_engine::{EventQueue, Time};
use flashlane_units::FlowId;

use crate::cache::config::DramConfig;
use crate::compat::CompatConfig;
use crate::event::Event;
use crate::layout::SECTOR_BYTES;

/// A part of an access: some bytes of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    slot: u32,
    bytes: u64,
}

impl Piece {
    /// Some sectors of the page in a slot.
    #[inline]
    pub(super) fn of(slot: u32, sectors: u32) -> Self {
        Self { slot, bytes: u64::from(sectors) * SECTOR_BYTES }
    }
}

/// An access that waits for the turn of its flow.
#[derive(Clone, Debug)]
struct Job {
    pieces: Vec<Piece>,
    done: Option<Event>,
}

/// An access to the memory that has begun, or begins as soon as the memory is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DramAccess {
    pub(crate) flow: FlowId,
    /// Time at which the memory is free for the access.
    pub(crate) free: Time,
    /// Time at which the data of the access is over the bus.
    pub(crate) end: Time,
    /// The event at that time.
    pub(crate) done: Option<Event>,
}

/// Result of asking for an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DramUse {
    /// The access is the next one.
    Begun(DramAccess),
    /// The access waits for the turn of its flow. If there is an access whose turn has come, that
    /// one begins; it may be of another flow.
    Queued(Option<DramAccess>),
}

#[derive(Clone, Copy, Debug)]
struct Bank {
    row: u64,
    /// End of the last data of the open row.
    ready: Time,
}

/// Stands for a bank without an open row.
const CLOSED: u64 = u64::MAX;

/// The memory behind the cache.
#[derive(Clone, Debug)]
pub(super) struct Dram {
    config: DramConfig,
    banks: Vec<Bank>,
    /// Time until which the data bus is taken.
    free_at: Time,
    page_bytes: u64,
    mqsim: bool,
    /// Waiting accesses by flow; empty where all flows share one order.
    queues: Vec<VecDeque<Job>>,
    /// The flow served last.
    turn: usize,
    /// True if an access has begun and the next turn is scheduled.
    busy: bool,
    /// Emptied lists of pieces, for reuse.
    spare: Vec<Vec<Piece>>,
}

impl Dram {
    /// An idle memory. With more than one flow, each has a queue of its own.
    pub(super) fn new(
        config: &DramConfig,
        compat: &CompatConfig,
        page_bytes: u64,
        flows: usize,
    ) -> Self {
        let bank = Bank { row: CLOSED, ready: Time::ZERO };
        Self {
            config: config.clone(),
            banks: vec![bank; config.banks as usize],
            free_at: Time::ZERO,
            page_bytes,
            mqsim: compat.dram_formula,
            queues: if flows > 1 { vec![VecDeque::new(); flows] } else { Vec::new() },
            turn: 0,
            busy: false,
            spare: Vec::new(),
        }
    }

    /// Starts an access on behalf of a flow, or queues it where flows take turns. `done`: the event
    /// at its end.
    pub(super) fn ask(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
        flow: FlowId,
        pieces: &[Piece],
        done: Option<Event>,
    ) -> DramUse {
        if !self.queues.is_empty() {
            self.push(flow, pieces, done);
            return DramUse::Queued(self.serve(now, events));
        }
        let free = self.free_at;
        let end = self.access(now, pieces);
        if let Some(event) = done {
            events.schedule(end, event);
        }
        DramUse::Begun(DramAccess { flow, free, end, done })
    }

    /// Starts the access of the flow whose turn it is, unless one has just begun.
    pub(super) fn serve(
        &mut self,
        now: Time,
        events: &mut EventQueue<Event>,
    ) -> Option<DramAccess> {
        let (started, next) = self.start(now)?;
        if let Some(event) = started.done {
            events.schedule(started.end, event);
        }
        events.schedule(next, Event::DramTurn);
        Some(started)
    }

    /// Starts an access behind all earlier ones; returns its end.
    fn access(&mut self, now: Time, pieces: &[Piece]) -> Time {
        self.begin(now, pieces).1
    }

    /// Adds an access to the queue of its flow.
    fn push(&mut self, flow: FlowId, pieces: &[Piece], done: Option<Event>) {
        let mut list = self.spare.pop().unwrap_or_default();
        list.extend_from_slice(pieces);
        self.queues[flow.index()].push_back(Job { pieces: list, done });
    }

    /// Starts the access of the flow whose turn it is, unless one has just begun. Also returns the
    /// time of the next turn.
    fn start(&mut self, now: Time) -> Option<(DramAccess, Time)> {
        if self.busy {
            return None;
        }
        let flows = self.queues.len();
        let turn = (1..=flows).map(|step| (self.turn + step) % flows);
        let flow = turn.into_iter().find(|&flow| !self.queues[flow].is_empty())?;
        let job = self.queues[flow].pop_front().expect("just seen");
        self.turn = flow;
        self.busy = true;
        let free = self.free_at;
        let (next, end) = self.begin(now, &job.pieces);
        let mut pieces = job.pieces;
        pieces.clear();
        self.spare.push(pieces);
        Some((DramAccess { flow: FlowId::at(flow), free, end, done: job.done }, next))
    }

    /// Lets the next flow have its turn.
    pub(super) fn turn_over(&mut self) {
        self.busy = false;
    }

    /// True if nothing waits for its turn.
    pub(super) fn is_drained(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    /// Begins an access. Returns the times at which its last data starts to move, and has moved.
    fn begin(&mut self, now: Time, pieces: &[Piece]) -> (Time, Time) {
        if self.mqsim {
            let bytes = pieces.iter().map(|piece| piece.bytes).sum();
            self.free_at = self.free_at.max(now) + Time(self.duration_mqsim(bytes));
            return (self.free_at, self.free_at);
        }
        let mut start = now;
        for piece in pieces {
            let mut address = u64::from(piece.slot) * self.page_bytes;
            let end = address + piece.bytes;
            while address < end {
                let row = address / self.config.row.0;
                let bytes = ((row + 1) * self.config.row.0).min(end) - address;
                start = self.move_row(now, row, bytes);
                address += bytes;
            }
        }
        (start, self.free_at)
    }

    /// Moves some bytes of a row over the bus. Returns the time at which they start to move.
    fn move_row(&mut self, now: Time, row: u64, bytes: u64) -> Time {
        let c = &self.config;
        let count = self.banks.len() as u64;
        let bank = &mut self.banks[(row % count) as usize];
        let open = if bank.row == row {
            now + Time(c.t_cl.0)
        } else {
            let close = if bank.row == CLOSED { 0 } else { c.t_rp.0 };
            bank.ready.max(now) + Time(close + c.t_rcd.0 + c.t_cl.0)
        };
        let beats = u128::from(bytes.div_ceil(c.bus_width.0));
        let data = beats * 1_000_000_000_000 / u128::from(c.data_rate.0);
        let start = open.max(self.free_at);
        self.free_at = start + Time(data as u64);
        (bank.row, bank.ready) = (row, self.free_at);
        start
    }

    /// Duration of an access as in the released MQSim: half of the rows, delays charged once, a
    /// tail in the wrong unit.
    fn duration_mqsim(&self, bytes: u64) -> u64 {
        let c = &self.config;
        let (row, burst, rate) = (c.row.0, c.bus_width.0, c.data_rate.0);
        let open = (c.t_rcd.0 + c.t_cl.0) / 1_000;
        // k bursts of 1e9 / rate nanoseconds, truncated to whole nanoseconds.
        let bursts = |n: u64| (u128::from(n / burst / 2) * 1_000_000_000 / u128::from(rate)) as u64;
        let ns = if bytes <= row {
            open + bursts(bytes)
        } else {
            let tail =
                u128::from(bytes % row) * u128::from(rate) / (u128::from(burst) * 1_000_000_000);
            2 * open + (bursts(row) + c.t_rp.0 / 1_000) * (bytes / row / 2) + tail as u64
        };
        ns * 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::RequestId;
    use flashlane_units::{ByteSize, TransferRate};

    /// 100 MB/s, 13 ns for each of tRCD, tCL and tRP, rows and pages of 8 KiB.
    fn sample(compat: &CompatConfig, banks: u32, flows: usize) -> Dram {
        let config = DramConfig {
            data_rate: TransferRate(100_000_000),
            bus_width: ByteSize(1),
            banks,
            ..DramConfig::default()
        };
        Dram::new(&config, compat, 8192, flows)
    }

    fn piece(slot: u32, bytes: u64) -> Piece {
        Piece { slot, bytes }
    }

    const DATA: u64 = 512 * 10_000;

    #[test]
    fn an_open_row_saves_opening_it() {
        let mut dram = sample(&CompatConfig::default(), 2, 1);
        let late = Time(1_000_000_000);
        assert_eq!(dram.access(Time::ZERO, &[piece(0, 512)]), Time(26_000 + DATA), "row closed");
        assert_eq!(dram.access(late, &[piece(0, 512)]), late + Time(13_000 + DATA), "row open");
        let later = late + late;
        assert_eq!(dram.access(later, &[piece(2, 512)]), later + Time(39_000 + DATA), "another");
    }

    #[test]
    fn banks_open_rows_side_by_side() {
        let pieces = [piece(0, 512), piece(1, 512), piece(2, 512), piece(3, 512)];
        let four = sample(&CompatConfig::default(), 4, 1).access(Time::ZERO, &pieces);
        let one = sample(&CompatConfig::default(), 1, 1).access(Time::ZERO, &pieces);
        assert_eq!(four, Time(26_000 + 4 * DATA));
        assert_eq!(one, Time(26_000 + 3 * 39_000 + 4 * DATA));
    }

    #[test]
    fn an_access_of_several_rows_opens_each() {
        let config = DramConfig {
            data_rate: TransferRate(100_000_000),
            bus_width: ByteSize(1),
            row: ByteSize(256),
            banks: 1,
            ..DramConfig::default()
        };
        let mut dram = Dram::new(&config, &CompatConfig::default(), 8192, 1);
        assert_eq!(dram.access(Time::ZERO, &[piece(0, 512)]), Time(26_000 + 39_000 + DATA));
    }

    #[test]
    fn the_mqsim_formula_is_reproduced() {
        let dram = sample(&CompatConfig::mqsim(), 8, 1);
        assert_eq!(dram.duration_mqsim(4096), 20_506_000);
        assert_eq!(dram.duration_mqsim(8192), 40_986_000);
        assert_eq!(dram.duration_mqsim(16_384), (52 + 40_960 + 13) * 1_000);
    }

    #[test]
    fn flows_take_turns() {
        let mut dram = sample(&CompatConfig::default(), 8, 2);
        for slot in 0..3 {
            dram.push(
                FlowId::new(0),
                &[piece(slot, 512)],
                Some(Event::DramDone { request: RequestId::new(slot) }),
            );
        }
        dram.push(
            FlowId::new(1),
            &[piece(7, 512)],
            Some(Event::DramDone { request: RequestId::new(7) }),
        );
        let mut order = Vec::new();
        while let Some((started, _)) = dram.start(Time::ZERO) {
            order.extend(started.done);
            assert!(dram.start(Time::ZERO).is_none(), "one at a time");
            dram.turn_over();
        }
        let done = |request| Event::DramDone { request };
        assert_eq!(
            order,
            [
                done(RequestId::new(7)),
                done(RequestId::new(0)),
                done(RequestId::new(1)),
                done(RequestId::new(2))
            ]
        );
        assert!(dram.is_drained());
    }
}
