//! Bit errors in a summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashlane_device::device::reading::FlowWork;
use flashlane_device::ftl::errors::ErrorCounts;

/// Bit errors of the flash. Pages of hosts, of collection and of the mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorSummary {
    /// Pages whose data was decoded.
    pub pages: u64,
    /// Pages that were read more than once.
    pub retried_pages: u64,
    /// Read retries.
    pub retries: u64,
    /// Read retries per page; 0 without pages.
    pub mean_retries: f64,
    /// Pages that needed soft decoding.
    pub soft_pages: u64,
    /// Reads for soft decoding.
    pub soft_reads: u64,
    /// Pages whose data no decoder could correct. Flashlane keeps no data, so the host gets an
    /// ordinary completion.
    pub lost_pages: u64,
    /// Blocks whose data was moved because of its errors (`errors.refresh_at`).
    pub refreshes: u64,
}

impl ErrorSummary {
    /// The counts between two readings.
    pub(crate) fn between(from: &ErrorCounts, to: &ErrorCounts) -> Self {
        let (pages, retries) = (to.pages - from.pages, to.retries - from.retries);
        Self {
            pages,
            retried_pages: to.retried_pages - from.retried_pages,
            retries,
            mean_retries: retries as f64 / pages.max(1) as f64,
            soft_pages: to.soft_pages - from.soft_pages,
            soft_reads: to.soft_reads - from.soft_reads,
            lost_pages: to.lost_pages - from.lost_pages,
            refreshes: to.refreshes - from.refreshes,
        }
    }
}

/// Pages that were read again for a flow: its reads, and those that complete its partial writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetrySummary {
    /// Pages that were read more than once.
    pub retried_pages: u64,
    /// Mean time from the first arrival of the data of such a page to the last: decoding that
    /// fails, commands, reads and transfers, and waiting for the channel. It is a part of the
    /// stages `flash_queue`, `flash_bus` and `flash_array`; 0 without such pages.
    pub mean_us: f64,
}

impl RetrySummary {
    pub(crate) fn of(work: &FlowWork) -> Self {
        let FlowWork { retried_pages, retry_time, .. } = *work;
        Self { retried_pages, mean_us: retry_time as f64 / retried_pages.max(1) as f64 / 1e6 }
    }
}
