//! The cached mapping table without time: what leaves it changed is written back at once.

use flashlane_engine::NONE;

use super::Untimed;
use crate::error::Error;
use crate::ftl::blocks::Stream;
use crate::ftl::mapping::Evicted;

impl Untimed {
    /// Looks up the mapping of a page.
    #[inline]
    pub(super) fn look_up(&mut self, flow: u16, lpa: u32) {
        let Some(table) = &mut self.ftl.mapping else {
            self.work[flow as usize].cmt_hits += 1;
            return;
        };
        let work = &mut self.work[flow as usize];
        if table.knows(flow, lpa) {
            work.cmt_hits += 1;
        } else {
            work.cmt_misses += 1;
            work.mapping_reads += u64::from(table.on_flash(table.page_of(flow, lpa)) != NONE);
        }
        let leaves = table.recall(flow, lpa, false);
        self.leaves_table(leaves);
    }

    /// The mapping of a page changed.
    #[inline]
    pub(super) fn mapping_changed(&mut self, flow: u16, lpa: u32) {
        let Some(table) = &mut self.ftl.mapping else { return };
        let leaves = table.recall(flow, lpa, true);
        self.leaves_table(leaves);
    }

    /// A changed entry left the table: its translation page is written back soon. What leaves before that
    /// goes along.
    fn leaves_table(&mut self, entry: Option<Evicted>) {
        if let Some(Evicted { flow, page, .. }) = entry
            && !self.write_backs.contains(&(flow, page))
        {
            self.write_backs.push_back((flow, page));
        }
    }

    /// Writes back what left the table, until nothing is left to do.
    #[inline]
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        while let Some((flow, page)) = self.write_backs.pop_front() {
            self.write_back(flow, page)?;
        }
        Ok(())
    }

    fn write_back(&mut self, flow: u16, page: u32) -> Result<(), Error> {
        let table = self.ftl.mapping.as_mut().expect("translation pages exist");
        table.writebacks += 1;
        let index = table.index_in_flow(flow, page);
        let work = &mut self.work[flow as usize];
        work.mapping_reads += u64::from(table.on_flash(page) != NONE);
        work.mapping_programs += 1;
        let plane = self.ftl.allocator.translation_plane(flow, index);
        let ppa = loop {
            match self.ftl.blocks.allocate_at_once(plane, flow, Stream::Mapping, false) {
                Some(ppa) => break ppa,
                None => self.make_room(plane)?,
            }
        };
        let old = self.ftl.mapping.as_ref().expect("translation pages exist").on_flash(page);
        if old != NONE {
            self.invalidate(old);
        }
        self.ftl.pages.set_lpa(ppa, page);
        self.move_translation_page(page, ppa);
        self.programmed(plane);
        self.follow(plane);
        Ok(())
    }

    /// Points the directory at the place of a translation page.
    pub(super) fn move_translation_page(&mut self, page: u32, ppa: u32) {
        self.ftl.mapping.as_mut().expect("translation pages exist").set_on_flash(page, ppa);
    }
}
