//! Budgets of device time: the flows whose work may be admitted, and the start of the next round.

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::SprinklerFairnessConfig;
use crate::transaction::Op;

/// The account of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Weight of the flow's class; 0 before its first transaction.
    weight: u32,
    /// Device time that the flow may still use in this round; below 0 it is in debt. Unit:
    /// picoseconds.
    balance: i64,
    /// Transactions that were admitted and are not completed.
    unfinished: u32,
    /// Time at which the last of those was completed.
    idle_since: Option<Time>,
    /// Pages that the flow wrote since the last compensation.
    written: u64,
    /// Time of collection for the flow's pages since then. Unit: picoseconds.
    collection: u64,
    /// Factor of the flow's budget, set by compensation.
    factor: f64,
}

impl Account {
    fn is_eligible(&self) -> bool {
        self.balance > 0
    }

    fn is_busy(&self) -> bool {
        self.is_eligible() && self.unfinished > 0
    }

    /// Budget of a round. Unit: picoseconds. Range: at least 1 for a flow with a transaction so
    /// far.
    fn budget(&self, base: u64) -> i64 {
        let share = (base as f64 * f64::from(self.weight) * self.factor) as i64;
        assert!(share >= 0, "a budget is not negative");
        share.max(i64::from(self.weight.min(1)))
    }
}

/// The accounts of all flows.
#[derive(Clone, Debug)]
pub(super) struct Budgets {
    accounts: Vec<Account>,
    /// Weights by class.
    weights: [u32; 4],
    /// Budget of a flow of weight 1 without compensation. Unit: picoseconds.
    base: u64,
    /// Wall time of a round if every die works; also the least length of a window of compensation.
    round: Time,
    idle: Time,
    limit: Time,
    compensation: bool,
    clamp: (f64, f64),
    /// Eligible flows with unfinished work.
    busy: usize,
    /// Start of the round.
    started: Time,
    /// Start of the window of compensation.
    window: Time,
}

impl Budgets {
    pub(super) fn new(config: &SprinklerFairnessConfig, dies: u32, flows: usize) -> Self {
        Self {
            accounts: vec![Account { factor: 1.0, ..Account::default() }; flows],
            weights: [config.urgent, config.high, config.medium, config.low],
            base: (u128::from(config.round.0) * u128::from(dies) / flows as u128) as u64,
            round: Time(config.round.0),
            idle: Time(config.idle.0),
            limit: Time(config.limit.0),
            compensation: config.gc_compensation,
            clamp: (config.least_factor, config.most_factor),
            busy: 0,
            started: Time::ZERO,
            window: Time::ZERO,
        }
    }

    /// Notes that a flow has work; the first work opens its account.
    pub(super) fn meet(&mut self, flow: FlowId, class: u8) {
        let account = &mut self.accounts[flow.index()];
        if account.weight == 0 {
            account.weight = self.weights[class as usize];
            account.balance = account.budget(self.base);
        }
    }

    /// True if work of the flow may be admitted.
    pub(super) fn is_eligible(&self, flow: FlowId) -> bool {
        self.accounts[flow.index()].is_eligible()
    }

    /// What a flow has used beyond its budget. Unit: picoseconds; below 0 it has some left.
    pub(super) fn debt(&self, flow: FlowId) -> i64 {
        -self.accounts[flow.index()].balance
    }

    /// Charges the flow for a transaction that is admitted.
    pub(super) fn charge(&mut self, flow: FlowId, op: Op, cost: u64) {
        self.change(flow, |account| {
            account.balance -= cost as i64;
            account.unfinished += 1;
            account.written += u64::from(op == Op::Program);
        });
    }

    /// Notes that an admitted transaction of the flow is completed.
    pub(super) fn finished(&mut self, flow: FlowId, now: Time) {
        self.change(flow, |account| {
            assert!(account.unfinished > 0, "flow {flow} finishes what was admitted");
            account.unfinished -= 1;
            if account.unfinished == 0 {
                account.idle_since = Some(now);
            }
        });
    }

    fn change(&mut self, flow: FlowId, change: impl FnOnce(&mut Account)) {
        let account = &mut self.accounts[flow.index()];
        let was_busy = account.is_busy();
        debug_assert!(account.weight > 0, "flow {flow} has an account");
        change(account);
        self.busy = self.busy + usize::from(account.is_busy()) - usize::from(was_busy);
    }

    /// Adds time of collection for the pages of a flow.
    pub(super) fn collected(&mut self, flow: FlowId, time: u64) {
        self.accounts[flow.index()].collection += time;
    }

    /// The time at which the round ends if nothing more happens. That is at once if every flow with
    /// work, or with work less than `idle` ago, has used its budget.
    pub(super) fn end(&self) -> Time {
        let limit = self.started + self.limit;
        if self.busy > 0 {
            return limit;
        }
        let eligible = self.accounts.iter().filter(|account| account.is_eligible());
        let idle_since = eligible.filter_map(|account| account.idle_since).max();
        idle_since.map_or(Time::ZERO, |since| limit.min(since + self.idle))
    }

    /// Begins a round: debt is carried over, savings are not.
    pub(super) fn start_round(&mut self, now: Time) {
        assert!(now >= self.started, "rounds follow one another");
        if self.compensation && now - self.window >= self.round {
            self.compensate();
            self.window = now;
        }
        self.started = now;
        for account in &mut self.accounts {
            account.balance = account.balance.min(0) + account.budget(self.base);
        }
        self.busy = self.count_busy();
    }

    /// Sets the budget factors from what each flow caused of the collection in the window: the
    /// factor is `1 - share + mean share`, clamped. A flow that wrote causes the collection of its
    /// pages. The pages of flows that wrote nothing move because of the others, by what these
    /// wrote.
    fn compensate(&mut self) {
        let sum = |of: &dyn Fn(&Account) -> u64| self.accounts.iter().map(of).sum::<u64>();
        let written = sum(&|account| account.written);
        let all = sum(&|account| account.collection);
        let of_others = sum(&|account| if account.written == 0 { account.collection } else { 0 });
        assert!(self.clamp.0 <= self.clamp.1, "the bounds of a factor are in order");
        let mean = 1.0 / self.accounts.len() as f64;
        let (least, most) = self.clamp;
        for account in &mut self.accounts {
            let [wrote, own] = [&mut account.written, &mut account.collection].map(std::mem::take);
            account.factor = if all == 0 || written == 0 {
                1.0
            } else {
                let part = of_others as f64 * wrote as f64 / written as f64;
                let own = if wrote > 0 { own as f64 } else { 0.0 };
                (1.0 - (own + part) / all as f64 + mean).clamp(least, most)
            };
        }
    }

    fn count_busy(&self) -> usize {
        self.accounts.iter().filter(|account| account.is_busy()).count()
    }

    /// Checks the sums against the accounts.
    pub(super) fn audit(&self) {
        assert_eq!(self.busy, self.count_busy(), "eligible flows with work are counted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::Span;

    const MS: u64 = 1_000_000_000;
    const US: u64 = 1_000_000;

    /// Four dies and two flows: 10 ms of wall time are 20 ms of device time for each.
    fn budgets(change: impl FnOnce(&mut SprinklerFairnessConfig)) -> Budgets {
        let (round, limit) = (Span(10 * MS), Span(100 * MS));
        let mut config =
            SprinklerFairnessConfig { round, limit, ..SprinklerFairnessConfig::default() };
        change(&mut config);
        let mut budgets = Budgets::new(&config, 4, 2);
        budgets.meet(FlowId::new(0), 2);
        budgets.meet(FlowId::new(1), 3);
        budgets
    }

    fn balance(budgets: &Budgets, flow: usize) -> i64 {
        budgets.accounts[flow].balance
    }

    #[test]
    fn a_round_is_shared_by_dies_and_flows() {
        let budgets = budgets(|_| {});
        assert_eq!([balance(&budgets, 0), balance(&budgets, 1)], [20 * MS as i64; 2]);
    }

    #[test]
    fn weights_multiply_budgets() {
        let budgets = budgets(|config| config.medium = 3);
        assert_eq!([balance(&budgets, 0), balance(&budgets, 1)].map(|b| b / MS as i64), [60, 20]);
    }

    #[test]
    fn debt_is_carried_over_and_savings_are_not() {
        let mut budgets = budgets(|_| {});
        budgets.charge(FlowId::new(0), Op::Read, 19 * MS);
        assert!(budgets.is_eligible(FlowId::new(0)), "1 ms is left");
        budgets.charge(FlowId::new(0), Op::Read, 5 * MS);
        assert!(!budgets.is_eligible(FlowId::new(0)));
        budgets.charge(FlowId::new(1), Op::Read, 5 * MS);
        assert_eq!([balance(&budgets, 0), balance(&budgets, 1)].map(|b| b / MS as i64), [-4, 15]);
        budgets.start_round(Time::from_ms(30));
        assert_eq!([balance(&budgets, 0), balance(&budgets, 1)].map(|b| b / MS as i64), [16, 20]);
        budgets.audit();
    }

    #[test]
    fn a_debt_of_several_rounds_takes_several_rounds() {
        let mut budgets = budgets(|_| {});
        budgets.charge(FlowId::new(0), Op::Read, 65 * MS);
        for (round, left) in [(1, -25), (2, -5), (3, 15)] {
            budgets.start_round(Time::from_ms(round));
            assert_eq!(balance(&budgets, 0) / MS as i64, left);
            assert_eq!(budgets.is_eligible(FlowId::new(0)), left > 0);
        }
    }

    #[test]
    fn a_round_ends_when_all_flows_with_work_have_used_their_budgets() {
        let mut budgets = budgets(|_| {});
        budgets.charge(FlowId::new(0), Op::Read, 21 * MS);
        assert_eq!(budgets.end(), Time::ZERO, "the other flow has not come yet");
        budgets.charge(FlowId::new(1), Op::Read, MS);
        assert_eq!(budgets.end(), Time::from_ms(100), "it has work and budget: the limit alone");
        budgets.charge(FlowId::new(1), Op::Read, 20 * MS);
        assert_eq!(budgets.end(), Time::ZERO, "both have used theirs");
        budgets.audit();
    }

    #[test]
    fn a_round_ends_when_those_with_budget_have_been_idle() {
        let mut budgets = budgets(|_| {});
        budgets.charge(FlowId::new(0), Op::Read, 21 * MS);
        budgets.charge(FlowId::new(1), Op::Read, MS);
        budgets.charge(FlowId::new(1), Op::Read, MS);
        budgets.finished(FlowId::new(1), Time(2 * MS));
        assert_eq!(budgets.end(), Time::from_ms(100));
        budgets.finished(FlowId::new(1), Time(3 * MS));
        assert_eq!(budgets.end(), Time(3 * MS + 100 * US));
        // New work arrives in time, so that the flow is not idle.
        budgets.charge(FlowId::new(1), Op::Read, MS);
        assert_eq!(budgets.end(), Time::from_ms(100));
        budgets.finished(FlowId::new(1), Time(100 * MS - 20 * US));
        assert_eq!(budgets.end(), Time::from_ms(100), "not beyond the limit");
        budgets.audit();
    }

    #[test]
    fn collection_is_paid_by_those_whose_pages_move() {
        let mut with = budgets(|_| {});
        let mut without = budgets(|config| config.gc_compensation = false);
        for budgets in [&mut with, &mut without] {
            for (flow, time) in [(0, 3 * MS), (1, MS)] {
                budgets.charge(FlowId::new(flow), Op::Program, 0);
                budgets.collected(FlowId::new(flow), time);
            }
            budgets.start_round(Time::from_ms(9));
            assert_eq!(balance(budgets, 0), 20 * MS as i64, "the window is too short");
            budgets.start_round(Time::from_ms(10));
        }
        // 1 - 3/4 + 1/2 and 1 - 1/4 + 1/2 of 20 ms.
        assert_eq!([balance(&with, 0), balance(&with, 1)].map(|b| b / MS as i64), [15, 25]);
        assert_eq!([balance(&without, 0), balance(&without, 1)].map(|b| b / MS as i64), [20, 20]);
        with.start_round(Time::from_ms(15));
        assert_eq!(balance(&with, 0), 15 * MS as i64, "until the next window is over");
        with.start_round(Time::from_ms(20));
        assert_eq!(balance(&with, 0), 20 * MS as i64, "no collection, no compensation");
    }

    #[test]
    fn who_writes_pays_for_the_pages_of_those_who_do_not() {
        let mut budgets = budgets(|_| {});
        budgets.charge(FlowId::new(0), Op::Program, 0);
        budgets.charge(FlowId::new(1), Op::Read, 0);
        budgets.collected(FlowId::new(1), 3 * MS);
        budgets.start_round(Time::from_ms(10));
        // 1 - 1 + 1/2 and 1 - 0 + 1/2 of 20 ms.
        assert_eq!([balance(&budgets, 0), balance(&budgets, 1)].map(|b| b / MS as i64), [10, 30]);
        budgets.collected(FlowId::new(1), 3 * MS);
        budgets.start_round(Time::from_ms(20));
        assert_eq!(balance(&budgets, 0) / MS as i64, 20, "nobody wrote");
    }

    #[test]
    fn compensation_is_bounded() {
        let mut budgets =
            budgets(|config| (config.least_factor, config.most_factor) = (0.75, 1.25));
        budgets.charge(FlowId::new(0), Op::Program, 0);
        budgets.collected(FlowId::new(0), MS);
        budgets.start_round(Time::from_ms(10));
        // 1 - 1 + 1/2 and 1 - 0 + 1/2, clamped.
        assert_eq!([balance(&budgets, 0), balance(&budgets, 1)].map(|b| b / MS as i64), [15, 25]);
    }
}
