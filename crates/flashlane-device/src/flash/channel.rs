//! A channel: one bus that commands, program data and read data share, or a bus for commands and
//! one for data (`command_bus.rs`).
//!
//! Read commands for idle dies go first, then waiting read data, then the other commands. No order
//! is strict without end: after a page of data per die, the other commands have their turn, and
//! read data that was overtaken ages (see [`Channel::push_data`]). Two kinds of ends become events
//! only if something waits for them: see [`Channel`].

use flashlane_engine::{EventQueue, Ring, Sequence, Time};
use flashlane_units::{ChannelId, DieId, TransactionId};

use super::{DieState, Flash};
use crate::context::Context;
use crate::event::Event;
use crate::transaction::Source;

/// Classes of read data.
pub(super) const MAPPING: usize = 0;
pub(super) const USER: usize = 1;
pub(super) const COLLECTION: usize = 2;

/// The class of read data of a source.
#[inline]
pub(super) fn class_of(source: Source) -> usize {
    match source {
        Source::Mapping => MAPPING,
        Source::User | Source::Cache => USER,
        Source::Gc => COLLECTION,
    }
}

/// A head start that no page of a lower class can make up for. Unit: pages.
const STRICT: u64 = 1 << 62;

/// The end of a read in the array that the channel has not noticed yet.
#[derive(Clone, Copy, Debug, Default)]
struct Sensing {
    at: Time,
    place: Sequence,
    die: DieId,
    /// True if the end is an event.
    scheduled: bool,
}

/// Number of the bus that carries commands in the arrays of a [`Channel`].
pub(super) const COMMANDS: usize = 0;

/// A page of read data that waits in the register of its die.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ready {
    /// Position in the order: the smaller goes first. Unit: pages of read data that the channel has
    /// moved.
    turn: u64,
    /// The transaction.
    id: TransactionId,
}

/// A channel.
///
/// Two kinds of ends become events only if something waits for them:
///
/// - The end of a command on the bus. If nothing waits for it, it is noticed together with the next
///   event.
/// - The end of a read in the array while the channel is busy. The channel looks for it when it is
///   free.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// True for a bus in use. The second one is in use only where commands have their own.
    pub(super) busy: [bool; 2],
    /// Number of the bus that carries data: that of commands, or 1 where commands have their own.
    pub(super) data_bus: usize,
    /// End of the command on the bus, with its place in the order of events while it is no event.
    pub(super) until: Time,
    pub(super) unawaited: Option<Sequence>,
    /// Reads in the array, in order of their ends.
    sensing: Ring<Sensing>,
    /// Earliest end in `sensing`; the end of time if it is empty.
    first_sensed: Time,
    /// The read data on the bus, or `NONE`.
    pub(super) moving: TransactionId,
    /// Waiting read data: mapping, user, collection; each in order of its turns.
    pub(super) waiting: [Ring<Ready>; 3],
    /// Number of waiting pages.
    pub(super) pages_waiting: u32,
    /// Pages of read data moved so far.
    moved_in_all: u64,
    /// Pages by which a class of read data goes before the next class. Unit: pages.
    head_start: u64,
    /// Dies with pages to program out of their registers; where commands have their own bus, also
    /// dies with pages to read again.
    pub(super) copybacks: Ring<DieId>,
    /// Pages of read data moved since the scheduler last had the choice of all commands.
    pub(super) moved: u32,
    /// Total time taken, of each bus. Unit: picoseconds.
    pub(super) taken: [u64; 2],
    /// The use of the data bus by the data of a program, where commands have their own bus.
    pub(super) programming: super::command_bus::ProgramData,
}

impl Channel {
    /// An idle channel of `dies` dies. With `strict`, read data does not age: mapping always goes
    /// before user, and user before collection. `separate`: commands have their own bus.
    pub(super) fn new(dies: u32, strict: bool, separate: bool) -> Self {
        Self {
            busy: [false; 2],
            data_bus: usize::from(separate),
            until: Time::ZERO,
            unawaited: None,
            sensing: Ring::new(),
            first_sensed: Time::MAX,
            moving: TransactionId::NONE,
            waiting: Default::default(),
            pages_waiting: 0,
            moved_in_all: 0,
            head_start: if strict { STRICT } else { u64::from(dies) },
            copybacks: Ring::new(),
            moved: 0,
            taken: [0; 2],
            programming: super::command_bus::ProgramData::default(),
        }
    }

    /// True if read data waits.
    #[inline]
    pub(super) fn data_waits(&self) -> bool {
        self.pages_waiting > 0
    }

    /// A page of read data waits.
    ///
    /// Its turn is the number of pages that the channel has moved so far, plus a page per die for
    /// each class before its own. Higher classes therefore go first, but a page waits for at most
    /// two pages per die, and for the pages that the dies hold by then, however busy the channel
    /// is.
    ///
    /// Source: the classes are those of MQSim's release, where they are strict. Aging is our
    /// choice: on a channel that reads saturate, strict classes would leave pages of collection in
    /// their registers without end, and the writes behind them waiting. ONFI leaves the order to
    /// the controller; the firmware of the Cosmos+ OpenSSD knows no classes and moves read data
    /// first come, first served.
    #[inline]
    pub(super) fn push_data(&mut self, class: usize, id: TransactionId) {
        self.pages_waiting += 1;
        let turn = self.moved_in_all + class as u64 * self.head_start;
        self.waiting[class].push_back(Ready { turn, id });
    }

    /// The class of the next page of read data.
    fn next_class(&self) -> usize {
        let turn = |ring: &Ring<Ready>| ring.front().map_or(u64::MAX, |ready| ready.turn);
        let [mapping, user, collection] = &self.waiting;
        let (mapping, user, collection) = (turn(mapping), turn(user), turn(collection));
        if mapping <= user.min(collection) {
            MAPPING
        } else if user <= collection {
            USER
        } else {
            COLLECTION
        }
    }

    /// Takes the next page of read data, or returns `NONE`.
    #[inline]
    fn pop_data(&mut self) -> TransactionId {
        let [mapping, _, collection] = &self.waiting;
        let others = !mapping.is_empty() | !collection.is_empty();
        let class = if others { self.next_class() } else { USER };
        let Some(Ready { id, .. }) = self.waiting[class].pop_front() else {
            return TransactionId::NONE;
        };
        self.pages_waiting -= 1;
        self.moved_in_all += 1;
        id
    }

    /// True if read data or a program without data waits.
    #[inline]
    pub(super) fn has_work(&self) -> bool {
        self.data_waits() || !self.copybacks.is_empty()
    }

    /// Notes a read of a die that ends in the array at `at`, and keeps `place` in the order of
    /// events.
    #[inline(always)]
    pub(super) fn sense(&mut self, at: Time, place: Sequence, die: DieId) {
        let ends = Sensing { at, place, die, scheduled: false };
        self.sensing.insert_behind(ends, |other| other.at <= at);
        self.first_sensed = self.first_sensed.min(at);
    }

    /// Makes the first end in `sensing` an event, because nothing else will make the channel look.
    #[inline(always)]
    pub(super) fn await_sensing(&mut self, channel: ChannelId, queue: &mut EventQueue<Event>) {
        if let Some(first) = self.sensing.front_mut()
            && !first.scheduled
        {
            first.scheduled = true;
            queue.schedule_at(first.at, first.place, Event::Sensed { channel });
        }
    }
}

/// A page of read data that begins to cross a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// The transaction.
    pub(crate) id: TransactionId,
    /// Unit: picoseconds.
    pub(crate) duration: u64,
}

/// What a free channel does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A die programs pages out of its registers.
    Copyback(DieId),
    /// Any command; then read data, if some waits.
    AnyCommand { data_waits: bool },
    /// A read command for an idle die, or otherwise read data.
    ReadOrData,
    /// Read data.
    Data,
}

impl Flash {
    /// True if the bus of the channel is in use; where commands have their own bus, if that one is.
    /// Notices the end of a command that was no event.
    #[inline]
    pub(crate) fn channel_busy(&mut self, channel: ChannelId, events: &EventQueue<Event>) -> bool {
        let state = &mut self.channels[channel];
        if let Some(place) = state.unawaited
            && events.has_passed(state.until, place)
        {
            state.unawaited = None;
            state.busy[COMMANDS] = false;
            state.moved = 0;
        }
        state.busy[COMMANDS]
    }

    /// Makes the end of the command on the bus an event, because something waits for it.
    #[inline]
    pub(crate) fn await_channel(&mut self, channel: ChannelId, events: &mut EventQueue<Event>) {
        let state = &mut self.channels[channel];
        if let Some(place) = state.unawaited.take() {
            events.schedule_at(state.until, place, Event::ChannelFree { channel });
        }
    }

    /// Makes the first end of a read in the array an event, because nothing else will make the
    /// channel look.
    #[inline(always)]
    pub(crate) fn await_sensing(&mut self, channel: ChannelId, events: &mut EventQueue<Event>) {
        self.channels[channel].await_sensing(channel, events);
    }

    /// Queues the data of all reads of a channel whose array work is over.
    #[inline(always)]
    pub(crate) fn look_at_sensing(&mut self, cx: &mut Context, channel: ChannelId) {
        loop {
            let state = &mut self.channels[channel];
            if state.first_sensed > cx.events.now() {
                return;
            }
            let &Sensing { at, place, die, .. } = state.sensing.front().expect("a read ends then");
            if !cx.events.has_passed(at, place) {
                return;
            }
            state.sensing.pop_front();
            state.first_sensed = state.sensing.front().map_or(Time::MAX, |next| next.at);
            self.read_done(&mut cx.transactions, die, at);
        }
    }

    /// Starts the next transfer of read data on a free channel; `None` if none waits.
    #[inline(always)]
    pub(crate) fn move_data(&mut self, cx: &mut Context, channel: ChannelId) -> Option<Transfer> {
        let state = &mut self.channels[channel];
        let id = state.pop_data();
        if id == TransactionId::NONE {
            return None;
        }
        let tr = &mut cx.transactions[id];
        let waited = tr.lap(cx.now);
        tr.chain.queue += waited;
        let duration = self.timing.data(tr.sectors());
        // If a request waits for this page, the end of the transfer may be its end.
        cx.requests.prefetch(tr.request);
        let bus = state.data_bus & 1;
        assert!(!state.busy[bus], "a channel moves one thing at a time");
        state.busy[bus] = true;
        state.moved += 1;
        state.moving = id;
        state.taken[bus] += duration;
        cx.events.schedule(cx.now + Time(duration), Event::DataSent { channel });
        Some(Transfer { id, duration })
    }

    /// The page of read data on a channel is in the controller. Returns its transaction, source and
    /// die.
    #[inline(always)]
    pub(crate) fn data_arrives(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
    ) -> (TransactionId, Source, DieId) {
        let arrived = self.transfer_ends(cx, channel);
        self.count_read(&cx.transactions, arrived.0, arrived.1);
        arrived
    }

    /// A transfer of read data is over. Returns the transaction, its source and its die.
    #[inline(always)]
    pub(super) fn transfer_ends(
        &mut self,
        cx: &mut Context,
        channel: ChannelId,
    ) -> (TransactionId, Source, DieId) {
        let state = &mut self.channels[channel];
        let id = std::mem::replace(&mut state.moving, TransactionId::NONE);
        debug_assert!(
            id != TransactionId::NONE && state.busy[state.data_bus],
            "a page was on the channel"
        );
        let tr = &mut cx.transactions[id];
        let moved = tr.lap(cx.now);
        tr.chain.bus += moved;
        let (source, plane) = (tr.source, tr.plane);
        if self.reads_by_plane() {
            self.plane_gave_data(cx, plane);
        }
        (id, source, self.die_of(plane))
    }

    /// A page of read data has left its die. True if the die is free and has suspended something.
    #[inline(always)]
    pub(crate) fn data_left(&mut self, die: DieId) -> bool {
        if self.reads_by_plane() {
            return self.plane_is_free(die);
        }
        let state = &mut self.dies[die];
        debug_assert!(state.state == DieState::DataOut, "die {die} gives its data away");
        state.data_left -= 1;
        if state.data_left > 0 {
            return false;
        }
        state.state = DieState::Idle;
        let (place, suspended) = (state.place(die), state.holds_suspended);
        self.note(place, true, false);
        suspended
    }

    /// Decides what a free channel does next. Read commands for idle dies go first: they are short,
    /// and an idle die behind a transfer loses an array time. Then waiting read data goes, then the
    /// other commands. After a page of data per die the other commands have their turn; otherwise
    /// reads without end would shut them out.
    #[inline(always)]
    pub(crate) fn channel_free(&mut self, cx: &mut Context, channel: ChannelId) -> Next {
        self.look_at_sensing(cx, channel);
        let dies = self.chips_per_channel.get() * self.dies_per_chip.get();
        let state = &mut self.channels[channel];
        state.busy[COMMANDS] = false;
        if let Some(die) = state.copybacks.pop_front() {
            return Next::Copyback(die);
        }
        debug_assert!(state.unawaited.is_none(), "what was on the bus is over");
        let data_waits = state.data_waits();
        if !data_waits || (state.moved >= dies && !self.data_first) {
            Next::AnyCommand { data_waits }
        } else if self.data_first {
            Next::Data
        } else {
            Next::ReadOrData
        }
    }

    /// Notes that the scheduler could choose among all commands. True if it sent none and read data
    /// waits.
    #[inline(always)]
    pub(crate) fn had_choice(
        &mut self,
        channel: ChannelId,
        data_waits: bool,
        events: &mut EventQueue<Event>,
    ) -> bool {
        let state = &mut self.channels[channel];
        if state.busy[COMMANDS] {
            return false;
        }
        state.moved = 0;
        if !data_waits {
            state.await_sensing(channel, events);
        }
        data_waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIES: u32 = 4;

    /// Pages of endless user reads that go before one page of a class.
    fn users_before(class: usize, strict: bool, pages: u32) -> Option<u32> {
        let mut channel = Channel::new(DIES, strict, false);
        (0..DIES).for_each(|_| channel.push_data(USER, TransactionId::new(1)));
        channel.push_data(class, TransactionId::new(2));
        (0..pages).find(|_| {
            let id = channel.pop_data();
            channel.push_data(USER, TransactionId::new(1));
            id == TransactionId::new(2)
        })
    }

    #[test]
    fn classes_go_first_and_read_data_ages() {
        assert_eq!(users_before(MAPPING, false, 1000), Some(0));
        assert_eq!(users_before(USER, false, 1000), Some(DIES), "behind those that waited already");
        assert_eq!(users_before(COLLECTION, false, 1000), Some(2 * DIES));
    }

    #[test]
    fn strict_classes_never_age() {
        assert_eq!(users_before(MAPPING, true, 1000), Some(0));
        assert_eq!(users_before(COLLECTION, true, 1000), None);
    }

    #[test]
    fn mapping_does_not_keep_users_waiting() {
        let mut channel = Channel::new(DIES, false, false);
        channel.push_data(USER, TransactionId::new(1));
        let moved = (0..1000).find(|_| {
            channel.push_data(MAPPING, TransactionId::new(3));
            channel.pop_data() == TransactionId::new(1)
        });
        assert_eq!(moved, Some(DIES + 1), "mapping wins where turns are equal");
    }
}
