//! How good advice is: 30 scenarios that a script draws before any result is known, each held
//! against an exhaustive search over the same space. The space has every setting alone, every pair
//! of settings, and every level of every limit, alone and beside every setting.
//!
//! `cargo test --release -p flashlane-study --lib advise::truth -- --ignored --nocapture` prints a
//! line for each scenario. `TRUTH=5` takes the first five of them, `TRUTH_FROM=3` those from the
//! fourth on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashlane::RunOptions;
use flashlane::content::InputFiles;
use flashlane_engine::Rng;

use super::candidate::Candidate;
use super::field::{Field, Told};
use super::goal::Goal;
use super::keep::Keeps;
use super::{Question, Tried, advise, kinds, limit, middle, space};
use crate::sweep::{Found, Source, Sweep};

/// Scenarios that are drawn.
const SCENARIOS: usize = 30;
/// Seeds of the exhaustive search for everything that the first seed leaves in reach.
const SEEDS: u64 = 5;
/// Fresh seeds that say what a setting is worth.
const FRESH: std::ops::Range<u64> = 1000..1020;

/// Nobody waits for a test.
struct Silent;

impl Told for Silent {
    fn round(&self, _: &str, _: usize) {}
    fn run(&self, _: &Found) {}
}

/// A device, a workload, and a goal.
struct Drawn {
    name: String,
    device: &'static str,
    workload: String,
    goal: Goal,
}

/// Three drives with few pages, so that thousands of runs take minutes.
const DRIVES: [(&str, &str); 3] = [
    ("tiny", "base = 'tiny'\n[flash]\nblocks_per_plane = 256\n[ftl]\nunwritten_read = 'flash'\n"),
    (
        "fast18",
        "base = 'fast18'\n[ftl.mapping]\nideal = true\n[flash]\nchannels = 2\n\
         chips_per_channel = 2\nblocks_per_plane = 128\npages_per_block = 64\n",
    ),
    (
        "flin",
        "base = 'flin'\n[ftl.mapping]\nideal = true\n[flash]\nchannels = 4\n\
         chips_per_channel = 2\nblocks_per_plane = 128\npages_per_block = 64\n",
    ),
];

/// Draws a scenario by its number.
fn drawn(number: usize) -> Drawn {
    let mut random = Rng::stream(47, "advice", number as u64);
    let mut pick = |from: u64, to: u64| from + random.below(to - from + 1);
    let (drive, device) = DRIVES[number % DRIVES.len()];
    let tenants = pick(2, 6);
    let mut workload = String::new();
    let mut kinds = Vec::new();
    for tenant in 1..=tenants {
        // The first one reads and the second one writes; the others do anything.
        let kind = if tenant <= 2 { tenant - 1 } else { pick(0, 2) };
        let (size, depth) = (4 << pick(0, 4), 1 << pick(0, 5));
        let address = ["uniform", "streaming"][pick(0, 1) as usize];
        let load = match kind {
            0 => format!("queue_depth = {}\nread_ratio = 1.0\nsize = '4KiB'", depth.min(8)),
            1 => format!(
                "queue_depth = {depth}\nread_ratio = 0.0\nsize = '{size}KiB'\naddress = '{address}'"
            ),
            _ => format!(
                "iops = {}.0\nread_ratio = 0.{}\nsize = '8KiB'",
                500 * pick(1, 8),
                pick(2, 8)
            ),
        };
        workload +=
            &format!("[[flow]]\nname = 't{tenant}'\n[flow.synthetic]\n{load}\nduration = '6ms'\n");
        kinds.push(["reads", "writes", "mixed"][kind as usize]);
    }
    let goal = match pick(0, 9) {
        0..5 => Goal::Fairness,
        5..8 => Goal::Time { figure: "p99", tenant: "t1".to_owned() },
        _ => Goal::Speedup,
    };
    let name = format!("{number:>2} {drive:<6} {:<9} {}", goal.text(), kinds.join(" "));
    Drawn { name, device, workload, goal }
}

fn sweep(drawn: &Drawn) -> Sweep {
    let (device, workload) = (drawn.device.to_owned(), drawn.workload.clone());
    Sweep {
        source: Source::Texts { device, workload },
        options: RunOptions::default(),
        store: None,
        program: PathBuf::new(),
        files: InputFiles::new(),
        memory: u64::MAX,
        stop: Arc::new(AtomicBool::new(false)),
        describe: |_| None,
    }
}

/// Every setting of the space: alone, in pairs, and with limits.
fn space(field: &Field<'_>, victim: usize) -> Vec<Candidate> {
    let before = field.before(1);
    let device = &field.scenario.device.config;
    let mut singles = space::all(device, &field.kinds, victim);
    singles.retain(|one| space::pointless(one, before).is_none());
    let own = &kinds::kind_of(&field.kinds, victim).name;
    for kind in field.kinds.iter().filter(|kind| kind.name != *own) {
        let levels = limit::parts(super::RATE_KEPT);
        singles.extend(levels.iter().map(|&part| space::limit(kind, part, before)));
    }
    let mut all = singles.clone();
    for (at, one) in singles.iter().enumerate() {
        let others = singles[at + 1..].iter().filter_map(|other| one.with(other));
        // Limits of two tenants at once are no part of the space of the advice, unless both help.
        all.extend(others.filter(|pair| {
            pair.families.iter().filter(|name| name.starts_with(space::LIMIT)).count() < 2
        }));
    }
    all
}

/// What a search found: the settings, and the number of runs.
struct Best {
    candidate: Candidate,
    runs: usize,
    /// The runs that it would take with [`SEEDS`] seeds of everything.
    whole: usize,
}

/// Runs everything with one seed, and what is within a sixth of the best with all seeds.
fn exhaustive(field: &mut Field<'_>, victim: usize) -> Best {
    let entries: Vec<usize> = {
        let all = space(field, victim);
        let mut entered: Vec<usize> = all.into_iter().filter_map(|one| field.enter(one)).collect();
        entered.push(0);
        entered.sort_unstable();
        entered.dedup();
        entered
    };
    let with = |entries: &[usize], seed: u64| -> Vec<(usize, u64)> {
        entries.iter().map(|&at| (at, seed)).collect()
    };
    field.run("", &with(&entries, 1)).expect("it runs");
    let score = |field: &Field<'_>, at: usize| {
        middle::median(field.scores(at).into_values()).expect("it ran")
    };
    let fit = |field: &Field<'_>, at: usize| at == 0 || field.barred(at).is_none();
    let best = entries.iter().filter(|&&at| fit(field, at)).map(|&at| score(field, at));
    let best = best.fold(f64::INFINITY, f64::min);
    let near: Vec<usize> = entries
        .iter()
        .copied()
        .filter(|&at| fit(field, at) && score(field, at) <= best + best.abs() / 6.0)
        .collect();
    for seed in 2..=SEEDS {
        field.run("", &with(&near, seed)).expect("it runs");
    }
    let chosen = near.iter().copied().filter(|&at| fit(field, at));
    let chosen = chosen.min_by(|&a, &b| score(field, a).total_cmp(&score(field, b)));
    let at = chosen.expect("the drive as it is, at least");
    Best {
        candidate: field.entries[at].candidate.clone(),
        runs: field.simulations,
        whole: SEEDS as usize * entries.len(),
    }
}

/// The figure of the goal with fresh seeds.
fn worth(field: &mut Field<'_>, candidate: Candidate) -> f64 {
    let at = field.enter(candidate).expect("it ran before");
    let wanted: Vec<(usize, u64)> = FRESH.map(|seed| (at, seed)).collect();
    field.run("", &wanted).expect("it runs");
    middle::median(FRESH.map(|seed| field.entries[at].runs[&seed].value)).expect("values")
}

/// How one scenario ended.
struct Outcome {
    /// The figure of the advice over that of the exhaustive search, as a loss.
    behind: f64,
    held: bool,
    runs: [usize; 3],
}

fn outcome(drawn: &Drawn) -> Outcome {
    let sweep = sweep(drawn);
    let question = Question {
        goal: Some(drawn.goal.clone()),
        keeps: Vec::new(),
        candidates: None,
        seed: 1,
        seeds: SEEDS,
        budget: None,
        jobs: 2,
    };
    let advice = advise(&question, &sweep, &Silent).expect("advice");
    let scenario = sweep.source.scenario(&Vec::new()).expect("valid");
    let kinds = kinds::kinds(&scenario.workload.config.flows, &sweep.source);
    let keeps = Keeps::default();
    let mut field = Field::new(&sweep, &drawn.goal, &keeps, kinds, scenario, &Silent);
    field.jobs = 2;
    field.run("", &[(0, 1), (0, 2)]).expect("it runs");
    let victim = drawn.goal.victim(field.before(1)).expect("a tenant");
    let best = exhaustive(&mut field, victim);
    let winner: &Tried = advice.of(super::Verdict::Winner).unwrap_or(&advice.unchanged);
    let best_is = worth(&mut field, best.candidate.clone());
    let found = worth(&mut field, winner.candidate.clone());
    let behind = if drawn.goal.more_is_better() { best_is / found } else { found / best_is } - 1.0;
    let span = winner.value.expect("a figure");
    let [low, high] = span.interval.expect("several seeds");
    // As they are printed.
    let printed = |value: f64| -> f64 { super::words::number(value).parse().expect("a number") };
    let held = (printed(low)..=printed(high)).contains(&printed(found));
    let known = advice.candidates.iter().find(|one| one.candidate.sets == best.candidate.sets);
    let known = known.map_or("not tried".to_owned(), |one| {
        let value = one.value.map_or(0.0, |value| value.median);
        let reason = one.reason.as_deref().unwrap_or("-");
        format!("{:?} with {value:.3} of {} seeds, {reason}", one.verdict, one.seeds.len())
    });
    println!(
        "{:<58} {:>5} of {:>5} runs, {:>6.1} % behind, {found:.3} {} {low:.3} to {high:.3}: \
         {} | {best_is:.3}: {}, {known}",
        drawn.name,
        advice.simulations,
        best.runs,
        100.0 * behind,
        if held { "in" } else { "NOT in" },
        winner.candidate.label,
        best.candidate.label
    );
    Outcome { behind, held, runs: [advice.simulations, best.runs, best.whole] }
}

#[test]
#[ignore = "an exhaustive search in 30 scenarios: make long"]
fn advice_is_nearly_as_good_as_an_exhaustive_search() {
    let count = std::env::var("TRUTH").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(SCENARIOS);
    let first: usize =
        std::env::var("TRUTH_FROM").map_or(0, |text| text.parse().expect("a number"));
    let all: Vec<Outcome> = (first..first + count).map(|number| outcome(&drawn(number))).collect();
    let near = all.iter().filter(|one| one.behind <= 0.05).count();
    let held = all.iter().filter(|one| one.held).count();
    let runs = [0, 1, 2].map(|at| all.iter().map(|one| one.runs[at]).sum::<usize>());
    println!(
        "{near} of {count} within 5 %, {held} of {count} intervals hold the median of 20 fresh \
         seeds; {} runs, the exhaustive search {} runs, and {} with {SEEDS} seeds of everything",
        runs[0], runs[1], runs[2]
    );
    assert!(15 * near >= 14 * count, "{near} of {count} within 5 %");
    assert!(10 * held >= 9 * count, "{held} of {count} intervals hold the median of fresh seeds");
    assert!(10 * runs[0] <= runs[2], "{runs:?}");
}

#[test]
fn scenarios_do_not_depend_on_the_day() {
    let (one, again) = (drawn(7), drawn(7));
    assert_eq!((one.name, one.workload), (again.name, again.workload));
    for number in 0..SCENARIOS {
        let drawn = drawn(number);
        let scenario = sweep(&drawn).source.scenario(&Vec::new()).expect("valid");
        assert!((2..=6).contains(&scenario.workload.config.flows.len()), "{}", drawn.name);
    }
}
