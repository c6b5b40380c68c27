//! The kinds of pages, by the time of their array.

/// Least relative difference between two kinds.
const APART: f64 = 0.02;
/// Least share of a kind among all pages.
const SHARE: f64 = 0.1;
/// Most kinds of pages of flash memory: the bits of a cell.
const MOST: usize = 4;

/// Latencies in groups: the median of each, in ascending order. One group if they do not clearly
/// form up to four.
///
/// A group begins after a gap without measurements, and has a tenth of all latencies. A few
/// latencies between groups, or far away, belong to none.
#[must_use]
pub fn levels(mut latencies: Vec<f64>) -> Vec<f64> {
    latencies.sort_by(f64::total_cmp);
    let mut groups: Vec<Vec<f64>> = Vec::new();
    for &latency in &latencies {
        match groups.last_mut() {
            Some(group) if latency < group[group.len() - 1] * (1.0 + APART) => group.push(latency),
            _ => groups.push(vec![latency]),
        }
    }
    let total = latencies.len() as f64;
    groups.retain(|group| group.len() as f64 >= SHARE * total);
    let kept: usize = groups.iter().map(Vec::len).sum();
    if groups.is_empty() || groups.len() > MOST || (kept as f64) < (1.0 - SHARE) * total {
        groups = vec![latencies];
    }
    groups.into_iter().map(super::median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_fall_apart_are_levels() {
        let around = |middle: f64| (0..100).map(move |at| middle + f64::from(at) * 0.002);
        let mut three: Vec<f64> = around(50.0).chain(around(60.0)).chain(around(80.0)).collect();
        three.push(400.0);
        let found = levels(three);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!((found[1] - 60.1).abs() < 0.01, "{found:?}");
        let even: Vec<f64> = (0..1000).map(|at| 50.0 + f64::from(at) * 0.05).collect();
        assert_eq!(levels(even).len(), 1);
        assert_eq!(levels(vec![7.0]), [7.0]);
    }
}
