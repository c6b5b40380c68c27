//! The memory of queue pairs, of which there may be many, is looked at in turn.

use flashlane_engine::Array;
use flashlane_units::QueueId;

/// Queue pairs whose memory is looked at together, so that the cost of a look has a bound.
const FITTED_TOGETHER: usize = 1024;

/// The queue pairs whose memory is looked at now, out of all of them. `next`: the first of them.
pub(crate) fn fitted<'a, Q>(
    queues: &'a mut Array<QueueId, Q>,
    next: &mut usize,
) -> impl Iterator<Item = &'a mut Q> {
    let (first, count) = (*next, queues.len());
    *next = if first + FITTED_TOGETHER < count { first + FITTED_TOGETHER } else { 0 };
    queues.iter_mut().skip(first).take(FITTED_TOGETHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_many_queues_is_looked_at_in_turn() {
        let mut array: Array<QueueId, u32> = Array::of(0, 2500);
        let mut next = 0;
        for _ in 0..3 {
            fitted(&mut array, &mut next).for_each(|seen| *seen += 1);
        }
        assert!(next == 0 && array.iter().all(|&seen| seen == 1));
    }
}
