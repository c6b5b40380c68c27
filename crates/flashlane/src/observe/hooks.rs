//! What the stages tell whoever watches. Called only where a run is watched; nothing here changes it.

use flashlane_engine::{NONE, Time};

use super::blame::account::{Account, Obstacle, Parts, Who};
use super::blame::log::State;
use super::timeline::recorder::{Page, TimelineRecorder};
use crate::cause::Cause;
use crate::device::Device;
use crate::event::Event;
use crate::request::{HostWork, Request};
use crate::transaction::{Op, Source, Transaction};

impl Device {
    /// Who keeps the accounts of blame, if somebody does.
    fn account(&mut self) -> Option<&mut Account> {
        self.observer.as_mut()?.account.as_mut()
    }

    /// A submission entry is about to be fetched.
    #[cold]
    pub(crate) fn observe_fetch(&mut self, id: u32) {
        let at_limit = self.interface.nvme().is_full(self.requests[id].flow);
        let Some(account) = self.account() else { return };
        account.request(id).at_limit = at_limit;
    }

    /// A die got a command: its transactions waited until now.
    #[cold]
    pub(crate) fn observe_command(&mut self, die: u32) {
        let now = self.now.0;
        let command = self.flash.command_of(die);
        let channel = self.flash.place_of(die).channel;
        self.show_command(channel, die, false);
        let Some(observer) = &mut self.observer else { return };
        let Some(account) = &mut observer.account else { return };
        let (mut pages, mut id) = (0, command.head);
        let obstacle = Obstacle::Die { die, idle: Cause::Policy, culprit: account.device() };
        while id != NONE {
            let tr = &self.transactions[id];
            if tr.source != Source::Gc {
                account.note_queue(id, tr, now, obstacle);
            }
            pages += 1;
            id = tr.sibling;
        }
        let (sent, until) = (command.since.0, command.until.0);
        let mut last = None;
        let mut index = 0;
        id = command.head;
        while id != NONE {
            // The pages of a command had die and channel one after the other, as far as blame goes.
            let tr = &self.transactions[id];
            let cause = Cause::of(tr.source, command.op);
            let flow = account.culprit_of(tr);
            let delay = account.delay(id, flow);
            let part = |end: u64| now + (end - now) / pages * index;
            let logs = &mut account.logs;
            logs.channels[channel as usize].push(part(sent), flow, State::Busy(Cause::Bus));
            let log = &mut logs.dies[die as usize];
            log.push_delayed(part(until), flow, State::Busy(cause), delay);
            last = Some((flow, cause, delay));
            index += 1;
            id = tr.sibling;
        }
        let logs = &mut account.logs;
        logs.channels[channel as usize].push(sent, 0, State::Idle);
        let log = &mut logs.dies[die as usize];
        match last.filter(|_| command.op == Op::Read) {
            Some((flow, cause, delay)) => {
                log.push_delayed(until, flow, State::Holds(cause), delay);
            }
            None => log.push(until, 0, State::Idle),
        }
    }

    /// Puts the command of a die on the timeline.
    fn show_command(&mut self, channel: u32, die: u32, resumed: bool) {
        let now = self.now.0;
        let command = self.flash.command_of(die);
        let Some(observer) = &mut self.observer else { return };
        let pages = &mut observer.pages;
        let Some(timeline) = TimelineRecorder::wanted(&mut observer.timeline, now) else { return };
        pages.clear();
        let mut id = command.head;
        while id != NONE {
            let tr = &self.transactions[id];
            let Transaction { plane, flow, source, request, .. } = *tr;
            pages.push(Page { plane, flow, source, request });
            id = tr.sibling;
        }
        let times = (now, command.since.0, command.until.0);
        timeline.command((channel, die), command.op, times, pages, resumed);
    }

    /// A page of read data begins to cross the channel.
    #[cold]
    pub(crate) fn observe_transfer(&mut self, channel: u32, id: u32, duration: u64) {
        let now = self.now.0;
        let tr = &self.transactions[id];
        let source = tr.source;
        let die = self.flash.die_of(tr.plane);
        let more = self.flash.pages_left(die) > 1;
        let Some(observer) = &mut self.observer else { return };
        if let Some(timeline) = TimelineRecorder::wanted(&mut observer.timeline, now) {
            timeline.transfer(channel, (now, now + duration), tr.flow, tr.request);
        }
        let Some(account) = &mut observer.account else { return };
        if source != Source::Gc {
            account.note_queue(id, tr, now, Obstacle::Channel { channel });
        }
        let flow = account.culprit_of(tr);
        let cause = Cause::of(source, Op::Read);
        let end = now + duration;
        let log = &mut account.logs.channels[channel as usize];
        log.push(now, flow, State::Busy(Cause::Bus));
        log.push(end, 0, State::Idle);
        let log = &mut account.logs.dies[die as usize];
        let delay = log.last_delay();
        log.push_delayed(now, flow, State::Busy(cause), delay);
        log.push_delayed(end, flow, if more { State::Holds(cause) } else { State::Idle }, delay);
    }

    /// A suspended operation goes on.
    #[cold]
    pub(crate) fn observe_resumption(&mut self, die: u32) {
        let now = self.now.0;
        let command = self.flash.command_of(die);
        self.show_command(self.flash.place_of(die).channel, die, true);
        let Some(observer) = &mut self.observer else { return };
        let Some(account) = &mut observer.account else { return };
        let obstacle = Obstacle::Die { die, idle: Cause::Policy, culprit: account.device() };
        let mut id = command.head;
        while id != NONE {
            let tr = &self.transactions[id];
            if tr.source != Source::Gc {
                account.note_queue(id, tr, now, obstacle);
            }
            id = tr.sibling;
        }
        let first = &self.transactions[command.head];
        let flow = account.culprit_of(first);
        let delay = account.delay(command.head, flow);
        let log = &mut account.logs.dies[die as usize];
        log.push_delayed(now, flow, State::Busy(Cause::of(first.source, command.op)), delay);
        log.push(command.until.0, 0, State::Idle);
    }

    /// A die has nothing to do, although it held data.
    #[cold]
    pub(crate) fn observe_idle(&mut self, die: u32) {
        let now = self.now.0;
        let Some(account) = self.account() else { return };
        account.logs.dies[die as usize].push(now, 0, State::Idle);
    }

    /// A read that a request waits for is over.
    #[cold]
    pub(crate) fn observe_part(&mut self, id: u32) {
        let now = self.now;
        let tr = &self.transactions[id];
        let (request, total) = (tr.request, tr.chain.total());
        let begun = self.requests[request].begun;
        let Some(account) = self.account() else { return };
        if total == (now - begun).0 {
            account.part_ends(request, id);
        } else {
            account.forget(id);
        }
    }

    /// A page of a host or of the data cache is on flash.
    #[cold]
    pub(crate) fn observe_program(&mut self, id: u32) {
        let tr = &self.transactions[id];
        let (plane, flow) = (tr.plane, tr.flow);
        if let Some(account) = self.account() {
            account.credits.wrote(plane, flow);
        }
        let tr = &self.transactions[id];
        if tr.source == Source::User {
            self.observe_part(id);
            return;
        }
        let (flow, life) = (tr.flow, tr.chain.total());
        let pool = self.cache.pool_of(flow);
        if let Some(account) = self.account() {
            account.write_back_ends(id, flow, pool, life);
        }
    }

    /// A translation page is here: `waiters` go on. It is not needed any more.
    #[cold]
    pub(crate) fn observe_translation(&mut self, id: u32, waiters: &[u32]) {
        let now = self.now.0;
        let Some(observer) = &mut self.observer else { return };
        let Some(account) = &mut observer.account else { return };
        for &waiter in waiters {
            let tr = &self.transactions[waiter];
            let culprit = account.evictor(tr.lpa, tr.flow);
            let work = Obstacle::Known { culprit, cause: Cause::Mapping };
            account.note_other(waiter, tr, (tr.mark.0, now), id, work);
        }
    }

    /// A read of a translation page is over.
    #[cold]
    pub(crate) fn observe_end(&mut self, id: u32) {
        if let Some(account) = self.account() {
            account.forget(id);
        }
    }

    /// A translation page of a flow is on flash.
    #[cold]
    pub(crate) fn observe_translation_program(&mut self, id: u32, tr: &Transaction) {
        if let Some(account) = self.account() {
            account.forget(id);
            account.credits.wrote(tr.plane, tr.flow);
        }
    }

    /// An entry of the cached mapping table made room for one of a flow.
    #[cold]
    pub(crate) fn observe_eviction(&mut self, lpa: u32, flow: u16) {
        if let Some(account) = self.account() {
            account.evicted(lpa, flow);
        }
    }

    /// The collection of a block of a flow starts.
    #[cold]
    pub(crate) fn observe_job(&mut self, plane: u32, job: u32, owner: u16, valid: u32) {
        if let Some(account) = self.account() {
            account.credits.job_starts(plane, job, owner, valid);
        }
    }

    /// A read waited for a program of its page, or a write for a free block; the die of its plane decides.
    #[cold]
    pub(crate) fn observe_die_wait(&mut self, id: u32, mark: u64, idle: Cause) {
        let now = self.now.0;
        let tr = &self.transactions[id];
        let die = self.flash.die_of(tr.plane);
        let obstacle = Obstacle::Die { die, idle, culprit: tr.flow };
        let Some(observer) = &mut self.observer else { return };
        if let Some(account) = observer.account.as_mut().filter(|_| tr.source != Source::Gc) {
            account.note_since(id, tr, (mark, now), obstacle);
        }
    }

    /// A write waited for another one to the same page.
    #[cold]
    pub(crate) fn observe_same_page(&mut self, id: u32) {
        let now = self.now.0;
        let tr = &self.transactions[id];
        let obstacle = Obstacle::Known { culprit: tr.flow, cause: Cause::SamePage };
        let Some(observer) = &mut self.observer else { return };
        if let Some(account) = &mut observer.account {
            account.note_since(id, tr, (tr.mark.0, now), obstacle);
        }
    }

    /// The old data of a partial write is here: what the read waited for, the write waited for.
    #[cold]
    pub(crate) fn observe_merged(&mut self, write: u32, read: u32, queued: bool) {
        let Some(account) = self.account() else { return };
        if queued {
            account.forget(read);
        } else {
            account.append(write, read);
        }
    }

    /// The memory of the data cache, busy until `free`, began an access now or will then, which ends at `end`.
    /// It was asked for at `asked`, or has waited for its turn.
    #[cold]
    pub(crate) fn observe_dram(
        &mut self,
        flow: u16,
        (free, end): (Time, Time),
        asked: Option<Time>,
        done: Option<Event>,
    ) {
        let (now, free) = (self.now.0, free.0);
        let begins = now.max(free);
        let Some(observer) = &mut self.observer else { return };
        if let Some(timeline) = TimelineRecorder::wanted(&mut observer.timeline, now) {
            let request = match done {
                Some(Event::DramDone { request }) => request,
                _ => NONE,
            };
            timeline.dram((begins, end.0), flow, request);
        }
        let Some(account) = &mut observer.account else { return };
        if free < now {
            account.logs.dram.push(free, 0, State::Idle);
        }
        account.logs.dram.push(begins, flow, State::Busy(Cause::Dram));
        if let Some(Event::DramDone { request }) = done {
            let dram = &mut account.request(request).dram;
            let queued = dram.map_or(now, |(asked, _)| asked);
            *dram = Some((asked.map_or(queued, |asked| asked.0), begins));
        }
    }

    /// An access waits for the turn of its flow.
    #[cold]
    pub(crate) fn observe_dram_queue(&mut self, done: Option<Event>) {
        let now = self.now.0;
        let Some(account) = self.account() else { return };
        if let Some(Event::DramDone { request }) = done {
            account.request(request).dram = Some((now, now));
        }
    }

    /// A served request got its place in the completion queue.
    #[cold]
    pub(crate) fn observe_held(&mut self, id: u32) {
        let now = self.now.0;
        if let Some(account) = self.account() {
            account.request(id).held_until = now;
        }
    }

    /// A request is back at the host.
    #[cold]
    pub(crate) fn observe_completion(&mut self, id: u32) {
        let now = self.now;
        let request = self.requests[id];
        let Some(mut observer) = self.observer.take() else { return };
        if let Some(account) = &mut observer.account {
            let work = self.host_work(&request);
            let queue = if self.interface.is_sata() { 0 } else { usize::from(request.flow) };
            let who = Who {
                flow: request.flow,
                counted: request.counted,
                queue,
                pool: self.cache.pool_of(request.flow),
            };
            let parts = self.parts(&request, &work, account.request(id));
            account.close(id, who, &parts);
            if account.block_is_full() {
                account.end_block();
                if account.trims(self.requests.len()) {
                    account.trim(self.oldest_wait(account));
                }
            }
        }
        if let Some(timeline) = TimelineRecorder::wanted(&mut observer.timeline, now.0) {
            timeline.request(id, &request, now.0);
        }
        self.observer = Some(observer);
    }

    /// Waiting and working of a request that is over, told apart.
    fn parts(&self, request: &Request, work: &HostWork, noted: &super::RequestWaits) -> Parts {
        let stage = |from: Time, to: Time| (to - from).0;
        let chain = request.chain;
        let out = stage(request.served, self.now) - work.transfer_out;
        let held = noted.held_until.saturating_sub(request.served.0).min(out);
        let (mut room, mut memory) = (0, 0);
        if chain.cache > 0 {
            (room, memory) = match noted.dram {
                Some((asked, begun)) => (asked - request.begun.0, begun - asked),
                None => (chain.cache, 0),
            };
        }
        let submission = stage(request.enqueued, request.fetched) - work.submission;
        let transfer_in = stage(request.fetched, request.received) - work.transfer_in;
        // SATA: the tag is there, and the command waits for the link only.
        let sata = self.interface.is_sata();
        let (submission, link_in) =
            if sata { (0, submission + transfer_in) } else { (submission, transfer_in) };
        Parts {
            whole: stage(request.arrival, self.now),
            host: stage(request.arrival, request.enqueued) - work.host,
            submission,
            link_in,
            firmware: stage(request.received, request.begun) - work.firmware,
            room,
            memory,
            flash: chain.mapping + chain.queue,
            completion: held,
            link_out: out - held,
            device: stage(if sata { request.enqueued } else { request.fetched }, request.served),
            link_work: work.submission + work.transfer_in + work.transfer_out,
            firmware_work: work.firmware,
            fetching: stage(request.fetched, request.begun),
        }
    }

    /// What a request worked outside of cache and flash.
    fn host_work(&self, request: &Request) -> HostWork {
        let Request { op, sectors, .. } = *request;
        self.interface.work(op, sectors, self.link.work(op, sectors))
    }

    /// Everything that may still be charged began at this time or later.
    fn oldest_wait(&self, account: &Account) -> u64 {
        let mut oldest = self.now.0;
        for (id, request) in self.requests.iter() {
            if request.begun.0 > 0 {
                oldest = oldest.min(request.begun.0);
            }
            oldest = oldest.min(account.asked(id));
        }
        for (_, tr) in self.transactions.iter().filter(|(_, tr)| tr.source != Source::Gc) {
            oldest = oldest.min(tr.mark.0 - tr.chain.total());
        }
        oldest
    }
}
