//! "Did you mean": the nearest of a few allowed words.

/// Longest word that may be a misspelling. Unit: bytes.
const LENGTH_MAX: usize = 256;

/// The allowed word that is nearest to `found`.
#[must_use]
pub fn nearest<'a>(found: &str, allowed: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long text is no misspelling, and the time of a comparison grows with the square of its
    // length.
    if found.len() > LENGTH_MAX {
        return None;
    }
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let wanted = plain(found);
    allowed
        .into_iter()
        .map(|word| (likeness(&wanted, &plain(word)), word))
        .filter(|&(score, _)| score >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

/// 1 for equal words, 0 for words without anything in common. A single slip in a short word counts
/// little.
fn likeness(a: &str, b: &str) -> f64 {
    let slip = a.len() >= 3 && strsim::osa_distance(a, b) == 1;
    strsim::jaro_winkler(a, b).max(if slip { 0.9 } else { 0.0 })
}

/// `` did you mean `x`? `` and the list of what is allowedfor the end of a message.
#[must_use]
pub fn allowed(found: &str, allowed: &[&str]) -> String {
    let list = allowed.join(", ");
    match nearest(found, allowed.iter().copied()) {
        Some(word) => format!("did you mean `{word}`? allowed: {list}"),
        None => format!("allowed: {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["out-of-order", "read-priority", "fcfs"];
        assert_eq!(nearest("out_of_ordr", words), Some("out-of-order"));
        assert_eq!(nearest("FCSF", words), Some("fcfs"));
        assert_eq!(nearest("mcl", ["slc", "mlc", "tlc"]), Some("mlc"));
        assert_eq!(nearest("zebra", words), None);
        assert!(allowed("zebra", &words).starts_with("allowed: out-of-order"));
    }
}
