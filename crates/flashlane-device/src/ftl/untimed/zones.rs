//! Zones without time: programs are over at once, so a superblock that a zone leaves is closed at
//! once.

use flashlane_units::{FlowId, Handle, Lpa};

use super::{HostPage, Untimed};
use crate::ftl::blocks::Stream;
use flashlane_reading::Error;

impl Untimed {
    /// The host writes a page: [`Self::write`] for callers that seldom write.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`].
    #[inline(never)]
    pub fn write_seldom(&mut self, page: &HostPage) -> Result<u64, Error> {
        self.write(page)
    }

    /// A zone is no longer active, and its superblock may not be full. `lpa`: a page of the zone.
    pub fn leave_zone(&mut self, flow: FlowId, lpa: Lpa, handle: Handle) {
        if handle == Handle::NONE {
            return;
        }
        let stream = Stream::placed(handle, false);
        let (plane, _) = self.ftl.allocator.home(flow, lpa);
        self.ftl.complete_row(plane, FlowId::new(0), stream);
        self.ftl.detach_superblock(plane, stream);
        self.ftl.close_left();
    }

    /// Pages that the host did not write were programmed: they fill a zone. Their number.
    pub fn not_of_host(&mut self, flow: FlowId, pages: u64) {
        let work = &mut self.work[flow.index()];
        assert!(work.host_programs >= pages, "they were counted as the host's");
        work.host_programs -= pages;
        work.gc_programs += pages;
    }
}
