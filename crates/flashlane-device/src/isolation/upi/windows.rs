//! The end of a window: its counts lead to a decision.

use flashlane_engine::Time;

use super::utility::{StepRules, step};
use super::{READ_UNIT, Upi, UpiConfig};
use crate::ftl::blocks::Blocks;
use crate::ftl::moving::IsolationWindow;

/// Most windows that the summary keeps.
const WINDOWS_MAX: usize = 1024;

/// Mean number of pages that a flow must write in a window before its write amplification counts.
const WRITES_MIN: f64 = 0.01;

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
        assert!(ended >= 1, "a window is over");
        self.end_window(blocks);
        // Nothing happened in the windows after the first: they only make reads older.
        let memory = self.config.read_memory;
        for _ in 0..ended.min(u64::from(READ_UNIT as u32 * memory)) {
            for reads in &mut self.block_reads {
                *reads -= reads.div_ceil(memory);
            }
        }
        self.past.skip(ended - 1);
        self.window_end += Time(ended.saturating_mul(window));
        assert!(self.window_end > now, "the present window is not over");
        self.writes.fill(0);
        self.copies.fill(0);
    }

    /// The allocation step at the end of a window.
    fn end_window(&mut self, blocks: &Blocks) {
        for flow in 0..self.writes.len() {
            let (writes, copies) = (self.writes[flow] as f64, self.copies[flow] as f64);
            let gain = self.config.amplification_gain;
            self.mean_writes[flow] += gain * (writes - self.mean_writes[flow]);
            self.mean_copies[flow] += gain * (copies - self.mean_copies[flow]);
            self.counts.programs[flow] = writes * self.amplification(flow);
            debug_assert!(self.counts.programs[flow] >= writes, "each write is a program");
        }
        self.past.estimate(&mut self.counts.reads);
        self.counts.assume_reads(&self.sets);
        self.average_block_reads(blocks);
        self.summary.utilities = self.counts.utilities(&self.sets);
        let UpiConfig { hysteresis, settle, fewest_reads, .. } = self.config;
        let rules = StepRules { hysteresis, settle, fewest_reads };
        let held = |chip| self.planes_of(chip).map(|plane| u64::from(blocks.held(plane))).sum();
        let wanted = step(&self.counts, &self.sets, rules, held);
        if let Some(transfer) = wanted
            && self.keeps_room(transfer.from, Some(transfer.chip), blocks)
        {
            self.summary.transfers += 1;
            self.transfer(transfer.chip, transfer.to);
        }
        self.record_window();
    }

    /// Programs of a flow for each page that it writes, `WAF`. It uses the running means, since a
    /// window with few writes tells little. 1 for a flow that hardly writes.
    pub(super) fn amplification(&self, flow: usize) -> f64 {
        let writes = self.mean_writes[flow];
        if writes < WRITES_MIN { 1.0 } else { 1.0 + self.mean_copies[flow] / writes }
    }

    /// The mean reads of the blocks that hold data of each flow.
    fn average_block_reads(&mut self, blocks: &Blocks) {
        if self.config.relocation == 0.0 {
            return;
        }
        let mut sums = vec![(0_u64, 0_u64); self.writes.len()];
        for (block, &reads) in blocks.numbers().zip(&self.block_reads) {
            let block = blocks.block(block);
            if block.valid > 0 && block.stream.is_data() {
                let (sum, count) = &mut sums[block.flow.index()];
                *sum += u64::from(reads);
                *count += 1;
            }
        }
        for (mean, (sum, count)) in self.mean_block_reads.iter_mut().zip(sums) {
            *mean = sum as f64 / count.max(1) as f64;
        }
    }

    /// Records a window for the summary: every window at first, fewer as the run goes on.
    fn record_window(&mut self) {
        self.summary.ended_windows += 1;
        self.since += 1;
        if self.since < self.stride {
            return;
        }
        self.since = 0;
        let windows = &mut self.summary.windows;
        windows.push(IsolationWindow {
            end_s: self.window_end.as_s(),
            chips: (0..self.writes.len()).map(|flow| self.sets.size(flow) as u32).collect(),
            owners: self.sets.all().map(|chip| self.sets.owner(chip).map(|f| f as u32)).collect(),
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
