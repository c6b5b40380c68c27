//! The work of a drive without events, counted by flow.

/// Work done for a flow. Unit: pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowWork {
    /// Pages read for requests.
    pub host_reads: u64,
    /// Pages programmed for requests.
    pub host_programs: u64,
    /// Part of `host_programs`: writes for which the rest of the page was read first.
    pub read_modify_writes: u64,
    /// Pages read by collection.
    pub gc_reads: u64,
    /// Pages programmed by collection.
    pub gc_programs: u64,
    /// Translation pages programmed.
    pub mapping_programs: u64,
    /// Reads of pages that were never written.
    pub zero_fill_reads: u64,
    /// Translation pages read.
    pub mapping_reads: u64,
    /// Look-ups that found their entry in the cached mapping table.
    pub cmt_hits: u64,
    /// Look-ups that had to read a translation page.
    pub cmt_misses: u64,
    /// Pages that were asked of the data cache and were there.
    pub cache_hits: u64,
    /// Pages that were asked of the data cache and were not there.
    pub cache_misses: u64,
}

impl FlowWork {
    /// Work done after `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            host_reads: self.host_reads - before.host_reads,
            host_programs: self.host_programs - before.host_programs,
            read_modify_writes: self.read_modify_writes - before.read_modify_writes,
            gc_reads: self.gc_reads - before.gc_reads,
            gc_programs: self.gc_programs - before.gc_programs,
            mapping_programs: self.mapping_programs - before.mapping_programs,
            zero_fill_reads: self.zero_fill_reads - before.zero_fill_reads,
            mapping_reads: self.mapping_reads - before.mapping_reads,
            cmt_hits: self.cmt_hits - before.cmt_hits,
            cmt_misses: self.cmt_misses - before.cmt_misses,
            cache_hits: self.cache_hits - before.cache_hits,
            cache_misses: self.cache_misses - before.cache_misses,
        }
    }
}
