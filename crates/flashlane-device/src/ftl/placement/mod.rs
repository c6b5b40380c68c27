//! Placement of data by the host: flexible data placement (FDP) and the streams directive.
//!
//! A write names a *placement handle*, or its flow has one (`placement` of the flow). The pages of
//! each handle fill *reclaim units* of their own: superblocks, which are collected and erased as a
//! whole. If the data of a handle becomes invalid together, its reclaim units become empty by
//! themselves, and collection has nothing to copy.
//!
//! The handle of a logical page is noted when the drive accepts the write, so that it survives the
//! data cache: however the page leaves the cache, it goes to the reclaim unit of the last write.
//! Collection finds the place of a copy by the stream of the block ([`Stream::moved`]): a reclaim
//! unit that copies of all handles share (initially isolated), or one of the handle (persistently
//! isolated).
//!
//! Victims are chosen among the reclaim units of all handles. Each collection is charged to the
//! handle whose writes have opened a reclaim unit last, since that took the room that collection
//! has to make: this tells whose writes make whose data move.
//!
//! Source: NVMe 2.1 (TP4146): reclaim units, handles and their types. The standard leaves victims
//! and the time of collection to the drive.

mod config;
mod events;
mod groups;
mod open;
mod zones;

use flashlane_engine::{Array, Time};
use flashlane_units::{BlockId, FlowId, Handle, Lpa, PlaneId, Ppa};

use super::blocks::{BlockState, Blocks, HANDLES_MAX, Stream};
use super::{Ftl, FtlState};
use crate::context::Context;
use crate::layout::Layout;
pub use config::{HandleIsolation, PlacementConfig, PlacementMode};
pub use events::{EventCounts, PlacementEvent, PlacementEventKind};
use events::{Events, OpenTimes};
use groups::Groups;
use zones::ZoneLeftovers;

/// Placement handles of a drive, or streams that may be open.
pub const HANDLES: std::ops::RangeInclusive<u32> = 1..=64;

const _: () = assert!(*HANDLES.end() < HANDLES_MAX as u32, "there is a number for no stream, too");

/// What became of the data of a handle since the start of the run. Unit: pages, as they are mapped,
/// unless another one is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandleCounts {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Copies, by the handle whose writes made room necessary.
    pub copied_for: Vec<u64>,
    /// Reclaim units that the host filled.
    pub filled: u64,
    /// Reclaim units of the handle alone that were erased: those that the host filled, and with
    /// persistent isolation those of its copies.
    pub erased: u64,
}

impl HandleCounts {
    /// Copies of pages of the handle.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.copied_for.iter().sum()
    }
}

/// What became of the data of all handles, and their reclaim units now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementCounts {
    /// By handle.
    pub handles: Vec<HandleCounts>,
    /// Pages that the host may still write to the open reclaim units of each handle; those of a
    /// new unit where none is open.
    pub remaining: Vec<u64>,
    /// Reclaim units erased that held copies of several handles.
    pub shared_erased: u64,
    /// Pages of a reclaim unit that can hold data.
    pub unit_pages: u32,
    /// What the drive told, by kind.
    pub events: EventCounts,
}

impl PlacementCounts {
    /// The counts since an earlier reading of the same drive; what remains is as it is now.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let handle = |(now, before): (&HandleCounts, &HandleCounts)| HandleCounts {
            host_pages: now.host_pages - before.host_pages,
            copied_for: (now.copied_for.iter())
                .zip(&before.copied_for)
                .map(|(now, before)| now - before)
                .collect(),
            filled: now.filled - before.filled,
            erased: now.erased - before.erased,
        };
        Self {
            handles: self.handles.iter().zip(&before.handles).map(handle).collect(),
            remaining: self.remaining.clone(),
            shared_erased: self.shared_erased - before.shared_erased,
            unit_pages: self.unit_pages,
            events: std::array::from_fn(|kind| self.events[kind] - before.events[kind]),
        }
    }
}

/// The handles of a drive.
#[derive(Clone)]
pub(super) struct Handles {
    persistent: bool,
    /// The handle of writes that name none, by flow.
    of_flow: Array<FlowId, Handle>,
    /// The handle of the last write of each logical page.
    of_page: Vec<Handle>,
    /// The handle whose writes have opened a reclaim unit last.
    latest: Handle,
    /// The handle to which the collection of a block is charged.
    charged: Array<BlockId, Handle>,
    counts: Array<usize, HandleCounts>,
    shared_erased: u64,
    /// What the drive tells of all this.
    events: Events,
    /// Where the drive has several reclaim groups.
    groups: Option<Groups>,
    /// Where the time of open reclaim units is limited.
    open_times: Option<OpenTimes>,
    /// With zones: pages of a zone, and the first page of each flow.
    of_zones: Option<(u32, Array<FlowId, Lpa>)>,
    zones: ZoneLeftovers,
}

impl Handles {
    /// `None` where hosts place nothing. `sets`, `blocks`: sets of dies and reclaim units of the
    /// drive. `of_page`: the handles of the logical pages; empty for a new drive.
    pub(super) fn new(
        config: &PlacementConfig,
        layout: &Layout,
        (sets, blocks): (usize, usize),
        mut of_page: Vec<Handle>,
    ) -> Option<Self> {
        if config.is_off() {
            return None;
        }
        let of_flow: Vec<Handle> = layout.flows.iter().map(|flow| flow.handle).collect();
        let count = config.handles_of_drive() as usize;
        let fits = |handle: &Handle| handle.index() < count;
        assert!(of_flow.iter().all(fits), "validation refuses handles that the drive has not");
        of_page.resize(layout.logical_pages as usize, Handle::default());
        let counts = HandleCounts { copied_for: vec![0; count], ..HandleCounts::default() };
        Some(Self {
            persistent: config.is_persistent(),
            of_flow: of_flow.into(),
            of_page,
            latest: Handle::default(),
            charged: Array::of(Handle::default(), blocks),
            counts: Array::of(counts, count),
            shared_erased: 0,
            events: Events::default(),
            groups: Groups::new(config, sets),
            open_times: config.unit_time.map(|limit| OpenTimes::new(Time(limit.0), count, sets)),
            of_zones: layout.zones.map(|zone| {
                let first = layout.flows.iter().map(|flow| Lpa::new(flow.first_lpa as u32));
                (zone.pages, first.collect())
            }),
            zones: ZoneLeftovers::default(),
        })
    }

    /// Opens a reclaim unit for each handle in every set of dies that it uses.
    pub(super) fn open_units(&self, blocks: &mut Blocks) {
        for set in blocks.planes.numbers() {
            for handle in (0..self.counts.len()).map(Handle::at) {
                if self.uses(handle, set) {
                    blocks.open_for_handle(set, Stream::placed(handle, self.persistent));
                }
            }
        }
    }

    /// The stream of a page that the host wrote, and its handle.
    #[inline]
    fn stream_of(&self, lpa: Lpa) -> (Handle, Stream) {
        let handle = self.of_page[lpa.index()];
        (handle, Stream::placed(handle, self.persistent))
    }

    /// True for the first page of a zone.
    fn begins_zone(&self, flow: FlowId, lpa: Lpa) -> bool {
        let of = |(pages, first): &(u32, Array<FlowId, Lpa>)| {
            lpa.since(first[flow]).is_multiple_of(*pages)
        };
        self.of_zones.as_ref().is_some_and(of)
    }

    /// True for the last page of a zone.
    fn ends_zone(&self, flow: FlowId, lpa: Lpa) -> bool {
        self.begins_zone(flow, lpa.plus(1))
    }

    /// A page of the host has its place, the first of a reclaim unit if it `opens` one.
    fn placed(&mut self, set: PlaneId, handle: Handle, opens: bool, fills: bool) {
        let counts = &mut self.counts[handle.index()];
        counts.host_pages += 1;
        if opens {
            self.latest = handle;
            if let Some(times) = &mut self.open_times {
                times.opened(set, handle, self.events.now);
            }
        }
        if fills {
            counts.filled += 1;
            self.events.moved(handle);
        }
    }
}

impl Ftl {
    /// The state of a drive on which nothing is under way, for another run.
    pub(in crate::ftl) fn into_state(mut self) -> FtlState {
        assert!(self.jobs.is_empty(), "nothing is in collection");
        self.blocks.forget_work();
        if let Some(mapping) = &mut self.mapping {
            mapping.writebacks = 0;
        }
        FtlState {
            pages: self.pages,
            blocks: self.blocks,
            mapping: self.mapping,
            hybrid: None,
            handles: self.handles.map_or_else(Vec::new, |handles| handles.of_page),
        }
    }

    /// True if the drive has zones.
    #[inline]
    pub(in crate::ftl) fn has_zones(&self) -> bool {
        self.handles.as_ref().is_some_and(|handles| handles.of_zones.is_some())
    }

    /// True if open superblocks may be left before they are full: by zones, and where their time is
    /// limited.
    #[inline]
    pub(in crate::ftl) fn leaves_units(&self) -> bool {
        self.has_zones() || self.limits_open_times()
    }

    /// True if hosts place their data.
    #[inline(always)]
    pub(crate) fn has_handles(&self) -> bool {
        self.handles.is_some()
    }

    /// Prefetches the handle of a page, where hosts place their data.
    #[inline]
    pub(super) fn prefetch_handle(&self, lpa: Lpa) {
        if let Some(handles) = &self.handles {
            flashlane_engine::prefetch(&handles.of_page, lpa.index());
        }
    }

    /// The drive accepted a write of a page by a handle, or by that of its flow.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_handle(
        &mut self,
        ctx: &mut Context,
        flow: FlowId,
        lpa: Lpa,
        handle: Handle,
    ) {
        if self.place_page(flow, lpa, handle) {
            self.begin_zone(ctx, flow, lpa, handle);
        }
        if self.limits_open_times() {
            self.leave_old_units(ctx, lpa);
        }
    }

    /// Notes the handle of a page. True if it is the first one of a zone.
    pub(in crate::ftl) fn place_page(&mut self, flow: FlowId, lpa: Lpa, handle: Handle) -> bool {
        let handles = self.handles.as_mut().expect("asked only where hosts place data");
        let named = if handle == Handle::NONE { handles.of_flow[flow] } else { handle };
        handles.of_page[lpa.index()] = named;
        handles.begins_zone(flow, lpa)
    }

    /// Allocates a page for a write where hosts place their data. `None` where the write has to
    /// wait for a free block.
    #[inline(never)]
    pub(super) fn allocate_by_handle(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        (lpa, stream): (Lpa, Stream),
        now: Time,
    ) -> Option<Ppa> {
        if stream != Stream::HOST {
            // A translation page.
            return self.blocks.allocate(plane, flow, stream, false);
        }
        let handles = self.handles.as_mut().expect("asked only where hosts place data");
        handles.events.now = now;
        let (handle, stream) = handles.stream_of(lpa);
        debug_assert!(handles.uses(handle, plane), "a page lies in its reclaim group");
        let opens = self.blocks.next_page(plane, flow, stream) == 0;
        let ppa = self.blocks.allocate(plane, flow, stream, false)?;
        let block = self.blocks.block(self.blocks.block_of(ppa));
        handles.placed(plane, handle, opens, block.state == BlockState::Full);
        Some(ppa)
    }

    /// A block is about to be emptied.
    #[inline]
    pub(super) fn collection_is_charged(&mut self, block: BlockId) {
        if let Some(handles) = &mut self.handles {
            handles.charged[block] = handles.latest;
            let state = self.blocks.block(block);
            if state.valid > 0 && state.stream.is_data() {
                let handle = state.stream.handle().unwrap_or(Handle::NONE);
                handles.events.reallocated(handle, state.valid);
            }
        }
    }

    /// Collection copied a page out of a block.
    #[inline]
    pub(super) fn copied_by_handle(&mut self, block: BlockId, lpa: Lpa) {
        if let Some(handles) = &mut self.handles {
            let handle = handles.of_page[lpa.index()];
            handles.counts[handle.index()].copied_for[handles.charged[block].index()] += 1;
        }
    }

    /// A block of a stream was erased.
    #[inline]
    pub(super) fn erased_by_handle(&mut self, stream: Stream) {
        if let Some(handles) = &mut self.handles {
            match stream.handle() {
                Some(handle) => handles.counts[handle.index()].erased += 1,
                None => handles.shared_erased += u64::from(stream.is_data()),
            }
        }
    }

    /// What became of the data of all handles; `None` where hosts place nothing.
    pub(super) fn placement_counts(&self) -> Option<PlacementCounts> {
        let handles = self.handles.as_ref().filter(|handles| handles.of_zones.is_none())?;
        let unit = self.blocks.pages_per_block();
        let planes = || self.blocks.planes.numbers();
        let left = |handle: Handle| {
            let stream = Stream::placed(handle, handles.persistent);
            let open = |plane| self.blocks.next_page(plane, FlowId::new(0), stream);
            let own = planes().filter(|&plane| handles.uses(handle, plane));
            own.map(|plane| u64::from(self.blocks.room_behind(open(plane)))).sum()
        };
        Some(PlacementCounts {
            remaining: (0..handles.counts.len()).map(|at| left(Handle::at(at))).collect(),
            handles: handles.counts.to_vec(),
            shared_erased: handles.shared_erased,
            unit_pages: unit,
            events: handles.events.counts,
        })
    }

    /// The latest events, oldest first.
    pub(crate) fn placement_events(&self) -> Vec<PlacementEvent> {
        let handles = self.handles.as_ref().filter(|handles| handles.of_zones.is_none());
        handles.map_or_else(Vec::new, |handles| handles.events.latest.iter().copied().collect())
    }

    /// Checks that blocks hold only pages of their handle.
    pub(super) fn audit_placement(&self) {
        let used = self.blocks.numbers().filter(|&block| self.blocks.is_used(block));
        let Some(handles) = &self.handles else {
            let mut placed =
                used.filter(|&block| self.blocks.block(block).stream.handle().is_some());
            assert_eq!(placed.next(), None, "no block has a handle where hosts place nothing");
            return;
        };
        for block in used {
            let stream = self.blocks.block(block).stream;
            let Some(handle) = stream.handle() else { continue };
            assert!(handle.index() < handles.counts.len(), "{handle} is a handle of the drive");
            let own = Stream::placed(handle, handles.persistent);
            assert!(stream == own || stream == own.moved(), "block {block} is not of {stream:?}");
            let set = self.blocks.plane_of(block);
            assert!(handles.uses(handle, set), "block {block} lies outside of its reclaim group");
        }
        let known = |handle: &Handle| handle.index() < handles.counts.len();
        assert!(handles.of_page.iter().all(known), "pages have handles of the drive");
    }
}
