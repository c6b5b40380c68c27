//! Mapping units smaller than a page of the flash (`ftl.mapping.unit`).
//!
//! The translation layer counts units wherever it says pages: tables, blocks and collection know
//! nothing of the flash's pages, each of which is a row of units (`Geometry::units_per_page`).
//! Only the way to the flash knows them:
//!
//! - *Filling* ([`filling`]): units of one plane, flow and stream are packed into a page as they
//!   get their places. The page is programmed when it is full, or with empty units when the wait is
//!   over. Until it is programmed, its units are in the controller's memory, and reads of them are
//!   answered from there.
//! - *Riding* ([`riding`]): the transaction of one unit leads, and goes through scheduler and flash
//!   as the page. The others ride along, and are over when it is.

mod audit;
mod filling;
mod order;
mod riding;

use flashlane_engine::{Array, Time, place_of};
use flashlane_units::{FlowId, PlaneId, TransactionId};

use super::Ftl;
use super::blocks::Stream;
use super::config::FtlConfig;
use crate::layout::Layout;
use crate::request::Chain;
use crate::transaction::Transaction;
use filling::Filling;
use order::Order;
use riding::LastRead;

/// Streams that fill pages: writes of the host, and pages that collection moves.
const STREAMS: usize = 2;

/// Counts of units since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// Units of a page.
    pub per_page: u32,
    /// Empty units that were programmed, since their page had waited long enough.
    pub padded: u64,
    /// Reads of units that were not programmed yet, answered from the controller's memory.
    pub buffered_reads: u64,
    /// Units that were read along with another unit of their page.
    pub joined_reads: u64,
}

/// Pages that are being filled, and what rides on the pages under way.
#[derive(Clone)]
pub(super) struct Units {
    /// Units of a page; more than 1.
    slots: u32,
    /// What the program of a page moves over the channel. Unit: sectors.
    page_sectors: u32,
    fill_time: Time,
    flows: usize,
    /// Open pages by plane, flow and stream.
    filling: Vec<Filling>,
    /// Open pages of the host, in the order in which their time is over.
    order: Order,
    /// True while an event is to look for pages whose time is over.
    looks: bool,
    /// With dynamic allocation: the plane of the page that each flow is filling, or `NONE`. Its
    /// next units go there.
    filled_now: Option<Array<FlowId, PlaneId>>,
    last_read: LastRead,
    /// By leader: its chain when others began to ride on it.
    bases: Vec<Chain>,
    counts: UnitCounts,
}

/// True if an open page, by its index in the list, holds data that the host writes.
fn of_host(at: usize) -> bool {
    at.is_multiple_of(STREAMS)
}

impl Units {
    /// Nothing under way; `None` where pages are mapped whole.
    pub(super) fn new(config: &FtlConfig, layout: &Layout) -> Option<Self> {
        let geometry = layout.geometry;
        let dynamic = config.allocation.is_dynamic();
        let slots = geometry.units_per_page;
        let flows = layout.flows.len();
        (slots > 1).then(|| Self {
            slots,
            page_sectors: slots * geometry.sectors_per_page,
            fill_time: Time(config.mapping.fill_time().0),
            flows,
            filling: vec![Filling::default(); geometry.planes() as usize * flows * STREAMS],
            order: Order::default(),
            looks: false,
            filled_now: dynamic.then(|| Array::of(PlaneId::NONE, flows)),
            last_read: LastRead::default(),
            bases: Vec::new(),
            counts: UnitCounts { per_page: slots, ..UnitCounts::default() },
        })
    }

    /// Index in `filling` of the page of a plane, flow and stream.
    fn at(&self, plane: PlaneId, flow: FlowId, stream: Stream) -> usize {
        let stream = match stream {
            Stream::Host => 0,
            Stream::Gc => 1,
            other => unreachable!("{other:?} is refused with units"),
        };
        (plane.index() * self.flows + flow.index()) * STREAMS + stream
    }

    /// The plane that the next unit of a flow has to go to, since its page is not full.
    #[inline]
    pub(super) fn plane_to_fill(&self, flow: FlowId) -> Option<PlaneId> {
        let plane = self.filled_now.as_ref()?[flow];
        (plane != PlaneId::NONE).then_some(plane)
    }

    /// A unit of the host has its place, the `slot`th of its page.
    #[inline]
    pub(super) fn host_unit_placed(&mut self, flow: FlowId, plane: PlaneId, slot: u32) {
        if let Some(filled_now) = &mut self.filled_now {
            filled_now[flow] = if slot + 1 == self.slots { PlaneId::NONE } else { plane };
        }
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
    /// True if units are packed into pages.
    #[inline(always)]
    pub(crate) fn packs_units(&self) -> bool {
        self.units.is_some()
    }

    /// Units of a page; 1 where pages are mapped whole.
    #[inline]
    pub(super) fn units_per_page(&self) -> u32 {
        self.units.as_ref().map_or(1, |units| units.slots)
    }

    /// Counts of units; `None` where pages are mapped whole.
    pub(super) fn unit_counts(&self) -> Option<UnitCounts> {
        self.units.as_ref().map(|units| units.counts)
    }

    /// The stages of a leader since others began to ride on it.
    pub(crate) fn ridden(&self, id: TransactionId, leader: &Transaction) -> Chain {
        let units = self.units.as_ref().expect("only units ride");
        leader.chain.since(&units.bases[place_of(id)])
    }
}
