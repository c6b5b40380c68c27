//! Calls to an observer about programs in the cache registers of dies (`flash.cache_program`).

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::Observer;
use super::blame::account::Obstacle;
use super::blame::log::State;
use super::timeline::recorder::TimelineRecorder;
use flashlane_device::cause::Cause;
use flashlane_device::device::watcher::DieAt;
use flashlane_device::flash::Running;
use flashlane_device::transaction::{Source, Transactions, pages_from};

impl Observer {
    /// A die that programs got another program, whose transactions waited until now.
    #[cold]
    pub(crate) fn register(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        let DieAt { channel, die } = at;
        let (now, sent, until) = (now.0, command.since.0, command.until.0);
        let first = &transactions[command.head];
        if let Some(timeline) = TimelineRecorder::wanted(&mut self.timeline, now) {
            timeline.program_data(channel, (now, sent), first.flow, first.request);
        }
        self.note_waits(now, at, command, transactions);
        let Some((account, credits)) = self.accounts() else { return };
        // Alone, too, the flow would hold the die for the array time only.
        let times = (sent - now, until - now, until - sent);
        account.shadow_pages(die, command, transactions, credits, times);
        let pages = pages_from(transactions, command.head).count() as u64;
        let log = &mut account.logs.channels[channel.index()];
        for (index, id) in (0..).zip(pages_from(transactions, command.head)) {
            let flow = credits.culprit_of(&transactions[id]);
            log.push(now + (sent - now) / pages * index, flow, State::Busy(Cause::Bus));
        }
        log.push(sent, FlowId::new(0), State::Idle);
    }

    /// The array of a die begins the program in its register now, or when its data is there.
    #[cold]
    pub(crate) fn register_begins(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        self.show_command(command.since, at, command, transactions, false);
        let (now, until) = (now.0, command.until.0);
        self.note_waits(now, at, command, transactions);
        let Some((account, credits)) = self.accounts() else { return };
        let pages = pages_from(transactions, command.head).count() as u64;
        let log = &mut account.logs.dies[at.die.index()];
        for (index, id) in (0..).zip(pages_from(transactions, command.head)) {
            let tr = &transactions[id];
            let cause = Cause::of_page(tr, command.op);
            let flow = credits.culprit_of(tr);
            log.push(now + (until - now) / pages * index, flow, State::Busy(cause));
        }
        log.push(until, FlowId::new(0), State::Idle);
    }

    /// The pages of a command waited until now, in a queue or in the register, for the work of
    /// their die.
    fn note_waits(&mut self, now: u64, at: DieAt, command: &Running, transactions: &Transactions) {
        let Some((account, _)) = self.accounts() else { return };
        let obstacle =
            Obstacle::Die { die: at.die, idle: Cause::Policy, culprit: account.device() };
        for id in pages_from(transactions, command.head) {
            let tr = &transactions[id];
            if tr.source != Source::Gc {
                account.note_queue(id, tr, now, obstacle);
            }
        }
    }
}
