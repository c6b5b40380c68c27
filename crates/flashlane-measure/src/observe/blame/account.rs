//! The accounts behind the blame matrix.
//!
//! Dies, channels and the memory of the cache keep logs of their work. A request notes the spans in
//! which its critical path waited; when the request is over, these spans are looked up in the logs.
//! Waits for places (see [`Places`]) are charged in blocks of requests.

use flashlane_engine::{Handle, Table, Use, place_of};
use flashlane_units::{FlowId, Lpa, RequestId, TransactionId};

use flashlane_config::{CommandBus, DeviceConfig, InterfaceKind, Sharing, WorkloadConfig};

pub(crate) use super::charge::Obstacle;
use super::charge::{Logs, Wait, cell};
use super::flash::FlashWaits;
use super::place::Places;
use super::planes::PlaneLogs;
use super::shadow::{ShadowPage, ShadowRequest, Shadows};
use super::weights::Weights;
use crate::observe::completion_hook::Parts;
use flashlane_device::cause::{CAUSES, Cause};

/// Requests whose waits for places are charged together.
const BLOCK: u64 = 1024;

/// The waits of a transaction. Waits of translation pages are spans, since others wait for a part
/// of them; all other waits are charges.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransactionWaits {
    pub(crate) waits: Vec<Wait>,
    /// Cells and times.
    pub(super) charges: Vec<(u32, u64)>,
    /// End of the last wait.
    pub(super) last: u64,
    /// Time in the scheduler's queue, for the bus and suspended, as far as it was noted.
    pub(crate) queue_noted: u64,
    /// The part of its other waits that is charged to its own flow.
    pub(super) own: u64,
    pub(super) shadow: ShadowPage,
    /// Number of charges when other units began to ride on its page.
    pub(super) own_charges: usize,
}

/// The waits of a request that is not over.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestWaits {
    /// Charges of the part of the device work that ended last: cells and times.
    charges: Vec<(u32, u64)>,
    /// The part of the waits, other than for dies and channels, that is charged to the flow itself.
    own: u64,
    pub(super) shadow: ShadowRequest,
    /// True if the request took the last place that its queue has in the device.
    pub(crate) at_limit: bool,
    /// True if a limit of the flow's rate held the request back in the device.
    pub(crate) held_back: bool,
    /// Time for which a limit held the request back in the host. Unit: picoseconds.
    pub(crate) held_in_host: u64,
    /// The last access to the memory of the cache: when it was asked for, and when it began.
    pub(crate) dram: Option<(u64, u64)>,
    /// Own work in the firmware, where the processors are modelled; otherwise 0. Unit: picoseconds.
    pub(crate) firmware: u64,
    /// Time until which the served request waited for a place in the completion queue; otherwise 0.
    pub(crate) held_until: u64,
}

/// Sums of a victim. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Victim {
    pub(super) requests: u64,
    pub(super) end_to_end: u128,
    pub(super) waiting: u128,
}

/// The accounts.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(super) flows: usize,
    /// True for causes that the run cannot have.
    pub(super) left_out: [bool; CAUSES],
    pub(crate) logs: Logs,
    /// The flow that pushed an entry out of the cached mapping table, in two bytes for each logical
    /// page: a flow plus one, 0 for none. `None` without such a table.
    evictors: Option<Table>,
    pub(super) transactions: Vec<TransactionWaits>,
    requests: Vec<RequestWaits>,
    /// By victim and cell. Unit: picoseconds.
    pub(super) matrix: Vec<u128>,
    pub(super) victims: Vec<Victim>,
    /// The charges of the request that is being settled.
    pub(super) charges: Weights,
    /// By flow.
    pub(super) flash: Vec<FlashWaits>,
    /// Waits of pages on their way from the data cache to flash, by flow.
    pub(super) write_backs: Vec<FlashWaits>,
    pub(super) shadows: Shadows,
    /// Waits for room in the data cache, by pool.
    pub(super) rooms: Vec<Places>,
    pub(super) arbitration: Places,
    pub(super) link: Places,
    pub(super) firmware: Places,
    /// Waits for places in the device, by flow; a single entry where the drive has one queue.
    pub(super) fetch: Vec<Places>,
    pub(super) host: Vec<Places>,
    /// Requests since the last block.
    in_block: u64,
    /// Requests since logs were last trimmed.
    untrimmed: u64,
}

impl Account {
    /// Accounts of a run in which nothing has happened.
    pub(crate) fn of(
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        logical_pages: u64,
        open_loops: &[bool],
    ) -> Self {
        let flows = workload.flows.len();
        let pools = if device.cache.sharing == Sharing::Shared { 1 } else { flows };
        let queues = if device.interface.kind == InterfaceKind::Sata { 1 } else { flows };
        let flash = &device.flash;
        let dies_per_channel = flash.chips_per_channel * flash.dies_per_chip;
        let evictors = device
            .ftl
            .mapping
            .is_cached()
            .then(|| Table::new(logical_pages.div_ceil(2) as usize, Use::Sparse));
        let mut made = Self::new(flows, pools, queues, flash.channels, dies_per_channel);
        made.evictors = evictors;
        made.left_out[Cause::Retry as usize] = device.errors.is_none();
        made.left_out[Cause::RateLimit as usize] = !workload.limits_rates();
        let dies = (flash.channels * dies_per_channel) as usize;
        made.shadows = Shadows::new(open_loops, dies, flash.channels as usize);
        if flash.independent_plane_reads {
            let planes = flash.planes_per_die as usize;
            made.logs.planes = Some(PlaneLogs::new(dies, planes));
            made.shadows.read_by_plane(planes, flash.cache_read);
        }
        if flash.command_bus == CommandBus::Separate {
            made.separate_commands();
        }
        made
    }

    pub(super) fn new(
        flows: usize,
        pools: usize,
        queues: usize,
        channels: u32,
        dies_per_channel: u32,
    ) -> Self {
        let cells = (flows + 1) * CAUSES;
        let places = Places::new(flows, cells);
        Self {
            flows,
            left_out: [false; CAUSES],
            logs: Logs::new(channels, dies_per_channel, flows),
            evictors: None,
            transactions: Vec::new(),
            requests: Vec::new(),
            matrix: vec![0; flows * cells],
            victims: vec![Victim::default(); flows],
            charges: Weights::new(cells),
            flash: vec![FlashWaits::new(cells); flows],
            write_backs: vec![FlashWaits::new(cells); flows],
            shadows: Shadows::new(
                &vec![false; flows],
                (channels * dies_per_channel) as usize,
                channels as usize,
            ),
            rooms: vec![places.clone(); pools],
            arbitration: places.clone(),
            link: places.clone(),
            firmware: places.clone(),
            fetch: vec![places.clone(); queues],
            host: vec![places; queues],
            in_block: 0,
            untrimmed: 0,
        }
    }

    /// The culprit of waits that no flow causes.
    pub(crate) fn device(&self) -> FlowId {
        self.logs.device
    }

    /// The waits of a request that were noted.
    pub(crate) fn request(&mut self, id: RequestId) -> &mut RequestWaits {
        slot(&mut self.requests, id)
    }

    /// Notes that a flow pushed the entry of a page out of the cached mapping table.
    pub(crate) fn evicted(&mut self, lpa: Lpa, flow: FlowId) {
        if let Some(evictors) = &mut self.evictors {
            let (word, shift) = (lpa.get() / 2, lpa.get() % 2 * 16);
            let others = evictors.get(word) & !(0xffff << shift);
            evictors.set(word, others | (u32::from(flow.get()) + 1) << shift);
        }
    }

    /// The flow that caused a miss: the flow that pushed the entry out, or else `flow` itself.
    pub(crate) fn evictor(&self, lpa: Lpa, flow: FlowId) -> FlowId {
        let Some(evictors) = &self.evictors else { return flow };
        let known = evictors.get(lpa.get() / 2) >> (lpa.get() % 2 * 16) & 0xffff;
        known.checked_sub(1).map_or(flow, |flow| FlowId::new(flow as u16))
    }

    /// Ends a transaction of a request, as far as the request's device work goes.
    pub(crate) fn part_ends(&mut self, request: RequestId, id: TransactionId) {
        let record = slot(&mut self.transactions, id);
        let request = slot(&mut self.requests, request);
        std::mem::swap(&mut request.charges, &mut record.charges);
        request.own = record.own;
        self.forget(id);
    }

    /// Notes work of the processors for the drive itself, on behalf of a flow.
    pub(crate) fn works(&mut self, flow: FlowId, cause: Cause, ps: u64) {
        self.firmware.held.add(cell(flow, cause), ps);
    }

    /// Settles a request that is over.
    pub(crate) fn close(&mut self, id: RequestId, who: Who, parts: &Parts) {
        let Who { flow, counted, queue, pool } = who;
        let record = std::mem::take(slot(&mut self.requests, id));
        let times = (parts.whole, parts.queue);
        let alone = self.shadows.over(flow, &record.shadow, parts.served, times);
        let charges = &mut self.charges;
        if parts.flash > 0 {
            let flash = &mut self.flash[flow.index()];
            flash.alone += u128::from(alone + record.own);
            flash.counted += if counted { u128::from(parts.flash) } else { 0 };
            let before = flash.charges.total();
            record.charges.iter().for_each(|&(cell, ps)| flash.charges.add(cell, ps));
            let noted = flash.charges.total() - before;
            assert_eq!(noted, u128::from(parts.flash), "every wait of the critical path is noted");
        }
        if let Some((asked, begun)) = record.dram.filter(|_| parts.memory > 0) {
            self.logs.charge_dram(asked, begun, charges);
        }
        let inside = charges.total() as u64;
        let [link, firmware, room] = [parts.link_in, parts.firmware, parts.room];
        let work = parts.device - inside - parts.flash - link - firmware - room;
        let (fetch, host) = (&mut self.fetch[queue].held, &mut self.host[queue].held);
        fetch.add(cell(flow, Cause::FetchLimit), work);
        charges.list().iter().for_each(|&(cell, ps)| fetch.add(cell, ps));
        charges.add(cell(flow, Cause::CompletionQueue), parts.completion);
        let held_back = if record.held_back { parts.submission } else { 0 };
        charges.add(cell(flow, Cause::RateLimit), held_back + record.held_in_host);
        charges.list().iter().for_each(|&(cell, ps)| host.add(cell, ps));
        let placed = link + firmware + room + parts.submission + parts.link_out;
        let waiting = inside + parts.flash + parts.completion + placed + parts.host;
        let in_host = parts.host - record.held_in_host;
        host.add(cell(flow, Cause::HostQueue), parts.whole - waiting);
        if counted {
            let cells = self.matrix.len() / self.flows;
            let row = &mut self.matrix[flow.index() * cells..];
            for &(cell, ps) in charges.list() {
                row[cell as usize] += ps;
            }
            let victim = &mut self.victims[flow.index()];
            victim.requests += 1;
            victim.end_to_end += u128::from(parts.whole);
            victim.waiting += u128::from(waiting);
        }
        charges.clear();
        self.rooms[pool].wait(flow, room, counted);
        self.link.wait(flow, link + parts.link_out, counted);
        self.firmware.wait(flow, firmware, counted);
        let queued = if record.at_limit { &mut self.fetch[queue] } else { &mut self.arbitration };
        queued.wait(flow, parts.submission - held_back, counted);
        self.host[queue].wait(flow, in_host, counted);
        self.link.held.add(cell(flow, Cause::Link), parts.link_work);
        self.firmware.held.add(cell(flow, Cause::Firmware), parts.firmware_work);
        self.arbitration.held.add(cell(flow, Cause::Arbitration), parts.fetching);
        let mut charges = record.charges;
        charges.clear();
        *slot(&mut self.requests, id) = RequestWaits { charges, ..RequestWaits::default() };
        self.in_block += 1;
        self.untrimmed += 1;
    }

    /// True if it is time to end a block.
    pub(crate) fn block_is_full(&self) -> bool {
        self.in_block >= BLOCK
    }

    /// True if it is time to trim the logs. Finding out what may be forgotten takes a look at all
    /// that waits. To keep this cheap for each request, at least as many requests must have ended
    /// since the last time.
    pub(crate) fn trims(&self, outstanding: usize) -> bool {
        self.untrimmed >= outstanding as u64
    }

    /// Forgets everything before `oldest`.
    pub(crate) fn trim(&mut self, oldest: u64) {
        self.untrimmed = 0;
        let Logs { dies, channels, command_buses, planes, dram, .. } = &mut self.logs;
        let planes = planes.iter_mut().flat_map(|planes| &mut planes.logs);
        let buses = channels.iter_mut().chain(command_buses.iter_mut().flatten());
        for log in dies.iter_mut().chain(buses).chain(planes).chain([dram]) {
            log.trim(oldest);
        }
    }

    /// Charges the waits for places.
    pub(crate) fn end_block(&mut self) {
        self.in_block = 0;
        self.settle_write_backs();
        let Self { flows, matrix, rooms, arbitration, link, firmware, fetch, host, .. } = self;
        let (waits, logs, parts) = (&mut self.flash, &self.logs, &mut self.charges);
        let cells = matrix.len() / *flows;
        let one_queue = fetch.len() == 1;
        let queue = |flow: FlowId| if one_queue { 0 } else { flow.index() };
        let mut inside: Vec<(FlowId, u32, u128)> = Vec::new();
        let mut outside: Vec<(FlowId, u32, u128)> = Vec::new();
        let mut charge = |flow: FlowId, cell: u32, counted: u128| {
            matrix[flow.index() * cells + cell as usize] += counted;
        };
        for (id, flash) in (0..).map(FlowId::new).zip(waits) {
            flash.settle(id, logs.device, parts, |cell, counted, all| {
                charge(id, cell, counted);
                if all > 0 {
                    inside.push((id, cell, all));
                }
            });
        }
        let shared = rooms.iter_mut().map(|places| (places, Cause::CacheRoom));
        let shared = shared.chain([(link, Cause::Link), (firmware, Cause::Firmware)]);
        for (places, cause) in shared {
            places.share_out(
                |flow| cell(flow, cause),
                |flow, cell, counted, all| {
                    charge(flow, cell, counted);
                    inside.push((flow, cell, all));
                },
            );
        }
        for &(flow, cell, all) in &inside {
            fetch[queue(flow)].held.add(cell, all);
        }
        let fetch = fetch.iter_mut().map(|places| (places, Cause::FetchLimit));
        for (places, cause) in fetch.chain([(arbitration, Cause::Arbitration)]) {
            places.share_out(
                |flow| cell(flow, cause),
                |flow, cell, counted, all| {
                    charge(flow, cell, counted);
                    outside.push((flow, cell, all));
                },
            );
        }
        for &(flow, cell, all) in inside.iter().chain(&outside) {
            host[queue(flow)].held.add(cell, all);
        }
        for places in host {
            places.share_out(
                |flow| cell(flow, Cause::HostQueue),
                |flow, cell, counted, _| charge(flow, cell, counted),
            );
        }
    }

    /// Time at which a request that is not over asked for the memory of the data cache.
    pub(crate) fn asked(&self, request: RequestId) -> u64 {
        let dram = self.requests.get(place_of(request)).and_then(|record| record.dram);
        dram.map_or(u64::MAX, |(asked, _)| asked)
    }
}

/// The owner of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) flow: FlowId,
    pub(crate) counted: bool,
    /// Queue of the flow to the device, and its pool of the data cache.
    pub(crate) queue: usize,
    pub(crate) pool: usize,
}

/// The entry of a handle; made if it is missing.
pub(crate) fn slot<H: Handle, T: Default>(list: &mut Vec<T>, id: H) -> &mut T {
    let at = place_of(id);
    if at >= list.len() {
        list.resize_with((at + 1).next_power_of_two(), T::default);
    }
    &mut list[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_flows_are_told_apart_where_the_mapping_is_cached() {
        let mut account = Account::new(1024, 1, 1, 1, 1);
        account.evictors = Some(Table::new(2, Use::Sparse));
        let (last, other) = (FlowId::new(1023), FlowId::new(255));
        account.evicted(Lpa::new(2), last);
        account.evicted(Lpa::new(3), other);
        let victim = FlowId::new(7);
        let found = [1, 2, 3].map(|lpa| account.evictor(Lpa::new(lpa), victim));
        assert_eq!(found, [victim, last, other]);
    }

    #[test]
    fn looking_for_what_may_be_forgotten_costs_each_request_as_much_however_many_wait() {
        let parts = Parts { whole: 10, ..Parts::default() };
        let who = Who { flow: FlowId::new(0), counted: true, queue: 0, pool: 0 };
        for outstanding in [10, 10_000] {
            let mut account = Account::new(1, 1, 1, 1, 1);
            let (requests, mut looked_at) = (50 * BLOCK, 0);
            for _ in 0..requests {
                account.close(RequestId::new(0), who, &parts);
                if account.block_is_full() {
                    account.end_block();
                    if account.trims(outstanding) {
                        looked_at += outstanding as u64;
                        account.trim(0);
                    }
                }
            }
            assert!(
                (1..=requests).contains(&looked_at),
                "{looked_at} looked at, {outstanding} wait"
            );
        }
    }
}
