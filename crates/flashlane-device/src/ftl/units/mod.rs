//! Mapping units that are programmed together: units smaller than a page of the flash
//! (`ftl.mapping.unit`), and the pages of a word line (`flash.programming = "one-shot"`).
//!
//! The translation layer counts units wherever it says pages. A page of the flash is
//! `Geometry::units_per_page` units in a row, and a word line is `Geometry::pages_per_program`
//! pages in a row: tables, blocks and collection know nothing of either. Only the way to the flash
//! does. In this folder a *row* is what a plane programs at once: the units of a page, or those of
//! a word line.
//!
//! - *Filling* ([`filling`]): units of one plane, flow and stream are packed into a row as they get
//!   their places. The row is programmed when it is full, or with empty units when the wait is
//!   over. Until it is programmed, its units are in the controller's memory, and reads of them are
//!   answered from there.
//! - *Riding* ([`riding`]): the transaction of one unit leads, and goes through scheduler and flash
//!   as the row, or for a read as the page. The others ride along, and are over when it is.
//! - *Passes* ([`passes`]): with `flash.programming = "two-pass"` a row is programmed in two array
//!   operations, with the first one of its neighbour in between.

mod audit;
mod between;
mod filling;
mod order;
mod passes;
mod riding;

use flashlane_engine::{Array, Time, place_of};
use flashlane_units::{FlowId, Handle, PlaneId, TransactionId};

use super::Ftl;
use super::blocks::Stream;
use super::config::FtlConfig;
use super::placement::{PlacementConfig, PlacementMode};
use crate::layout::Layout;
use crate::request::Chain;
use crate::transaction::Transaction;
use between::Passes;
use filling::Filling;
use order::Order;
use riding::LastRead;

/// Counts of units since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// Units of a page.
    pub per_page: u32,
    /// Units that a plane programs at once: those of a page, or of a word line.
    pub per_program: u32,
    /// Empty units that were programmed, since the others had waited long enough.
    pub padded: u64,
    /// Most units that waited in the controller's memory for others, since the window opened or
    /// in the whole run if all of it counts.
    pub waiting_max: u32,
    /// Reads of units that were not programmed yet, answered from the controller's memory.
    pub buffered_reads: u64,
    /// Units that were read along with another unit of their page.
    pub joined_reads: u64,
    /// Passes of word lines; `None` where a program has one pass.
    pub passes: Option<PassCounts>,
}

/// Counts of passes, with two-pass programming. Unit: word lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassCounts {
    /// First passes.
    pub first: u64,
    /// Second passes without a first pass of the next word line before.
    pub early: u64,
}

/// Rows that are being filled, and what rides on the rows and pages under way.
#[derive(Clone)]
pub(super) struct Units {
    /// Units of a row, which are programmed together; more than 1, unless a row has two passes.
    slots: u32,
    /// Units of a page, which are read together.
    of_page: u32,
    /// What the program of a row moves over the channel. Unit: sectors.
    row_sectors: u32,
    fill_time: Time,
    /// A row of a zone waits until the zone has filled it: an empty page would be a page that the
    /// zone lacks at its end.
    waits_for_ever: bool,
    /// Flows with rows of their own; 1 if all flows share them, as they share superblocks.
    flows: usize,
    /// Streams that fill rows, by number: writes of the host, and pages that collection moves. Each
    /// placement handle has both, behind those without a handle.
    streams: Vec<Stream>,
    /// Open rows by plane, flow and stream. With superblocks, a plane is a set of dies.
    filling: Vec<Filling>,
    /// Units in open rows.
    waiting: u32,
    /// Open rows of the host, in the order in which their time is over.
    order: Order,
    /// With dynamic allocation: the plane of the row that each flow is filling, or `NONE`. Its
    /// next units go there.
    filled_now: Option<Array<FlowId, PlaneId>>,
    last_read: LastRead,
    /// By leader: its chain when others began to ride on it.
    bases: Vec<Chain>,
    /// Word lines between their passes; `None` where a program has one pass.
    passes: Option<Box<Passes>>,
    /// Without the counts of passes.
    counts: UnitCounts,
}

/// True if an open row, by its index in the list, holds data that the host writes.
fn of_host(at: usize) -> bool {
    at.is_multiple_of(2)
}

impl Units {
    /// Nothing under way; `None` where every page is mapped and programmed by itself. `shared`: the
    /// flows of a plane fill the same rows.
    pub(super) fn new(
        config: &FtlConfig,
        placement: &PlacementConfig,
        layout: &Layout,
        shared: bool,
    ) -> Option<Self> {
        let packs = layout.geometry.units_per_program() > 1;
        packs.then(|| Self::of_rows(config, placement, layout, shared))
    }

    /// Nothing under way.
    fn of_rows(
        config: &FtlConfig,
        placement: &PlacementConfig,
        layout: &Layout,
        shared: bool,
    ) -> Self {
        let geometry = layout.geometry;
        let dynamic = config.allocation.is_dynamic();
        let (of_page, slots) = (geometry.units_per_page, geometry.units_per_program());
        let flows = if shared { 1 } else { layout.flows.len() };
        let persistent = placement.is_persistent();
        let handles = (0..placement.handles_of_drive() as u8).map(Handle::new);
        let placed = handles.map(|handle| Stream::placed(handle, persistent));
        let hosts = [Stream::HOST].into_iter().chain(placed);
        let streams: Vec<Stream> = hosts.flat_map(|host| [host, host.moved()]).collect();
        let rows = geometry.planes() as usize * flows * streams.len();
        Self {
            slots,
            of_page,
            row_sectors: slots * geometry.sectors_per_page,
            fill_time: Time(config.mapping.fill_time().0),
            waits_for_ever: placement.mode == PlacementMode::Zones,
            flows,
            streams,
            filling: vec![Filling::default(); rows],
            waiting: 0,
            order: Order::new(rows),
            filled_now: dynamic.then(|| Array::of(PlaneId::NONE, layout.flows.len())),
            last_read: LastRead::default(),
            bases: Vec::new(),
            passes: None,
            counts: UnitCounts { per_page: of_page, per_program: slots, ..UnitCounts::default() },
        }
    }

    /// Index in `filling` of the row of a plane, flow and stream.
    fn at(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> usize {
        let stream = match (stream, stream.handle()) {
            (Stream::HOST, _) => 0,
            (Stream::GC, _) => 1,
            (_, Some(handle)) => 2 + 2 * handle.index() + usize::from(stream.moved() == stream),
            (other, None) => unreachable!("{other:?} is refused with units"),
        };
        self.row_at(plane, flow, stream)
    }

    /// Index in `filling` of the row of a plane, a flow and the `nth` stream of the list.
    fn row_at(&self, plane: PlaneId, flow: FlowId, nth: usize) -> usize {
        let flow = flow.index().min(self.flows - 1);
        (plane.index() * self.flows + flow) * self.streams.len() + nth
    }

    /// The plane that the next unit of a flow has to go to, since its row is not full.
    #[inline]
    pub(super) fn plane_to_fill(&self, flow: FlowId) -> Option<PlaneId> {
        let plane = self.filled_now.as_ref()?[flow];
        (plane != PlaneId::NONE).then_some(plane)
    }

    /// A unit of the host has its place, the `slot`th of its row.
    #[inline]
    pub(super) fn host_unit_placed(&mut self, flow: FlowId, plane: PlaneId, slot: u32) {
        if let Some(filled_now) = &mut self.filled_now {
            filled_now[flow] = if slot + 1 == self.slots { PlaneId::NONE } else { plane };
        }
    }

    /// Units in the controller's memory that wait for others.
    fn all_waiting(&self) -> u32 {
        self.waiting + self.passes.as_ref().map_or(0, |passes| passes.waiting)
    }

    /// Keeps the largest number of units that waited.
    fn note_waiting(&mut self) {
        self.counts.waiting_max = self.counts.waiting_max.max(self.all_waiting());
    }

    /// Keeps the chain of a transaction on which others begin to ride.
    fn keep_base(&mut self, leader: TransactionId, chain: Chain) {
        let at = place_of(leader);
        if at >= self.bases.len() {
            self.bases.resize((at + 1).next_power_of_two(), Chain::default());
        }
        self.bases[at] = chain;
    }
}

impl Ftl {
    /// The streams that fill rows; none where every page is programmed by itself.
    pub(super) fn streams_of_rows(&self) -> Vec<Stream> {
        self.units.as_ref().map_or_else(Vec::new, |units| units.streams.clone())
    }

    /// True if units are packed into rows.
    #[inline(always)]
    pub(crate) fn packs_units(&self) -> bool {
        self.units.is_some()
    }

    /// True if word lines are programmed in two passes.
    #[inline]
    pub(super) fn has_passes(&self) -> bool {
        self.units.as_ref().is_some_and(|units| units.passes.is_some())
    }

    /// Units that a plane programs at once; 1 where every page is programmed by itself.
    #[inline]
    pub(super) fn units_per_program(&self) -> u32 {
        self.units.as_ref().map_or(1, |units| units.slots)
    }

    /// Counts of units; `None` where every page is mapped and programmed by itself.
    pub(super) fn unit_counts(&self) -> Option<UnitCounts> {
        let units = self.units.as_ref()?;
        let passes = units.passes.as_ref().map(|passes| passes.counts);
        Some(UnitCounts { passes, ..units.counts })
    }

    /// Begins the largest number of units that waited anew.
    pub(crate) fn forget_most_waiting(&mut self) {
        if let Some(units) = &mut self.units {
            units.counts.waiting_max = units.all_waiting();
        }
    }

    /// The stages of a leader since others began to ride on it.
    pub(crate) fn ridden(&self, id: TransactionId, leader: &Transaction) -> Chain {
        let units = self.units.as_ref().expect("only units ride");
        leader.chain.since(&units.bases[place_of(id)])
    }
}
