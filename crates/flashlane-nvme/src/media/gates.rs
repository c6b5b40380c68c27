//! Limits of tenants' rates that may change while clients are served.
//!
//! Work waits here, outside of the drive, as in a storage layer of the host. The drive and its
//! journals only see commands when they enter. So a replay of a journal needs to know no limit.

use std::collections::VecDeque;

use flashlane::Time;
use flashlane::drive::{Command, Operation};

use super::SECTOR_BYTES;

/// After a pause, as much may pass at once as the rate gives in 1 ms. Unit: picoseconds.
const BURST_PS: u64 = 1_000_000_000;

const SECOND_PS: u128 = 1_000_000_000_000;

/// The most that a tenant gets in a second of simulated time; nothing for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TenantLimit {
    /// Commands of all kinds. Range: above 0.
    pub iops: Option<u64>,
    /// Bytes that reads and writes move together. Range: above 0.
    pub bytes_per_s: Option<u64>,
}

/// A piece of work that waits, with its commands.
pub(super) struct Held {
    pub(super) work: usize,
    pub(super) commands: Vec<(usize, Command)>,
}

/// The gate of a tenant.
#[derive(Default)]
struct Gate {
    limit: TenantLimit,
    /// The times at which the debts of commands and of bytes are paid. Unit: picoseconds.
    paid: [u64; 2],
    waiting: VecDeque<Held>,
}

/// Picoseconds that an amount takes at a rate.
fn cost(rate: u64, amount: u64) -> u64 {
    let ps = (u128::from(amount) * SECOND_PS).div_ceil(u128::from(rate.max(1)));
    u64::try_from(ps).unwrap_or(u64::MAX)
}

impl Gate {
    /// The time from which on the next piece of work passes.
    fn free_at(&self) -> Time {
        let [commands, bytes] = self.paid;
        Time(commands.max(bytes).saturating_sub(BURST_PS))
    }

    fn charge(&mut self, at: Time, commands: &[(usize, Command)]) {
        let sectors = |(_, command): &(usize, Command)| match command.operation {
            Operation::Read | Operation::Write => u64::from(command.sectors),
            _ => 0,
        };
        let bytes = commands.iter().map(sectors).sum::<u64>() * SECTOR_BYTES;
        let rates = [self.limit.iops, self.limit.bytes_per_s];
        let amounts = [commands.len() as u64, bytes];
        for ((paid, rate), amount) in self.paid.iter_mut().zip(rates).zip(amounts) {
            if let Some(rate) = rate {
                *paid = (*paid).max(at.0).saturating_add(cost(rate, amount));
            }
        }
    }
}

/// The gates of all tenants.
pub(super) struct Gates {
    gates: Vec<Gate>,
    /// Pieces of work that wait.
    waiting: usize,
    /// The latest time that was seen.
    reached: Time,
}

impl Gates {
    /// Open gates.
    pub(super) fn new(tenants: usize) -> Self {
        let gates = std::iter::repeat_with(Gate::default).take(tenants).collect();
        Self { gates, waiting: 0, reached: Time::ZERO }
    }

    pub(super) fn limit(&self, tenant: usize) -> TenantLimit {
        self.gates[tenant].limit
    }

    /// Sets a limit, from `at` on. Work that waits has the new limit.
    pub(super) fn set(&mut self, at: Time, tenant: usize, limit: TenantLimit) {
        self.reach(at);
        let gate = &mut self.gates[tenant];
        (gate.limit, gate.paid) = (limit, [0; 2]);
    }

    /// Pieces of work of a tenant that wait.
    pub(super) fn waiting(&self, tenant: usize) -> usize {
        self.gates[tenant].waiting.len()
    }

    /// Time has come to `at`.
    pub(super) fn reach(&mut self, at: Time) {
        self.reached = self.reached.max(at);
    }

    /// Lets work of a tenant pass, or keeps it. True if it may enter the drive now.
    pub(super) fn pass(&mut self, at: Time, tenant: usize, held: Held) -> Option<Held> {
        self.reach(at);
        let gate = &mut self.gates[tenant];
        if gate.waiting.is_empty() && gate.free_at() <= at {
            gate.charge(at, &held.commands);
            return Some(held);
        }
        gate.waiting.push_back(held);
        self.waiting += 1;
        None
    }

    /// The gate whose work passes next, and the time.
    fn first(&self) -> Option<(Time, usize)> {
        if self.waiting == 0 {
            return None;
        }
        let gates = self.gates.iter().enumerate();
        let waiting = gates.filter(|(_, gate)| !gate.waiting.is_empty());
        waiting.map(|(tenant, gate)| (gate.free_at().max(self.reached), tenant)).min()
    }

    /// The time at which work passes next.
    pub(super) fn next(&self) -> Option<Time> {
        self.first().map(|(at, _)| at)
    }

    /// Takes the next work that passes at `at`.
    pub(super) fn take(&mut self, at: Time) -> Option<Held> {
        let (_, tenant) = self.first().filter(|(first, _)| *first <= at)?;
        let gate = &mut self.gates[tenant];
        let held = gate.waiting.pop_front()?;
        gate.charge(at, &held.commands);
        self.waiting -= 1;
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(work: usize, sectors: u32) -> Held {
        Held { work, commands: vec![(0, Command::read(0, sectors))] }
    }

    /// The times at which all work that waits passes.
    fn passes(gates: &mut Gates) -> Vec<(u64, usize)> {
        let mut passed = Vec::new();
        while let Some(at) = gates.next() {
            gates.reach(at);
            let held = gates.take(at).expect("its time has come");
            passed.push((at.0 / 1_000_000_000, held.work));
        }
        passed
    }

    #[test]
    fn a_rate_is_kept_and_the_order_too() {
        let mut gates = Gates::new(2);
        let limit = TenantLimit { iops: Some(100), bytes_per_s: None };
        gates.set(Time::ZERO, 0, limit);
        assert!(gates.pass(Time::ZERO, 0, held(0, 8)).is_some(), "the first one passes");
        for work in 1..4 {
            assert!(gates.pass(Time::ZERO, 0, held(work, 8)).is_none());
        }
        assert!(gates.pass(Time::ZERO, 1, held(9, 8)).is_some(), "the other tenant is free");
        assert_eq!((gates.waiting(0), gates.limit(0)), (3, limit));
        // 10 ms each, less the burst of 1 ms.
        assert_eq!(passes(&mut gates), [(9, 1), (19, 2), (29, 3)]);
    }

    #[test]
    fn bytes_count_and_a_limit_may_be_lifted() {
        let mut gates = Gates::new(1);
        gates.set(Time::ZERO, 0, TenantLimit { iops: None, bytes_per_s: Some(4096) });
        assert!(gates.pass(Time::ZERO, 0, held(0, 8)).is_some());
        assert!(gates.pass(Time::ZERO, 0, held(1, 8)).is_none());
        assert_eq!(gates.next(), Some(Time(999_000_000_000)), "a second for 4 KiB");
        let later = Time(5_000_000_000);
        gates.set(later, 0, TenantLimit::default());
        assert_eq!(gates.next(), Some(later), "not before the limit was lifted");
        assert_eq!(passes(&mut gates), [(5, 1)]);
        assert!(gates.pass(later, 0, held(2, 8)).is_some());
    }
}
