//! Calls to an observer, only in a run that is watched. Nothing here changes the run.

use flashlane_engine::Time;
use flashlane_units::{DieId, FlowId, Lpa, RequestId, TransactionId};

use super::Observer;
use super::blame::account::Obstacle;
use super::blame::log::State;
use super::blame::shadow::CommandTimes;
use super::timeline::recorder::{Page, TimelineRecorder};
use flashlane_device::cause::Cause;
use flashlane_device::device::watcher::DieAt;
use flashlane_device::event::Event;
use flashlane_device::flash::Running;
use flashlane_device::transaction::{Op, Source, Transaction, Transactions, pages_from};

impl Observer {
    /// A submission entry is about to be fetched. `at_limit`: the request takes the last place of
    /// its queue.
    #[cold]
    pub(crate) fn fetch(&mut self, id: RequestId, at_limit: bool) {
        let Some(account) = &mut self.account else { return };
        account.request(id).at_limit = at_limit;
    }

    /// A limit of the flow's rate held a request back, `in_host` or else in the device.
    #[cold]
    pub(crate) fn held_back(&mut self, id: RequestId, in_host: Option<u64>) {
        let Some(account) = &mut self.account else { return };
        let waits = account.request(id);
        waits.held_back |= in_host.is_none();
        waits.held_in_host += in_host.unwrap_or(0);
    }

    /// Firmware time of a command, where the processors are modelled. Unit: picoseconds.
    #[cold]
    pub(crate) fn firmware(&mut self, id: RequestId, work: u64) {
        let Some(account) = &mut self.account else { return };
        account.request(id).firmware = work;
    }

    /// The processors work for the drive itself, and commands wait for that. Unit: picoseconds.
    #[cold]
    pub(crate) fn own_firmware(&mut self, tr: &Transaction, work: u64) {
        let Some((account, credits)) = self.accounts() else { return };
        let cause = match tr.source {
            Source::User => Cause::Firmware,
            source => Cause::of(source, tr.op),
        };
        account.works(credits.culprit_of(tr), cause, work);
    }

    /// A die got a command: its transactions waited until now.
    #[cold]
    pub(crate) fn command(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        self.show_command(now, at, command, transactions, false);
        let now = now.0;
        let DieAt { channel, die } = at;
        self.note_waits(now, at, command, transactions);
        let Some((account, credits)) = self.accounts() else { return };
        let (sent, until) = (command.since.0, command.until.0);
        let times = CommandTimes::of(now, command);
        if transactions[command.head].reads_again() {
            account.shadow_retry(die, command, transactions, credits, times);
        } else {
            account.shadow_pages(die, command, transactions, credits, times);
        }
        let pages = pages_from(transactions, command.head).map(|id| &transactions[id]);
        let works = pages.map(|tr| (credits.culprit_of(tr), Cause::of_page(tr, command.op)));
        let logs = &mut account.logs;
        let sends = works.clone().map(|(flow, _)| (flow, Cause::Bus));
        logs.command_sent(channel, (now, command.commanded.0, sent), sends);
        if command.op != Op::Read {
            logs.occupy_planes(die, (now, until), works.clone());
        }
        let log = &mut logs.dies[die.index()];
        log.push_shares((now, until), works.clone());
        if command.op == Op::Read
            && let Some((flow, cause)) = works.last()
        {
            log.push(until, flow, State::Holds(cause));
        }
    }

    /// A plane of a die got a read of its own, whose transaction waited until now.
    #[cold]
    pub(crate) fn plane_read(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        let DieAt { channel, die } = at;
        let tr = &transactions[command.head];
        let times = (now.0, command.since.0, command.until.0);
        if let Some(timeline) = TimelineRecorder::wanted(&mut self.timeline, now.0) {
            timeline.plane_read((channel, die), times, Page::of(tr));
        }
        let (now, sent, until) = times;
        self.note_waits(now, at, command, transactions);
        let Some((account, credits)) = self.accounts() else { return };
        let times = CommandTimes::of(now, command);
        account.shadow_pages(die, command, transactions, credits, times);
        let (flow, cause) = (credits.culprit_of(tr), Cause::of_page(tr, Op::Read));
        let sends = std::iter::once((flow, Cause::Bus));
        account.logs.command_sent(channel, (now, sent, sent), sends);
        account.logs.plane_reads((die, tr.plane), (now, until), (flow, cause));
    }

    /// The pages of a command waited until now, in a queue or in a register, for the work of their
    /// die.
    pub(super) fn note_waits(
        &mut self,
        now: u64,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        let Some((account, _)) = self.accounts() else { return };
        let (die, idle, culprit) = (at.die, Cause::Policy, account.device());
        for id in pages_from(transactions, command.head) {
            let tr = &transactions[id];
            let obstacle = if tr.op == Op::Read && account.logs.are_of_planes() {
                Obstacle::Plane { die, plane: tr.plane, idle, culprit }
            } else if tr.op != Op::Read && account.logs.have_command_buses() {
                Obstacle::BothBuses { die, idle, culprit }
            } else {
                Obstacle::Die { die, idle, culprit }
            };
            if tr.source != Source::Gc {
                account.note_queue(id, tr, now, obstacle);
            }
        }
    }

    /// Puts the command of a die on the timeline.
    pub(super) fn show_command(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
        resumed: bool,
    ) {
        let now = now.0;
        let pages = &mut self.pages;
        let Some(timeline) = TimelineRecorder::wanted(&mut self.timeline, now) else { return };
        pages.clear();
        let mut id = command.head;
        while id != TransactionId::NONE {
            let tr = &transactions[id];
            pages.push(Page::of(tr));
            id = tr.sibling;
        }
        let sent = command.since.0;
        let times = (now, command.commanded.0.max(now), sent, command.until.0);
        timeline.command((at.channel, at.die), command.op, times, pages, resumed);
    }

    /// A page of read data begins to cross the channel. `more`: other pages of its die wait for
    /// that.
    #[cold]
    pub(crate) fn transfer(
        &mut self,
        now: Time,
        at: DieAt,
        (id, tr): (TransactionId, &Transaction),
        duration: u64,
        more: bool,
    ) {
        let now = now.0;
        let DieAt { channel, die } = at;
        let source = tr.source;
        if let Some(timeline) = TimelineRecorder::wanted(&mut self.timeline, now) {
            timeline.transfer(channel, (now, now + duration), "read data", tr.flow, tr.request);
        }
        self.data_moves(tr, Time(duration));
        let Some((account, credits)) = self.accounts() else { return };
        if source != Source::Gc {
            account.note_queue(id, tr, now, Obstacle::Channel { channel });
        }
        let flow = credits.culprit_of(tr);
        account.shadow_transfer((id, tr), (flow, die), duration);
        let cause = Cause::of_page(tr, Op::Read);
        let end = now + duration;
        let log = &mut account.logs.channels[channel.index()];
        log.push(now, flow, State::Busy(Cause::Bus));
        log.push(end, FlowId::new(0), State::Idle);
        if account.logs.are_of_planes() {
            account.logs.plane_gives((die, tr.plane), (now, end), (flow, cause));
            return;
        }
        let log = &mut account.logs.dies[die.index()];
        log.push(now, flow, State::Busy(cause));
        log.push(end, flow, if more { State::Holds(cause) } else { State::Idle });
    }

    /// The data of a page was decoded for some time, and is correct.
    #[cold]
    pub(crate) fn decoded(&mut self, id: TransactionId, took: Time) {
        let Some(account) = &mut self.account else { return };
        account.shadow_decodes(id, took.0);
    }

    /// A suspended operation resumes.
    #[cold]
    pub(crate) fn resumption(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        self.show_command(now, at, command, transactions, true);
        let now = now.0;
        let die = at.die;
        let Some((account, credits)) = self.accounts() else { return };
        let obstacle = Obstacle::Die { die, idle: Cause::Policy, culprit: account.device() };
        let mut id = command.head;
        while id != TransactionId::NONE {
            let tr = &transactions[id];
            if tr.source != Source::Gc {
                account.note_queue(id, tr, now, obstacle);
            }
            id = tr.sibling;
        }
        let first = &transactions[command.head];
        let flow = credits.culprit_of(first);
        let cause = Cause::of(first.source, command.op);
        let span = (now, command.until.0);
        account.logs.occupy_planes(die, span, std::iter::once((flow, cause)));
        let log = &mut account.logs.dies[die.index()];
        log.push(now, flow, State::Busy(cause));
        log.push(command.until.0, FlowId::new(0), State::Idle);
    }

    /// A die is idle, although it held data before.
    #[cold]
    pub(crate) fn idle(&mut self, now: Time, die: DieId) {
        let Some(account) = &mut self.account else { return };
        account.logs.dies[die.index()].push(now.0, FlowId::new(0), State::Idle);
    }

    /// A transaction that a request waits for is over; the device work of the request began at
    /// `begun`.
    #[cold]
    pub(crate) fn part(&mut self, now: Time, id: TransactionId, tr: &Transaction, begun: Time) {
        let Some(account) = &mut self.account else { return };
        account.shadow_ends(id, tr.request, now.0);
        if tr.chain.total() == (now - begun).0 {
            account.part_ends(tr.request, id);
        } else {
            account.forget(id);
        }
    }

    /// A page of a host or of the data cache is on flash.
    #[cold]
    pub(crate) fn program(&mut self, tr: &Transaction) {
        self.wrote(tr);
    }

    /// A page of the data cache is on flash, in the given pool.
    #[cold]
    pub(crate) fn write_back(&mut self, id: TransactionId, tr: &Transaction, pool: usize) {
        let Some(account) = &mut self.account else { return };
        account.write_back_ends(id, tr.flow, pool, tr.chain.total());
    }

    /// A translation page that `read` has read is here: a transaction that waited since `since`
    /// goes on.
    #[cold]
    pub(crate) fn translation(
        &mut self,
        now: Time,
        (waiter, tr): (TransactionId, &Transaction),
        since: u64,
        read: TransactionId,
    ) {
        let Some(account) = &mut self.account else { return };
        let culprit = account.evictor(tr.lpa, tr.flow);
        let work = Obstacle::Known { culprit, cause: Cause::Mapping };
        account.note_other(waiter, tr, (since, now.0), read, work);
    }

    /// A read of a translation page is over.
    #[cold]
    pub(crate) fn end(&mut self, id: TransactionId) {
        if let Some(account) = &mut self.account {
            account.forget(id);
        }
    }

    /// A translation page of a flow is on flash.
    #[cold]
    pub(crate) fn translation_program(&mut self, id: TransactionId, tr: &Transaction) {
        if let Some(account) = &mut self.account {
            account.forget(id);
        }
        self.wrote(tr);
    }

    /// An entry of the cached mapping table made room for an entry of a flow.
    #[cold]
    pub(crate) fn eviction(&mut self, lpa: Lpa, flow: FlowId) {
        if let Some(account) = &mut self.account {
            account.evicted(lpa, flow);
        }
    }

    /// A read waited since `mark` for a program of its page, or a write for a free block; the die
    /// decides.
    #[cold]
    pub(crate) fn die_wait(
        &mut self,
        now: Time,
        (id, tr): (TransactionId, &Transaction),
        die: DieId,
        mark: u64,
        idle: Cause,
    ) {
        let obstacle = Obstacle::Die { die, idle, culprit: tr.flow };
        if let Some(account) = self.account.as_mut().filter(|_| tr.source != Source::Gc) {
            account.note_since(id, tr, (mark, now.0), obstacle);
        }
    }

    /// A write waited for an earlier write to the same page.
    #[cold]
    pub(crate) fn same_page(
        &mut self,
        now: Time,
        (id, tr): (TransactionId, &Transaction),
        since: u64,
    ) {
        let obstacle = Obstacle::Known { culprit: tr.flow, cause: Cause::SamePage };
        if let Some(account) = &mut self.account {
            account.note_since(id, tr, (since, now.0), obstacle);
        }
    }

    /// The memory of the data cache is busy until `free`, and begins an access then or now, which
    /// ends at `end`. The access was asked for at `asked`, or has waited for its turn.
    #[cold]
    pub(crate) fn dram(
        &mut self,
        now: Time,
        flow: FlowId,
        (free, end): (Time, Time),
        asked: Option<Time>,
        done: Option<Event>,
    ) {
        let (now, free) = (now.0, free.0);
        let begins = now.max(free);
        if let Some(timeline) = TimelineRecorder::wanted(&mut self.timeline, now) {
            let request = match done {
                Some(Event::DramDone { request }) => request,
                _ => RequestId::NONE,
            };
            timeline.dram((begins, end.0), flow, request);
        }
        if let Some(meter) = &mut self.energy {
            meter.dram(flow, Time(end.0 - begins));
        }
        let Some(account) = &mut self.account else { return };
        if free < now {
            account.logs.dram.push(free, FlowId::new(0), State::Idle);
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
    pub(crate) fn dram_queue(&mut self, now: Time, done: Option<Event>) {
        let Some(account) = &mut self.account else { return };
        if let Some(Event::DramDone { request }) = done {
            account.request(request).dram = Some((now.0, now.0));
        }
    }

    /// A served request got its place in the completion queue.
    #[cold]
    pub(crate) fn held(&mut self, now: Time, id: RequestId) {
        if let Some(account) = &mut self.account {
            account.request(id).held_until = now.0;
        }
    }
}
