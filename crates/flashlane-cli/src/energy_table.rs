//! Tables of energy and wear by tenant.

use flashlane::metrics::{EnergySummary, SeedStatistics, Summary, WearSummary};
use flashlane::visible_line;

use crate::summary_table::shown;
use crate::table::{Table, maybe, number};

/// Energy and wear by tenant, with a row for the drive; empty if neither was counted.
pub(crate) fn energy(summary: &Summary, seeds: Option<&SeedStatistics>) -> String {
    let Some(wear) = &summary.wear else { return String::new() };
    let window_s = summary.window_end_s - summary.window_start_s;
    let mut joules = Table::new(&[
        "energy, mJ",
        "all",
        "reads",
        "programs",
        "erases",
        "transfers",
        "DRAM",
        "idle",
        "of it collection",
        "mean W",
    ]);
    let mut worn = Table::new(&[
        "wear",
        "programs",
        "erases",
        "share %",
        "amplification",
        "drive writes a day",
        "TBW",
        "rated wear after",
    ]);
    let flows = summary.flows.iter().enumerate().filter_map(|(index, flow)| {
        let path = format!("flows[{index}].");
        Some((visible_line(&flow.name).into_owned(), path, flow.energy, flow.wear?))
    });
    let drive = ("the drive".to_owned(), String::new(), summary.energy, *wear);
    for (name, path, energy, wear) in flows.chain([drive]) {
        let row = Row { path, seeds, window_s };
        if let Some(energy) = &energy {
            joules.row(row.of_energy(name.clone(), energy));
        }
        worn.row(row.of_wear(name, &wear));
    }
    let joules = match joules.is_empty() {
        true => "energy: more than 18 MJ, which picojoules in 64 bits do not hold\n".to_owned(),
        false => joules.render(),
    };
    format!("\n{joules}\n{}", worn.render())
}

/// A row under construction.
struct Row<'a> {
    path: String,
    seeds: Option<&'a SeedStatistics>,
    window_s: f64,
}

impl Row<'_> {
    /// The mean over the seeds, or the figure of the only seed.
    fn mean(&self, key: &str, value: f64) -> f64 {
        let path = format!("{}{key}", self.path);
        self.seeds.and_then(|seeds| seeds.get(&path)).map_or(value, |estimate| estimate.mean)
    }

    fn count(&self, key: &str, value: u64) -> String {
        match self.seeds {
            Some(seeds) if seeds.seeds.len() > 1 => {
                number(self.mean(&format!("wear.{key}"), value as f64))
            }
            _ => value.to_string(),
        }
    }

    fn of_energy(&self, name: String, energy: &EnergySummary) -> Vec<String> {
        let mut cells = vec![name];
        for (key, value) in [
            ("total_pj", energy.total_pj),
            ("reads_pj", energy.reads_pj),
            ("programs_pj", energy.programs_pj),
            ("erases_pj", energy.erases_pj),
            ("transfers_pj", energy.transfers_pj),
            ("dram_pj", energy.dram_pj),
            ("idle_pj", energy.idle_pj),
            ("collection_pj", energy.collection_pj),
        ] {
            cells.push(number(self.mean(&format!("energy.{key}"), value as f64) / 1e9));
        }
        let all = self.mean("energy.total_pj", energy.total_pj as f64) / 1e12;
        cells.push(maybe((self.window_s > 0.0).then(|| all / self.window_s)));
        cells
    }

    fn of_wear(&self, name: String, wear: &WearSummary) -> Vec<String> {
        let shown =
            |key: &str, value| shown(self.seeds, &format!("{}wear.{key}", self.path), value);
        vec![
            name,
            self.count("programs", wear.programs),
            self.count("erases", wear.erases),
            number(100.0 * self.mean("wear.share", wear.share)),
            shown("write_amplification", wear.write_amplification),
            shown("drive_writes_per_day", wear.drive_writes_per_day),
            shown("tbw", wear.tbw),
            wear.years_to_rated_wear.map_or_else(
                || "-".to_owned(),
                |years| lifetime(self.mean("wear.years_to_rated_wear", years)),
            ),
        ]
    }
}

/// A lifetime in a suitable unit.
fn lifetime(years: f64) -> String {
    let days = years * 365.25;
    let (value, unit) = match days {
        0.0..1.0 => (days * 24.0, "h"),
        1.0..365.25 => (days, "days"),
        _ => (years, "years"),
    };
    format!("{} {unit}", number(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_have_a_unit_that_suits_them() {
        let shown = [0.5 / 365.25, 0.1, 7.5].map(lifetime);
        assert_eq!(shown, ["12.00 h", "36.52 days", "7.50 years"]);
    }
}
