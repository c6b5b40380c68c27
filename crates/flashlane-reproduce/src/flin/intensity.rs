//! Fig. 3 and 4: flows of different intensity.
//!
//! Section 3.1: a flow of reads whose rate grows from 16 to 1024 MB/s, alone and beside a base flow
//! of 16 MB/s. The paper gives neither request sizes nor addresses; ours are random pages. An open
//! loop beyond the rate that the drive can serve has no mean response time of its own: it grows
//! with the run. So the sweep is also given as a share of the measured saturation, and the length
//! of the run is stated.

use flashlane::Error;
use flashlane::metrics::Summary;

use super::setup::{
    EMPTY, RELEASED_ORDER, fairness, job, owned, page_reads, scheduler, slowdown, synthetic,
};
use crate::{Findings, Job, Lab, Row, Table};

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

/// Bytes per second that the drive serves of a deep closed loop.
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
    let runs = lab.run(&jobs)?;
    let mut table = Table::new(
        NAME,
        format!("Fig. 3: one flow of random 8 KiB reads, runs of {}", duration(lab)),
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
    let queue = |s: &Summary| {
        s.chips.iter().map(|chip| chip.mean_queue_length).sum::<f64>() / s.chips.len() as f64
    };
    let wait_share = |s: &Summary| {
        let t = s.flows[0].transactions;
        t.wait_us / (t.wait_us + t.transfer_us + t.execution_us)
    };
    for (&rate, run) in rates.iter().zip(&runs) {
        let t = run.summary.flows[0].transactions;
        table.row(vec![
            (rate as f64 / 1e6).into(),
            (rate as f64 / limit).into(),
            queue(&run.summary).into(),
            t.wait_us.into(),
            t.transfer_us.into(),
            t.execution_us.into(),
            wait_share(&run.summary).into(),
        ]);
    }
    let of_paper: Vec<&Summary> = runs[..RATES.len()].iter().map(|run| &run.summary).collect();
    let queues: Vec<f64> = of_paper.iter().map(|s| queue(s)).collect();
    let waits: Vec<f64> = of_paper.iter().map(|s| s.flows[0].transactions.wait_us).collect();
    let beyond = &runs[RATES.len() + SHARES.iter().position(|&s| s == 0.95).expect("a share")];
    let rows = vec![
        Row::statement(
            NAME,
            "chip queue at 1024 over that at 128 MB/s",
            queues[6] / queues[3],
            queues.is_sorted() && queues[6] >= 8.0 * queues[3],
            "x",
            "lengths \"increase proportionately with the I/O intensity\": eightfold or more",
        ),
        Row::statement(
            NAME,
            "wait at 1024 over that at 128 MB/s",
            waits[6] / waits[3],
            waits.is_sorted(),
            "x",
            "\"a longer queue leads to a longer wait time\"",
        ),
        Row::statement(
            NAME,
            "wait share of the turnaround at 1024 MB/s",
            wait_share(of_paper[6]),
            wait_share(of_paper[6]) > 0.5,
            "share",
            format!(
                "\"dominating the other two\"; our drive saturates at {:.0} MB/s of such reads, so 1024 is \
                 {:.0} % of that",
                limit / 1e6,
                1.024e11 / limit
            ),
        ),
        Row::statement(
            NAME,
            "wait share of the turnaround at 95 % of saturation",
            wait_share(&beyond.summary),
            wait_share(&beyond.summary) > 0.5,
            "share",
            "\"dominating the other two\", where the drive is as full as the paper's seems to be",
        ),
    ];
    Ok(Findings { rows, tables: vec![table] })
}

/// Runs Fig. 4: the flow beside a light one.
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
        // Below 256 MB/s nothing happens; one case shows it.
        let rates = of_paper.filter(|&rate| at == 0 || rate >= 256_000_000).chain(of_limit);
        points.extend(rates.flat_map(|rate| POLICIES.map(|policy| (at, rate, policy))));
    }
    let jobs: Vec<Job> = points
        .iter()
        .map(|&(at, rate, policy)| open(lab, cases[at], rate, true, policy))
        .collect::<Result<_, _>>()?;
    let runs = lab.run(&jobs)?;
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 4: base flow of 16 MB/s beside another, random reads, runs of {}",
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
    for (&(at, rate, policy), run) in points.iter().zip(&runs) {
        table.row(vec![
            cases[at].name.into(),
            policy.into(),
            (rate as f64 / 1e6).into(),
            (rate as f64 / limits[at]).into(),
            slowdown(&run.summary, 0).into(),
            slowdown(&run.summary, 1).into(),
            fairness(&run.summary).into(),
        ]);
    }
    let at = |case: usize, rate: u64, policy: &str| {
        let found = points.iter().position(|&point| point == (case, rate, policy));
        &runs[found.expect("a point of the sweep")].summary
    };
    let mut rows = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let found = at(index, 1_024_000_000, "out-of-order");
        rows.push(Row::number(
            NAME,
            format!("base slowdown beside 1024 MB/s, {}", case.name),
            49.0,
            slowdown(found, 0),
            1.0,
            "x",
            format!(
                "saturation is {:.0} MB/s here, so 1024 is {:.0} % of it",
                limits[index] / 1e6,
                1.024e11 / limits[index]
            ),
        ));
    }
    // Where the paper's number lies: between these two shares, for runs of this length.
    for share in [1.0, 1.05] {
        let index = if lab.smoke { 0 } else { 3 };
        let found = at(index, (share * limits[index]) as u64, "out-of-order");
        rows.push(Row::number(
            NAME,
            format!("base slowdown at {:.0} % of saturation, {}", share * 100.0, cases[index].name),
            49.0,
            slowdown(found, 0),
            1.0,
            "x",
            format!(
                "an open loop that the drive cannot serve: it grows with the run, here {}",
                duration(lab)
            ),
        ));
    }
    let beyond: Vec<f64> = RATES
        .iter()
        .filter(|&&rate| rate > 256)
        .map(|&rate| slowdown(at(0, u64::from(rate) * 1_000_000, "out-of-order"), 1))
        .collect();
    let most = beyond.iter().copied().fold(0.0, f64::max);
    rows.push(Row::statement(
        NAME,
        "interfering slowdown beyond 256 MB/s, largest",
        most,
        most < 1.3,
        "x",
        "\"very small\"; taken as below 1.3",
    ));
    rows.extend(deep(lab)?);
    Ok(Findings { rows, tables: vec![table] })
}

/// The same question with a closed loop, which saturates the drive without an endless queue.
fn deep(lab: &Lab<'_>) -> Result<Vec<Row>, Error> {
    const POLICIES: [&str; 2] = ["out-of-order", "flin"];
    let mut rows = Vec::new();
    for case in &CASES[..2] {
        let jobs: Vec<Job> =
            POLICIES.iter().map(|policy| closed(lab, *case, policy)).collect::<Result<_, _>>()?;
        let runs = lab.run_seeds(&jobs, lab.seeds)?;
        let mean = |policy: usize, number: &dyn Fn(&Summary) -> f64| {
            crate::row::over_seeds(
                &runs[policy].iter().map(|run| number(&run.summary)).collect::<Vec<f64>>(),
            )
        };
        let (baseline, of_baseline) = mean(0, &|s| slowdown(s, 0));
        let (fair, of_flin) = mean(1, &|s| slowdown(s, 0));
        let kept = mean(1, &|s| s.flows[1].iops).0 / mean(0, &|s| s.flows[1].iops).0;
        rows.push(
            Row::statement(
                NAME,
                format!("light flow beside depth 256, out-of-order, {}", case.name),
                baseline,
                baseline > 10.0,
                "x",
                "our own test: over 10 expected. By Little's law the mean response time is 256 over the \
                 requests per second that the drive serves; a faster bus order keeps it below",
            )
            .with_interval(of_baseline),
        );
        rows.push(
            Row::statement(
                NAME,
                format!("light flow beside depth 256, flin, {}", case.name),
                fair,
                fair < 3.0,
                "x",
                "our own test: below 3 expected",
            )
            .with_interval(of_flin),
        );
        rows.push(Row::statement(
            NAME,
            format!("heavy flow's throughput under flin, {}", case.name),
            kept,
            kept > 0.9,
            "of out-of-order",
            "our own test: over 0.9 expected",
        ));
    }
    Ok(rows)
}
