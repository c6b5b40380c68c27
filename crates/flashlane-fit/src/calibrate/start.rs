//! Starting points of the search.

use flashlane_engine::Rng;

use super::evaluate::{Evaluator, Position, Stopped};
use super::problem::loss;

/// Tries the first start, which must work.
pub(super) fn check<S, E>(evaluator: &Evaluator<'_, S>, start: &Position) -> Result<(), Stopped<E>>
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let result = evaluator.residuals(std::slice::from_ref(start)).pop();
    result.expect("one position gives one result").map(|_| ())
}

/// The best of a Latin hypercube of positions. `None` if the options ask for none, the model
/// refuses all, or too few evaluations are left.
pub(super) fn best<S, E>(evaluator: &Evaluator<'_, S>) -> Option<Position>
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let count = evaluator.options.starts.saturating_sub(1);
    let mut rng = Rng::stream(evaluator.options.seed, "calibration starts", 0);
    let mut positions = hypercube(count, evaluator.parameters.len(), &mut rng);
    if count > evaluator.left() {
        return None;
    }
    let results = evaluator.residuals(&positions).into_iter().enumerate();
    let tail = evaluator.options.tail;
    let sums = results.filter_map(|(at, residuals)| Some((at, loss(&residuals.ok()?, tail))));
    let best = sums.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(positions.swap_remove(best.0))
}

/// Points that divide every axis evenly: each of `count` equal parts contains one point.
fn hypercube(count: usize, axes: usize, rng: &mut Rng) -> Vec<Position> {
    let mut points = vec![Vec::with_capacity(axes); count];
    for _ in 0..axes {
        let mut parts: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            parts.swap(last, rng.below(last as u64 + 1) as usize);
        }
        for (point, part) in points.iter_mut().zip(parts) {
            point.push((part as f64 + 0.5) / count as f64);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_axis_has_a_point() {
        let points = hypercube(8, 3, &mut Rng::stream(1, "test", 0));
        for axis in 0..3 {
            let mut parts: Vec<_> = points.iter().map(|point| (point[axis] * 8.0) as u32).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..8).collect::<Vec<_>>());
        }
    }
}
