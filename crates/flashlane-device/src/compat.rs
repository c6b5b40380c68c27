//! Switches to the released MQSim's arithmetic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switches to the released MQSim's arithmetic, so that its numbers can be checked one by one.
/// `--compat mqsim` turns all of them on. None of them reproduces lost requests, hangs or crashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompatConfig {
    /// A submission queue entry is 72 bytes on the link (compiler padding) instead of 64.
    pub padded_sqe: bool,
    /// No firmware time and no limit on commands between fetch and firmware.
    pub zero_firmware_time: bool,
    /// A chip takes a command only when all its dies are idle, and the oldest transaction of the
    /// class decides the die. There is no die-level parallelism inside a chip.
    pub one_die_per_dispatch: bool,
    /// `priority-out-of-order` rotates over the classes below `urgent` once for each chip and
    /// operation, not by credits of each die. The rotation moves with every look at a chip, whether
    /// the chip can take a command or not, and may end before it comes to the class `low`. With
    /// `one_die_per_dispatch`.
    pub class_rotation: bool,
    /// `out-of-order` and `priority-out-of-order` have no limit of age, and search their whole
    /// queues for pages that other planes can do at the same time. If several transactions entered
    /// a queue at one time, the first is the oldest. Reads of hosts join reads of mapping.
    pub strict_queues: bool,
    /// Two beats of the channel last 2 * trunc(1000 / (MT/s)) ns instead of the exact time.
    pub truncated_bus_clock: bool,
    /// A read of a never-written page costs a flash read, at a page that is given in the order of
    /// such reads. Only the sectors of that first read count as present for partial writes.
    pub flash_unwritten_reads: bool,
    /// DRAM access time by MQSim's formula (rows halved, delays charged once).
    pub dram_formula: bool,
    /// Random draws by MQSim's generator, draw for draw, and flows are started in the order in
    /// which the released MQSim's hash table of objects holds them. It depends on the numbers of
    /// channels, chips and flows. Only for flows that come from MQSim XML.
    pub random_generators: bool,
    /// Requests are cut at the page boundaries of the device, and their addresses are aligned to
    /// the device. Pages are still counted from the first sector of their flow. If that sector is
    /// no multiple of a page, one page of flash may get two parts of a request.
    pub device_page_cuts: bool,
    /// A request that reaches over the end of its flow is not moved back. From the next page of the
    /// device on, it continues at its device address modulo the length of the flow.
    pub wrapped_requests: bool,
    /// PCIe transfer times are cut to whole nanoseconds. A read whose command arrives at the time
    /// of other events begins after them.
    pub truncated_link_time: bool,
    /// Multi-plane programs may pair pages out of the order of their block, and reads do not wait
    /// for the program of their page.
    pub unordered_programs: bool,
    /// Work that the end of an operation frees is offered to the channel before the die counts as
    /// idle, and once for every page of the command. The read of a translation page is sent as soon
    /// as it is asked for, before other pages of the request. What its data sets free is offered to
    /// its own channel last.
    pub scan_at_once: bool,
    /// A page leaves the data cache as soon as it is on flash, unless another request wrote it
    /// again. In that case the end of the write-back counts as a use of the page.
    pub cache_drops_written: bool,
    /// Pages count as written before since the first write after the last whole `cache.hot_epoch`.
    /// The end of an epoch is noticed only for the flow that writes at that time, even if the write
    /// has to wait. The first write ends an epoch.
    pub cache_milestones: bool,
    /// A write-back that starts at once carries only the sectors of its write, not all cached
    /// sectors of the page.
    pub cache_writes_alone: bool,
    /// Write-backs of evicted pages belong to the class `urgent`, whatever their flow.
    pub urgent_evictions: bool,
    /// The least recently used page leaves a full data cache although its write-back is under way.
    pub cache_drops_leaving: bool,
    /// Reads fill the data cache only with pages that were written, in the run or before it. All
    /// others of a flow fill one place, and only the first of them takes time of the memory.
    pub cache_fills_written: bool,
    /// The data cache starts empty.
    pub cold_cache: bool,
    /// A partial write gets its page at once, and is queued before the read of the old data. It
    /// then waits for that read in the queue.
    pub partial_writes_in_queue: bool,
    /// A shared mapping cache has its whole capacity for every flow.
    pub cmt_per_flow: bool,
    /// Every whole translation page is on flash from the start, also on an empty drive.
    pub translation_pages_from_start: bool,
    /// A miss takes its place in the mapping cache, and evicts an entry, when it starts to wait.
    /// Transactions that wait for a translation page go on page by page, in the order of the first
    /// misses.
    pub cmt_reserves: bool,
    /// A mapping read moves 512 B. A mapping read that merges a page moves the sectors of which
    /// unchanged entries are cached.
    pub short_mapping_reads: bool,
    /// Mapping write-backs read the old page and are never programmed. The entries of a page that
    /// was written back once stay known.
    pub unprogrammed_mapping: bool,
    /// Preconditioned data lies anywhere in a flow's space, unless the flow touches more than it
    /// holds; the mapping cache starts with entries of the lowest of these pages.
    pub scattered_occupancy: bool,
    /// Waiting read data goes before every command on a channel: the dies of a busy channel run in
    /// step, and its bus idles for one tR a round. Mapping data goes before data of users, and data
    /// of users before data of collection, however long these wait.
    pub data_before_commands: bool,
    /// Programs and erases are never suspended.
    pub no_suspension: bool,
    /// Every flow takes its open blocks on each of its planes at the start (host data, translation
    /// pages, moved pages), and the next one as soon as a block is full. Blocks without data stay
    /// free if a nearly full plane would otherwise have none left for collection.
    pub frontiers_at_start: bool,
    /// Collection starts once for each block taken while a plane has fewer free blocks than the
    /// threshold, for up to ten blocks at a time; an erase that leaves fewer than ten free blocks
    /// starts another one.
    pub collection_per_block: bool,
    /// Static wear levelling compares numbers of blocks in place of their erases: after each erase,
    /// the number of the first block with the most erases and of the first with the fewest. It acts
    /// where the first is greater by the threshold, or smaller.
    pub leveling_by_number: bool,
    /// A run may start although some planes have no room for all data of their flows, for example
    /// those that flows share in part. If it fills such a plane, it ends with an error.
    pub planes_may_fill: bool,
    /// Host writes of a chip wait while urgent collection has blocks there whose erase has not
    /// started. With hybrid mapping they wait only when nothing but the erase is left: a merge may
    /// have to wait for host writes.
    pub writes_wait_for_erases: bool,
    /// At the start, a random flow of MQSim's files holds the pages that its first requests touch,
    /// at most 90 % of its space. The run then writes only pages that are there already. If it
    /// would touch too few pages, the requests are drawn from its whole space. A flow with hot
    /// pages, at most 30 %, holds these and the first others that it touches. With
    /// `random_generators`.
    pub occupied_by_own_requests: bool,
    /// A page that preconditioning fills holds one sector, the first of an access. A write of this
    /// sector needs no old data; a write without it has to merge.
    pub first_sectors_only: bool,
    /// Preconditioning leaves half as many free blocks as the threshold of collection, and the
    /// fullest blocks count as the oldest.
    pub fullest_blocks_oldest: bool,
    /// Preconditioning takes the release's steady state of every flow, and rounds the number of
    /// blocks with each number of valid pages down. Pages for which no block is left go to more of
    /// the fullest blocks, so that some blocks stay free. The highest pages lie in the fullest
    /// blocks, in front of what is invalid.
    pub rounded_block_counts: bool,
    /// Commands, data and completions of a SATA drive cross the PCIe link, as messages of NVMe.
    pub sata_over_pcie: bool,
    /// A SATA drive has `interface.queue_depth - 1` places instead of its tags, and a place is free
    /// again as soon as a completion reports that its command was fetched.
    pub sata_tags_freed_on_fetch: bool,
    /// A SATA drive sees one stream of commands: pages are those of the whole drive and take turns
    /// on its planes. All flows share write frontiers, mapping cache and data cache. The data cache
    /// works for all of them as the first flow asks. Not with hybrid mapping.
    pub sata_one_stream: bool,
    /// `--format mqsim-xml` writes rates over whole seconds of the whole run, times truncated to
    /// whole microseconds, and `-nan` for empty averages. Changes no other output.
    pub reporting: bool,
}

impl CompatConfig {
    /// All switches on, as with `--compat mqsim`.
    #[must_use]
    pub fn mqsim() -> Self {
        Self {
            padded_sqe: true,
            zero_firmware_time: true,
            one_die_per_dispatch: true,
            class_rotation: true,
            strict_queues: true,
            truncated_bus_clock: true,
            flash_unwritten_reads: true,
            dram_formula: true,
            random_generators: true,
            device_page_cuts: true,
            wrapped_requests: true,
            truncated_link_time: true,
            unordered_programs: true,
            scan_at_once: true,
            cache_drops_written: true,
            cache_milestones: true,
            cache_writes_alone: true,
            urgent_evictions: true,
            cache_drops_leaving: true,
            cache_fills_written: true,
            cold_cache: true,
            partial_writes_in_queue: true,
            cmt_per_flow: true,
            translation_pages_from_start: true,
            cmt_reserves: true,
            short_mapping_reads: true,
            unprogrammed_mapping: true,
            scattered_occupancy: true,
            data_before_commands: true,
            no_suspension: true,
            frontiers_at_start: true,
            collection_per_block: true,
            leveling_by_number: true,
            planes_may_fill: true,
            writes_wait_for_erases: true,
            occupied_by_own_requests: true,
            first_sectors_only: true,
            fullest_blocks_oldest: true,
            rounded_block_counts: true,
            sata_over_pcie: true,
            sata_tags_freed_on_fetch: true,
            sata_one_stream: true,
            reporting: true,
        }
    }
}
