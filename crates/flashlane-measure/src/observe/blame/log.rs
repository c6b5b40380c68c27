//! Logs of dies and channels: which flow had them at which time, as far back as something still
//! waits.

use flashlane_units::FlowId;
use std::collections::VecDeque;

use super::sums::{LEAF, Sum, Sums};
use flashlane_device::cause::Cause;

/// State of a resource from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The resource is idle.
    Idle,
    /// The resource works for a flow.
    Busy(Cause),
    /// A die holds data of a flow that waits for its channel.
    Holds(Cause),
}

/// The state of a resource from a time on, and the flow that it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    at: u64,
    pub(crate) flow: FlowId,
    pub(crate) state: State,
}

/// A part of a span of a log.
pub(super) enum Part<'a> {
    /// A piece of the span: its start, its end and the state of the resource.
    Piece(u64, u64, &'a Point),
    /// The sum over many pieces.
    Sum(&'a Sum),
}

/// Number of the point at which a look into a log begins. A look near the last one is quick. The
/// first look begins at the end of the log, since most waits began not long ago.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor(u64);

impl Default for Cursor {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

/// The states of one resource in order of time. Unit of times: picoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    points: VecDeque<Point>,
    /// Number of points that were forgotten. Points are numbered from the start of the run, and
    /// piece `n` begins at point `n`.
    forgotten: u64,
    sums: Sums,
    /// Time up to which the work is summed up, so that it does not change any more.
    settled: u64,
}

impl Log {
    /// Sets the state of the resource from `at` on. A later state that was planned is void.
    pub(crate) fn push(&mut self, at: u64, flow: FlowId, state: State) {
        assert!(at >= self.settled, "what is summed up does not change");
        while self.points.back().is_some_and(|point| point.at >= at) {
            self.points.pop_back();
        }
        self.points.push_back(Point { at, flow, state });
    }

    /// Shares the span of a command out: its pages have the resource one after the other, each for
    /// the same time. `pages`: flow and cause of each, at least one. Then the resource is idle.
    pub(crate) fn push_shares(
        &mut self,
        (from, to): (u64, u64),
        pages: impl Iterator<Item = (FlowId, Cause)> + Clone,
    ) {
        let count = pages.clone().count() as u64;
        for (index, (flow, cause)) in (0..).zip(pages) {
            self.push(from + (to - from) / count * index, flow, State::Busy(cause));
        }
        self.push(to, FlowId::new(0), State::Idle);
    }

    /// Calls `visit` for every piece of a span in order of time, with its start, its end and its
    /// state.
    #[cfg(test)]
    pub(super) fn walk(&self, from: u64, to: u64, visit: impl FnMut(u64, u64, &Point)) {
        self.walk_at(self.first_after(from, &mut Cursor::default()), (from, to), visit);
    }

    /// Walks as [`Log::walk`] does, from the first point after `from` on, which is known.
    fn walk_at(
        &self,
        next: usize,
        (from, to): (u64, u64),
        mut visit: impl FnMut(u64, u64, &Point),
    ) {
        let mut current = match next.checked_sub(1) {
            Some(at) => self.points[at],
            None => Point { at: from, flow: FlowId::new(0), state: State::Idle },
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

    /// False if no wait from this time on can contain all pieces of a sum.
    pub(super) fn is_long(&self, from: u64) -> bool {
        let leaf = self.points.len().checked_sub(LEAF as usize + 1);
        leaf.is_some_and(|at| self.points[at].at > from)
    }

    /// The first point after a time. The search begins at the cursor, in growing steps, and leaves
    /// the cursor at the result.
    fn first_after(&self, time: u64, cursor: &mut Cursor) -> usize {
        let is_after = |at: usize| self.points[at].at > time;
        let near = cursor.0.saturating_sub(self.forgotten).min(self.points.len() as u64) as usize;
        let (mut low, mut high, mut step) = (0, self.points.len(), 1);
        if near > 0 && is_after(near - 1) {
            high = near - 1;
            while step <= high {
                if !is_after(high - step) {
                    low = high - step + 1;
                    break;
                }
                high -= step;
                step *= 2;
            }
        } else {
            low = near;
            while low + step <= high {
                if is_after(low + step - 1) {
                    high = low + step - 1;
                    break;
                }
                low += step;
                step *= 2;
            }
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_after(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        cursor.0 = low as u64 + self.forgotten;
        low
    }

    /// Sums up the pieces that ended at `until` or before, which do not change any more. `charge`
    /// adds the charges of a piece to a sum.
    pub(super) fn sum_up(
        &mut self,
        until: u64,
        mut charge: impl FnMut(u64, u64, &Point, &mut Sum),
    ) {
        loop {
            let first = (self.sums.next() - self.forgotten) as usize;
            let last = first + LEAF as usize;
            match self.points.get(last) {
                Some(end) if end.at <= until => self.settled = end.at,
                _ => return,
            }
            let mut sum = Sum::default();
            for at in first..last {
                let (point, next) = (&self.points[at], &self.points[at + 1]);
                charge(point.at, next.at, point, &mut sum);
            }
            self.sums.push(sum);
        }
    }

    /// Forbids changes to the states before `at`.
    pub(super) fn settle(&mut self, at: u64) {
        self.settled = self.settled.max(at);
    }

    /// End of the last piece that is summed up.
    pub(super) fn settled(&self) -> u64 {
        self.settled
    }

    /// Walks as [`Log::walk`] does, with sums in place of pieces where there are any.
    pub(super) fn walk_sums(
        &self,
        (from, to): (u64, u64),
        cursor: &mut Cursor,
        visit: &mut impl FnMut(Part<'_>),
    ) {
        let next = self.first_after(from, cursor);
        let mut pieces = |from: u64, to: u64, point: &Point| {
            visit(Part::Piece(from, to, point));
        };
        // Sums cover whole pieces, but the first piece of the span and the last one may be cut.
        if self.points.get(next + LEAF as usize).is_none_or(|point| point.at >= to) {
            self.walk_at(next, (from, to), pieces);
            return;
        }
        self.walk_at(next, (from, self.points[next].at), &mut pieces);
        let mut piece = cursor.0;
        let end = self.first_after(to - 1, cursor);
        let last = cursor.0 - 1;
        while piece < last {
            if let Some((level, number, size)) = self.sums.largest(piece, last) {
                visit(Part::Sum(self.sums.get(level, number)));
                piece += size;
            } else {
                self.visit_piece(piece, visit);
                piece += 1;
            }
        }
        let point = &self.points[end - 1];
        visit(Part::Piece(point.at, to, point));
    }

    fn visit_piece(&self, piece: u64, visit: &mut impl FnMut(Part<'_>)) {
        let at = (piece - self.forgotten) as usize;
        let (point, next) = (&self.points[at], &self.points[at + 1]);
        visit(Part::Piece(point.at, next.at, point));
    }

    /// Forgets all states before the one at `oldest`, which no wait needs any more.
    pub(crate) fn trim(&mut self, oldest: u64) {
        let later = self.points.partition_point(|point| point.at <= oldest);
        let forgotten = later.saturating_sub(1);
        self.points.drain(..forgotten);
        self.forgotten += forgotten as u64;
        self.sums.trim(self.forgotten);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(log: &Log, from: u64, to: u64) -> Vec<(u64, u64, u16, State)> {
        let mut found = Vec::new();
        log.walk(from, to, |start, end, point| {
            found.push((start, end, point.flow.get(), point.state))
        });
        found
    }

    #[test]
    fn a_span_is_cut_into_what_the_resource_did() {
        let (read, program) = (State::Busy(Cause::Read), State::Busy(Cause::Program));
        let mut log = Log::default();
        log.push(10, FlowId::new(1), read);
        log.push(30, FlowId::new(0), State::Idle);
        log.push(30, FlowId::new(2), program);
        log.push(90, FlowId::new(0), State::Idle);
        assert_eq!(pieces(&log, 0, 5), [(0, 5, 0, State::Idle)]);
        assert_eq!(pieces(&log, 20, 40), [(20, 30, 1, read), (30, 40, 2, program)]);
        assert_eq!(pieces(&log, 95, 99), [(95, 99, 0, State::Idle)]);
        assert_eq!(pieces(&log, 50, 50), []);
        // Interrupted at 50: the planned end is void.
        log.push(50, FlowId::new(1), read);
        assert_eq!(pieces(&log, 40, 99), [(40, 50, 2, program), (50, 99, 1, read)]);
        log.trim(49);
        assert_eq!(pieces(&log, 49, 60), [(49, 50, 2, program), (50, 60, 1, read)]);
        assert_eq!(log.points.len(), 2);
    }
}
