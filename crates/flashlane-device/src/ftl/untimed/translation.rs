//! The cached mapping table without time: changed entries that leave it are written back at once.

use flashlane_units::{FlowId, Lpa, Ppa};

use super::Untimed;
use crate::ftl::blocks::Stream;
use crate::ftl::mapping::Evicted;
use flashlane_reading::Error;

impl Untimed {
    /// Looks up the mapping of a page. Returns the time when it is known.
    #[inline]
    pub(super) fn look_up(&mut self, flow: FlowId, lpa: Lpa, at: u64) -> u64 {
        if self.ftl.mapping.is_none() {
            self.work[flow.index()].cmt_hits += 1;
            return at;
        }
        self.look_up_cached(flow, lpa, at)
    }

    fn look_up_cached(&mut self, flow: FlowId, lpa: Lpa, at: u64) -> u64 {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        let hit = table.knows(flow, lpa);
        let ppa = table.on_flash(table.page_of(flow, lpa));
        let leaves = table.recall(flow, lpa, false);
        self.leaves_table(leaves);
        let work = &mut self.work[flow.index()];
        if hit {
            work.cmt_hits += 1;
            return at;
        }
        work.cmt_misses += 1;
        if ppa == Ppa::NONE {
            return at;
        }
        work.mapping_reads += 1;
        self.read_page(ppa, at)
    }

    /// Notes that the mapping of a page changed.
    #[inline]
    pub(super) fn mapping_changed(&mut self, flow: FlowId, lpa: Lpa) {
        let Some(table) = &mut self.ftl.mapping else { return };
        let leaves = table.recall(flow, lpa, true);
        self.leaves_table(leaves);
    }

    /// Queues the write-back of the translation page of a changed entry that left the table. The
    /// page's other changed entries are written with it.
    fn leaves_table(&mut self, entry: Option<Evicted>) {
        if let Some(Evicted { flow, page, .. }) = entry
            && !self.write_backs.contains(&(flow, page))
        {
            self.write_backs.push_back((flow, page));
        }
    }

    /// Writes back the queued translation pages until none is left.
    #[inline]
    pub(super) fn settle(&mut self, at: u64) -> Result<(), Error> {
        while let Some((flow, page)) = self.write_backs.pop_front() {
            self.write_back(flow, page, at)?;
        }
        Ok(())
    }

    fn write_back(&mut self, flow: FlowId, page: u32, mut at: u64) -> Result<(), Error> {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        table.writebacks += 1;
        let index = table.index_in_flow(flow, page);
        let old = table.on_flash(page);
        self.work[flow.index()].mapping_programs += 1;
        if old != Ppa::NONE {
            self.work[flow.index()].mapping_reads += 1;
            at = self.read_page(old, at);
        }
        let (plane, ppa) = self.place(at, (Lpa::NONE, Stream::MAPPING), flow, |ftl| {
            ftl.allocator.translation_plane(flow, index)
        })?;
        // Collection may have moved the old page.
        let old = self.ftl.mapping.as_ref().expect("translation pages exist").on_flash(page);
        if old != Ppa::NONE {
            self.ftl.release(old);
        }
        assert!(old != ppa, "a translation page is written to a new place");
        self.ftl.pages.set_lpa(ppa, Lpa::new(page));
        self.move_translation_page(page, ppa);
        self.follow(plane, at);
        let done = self.dies.work(self.dies.of(plane), at, self.dies.times.program);
        self.awaits_program(plane, done);
        Ok(())
    }

    /// Points the directory at the place of a translation page.
    pub(super) fn move_translation_page(&mut self, page: u32, ppa: Ppa) {
        self.ftl.mapping.as_mut().expect("translation pages exist").set_on_flash(page, ppa);
    }
}
