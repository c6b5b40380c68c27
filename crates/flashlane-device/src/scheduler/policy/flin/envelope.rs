//! The least and the most slowed transaction of a block of a queue, at any time, without a look at
//! each transaction.
//!
//! Let `x` be the time now plus the cost of all work ahead of the block. The slowdown of a
//! transaction is `(x + base) / alone`. Here `base` is the cost in the block up to and including
//! the transaction, less the time at which it was queued. `base` and `alone` do not change while
//! the block does not.
//!
//! Take the transactions as points (alone, base). The slowdown is the slope of a line from (0, -x)
//! to the point: the steepest line touches the upper hull of the points, the flattest line the
//! lower hull. All comparisons are exact, in integers, so the quotients equal those of a look at
//! every transaction, to the last bit.

/// A transaction as a point. Unit: picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    /// Response time (Eq. 3) if the flow ran alone. Range: 1 and above.
    pub(super) alone: u64,
    pub(super) base: i64,
}

/// The slowdown of a transaction at `x`. Both numbers are below 2^53 in any run: exact as floats.
pub(super) fn slowdown(point: Point, x: i64) -> f64 {
    (x + point.base) as f64 / point.alone as f64
}

/// True if `a` is slowed more than `b`.
fn exceeds(a: Point, b: Point, x: i64) -> bool {
    let product = |of: Point, with: Point| i128::from(x + of.base) * i128::from(with.alone);
    product(a, b) > product(b, a)
}

/// The hulls of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    upper: Vec<Point>,
    lower: Vec<Point>,
}

impl Envelope {
    /// Builds both hulls, after sorting the points.
    pub(super) fn build(&mut self, points: &mut [Point]) {
        debug_assert!(points.iter().all(|point| point.alone > 0), "a response takes time");
        points.sort_unstable();
        self.upper.clear();
        self.lower.clear();
        for &point in points.iter() {
            // Points with equal `alone` are sorted by base: the last has the largest base, the
            // first the smallest.
            push(&mut self.upper, point, |turn| turn >= 0);
            if self.lower.last().is_none_or(|last| last.alone != point.alone) {
                push(&mut self.lower, point, |turn| turn <= 0);
            }
        }
    }

    /// Smallest and largest slowdown of the block.
    pub(super) fn extremes(&self, x: i64) -> (f64, f64) {
        // Along a hull, the slope from a point to its left neighbour rises and falls once.
        let most = peak(&self.upper, |a, b| exceeds(b, a, x));
        let least = peak(&self.lower, |a, b| exceeds(a, b, x));
        debug_assert!(!exceeds(least, most, x), "the hulls belong to the same points");
        (slowdown(least, x), slowdown(most, x))
    }
}

/// Adds the next point of a hull, and removes earlier points that now lie inside.
fn push(hull: &mut Vec<Point>, point: Point, inside: impl Fn(i128) -> bool) {
    while let [.., before, last] = hull[..] {
        let run = |to: Point| i128::from(to.alone) - i128::from(before.alone);
        let rise = |to: Point| i128::from(to.base) - i128::from(before.base);
        // Positive if the path turns left from `last` to `point`.
        if !inside(run(last) * rise(point) - rise(last) * run(point)) {
            break;
        }
        hull.pop();
    }
    hull.push(point);
}

/// The first point from which the step to the next point is no longer `better`: a binary search.
fn peak(hull: &[Point], better: impl Fn(Point, Point) -> bool) -> Point {
    let (mut low, mut high) = (0, hull.len() - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if better(hull[middle], hull[middle + 1]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    hull[low]
}

#[cfg(test)]
mod tests {
    use flashlane_engine::Rng;

    use super::*;

    #[test]
    fn hulls_find_what_looking_at_every_point_finds() {
        let mut rng = Rng::stream(5, "test.flin", 0);
        for case in 0..3000 {
            let spread = 1 + rng.below(if case % 2 == 0 { 5 } else { 1_000_000_000_000 });
            let count = 1 + rng.below(40);
            let mut points: Vec<Point> = (0..count)
                .map(|_| Point {
                    alone: 1 + rng.below(spread),
                    base: rng.below(2 * spread) as i64 - spread as i64,
                })
                .collect();
            let mut envelope = Envelope::default();
            envelope.build(&mut points);
            for _ in 0..5 {
                let x = spread as i64 + 1 + rng.below(4 * spread) as i64;
                let all = || points.iter().map(|&point| slowdown(point, x));
                let least = all().fold(f64::INFINITY, f64::min);
                let most = all().fold(0.0, f64::max);
                assert_eq!(envelope.extremes(x), (least, most));
            }
        }
    }

    #[test]
    fn points_inside_are_dropped() {
        let point = |alone, base| Point { alone, base };
        let mut points =
            vec![point(10, 0), point(20, 10), point(30, 0), point(20, 5), point(20, 0)];
        let mut envelope = Envelope::default();
        envelope.build(&mut points);
        assert_eq!(envelope.upper, [point(10, 0), point(20, 10), point(30, 0)]);
        assert_eq!(envelope.lower, [point(10, 0), point(30, 0)]);
        // (100 + 0) / 10 = 10 and (100 + 0) / 30.
        assert_eq!(envelope.extremes(100), (100.0 / 30.0, 10.0));
    }
}
