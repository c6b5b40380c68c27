//! What the tutorial and the tasks say of numbers that come from one seed holds under others, too:
//! two of them in `make test`, and as many as `PAGE_SEEDS` says, 8 in `make long`.

use std::path::Path;

use crate::common::{flashlane, repository, text};
use serde_json::Value;

/// Seeds of each run.
fn seeds() -> usize {
    let asked = std::env::var("PAGE_SEEDS");
    asked.map_or(2, |seeds| seeds.parse().expect("PAGE_SEEDS is a number"))
}

/// So far from the mean over the seeds, of the mean, is a number of the tutorial's table at most;
/// percentiles of few requests, twice as far.
const SPREAD: f64 = 0.05;

fn page(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect("a page")
}

/// The block of a page that begins with this line.
fn block<'a>(page: &'a str, first: &str) -> &'a str {
    let at = page.find(first).unwrap_or_else(|| panic!("no block begins with {first}"));
    page[at..].split("```").next().expect("a block ends")
}

/// A value of a flow under each seed.
struct Runs(Value);

impl Runs {
    /// Runs `tenants.toml` of a folder with further options.
    fn of(folder: &Path, options: &str) -> Self {
        let command = format!(
            "run --device fast18 --workload tenants.toml --alone --seeds {} --states states \
             --format json --quiet {options}",
            seeds()
        );
        let output = flashlane(folder, &command.split_whitespace().collect::<Vec<_>>());
        // A missed promise is exit status 4.
        let status = output.status.code();
        assert!(matches!(status, Some(0 | 4)), "{}", text(&output.stderr));
        Self(serde_json::from_slice(&output.stdout).expect("JSON"))
    }

    fn values(&self, path: &str) -> Vec<f64> {
        let values = self.0["seeds"][path]["values"].as_array().expect(path);
        let values: Vec<f64> = values.iter().map(|value| value.as_f64().expect(path)).collect();
        assert_eq!(values.len(), seeds(), "{path}");
        values
    }

    fn mean(&self, path: &str) -> f64 {
        self.values(path).iter().sum::<f64>() / seeds() as f64
    }

    /// Every seed gives a value of this range.
    fn within(&self, path: &str, range: std::ops::Range<f64>) {
        for (seed, value) in self.values(path).iter().enumerate() {
            assert!(range.contains(value), "{path}, seed {}: {value}, said: {range:?}", seed + 1);
        }
    }
}

/// Where a row of the table stands in the results, and how far it may be from the mean.
fn place(row: &str) -> Option<(String, f64)> {
    let (name, what) = row.split_once(": ")?;
    let flow = ["database", "backup"].iter().position(|flow| *flow == name)?;
    let (path, spread) = match what {
        "mean response, us" => ("response_time_us.mean", SPREAD),
        "p99 response, us" => ("response_time_us.p99", 2.0 * SPREAD),
        "IOPS" => ("iops", SPREAD),
        "slowdown" => ("slowdown", SPREAD),
        _ => return None,
    };
    Some((format!("flows[{flow}].{path}"), spread))
}

/// The commands of the tutorial's table, in the order of its columns.
const COLUMNS: [&str; 4] =
    ["", "--scheduler flin", "--set flash.suspend.program=true", "--isolation partitioned"];

#[test]
fn the_tutorial_holds_under_other_seeds() {
    let tutorial = page("docs/tutorial.md");
    let tenants = block(&tutorial, "name = \"database and backup\"");
    let folder = crate::common::folder_with("tenants.toml", tenants);
    let runs = COLUMNS.map(|options| Runs::of(folder.path(), options));
    let mut rows = 0;
    for line in block(&tutorial, "side by side").lines() {
        let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
        let Some((path, spread)) = cells.first().and_then(|row| place(row)) else { continue };
        assert_eq!(cells.len(), COLUMNS.len() + 1, "{line}");
        for (shown, runs) in cells[1..].iter().zip(&runs) {
            let shown = shown.split(" ±").next().expect("a mean before its interval");
            let (shown, mean) = (shown.parse::<f64>().expect("a number"), runs.mean(&path));
            assert!((shown / mean - 1.0).abs() < spread, "{line}: shown {shown}, mean {mean}");
        }
        rows += 1;
    }
    assert_eq!(rows, 8, "every row of both tenants");
    let [first, flin, suspend, partitioned] = &runs;
    // The sentences above and below the tables.
    let (slow, other) = ("flows[0].slowdown", "flows[1].slowdown");
    first.within(slow, 4.0..6.0);
    first.within(other, 0.9..1.1);
    for seed in 0..seeds() {
        let of = |runs: &Runs, path: &str| runs.values(path)[seed] / first.values(path)[seed];
        assert!((0.9..1.1).contains(&of(flin, slow)), "{}", of(flin, slow));
        assert!((0.38..0.56).contains(&of(suspend, slow)), "{}", of(suspend, slow));
        let rate = of(partitioned, "flows[1].iops");
        assert!((0.75..0.85).contains(&rate), "{rate}");
    }
    partitioned.within(slow, 1.0..1.2);
    partitioned.within(other, 1.15..1.35);
    for runs in &runs {
        runs.within("saturated", -0.5..0.5);
    }
}

/// Three of the settings that the advice tries. `make long` (`PAGE_SEEDS`) lets it try everything.
const TRIED: &str = "[[candidate]]\nlabel = 'the scheduler flin'\nset = ['scheduler=flin']\n\
    [[candidate]]\nlabel = 'suspend programs'\nset = ['flash.suspend.program=true']\n\
    [[candidate]]\nlabel = 'isolation partitioned'\nset = ['isolation=partitioned']\n";

#[test]
fn advice_for_the_tutorial_names_suspension_and_not_flin() {
    let tutorial = page("docs/tutorial.md");
    let tenants = block(&tutorial, "name = \"database and backup\"");
    let folder = crate::common::folder_with("tenants.toml", tenants);
    std::fs::write(folder.path().join("tried.toml"), TRIED).expect("room");
    let everything = std::env::var_os("PAGE_SEEDS").is_some();
    let command = format!(
        "advise --device fast18 --workload tenants.toml --states states --out advice \
         --format json --quiet {}",
        if everything { "" } else { "--candidates tried.toml --seeds 2" }
    );
    let output = flashlane(folder.path(), &command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let advice: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let said = advice["said"].to_string();
    assert!(said.to_lowercase().contains("suspend programs"), "{said}");
    assert!(!said.contains("flin"), "{said}");
    let shown = block(&tutorial, "$ flashlane advise --device fast18").to_lowercase();
    assert!(shown.contains("suspend programs") && !shown.contains("flin"), "{shown}");
}

#[test]
fn the_tasks_hold_under_other_seeds() {
    let tasks = page("docs/tasks.md");
    let tenants = block(&tasks, "[[flow]]\nname = \"shop\"");
    let folder = crate::common::folder_with("tenants.toml", tenants);
    let before = Runs::of(folder.path(), "");
    let after = Runs::of(folder.path(), "--isolation partitioned");
    // The promise is a p99 of 1 ms.
    let p99 = "flows[0].response_time_us.p99";
    before.within(p99, 1000.0..f64::INFINITY);
    after.within(p99, 0.0..1000.0);
    // The backup pays.
    let rate = "flows[1].iops";
    for (before, after) in before.values(rate).iter().zip(after.values(rate)) {
        assert!(after < 0.95 * before, "{before}, {after}");
    }
}
