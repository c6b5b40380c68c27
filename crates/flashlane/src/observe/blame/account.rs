//! The accounts behind the blame matrix.
//!
//! Dies, channels and the memory of the cache keep logs of what they did. A request notes the spans in which
//! its critical path waited; when it is over they are looked up in the logs. Waits for places (see
//! [`Places`]) are shared out in blocks of requests.

use flashlane_engine::{Table, Use};

use crate::config::{DeviceConfig, InterfaceKind, MappingKind, Sharing, WorkloadConfig};
use crate::transaction::{Source, Transaction};

use super::cause::{CAUSES, Cause, DOCS};
use super::credit::Credits;
use super::log::{Delay, Log, State};
use super::place::Places;
use super::weights::Weights;
use super::{Blame, BlameCause, BlameCell, BlameVictim, DEVICE, SCHEMA};

/// Requests whose waits for places are shared out together.
const BLOCK: u64 = 1024;

/// A span in which a piece of work waited. Unit of times: picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) obstacle: Obstacle,
}

/// What was in the way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Obstacle {
    /// A die. Where it and its channel have nothing to do, the wait is charged to this cause.
    Die { die: u32, idle: Cause, culprit: u16 },
    /// A channel.
    Channel { channel: u32 },
    /// Known at once.
    Known { culprit: u16, cause: Cause },
}

/// The waits of a transaction: those of translation pages as spans, since others wait for a part of them; those
/// of all others as charges.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransactionWaits {
    pub(crate) waits: Vec<Wait>,
    /// Cells and times.
    charges: Vec<(u32, u64)>,
    /// End of the last wait.
    last: u64,
    /// Time in the scheduler's queue, for the bus and suspended, as far as noted.
    pub(crate) queue_noted: u64,
}

/// What is noted of a request until it is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestWaits {
    /// Of the part of its device work that ended last: cells and times.
    charges: Vec<(u32, u64)>,
    /// It took the last place that its queue has in the device.
    pub(crate) at_limit: bool,
    /// The last access to the memory of the cache: asked for, and begun.
    pub(crate) dram: Option<(u64, u64)>,
    /// It was served, but waited for a place in the completion queue until then.
    pub(crate) held_until: u64,
}

/// The stages of a request that is over, waiting and working told apart. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    /// End-to-end time.
    pub(crate) whole: u64,
    /// Before the submission queue.
    pub(crate) host: u64,
    /// In the submission queue.
    pub(crate) submission: u64,
    pub(crate) link_in: u64,
    pub(crate) firmware: u64,
    /// For room in the data cache, or for write-backs.
    pub(crate) room: u64,
    /// Of the critical path in mapping and scheduler.
    pub(crate) flash: u64,
    /// For the memory of the data cache.
    pub(crate) memory: u64,
    /// For a place in the completion queue.
    pub(crate) completion: u64,
    pub(crate) link_out: u64,
    /// In the device: fetched to served.
    pub(crate) device: u64,
    /// Own work on the link and in firmware.
    pub(crate) link_work: u64,
    pub(crate) firmware_work: u64,
    /// Between fetch and the end of firmware.
    pub(crate) fetching: u64,
}

/// What everybody waits for.
#[derive(Clone, Debug)]
pub(crate) struct Logs {
    pub(crate) dies: Vec<Log>,
    pub(crate) channels: Vec<Log>,
    /// Of the data cache.
    pub(crate) dram: Log,
    dies_per_channel: u32,
    /// The culprit where there is none.
    device: u16,
}

impl Logs {
    /// Charges a wait of a flow to those who had what it waited for.
    fn charge(&self, victim: u16, wait: &Wait, charges: &mut Weights) {
        let Wait { from, to, obstacle } = *wait;
        let asked = from;
        match obstacle {
            Obstacle::Known { culprit, cause } => charges.add(cell(culprit, cause), to - from),
            Obstacle::Channel { channel } => {
                self.charge_channel(channel, from, to, cell(self.device, Cause::Policy), charges);
            }
            Obstacle::Die { die, idle, culprit } => {
                let channel = die / self.dies_per_channel;
                self.dies[die as usize].walk(from, to, |from, to, point| match point.state {
                    State::Busy(cause) if point.flow == victim && point.delay.ps > 0 => {
                        let own = cell(victim, cause);
                        charge_own(own, &point.delay, asked, (from, to), charges);
                    }
                    State::Busy(cause) => charges.add(cell(point.flow, cause), to - from),
                    State::Holds(cause) => {
                        let holder = cell(point.flow, cause);
                        self.charge_channel(channel, from, to, holder, charges);
                    }
                    State::Idle => {
                        self.charge_channel(channel, from, to, cell(culprit, idle), charges);
                    }
                });
            }
        }
    }

    /// Charges a span to what the channel did; where it did nothing, to `idle`.
    fn charge_channel(&self, channel: u32, from: u64, to: u64, idle: u32, charges: &mut Weights) {
        self.channels[channel as usize].walk(from, to, |from, to, point| match point.state {
            State::Idle => charges.add(idle, to - from),
            State::Busy(cause) | State::Holds(cause) => {
                charges.add(cell(point.flow, cause), to - from);
            }
        });
    }

    /// Charges a span to what the memory of the data cache did.
    fn charge_dram(&self, from: u64, to: u64, charges: &mut Weights) {
        self.dram.walk(from, to, |from, to, point| {
            let culprit = if point.state == State::Idle { self.device } else { point.flow };
            charges.add(cell(culprit, Cause::Dram), to - from);
        });
    }
}

/// Charges a span in which a flow waited behind its own work, from `asked` on. What of it would have been over
/// by then but for the delay of that work is charged to those who delayed it, in proportion.
fn charge_own(own: u32, delay: &Delay, asked: u64, (from, to): (u64, u64), charges: &mut Weights) {
    let sooner = from.saturating_sub(delay.ps).max(asked);
    let rest = to.saturating_sub(delay.ps).saturating_sub(sooner);
    let others = to - from - rest;
    charges.add(own, rest);
    let total: u128 = delay.by.iter().map(|&(_, ps)| u128::from(ps)).sum();
    let (mut before, mut given) = (0, 0);
    for &(cell, ps) in delay.by.iter().filter(|&&(_, ps)| ps > 0) {
        before += u128::from(ps);
        let until = (u128::from(others) * before / total) as u64;
        charges.add(cell, until - given);
        given = until;
    }
}

/// Sums of a victim. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Victim {
    requests: u64,
    end_to_end: u128,
    waiting: u128,
}

/// The accounts.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    flows: usize,
    /// Flows whose requests come whether or not earlier ones are over.
    open_loops: Vec<bool>,
    pub(crate) logs: Logs,
    /// Whom collections are charged to.
    pub(crate) credits: Credits,
    /// Who pushed an entry out of the cached mapping table, a byte for each logical page: a flow plus one (there
    /// are 64 at most), 0 for nobody. `None` without such a table.
    evictors: Option<Table>,
    transactions: Vec<TransactionWaits>,
    requests: Vec<RequestWaits>,
    /// By victim and cell. Unit: picoseconds.
    matrix: Vec<u128>,
    victims: Vec<Victim>,
    /// What the request that is being settled waited for.
    charges: Weights,
    /// Room in the data cache, by pool.
    rooms: Vec<Places>,
    arbitration: Places,
    link: Places,
    firmware: Places,
    /// By flow, or one for all where the drive has one queue.
    fetch: Vec<Places>,
    host: Vec<Places>,
    /// Requests since places were last shared out, and since logs were trimmed.
    in_block: u64,
}

impl Account {
    /// Nothing happened yet.
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
        let by_page = device.ftl.mapping.kind != MappingKind::Hybrid;
        let planes = flash.channels * dies_per_channel * flash.planes_per_die;
        let credits = Credits::new(flows, planes, flash.pages_per_block, by_page);
        let evictors = device
            .ftl
            .mapping
            .is_cached()
            .then(|| Table::new(logical_pages.div_ceil(4) as usize, Use::Sparse));
        let mut made = Self::new(flows, pools, queues, flash.channels, dies_per_channel, credits);
        made.evictors = evictors;
        made.open_loops = open_loops.to_vec();
        made
    }

    fn new(
        flows: usize,
        pools: usize,
        queues: usize,
        channels: u32,
        dies_per_channel: u32,
        credits: Credits,
    ) -> Self {
        let cells = (flows + 1) * CAUSES;
        let places = Places::new(flows, cells);
        Self {
            flows,
            open_loops: vec![false; flows],
            logs: Logs {
                dies: vec![Log::default(); (channels * dies_per_channel) as usize],
                channels: vec![Log::default(); channels as usize],
                dram: Log::default(),
                dies_per_channel,
                device: flows as u16,
            },
            credits,
            evictors: None,
            transactions: Vec::new(),
            requests: Vec::new(),
            matrix: vec![0; flows * cells],
            victims: vec![Victim::default(); flows],
            charges: Weights::new(cells),
            rooms: vec![places.clone(); pools],
            arbitration: places.clone(),
            link: places.clone(),
            firmware: places.clone(),
            fetch: vec![places.clone(); queues],
            host: vec![places; queues],
            in_block: 0,
        }
    }

    /// The culprit where there is none.
    pub(crate) fn device(&self) -> u16 {
        self.logs.device
    }

    /// What is noted of a request.
    pub(crate) fn request(&mut self, id: u32) -> &mut RequestWaits {
        slot(&mut self.requests, id)
    }

    /// Whose work a transaction is, as far as blame goes.
    pub(crate) fn culprit_of(&self, tr: &Transaction) -> u16 {
        if tr.source == Source::Gc { self.credits.culprit(tr.tag, tr.flow) } else { tr.flow }
    }

    /// A flow pushed the entry of a page out of the cached mapping table.
    pub(crate) fn evicted(&mut self, lpa: u32, flow: u16) {
        if let Some(evictors) = &mut self.evictors {
            let (word, shift) = (lpa / 4, lpa % 4 * 8);
            let others = evictors.get(word) & !(0xff << shift);
            evictors.set(word, others | (u32::from(flow) + 1) << shift);
        }
    }

    /// Whom a flow has to thank for a miss: who pushed the entry out, or nobody but itself.
    pub(crate) fn evictor(&self, lpa: u32, flow: u16) -> u16 {
        let Some(evictors) = &self.evictors else { return flow };
        let known = evictors.get(lpa / 4) >> (lpa % 4 * 8) & 0xff;
        known.checked_sub(1).map_or(flow, |flow| flow as u16)
    }

    /// A transaction waited in a queue, for the bus, or suspended until now.
    pub(crate) fn note_queue(&mut self, id: u32, tr: &Transaction, now: u64, obstacle: Obstacle) {
        let record = slot(&mut self.transactions, id);
        // All its waits of this kind so far, less those that are noted.
        let more = tr.chain.queue - record.queue_noted;
        if more > 0 {
            record.queue_noted = tr.chain.queue;
            self.note(id, tr, Wait { from: now - more, to: now, obstacle });
        }
    }

    /// A transaction waited from `mark`, or since its last wait that was noted.
    pub(crate) fn note_since(
        &mut self,
        id: u32,
        tr: &Transaction,
        (mark, now): (u64, u64),
        obstacle: Obstacle,
    ) {
        let from = slot(&mut self.transactions, id).last.max(mark);
        if from < now {
            self.note(id, tr, Wait { from, to: now, obstacle });
        }
    }

    /// Notes a wait: a span for translation pages, charges for all others.
    fn note(&mut self, id: u32, tr: &Transaction, wait: Wait) {
        let record = slot(&mut self.transactions, id);
        record.last = wait.to;
        if tr.source == Source::Mapping {
            record.waits.push(wait);
        } else {
            self.logs.charge(tr.flow, &wait, &mut self.charges);
            record.charges.extend_from_slice(self.charges.list());
            self.charges.clear();
        }
    }

    /// How much others delayed a transaction so far. In a closed loop, where its requests would not have come as
    /// they did without that, only if it waited for others longer than for its own flow.
    pub(crate) fn delay(&mut self, id: u32, flow: u16) -> Delay {
        let device = self.device();
        let (mut delay, mut own) = (Delay::default(), 0);
        for &(cell, ps) in &slot(&mut self.transactions, id).charges {
            let culprit = (cell / CAUSES as u32) as u16;
            if culprit == flow || culprit == device {
                own += ps;
                continue;
            }
            delay.ps += ps;
            let same = delay.by.iter().position(|&(other, known)| other == cell && known > 0);
            let least = (0..3).min_by_key(|&at| delay.by[at].1).expect("three places");
            match same {
                Some(at) => delay.by[at].1 += ps,
                None if ps > delay.by[least].1 => delay.by[least] = (cell, ps),
                None => {}
            }
        }
        let counts = delay.ps > own || self.open_loops[flow as usize];
        if counts { delay } else { Delay::default() }
    }

    /// `id` waited from `mark` on for `other`, which is done: for what that waited for, and for its work.
    pub(crate) fn note_other(
        &mut self,
        id: u32,
        tr: &Transaction,
        (mark, now): (u64, u64),
        other: u32,
        work: Obstacle,
    ) {
        let theirs = std::mem::take(&mut slot(&mut self.transactions, other).waits);
        let mut from = mark;
        for wait in &theirs {
            let (start, end) = (wait.from.max(from), wait.to.min(now));
            if start < end {
                if from < start {
                    self.note(id, tr, Wait { from, to: start, obstacle: work });
                }
                self.note(id, tr, Wait { from: start, to: end, obstacle: wait.obstacle });
                from = end;
            }
        }
        if from < now {
            self.note(id, tr, Wait { from, to: now, obstacle: work });
        }
        slot(&mut self.transactions, other).waits = theirs;
    }

    /// The waits of `other`, which is over, are part of those of `id`.
    pub(crate) fn append(&mut self, id: u32, other: u32) {
        let mut theirs = std::mem::take(slot(&mut self.transactions, other));
        let ours = slot(&mut self.transactions, id);
        ours.charges.append(&mut theirs.charges);
        ours.queue_noted += theirs.queue_noted;
        ours.last = ours.last.max(theirs.last);
        *slot(&mut self.transactions, other) = theirs;
        self.forget(other);
    }

    /// A transaction is over, and nothing noted of it matters any more.
    pub(crate) fn forget(&mut self, id: u32) {
        let record = slot(&mut self.transactions, id);
        record.waits.clear();
        record.charges.clear();
        (record.last, record.queue_noted) = (0, 0);
    }

    /// A transaction is over that ends the device work of a request, as far as it goes.
    pub(crate) fn part_ends(&mut self, request: u32, id: u32) {
        let record = slot(&mut self.transactions, id);
        std::mem::swap(&mut slot(&mut self.requests, request).charges, &mut record.charges);
        self.forget(id);
    }

    /// A write-back of a flow is on flash: it took `life`, of which its flow is to blame for what was no
    /// wait. Its room in the pool is free.
    pub(crate) fn write_back_ends(&mut self, id: u32, flow: u16, pool: usize, life: u64) {
        let held = &mut self.rooms[pool].held;
        let mut waited = 0;
        for &(cell, ps) in &slot(&mut self.transactions, id).charges {
            held.add(cell, ps);
            waited += ps;
        }
        held.add(cell(flow, Cause::CacheRoom), life - waited);
        self.forget(id);
    }

    /// A request of a flow is over.
    pub(crate) fn close(&mut self, id: u32, who: Who, parts: &Parts) {
        let Who { flow, counted, queue, pool } = who;
        let record = std::mem::take(slot(&mut self.requests, id));
        let charges = &mut self.charges;
        if parts.flash > 0 {
            record.charges.iter().for_each(|&(cell, ps)| charges.add(cell, ps));
        }
        let noted = charges.total();
        assert_eq!(noted, u128::from(parts.flash), "every wait of the critical path is noted");
        if let Some((asked, begun)) = record.dram.filter(|_| parts.memory > 0) {
            self.logs.charge_dram(asked, begun, charges);
        }
        let inside = charges.total() as u64;
        let [link, firmware, room] = [parts.link_in, parts.firmware, parts.room];
        let work = parts.device - inside - link - firmware - room;
        let (fetch, host) = (&mut self.fetch[queue].held, &mut self.host[queue].held);
        fetch.add(cell(flow, Cause::FetchLimit), work);
        charges.list().iter().for_each(|&(cell, ps)| fetch.add(cell, ps));
        charges.add(cell(flow, Cause::CompletionQueue), parts.completion);
        charges.list().iter().for_each(|&(cell, ps)| host.add(cell, ps));
        let placed = link + firmware + room + parts.submission + parts.link_out;
        let waiting = inside + parts.completion + placed + parts.host;
        host.add(cell(flow, Cause::HostQueue), parts.whole - waiting);
        if counted {
            let cells = self.matrix.len() / self.flows;
            let row = &mut self.matrix[usize::from(flow) * cells..];
            for &(cell, ps) in charges.list() {
                row[cell as usize] += u128::from(ps);
            }
            let victim = &mut self.victims[flow as usize];
            victim.requests += 1;
            victim.end_to_end += u128::from(parts.whole);
            victim.waiting += u128::from(waiting);
        }
        charges.clear();
        self.rooms[pool].wait(flow, room, counted);
        self.link.wait(flow, link + parts.link_out, counted);
        self.firmware.wait(flow, firmware, counted);
        let queued = if record.at_limit { &mut self.fetch[queue] } else { &mut self.arbitration };
        queued.wait(flow, parts.submission, counted);
        self.host[queue].wait(flow, parts.host, counted);
        self.link.held.add(cell(flow, Cause::Link), parts.link_work);
        self.firmware.held.add(cell(flow, Cause::Firmware), parts.firmware_work);
        self.arbitration.held.add(cell(flow, Cause::Arbitration), parts.fetching);
        let mut charges = record.charges;
        charges.clear();
        *slot(&mut self.requests, id) = RequestWaits { charges, ..RequestWaits::default() };
        self.in_block += 1;
    }

    /// True once in a while: it is time to end a block.
    pub(crate) fn block_is_full(&self) -> bool {
        self.in_block >= BLOCK
    }

    /// Shares out the waits for places, and forgets what was before `oldest`.
    pub(crate) fn end_block(&mut self, oldest: u64) {
        self.in_block = 0;
        let Self { flows, matrix, rooms, arbitration, link, firmware, fetch, host, .. } = self;
        let cells = matrix.len() / *flows;
        let one_queue = fetch.len() == 1;
        let queue = |flow: u16| if one_queue { 0 } else { usize::from(flow) };
        let mut inside: Vec<(u16, u32, u64)> = Vec::new();
        let mut outside: Vec<(u16, u32, u64)> = Vec::new();
        let mut charge = |flow: u16, cell: u32, counted: u128| {
            matrix[usize::from(flow) * cells + cell as usize] += counted;
        };
        let shared = rooms.iter_mut().map(|places| (places, Cause::CacheRoom));
        let shared = shared.chain([(link, Cause::Link), (firmware, Cause::Firmware)]);
        for (places, cause) in shared {
            places.share_out(
                |flow| cell(flow, cause),
                |flow, cell, counted, all| {
                    charge(flow, cell, counted);
                    inside.push((flow, cell, all as u64));
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
                    outside.push((flow, cell, all as u64));
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
        let Logs { dies, channels, dram, .. } = &mut self.logs;
        for log in dies.iter_mut().chain(channels).chain([dram]) {
            log.trim(oldest);
        }
    }

    /// When the memory of the data cache was asked for a request that is not over.
    pub(crate) fn asked(&self, request: u32) -> u64 {
        let dram = self.requests.get(request as usize).and_then(|record| record.dram);
        dram.map_or(u64::MAX, |(asked, _)| asked)
    }

    /// Checks that nothing is charged that was no wait, and nothing left out.
    pub(crate) fn audit(&self) {
        let cells = self.matrix.len() / self.flows;
        for (flow, victim) in self.victims.iter().enumerate() {
            let charged: u128 = self.matrix[flow * cells..][..cells].iter().sum();
            let places = self.rooms.iter().chain(&self.fetch).chain(&self.host);
            let places = places.chain([&self.arbitration, &self.link, &self.firmware]);
            let owed: u128 = places.map(|places| places.owed(flow)).sum();
            assert_eq!(charged + owed, victim.waiting, "flow {flow}: blame sums to the waiting");
        }
    }

    /// The matrix, after the last block.
    pub(crate) fn report(&self, names: &[String]) -> Blame {
        let cells = self.matrix.len() / self.flows;
        let ps = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        let victims = (0..self.flows).map(|flow| {
            let row = &self.matrix[flow * cells..][..cells];
            let mut found: Vec<usize> = (0..cells).filter(|&cell| row[cell] > 0).collect();
            found.sort_by_key(|&cell| (std::cmp::Reverse(row[cell]), cell));
            let victim = &self.victims[flow];
            let named = |cell: usize| BlameCell {
                culprit: names.get(cell / CAUSES).map_or(DEVICE, String::as_str).to_owned(),
                cause: DOCS[cell % CAUSES].0.to_owned(),
                ps: ps(row[cell]),
            };
            BlameVictim {
                flow: names[flow].clone(),
                requests: victim.requests,
                end_to_end_ps: ps(victim.end_to_end),
                service_ps: ps(victim.end_to_end - victim.waiting),
                waiting_ps: ps(victim.waiting),
                cells: found.into_iter().map(named).collect(),
            }
        });
        let cause = |&(name, doc): &(&str, &str)| BlameCause { name: name.into(), doc: doc.into() };
        Blame {
            schema: SCHEMA.to_owned(),
            flows: names.to_vec(),
            causes: DOCS.iter().map(cause).collect(),
            victims: victims.collect(),
        }
    }
}

/// Whose request it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) flow: u16,
    pub(crate) counted: bool,
    /// Its queue to the device, and its pool of the data cache.
    pub(crate) queue: usize,
    pub(crate) pool: usize,
}

/// A culprit and a cause as one number.
fn cell(culprit: u16, cause: Cause) -> u32 {
    u32::from(culprit) * CAUSES as u32 + cause as u32
}

/// The entry of a handle, made where there is none.
fn slot<T: Default>(list: &mut Vec<T>, id: u32) -> &mut T {
    let at = id as usize;
    if at >= list.len() {
        list.resize_with((at + 1).next_power_of_two(), T::default);
    }
    &mut list[at]
}
