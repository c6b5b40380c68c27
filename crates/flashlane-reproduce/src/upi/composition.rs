//! Isolation by scheduling: what each does, and what they do together. No paper has this.
//!
//! The drive is a small one with UPI's Table 1; the tenants are the three of UPI, faster than their
//! traces so that there is something to isolate and to schedule. Slowdowns are those against a
//! tenant with the whole drive to itself under the same scheduler: a partition that is too small
//! for its tenant counts as a slowdown.

use flashlane::Error;
use flashlane::metrics::Summary;
use flashlane::workload::clone;

use super::setup::{self, TENANTS};
use crate::row::over_seeds;
use crate::{Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "composition";

/// Places among the tenants: the latency-critical one, and the one with high throughput.
const CRITICAL: usize = 0;
const THROUGHPUT: usize = 2;

const SCHEDULERS: [&str; 3] = ["out-of-order", "sprinkler", "flin"];
const ISOLATIONS: [&str; 3] = ["unified", "partitioned", "upi"];
/// Places in these lists.
const OUT_OF_ORDER: usize = 0;
const UNIFIED: usize = 0;

/// Gaps over those of the traces.
const LOADS: [(&str, f64); 2] = [("moderate", 0.3), ("high", 0.18)];

/// Free blocks of a plane below which collection goes before the host's work, and under FLIN with
/// its writes (GC_FLIN): the same for all.
const PRESSING: u32 = 4;

/// Windows of UPI, as its default. Unit: seconds of the traces.
const WINDOW_S: f64 = 30.0;

/// A combination: places in [`SCHEDULERS`] and [`ISOLATIONS`].
type Pair = (usize, usize);

fn pairs() -> impl Iterator<Item = Pair> {
    (0..SCHEDULERS.len()).flat_map(|s| (0..ISOLATIONS.len()).map(move |i| (s, i)))
}

fn name((scheduler, isolation): Pair) -> String {
    format!("{} + {}", SCHEDULERS[scheduler], ISOLATIONS[isolation])
}

/// Sizes and times of a run.
struct Size {
    blocks: u32,
    pages: u32,
    /// Unit: seconds of the drive's time.
    counted_s: f64,
    warmup_s: f64,
}

impl Size {
    fn new(lab: &Lab<'_>) -> Self {
        let (blocks, pages, counted_s) = match (lab.smoke, lab.full) {
            (true, _) => (256, 8, 0.4),
            (_, true) => (1024, 512, 600.0),
            _ => (256, 128, 80.0),
        };
        Self { blocks, pages, counted_s, warmup_s: counted_s / 4.0 }
    }
}

fn job(lab: &Lab<'_>, time_scale: f64, pair: Pair) -> Result<Job, Error> {
    let (scheduler, isolation) = pair;
    let size = Size::new(lab);
    let flow = |trace: &str| {
        let trace_ms = (size.warmup_s + size.counted_s) / time_scale * 1e3;
        // The day of a clone begins at night, at half its mean rate.
        let requests = (trace_ms / clone::find(trace)?.gap_ms() / 2.0).ceil() as u64;
        let source = lab.source(trace, requests, time_scale)?;
        Ok(setup::flow(trace, &source))
    };
    let workload: String = TENANTS.into_iter().map(flow).collect::<Result<_, Error>>()?;
    let scheduler = match SCHEDULERS[scheduler] {
        "flin" => format!(
            "{{ flin = {{ gc_free_pages = {}, gc_scope = \"plane\" }} }}",
            PRESSING * size.pages
        ),
        other => other.to_owned(),
    };
    let isolation = match ISOLATIONS[isolation] {
        "upi" => format!("{{ upi = {{ window = \"{:.3}s\" }} }}", WINDOW_S * time_scale),
        other => other.to_owned(),
    };
    let sets = [
        format!("flash.blocks_per_plane={}", size.blocks),
        format!("flash.pages_per_block={}", size.pages),
        "ftl.precondition.open_blocks=true".to_owned(),
        format!("ftl.gc.hard_threshold={PRESSING} blocks"),
        format!("scheduler={scheduler}"),
        format!("isolation={isolation}"),
    ];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let job = Job::new("upi", &sets, &workload)?.warmup(&format!("{:.3}s", size.warmup_s))?;
    // The whole drive to itself is what each tenant is compared with.
    Ok(if pair.1 == UNIFIED { job.alone() } else { job })
}

/// What one combination comes to under one seed.
#[derive(Clone, Copy)]
struct Outcome {
    fairness: f64,
    /// Reads of the latency-critical tenant. Unit: microseconds.
    p99: f64,
    /// Reads of the tenant with high throughput. Unit: microseconds.
    mean: f64,
    amplification: f64,
    /// Standard deviation of the erases of a block, over their mean.
    block_spread: f64,
    /// Most less fewest erases of a chip, over their mean.
    chip_spread: f64,
}

impl Outcome {
    /// `alone`: the same seed under the same scheduler with each tenant alone.
    fn new(shared: &Summary, alone: &Summary) -> Self {
        let slowdowns: Vec<f64> = shared
            .flows
            .iter()
            .zip(&alone.flows)
            .map(|(shared, alone)| {
                let alone = alone.alone_end_to_end_us.expect("the laboratory checks this");
                shared.end_to_end_us.mean / alone
            })
            .collect();
        let least = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
        let most = slowdowns.iter().copied().fold(0.0, f64::max);
        let erases = || shared.chips.iter().map(|chip| chip.erases as f64);
        let chips = shared.chips.len() as f64;
        let range = erases().fold(0.0, f64::max) - erases().fold(f64::INFINITY, f64::min);
        let over = |spread: f64, mean: f64| if mean > 0.0 { spread / mean } else { 0.0 };
        let blocks = &shared.flash.block_erases;
        Self {
            fairness: least / most,
            p99: shared.flows[CRITICAL].read_response_time_us.p99,
            mean: shared.flows[THROUGHPUT].read_response_time_us.mean,
            amplification: shared.flash.write_amplification,
            block_spread: over(blocks.stddev, blocks.mean),
            chip_spread: over(range, erases().sum::<f64>() / chips),
        }
    }
}

type Figure = (&'static str, fn(&Outcome) -> f64);

/// The figures that are compared, and whether more is better.
const COMPARED: [(Figure, bool); 3] = [
    (("fairness", |o| o.fairness), true),
    (("das-as p99 read", |o| o.p99), false),
    (("lm-tbe mean read", |o| o.mean), false),
];

/// Outcomes of a load, by place of the pair, then by seed.
struct Outcomes(Vec<Vec<Outcome>>);

impl Outcomes {
    fn new(runs: &[Vec<Run>]) -> Self {
        let of_scheduler = |runs: &[Vec<Run>]| -> Vec<Vec<Outcome>> {
            let alone = &runs[UNIFIED];
            let seeds = |runs: &Vec<Run>| {
                let outcome =
                    |(run, alone): (&Run, &Run)| Outcome::new(&run.summary, &alone.summary);
                runs.iter().zip(alone).map(outcome).collect()
            };
            runs.iter().map(seeds).collect()
        };
        Self(runs.chunks(ISOLATIONS.len()).flat_map(of_scheduler).collect())
    }

    fn of(&self, (scheduler, isolation): Pair) -> &[Outcome] {
        &self.0[scheduler * ISOLATIONS.len() + isolation]
    }

    fn over_seeds(&self, pair: Pair, figure: fn(&Outcome) -> f64) -> (f64, Option<[f64; 2]>) {
        over_seeds(&self.of(pair).iter().map(figure).collect::<Vec<f64>>())
    }

    /// A figure of a pair over that of another, seed by seed.
    fn ratio(&self, a: Pair, b: Pair, figure: fn(&Outcome) -> f64) -> (f64, Option<[f64; 2]>) {
        let ratios = self.of(a).iter().zip(self.of(b)).map(|(a, b)| figure(a) / figure(b));
        over_seeds(&ratios.collect::<Vec<f64>>())
    }
}

fn table(load: &str, outcomes: &Outcomes) -> Table {
    let title =
        format!("isolation by scheduler, {load} load: means over seeds, half of the 95 % interval");
    let columns = [
        "scheduler",
        "isolation",
        "fairness",
        "+-",
        "das-as p99 read, us",
        "+-",
        "lm-tbe mean read, us",
        "+-",
        "WAF",
        "block erases, stddev/mean",
        "chip erases, range/mean",
    ];
    let mut table = Table::new(format!("{NAME}-{load}"), title, &columns);
    for pair in pairs() {
        let mut cells = vec![SCHEDULERS[pair.0].into(), ISOLATIONS[pair.1].into()];
        for ((_, figure), _) in COMPARED {
            let (mean, interval) = outcomes.over_seeds(pair, figure);
            cells.extend([mean.into(), interval.map(|[low, high]| (high - low) / 2.0).into()]);
        }
        let others: [fn(&Outcome) -> f64; 3] =
            [|o| o.amplification, |o| o.block_spread, |o| o.chip_spread];
        cells.extend(others.map(|figure| outcomes.over_seeds(pair, figure).0.into()));
        table.row(cells);
    }
    table
}

/// Combinations of two against each of their parts: the same isolation out of order, which shows
/// what the scheduler adds, and the same scheduler without isolation.
fn rows(load: &str, outcomes: &Outcomes) -> Vec<Row> {
    let both = pairs().filter(|&(s, i)| s != OUT_OF_ORDER && i != UNIFIED);
    let with_part =
        both.flat_map(|pair| [(OUT_OF_ORDER, pair.1), (pair.0, UNIFIED)].map(|part| (pair, part)));
    with_part
        .flat_map(|pairs| COMPARED.map(|compared| (pairs, compared)))
        .map(|((pair, part), ((what, figure), more_is_better))| {
            let (ours, interval) = outcomes.ratio(pair, part, figure);
            let metric = format!("{what}, {} over {}, {load} load", name(pair), name(part));
            let note = if more_is_better { "more is better" } else { "less is better" };
            Row::no_reference(NAME, metric, None, Some(ours), "x", note).with_interval(interval)
        })
        .collect()
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let loads = if lab.smoke { &LOADS[..1] } else { &LOADS[..] };
    let mut jobs: Vec<Job> = Vec::new();
    for &(_, time_scale) in loads {
        for pair in pairs() {
            jobs.push(job(lab, time_scale, pair)?);
        }
    }
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let of_load = SCHEDULERS.len() * ISOLATIONS.len();
    let mut findings = Findings::default();
    for (&(load, _), runs) in loads.iter().zip(runs.chunks(of_load)) {
        let outcomes = Outcomes::new(runs);
        findings.rows.extend(rows(load, &outcomes));
        findings.tables.push(table(load, &outcomes));
    }
    Ok(findings)
}
