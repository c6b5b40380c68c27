//! Who had a die or a channel when, as far back as somebody still waits.

use std::collections::VecDeque;

use super::cause::Cause;

/// What a resource does from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing.
    Idle,
    /// It works for a flow.
    Busy(Cause),
    /// A die holds data of a flow that waits for its channel.
    Holds(Cause),
}

/// How much sooner a piece of work would have had its die but for others, and who these are: the largest
/// cells, with their times. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delay {
    pub(crate) ps: u64,
    pub(crate) by: [(u32, u64); 3],
}

/// What a resource does from a time on, for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    at: u64,
    pub(crate) flow: u16,
    pub(crate) state: State,
    pub(crate) delay: Delay,
}

/// The states of one resource in order of time. Unit of times: picoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    points: VecDeque<Point>,
}

impl Log {
    /// From `at` on the resource does this; what was planned for later is void.
    pub(crate) fn push(&mut self, at: u64, flow: u16, state: State) {
        self.push_delayed(at, flow, state, Delay::default());
    }

    /// The same for work that others delayed.
    pub(crate) fn push_delayed(&mut self, at: u64, flow: u16, state: State, delay: Delay) {
        while self.points.back().is_some_and(|point| point.at >= at) {
            self.points.pop_back();
        }
        self.points.push_back(Point { at, flow, state, delay });
    }

    /// By how much others delayed what the resource does at last.
    pub(crate) fn last_delay(&self) -> Delay {
        self.points.back().map_or(Delay::default(), |point| point.delay)
    }

    /// Calls `visit` with start and end of every piece of a span, in order of time, and what it is.
    pub(crate) fn walk(&self, from: u64, to: u64, mut visit: impl FnMut(u64, u64, &Point)) {
        let next = self.points.partition_point(|point| point.at <= from);
        let mut current = match next.checked_sub(1) {
            Some(at) => self.points[at],
            None => Point { at: from, flow: 0, state: State::Idle, delay: Delay::default() },
        };
        let mut start = from;
        for point in self.points.range(next..) {
            if point.at >= to {
                break;
            }
            visit(start, point.at, &current);
            (start, current) = (point.at, *point);
        }
        if start < to {
            visit(start, to, &current);
        }
    }

    /// Forgets what nobody asks for any more: all before the state at `oldest`.
    pub(crate) fn trim(&mut self, oldest: u64) {
        let later = self.points.partition_point(|point| point.at <= oldest);
        self.points.drain(..later.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(log: &Log, from: u64, to: u64) -> Vec<(u64, u64, u16, State)> {
        let mut found = Vec::new();
        log.walk(from, to, |start, end, point| found.push((start, end, point.flow, point.state)));
        found
    }

    #[test]
    fn a_span_is_cut_into_what_the_resource_did() {
        let (read, program) = (State::Busy(Cause::Read), State::Busy(Cause::Program));
        let mut log = Log::default();
        log.push(10, 1, read);
        log.push(30, 0, State::Idle);
        log.push(30, 2, program);
        log.push(90, 0, State::Idle);
        assert_eq!(pieces(&log, 0, 5), [(0, 5, 0, State::Idle)]);
        assert_eq!(pieces(&log, 20, 40), [(20, 30, 1, read), (30, 40, 2, program)]);
        assert_eq!(pieces(&log, 95, 99), [(95, 99, 0, State::Idle)]);
        assert_eq!(pieces(&log, 50, 50), []);
        // Interrupted at 50: the end that was planned is void.
        log.push(50, 1, read);
        assert_eq!(pieces(&log, 40, 99), [(40, 50, 2, program), (50, 99, 1, read)]);
        log.trim(49);
        assert_eq!(pieces(&log, 49, 60), [(49, 50, 2, program), (50, 60, 1, read)]);
        assert_eq!(log.points.len(), 2);
    }
}
