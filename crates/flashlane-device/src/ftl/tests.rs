//! Tests of the stage by itself: a test plays the driver, and handles the outcomes of the layer.

use flashlane_units::{BlockShare, Lpa};

use super::config::FtlConfig;
use super::*;
use crate::compat::CompatConfig;
use crate::layout::{FlowSpace, Geometry};

/// Pages of a block.
const PAGES: u32 = 8;
const SECTORS: u32 = 8;
const PAGE: u64 = 0xFF;
const FLOW: FlowId = FlowId::new(0);

/// A layer over two planes of one chip, with one flow, and the driver's part of its state.
struct Stage {
    ftl: Ftl,
    layout: Layout,
    context: Context,
}

impl Stage {
    fn new(change: impl FnOnce(&mut FtlConfig), in_place: bool) -> Self {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 12,
            pages_per_block: PAGES,
            sectors_per_page: SECTORS,
            units_per_page: 1,
            pages_per_program: 1,
            pages_per_unit: 1,
        };
        let pages = 100;
        let space = FlowSpace {
            sectors: pages * u64::from(SECTORS),
            pages,
            ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0, 1]])
        };
        let layout = Layout { geometry, flows: vec![space], logical_pages: pages, zones: None };
        let mut config = FtlConfig::default();
        config.precondition.enabled = false;
        config.gc.threshold = BlockShare::Blocks(5);
        change(&mut config);
        let compat = CompatConfig::default();
        let settings = FtlSettings {
            config: &config,
            compat: &compat,
            in_place,
            sets_move: false,
            errors: None,
            slc_cache: None,
            placement: &crate::config::PlacementConfig::default(),
        };
        let state = FtlState::new(settings, &layout, 1_000);
        let ftl = Ftl::new(settings, &layout, state, None, vec![2], 1);
        Self { ftl, layout, context: Context::new() }
    }

    /// Page-level mapping, with all mappings known.
    fn by_page() -> Self {
        Self::new(|_| {}, false)
    }

    fn call<R>(&mut self, act: impl FnOnce(&mut Ftl, &mut Context) -> R) -> R {
        act(&mut self.ftl, &mut self.context)
    }

    /// The outcomes since the last call.
    fn outcomes(&mut self) -> Vec<Outcome> {
        let outcomes = (0..).map_while(|at| self.ftl.outcome(at)).collect();
        self.ftl.outcomes_over();
        self.ftl.audit(self.context.now, &self.layout, &self.context.transactions);
        outcomes
    }

    /// The transactions that became ready; nothing else may have happened.
    fn ready(&mut self) -> Vec<TransactionId> {
        let ready = |outcome| match outcome {
            Outcome::Ready { transaction } => transaction,
            other => panic!("{other:?} instead of ready work"),
        };
        self.outcomes().into_iter().map(ready).collect()
    }

    fn ask(&mut self, op: Op, lpa: Lpa, mask: u64) -> TransactionId {
        let mut tr = self.ftl.transaction(self.context.now, (Source::User, op), FLOW, lpa);
        tr.set_mask(mask);
        let id = self.context.transactions.insert(tr);
        self.call(|ftl, ctx| ftl.translate(ctx, id));
        id
    }

    /// Sends a program or an erase to its die and ends it.
    fn change(&mut self, id: TransactionId) {
        let Transaction { op, source, ppa, .. } = self.context.transactions[id];
        match (op, source) {
            (Op::Program, Source::Gc) => {
                self.ftl.sent(op, ppa, ChipId::new(0));
                self.call(|ftl, ctx| ftl.migration_program_done(ctx, id));
            }
            (Op::Program, _) => {
                self.ftl.sent(op, ppa, ChipId::new(0));
                self.call(|ftl, ctx| ftl.host_page_programmed(ctx, id));
                self.context.transactions.remove(id);
            }
            (Op::Erase, _) => {
                self.ftl.sent(op, ppa, ChipId::new(0));
                self.call(|ftl, ctx| ftl.erase_done(ctx, id));
            }
            (Op::Read, _) => panic!("a read changes nothing"),
        }
    }

    /// Ends the transfer of a read over the bus.
    fn read(&mut self, id: TransactionId) {
        let Transaction { source, ppa, merging, holds_block, .. } = self.context.transactions[id];
        if source == Source::Gc {
            return self.call(|ftl, ctx| ftl.migration_read_done(ctx, id));
        }
        if holds_block {
            self.context.transactions[id].holds_block = false;
            self.call(|ftl, ctx| ftl.leave_block(ctx, ppa));
        }
        if merging {
            self.call(|ftl, ctx| ftl.old_data_read(ctx, id));
        } else {
            self.context.transactions.remove(id);
        }
    }

    /// Writes a page, and does all the work that follows from it. Returns the erases in that work.
    fn write(&mut self, lpa: Lpa, mask: u64) -> u32 {
        let mut erases = 0;
        self.ask(Op::Program, lpa, mask);
        loop {
            let ready = self.ready();
            if ready.is_empty() {
                return erases;
            }
            for id in ready {
                match self.context.transactions[id].op {
                    Op::Read => self.read(id),
                    op => {
                        erases += u32::from(op == Op::Erase);
                        self.change(id);
                    }
                }
            }
        }
    }
}

#[test]
fn a_read_of_what_nobody_wrote_is_over_at_once() {
    let mut stage = Stage::by_page();
    let read = stage.ask(Op::Read, Lpa::new(3), PAGE);
    assert_eq!(stage.outcomes(), [Outcome::Unwritten { transaction: read }]);
}

#[test]
fn a_read_waits_for_the_program_of_its_page() {
    let mut stage = Stage::by_page();
    let write = stage.ask(Op::Program, Lpa::new(3), PAGE);
    assert_eq!(stage.ready(), [write]);
    let read = stage.ask(Op::Read, Lpa::new(3), PAGE);
    assert!(stage.ready().is_empty());
    stage.change(write);
    assert_eq!(stage.ready(), [read]);
    assert_eq!(stage.context.transactions[read].place, Place::Queue);
}

#[test]
fn a_part_of_a_page_is_completed_with_the_old_data() {
    let mut stage = Stage::by_page();
    stage.write(Lpa::new(3), PAGE);
    let write = stage.ask(Op::Program, Lpa::new(3), 0b11);
    let read = stage.ready()[0];
    assert_eq!(stage.context.transactions[read].mask(), PAGE & !0b11);
    let behind = stage.ask(Op::Program, Lpa::new(3), PAGE);
    assert!(stage.ready().is_empty(), "writes to a page keep their order");
    stage.read(read);
    assert_eq!(stage.ready(), [write, behind]);
    assert_eq!(stage.context.transactions[write].merged_sectors, 6);
    assert_eq!(stage.ftl.held(Lpa::new(3)), PAGE);
}

#[test]
fn a_trimmed_page_is_one_that_nobody_wrote() {
    let mut stage = Stage::by_page();
    stage.write(Lpa::new(3), PAGE);
    stage.call(|ftl, ctx| ftl.trim(ctx, FLOW, Lpa::new(3), 0b1));
    assert_eq!(stage.ftl.held(Lpa::new(3)), PAGE & !0b1);
    stage.call(|ftl, ctx| ftl.trim(ctx, FLOW, Lpa::new(3), PAGE));
    assert_eq!((stage.ftl.held(Lpa::new(3)), stage.ready()), (0, vec![]));
    let read = stage.ask(Op::Read, Lpa::new(3), PAGE);
    assert_eq!(stage.outcomes(), [Outcome::Unwritten { transaction: read }]);
}

#[test]
fn blocks_are_collected_and_erased_when_few_are_free() {
    let mut stage = Stage::by_page();
    let erases: u32 = (0..600).map(|write| stage.write(Lpa::new(write * 7 % 90), PAGE)).sum();
    let counts = stage.ftl.counts();
    assert!(erases > 10, "{erases} erases");
    assert_eq!(counts.gc_invocations, u64::from(erases));
    assert!(stage.context.transactions.is_empty(), "everything is over");
    let FlowPages { host_programs, other_programs, .. } =
        stage.ftl.pages_of_flows().next().expect("a flow");
    assert_eq!(host_programs, 600);
    assert_eq!(other_programs, stage.ftl.gc_moves, "every page that was moved is programmed");
}

#[test]
fn a_write_waits_where_no_block_is_free_until_one_is_erased() {
    let mut stage = Stage::by_page();
    let (mut parked, mut erase) = (TransactionId::NONE, TransactionId::NONE);
    for write in 0.. {
        let id = stage.ask(Op::Program, Lpa::new(write * 2 % 40), PAGE);
        if stage.context.transactions[id].place == Place::FreeBlock {
            parked = id;
        }
        for id in stage.ready() {
            match stage.context.transactions[id].op {
                Op::Erase => erase = id,
                Op::Read => stage.read(id),
                Op::Program => stage.change(id),
            }
        }
        if parked != TransactionId::NONE {
            break;
        }
        assert!(write < 1_000, "erases that never end leave no block free");
    }
    assert!(stage.ftl.is_urgent(ChipId::new(0)), "collection goes before host work");
    while stage.context.transactions[parked].place == Place::FreeBlock {
        assert_ne!(erase, TransactionId::NONE, "a block is to be erased");
        stage.change(std::mem::replace(&mut erase, TransactionId::NONE));
        for id in stage.ready() {
            match stage.context.transactions[id].op {
                Op::Erase => erase = id,
                Op::Read => stage.read(id),
                Op::Program if id != parked => stage.change(id),
                Op::Program => {}
            }
        }
    }
    assert_eq!(stage.context.transactions[parked].place, Place::Queue);
}

#[test]
fn memory_that_is_written_in_place_has_one_place_for_a_page() {
    let mut stage = Stage::new(|_| {}, true);
    let places = [Op::Program, Op::Read, Op::Program].map(|op| {
        let id = stage.ask(op, Lpa::new(5), 0b1);
        assert_eq!(stage.ready(), [id]);
        (stage.context.transactions[id].plane, stage.context.transactions[id].ppa)
    });
    assert_eq!(places, [places[0]; 3]);
}

#[test]
fn a_miss_reads_the_translation_page_once() {
    let mut stage = Stage::new(
        |config| {
            config.mapping.ideal = false;
            config.mapping.cmt_capacity = flashlane_units::ByteSize(1);
        },
        false,
    );
    // The cache has room for one entry: the second write causes the write-back for the first write.
    stage.ask(Op::Program, Lpa::new(3), PAGE);
    stage.ask(Op::Program, Lpa::new(4), PAGE);
    let ready = stage.ready();
    let sources: Vec<Source> =
        ready.iter().map(|&id| stage.context.transactions[id].source).collect();
    assert_eq!(sources, [Source::User, Source::Mapping, Source::User]);
    for id in ready {
        match stage.context.transactions[id].source {
            Source::Mapping => {
                let ppa = stage.context.transactions[id].ppa;
                stage.ftl.program_sent(ppa);
                stage.call(|ftl, ctx| ftl.mapping_program_done(ctx, id));
            }
            _ => stage.change(id),
        }
    }
    assert!(stage.ready().is_empty());
    let reads = [stage.ask(Op::Read, Lpa::new(3), PAGE), stage.ask(Op::Read, Lpa::new(3), 0b1)];
    let mapping = stage.ready();
    assert_eq!(mapping.len(), 1, "both wait for one translation page");
    assert_eq!(stage.context.transactions[mapping[0]].source, Source::Mapping);
    stage.call(|ftl, ctx| ftl.mapping_read_done(ctx, mapping[0]));
    let ready = stage.ready();
    assert!(reads.iter().all(|read| ready.contains(read)), "{ready:?}");
}
