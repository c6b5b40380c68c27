//! The sentences of the README about the demonstration hold under each of 20 seeds, and at twice
//! its length.

use crate::common::{repository, succeeds};
use serde_json::Value;

/// Scheduler and isolation of each column.
const POLICIES: [(&str, &str); 3] =
    [("fcfs", "unified"), ("out-of-order", "unified"), ("out-of-order", "partitioned")];

/// Slowdown of the shop under each policy, as the README says it.
const SLOWDOWNS: [(&str, &str); 3] = [("10.7", "11.4"), ("5.1", "5.5"), ("1.1", "1.2")];

/// What a column has under each seed.
struct Column(Value);

impl Column {
    /// The demonstration's scenario, for `duration`.
    fn run((scheduler, isolation): (&str, &str), duration: &str) -> Self {
        let demo = repository().join("crates/flashlane-cli/demo");
        let set = |flow: &str| format!("flow.{flow}.synthetic.duration={duration}");
        let command = [
            "run --device device.toml --workload workload.toml --alone --seeds 20 --states off",
            "--format json --quiet --scheduler",
            scheduler,
            "--isolation",
            isolation,
            "--set",
            &set("shop"),
            "--set",
            &set("backup"),
        ]
        .join(" ");
        let (stdout, _) = succeeds(&demo, &command.split(' ').collect::<Vec<_>>());
        Self(serde_json::from_str(&stdout).expect("JSON"))
    }

    fn values(&self, path: &str) -> Vec<f64> {
        let values = self.0["seeds"][path]["values"].as_array().expect(path);
        let values: Vec<f64> = values.iter().map(|value| value.as_f64().expect(path)).collect();
        assert_eq!(values.len(), 20, "{path}");
        values
    }
}

/// `better` is below `worse` by the factor at least, seed by seed.
fn below(better: &Column, worse: &Column, path: &str, factor: f64) {
    for (seed, (better, worse)) in better.values(path).iter().zip(worse.values(path)).enumerate() {
        assert!(factor * better < worse, "{path}, seed {}: {better}, {worse}", seed + 1);
    }
}

fn the_sentences_hold(duration: &str) {
    let columns = POLICIES.map(|policy| Column::run(policy, duration));
    for (column, (low, high)) in columns.iter().zip(SLOWDOWNS) {
        let within = low.parse::<f64>().expect(low)..=high.parse::<f64>().expect(high);
        for slowdown in column.values("flows[0].slowdown") {
            assert!(within.contains(&slowdown), "{slowdown}, said: {low} to {high}");
        }
    }
    let [fcfs, reads_first, partitioned] = &columns;
    for path in ["flows[0].slowdown", "flows[0].response_time_us.p99"] {
        below(reads_first, fcfs, path, 1.7);
        below(partitioned, reads_first, path, 3.0);
    }
    // The backup pays for its fence, and for nothing else.
    for (apart, beside) in
        partitioned.values("flows[1].iops").iter().zip(fcfs.values("flows[1].iops"))
    {
        assert!((0.2..0.26).contains(&(1.0 - apart / beside)), "{apart}, {beside}");
    }
    for (column, (low, high)) in columns.iter().zip([(1.0, 1.08), (1.0, 1.08), (1.3, 1.4)]) {
        let slowdowns = column.values("flows[1].slowdown");
        assert!(slowdowns.iter().all(|one| (low..high).contains(one)), "{slowdowns:?}");
        assert!(column.values("saturated").iter().all(|saturated| *saturated == 0.0));
    }
}

#[test]
fn the_demonstration_holds_under_twenty_seeds() {
    the_sentences_hold("200ms");
}

#[test]
fn the_demonstration_holds_at_twice_the_length() {
    the_sentences_hold("400ms");
}

#[test]
fn the_readme_says_what_is_tested() {
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("a page");
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    for (low, high) in SLOWDOWNS {
        assert!(words.contains(&format!("{low} to {high}")), "{low} to {high}");
    }
    assert!(words.contains("20 seeds, and at twice the length"));
    assert!(words.contains("1.3 to 1.4 times as long as alone"), "the backup on its own chips");
}
