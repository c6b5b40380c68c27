//! Tests of the stage by itself: a test plays the driver, and handles the results of the cache.

use flashlane_units::{ByteSize, FlowId, Lpa, Ppa, RequestId, TransactionId};

use super::*;
use crate::transaction::{Op, Source};

const FIRST: FlowId = FlowId::new(0);
const PAGE: u64 = u64::MAX >> (64 - 8);

/// A cache, and the driver's part of its state.
struct Stage {
    cache: Cache,
    transactions: Transactions,
    events: EventQueue<Event>,
    now: Time,
}

impl Stage {
    /// Pages of 8 sectors; flows that write and read through `slots` slots. Only one page may be
    /// under way to flash; then others wait.
    fn new(config: CacheConfig, compat: &CompatConfig, slots: u64, flows: usize) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 4,
            sectors_per_page: 8,
            units_per_page: 1,
            pages_per_program: 1,
            pages_per_unit: 1,
        };
        let capacity = ByteSize(slots * geometry.page_bytes());
        let config = CacheConfig { capacity, ..config };
        let modes = vec![CacheMode::WriteRead; flows];
        Self {
            cache: Cache::new(&config, compat, &modes, geometry),
            transactions: Transactions::new(),
            events: EventQueue::new(),
            now: Time::ZERO,
        }
    }

    /// A cache that writes pages back when they leave.
    fn late(slots: u64) -> Self {
        let config = CacheConfig { eager_write_back: false, ..CacheConfig::default() };
        Self::new(config, &CompatConfig::default(), slots, 1)
    }

    /// A cache that writes a page back at once at its first write.
    fn eager(slots: u64) -> Self {
        Self::new(CacheConfig::default(), &CompatConfig::default(), slots, 1)
    }

    fn write_back(&mut self, flow: FlowId, lpa: Lpa, mask: u64) -> TransactionId {
        let mut tr = Transaction::new(Source::Cache, Op::Program, flow, 2, self.now);
        tr.lpa = lpa;
        let id = self.transactions.insert(tr);
        self.cache.start_write_back(id, mask, &mut self.transactions);
        self.cache.audit(&self.transactions, self.now);
        id
    }

    /// Writes sectors of a page. Returns the pages that are written back for it: the page that
    /// leaves, and the page that goes at once.
    fn write(&mut self, lpa: Lpa, mask: u64) -> (Option<TransactionId>, Option<TransactionId>) {
        let leaves = match self.cache.make_room(FlowId::new(0), lpa) {
            Room::Free => None,
            Room::Behind { flow, lpa } => {
                let write = self.write_back(flow, lpa, u64::MAX);
                self.cache.evict(FlowId::new(0), write, &mut self.transactions);
                Some(write)
            }
            Room::No => panic!("a page can leave"),
        };
        let written = self.cache.write(FlowId::new(0), lpa, mask, self.now);
        let at_once = written.write_back.map(|mask| self.write_back(FlowId::new(0), lpa, mask));
        self.cache.audit(&self.transactions, self.now);
        (leaves, at_once)
    }

    /// Ends a write-back. Returns the flushes that are over.
    fn on_flash(&mut self, id: TransactionId) -> Vec<u32> {
        let tr = self.transactions[id];
        self.transactions.remove(id);
        let mut over = Vec::new();
        self.cache.end_write_back(&tr, &mut self.transactions, &mut over);
        self.cache.audit(&self.transactions, self.now);
        over.into_iter().map(RequestId::get).collect()
    }

    /// The page of a transaction, and its sectors.
    fn page(&self, id: TransactionId) -> (u32, u64) {
        (self.transactions[id].lpa.get(), self.transactions[id].mask())
    }

    /// Starts the memory access that was put together; returns the event at its end.
    fn access(&mut self) -> Option<(Time, Event)> {
        self.cache.access(
            self.now,
            &mut self.events,
            FlowId::new(0),
            Some(Event::DramDone { request: RequestId::new(7) }),
        );
        self.events.pop()
    }
}

#[test]
fn writes_to_a_page_merge() {
    let mut stage = Stage::late(2);
    assert_eq!(stage.write(Lpa::new(5), 0b0011), (None, None));
    assert_eq!(stage.write(Lpa::new(5), 0b0110), (None, None));
    assert_eq!(stage.cache.held(FlowId::new(0), Lpa::new(5)), 0b0111);
    assert_eq!(stage.cache.pages(), 1);
    assert_eq!(
        stage.cache.read(FlowId::new(0), Lpa::new(5), 0b1100),
        0b1000,
        "the sectors that flash has to give"
    );
    let write = stage.write_back(FlowId::new(0), Lpa::new(5), u64::MAX);
    assert_eq!(stage.page(write), (5, 0b0111), "one write-back of all of them");
    stage.on_flash(write);
    assert_eq!(stage.cache.held(FlowId::new(0), Lpa::new(5)), 0b0111, "the page stays, unchanged");
    assert_eq!(stage.cache.pages_to_flush(FlowId::new(0)), []);
    stage.cache.audit_end(false);
}

#[test]
fn the_least_recently_used_page_leaves_first() {
    let mut stage = Stage::late(3);
    for lpa in [1, 2, 3] {
        assert_eq!(stage.write(Lpa::new(lpa), PAGE), (None, None));
    }
    assert_eq!(stage.cache.read(FlowId::new(0), Lpa::new(1), PAGE), 0, "used now");
    let (first, _) = stage.write(Lpa::new(4), PAGE);
    let (second, _) = stage.write(Lpa::new(5), PAGE);
    let (first, second) = (first.expect("page 2"), second.expect("page 3"));
    assert_eq!((stage.page(first).0, stage.page(second).0), (2, 3));
    assert_eq!(stage.cache.evictions(), 2);
    assert!(stage.cache.has(FlowId::new(0), Lpa::new(1)));
    assert!(
        !stage.cache.has(FlowId::new(0), Lpa::new(2))
            && !stage.cache.has(FlowId::new(0), Lpa::new(3))
    );
    // The pages leave the memory together, and the last one leads.
    assert!(stage.cache.read_evicted(stage.now, &mut stage.events, FlowId::new(0)).is_some());
    let out = stage.events.pop().map(|(_, event)| event);
    assert_eq!(out, Some(Event::EvictionRead { transaction: second }));
    assert_eq!(stage.transactions[second].sibling, first);
    assert_eq!(stage.transactions[first].sibling, TransactionId::NONE);
    assert!(stage.cache.read_evicted(stage.now, &mut stage.events, FlowId::new(0)).is_none());
}

#[test]
fn an_unchanged_page_leaves_without_a_write_back() {
    let mut stage = Stage::late(1);
    assert_eq!(stage.cache.make_room(FlowId::new(0), Lpa::new(1)), Room::Free);
    stage.cache.fill(FlowId::new(0), Lpa::new(1), PAGE);
    assert_eq!(stage.cache.make_room(FlowId::new(0), Lpa::new(1)), Room::Free, "it is cached");
    assert_eq!(stage.cache.evictions(), 0);
    assert_eq!(stage.cache.make_room(FlowId::new(0), Lpa::new(2)), Room::Free);
    assert_eq!(stage.cache.evictions(), 1);
    assert!(!stage.cache.has(FlowId::new(0), Lpa::new(1)));
}

#[test]
fn there_is_no_room_while_every_page_is_on_its_way() {
    let mut stage = Stage::eager(1);
    let (_, write) = stage.write(Lpa::new(1), PAGE);
    assert_eq!(stage.cache.make_room(FlowId::new(0), Lpa::new(2)), Room::No);
    stage.on_flash(write.expect("the first write goes at once"));
    assert_eq!(stage.cache.make_room(FlowId::new(0), Lpa::new(2)), Room::Free);
}

#[test]
fn the_bound_counts_the_sectors_under_way() {
    let mut stage = Stage::eager(8);
    let (_, first) = stage.write(Lpa::new(1), 0b1111);
    assert!(stage.cache.is_open(FlowId::new(0)), "4 of 8 sectors");
    let (_, second) = stage.write(Lpa::new(2), PAGE);
    assert!(
        !stage.cache.is_open(FlowId::new(0)),
        "the page that reaches the bound is accepted, the next one is not"
    );
    assert_eq!(stage.cache.longest_waiting(FlowId::new(0)), None);
    stage.cache.wait(FlowId::new(0), RequestId::new(70));
    stage.cache.wait(FlowId::new(0), RequestId::new(71));
    stage.on_flash(first.expect("goes at once"));
    assert!(!stage.cache.is_open(FlowId::new(0)));
    stage.on_flash(second.expect("goes at once"));
    assert!(stage.cache.is_open(FlowId::new(0)));
    assert_eq!(stage.cache.longest_waiting(FlowId::new(0)), Some(RequestId::new(70)));
    stage.cache.wait_over(FlowId::new(0));
    assert_eq!(stage.cache.longest_waiting(FlowId::new(0)), Some(RequestId::new(71)));
    stage.cache.wait_over(FlowId::new(0));
    stage.cache.audit_end(false);
}

#[test]
fn a_page_that_is_written_again_stays_changed() {
    let mut stage = Stage::eager(8);
    let (_, first) = stage.write(Lpa::new(1), 0b01);
    assert_eq!(stage.write(Lpa::new(1), 0b10), (None, None), "hot: it stays");
    stage.on_flash(first.expect("the first write of the epoch"));
    assert_eq!(stage.cache.pages_to_flush(FlowId::new(0)), [Lpa::new(1)]);
}

#[test]
fn a_write_back_carries_its_write_alone_where_the_switch_says_so() {
    let compat = CompatConfig { cache_writes_alone: true, ..CompatConfig::default() };
    let mut stage = Stage::new(CacheConfig::default(), &compat, 8, 1);
    stage.cache.fill(FlowId::new(0), Lpa::new(1), 0b1100);
    let (_, write) = stage.write(Lpa::new(1), 0b0001);
    assert_eq!(stage.page(write.expect("the first write")), (1, 0b0001));
    let mut stage = Stage::eager(8);
    stage.cache.fill(FlowId::new(0), Lpa::new(1), 0b1100);
    let (_, write) = stage.write(Lpa::new(1), 0b0001);
    assert_eq!(stage.page(write.expect("the first write")), (1, 0b1101));
}

#[test]
fn a_flush_waits_for_what_was_written_before() {
    let mut stage = Stage::late(8);
    assert!(!stage.cache.flush(FlowId::new(0), RequestId::new(90)), "nothing to wait for");
    stage.write(Lpa::new(1), PAGE);
    stage.write(Lpa::new(2), PAGE);
    stage.cache.read(FlowId::new(0), Lpa::new(1), PAGE);
    assert_eq!(
        stage.cache.pages_to_flush(FlowId::new(0)),
        [2, 1].map(Lpa::new),
        "least recently used first"
    );
    let before: Vec<TransactionId> = stage
        .cache
        .pages_to_flush(FlowId::new(0))
        .into_iter()
        .map(|lpa| stage.write_back(FlowId::new(0), lpa, PAGE))
        .collect();
    assert!(stage.cache.flush(FlowId::new(0), RequestId::new(91)));
    stage.write(Lpa::new(3), PAGE);
    let after = stage.write_back(FlowId::new(0), Lpa::new(3), PAGE);
    assert!(stage.cache.flush(FlowId::new(0), RequestId::new(92)));
    assert_eq!(stage.on_flash(before[1]), [0; 0]);
    assert_eq!(stage.on_flash(after), [0; 0], "its own flush comes after the other one");
    assert_eq!(stage.on_flash(before[0]), [91, 92]);
    assert!(!stage.cache.flush(FlowId::new(0), RequestId::new(93)));
}

#[test]
fn a_flush_of_memory_that_survives_has_no_effect() {
    let mut stage = Stage::eager(8);
    stage.cache = stage.cache.surviving(true);
    let (_, write) = stage.write(Lpa::new(1), PAGE);
    stage.write(Lpa::new(2), PAGE);
    assert!(stage.cache.pages_to_flush(FlowId::new(0)).is_empty());
    assert!(write.is_some(), "a write-back is under way");
    assert!(!stage.cache.flush(FlowId::new(0), RequestId::new(90)), "nobody waits for it");
}

#[test]
fn a_trim_takes_sectors_from_the_cache_and_from_write_backs_without_a_place() {
    let mut stage = Stage::late(8);
    stage.write(Lpa::new(1), 0b1111);
    let placed = stage.write_back(FlowId::new(0), Lpa::new(1), u64::MAX);
    stage.transactions[placed].ppa = Ppa::new(3);
    stage.write(Lpa::new(1), 0b1111);
    let waits = stage.write_back(FlowId::new(0), Lpa::new(1), u64::MAX);
    stage.write(Lpa::new(1 + 16), PAGE);
    let other = stage.write_back(FlowId::new(0), Lpa::new(1 + 16), u64::MAX);
    stage.cache.trim(FlowId::new(0), Lpa::new(1), 0b0011, &mut stage.transactions);
    assert_eq!(stage.cache.held(FlowId::new(0), Lpa::new(1)), 0b1100);
    assert_eq!(stage.page(placed).1, 0b1111, "flash has it, and the mapping forgets it");
    assert_eq!(stage.page(waits).1, 0b1100);
    assert_eq!(stage.page(other).1, PAGE, "another page of the same chain");
    stage.cache.trim(FlowId::new(0), Lpa::new(1), 0b1100, &mut stage.transactions);
    assert!(!stage.cache.has(FlowId::new(0), Lpa::new(1)), "an empty page leaves");
    assert_eq!(stage.page(waits).1, 0);
    // Trimmed sectors count for the bound until the write-back is over.
    for id in [placed, waits, other] {
        assert!(!stage.cache.is_open(FlowId::new(0)));
        stage.on_flash(id);
    }
    assert!(stage.cache.is_open(FlowId::new(0)));
    stage.cache.audit_end(false);
}

#[test]
fn pages_of_an_access_share_one_event() {
    let mut stage = Stage::late(8);
    assert!(!stage.cache.has_access());
    stage.write(Lpa::new(1), PAGE);
    stage.write(Lpa::new(2), PAGE);
    assert!(stage.cache.has_access());
    let both = stage.access().expect("an event at the end");
    assert_eq!(both.1, Event::DramDone { request: RequestId::new(7) });
    assert!(!stage.cache.has_access() && stage.events.pop().is_none());
    let mut alone = Stage::late(8);
    alone.write(Lpa::new(1), PAGE);
    assert!(alone.access().expect("an event at the end").0 < both.0, "half of the data");
}

#[test]
fn partitions_keep_their_pages_and_their_bounds() {
    let config = CacheConfig { sharing: Sharing::EqualPartitioning, ..CacheConfig::default() };
    let mut stage = Stage::new(config, &CompatConfig::default(), 2, 2);
    assert_eq!((stage.cache.pools(), stage.cache.capacity()), (2, 2));
    stage.write(Lpa::new(1), PAGE);
    assert_eq!(stage.cache.make_room(FlowId::new(0), Lpa::new(2)), Room::No);
    assert_eq!(
        stage.cache.make_room(FlowId::new(1), Lpa::new(100)),
        Room::Free,
        "the other flow has a slot of its own"
    );
    assert!(!stage.cache.is_open(FlowId::new(0)) && stage.cache.is_open(FlowId::new(1)));
    // The memory serves the flows in turn: the first access begins, and the second one waits.
    let used = stage.cache.access(stage.now, &mut stage.events, FlowId::new(0), None);
    assert!(matches!(used, DramUse::Queued(Some(DramAccess { flow: FIRST, .. }))));
    stage.cache.write(FlowId::new(1), Lpa::new(100), PAGE, stage.now);
    let used = stage.cache.access(stage.now, &mut stage.events, FlowId::new(1), None);
    assert!(matches!(used, DramUse::Queued(None)));
    let (at, turn) = stage.events.pop().expect("the next turn");
    assert_eq!(turn, Event::DramTurn);
    let next = stage.cache.next_turn(at, &mut stage.events);
    assert_eq!(next.map(|access| access.flow), Some(FlowId::new(1)));
}

#[test]
fn flows_without_a_cache_go_past_it() {
    let mut stage = Stage::late(0);
    assert!(stage.cache.is_off(FlowId::new(0)), "no room for data");
    stage = Stage::late(2);
    stage.cache.modes = [CacheMode::Read].into_iter().collect();
    let first = FlowId::new(0);
    assert!(!stage.cache.takes_writes(first) && stage.cache.fills_on_read(first));
    assert_eq!(stage.cache.page_to_fill(first, Lpa::new(0)), Lpa::new(0));
    stage.cache.fill(FlowId::new(0), Lpa::new(1), 0b01);
    stage.cache.pass(FlowId::new(0), Lpa::new(1), 0b10);
    assert_eq!(
        stage.cache.held(FlowId::new(0), Lpa::new(1)),
        0b11,
        "what is cached is brought up to date"
    );
    stage.cache.pass(FlowId::new(0), Lpa::new(2), 0b10);
    assert!(!stage.cache.has(FlowId::new(0), Lpa::new(2)), "but nothing is added");
}

#[test]
fn with_mqsims_fills_pages_that_were_never_written_are_one() {
    let mut stage = Stage::late(4);
    stage.cache.modes = [CacheMode::WriteRead].into_iter().collect();
    stage.cache.written = Some(WrittenPages::default());
    let flow = FlowId::new(0);
    stage.cache.note_written(Lpa::new(3));
    assert_eq!(stage.cache.page_to_fill(flow, Lpa::new(3)), Lpa::new(3));
    let shared = stage.cache.page_to_fill(flow, Lpa::new(1));
    assert_eq!(stage.cache.page_to_fill(flow, Lpa::new(2)), shared);
    assert!(stage.cache.fill(flow, shared, 0b01), "the first takes time of the memory");
    assert!(!stage.cache.fill(flow, shared, 0b10), "the others take none");
    assert!(!stage.cache.has(flow, Lpa::new(1)), "reads of such a page never hit");
}
