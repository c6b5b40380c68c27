//! Tests of the stage by itself, over idle flash: a test plays the driver, without the work of the
//! flash.

use flashlane_engine::{EventQueue, Slab, Time};
use flashlane_units::{DieId, PlaneId, Ppa};

use super::*;
use crate::config::sample::small_drive;
use crate::ftl::FtlState;
use crate::ftl::config::{FtlConfig, FtlSettings};
use crate::layout::{FlowSpace, Layout};
use crate::transaction::{Op, Place};

/// Two channels of two chips with two dies, and the parts of the driver that the stage needs.
struct Stage {
    scheduler: Scheduler,
    flash: Flash,
    ftl: Ftl,
    events: EventQueue<Event>,
    transactions: Transactions,
    now: Time,
}

impl Stage {
    fn new(policy: &str) -> Self {
        let flash = FlashConfig {
            channels: 2,
            chips_per_channel: 2,
            dies_per_chip: 2,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            ..small_drive().flash
        };
        let geometry = Geometry::new(&flash);
        let space = FlowSpace {
            sectors: 400 * u64::from(geometry.sectors_per_page),
            pages: 400,
            ..FlowSpace::empty([vec![0, 1], vec![0, 1], vec![0, 1], vec![0]])
        };
        let layout = Layout { geometry, flows: vec![space], logical_pages: 400, zones: None };
        let compat = CompatConfig::default();
        let config = FtlConfig::default();
        let settings = FtlSettings {
            config: &config,
            compat: &compat,
            in_place: false,
            sets_move: false,
            errors: None,
            slc_cache: None,
            placement: &crate::config::PlacementConfig::default(),
        };
        let state = FtlState::new(settings, &layout, 1_000);
        let ftl = Ftl::new(settings, &layout, state, None, vec![2], 1);
        let policy = Scheduling::by_name(policy).expect("registered");
        Self {
            scheduler: Scheduler::new(&policy, &compat, &flash, true, geometry, 1),
            flash: Flash::new(&flash, &compat, false, geometry, 1),
            ftl,
            events: EventQueue::new(),
            transactions: Slab::new(),
            now: Time::ZERO,
        }
    }

    fn call<R>(&mut self, act: impl FnOnce(&mut Scheduler, &mut Surroundings<'_>) -> R) -> R {
        let at = &mut Surroundings {
            now: self.now,
            events: &mut self.events,
            transactions: &mut self.transactions,
            ftl: &self.ftl,
            flash: &mut self.flash,
        };
        act(&mut self.scheduler, at)
    }

    /// A read that is ready for a die with one plane.
    fn read(&mut self, die: DieId) -> TransactionId {
        let mut tr = Transaction::new(Source::User, Op::Read, FlowId::new(0), 2, self.now);
        (tr.plane, tr.ppa, tr.place) =
            (PlaneId::new(die.get()), Ppa::new(die.get() * 16 * 8), Place::Queue);
        tr.set_mask(1);
        let id = self.transactions.insert(tr);
        if !self.scheduler.keep_lone(id) {
            self.call(|scheduler, at| scheduler.enlist(at, id));
        }
        id
    }

    /// Sends commands as at the end of an event: die and transactions of each command. The
    /// transactions leave their queues; the flash is not told.
    fn dispatch(&mut self) -> Vec<(DieId, Vec<TransactionId>)> {
        let mut sent = Vec::new();
        if let Some(lone) = self.scheduler.take_lone()
            && let Some(place) = self.call(|scheduler, at| scheduler.pass_lone(at, lone))
        {
            sent.push((place.die, vec![lone]));
        }
        while let Some(channel) = self.scheduler.take_offered() {
            if !self.call(|scheduler, at| scheduler.look(at, channel, false)) {
                assert_eq!(self.scheduler.interrupted_at(), None, "reads are not pointless");
                continue;
            }
            let Command { die, interrupts, pages } = self.scheduler.command().clone();
            assert!(!interrupts, "idle dies run nothing");
            let place = self.flash.place_of(die);
            for &id in &pages {
                let Transaction { flow, mark, .. } = self.transactions[id];
                self.transactions[id].place = Place::Die;
                self.scheduler.leaves(&mut self.flash, place, flow, self.now - mark);
            }
            sent.push((die, pages));
        }
        assert!(self.scheduler.is_settled());
        self.scheduler.settle(self.now, &mut self.events);
        sent
    }

    fn audit(&self) {
        self.scheduler.audit(&self.transactions, &self.ftl, &self.flash);
    }
}

const POLICIES: [&str; 3] = ["out-of-order", "priority-out-of-order", "fcfs"];

#[test]
fn a_lone_transaction_goes_past_the_queues() {
    let mut stage = Stage::new("out-of-order");
    let read = stage.read(DieId::new(3));
    assert_eq!(stage.dispatch(), [(DieId::new(3), vec![read])]);
    let longest = stage.scheduler.queues_of_chips().map(|queue| queue.max).max();
    assert_eq!(longest, Some(1), "it counts as one that waited for no time");
}

#[test]
fn a_channel_takes_one_command_at_a_time_and_its_chips_take_turns() {
    for policy in POLICIES {
        let mut stage = Stage::new(policy);
        // Dies 0 and 1 are chip 0 of channel 0, 2 and 3 are chip 1; 4 is on channel 1.
        let reads = [0, 0, 2, 4].map(|die| stage.read(DieId::new(die)));
        stage.audit();
        assert_eq!(
            stage.dispatch(),
            [(DieId::new(0), vec![reads[0]]), (DieId::new(4), vec![reads[3]])],
            "{policy}"
        );
        stage.audit();
        let place = stage.flash.place_of(DieId::new(0));
        stage.call(|scheduler, at| scheduler.offer_at(at, place));
        assert_eq!(stage.dispatch(), [(DieId::new(2), vec![reads[2]])], "{policy}: the next chip");
        stage.call(|scheduler, at| scheduler.offer_at(at, place));
        assert_eq!(stage.dispatch(), [(DieId::new(0), vec![reads[1]])], "{policy}");
        stage.audit();
        assert!(!stage.scheduler.is_due(), "{policy}: nothing is left");
    }
}

#[test]
fn queues_count_what_waits_and_for_how_long() {
    let mut stage = Stage::new("fcfs");
    (0..3).for_each(|_| {
        stage.read(DieId::new(0));
    });
    stage.dispatch();
    stage.now = Time::from_ms(1);
    let place = stage.flash.place_of(DieId::new(0));
    stage.call(|scheduler, at| scheduler.offer_at(at, place));
    stage.dispatch();
    let queue = stage.scheduler.queues_of_flows().next().expect("a flow");
    assert_eq!((queue.length, queue.max), (1, 3));
    assert_eq!(queue.area, u128::from(Time::from_ms(1).0), "one waited, and has left");
}
