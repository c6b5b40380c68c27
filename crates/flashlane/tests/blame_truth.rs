//! Compares blame with the truth: the delay that one tenant causes to another, measured by runs
//! without it.
//!
//! `cargo test -p flashlane-tests --test slow blame_truth:: -- --ignored --nocapture` measures 300
//! scenarios; with `UPDATE_DOCS=1` it writes the table of docs/blame.md. `TRUTH=40` measures 40
//! scenarios.

pub(crate) mod draw;
pub(crate) mod measure;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use draw::{Drawn, Tenant, drawn, loops};
use measure::{Pair, pairs};

/// Scenarios of the table.
const SCENARIOS: u64 = 300;

/// What came of scenarios by seed; refused ones are left out.
fn measured(seeds: &[u64], draw: impl Fn(u64) -> Drawn + Sync) -> BTreeMap<u64, Vec<Pair>> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let drawn = draw(seed);
            let Some(found) = pairs(&drawn) else { continue };
            for pair in found.iter().filter(|pair| pair.loses()) {
                println!("{seed} {:.2} {pair:?} {drawn:?}", pair.ratio());
            }
            all.lock().expect("no panic").insert(seed, found);
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|_| {
            scope.spawn(work);
        });
    });
    all.into_inner().expect("no panic")
}

/// Sorted ratios of those who lose.
fn ratios<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Vec<f64> {
    let mut found: Vec<f64> = pairs.filter(|pair| pair.loses()).map(Pair::ratio).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// Share of the ratios that are off by at most `off`.
fn within(ratios: &[f64], off: f64) -> f64 {
    let near = ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= off);
    near.count() as f64 / ratios.len() as f64
}

/// A value that this share of the ratios does not exceed.
fn quantile(ratios: &[f64], share: f64) -> f64 {
    ratios[((ratios.len() - 1) as f64 * share).round() as usize]
}

#[test]
fn blame_is_the_difference_on_small_drives_of_two() {
    let is_small = |seed: &u64| drawn(*seed).preset == "tiny" && drawn(*seed).tenants.len() == 2;
    let seeds: Vec<u64> = (0..).filter(is_small).take(16).collect();
    let found = measured(&seeds, drawn);
    let ratios = ratios(found.values().flatten());
    assert!(ratios.len() >= 8, "too few lose: {ratios:?}");
    let median = quantile(&ratios, 0.5);
    assert!((0.9..=1.1).contains(&median), "median {median}: {ratios:?}");
    assert!(within(&ratios, 0.3) >= 0.7, "{ratios:?}");
}

/// Two loops of reads. Equal ones are blamed equally, and by about half of the waiting: that is the
/// difference that the other one makes.
#[test]
fn closed_loops_are_blamed_for_the_difference_that_they_make() {
    for depths in [[4, 4], [8, 8], [16, 16], [8, 4]] {
        let found = pairs(&loops(depths)).expect("it runs");
        for pair in &found {
            let ratio = pair.ratio();
            println!("{depths:?} {ratio:.2} {pair:?}");
            assert!((0.9..=1.1).contains(&ratio), "{depths:?}: {ratio}, {pair:?}");
        }
        let (first, second) = (found[0].blamed, found[1].blamed);
        if depths[0] == depths[1] {
            assert!((first / second - 1.0).abs() < 0.05, "{depths:?}: {first} and {second}");
        }
    }
}

/// A row of the table.
fn row(name: &str, ratios: &[f64]) -> String {
    if ratios.is_empty() {
        return format!("| {name} | 0 | | | | | | | |\n");
    }
    let percent = |off| within(ratios, off) * 100.0;
    let at = |share| quantile(ratios, share);
    format!(
        "| {name} | {} | {:.0} % | {:.0} % | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
        ratios.len(),
        percent(0.1),
        percent(0.3),
        at(0.05),
        at(0.25),
        at(0.5),
        at(0.75),
        at(0.95)
    )
}

/// The table by kinds of scenarios.
fn table(found: &BTreeMap<u64, Vec<Pair>>) -> String {
    let mut text =
        "| victims that lose | number | within 10 % | within 30 % | 5 % below | a quarter \
                    below | median | a quarter above | 5 % above |\n\
                    | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n"
            .to_owned();
    for (fits, place) in [(true, "differences fit"), (false, "differences exceed the row")] {
        for tenants in [2..5, 2..3, 3..4, 4..5] {
            let of =
                found.iter().filter(|(seed, _)| tenants.contains(&drawn(**seed).tenants.len()));
            let pairs = of.flat_map(|(_, pairs)| pairs).filter(|pair| pair.fits == fits);
            let name = match tenants.len() {
                3 => place.to_owned(),
                _ => format!("{place}, of {}", ["two", "three", "four"][tenants.start - 2]),
            };
            text.push_str(&row(&name, &ratios(pairs)));
        }
    }
    let mut add = |name: &str, is: &dyn Fn(&Drawn, &Tenant, &Tenant) -> bool| {
        let pairs = found.iter().flat_map(|(&seed, pairs)| {
            let drawn = drawn(seed);
            let is = move |pair: &&Pair| {
                is(&drawn, &drawn.tenants[pair.victim], &drawn.tenants[pair.culprit])
            };
            pairs.iter().filter(is)
        });
        text.push_str(&row(name, &ratios(pairs)));
    };
    add("all", &|_, _, _| true);
    for (number, name) in [(2, "of two tenants"), (3, "of three"), (4, "of four")] {
        add(name, &|drawn, _, _| drawn.tenants.len() == number);
    }
    add("closed loops", &|_, victim, _| victim.closed);
    add("open loops", &|_, victim, _| !victim.closed);
    add("readers", &|_, victim, _| victim.read_ratio == 1.0);
    add("writers, all or in part", &|_, victim, _| victim.read_ratio < 1.0);
    add("readers of two, to a reader", &|drawn, victim, culprit| {
        drawn.tenants.len() == 2 && victim.read_ratio == 1.0 && culprit.read_ratio == 1.0
    });
    add("with a cached writer", &|drawn, _, _| {
        drawn.tenants.iter().any(|tenant| tenant.cached && tenant.read_ratio < 1.0)
    });
    for scheduler in draw::SCHEDULERS {
        add(&format!("`{scheduler}`"), &|drawn, _, _| drawn.scheduler == scheduler);
    }
    text
}

#[test]
#[ignore = "takes minutes: the distribution of docs/blame.md"]
fn distribution_over_many_scenarios() {
    let number = std::env::var("TRUTH").ok().and_then(|text| text.parse().ok());
    let seeds: Vec<u64> = (0..number.unwrap_or(SCENARIOS)).collect();
    let found = measured(&seeds, drawn);
    let table = table(&found);
    println!("{} of {} scenarios ran\n{table}", found.len(), seeds.len());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/blame.md");
        let text = std::fs::read_to_string(path).expect("docs/blame.md");
        let (before, rest) = text.split_once("<!-- distribution -->\n").expect("a mark");
        let (_, after) = rest.split_once("<!-- end -->\n").expect("a mark");
        let mark = "<!-- distribution -->\n";
        let text = format!("{before}{mark}{table}<!-- end -->\n{after}");
        std::fs::write(path, text).expect("docs/blame.md can be written");
    }
}
