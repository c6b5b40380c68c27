//! Fig. 3 and 4: flows of different intensity.
//!
//! Section 3.1: a flow of reads whose rate grows from 16 to 1024 MB/s, alone and beside a base flow
//! of 16 MB/s. The paper gives neither request sizes nor addresses; ours are random pages. An open
//! loop beyond the rate that the drive can serve has no mean response time of its own: it grows
//! with the run. So the sweep is also given as a share of the measured saturation, and the length
//! of the run is stated.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::mixes::{mean, ratios};
use super::setup::{
    EMPTY, RELEASED_ORDER, fairness, job, over, owned, page_reads, scheduler, slowdown, synthetic,
};
use crate::{Bound, Findings, Job, Lab, Row, Run, Table};

const NAME: &str = "intensity";
/// Rates of the paper. Unit: MB/s.
const RATES: [u32; 7] = [16, 32, 64, 128, 256, 512, 1024];
/// Rates as shares of the measured saturation.
const SHARES: [f64; 7] = [0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05];
/// Depth of the closed loop against which saturation is measured.
const SATURATING: u32 = 1024;

/// Request size, and whether read data goes before commands as in the released simulator.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    size: &'static str,
    released_order: bool,
}

const CASES: [Case; 4] = [
    Case { name: "8 KiB", size: "8KiB", released_order: false },
    Case { name: "8 KiB, released order", size: "8KiB", released_order: true },
    Case { name: "4 KiB", size: "4KiB", released_order: false },
    Case { name: "4 KiB, released order", size: "4KiB", released_order: true },
];

impl Case {
    fn sets(self, policy: &str) -> Vec<String> {
        let mut sets = owned(&EMPTY);
        sets.push("interface.queue_fetch_size=65535".to_owned());
        sets.push(scheduler(policy));
        if self.released_order {
            sets.push(RELEASED_ORDER.to_owned());
        }
        sets
    }

    fn flow(self, name: &str, load: &str, duration: &str) -> String {
        let keys = page_reads(load).replace("8KiB", self.size);
        synthetic(name, &keys, duration)
    }
}

fn duration(lab: &Lab<'_>) -> &'static str {
    match (lab.smoke, lab.full) {
        (true, _) => "4ms",
        (_, true) => "2s",
        _ => "200ms",
    }
}

/// A flow of `rate` bytes per second alone, or beside the base flow.
fn open(lab: &Lab<'_>, case: Case, rate: u64, base: bool, policy: &str) -> Result<Job, Error> {
    let bandwidth = |rate: u64| format!("bandwidth = \"{rate}B/s\"");
    let mut flows = String::new();
    if base {
        flows += &case.flow("base", &bandwidth(16_000_000), duration(lab));
    }
    flows += &case.flow("interfering", &bandwidth(rate), duration(lab));
    let job = job(&case.sets(policy), &flows)?;
    Ok(if base { job.alone() } else { job })
}

/// A job that measures the throughput of the drive under a deep closed loop.
fn saturation(lab: &Lab<'_>, case: Case) -> Result<Job, Error> {
    let load = format!("queue_depth = {SATURATING}");
    let flow = case.flow("all", &load, if lab.smoke { "2ms" } else { "50ms" });
    job(&case.sets("out-of-order"), &flow)
}

/// A light open loop beside a closed loop of depth 256.
fn closed(lab: &Lab<'_>, case: Case, policy: &str) -> Result<Job, Error> {
    let flows = case.flow("light", "bandwidth = \"16MB/s\"", duration(lab))
        + &case.flow("heavy", "queue_depth = 256", duration(lab));
    Ok(job(&case.sets(policy), &flows)?.alone())
}

/// Runs Fig. 3: the flow alone.
pub(super) fn alone(lab: &Lab<'_>) -> Result<Findings, Error> {
    const NAME: &str = "intensity-alone";
    let case = CASES[0];
    let limit = lab.run(&[saturation(lab, case)?])?[0].summary.flows[0].bandwidth_bytes_per_s;
    let rates: Vec<u64> = RATES
        .iter()
        .map(|&rate| u64::from(rate) * 1_000_000)
        .chain(SHARES.iter().map(|share| (share * limit) as u64))
        .collect();
    let jobs: Vec<Job> = rates
        .iter()
        .map(|&rate| open(lab, case, rate, false, "out-of-order"))
        .collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 3: one flow of random 8 KiB reads, runs of {}, means over seeds",
            duration(lab)
        ),
        &[
            "rate, MB/s",
            "share of saturation",
            "mean chip queue",
            "wait, us",
            "transfer, us",
            "execution, us",
            "wait share",
        ],
    );
    for (&rate, runs) in rates.iter().zip(&runs) {
        let mean_of = |number: &dyn Fn(&Summary) -> f64| mean(&over(runs, number));
        table.row(vec![
            (rate as f64 / 1e6).into(),
            (rate as f64 / limit).into(),
            mean_of(&queue).into(),
            mean_of(&|s| s.flows[0].transactions.wait_us).into(),
            mean_of(&|s| s.flows[0].transactions.transfer_us).into(),
            mean_of(&|s| s.flows[0].transactions.execution_us).into(),
            mean_of(&wait_share).into(),
        ]);
    }
    let of_paper: Vec<Vec<f64>> =
        runs[..RATES.len()].iter().map(|runs| over(runs, queue)).collect();
    let wait = |at: usize| over(&runs[at], |s| s.flows[0].transactions.wait_us);
    let beyond = &runs[RATES.len() + SHARES.iter().position(|&s| s == 0.95).expect("a share")];
    let rows = vec![
        Row::statement_over_seeds(
            NAME,
            "chip queue at 1024 over that at 128 MB/s",
            &ratios(&of_paper[6], &of_paper[3]),
            Bound::AtLeast(8.0),
            "x",
            "lengths \"increase proportionately with the I/O intensity\": eightfold or more",
        ),
        Row::statement_over_seeds(
            NAME,
            "wait at 1024 over that at 128 MB/s",
            &ratios(&wait(6), &wait(3)),
            Bound::AtLeast(1.5),
            "x",
            "\"a longer queue leads to a longer wait time\"",
        ),
        Row::statement_over_seeds(
            NAME,
            "wait share of the turnaround at 1024 MB/s",
            &over(&runs[6], wait_share),
            Bound::AtLeast(0.5),
            "share",
            format!(
                "\"dominating the other two\"; our drive saturates at {:.0} MB/s of such reads, so 1024 is \
                 {:.0} % of that",
                limit / 1e6,
                1.024e11 / limit
            ),
        ),
        Row::statement_over_seeds(
            NAME,
            "wait share of the turnaround at 95 % of saturation",
            &over(beyond, wait_share),
            Bound::AtLeast(0.5),
            "share",
            "\"dominating the other two\", where the drive is as full as the paper's seems to be",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}

/// Mean length of the queues of the chips.
fn queue(summary: &Summary) -> f64 {
    let chips = &summary.chips;
    chips.iter().map(|chip| chip.mean_queue_length).sum::<f64>() / chips.len() as f64
}

/// Part of the turnaround of a transaction that is waiting.
fn wait_share(summary: &Summary) -> f64 {
    let t = summary.flows[0].transactions;
    t.wait_us / (t.wait_us + t.transfer_us + t.execution_us)
}

/// Runs Fig. 4: the flow beside a flow of low rate.
pub(super) fn beside(lab: &Lab<'_>) -> Result<Findings, Error> {
    const POLICIES: [&str; 2] = ["out-of-order", "flin"];
    let cases: &[Case] = if lab.smoke { &CASES[..2] } else { &CASES };
    let limits: Vec<f64> = {
        let jobs: Vec<Job> =
            cases.iter().map(|&case| saturation(lab, case)).collect::<Result<_, _>>()?;
        let runs = lab.run(&jobs)?;
        runs.iter().map(|run| run.summary.flows[0].bandwidth_bytes_per_s).collect()
    };
    let mut points: Vec<(usize, u64, &str)> = Vec::new();
    for (at, limit) in limits.iter().enumerate() {
        let of_paper = RATES.iter().map(|&rate| u64::from(rate) * 1_000_000);
        let of_limit = SHARES.iter().map(|share| (share * limit) as u64);
        // Below 256 MB/s the flow has no effect, which one case shows.
        let rates = of_paper.filter(|&rate| at == 0 || rate >= 256_000_000).chain(of_limit);
        points.extend(rates.flat_map(|rate| POLICIES.map(|policy| (at, rate, policy))));
    }
    let jobs: Vec<Job> = points
        .iter()
        .map(|&(at, rate, policy)| open(lab, cases[at], rate, true, policy))
        .collect::<Result<_, _>>()?;
    let runs = lab.run_seeds(&jobs, lab.seeds)?;
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 4: base flow of 16 MB/s beside another, random reads, runs of {}, means over seeds",
            duration(lab)
        ),
        &[
            "requests",
            "scheduler",
            "rate, MB/s",
            "share of saturation",
            "base slowdown",
            "interfering slowdown",
            "fairness",
        ],
    );
    for (&(at, rate, policy), runs) in points.iter().zip(&runs) {
        let mean_of = |number: &dyn Fn(&Summary) -> f64| mean(&over(runs, number));
        table.row(vec![
            cases[at].name.into(),
            policy.into(),
            (rate as f64 / 1e6).into(),
            (rate as f64 / limits[at]).into(),
            mean_of(&|s| slowdown(s, 0)).into(),
            mean_of(&|s| slowdown(s, 1)).into(),
            mean_of(&fairness).into(),
        ]);
    }
    let mut rows = of_figure(lab, cases, &limits, &|case, rate| {
        let found = points.iter().position(|&point| point == (case, rate, "out-of-order"));
        &runs[found.expect("a point of the sweep")]
    });
    rows.extend(deep(lab)?);
    Ok(Findings { rows, tables: vec![table] })
}

/// Comparisons with the paper's statements on Fig. 4. `at` gives the runs of a case at a rate.
fn of_figure<'a>(
    lab: &Lab<'_>,
    cases: &[Case],
    limits: &[f64],
    at: &dyn Fn(usize, u64) -> &'a [Run],
) -> Vec<Row> {
    let base = |case: usize, rate: u64| over(at(case, rate), |s| slowdown(s, 0));
    let row = |metric: String, values: &[f64], note: String| {
        Row::number_over_seeds(NAME, metric, 49.0, values, 1.0, "x", note)
    };
    let mut rows = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        rows.push(row(
            format!("base slowdown beside 1024 MB/s, {}", case.name),
            &base(index, 1_024_000_000),
            format!(
                "saturation is {:.0} MB/s here, so 1024 is {:.0} % of it",
                limits[index] / 1e6,
                1.024e11 / limits[index]
            ),
        ));
    }
    // The paper's number lies between these two shares, for runs of this length.
    let last = cases.len() - 1;
    for share in [1.0, 1.05] {
        rows.push(row(
            format!("base slowdown at {:.0} % of saturation, {}", share * 100.0, cases[last].name),
            &base(last, (share * limits[last]) as u64),
            format!(
                "an open loop that the drive cannot serve: it grows with the run, here {}",
                duration(lab)
            ),
        ));
    }
    let beyond = RATES.iter().filter(|&&rate| rate > 256).map(|&rate| u64::from(rate) * 1_000_000);
    let beyond: Vec<Vec<f64>> = beyond.map(|rate| over(at(0, rate), |s| slowdown(s, 1))).collect();
    let most = |seed: usize| beyond.iter().map(|of| of[seed]).fold(0.0, f64::max);
    rows.push(Row::statement_over_seeds(
        NAME,
        "interfering slowdown beyond 256 MB/s, largest",
        &(0..beyond[0].len()).map(most).collect::<Vec<f64>>(),
        Bound::AtMost(1.3),
        "x",
        "\"very small\"",
    ));
    rows
}

/// Repeats the comparison with a closed loop, which saturates the drive without an endless queue.
/// The paper has no such test.
fn deep(lab: &Lab<'_>) -> Result<Vec<Row>, Error> {
    const POLICIES: [&str; 2] = ["out-of-order", "flin"];
    let mut rows = Vec::new();
    for case in &CASES[..2] {
        let jobs: Vec<Job> =
            POLICIES.iter().map(|policy| closed(lab, *case, policy)).collect::<Result<_, _>>()?;
        let runs = lab.run_seeds(&jobs, lab.seeds)?;
        let of = |policy: usize, number: &dyn Fn(&Summary) -> f64| over(&runs[policy], number);
        let check = |metric: &str, values: &[f64], bound: Bound, unit: &'static str, note: &str| {
            Row::check_over_seeds(
                NAME,
                format!("{metric}, {}", case.name),
                values,
                bound,
                unit,
                note,
            )
        };
        rows.push(check(
            "light flow beside depth 256, out-of-order",
            &of(0, &|s| slowdown(s, 0)),
            Bound::AtLeast(10.0),
            "x",
            "by Little's law the mean response time is 256 over the requests per second that the drive \
             serves",
        ));
        rows.push(check(
            "light flow beside depth 256, flin",
            &of(1, &|s| slowdown(s, 0)),
            Bound::AtMost(3.0),
            "x",
            "",
        ));
        let kept = ratios(&of(1, &|s| s.flows[1].iops), &of(0, &|s| s.flows[1].iops));
        rows.push(check(
            "heavy flow's throughput under flin",
            &kept,
            Bound::AtLeast(0.9),
            "of out-of-order",
            "",
        ));
    }
    Ok(rows)
}
