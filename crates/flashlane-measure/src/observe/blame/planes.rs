//! Logs of planes, where the planes of a die read independently.
//!
//! A read waits for its plane: for the reads of that plane, and for programs and erases, which
//! occupy all planes of the die. All other work waits for the die. While planes read, the log of
//! the die has the read that began first among those that are not over.

use flashlane_units::{DieId, FlowId, PlaneId};

use super::charge::Logs;
use super::log::{Log, State};
use flashlane_device::cause::Cause;

/// A page that a plane reads or holds.
#[derive(Clone, Copy, Debug)]
struct Reader {
    plane: PlaneId,
    /// End of the array operation. Unit: picoseconds.
    until: u64,
    flow: FlowId,
    cause: Cause,
}

/// The planes of all dies.
#[derive(Clone, Debug)]
pub(super) struct PlaneLogs {
    pub(super) logs: Vec<Log>,
    per_die: usize,
    /// For each die the reads of its planes that are not over, the oldest first.
    readers: Vec<Vec<Reader>>,
}

impl PlaneLogs {
    /// Logs of a run in which nothing has happened.
    pub(super) fn new(dies: usize, per_die: usize) -> Self {
        let logs = vec![Log::default(); dies * per_die];
        Self { logs, per_die, readers: vec![Vec::new(); dies] }
    }

    fn of(&mut self, die: DieId) -> &mut [Log] {
        &mut self.logs[die.index() * self.per_die..][..self.per_die]
    }
}

/// A read is in the array up to `until`; then its data waits for the channel.
fn push_read(log: &mut Log, now: u64, reader: Reader) {
    let Reader { until, flow, cause, .. } = reader;
    if until > now {
        log.push(now, flow, State::Busy(cause));
    }
    log.push(until.max(now), flow, State::Holds(cause));
}

impl Logs {
    /// True if the planes of a die read independently.
    pub(crate) fn are_of_planes(&self) -> bool {
        self.planes.is_some()
    }

    /// A program or an erase occupies all planes of a die. `works`: flow and cause of each page.
    pub(crate) fn occupy_planes(
        &mut self,
        die: DieId,
        span: (u64, u64),
        works: impl Iterator<Item = (FlowId, Cause)> + Clone,
    ) {
        let Some(planes) = &mut self.planes else { return };
        assert!(planes.readers[die.index()].is_empty(), "no plane of die {die} reads meanwhile");
        planes.of(die).iter_mut().for_each(|log| log.push_shares(span, works.clone()));
    }

    /// A plane of a die begins to read a page.
    pub(crate) fn plane_reads(
        &mut self,
        (die, plane): (DieId, PlaneId),
        (now, until): (u64, u64),
        (flow, cause): (FlowId, Cause),
    ) {
        let Some(planes) = &mut self.planes else { return };
        let reader = Reader { plane, until, flow, cause };
        if planes.readers[die.index()].is_empty() {
            // A program or an erase that the read suspends leaves all planes.
            planes.of(die).iter_mut().for_each(|log| log.push(now, FlowId::new(0), State::Idle));
            push_read(&mut self.dies[die.index()], now, reader);
        }
        planes.readers[die.index()].push(reader);
        push_read(&mut planes.logs[plane.index()], now, reader);
    }

    /// The data of a plane crosses the channel from `now` to `end`; then the plane is free.
    pub(crate) fn plane_gives(
        &mut self,
        (die, plane): (DieId, PlaneId),
        (now, end): (u64, u64),
        (flow, cause): (FlowId, Cause),
    ) {
        let Some(planes) = &mut self.planes else { return };
        let readers = &mut planes.readers[die.index()];
        let of_plane = |reader: &Reader| reader.plane == plane;
        let at = readers.iter().position(of_plane).expect("a plane gives what it has read");
        readers.remove(at);
        let next = readers.first().copied();
        // With cache read, the plane may work on another page already.
        if !readers.iter().any(of_plane) {
            let log = &mut planes.logs[plane.index()];
            log.push(now, flow, State::Busy(cause));
            log.push(end, FlowId::new(0), State::Idle);
        }
        if at == 0 {
            let log = &mut self.dies[die.index()];
            log.push(now, flow, State::Busy(cause));
            match next {
                Some(next) => push_read(log, end, next),
                None => log.push(end, FlowId::new(0), State::Idle),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_die_is_for_the_oldest_of_its_reads() {
        let (die, [first, second]) = (DieId::new(0), [0, 1].map(PlaneId::new));
        let mut logs = Logs::new(1, 1, 2);
        logs.planes = Some(PlaneLogs::new(1, 2));
        let flow = FlowId::new;
        let read = Cause::Read;
        logs.occupy_planes(die, (0, 100), [(flow(1), Cause::Program)].into_iter());
        logs.dies[0].push_shares((0, 100), [(flow(1), Cause::Program)].into_iter());
        logs.plane_reads((die, first), (40, 70), (flow(0), read));
        logs.plane_reads((die, second), (50, 85), (flow(1), read));
        logs.plane_gives((die, first), (72, 80), (flow(0), read));
        logs.plane_gives((die, second), (90, 95), (flow(1), read));
        let pieces = |log: &Log| {
            let mut found = Vec::new();
            log.walk(0, 99, |from, to, point| {
                found.push((from, to, point.flow.get(), point.state));
            });
            found
        };
        let (busy, holds) = (State::Busy(read), State::Holds(read));
        let (program, idle) = (State::Busy(Cause::Program), State::Idle);
        let of_die = [
            (0, 40, 1, program),
            (40, 70, 0, busy),
            (70, 72, 0, holds),
            (72, 80, 0, busy),
            (80, 85, 1, busy),
            (85, 90, 1, holds),
            (90, 95, 1, busy),
            (95, 99, 0, idle),
        ];
        assert_eq!(pieces(&logs.dies[0]), of_die);
        let of_second = [
            (0, 40, 1, program),
            (40, 50, 0, idle),
            (50, 85, 1, busy),
            (85, 90, 1, holds),
            (90, 95, 1, busy),
            (95, 99, 0, idle),
        ];
        let planes = logs.planes.expect("planes have logs");
        assert_eq!(pieces(&planes.logs[1]), of_second);
    }
}
