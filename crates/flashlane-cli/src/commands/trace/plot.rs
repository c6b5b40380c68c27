//! A plot of requests over time, in text.

use std::fmt::Write as _;

use flashlane_trace::statistics::Profile;

use crate::table::number;

/// Rows and columns of a plot. Unit: characters.
const ROWS: usize = 6;
const COLUMNS: usize = 64;
/// Parts of a character, from an eighth to the whole.
const PARTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Reads and writes per second over time, one plot each; nothing for a trace of an instant.
pub(super) fn plots(profile: &Profile) -> String {
    let mut text = String::new();
    let sides = [("reads", profile.reads()), ("writes", profile.writes())];
    for (name, counts) in sides {
        if counts.len() < 2 || counts.iter().all(|count| *count == 0) {
            continue;
        }
        text.push_str(&plot(name, counts, profile.interval_ps()));
    }
    text
}

fn plot(name: &str, counts: &[u64], interval_ps: u64) -> String {
    let columns = counts.len().min(COLUMNS);
    let seconds = counts.len() as f64 * interval_ps as f64 / 1e12;
    // Every column stands for the intervals that begin in it.
    let mut sums = vec![0_u64; columns];
    let mut widths = vec![0_u64; columns];
    for (at, count) in counts.iter().enumerate() {
        sums[at * columns / counts.len()] += count;
        widths[at * columns / counts.len()] += 1;
    }
    let rate = |(sum, width): (&u64, &u64)| *sum as f64 / (*width * interval_ps) as f64 * 1e12;
    let rates: Vec<f64> = sums.iter().zip(&widths).map(rate).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let mut text = String::new();
    for row in (0..ROWS).rev() {
        let label = if row + 1 == ROWS { number(highest) } else { String::new() };
        let line: String = rates.iter().map(|rate| part(rate / highest, row)).collect();
        let _ = writeln!(text, "{label:>9} |{}", line.trim_end());
    }
    let _ = writeln!(text, "{name:>9} +{}", "-".repeat(columns));
    let end = format!("{} s", number(seconds));
    let _ = writeln!(text, "{:>9}  0{end:>width$}", "per s", width = columns - 1);
    text
}

/// What a share of the height fills of a row. A rate above 0 shows in the lowest row.
fn part(share: f64, row: usize) -> char {
    let eighths = (share * (ROWS * PARTS.len()) as f64).ceil() as usize;
    match eighths.saturating_sub(row * PARTS.len()) {
        0 => ' ',
        filled => PARTS[filled.min(PARTS.len()) - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_high_as_their_rates() {
        let text = plot("reads", &[0, 1, 24, 48], 250_000_000_000);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), ROWS + 2);
        assert_eq!(lines[0], "    192.0 |   █");
        assert_eq!(lines[3], "          |  ██");
        assert_eq!(lines[5], "          | ▁██");
        assert_eq!(lines[6], "    reads +----");
        assert_eq!(lines[7], "    per s  01.00 s");
    }

    #[test]
    fn an_instant_has_no_plot() {
        assert_eq!(plots(&Profile::default()), "");
    }
}
