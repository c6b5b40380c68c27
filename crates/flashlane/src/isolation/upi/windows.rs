//! The end of a window: what was counted becomes a decision.

use flashlane_engine::Time;

use super::Upi;
use super::utility::{StepRules, step};
use crate::ftl::blocks::Blocks;
use crate::metrics::summary::IsolationWindow;

/// Windows that the summary has room for.
const WINDOWS_MAX: usize = 1024;

impl Upi {
    /// Ends the windows that are over.
    #[inline]
    pub(super) fn tick(&mut self, blocks: &Blocks, now: Time) {
        if now >= self.window_end {
            self.end_windows(blocks, now);
        }
    }

    #[cold]
    fn end_windows(&mut self, blocks: &Blocks, now: Time) {
        let window = self.config.window.0;
        let ended = (now.0 - self.window_end.0) / window + 1;
        self.end_window(blocks);
        // In the windows after it nothing happened: they only make reads older.
        for _ in 0..ended.min(u64::from(16 * self.config.read_memory)) {
            for reads in &mut self.block_reads {
                *reads -= reads.div_ceil(self.config.read_memory);
            }
        }
        self.window_end = Time(self.window_end.0 + ended * window);
        self.counts.reads.fill(0.0);
        self.writes.fill(0);
        self.copies.fill(0);
    }

    /// The allocation step at the end of a window.
    fn end_window(&mut self, blocks: &Blocks) {
        for flow in 0..self.writes.len() {
            let (writes, copies) = (self.writes[flow] as f64, self.copies[flow] as f64);
            let mean = &mut self.amplification[flow];
            if writes > 0.0 {
                *mean += self.config.amplification_gain * (1.0 + copies / writes - *mean);
            }
            self.counts.programs[flow] = writes * *mean;
        }
        self.counts.assume_reads(&self.sets);
        self.summary.utilities = self.counts.utilities(&self.sets);
        let rules = StepRules { hysteresis: self.config.hysteresis, settle: self.config.settle };
        let held = |chip| self.planes_of(chip).map(|plane| u64::from(blocks.held(plane))).sum();
        let wanted = step(&self.counts, &self.sets, rules, held);
        if let Some(transfer) = wanted
            && self.keeps_room(transfer.from, transfer.chip, blocks)
        {
            self.summary.transfers += 1;
            self.transfer(transfer.chip, transfer.to);
        }
        self.record_window();
    }

    /// What the summary keeps of a window: every one at first, fewer as the run goes on.
    fn record_window(&mut self) {
        self.since += 1;
        if self.since < self.stride {
            return;
        }
        self.since = 0;
        let windows = &mut self.summary.windows;
        windows.push(IsolationWindow {
            end_s: self.window_end.as_s(),
            chips: (0..self.writes.len()).map(|flow| self.sets.size(flow) as u32).collect(),
            utilities: self.summary.utilities.clone(),
        });
        if windows.len() == WINDOWS_MAX {
            let mut index = 0;
            windows.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
    }
}
