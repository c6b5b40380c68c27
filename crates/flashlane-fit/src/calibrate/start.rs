//! Where the search begins.

use flashlane_engine::Rng;

use super::evaluate::{Evaluator, Position, Stopped, squares};

/// The best of the start and of a Latin hypercube of positions. The start must work.
pub(super) fn best<S, E>(evaluator: &Evaluator<'_, S>) -> Result<Position, Stopped<E>>
where
    S: Fn(&[f64]) -> Result<Vec<f64>, E> + Sync,
    E: Send,
{
    let mut positions = vec![evaluator.start()];
    let others = evaluator.options.starts.saturating_sub(1);
    let mut rng = Rng::stream(evaluator.options.seed, "calibration starts", 0);
    positions.extend(hypercube(others, evaluator.parameters.len(), &mut rng));
    if positions.len() > evaluator.left() {
        return Err(Stopped::Spent);
    }
    let mut results = evaluator.residuals(&positions).into_iter();
    let mut best = (squares(&results.next().expect("the start has run")?), 0);
    for (index, residuals) in (1..).zip(results) {
        let Ok(residuals) = residuals else { continue };
        let sum = squares(&residuals);
        if sum < best.0 {
            best = (sum, index);
        }
    }
    Ok(positions.swap_remove(best.1))
}

/// Points that divide every axis evenly: each of `count` equal parts has one of them.
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
