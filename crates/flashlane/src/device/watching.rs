//! Those who watch a run are told what happens. Nothing here changes it.

use flashlane_engine::Time;

use super::Device;
use crate::config::WorkloadConfig;
use crate::error::Error;
use crate::metrics::window::Edge;
use crate::observe::{Counters, Observed};

impl Device {
    /// A request is back at the host.
    pub(crate) fn keep_completion(&mut self, id: u32) {
        let Some(mut completions) = self.completions.take() else { return };
        let kept = completions.add(&self.requests[id], || self.page_count(id), self.now);
        self.completions = Some(completions);
        if let Err(error) = kept {
            self.fail(error);
        }
    }

    /// Has the run loop stop where the window of a series ends.
    pub(crate) fn start_rows(&mut self) {
        if let Some(at) = self.completions.as_ref().and_then(|completions| completions.row_end()) {
            self.recorder.window.set(Edge::Row, at);
        }
    }

    /// A window of a series is over.
    pub(super) fn row_ends(&mut self, at: Time) {
        // Nothing happens between that instant and the end of the window.
        let (counters, chips) = self.counters(Time(at.0 + 1));
        let Some(completions) = &mut self.completions else { return };
        match completions.row_ends(counters, &chips) {
            Ok(()) => self.start_rows(),
            Err(error) => self.fail(error),
        }
    }

    /// What the device has done up to `at`, and the chips that each flow may write to, where sets of chips move.
    fn counters(&self, at: Time) -> (Counters, Vec<Option<u32>>) {
        let free = self.ftl.free_blocks();
        let flash = &self.flash.counters;
        let counters = Counters {
            free_blocks_min: free.clone().min().unwrap_or(0),
            free_blocks: free.sum(),
            user_programs: flash.user_programs,
            gc_programs: flash.gc_programs,
            mapping_programs: flash.mapping_programs,
            erases: flash.erases,
            channels: self.flash.taken(at, &self.transactions).into_iter().map(u128::from).sum(),
            chips: self.flash.busy_chips(at).into_iter().map(u128::from).sum(),
        };
        let flows = 0..self.host.flows.len() as u16;
        (counters, flows.map(|flow| self.ftl.chips_of(flow)).collect())
    }

    /// The run is over: what was watched.
    ///
    /// # Errors
    /// Of the sink of request records.
    pub(crate) fn observed(&mut self, workload: &WorkloadConfig) -> Result<Observed, Error> {
        let mut observed = Observed::default();
        let names: Vec<String> = workload.flows.iter().map(|flow| flow.name.clone()).collect();
        if let Some(observer) = self.observer.take() {
            observer.finish(self.now, &names, &mut observed);
        }
        if let Some(completions) = self.completions.take() {
            let last = || self.counters(self.now);
            completions.finish(self.now, last, names, &mut observed)?;
        }
        Ok(observed)
    }
}
