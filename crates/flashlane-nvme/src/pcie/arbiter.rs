//! Which submission queue the controller fetches from next: round robin, or weighted round robin
//! with an urgent class.

/// Priority classes (QPRIO), 0 for urgent to 3 for low.
pub(super) const CLASSES: usize = 4;

/// The feature Arbitration, 0-based as the host sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weights {
    /// Commands of a queue in a row; `None` for no limit.
    burst: Option<u32>,
    /// Commands of each class in a round: high, medium, low.
    shares: [u32; CLASSES - 1],
}

impl Weights {
    /// The value of the feature.
    pub(super) fn of(feature: u32) -> Self {
        let share = |shift: u32| (feature >> shift & 0xff) + 1;
        let burst = if feature & 7 == 7 { None } else { Some(1 << (feature & 7)) };
        Self { burst, shares: [share(24), share(16), share(8)] }
    }
}

/// The state of arbitration.
#[derive(Clone, Debug, Default)]
pub(super) struct Arbiter {
    /// The queue that was served last in each class.
    last: [u16; CLASSES],
    /// Commands of each class that are left in this round: high, medium, low.
    credits: [u32; CLASSES - 1],
    /// The queue that is being served, its class, and how many commands it may still send.
    turn: Option<(u16, usize, u32)>,
}

impl Arbiter {
    /// The queue to fetch from. `ready`: queues with their classes, by number. Without weights all
    /// queues are of one class.
    pub(super) fn pick(
        &mut self,
        ready: &[(u16, u8)],
        weights: Weights,
        weighted: bool,
    ) -> Option<u16> {
        let class_of = |class: u8| if weighted { usize::from(class) % CLASSES } else { 0 };
        let is_ready = |class: usize| ready.iter().any(|it| class_of(it.1) == class);
        let class = (0..CLASSES).find(|&class| is_ready(class))?;
        let class = if class == 0 { 0 } else { self.class(weights, is_ready) };
        if let Some((queue, of, left)) = self.turn
            && of == class
            && left > 0
            && ready.iter().any(|it| it.0 == queue)
        {
            self.turn = Some((queue, of, left - 1));
            return Some(queue);
        }
        let mut queues = ready.iter().filter(|it| class_of(it.1) == class).map(|it| it.0);
        let last = self.last[class];
        let queue = queues.clone().find(|&queue| queue > last).or_else(|| queues.next())?;
        self.last[class] = queue;
        self.turn = Some((queue, class, weights.burst.map_or(u32::MAX, |burst| burst - 1)));
        Some(queue)
    }

    /// The first class that is ready and has credits, one of which is spent.
    fn class(&mut self, weights: Weights, is_ready: impl Fn(usize) -> bool) -> usize {
        for _ in 0..2 {
            for class in 1..CLASSES {
                if is_ready(class) && self.credits[class - 1] > 0 {
                    self.credits[class - 1] -= 1;
                    return class;
                }
            }
            self.credits = weights.shares;
        }
        unreachable!("a class is ready, and every class has credits at the start of a round")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(arbiter: &mut Arbiter, ready: &[(u16, u8)], weights: u32, count: usize) -> Vec<u16> {
        let pick = |_| arbiter.pick(ready, Weights::of(weights), true).expect("a queue");
        (0..count).map(pick).collect()
    }

    #[test]
    fn queues_take_turns_in_bursts() {
        let mut arbiter = Arbiter::default();
        let ready = [(1, 0), (2, 0), (5, 0)];
        let mut pick = || arbiter.pick(&ready, Weights::of(1), false);
        let found: Vec<_> = (0..8).map_while(|_| pick()).collect();
        assert_eq!(found, [1, 1, 2, 2, 5, 5, 1, 1]);
        assert_eq!(Arbiter::default().pick(&[], Weights::of(0), true), None);
    }

    #[test]
    fn urgent_queues_go_first_and_others_by_weight() {
        let mut arbiter = Arbiter::default();
        // High 3, medium 2, low 1.
        let weights = 2 << 24 | 1 << 16;
        let ready = [(1, 3), (2, 2), (3, 1)];
        let found = picks(&mut arbiter, &ready, weights, 12);
        assert_eq!(found, [3, 3, 3, 2, 2, 1, 3, 3, 3, 2, 2, 1]);
        let urgent = [(1, 3), (2, 2), (3, 1), (4, 0)];
        assert_eq!(picks(&mut arbiter, &urgent, weights, 3), [4, 4, 4]);
        assert_eq!(
            picks(&mut arbiter, &[(1, 3)], weights, 3),
            [1, 1, 1],
            "no class waits for none"
        );
    }
}
