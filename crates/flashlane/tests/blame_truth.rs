//! Blame against the truth: the difference that a tenant makes to another one, by runs without it.

#[path = "blame_truth/draw.rs"]
mod draw;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use draw::{Drawn, drawn};
use flashlane::config::load::{self, Overrides, workload_from_toml};
use flashlane::config::units::Span;
use flashlane::config::validate::validate;
use flashlane::observe::Observe;
use flashlane::{RunOptions, Warmup, simulate_in_detail};

const SEEDS: u64 = 1;

/// What one tenant makes another lose, and what it is blamed for. Unit: microseconds a request.
#[derive(Clone, Debug)]
struct Pair {
    seed: u64,
    victim: usize,
    culprit: usize,
    shared: f64,
    without: f64,
    blamed: f64,
}

fn run(drawn: &Drawn, removed: Option<usize>) -> Option<Vec<(f64, Vec<f64>, u64)>> {
    let overrides = Overrides { sets: drawn.sets.clone(), ..Overrides::default() };
    let device = load::device(drawn.preset, &overrides).ok()?.config;
    let workload = workload_from_toml(&drawn.workload, "drawn", &Overrides::default());
    let mut workload = workload.unwrap_or_else(|error| panic!("{error}")).config;
    let length = drawn.duration_us * 1_000_000;
    if let Some(removed) = removed {
        // It keeps its data, and starts when nobody is there any more.
        let flow = &mut workload.flows[removed];
        flow.starts_after = Some(Span(2 * length));
        flow.synthetic.as_mut().expect("synthetic").duration = Some(Span(1_000_000));
    }
    let problems = validate(&device, &workload);
    if !problems.is_empty() {
        println!("{problems:?}");
        return None;
    }
    let observe = Observe { blame: removed.is_none(), ..Observe::default() };
    let options = RunOptions {
        threads: 1,
        warmup: Warmup::Time(length / 10),
        observe,
        ..RunOptions::default()
    };
    let (summary, details) = match simulate_in_detail(&device, &workload, &options, &|_| {}) {
        Ok(found) => found,
        Err(error) => {
            println!("{error}");
            return None;
        }
    };
    let mut rows = Vec::new();
    for (at, flow) in summary.flows.iter().enumerate() {
        let mut by = Vec::new();
        if let Some(blame) = &details.blame {
            let row = &blame.victims[at];
            for culprit in blame.flows.iter().map(String::as_str).chain(["device"]) {
                by.push(row.by_culprit(culprit) as f64 / row.requests.max(1) as f64 / 1e6);
            }
        }
        rows.push((flow.end_to_end_us.mean, by, flow.end_to_end_us.count));
    }
    Some(rows)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn distribution() {
    let (from, count) = (number("TRUTH_START", 0), number("TRUTH", SEEDS));
    let cache = std::env::var("TRUTH_CACHE").unwrap_or_else(|_| "/tmp/truth".into());
    std::fs::create_dir_all(&cache).unwrap();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = from + next.fetch_add(1, Ordering::Relaxed) as u64;
                    if seed >= from + count {
                        return;
                    }
                    let drawn = drawn(seed);
                    let begun = std::time::Instant::now();
                    let Some(shared) = run(&drawn, None) else {
                        println!("seed {seed}: refused {drawn:?}");
                        continue;
                    };
                    let path = format!("{cache}/{seed}");
                    let tenants = drawn.tenants.len();
                    let known = std::fs::read_to_string(&path).ok();
                    let without: Vec<Vec<f64>> = match known {
                        Some(text) => serde_json::from_str(&text).unwrap(),
                        None => {
                            let found: Vec<Vec<f64>> = (0..tenants)
                                .map(|removed| {
                                    let rows = run(&drawn, Some(removed)).unwrap_or_default();
                                    rows.into_iter().map(|row| row.0).collect()
                                })
                                .collect();
                            std::fs::write(&path, serde_json::to_string(&found).unwrap()).unwrap();
                            found
                        }
                    };
                    let mut all = all.lock().unwrap();
                    println!(
                        "# {seed} {} {} {:?} {:?} {:?}",
                        drawn.preset,
                        drawn.scheduler,
                        drawn.tenants,
                        drawn.sets,
                        begun.elapsed()
                    );
                    for victim in 0..tenants {
                        let (mean, by, requests) = &shared[victim];
                        println!("= {seed} {victim} n {requests} mean {mean:.1} by {by:.1?}");
                        for culprit in (0..tenants).filter(|&culprit| culprit != victim) {
                            let Some(&without) =
                                without[culprit].get(victim).filter(|&&mean| mean > 0.0)
                            else {
                                continue;
                            };
                            let pair = Pair {
                                seed,
                                victim,
                                culprit,
                                shared: *mean,
                                without,
                                blamed: by[culprit],
                            };
                            println!(
                                "@ {} {} {} {:.2} {:.2} {:.2} {}",
                                seed, victim, culprit, pair.shared, without, pair.blamed, requests
                            );
                            all.push(pair);
                        }
                    }
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    let mut ratios: Vec<f64> = all
        .iter()
        .filter(|pair| pair.shared - pair.without > 0.2 * pair.without)
        .map(|pair| pair.blamed / (pair.shared - pair.without))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let within = |off: f64| {
        ratios.iter().filter(|&&ratio| (ratio - 1.0).abs() <= off).count() as f64
            / ratios.len() as f64
    };
    println!(
        "{} pairs, {} lose; within 10 %: {:.2}, within 30 %: {:.2}",
        all.len(),
        ratios.len(),
        within(0.1),
        within(0.3)
    );
    let at = |share: f64| ratios.get(((ratios.len() as f64 - 1.0) * share) as usize);
    println!("{:?}", [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95].map(at));
}
