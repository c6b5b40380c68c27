//! Chips over time: the busy share of each chip in each part of the run.

use flashlane::metrics::summary::ChipSummary;
use flashlane::observe::SeriesWindow;
use serde::{Deserialize, Serialize};

/// Most parts of the run, as many as a screen can show.
const COLUMNS: usize = 240;
/// Most rows; drives with more chips show the mean of each channel.
const ROWS: usize = 128;

/// Busy shares, a row for each chip and a column for each part of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChipHeat {
    /// Names of the rows: `channel 0, chip 1`, or `channel 0` if a row is a channel.
    pub rows: Vec<String>,
    /// End of each part, from the start of the run. Unit: seconds.
    pub end_s: Vec<f64>,
    /// By row and part. Unit: percent.
    pub busy: Vec<Vec<u8>>,
}

impl ChipHeat {
    /// `None` if the windows have no data on single chips.
    pub(crate) fn new(windows: &[SeriesWindow], chips: &[ChipSummary]) -> Option<Self> {
        if chips.is_empty() || windows.iter().any(|window| window.chips.len() != chips.len()) {
            return None;
        }
        let stride = windows.len().div_ceil(COLUMNS).max(1);
        let parts: Vec<&[SeriesWindow]> = windows.chunks(stride).collect();
        let rows = rows(chips);
        let percent = |part: &[SeriesWindow], row: &[usize]| {
            let length = |window: &SeriesWindow| window.end_s - window.start_s;
            let busy: f64 = part
                .iter()
                .map(|window| {
                    row.iter().map(|&chip| window.chips[chip]).sum::<f64>() * length(window)
                })
                .sum();
            let whole = part.iter().map(length).sum::<f64>() * row.len() as f64;
            (100.0 * busy / whole.max(1e-12)).clamp(0.0, 100.0).round() as u8
        };
        Some(Self {
            busy: rows
                .iter()
                .map(|(_, row)| parts.iter().map(|part| percent(part, row)).collect())
                .collect(),
            rows: rows.into_iter().map(|(name, _)| name).collect(),
            end_s: parts.iter().map(|part| part[part.len() - 1].end_s).collect(),
        })
    }
}

/// Names of rows, with their chips as indices into the summary.
fn rows(chips: &[ChipSummary]) -> Vec<(String, Vec<usize>)> {
    if chips.len() <= ROWS {
        let name = |chip: &ChipSummary| format!("channel {}, chip {}", chip.channel, chip.chip);
        return chips.iter().enumerate().map(|(at, chip)| (name(chip), vec![at])).collect();
    }
    let mut rows: Vec<(u32, Vec<usize>)> = Vec::new();
    for (at, chip) in chips.iter().enumerate() {
        match rows.last_mut() {
            Some((channel, row)) if *channel == chip.channel => row.push(at),
            _ => rows.push((chip.channel, vec![at])),
        }
    }
    rows.into_iter().map(|(channel, row)| (format!("channel {channel}"), row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip(channel: u32, chip: u32) -> ChipSummary {
        ChipSummary { channel, chip, ..ChipSummary::default() }
    }

    fn window(start_s: f64, end_s: f64, chips: &[f64]) -> SeriesWindow {
        SeriesWindow { start_s, end_s, chips: chips.to_vec(), ..SeriesWindow::default() }
    }

    #[test]
    fn parts_of_the_run_weigh_as_much_as_they_last() {
        let chips = [chip(0, 0), chip(0, 1)];
        let windows: Vec<SeriesWindow> = (0..2 * COLUMNS)
            .map(|at| window(at as f64, at as f64 + 1.0, &[f64::from(at % 2 == 0), 0.25]))
            .collect();
        let heat = ChipHeat::new(&windows, &chips).expect("chips");
        assert_eq!(heat.rows, ["channel 0, chip 0", "channel 0, chip 1"]);
        assert_eq!((heat.end_s.len(), heat.busy[0].len()), (COLUMNS, COLUMNS));
        assert!(heat.busy[0].iter().all(|&busy| busy == 50), "every second window");
        assert!(heat.busy[1].iter().all(|&busy| busy == 25));
        let uneven = [window(0.0, 3.0, &[1.0, 0.0]), window(3.0, 4.0, &[0.0, 0.0])];
        assert_eq!(ChipHeat::new(&uneven, &chips).expect("chips").busy[0], [100, 0]);
    }

    #[test]
    fn many_chips_are_shown_by_channel() {
        let chips: Vec<ChipSummary> =
            (0..4).flat_map(|c| (0..64).map(move |n| chip(c, n))).collect();
        let busy: Vec<f64> = (0..256).map(|at| f64::from(at < 64)).collect();
        let heat = ChipHeat::new(&[window(0.0, 1.0, &busy)], &chips).expect("chips");
        assert_eq!(heat.rows, ["channel 0", "channel 1", "channel 2", "channel 3"]);
        assert_eq!(heat.busy, [[100], [0], [0], [0]]);
    }

    #[test]
    fn without_readings_there_is_no_map() {
        assert_eq!(ChipHeat::new(&[window(0.0, 1.0, &[])], &[chip(0, 0)]), None);
        assert_eq!(ChipHeat::new(&[], &[]), None);
    }
}
