//! Sprinkler: commands that use as much of a chip as possible.
//!
//! Source: Jung and Kandemir, HPCA 2014 (abstract and arXiv 1705.04627), as FLIN (ISCA'18) section
//! 6 uses it: with read priority, semi-preemptive collection and suspension. The paper schedules by
//! physical layout instead of by queue (*RIOS*) and commits many requests to a chip so that they
//! coalesce into transactions of high flash-level parallelism (*FARO*). Its ranking is not
//! published in full. Ours, reconstructed: among the waiting transactions of a kind, the command
//! with the largest *overlap depth* (planes served at once), then the largest *connectivity*
//! (transactions of one request), then the oldest. Chips are visited channel first, from where the
//! last visit ended.

use flashlane_engine::Time;
use flashlane_units::{DieId, PolicyDoc, TransactionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SchedulingPolicy;
use crate::collection_order::{CollectionOrder, Presses, Reads, Steps};
use crate::layout::Geometry;
use crate::scheduler::queues::{Kind, Queues};
use crate::scheduler::view::View;
use crate::transaction::{Op, Source};

/// Parameters of Sprinkler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SprinklerConfig {
    /// Transactions, from the oldest on, that may lead a command. Range: 1..=1024.
    pub window: u32,
    /// Reads interrupt programs and erases of collection that may be preempted.
    pub suspend_collection: bool,
    /// Collection is not preempted either if this many writes of hosts wait for the die. FLIN
    /// (ISCA'18) section 3.4 gives no number. Default: never. Range: 1 and above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_writes: Option<u32>,
}

impl Default for SprinklerConfig {
    fn default() -> Self {
        Self { window: 16, suspend_collection: true, pending_writes: None }
    }
}

impl PolicyDoc for SprinklerConfig {
    const SUMMARY: &'static str =
        "commands over the most planes first, then of the most connected request";
    const SOURCE: &'static str = "Sprinkler (HPCA'14); FLIN (ISCA'18) section 6";
    const RECONSTRUCTED: bool = true;
}

/// Class under which all flows wait.
const ANY: u8 = 0;
const READS: Kind = Kind::user_read(ANY);
const WRITES: Kind = Kind::user_write(ANY);

/// The kind of reads or programs of the host.
fn of_host(op: Op) -> Kind {
    if op == Op::Read { READS } else { WRITES }
}

/// Kinds in order of service, and whether the best transaction of a window leads instead of the
/// oldest.
type Plan = [(Kind, bool); 7];

const RELAXED: Plan = [
    (Kind::MAPPING_READ, false),
    (READS, true),
    (WRITES, true),
    (Kind::MAPPING_WRITE, false),
    (Kind::GC_READ, false),
    (Kind::GC_WRITE, false),
    (Kind::ERASE, false),
];

/// The order below the hard threshold, where collection goes first (semi-preemptive collection).
const URGENT: Plan = [
    (Kind::MAPPING_READ, false),
    (Kind::GC_READ, false),
    (Kind::GC_WRITE, false),
    (Kind::ERASE, false),
    (READS, true),
    (Kind::MAPPING_WRITE, false),
    (WRITES, true),
];

/// The policy.
#[derive(Clone)]
pub(super) struct Sprinkler {
    queues: Queues,
    config: SprinklerConfig,
}

impl Sprinkler {
    pub(super) fn new(config: &SprinklerConfig, geometry: Geometry) -> Self {
        Self { queues: Queues::new(geometry), config: config.clone() }
    }

    /// True if a read of the host waits at the die, or a program.
    pub(super) fn has_host_work(&self, die: DieId, op: Op) -> bool {
        !self.queues.is_empty(die, of_host(op))
    }

    /// Rank of reads or programs of the host at the die, as in [`SchedulingPolicy::rank`]. `None`
    /// if they do not go there now.
    pub(super) fn rank_of(&self, die: DieId, op: Op, view: &View<'_>) -> Option<u8> {
        let wanted = of_host(op);
        (0..)
            .zip(self.plan(die, view))
            .find_map(|(rank, &(kind, _))| (kind == wanted).then_some(rank))
    }

    /// True if collection goes first.
    fn is_urgent(&self, die: DieId, view: &View<'_>) -> bool {
        let many = |limit| self.queues.len(die, WRITES) >= limit;
        view.urgent || self.config.pending_writes.is_some_and(many)
    }

    fn plan(&self, die: DieId, view: &View<'_>) -> &'static [(Kind, bool)] {
        match (self.is_urgent(die, view), view.hold_writes) {
            (false, _) => &RELAXED,
            (true, false) => &URGENT,
            // Host writes come last.
            (true, true) => &URGENT[..URGENT.len() - 1],
        }
    }

    fn form(&mut self, die: DieId, kind: Kind, ranked: bool, view: &mut View<'_>) -> bool {
        debug_assert!(view.batch.is_empty(), "a command is formed once");
        if ranked && view.rules.planes_per_die > 1 {
            self.queues.form_deepest(die, kind, self.config.window, view)
        } else {
            self.queues.form(die, kind, None, view)
        }
    }
}

impl SchedulingPolicy for Sprinkler {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let kind = Kind::with_class(&view.transactions[id], ANY);
        self.queues.push(die, kind, id, &view.transactions[id]);
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        if !view.hold_writes && self.queues.form_starving(die, view) {
            return true;
        }
        self.plan(die, view).iter().any(|&(kind, ranked)| {
            !self.queues.is_empty(die, kind) && self.form(die, kind, ranked, view)
        })
    }

    /// Interrupts for reads, except collection that goes first.
    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        let running = view.flash.running(die, view.now).map(|id| view.transactions[id].source);
        let collects = running == Some(Source::Gc);
        let stays = !self.config.suspend_collection || self.is_urgent(die, view);
        self.form(die, Kind::MAPPING_READ, false, view)
            || !(collects && stays) && self.form(die, READS, true, view)
    }

    fn interrupt_for_write(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.form(die, WRITES, true, view)
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        (0..).zip(self.plan(die, view)).find_map(|(rank, &(kind, _))| {
            let id = self.queues.front(die, kind);
            (id != TransactionId::NONE).then(|| (rank, view.transactions[id].mark))
        })
    }

    fn collection_order(&self) -> CollectionOrder {
        if self.config.pending_writes.is_some() {
            // Collection would then also depend on the number of waiting writes.
            return CollectionOrder::Unspecified;
        }
        CollectionOrder::Behind {
            presses: Presses::Urgent,
            steps: Steps::ReadsFirst,
            reads: Reads::Interrupt,
        }
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.queues.waiting(die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::bench::{Bench, Work};
    use flashlane_units::RequestId;
    use flashlane_units::{FlowId, PlaneId};

    /// The policy and one die with `planes` planes.
    fn sprinkler(planes: u32, config: SprinklerConfig) -> (Bench, Sprinkler) {
        let bench = Bench::new(1, planes);
        let policy = Sprinkler::new(&config, bench.geometry);
        (bench, policy)
    }

    /// Makes reads of a user on the only die of a bench, with the given planes and pages.
    fn reads(
        bench: &mut Bench,
        policy: &mut Sprinkler,
        places: &[(u32, u32)],
    ) -> Vec<TransactionId> {
        let read = |&(plane, at)| {
            let work = Bench::user(Op::Read, FlowId::new(0), PlaneId::new(plane));
            bench.enqueue(policy, work, at)
        };
        places.iter().map(read).collect()
    }

    #[test]
    fn the_deepest_command_goes_first() {
        let (mut bench, mut policy) = sprinkler(4, SprinklerConfig::default());
        // One page alone, then three planes at page 7, then two at page 9.
        let places = [(0, 5), (0, 7), (1, 7), (2, 9), (3, 9), (3, 7)];
        let ids = reads(&mut bench, &mut policy, &places);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [ids[1], ids[2], ids[5]]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [ids[3], ids[4]]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [ids[0]]);
        assert!(bench.take(&mut policy, DieId::new(0)).is_empty());
    }

    #[test]
    fn among_commands_as_deep_the_most_connected_one_goes_first() {
        let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
        let ids = reads(&mut bench, &mut policy, &[(0, 5), (1, 5), (0, 7), (1, 7)]);
        bench.connect(&ids[..1], RequestId::new(3));
        bench.connect(&ids[1..2], RequestId::new(4));
        bench.connect(&ids[2..], RequestId::new(5));
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[2..]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[..2]);
    }

    #[test]
    fn depth_counts_more_than_connectivity() {
        let (mut bench, mut policy) = sprinkler(3, SprinklerConfig::default());
        let ids = reads(&mut bench, &mut policy, &[(0, 5), (1, 5), (0, 7), (1, 7), (2, 7)]);
        bench.connect(&ids[..2], RequestId::new(3));
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[2..]);
    }

    #[test]
    fn among_equals_the_oldest_goes_first() {
        let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
        let ids = reads(&mut bench, &mut policy, &[(0, 5), (1, 5), (0, 7), (1, 7)]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[..2]);
        // Another page of the same plane: nothing overlaps.
        let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
        let ids = reads(&mut bench, &mut policy, &[(1, 9), (1, 5), (1, 7)]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[..1]);
    }

    #[test]
    fn only_the_oldest_are_ranked() {
        let (mut bench, mut policy) =
            sprinkler(2, SprinklerConfig { window: 3, ..SprinklerConfig::default() });
        let ids = reads(&mut bench, &mut policy, &[(0, 1), (0, 2), (0, 3), (0, 4), (1, 4)]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[..1]);
        assert_eq!(
            bench.take(&mut policy, DieId::new(0)),
            ids[1..2],
            "now 4 is in the window, its pair is not"
        );
        assert_eq!(bench.take(&mut policy, DieId::new(0)), ids[3..], "and now both are");
    }

    #[test]
    fn a_program_behind_its_block_does_not_lead() {
        let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
        let write = |bench: &mut Bench, policy: &mut Sprinkler, plane| {
            bench.enqueue(policy, Bench::user(Op::Program, FlowId::new(0), plane), 0)
        };
        let first = write(&mut bench, &mut policy, PlaneId::new(0));
        let second = write(&mut bench, &mut policy, PlaneId::new(0));
        let other = write(&mut bench, &mut policy, PlaneId::new(1));
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [first, other]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [second]);
    }

    #[test]
    fn reads_go_before_writes_and_translation_pages_before_both() {
        let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
        let write = bench.enqueue(
            &mut policy,
            Bench::user(Op::Program, FlowId::new(0), PlaneId::new(0)),
            0,
        );
        let read =
            bench.enqueue(&mut policy, Bench::user(Op::Read, FlowId::new(0), PlaneId::new(0)), 0);
        let work = Work {
            source: Source::Mapping,
            op: Op::Read,
            flow: FlowId::new(0),
            plane: PlaneId::new(1),
        };
        let mapping = bench.enqueue(&mut policy, work, 3);
        for id in [mapping, read, write] {
            assert_eq!(bench.take(&mut policy, DieId::new(0)), [id]);
        }
    }

    #[test]
    fn users_go_before_collection_until_blocks_run_out() {
        for (urgent, user_first) in [(false, true), (true, false)] {
            let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
            bench.urgent = urgent;
            let work = Work {
                source: Source::Gc,
                op: Op::Read,
                flow: FlowId::new(0),
                plane: PlaneId::new(0),
            };
            let migration = bench.enqueue(&mut policy, work, 3);
            let user = bench.enqueue(
                &mut policy,
                Bench::user(Op::Read, FlowId::new(0), PlaneId::new(0)),
                0,
            );
            let first = if user_first { user } else { migration };
            assert_eq!(bench.take(&mut policy, DieId::new(0)), [first]);
        }
    }

    #[test]
    fn many_writes_that_wait_let_collection_go_first() {
        for (writes, user_first) in [(2, true), (3, false)] {
            let config = SprinklerConfig { pending_writes: Some(3), ..SprinklerConfig::default() };
            let (mut bench, mut policy) = sprinkler(2, config);
            let at = |source, op| Work { source, op, flow: FlowId::new(0), plane: PlaneId::new(0) };
            let migration = bench.enqueue(&mut policy, at(Source::Gc, Op::Read), 3);
            let write = bench.enqueue(&mut policy, at(Source::User, Op::Program), 0);
            for page in 1..writes {
                bench.enqueue(&mut policy, at(Source::User, Op::Program), page);
            }
            let first = if user_first { write } else { migration };
            assert_eq!(bench.take(&mut policy, DieId::new(0)), [first], "{writes}");
        }
    }

    /// Whether a read interrupts a program of this source.
    fn interrupts(source: Source, urgent: bool) -> bool {
        interrupts_with(SprinklerConfig::default(), source, urgent)
    }

    fn interrupts_with(config: SprinklerConfig, source: Source, urgent: bool) -> bool {
        let (mut bench, mut policy) = sprinkler(2, config);
        let work = Work { source, op: Op::Program, flow: FlowId::new(0), plane: PlaneId::new(0) };
        let program = bench.enqueue(&mut policy, work, 0);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [program]);
        bench.flash.pretend(DieId::new(0), Some((program, Op::Program, Time::from_ms(1))));
        bench.urgent = urgent;
        let read =
            bench.enqueue(&mut policy, Bench::user(Op::Read, FlowId::new(0), PlaneId::new(1)), 0);
        let interrupted = bench.view(|view| policy.interrupt(DieId::new(0), view));
        assert_eq!(bench.batch, if interrupted { vec![read] } else { vec![] });
        interrupted
    }

    #[test]
    fn reads_interrupt_all_but_urgent_collection() {
        assert!(interrupts(Source::User, false));
        assert!(interrupts(Source::User, true));
        assert!(interrupts(Source::Gc, false));
        assert!(!interrupts(Source::Gc, true));
    }

    #[test]
    fn collection_is_suspended_only_where_that_is_asked_for() {
        let config = SprinklerConfig { suspend_collection: false, ..SprinklerConfig::default() };
        assert!(interrupts_with(config.clone(), Source::User, false));
        assert!(!interrupts_with(config, Source::Gc, false));
    }

    #[test]
    fn what_nothing_overlaps_does_not_starve() {
        let (mut bench, mut policy) = sprinkler(2, SprinklerConfig::default());
        let alone = reads(&mut bench, &mut policy, &[(0, 5)])[0];
        bench.now = Time::from_ms(1);
        let pair = reads(&mut bench, &mut policy, &[(0, 7), (1, 7)]);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), pair);
        reads(&mut bench, &mut policy, &[(0, 7), (1, 7)]);
        bench.now = Time::from_ms(101);
        assert_eq!(bench.take(&mut policy, DieId::new(0)), [alone]);
    }
}
