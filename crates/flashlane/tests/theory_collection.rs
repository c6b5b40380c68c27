//! Against theory: write amplification of every victim policy under uniform random writes, from its
//! preconditioned start and in the long run, and the order of the policies under skewed writes.
//!
//! Run with `--nocapture` for the tables.

use crate::common::{Scenario, flash_only, random_writes, run_all, utilisation};
use flashlane::metrics::Summary;
use flashlane::policy::Victim;

/// A drive, what is written to it, and how many capacities of that.
#[derive(Clone, Copy, Debug)]
struct Case {
    victim: &'static str,
    over_provisioning: f64,
    blocks: u32,
    pages_per_block: u32,
    planes: u32,
}

impl Case {
    const fn new(victim: &'static str, over_provisioning: f64) -> Self {
        Self { victim, over_provisioning, blocks: 1024, pages_per_block: 64, planes: 1 }
    }

    /// The run over `capacities` of the logical pages, from the preconditioned state.
    fn scenario(&self, capacities: f64) -> Scenario {
        let mut scenario =
            Scenario::new(&flash_only("", [1; 4], [1024, 64], "4KiB"), &random_writes(4))
                .set("flash.blocks_per_plane", self.blocks)
                .set("flash.pages_per_block", self.pages_per_block)
                .set("flash.planes_per_die", self.planes)
                .set("ftl.over_provisioning", self.over_provisioning)
                .set("ftl.gc.victim", self.victim);
        // Audits of the whole drive would be most of the run.
        scenario.options.check = false;
        let (logical, _) = utilisation(&scenario);
        scenario.set("flow[0].synthetic.requests", (capacities * logical as f64) as u64)
    }

    fn predicted(&self) -> f64 {
        let (_, rho) = utilisation(&self.scenario(1.0));
        let victim = Victim::by_name(self.victim).expect("a registered policy");
        victim.steady_state(rho, self.pages_per_block, self.blocks).write_amplification
    }
}

/// Programs for the host and all programs.
fn programs(summary: &Summary) -> (u64, u64) {
    let flash = &summary.flash;
    (flash.user_programs, flash.user_programs + flash.gc_programs + flash.mapping_programs)
}

/// Write amplification between the ends of two runs that are the same up to the end of the shorter.
fn amplification_between(short: &Summary, long: &Summary) -> f64 {
    let ((short_host, short_all), (long_host, long_all)) = (programs(short), programs(long));
    (long_all - short_all) as f64 / (long_host - short_host) as f64
}

fn relative(measured: f64, expected: f64) -> f64 {
    measured / expected - 1.0
}

/// The long run within 3 % of theory (capacities two to four, after the start is forgotten), and
/// the first half of a capacity within 5 % of the long run.
fn check(cases: &[Case]) {
    let spans = [0.5, 2.0, 4.0];
    let scenarios: Vec<Scenario> =
        spans.iter().flat_map(|&span| cases.iter().map(move |case| case.scenario(span))).collect();
    let (head, tail) = scenarios.split_at(2 * cases.len());
    // Two threads with about the same work.
    let (mut summaries, long) = (run_all(head), run_all(tail));
    summaries.extend(long);
    println!(
        "{:<17} {:>5} {:>6} {:>6} {:>6} {:>9} {:>8} {:>7} {:>8} {:>7}",
        "victim",
        "OP %",
        "blocks",
        "pages",
        "planes",
        "theory",
        "long run",
        "diff %",
        "start",
        "diff %"
    );
    let mut failures = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let [first, short, long] = [0, 1, 2].map(|span| &summaries[index + span * cases.len()]);
        let measured = amplification_between(short, long);
        let (host, all) = programs(first);
        let start = all as f64 / host as f64;
        let expected = case.predicted();
        let differences = [relative(measured, expected), relative(start, measured)];
        let row = format!(
            "{:<17} {:>5.1} {:>6} {:>6} {:>6} {expected:>9.3} {measured:>8.3} {:>7.2} {start:>8.3} {:>7.2}",
            case.victim,
            100.0 * case.over_provisioning,
            case.blocks,
            case.pages_per_block,
            case.planes,
            100.0 * differences[0],
            100.0 * differences[1],
        );
        println!("{row}");
        if differences[0].abs() > 0.03 || differences[1].abs() > 0.05 {
            failures.push(row);
        }
    }
    assert!(failures.is_empty(), "outside:\n{}", failures.join("\n"));
}

#[test]
fn write_amplification_meets_theory_at_28_percent() {
    let cases: Vec<Case> = Victim::NAMES.iter().map(|victim| Case::new(victim, 0.28)).collect();
    check(&cases);
}

#[test]
fn write_amplification_meets_theory_at_12_percent() {
    let mut cases: Vec<Case> = Victim::NAMES.iter().map(|v| Case::new(v, 0.125)).collect();
    cases.push(Case { planes: 2, ..Case::new("greedy", 0.125) });
    check(&cases);
}

/// Nine writes in ten go to a tenth of the pages; frontiers of its own let collection gather what
/// is cold. Cost-benefit waits longer for hot blocks to empty, a choice among few blocks leaves
/// cold ones alone for a while, strict greedy empties them too early, and first in, first out moves
/// them round and round.
#[test]
fn policies_rank_under_skewed_writes() {
    let address = "{ hot-cold = { hot_region = 0.1, hot_traffic = 0.9 } }";
    let names = ["cost-benefit", "rga", "greedy", "fifo", "random-plus"];
    let scenarios: Vec<Scenario> = [2.0, 4.0]
        .iter()
        .flat_map(|&capacities| {
            names.iter().map(move |victim| {
                let case = Case { blocks: 512, ..Case::new(victim, 0.125) };
                case.scenario(capacities).set("flow[0].synthetic.address", address)
            })
        })
        .collect();
    let summaries = run_all(&scenarios);
    let waf: Vec<f64> = (0..names.len())
        .map(|at| amplification_between(&summaries[at], &summaries[at + names.len()]))
        .collect();
    println!("{names:?}: {waf:.3?}");
    assert!(waf.is_sorted_by(|better, worse| 1.03 * better < *worse), "{names:?}: {waf:?}");
}

#[test]
#[ignore = "minutes: large blocks; random with 1,024 pages at 12.5 % is 3.1 % low and fails"]
fn write_amplification_meets_theory_for_blocks_of_any_size() {
    for pages_per_block in [256, 1024] {
        for over_provisioning in [0.28, 0.125] {
            let case = |victim| Case { pages_per_block, ..Case::new(victim, over_provisioning) };
            check(&Victim::NAMES.iter().map(|victim| case(victim)).collect::<Vec<_>>());
        }
    }
}
