//! Tests of the stages together, with queues, slots, clock and collection made by hand. Times are
//! in microseconds; one die of two planes; a read costs 110, a write 1,010, a migration 1,120, an
//! erase 5,000.

use flashlane_engine::Slab;
use flashlane_units::{FlowId, Lpa, PlaneId, Ppa, Span, TransferRate};

use super::*;
use crate::config::TenantShape;
use crate::config::sample::small_drive;
use crate::flash::Flash;
use crate::ftl::FtlState;
use crate::ftl::blocks::Stream;
use crate::ftl::view::FlashView;
use crate::layout::Layout;
use crate::scheduler::view::{Beside, Rules, is_ready};
use crate::transaction::Transactions;

const US: u64 = 1_000_000;
const READ_COST: u64 = 110;
const WRITE_COST: u64 = 1_010;

/// A die, its queues and a clock.
struct Unit0 {
    flin: Flin,
    flash: Flash,
    state: FtlState,
    transactions: Transactions,
    batch: Vec<TransactionId>,
    cancelled: Vec<TransactionId>,
    now: u64,
    preemptible: bool,
}

impl Unit0 {
    fn new(config: FlinConfig) -> Self {
        let mut device = small_drive();
        device.flash.channels = 1;
        device.flash.chips_per_channel = 1;
        // A page of 4 KiB in 10 us; 20 ns of the read time are the controller's.
        device.flash.channel_rate = TransferRate(409_600_000);
        device.flash.command_time = Some(Span(0));
        device.flash.read_time = vec![Span(100 * US - 20_000)];
        device.flash.program_time = vec![Span(1000 * US)];
        device.flash.erase_time = Span(5000 * US);
        let tenants =
            [TenantShape { lists: [None; 4], handle: flashlane_units::Handle::default() }; 2];
        let layout = Layout::divide(&device, &tenants);
        let mut state = FtlState::new(device.ftl_settings(), &layout, 0);
        // Both flows have a block of 32 valid pages.
        for flow in (0..2).map(FlowId::new) {
            (0..32).for_each(|_| {
                state
                    .blocks
                    .allocate(PlaneId::new(0), flow, Stream::HOST, false)
                    .expect("an empty drive");
            });
        }
        let flash = Flash::new(&device.flash, &device.compat, false, layout.geometry, 2);
        Self {
            flin: Flin::new(&config, layout.geometry, 2),
            flash,
            state,
            transactions: Slab::new(),
            batch: Vec::new(),
            cancelled: Vec::new(),
            now: 0,
            preemptible: true,
        }
    }

    /// One queue per operation and no reordering: stage 3 by itself.
    fn balancing() -> Self {
        Self::new(FlinConfig {
            stages: vec![Stage::WaitBalancing],
            gc_scope: FreePages::Plane,
            ..FlinConfig::default()
        })
    }

    fn with<R>(&mut self, decide: impl FnOnce(&mut Flin, &mut View<'_>) -> R) -> R {
        self.batch.clear();
        let mut view = View {
            now: Time(self.now * US),
            transactions: &mut self.transactions,
            ftl: FlashView::new(&self.state.pages, &self.state.blocks),
            flash: &self.flash,
            urgent: false,
            hold_writes: false,
            rules: &Rules {
                ordered: false,
                preemptible: self.preemptible,
                planes_per_die: 2,
                reads_by_plane: false,
                beside: Beside::default(),
            },
            batch: &mut self.batch,
            cancelled: &mut self.cancelled,
        };
        decide(&mut self.flin, &mut view)
    }

    fn arrive(&mut self, source: Source, op: Op, flow: FlowId, ppa: Ppa) -> TransactionId {
        let mut tr = Transaction::new(source, op, flow, 3, Time(self.now * US));
        tr.set_mask(self.state.pages.full_mask());
        (tr.lpa, tr.ppa, tr.plane) = (Lpa::new(ppa.get()), ppa, PlaneId::new(0));
        let id = self.transactions.insert(tr);
        self.with(|flin, view| flin.enqueue(DieId::new(0), id, view));
        id
    }

    fn read(&mut self, flow: FlowId) -> TransactionId {
        self.arrive(Source::User, Op::Read, flow, Ppa::new(0))
    }

    fn write(&mut self, flow: FlowId) -> TransactionId {
        self.arrive(Source::User, Op::Program, flow, Ppa::new(0))
    }

    /// Adds the migration of a valid page of block `ppa / 32`.
    fn migration(&mut self, ppa: Ppa) -> TransactionId {
        self.state.pages.place(Lpa::new(ppa.get()), ppa);
        self.arrive(Source::Gc, Op::Read, FlowId::new(0), ppa)
    }

    /// Adds the write half of a migration whose read is done.
    fn migration_write(&mut self, ppa: Ppa) -> TransactionId {
        self.arrive(Source::Gc, Op::Program, FlowId::new(0), ppa)
    }

    fn erase(&mut self) -> TransactionId {
        self.arrive(Source::Gc, Op::Erase, FlowId::new(0), Ppa::new(0))
    }

    /// Takes the next command of the idle die.
    fn take(&mut self) -> Vec<TransactionId> {
        self.with(|flin, view| flin.take(DieId::new(0), view));
        self.batch.clone()
    }

    /// Takes the command that interrupts a die which runs `running` for `left` more.
    fn interrupt(&mut self, running: TransactionId, left: u64) -> Vec<TransactionId> {
        let op = self.transactions[running].op;
        self.flash.pretend(DieId::new(0), Some((running, op, Time((self.now + left) * US))));
        self.with(|flin, view| flin.interrupt(DieId::new(0), view));
        self.batch.clone()
    }

    fn completed(&mut self, id: TransactionId) {
        let tr = self.transactions[id];
        self.flin.completed(DieId::new(0), id, &tr, Time(self.now * US));
    }

    fn audit(&self) {
        let ftl = FlashView::new(&self.state.pages, &self.state.blocks);
        self.flin.audit(&|id| is_ready(&self.transactions[id], false, ftl));
    }

    /// Free pages of plane 0: a block has 32.
    fn free_blocks(&mut self, blocks: u32) {
        self.state.blocks.planes[PlaneId::new(0)].free = blocks;
    }

    /// Makes host writes unable to open another block.
    fn out_of_room(&mut self) {
        self.free_blocks(2);
        self.state.blocks.planes[PlaneId::new(0)].urgent = true;
    }

    fn wait_alone(&self, id: TransactionId) -> u64 {
        self.flin.times[place_of(id)].wait_alone / US
    }

    fn queue(&self) -> Vec<TransactionId> {
        let queues = &self.flin.units[DieId::new(0)].queues[READ];
        queues.iter().rev().flat_map(Queue::iter).map(|entry| entry.id).collect()
    }
}

/// Both flows are of high read and write intensity from the second epoch on.
fn all_high() -> FlinConfig {
    FlinConfig {
        read_intensity: flashlane_units::Bandwidth(1),
        write_intensity: flashlane_units::Bandwidth(1),
        ..FlinConfig::default()
    }
}

#[test]
fn equation_4_chains_the_requests_of_a_flow() {
    let mut unit = Unit0::new(FlinConfig::default());
    let first = unit.read(FlowId::new(0));
    assert_eq!(unit.wait_alone(first), 0, "no other transaction of the flow");
    unit.now = 30;
    let second = unit.read(FlowId::new(0));
    // T_last_enqueue 0 + T_last_alone 110 - T_now 30.
    assert_eq!(unit.wait_alone(second), 80);
    unit.now = 40;
    let third = unit.read(FlowId::new(0));
    // 30 + (110 + 80) - 40.
    assert_eq!(unit.wait_alone(third), 180);
    let (other, write) = (unit.read(FlowId::new(1)), unit.write(FlowId::new(0)));
    assert_eq!((unit.wait_alone(other), unit.wait_alone(write)), (0, 0), "queues of their own");
    // The third would have been done at 330: an estimate in the past means no wait.
    unit.now = 500;
    let fourth = unit.read(FlowId::new(0));
    assert_eq!(unit.wait_alone(fourth), 0);
}

#[test]
fn equation_4_is_zero_when_the_flow_has_nothing_left() {
    let mut unit = Unit0::new(FlinConfig::default());
    let first = unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [first]);
    unit.now = 20;
    let second = unit.read(FlowId::new(0));
    assert_eq!(unit.wait_alone(second), 90, "the first one still runs");
    unit.take();
    unit.completed(first);
    unit.completed(second);
    let third = unit.read(FlowId::new(0));
    assert_eq!(unit.wait_alone(third), 0);
}

#[test]
fn lines_18_to_20_put_the_flow_first_that_was_treated_worst() {
    // Departures: flow 0 with slowdowns 3 and 1, flow 1 with 10; F = 2 / 10 < 0.6.
    let treated = |threshold: f64| {
        let mut unit = Unit0::new(FlinConfig { fairness_threshold: threshold, ..all_high() });
        unit.read(FlowId::new(0));
        unit.read(FlowId::new(1));
        unit.now = 10_000;
        unit.read(FlowId::new(0));
        for (flow, slowdowns) in [(0, [3.0, 1.0].as_slice()), (1, &[10.0])] {
            let lane = unit.flin.lane(DieId::new(0), READ, FlowId::new(flow));
            lane.slowdowns = slowdowns.iter().sum();
            lane.departed = slowdowns.len() as u64;
        }
        unit.read(FlowId::new(0));
        unit
    };
    let promotions = |unit: &Unit0| unit.flin.overhead(0).expect("FLIN counts").promotions;
    let mut unit = treated(0.6);
    assert!(!unit.flin.intensity.is_low(0, READ, FlowId::new(1)));
    let before = unit.queue();
    let new = unit.read(FlowId::new(1));
    assert_eq!(promotions(&unit), 1);
    // The first two came while their flows were of low intensity.
    assert_eq!(unit.queue(), [before[0], before[1], new, before[2], before[3]], "Last_low + 1");
    // Line 21 instead: the other flow, or fairness that is not below the threshold.
    let mut unit = treated(0.6);
    unit.read(FlowId::new(0));
    assert_eq!(promotions(&unit), 0);
    let mut unit = treated(0.2);
    unit.read(FlowId::new(1));
    assert_eq!(promotions(&unit), 0, "0.2 is not below 0.2");
    // Nor if the transactions of the flow are not in the queue.
    let mut unit = treated(0.6);
    unit.flin.lane(DieId::new(0), READ, FlowId::new(0)).queued = 0;
    unit.read(FlowId::new(1));
    assert_eq!(promotions(&unit), 0);
}

#[test]
fn slowdowns_of_departed_transactions_are_averaged() {
    let mut unit = Unit0::new(all_high());
    let first = unit.read(FlowId::new(0));
    unit.take();
    unit.now = 330;
    unit.completed(first);
    let lane = *unit.flin.lane(DieId::new(0), READ, FlowId::new(0));
    assert_eq!((lane.slowdowns, lane.departed, lane.unfinished), (3.0, 1, 0), "330 over 110");
    // Departures before a flow becomes of high intensity do not count.
    unit.now = 10_000;
    unit.read(FlowId::new(0));
    assert_eq!(unit.flin.lane(DieId::new(0), READ, FlowId::new(0)).departed, 0);
}

#[test]
fn lines_6_to_9_the_read_goes_when_its_proportional_wait_is_larger() {
    let mut unit = Unit0::balancing();
    let (write, read) = (unit.write(FlowId::new(0)), unit.read(FlowId::new(0)));
    // PW_read = (0 + 1010) / 110 = 9.2; PW_write = (0 + 110) / 1010 = 0.1.
    assert_eq!(unit.take(), [read]);
    assert_eq!(unit.take(), [write], "the only one");
}

#[test]
fn lines_10_and_17_the_write_goes_alone_while_there_are_free_pages() {
    // The write wins from (w + 110) / 1010 >= 1010 / 110 on: w = 9163.6.
    for (waited, write_wins) in [(9_163, false), (9_164, true)] {
        let mut unit = Unit0::balancing();
        // 1024 pages are not fewer than GC_FLIN.
        unit.free_blocks(32);
        let write = unit.write(FlowId::new(0));
        unit.migration(Ppa::new(0));
        unit.migration(Ppa::new(1));
        unit.now = waited;
        let read = unit.read(FlowId::new(0));
        assert_eq!(unit.take(), [if write_wins { write } else { read }], "{waited}");
    }
}

#[test]
fn equations_7_to_9_count_collection_in_the_other_slot_of_the_read_and_for_the_write() {
    // 31 free blocks, 992 pages: fewer than GC_FLIN. Flow 0 wrote all and owns half of the pages:
    // of three migrations out of two blocks one and a half go with its write: one. T_GC = 1120.
    // PW_read = (1010 + 1120) / 110 = 19.36; PW_write = (w + 1120 + 110) / 1010: from w = 18328 on.
    for (waited, write_wins) in [(18_327, false), (18_328, true)] {
        let mut unit = Unit0::balancing();
        unit.free_blocks(31);
        let write = unit.write(FlowId::new(0));
        let moves = [0, 1, 32].map(|ppa| unit.migration(Ppa::new(ppa)));
        unit.now = waited;
        let read = unit.read(FlowId::new(0));
        assert_eq!(unit.take(), [if write_wins { moves[0] } else { read }], "{waited}");
        assert_eq!(unit.flin.units[DieId::new(0)].slots[WRITE].map(|entry| entry.id), Some(write));
    }
    // Two migrations empty the block: its erase counts too. T_GC = 2 * 1120 + 5000 = 7240;
    // PW_read = (1010 + 7240) / 110 = 75; PW_write = (w + 7240 + 110) / 1010: from w = 68400 on.
    for (waited, write_wins) in [(68_399, false), (68_400, true)] {
        let mut unit = Unit0::balancing();
        unit.free_blocks(31);
        unit.write(FlowId::new(0));
        let moves = [0, 1, 32, 33].map(|ppa| unit.migration(Ppa::new(ppa)));
        unit.now = waited;
        let read = unit.read(FlowId::new(0));
        assert_eq!(unit.take(), [if write_wins { moves[0] } else { read }], "{waited}");
    }
}

#[test]
fn lines_11_to_17_migrations_go_before_the_write_in_pairs() {
    // Half of six migrations go with the write of flow 0. The third one empties the first block.
    let mut unit = Unit0::balancing();
    unit.free_blocks(31);
    let write = unit.write(FlowId::new(0));
    let moves = [0, 1, 2, 32, 33, 34].map(|ppa| unit.migration(Ppa::new(ppa)));
    for (ppa, id) in (64..).zip(&moves[..3]) {
        assert_eq!(unit.take(), [*id], "line 14");
        let second = unit.migration_write(Ppa::new(ppa));
        assert_eq!(unit.take(), [second], "line 15");
    }
    let erase = unit.erase();
    assert_eq!(unit.take(), [erase], "the block that they emptied");
    assert_eq!(unit.take(), [write], "line 17");
    assert_eq!(unit.flin.overhead(0).expect("FLIN counts").migrations_with_writes, 3);
    // 1.5 of the three that are left would be the share: one.
    let write = unit.write(FlowId::new(0));
    assert_eq!(unit.take(), [moves[3]]);
    let second = unit.migration_write(Ppa::new(67));
    assert_eq!(unit.take(), [second]);
    assert_eq!(unit.take(), [write]);
}

#[test]
fn an_erase_that_is_due_goes_with_a_write_only_below_the_threshold() {
    for (blocks, with_write) in [(32, false), (31, true)] {
        let mut unit = Unit0::balancing();
        unit.free_blocks(blocks);
        let (write, erase) = (unit.write(FlowId::new(0)), unit.erase());
        assert_eq!(unit.take(), [if with_write { erase } else { write }]);
        assert_eq!(unit.take(), [if with_write { write } else { erase }]);
    }
}

#[test]
fn equation_10_shares_migrations_by_writes_and_valid_pages() {
    // Flow 1 wrote 3 of the 4 pages, its next write included, and owns half of the valid ones: 3/4
    // * 1/2 * 8 = 3 migrations.
    let mut unit = Unit0::balancing();
    for flow in [0, 1, 1] {
        unit.write(FlowId::new(flow));
        unit.take();
    }
    unit.free_blocks(31);
    (0..8).for_each(|ppa| {
        unit.migration(Ppa::new(ppa));
    });
    unit.write(FlowId::new(1));
    unit.take();
    assert_eq!(
        unit.flin.units[DieId::new(0)].batch,
        Batch { migrations: 2, erases: 0, relocations: 1 },
        "one has begun"
    );
}

#[test]
fn free_pages_are_those_of_the_plane_the_unit_or_the_drive() {
    // Whether a write takes migrations along. `free`: free blocks of 32 pages on both planes.
    let carries = |scope, free: [u32; 2]| {
        let stages = vec![Stage::WaitBalancing];
        let mut unit = Unit0::new(FlinConfig { stages, gc_scope: scope, ..FlinConfig::default() });
        for (plane, free) in (0..).map(PlaneId::new).zip(free) {
            unit.state.blocks.planes[plane].free = free;
        }
        (0..8).for_each(|ppa| {
            unit.migration(Ppa::new(ppa));
        });
        unit.write(FlowId::new(1));
        unit.take();
        unit.flin.overhead(0).expect("FLIN counts").migrations_with_writes > 0
    };
    assert!(carries(FreePages::Plane, [31, 40]), "992 pages of the plane");
    assert!(!carries(FreePages::Plane, [32, 40]));
    // The unit has two planes, and the drive has this unit only.
    for scope in [FreePages::Unit, FreePages::Device] {
        assert!(!carries(scope, [10, 40]), "{scope:?}");
        assert!(carries(scope, [10, 21]), "{scope:?}: 992 pages of both");
    }
}

#[test]
fn out_of_room_all_pending_collection_goes_before_the_write() {
    let mut unit = Unit0::balancing();
    unit.out_of_room();
    let write = unit.write(FlowId::new(0));
    let moves = [0, 32].map(|ppa| unit.migration(Ppa::new(ppa)));
    assert_eq!(unit.take(), [moves[0]]);
    let second = unit.migration_write(Ppa::new(64));
    assert_eq!(unit.take(), [second]);
    assert_eq!(unit.take(), [moves[1]], "not only the half of Eq. 10");
    unit.free_blocks(64);
    unit.state.blocks.planes[PlaneId::new(0)].urgent = false;
    let second = unit.migration_write(Ppa::new(65));
    assert_eq!(unit.take(), [second], "a pair is completed");
    assert_eq!(unit.take(), [write]);
}

#[test]
fn out_of_room_collection_competes_with_reads_in_place_of_a_write() {
    // (r + 1120) / 110 against (g + 110) / 1120: collection from g = 11293 on.
    for (waited, collects) in [(11_293, false), (11_294, true)] {
        let mut unit = Unit0::balancing();
        unit.out_of_room();
        let migration = unit.migration(Ppa::new(0));
        unit.now = waited;
        let read = unit.read(FlowId::new(0));
        assert_eq!(unit.take(), [if collects { migration } else { read }], "{waited}");
    }
    // If there is room, the read goes.
    let mut unit = Unit0::balancing();
    unit.migration(Ppa::new(0));
    unit.now = 1_000_000;
    let read = unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [read]);
}

#[test]
fn a_read_suspends_a_write_that_waited_proportionally_less() {
    // The write waited w before it began: PW 0.002 w. It has 500 left: PW_read = 500 / 110 = 4.55,
    // which is above w / 1010 up to w = 4590.
    for (waited, suspends) in [(4_590, true), (4_591, false)] {
        let mut unit = Unit0::balancing();
        let write = unit.write(FlowId::new(0));
        unit.now = waited;
        assert_eq!(unit.take(), [write]);
        unit.now += 510;
        let read = unit.read(FlowId::new(1));
        let expected = if suspends { vec![read] } else { vec![] };
        assert_eq!(unit.interrupt(write, 500), expected, "{waited}");
        let asked = unit.flin.overhead(0).expect("FLIN counts").suspensions;
        assert_eq!(asked, u64::from(suspends));
    }
    // If it is switched off, it never suspends.
    let mut unit = Unit0::new(FlinConfig { suspend: false, ..FlinConfig::default() });
    let write = unit.write(FlowId::new(0));
    unit.take();
    unit.read(FlowId::new(1));
    assert!(unit.interrupt(write, 500).is_empty());
}

#[test]
fn with_empty_slots_pairs_of_migrations_run_and_give_way_to_any_read() {
    let mut unit = Unit0::balancing();
    unit.free_blocks(64);
    let moves = [0, 1].map(|ppa| unit.migration(Ppa::new(ppa)));
    assert_eq!(unit.take(), [moves[0]], "whatever the number of free pages");
    let second = unit.migration_write(Ppa::new(64));
    unit.now = 100_000;
    assert_eq!(unit.take(), [second], "the pair");
    // The write waited 100 ms: its proportional wait of 99 would keep it from giving way to a read
    // of 0.09.
    let read = unit.read(FlowId::new(0));
    assert_eq!(unit.interrupt(second, 10), [read]);
}

#[test]
fn a_migration_that_goes_with_a_write_gives_way_by_proportional_wait() {
    let mut unit = Unit0::balancing();
    unit.free_blocks(31);
    unit.write(FlowId::new(0));
    unit.migration(Ppa::new(0));
    unit.migration(Ppa::new(1));
    unit.take();
    let second = unit.migration_write(Ppa::new(64));
    unit.now = 100_000;
    assert_eq!(unit.take(), [second]);
    unit.read(FlowId::new(0));
    assert!(unit.interrupt(second, 10).is_empty());
}

#[test]
fn an_age_limit_bounds_the_wait_in_queue_and_slot() {
    let limited = |stages: &[Stage]| {
        Unit0::new(FlinConfig {
            stages: stages.to_vec(),
            age_limit: Some(Span(5_000 * US)),
            ..FlinConfig::default()
        })
    };
    // The write is in its slot; without stage 3 reads would always go first.
    let mut unit = limited(&[]);
    let write = unit.write(FlowId::new(0));
    let first = unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [first]);
    unit.now = 5_000;
    let second = unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [second], "5 ms are not beyond the limit");
    unit.now = 5_700;
    unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [write]);
}

#[test]
fn an_age_limit_takes_what_is_too_old_out_of_the_queue() {
    // Flow 0 is of high intensity, flow 1 of low: the two of flow 1 go first, and one waits in the
    // slot.
    for (age_limit, expected) in [(None, 2), (Some(Span(5_000 * US)), 0)] {
        let mut unit = Unit0::new(FlinConfig { age_limit, ..all_high() });
        let first = unit.read(FlowId::new(0));
        assert_eq!(unit.take(), [first]);
        unit.completed(first);
        unit.now = 10_000;
        let late = unit.read(FlowId::new(0));
        unit.now = 10_100;
        let reads = [late, unit.read(FlowId::new(1)), unit.read(FlowId::new(1))];
        assert_eq!(unit.take(), [reads[1]]);
        unit.with(|flin, view| flin.refill(DieId::new(0), view));
        assert_eq!(
            unit.flin.units[DieId::new(0)].slots[READ].map(|entry| entry.id),
            Some(reads[2])
        );
        unit.now = 16_000;
        assert_eq!(unit.take(), [reads[expected]]);
        assert_eq!(unit.take(), [reads[2 - expected]], "the other one is back in front");
        unit.audit();
    }
}

#[test]
fn queues_are_looked_at_only_after_something_came_or_became_ready() {
    let mut unit = Unit0::balancing();
    let write = unit.write(FlowId::new(0));
    unit.transactions[write].blocked = true;
    assert!(unit.take().is_empty(), "its old data are not here");
    assert_eq!(unit.flin.units[DieId::new(0)].stirred, [false; 2]);
    unit.audit();
    unit.transactions[write].blocked = false;
    assert!(unit.take().is_empty(), "the policy was not told");
    unit.flin.unblocked(DieId::new(0));
    unit.audit();
    assert_eq!(unit.take(), [write]);
    let read = unit.read(FlowId::new(0));
    assert_eq!(unit.flin.units[DieId::new(0)].stirred, [true; 2], "a program was sent as well");
    assert_eq!(unit.take(), [read]);
    assert_eq!(unit.flin.units[DieId::new(0)].filled, [0; 2]);
}

#[test]
fn what_is_left_to_serve_includes_transfer_and_what_was_suspended() {
    let mut unit = Unit0::balancing();
    let (read, write) = (unit.read(FlowId::new(0)), unit.write(FlowId::new(0)));
    unit.flash.pretend(DieId::new(0), Some((read, Op::Read, Time(40 * US))));
    let left = |unit: &mut Unit0| unit.with(|_, view| view.service_left(DieId::new(0))) / US;
    assert_eq!(left(&mut unit), 40 + 10, "array and transfer");
    unit.flash.pretend(DieId::new(0), Some((write, Op::Program, Time(40 * US))));
    assert_eq!(left(&mut unit), 40);
    assert_eq!(unit.with(|_, view| view.cost(&view.transactions[read])) / US, READ_COST);
    assert_eq!(unit.with(|_, view| view.cost(&view.transactions[write])) / US, WRITE_COST);
    assert_eq!(unit.with(|_, view| view.migration_time()) / US, READ_COST + WRITE_COST);
}

#[test]
fn one_page_from_another_die_goes_with_each_write_and_the_others_wait_for_empty_slots() {
    let mut unit = Unit0::balancing();
    unit.free_blocks(32);
    let moved = [(); 3].map(|()| {
        let ppa =
            unit.state.blocks.allocate(PlaneId::new(0), FlowId::new(0), Stream::RELOCATED, false);
        unit.migration_write(ppa.expect("an empty drive"))
    });
    let write = unit.write(FlowId::new(0));
    assert_eq!(unit.take(), [moved[0]]);
    assert_eq!(unit.take(), [write]);
    let read = unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [read]);
    assert_eq!(unit.take(), [moved[1]], "empty slots");
    unit.now = 100_001;
    let read = unit.read(FlowId::new(0));
    assert_eq!(unit.take(), [moved[2]], "it waited more than 100 ms");
    assert_eq!(unit.take(), [read]);
}

#[test]
fn a_flow_that_rises_at_one_unit_keeps_its_history_at_the_others() {
    let geometry = crate::layout::Geometry {
        channels: 1,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 32,
        sectors_per_page: 8,
        units_per_page: 1,
        pages_per_program: 1,
        pages_per_unit: 1,
    };
    let departed = |scope| {
        let config = FlinConfig { intensity_scope: scope, ..FlinConfig::default() };
        let mut flin = Flin::new(&config, geometry, 1);
        let units = [0, 1].map(DieId::new);
        for unit in units {
            let lane = flin.lane(unit, READ, FlowId::new(0));
            (lane.slowdowns, lane.departed) = (6.0, 3);
        }
        // 32 MB/s over 10 ms are 79 pages of 4 KiB, and half of that at each of two units.
        (0..90).for_each(|_| flin.intensity.count(0, READ, FlowId::new(0), 4096));
        flin.end_epochs(Time::from_ms(10));
        units.map(|unit| flin.lane(unit, READ, FlowId::new(0)).departed)
    };
    assert_eq!(departed(Scope::Unit), [0, 3]);
    assert_eq!(departed(Scope::Device), [0, 0]);
}
