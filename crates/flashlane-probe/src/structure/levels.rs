//! How many kinds of pages there are, by the time that their array takes.

/// Two kinds differ by at least this share.
const APART: f64 = 0.02;
/// A kind has at least this share of all pages.
const SHARE: f64 = 0.1;
/// Kinds that flash memory has at most: bits of a cell.
const MOST: usize = 4;

/// Latencies in groups: the middle of each, in ascending order. One group where they do not fall
/// apart clearly into up to four.
///
/// A group begins where nothing was measured for a while and has a tenth of all. Few that stand
/// between groups, or far away, belong to none.
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
