//! Calls to an observer about programs in the cache registers of dies (`flash.cache_program`).

use flashlane_engine::Time;

use super::Observer;
use super::blame::shadow::CommandTimes;
use super::timeline::recorder::TimelineRecorder;
use flashlane_device::cause::Cause;
use flashlane_device::device::watcher::DieAt;
use flashlane_device::flash::Running;
use flashlane_device::transaction::{Transactions, pages_from};

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
            let page = (first.flow, first.request);
            timeline.program_data(channel, (now, command.commanded.0, sent), page);
        }
        self.note_waits(now, at, command, transactions);
        let Some((account, credits)) = self.accounts() else { return };
        // Alone, too, the flow would hold the die for the array time only.
        let times = CommandTimes { held: until - sent, ..CommandTimes::of(now, command) };
        account.shadow_pages(die, command, transactions, credits, times);
        let pages = pages_from(transactions, command.head).map(|id| &transactions[id]);
        let sends = pages.map(|tr| (credits.culprit_of(tr), Cause::Bus));
        account.logs.command_sent(channel, (now, command.commanded.0, sent), sends);
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
        let pages = pages_from(transactions, command.head).map(|id| &transactions[id]);
        let works = pages.map(|tr| (credits.culprit_of(tr), Cause::of_page(tr, command.op)));
        account.logs.occupy_planes(at.die, (now, until), works.clone());
        account.logs.dies[at.die.index()].push_shares((now, until), works);
    }
}
