//! The main result with other readings of what the paper leaves open, one at a time.

use flashlane::Error;

use super::setup::{Critical, HEADLINES, POLICIES, Piece};
use crate::{Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "variants";

/// Seeds of each.
const SEEDS: u64 = 3;

/// A reading: its name, keys for all policies, the isolation of each, and what das-as is like.
struct Variant {
    name: &'static str,
    set: Option<&'static str>,
    policies: [&'static str; 3],
    critical: Critical,
    /// True if it changes the paper's baselines too, and is compared with its numbers. Other
    /// variants, of UPI or of the tenants, are only in the table.
    compared: bool,
}

const PLAIN: [&str; 3] = [POLICIES[0].1, POLICIES[1].1, POLICIES[2].1];

fn plain(name: &'static str) -> Variant {
    let critical = Critical::default();
    Variant { name, set: None, policies: PLAIN, critical, compared: false }
}

/// UPI with the guard of the paper, and further keys.
macro_rules! printed {
    ($keys:literal) => {
        concat!("isolation={ upi = { settle = false, ", $keys, " } }")
    };
}

fn upi(name: &'static str, upi: &'static str) -> Variant {
    Variant { policies: [PLAIN[0], PLAIN[1], upi], ..plain(name) }
}

fn tenant(name: &'static str, critical: Critical) -> Variant {
    Variant { critical, ..plain(name) }
}

fn all() -> Vec<Variant> {
    let like = Critical::default;
    // The shape that was measured on another trace, with 7 % of 128 KiB at the mean of das-as.
    let large = vec![(8.0, 0.83), (16.0, 0.02), (56.0, 0.01), (64.0, 0.11), (128.0, 0.01)];
    let small = vec![(8.0, 0.83), (16.0, 0.02), (32.0, 0.15)];
    vec![
        plain("as chosen"),
        Variant {
            set: Some("scheduler=host-first"),
            compared: true,
            ..plain("the host's requests in their order")
        },
        Variant {
            policies: [PLAIN[0], "isolation={ partitioned = { by = \"channel\" } }", PLAIN[2]],
            compared: true,
            ..plain("partitions of channels")
        },
        tenant("das-as with a Zipf exponent of 0.9", Critical { theta: Some(0.9), ..like() }),
        tenant("das-as with 128 KiB", Critical { read_sizes: Some(large), ..like() }),
        tenant("das-as up to 32 KiB", Critical { read_sizes: Some(small), ..like() }),
        upi("upi with windows of 5 s", printed!("window = \"5s\"")),
        upi("upi with windows of 120 s", printed!("window = \"120s\"")),
        upi("upi, reads of the last window", printed!("past_reads = \"window\"")),
        upi("upi, reads since the chip is owned", printed!("past_reads = \"owned\"")),
        upi("upi, fewest reads of all flows", printed!("fewest_reads = \"all\"")),
        upi("upi without relocation", printed!("relocation = 0.0")),
        upi("upi with relocation 10", printed!("relocation = 10.0")),
        upi("upi, copies stay in their plane", printed!("spread_copies = false")),
        upi("upi with a hysteresis of 5 %", printed!("hysteresis = 0.05")),
        upi("upi that settles", "isolation=upi"),
    ]
}

impl Variant {
    /// The keys of each policy.
    fn sets(&self) -> [Vec<&'static str>; 3] {
        self.policies.map(|policy| [policy].into_iter().chain(self.set).collect())
    }

    /// Everything that tells runs apart.
    fn keys(&self) -> [String; 3] {
        self.sets().map(|sets| format!("{sets:?} {:?}", self.critical))
    }
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let mut variants = all();
    if lab.smoke {
        variants.truncate(2);
    }
    let piece = Piece::quick_day(lab);
    // What several variants have in common is run once.
    let (mut keys, mut jobs): (Vec<String>, Vec<Job>) = Default::default();
    for variant in &variants {
        for (key, sets) in variant.keys().into_iter().zip(variant.sets()) {
            if !keys.contains(&key) {
                keys.push(key);
                jobs.push(piece.job_with(lab, &sets, &variant.critical)?);
            }
        }
    }
    let runs = lab.run_seeds(&jobs, if lab.smoke { lab.seeds } else { SEEDS })?;
    let place = |key: &String| keys.iter().position(|k| k == key).expect("all keys are there");
    let columns = ["reading"].into_iter().chain(HEADLINES.iter().flat_map(|l| [l.metric, "+-"]));
    let columns: Vec<&str> = columns.collect();
    let mut table = Table::new(NAME, "changes by reading, means of seeds", &columns);
    let mut rows = Vec::new();
    for variant in &variants {
        let runs: Vec<Vec<Run>> =
            variant.keys().iter().map(|key| runs[place(key)].clone()).collect();
        let mut cells = vec![variant.name.into()];
        for line in &HEADLINES {
            let (change, half) = line.change(&runs);
            cells.extend([change.into(), half.into()]);
        }
        table.row(cells);
        for line in HEADLINES.iter().filter(|_| variant.compared) {
            let (metric, changes) =
                (format!("{}: {}", variant.name, line.metric), line.changes(&runs));
            let row = Row::number_over_seeds(NAME, metric, line.paper, &changes, 0.0, "change", "");
            rows.push(row);
        }
    }
    Ok(Findings { rows, tables: vec![table] })
}
