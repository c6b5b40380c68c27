//! A bench for policies: a few dies with real transactions, blocks and page tables, and no clock,
//! channel or translation of their own. Tests put work in by hand and check the decisions of a
//! policy.

use flashlane_engine::{Slab, Time};
#[cfg(test)]
use flashlane_units::RequestId;
use flashlane_units::{DieId, FlowId, Lpa, PlaneId, TransactionId};

use super::policy::SchedulingPolicy;
use super::view::{Beside, Rules, View};
use crate::compat::CompatConfig;
use crate::flash::Flash;
use crate::flash::config::FlashConfig;
use crate::ftl::blocks::{Blocks, Stream};
use crate::ftl::pages::{PageTables, TableSize};
use crate::ftl::view::FlashView;
use crate::layout::Geometry;
use crate::transaction::{Op, Source, Transaction, Transactions};

/// Flows on the bench; flow `n` has class `n`: 0 urgent .. 3 low.
pub(crate) const FLOWS: u16 = 4;

/// The flash of the bench; the test fills in its numbers of dies and planes.
const FLASH: &str = r#"
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 2048
pages_per_block = 32
page_size = "4KiB"
channel_width = "1B"
channel_rate = "800MT/s"
read_time = ["20us"]
program_time = ["200us"]
erase_time = "1ms"
"#;

/// Description of a transaction to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) source: Source,
    pub(crate) op: Op,
    pub(crate) flow: FlowId,
    /// Flat plane.
    pub(crate) plane: PlaneId,
}

/// The bench.
pub(crate) struct Bench {
    pub(crate) now: Time,
    pub(crate) geometry: Geometry,
    pub(crate) transactions: Transactions,
    pub(crate) blocks: Blocks,
    pub(crate) pages: PageTables,
    pub(crate) flash: Flash,
    /// The command that was formed last.
    pub(crate) batch: Vec<TransactionId>,
    pub(crate) cancelled: Vec<TransactionId>,
    /// True if collection goes before user work.
    pub(crate) urgent: bool,
    /// What the die that is asked does meanwhile.
    pub(crate) beside: Beside,
    /// True if each plane reads by itself.
    pub(crate) reads_by_plane: bool,
    next_lpa: Lpa,
    /// Number of migrations so far; each moves a page out of a block of its own.
    migrations: u32,
}

impl Bench {
    /// A bench of idle dies, one a chip and at most four a channel.
    pub(crate) fn new(dies: u32, planes_per_die: u32) -> Self {
        let channels = dies.div_ceil(4);
        let chips_per_channel = dies / channels;
        let flash: FlashConfig = toml::from_str(FLASH).expect("a table of the configuration");
        let flash = FlashConfig { channels, chips_per_channel, planes_per_die, ..flash };
        let geometry = Geometry::new(&flash);
        let size = TableSize { pages: geometry.pages(), purpose: flashlane_engine::Use::Sparse };
        Self {
            now: Time::ZERO,
            geometry,
            transactions: Slab::new(),
            blocks: Blocks::new(geometry, u32::from(FLOWS), true, 0),
            pages: PageTables::new(
                size,
                size,
                geometry.sectors_per_page,
                geometry.sectors_per_page,
            ),
            flash: Flash::new(&flash, &CompatConfig::default(), false, geometry, FLOWS.into()),
            batch: Vec::new(),
            cancelled: Vec::new(),
            urgent: false,
            beside: Beside::default(),
            reads_by_plane: false,
            next_lpa: Lpa::new(0),
            migrations: 0,
        }
    }

    /// Lends a view of the bench, and clears the commands and cancellations of earlier calls.
    pub(crate) fn view<R>(&mut self, decide: impl FnOnce(&mut View<'_>) -> R) -> R {
        self.batch.clear();
        self.cancelled.clear();
        decide(&mut View {
            now: self.now,
            transactions: &mut self.transactions,
            ftl: FlashView::new(&self.pages, &self.blocks),
            flash: &self.flash,
            urgent: self.urgent,
            hold_writes: false,
            rules: &Rules {
                ordered: true,
                preemptible: !self.urgent,
                planes_per_die: self.geometry.planes_per_die,
                reads_by_plane: self.reads_by_plane,
                beside: self.beside,
            },
            batch: &mut self.batch,
            cancelled: &mut self.cancelled,
        })
    }

    /// A transaction as the translation layer would make it: programs get the next page of their
    /// frontier, and migrations move a valid page. Other reads read the page `at` of their plane.
    pub(crate) fn make(&mut self, work: Work, at: u32) -> TransactionId {
        let Work { source, op, flow, plane } = work;
        let mut tr = Transaction::new(source, op, flow, flow.get() as u8, self.now);
        tr.plane = plane;
        tr.set_part(self.pages.full_mask(), self.pages.sectors_per_page());
        tr.lpa = self.next_lpa;
        self.next_lpa = self.next_lpa.plus(1);
        tr.ppa = match op {
            Op::Program => {
                let stream = match source {
                    Source::User | Source::Cache => Stream::HOST,
                    Source::Gc => Stream::GC,
                    Source::Mapping => Stream::MAPPING,
                };
                let page = self.blocks.allocate(plane, flow, stream, true);
                page.expect("the bench has pages enough")
            }
            // Other work is in the upper half, since programs fill planes from their first block
            // on.
            Op::Read | Op::Erase => {
                let mut block = self.geometry.blocks_per_plane - 1;
                if source == Source::Gc && op == Op::Read {
                    self.migrations += 1;
                    block -= self.migrations;
                }
                let block = self.blocks.first_block(plane).plus(block);
                self.blocks.first_page(block).plus(at % self.geometry.pages_per_block)
            }
        };
        if source == Source::Gc && op == Op::Read {
            self.pages.set_lpa(tr.ppa, tr.lpa);
        }
        self.transactions.insert(tr)
    }

    /// Makes a transaction and gives it to a policy.
    pub(crate) fn enqueue(
        &mut self,
        policy: &mut dyn SchedulingPolicy,
        work: Work,
        at: u32,
    ) -> TransactionId {
        let id = self.make(work, at);
        let die = self.flash.die_of(work.plane);
        self.view(|view| policy.enqueue(die, id, view));
        id
    }

    /// Asks the policy for the next command of a free die. Returns its transactions; none if the
    /// die has nothing to do.
    pub(crate) fn take(
        &mut self,
        policy: &mut dyn SchedulingPolicy,
        die: DieId,
    ) -> Vec<TransactionId> {
        let formed = self.view(|view| policy.take(die, view));
        assert_eq!(formed, !self.batch.is_empty(), "a policy says whether it formed a command");
        self.issued();
        self.batch.clone()
    }

    /// Marks the programs of the batch as sent, so that the next pages of their blocks may follow.
    pub(crate) fn issued(&mut self) {
        for &id in &self.batch {
            let tr = &self.transactions[id];
            if tr.op == Op::Program {
                let block = self.blocks.block_of(tr.ppa);
                self.blocks.block_mut(block).issued += 1;
            }
        }
    }

    /// Work for a request of a flow.
    pub(crate) fn user(op: Op, flow: FlowId, plane: PlaneId) -> Work {
        Work { source: Source::User, op, flow, plane }
    }

    /// Makes several transactions parts of one request.
    #[cfg(test)]
    pub(crate) fn connect(&mut self, ids: &[TransactionId], request: RequestId) {
        assert_ne!(request, RequestId::NONE);
        for &id in ids {
            self.transactions[id].request = request;
        }
    }
}
