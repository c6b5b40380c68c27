//! The flow that a collection is charged to: one whose writes use up the blocks.

use flashlane_engine::place_of;
use flashlane_units::{FlowId, JobId, PlaneId};

use flashlane_config::{DeviceConfig, MappingKind};
use flashlane_device::transaction::{Source, Transaction};

/// Accounts of pages written, by plane and flow, and the flow that each collection job is charged
/// to.
#[derive(Clone, Debug)]
pub(crate) struct Credits {
    flows: usize,
    /// Pages written, less pages that collections freed.
    written: Vec<i64>,
    /// By job.
    jobs: Vec<FlowId>,
    pages_per_block: i64,
    /// True if collection has jobs with numbers.
    by_page: bool,
}

impl Credits {
    /// Credits of a drive on which nothing is written yet.
    pub(crate) fn of(device: &DeviceConfig, flows: usize) -> Self {
        let by_page = device.ftl.mapping.kind != MappingKind::Hybrid;
        let geometry = device.geometry();
        Self::new(flows, geometry.planes(), geometry.pages_per_block, by_page)
    }

    /// Credits without writes. With hybrid mapping (`by_page` false) merges belong to the owner of
    /// the page.
    pub(crate) fn new(flows: usize, planes: u32, pages_per_block: u32, by_page: bool) -> Self {
        Self {
            flows,
            written: vec![0; flows * planes as usize],
            jobs: Vec::new(),
            pages_per_block: i64::from(pages_per_block),
            by_page,
        }
    }

    /// Counts a page that a flow wrote on a plane, of its data or of its mapping.
    pub(crate) fn wrote(&mut self, plane: PlaneId, flow: FlowId) {
        self.written[plane.index() * self.flows + flow.index()] += 1;
    }

    /// Notes the start of a collection on a plane. `owner`: the flow of the block. `valid`: its
    /// valid pages.
    pub(crate) fn job_starts(&mut self, plane: PlaneId, job: JobId, owner: FlowId, valid: u32) {
        let accounts = &mut self.written[plane.index() * self.flows..][..self.flows];
        let ahead = (0..self.flows).rev().max_by_key(|&flow| accounts[flow]).unwrap_or(0);
        // Before the first write, collection empties blocks that were full at the start.
        let culprit = if accounts[ahead] > 0 { FlowId::at(ahead) } else { owner };
        accounts[culprit.index()] -= self.pages_per_block - i64::from(valid);
        let at = place_of(job);
        if at >= self.jobs.len() {
            self.jobs.resize(at + 1, FlowId::new(0));
        }
        self.jobs[at] = culprit;
    }

    /// The flow that a transaction is charged to. Collection belongs to the flows whose writes use
    /// up the blocks.
    #[inline]
    pub(crate) fn culprit_of(&self, tr: &Transaction) -> FlowId {
        if tr.source == Source::Gc { self.culprit(tr.job(), tr.flow) } else { tr.flow }
    }

    /// The flow that the work of a job on a page of `owner` is charged to.
    pub(crate) fn culprit(&self, job: JobId, owner: FlowId) -> FlowId {
        if self.by_page { self.jobs.get(place_of(job)).copied().unwrap_or(owner) } else { owner }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_go_to_the_writers_in_proportion() {
        let mut credits = Credits::new(3, 2, 10, true);
        credits.job_starts(PlaneId::new(0), JobId::new(0), FlowId::new(2), 4);
        assert_eq!(
            credits.culprit(JobId::new(0), FlowId::new(1)),
            FlowId::new(2),
            "nobody wrote: the owner"
        );
        let mut jobs = [0; 3];
        for turn in 0..600 {
            // Twice as many pages of flow 1 as of flow 0; blocks are flow 2's.
            credits.wrote(PlaneId::new(1), FlowId::new(u16::from(turn % 3 > 0)));
            if turn % 5 == 4 {
                credits.job_starts(PlaneId::new(1), JobId::new(7), FlowId::new(2), 5);
                jobs[credits.culprit(JobId::new(7), FlowId::new(2)).index()] += 1;
            }
        }
        assert_eq!(jobs, [40, 80, 0]);
        let hybrid = Credits::new(3, 2, 10, false);
        assert_eq!(hybrid.culprit(JobId::new(0), FlowId::new(1)), FlowId::new(1));
    }
}
