//! Commands of zones on their way through the drive (`interface/zones` has the rules): a reset
//! gives up the pages of a zone and erases its superblock, and a finish fills what the zone has
//! left.

use std::ops::Range;

use flashlane_engine::place_of;
use flashlane_units::{FlowId, Handle, Lpa, Ppa, RequestId, RequestOp, TransactionId};

use super::Device;
use crate::ftl::placement::PlacementEvent;
use crate::interface::zones::{
    CannotFail, FailedZone, FinishKind, ZoneCounts, ZoneFailure, ZoneRefusal, ZoneReport,
    ZonesConfig,
};
use crate::request::{Chain, Directive, Planned, Request};
use crate::transaction::{Op, Source, Transaction};

/// Rows of a zone that its finish has under way at a time, for each plane.
const ROWS_UNDER_WAY: u32 = 2;

/// A finish that fills its zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    request: RequestId,
    /// The next part of the request to be written, and the number of its parts.
    next: u32,
    parts: u32,
    /// The page of its first part.
    first: Lpa,
}

/// What a drive with zones knows of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Note {
    /// The life of its zone.
    life: u64,
    /// Why the drive refused it, if it did.
    refusal: Option<ZoneRefusal>,
}

/// What a drive with zones keeps of commands under way.
#[derive(Clone, Debug, Default)]
pub(super) struct ZoneWork {
    /// Finishes that fill their zones.
    filling: Vec<Filling>,
    /// Finishes that wait for earlier writes to their zones.
    waiting: Vec<RequestId>,
    /// The note of the command that arrives now.
    arriving: Note,
    /// Notes of requests, by place in the slab.
    notes: Vec<Note>,
    /// True if a refusal is an answer, and not the end of the run.
    answers: bool,
    /// What a finish does to the rest of its zone.
    finish: FinishKind,
}

impl ZoneWork {
    /// Nothing is under way.
    pub(super) fn new(config: &ZonesConfig) -> Self {
        Self { finish: config.finish, ..Self::default() }
    }
}

impl Device {
    /// Makes refusals of commands to zones answers to them. Otherwise the first one ends the run.
    pub fn answer_refusals(&mut self) {
        self.zone_work.answers = true;
    }

    /// The zones of a flow; `None` where the drive has none.
    pub fn zones_of(&self, flow: FlowId) -> Option<Vec<ZoneReport>> {
        self.zones.as_ref().map(|zones| zones.report(flow))
    }

    /// The latest events of placement by the host, oldest first.
    pub fn placement_events(&self) -> Vec<PlacementEvent> {
        self.ftl.placement_events()
    }

    /// A zone of a flow fails. What of an active one is in the cache is written first.
    ///
    /// # Errors
    ///
    /// The zone cannot fail now; nothing has changed then.
    ///
    /// # Panics
    /// If the drive has no zones.
    pub fn fail_zone(
        &mut self,
        flow: FlowId,
        zone: u32,
        failure: ZoneFailure,
    ) -> Result<(), CannotFail> {
        let zones = self.zones.as_mut().expect("asked only where flows have zones");
        if let Some(FailedZone { start, handle }) = zones.fail(flow, zone, failure)? {
            let first = self.layout.flows[flow.index()].lpa(self.page_sectors.divide_long(start));
            let pages = self.layout.zones.expect("the drive has zones").pages;
            self.write_back_range(flow, first.get()..first.get() + pages);
            self.ask_ftl(|ftl, context| ftl.leave_zone(context, flow, first, handle));
        }
        Ok(())
    }

    /// Writes back what of some pages is in the cache.
    fn write_back_range(&mut self, flow: FlowId, pages: Range<u32>) {
        for lpa in self.cache.dirty_pages_in(flow, pages) {
            let write = self.write_back(flow, lpa, u64::MAX);
            self.translate(write);
        }
    }

    /// Commands that changed zones; `None` where the drive has none.
    pub fn zone_counts(&self) -> Option<ZoneCounts> {
        self.zones.as_ref().map(|zones| zones.counts())
    }

    /// Enters a command to a drive with zones. It is checked first, and becomes what the rest of
    /// the drive sees.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_to_zone(
        &mut self,
        flow: FlowId,
        planned: Planned,
        upcoming: Option<u64>,
        cookie: u64,
        counted: bool,
    ) {
        let admitted = self.admit_to_zone(flow, planned);
        self.submit_admitted::<true>(flow, &admitted, upcoming, cookie, counted);
    }

    /// The command that a command to a zone becomes.
    fn admit_to_zone(&mut self, flow: FlowId, planned: Planned) -> Planned {
        let zones = self.zones.as_mut().expect("asked only where flows have zones");
        let why = match zones.admit(flow, &planned) {
            Ok(admitted) => {
                self.zone_work.arriving.life = zones.life_of(flow, &admitted);
                return admitted;
            }
            Err(why) => why,
        };
        self.zone_work.arriving.refusal = Some(why);
        if !self.zone_work.answers {
            self.fail(why.error(flow, &planned));
        }
        Planned { op: RequestOp::Refused, sectors: 0, directive: Directive::NONE, ..planned }
    }

    /// The command that arrives has become this request.
    #[cold]
    #[inline(never)]
    pub(super) fn note_zone_request(&mut self, id: RequestId) {
        let refused = self.context.requests[id].op == RequestOp::Refused;
        let work = &mut self.zone_work;
        assert_eq!(work.arriving.refusal.is_some(), refused, "a refusal has a reason");
        let at = place_of(id);
        if at >= work.notes.len() {
            work.notes.resize((at + 1).next_power_of_two(), Note::default());
        }
        work.notes[at] = std::mem::take(&mut work.arriving);
    }

    /// The life of the zone of a request.
    fn life_of(&self, id: RequestId) -> u64 {
        self.zone_work.notes[place_of(id)].life
    }

    /// Why the complete request was refused, if it was.
    pub fn completed_refusal(&self) -> Option<ZoneRefusal> {
        self.zones.as_ref()?;
        let refusal = self.zone_work.notes[place_of(self.completed)].refusal;
        let refused = self.completed().op == RequestOp::Refused;
        assert_eq!(refusal.is_some(), refused, "the note is of this request");
        refusal
    }

    /// The device work of a command that manages a zone.
    #[cold]
    #[inline(never)]
    pub(super) fn manage_zone(&mut self, id: RequestId) {
        let Request { op, sectors, .. } = self.context.requests[id];
        match op {
            _ if sectors == 0 => {}
            RequestOp::ZoneReset => self.reset_zone(id),
            RequestOp::ZoneFinish if self.waits_for_writes(id) => {
                self.context.requests[id].pending += 1;
                self.zone_work.waiting.push(id);
            }
            RequestOp::ZoneFinish => self.finish_zone(id),
            // The zone may have been reset, or have failed, since the command was checked.
            RequestOp::ZoneCommit if self.stays_in_area(id) => self.commit_area(id),
            _ => {}
        }
    }

    /// True if data of the zone of a finish has not entered the drive.
    fn waits_for_writes(&self, id: RequestId) -> bool {
        let zones = self.zones.as_ref().expect("only zones are finished");
        zones.awaits(self.life_of(id))
    }

    /// The data of a write has entered the drive. Finishes of its zone may have waited for that.
    #[cold]
    #[inline(never)]
    pub(super) fn write_entered(&mut self, id: RequestId) {
        let life = self.life_of(id);
        assert!(life > 0, "data is written in a life of its zone");
        let zones = self.zones.as_mut().expect("asked only where flows have zones");
        zones.entered(life);
        for id in std::mem::take(&mut self.zone_work.waiting) {
            if self.waits_for_writes(id) {
                self.zone_work.waiting.push(id);
                continue;
            }
            self.finish_zone(id);
            let cache = (self.context.now - self.context.requests[id].begun).0;
            self.part_done(id, &Chain { cache, ..Chain::default() });
        }
    }

    /// Gives up every page of a zone, and erases its superblock.
    fn reset_zone(&mut self, id: RequestId) {
        let Request { flow, marks, .. } = self.context.requests[id];
        let count = self.page_count(id);
        let zone = self.layout.zones.expect("only zones are reset").pages;
        assert_eq!(count, zone, "a reset names all pages of its zone");
        let first = self.page_part(id, 0).lpa;
        for index in 0..count {
            let part = self.page_part(id, index);
            self.trim_cached(flow, part.lpa, part.mask);
        }
        // Pages that fill the zone, and have no place yet.
        let unplaced = |tr: &Transaction| {
            let inside = tr.lpa >= first && tr.lpa < first.plus(count);
            inside && (tr.source, tr.op, tr.ppa) == (Source::User, Op::Program, Ppa::NONE)
        };
        let transactions = &mut self.context.transactions;
        let given_up: Vec<TransactionId> =
            transactions.iter().filter(|(_, tr)| unplaced(tr)).map(|(id, _)| id).collect();
        given_up.into_iter().for_each(|id| transactions[id].set_part(0, 0));
        // A finish may still fill the zone by the handle that the zone had.
        let requests = &self.context.requests;
        let inside = |filling: &mut Filling| {
            requests[filling.request].flow == flow
                && (first..first.plus(count)).contains(&filling.first)
        };
        let filling = self.zone_work.filling.extract_if(.., inside).next();
        let handle =
            filling.map_or(marks.handle(), |filling| requests[filling.request].marks.handle());
        self.ask_ftl(|ftl, context| ftl.reset_zone(context, flow, (first, count), handle));
    }

    /// True if the zone of a command was reset since the command was checked, so that there is
    /// nothing left to do for it.
    pub(super) fn zone_was_reset(&self, id: RequestId) -> bool {
        let Request { flow, sector, .. } = self.context.requests[id];
        let zones = self.zones.as_ref().expect("asked only where flows have zones");
        !zones.is_current(flow, sector, self.life_of(id))
    }

    /// True if the pages of a write may be written again, so that they stay in the cache.
    pub(super) fn stays_in_area(&self, id: RequestId) -> bool {
        let Request { flow, sector, .. } = self.context.requests[id];
        self.zones.as_ref().is_some_and(|zones| zones.area(flow, sector).is_some())
    }

    /// Writes back what lies before the write pointer of a zone with a random write area.
    #[cold]
    pub(super) fn commit_area(&mut self, id: RequestId) {
        let Request { flow, sector, .. } = self.context.requests[id];
        let area = self.zones.as_ref().and_then(|zones| zones.area(flow, sector));
        let (start, pointer) = area.expect("the zone has an area");
        let space = &self.layout.flows[flow.index()];
        let page = |sector: u64| space.lpa(self.page_sectors.divide_long(sector)).get();
        let pages = page(start)..page(start) + page(pointer - start) - page(0);
        self.write_back_range(flow, pages);
    }

    /// Fills what a zone has left, behind what of it is in the cache.
    fn finish_zone(&mut self, id: RequestId) {
        if self.zone_was_reset(id) {
            return;
        }
        let Request { flow, marks, sector, .. } = self.context.requests[id];
        let first = self.page_part(id, 0);
        let fills = self.zone_work.finish == FinishKind::Fill;
        assert!(marks.handle() != Handle::NONE, "a zone with data has a handle");
        // A page that was begun belongs to what was written.
        let begun = !sector.is_multiple_of(u64::from(self.page_sectors.get()));
        let parts = self.page_count(id);
        // Only a zone with data has an open superblock.
        let zone = self.layout.zones.expect("only zones are finished").pages;
        let start =
            first.lpa.get() - first.lpa.since(self.layout.flows[flow.index()].lpa(0)) % zone;
        let pages = start..first.lpa.get() + u32::from(begun);
        self.write_back_range(flow, pages);
        if !fills {
            let (lpa, handle) = (first.lpa, marks.handle());
            self.ask_ftl(|ftl, context| ftl.leave_zone(context, flow, lpa, handle));
            return;
        }
        let next = u32::from(begun);
        self.zone_work.filling.push(Filling { request: id, next, parts, first: first.lpa });
        let geometry = self.layout.geometry;
        let row = geometry.units_per_program();
        for _ in 0..row.saturating_mul(ROWS_UNDER_WAY * geometry.planes()) {
            if !self.fill_on(id) {
                break;
            }
        }
    }

    /// Writes the next page of a zone that is being filled. False if there is none.
    pub(super) fn fill_on(&mut self, id: RequestId) -> bool {
        let filling = &mut self.zone_work.filling;
        let Some(at) = filling.iter().position(|one| one.request == id) else { return false };
        let Filling { next, parts, .. } = filling[at];
        if next >= parts || self.zone_was_reset(id) {
            self.zone_work.filling.swap_remove(at);
            // If other zones had to share its superblock, its last row is not full.
            let Request { flow, marks, .. } = self.context.requests[id];
            let lpa = self.page_part(id, parts - 1).lpa;
            self.ask_ftl(|ftl, context| ftl.send_last_row(context, flow, lpa, marks.handle()));
            return false;
        }
        assert!(parts > 0, "a finish that fills has something to fill");
        self.zone_work.filling[at].next += 1;
        let part = self.page_part(id, next);
        let Request { flow, marks, begun, .. } = self.context.requests[id];
        self.ask_ftl(|ftl, context| ftl.note_handle(context, flow, part.lpa, marks.handle()));
        let now = self.context.now;
        let mut write = self.ftl.transaction(now, (Source::User, Op::Program), flow, part.lpa);
        write.set_part(part.mask, part.sectors);
        write.request = id;
        // The write waited for the pages before it.
        write.chain.mapping = (now - begun).0;
        let write = self.context.transactions.insert(write);
        self.context.requests[id].pending += 1;
        if now > begun
            && let Some(observer) = &mut self.observer
        {
            observer.same_page(now, (write, &self.context.transactions[write]), begun.0);
        }
        self.translate(write);
        true
    }

    /// A page of a request is on flash. If it fills a zone, the next one follows.
    #[cold]
    #[inline(never)]
    pub(super) fn page_filled(&mut self, id: RequestId) {
        let Request { op, flow, .. } = self.context.requests[id];
        if op == RequestOp::ZoneFinish {
            self.ask_ftl(|ftl, _| ftl.not_of_host(flow));
            self.fill_on(id);
        }
    }
}
