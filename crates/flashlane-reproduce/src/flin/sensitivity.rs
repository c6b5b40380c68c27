//! Sensitivity of Fig. 10 to 13 to choices that the paper leaves open.
//!
//! The paper does not say how full the drive is, when collection stops being preemptible (GChard),
//! and how long the traces run. It does not say how much of the chips' time each trace took, except
//! that traces of high interference keep the chips busy for more than 8 % of it. One choice is
//! changed at a time.

use flashlane::Error;

use super::compared::{Compared, FLIN, Settings};
use super::mixes::{CATEGORIES, HIGH, Load, METRICS, Mix, UNCACHED, counted, flow, mean, shown};
use super::setup::{COMPARED, busy, job, trace_drive};
use crate::{Cell, Findings, Lab, Row, Table};

const NAME: &str = "sensitivity";
/// Share of chip time that every trace of high interference takes in the scaled variants. The paper
/// draws the line at 8 %.
const CLASSES: [f64; 2] = [0.10, 0.20];
/// The line that the paper draws.
const LINE: f64 = 0.08;

/// A change of a setting.
struct Change {
    axis: &'static str,
    value: &'static str,
    sets: &'static [&'static str],
    /// Parameters of both baselines.
    baselines: &'static str,
    /// Factors on the time scale and on the length.
    load: [f64; 2],
}

const fn sets(axis: &'static str, value: &'static str, sets: &'static [&'static str]) -> Change {
    Change { axis, value, sets, baselines: "", load: [1.0, 1.0] }
}

const fn load(axis: &'static str, value: &'static str, load: [f64; 2]) -> Change {
    Change { axis, value, sets: &[], baselines: "", load }
}

const fn window(value: &'static str, baselines: &'static str) -> Change {
    Change { axis: "window of Sprinkler", value, sets: &[], baselines, load: [1.0, 1.0] }
}

const fn occupancy(value: &'static str, set: &'static [&'static str]) -> Change {
    sets("occupancy", value, set)
}

/// The first entry changes nothing: GChard of 4 blocks, occupancy 0.86, 18 s, the published rates.
const CHANGES: [Change; 26] = [
    sets("GChard, of 10 blocks", "4", &[]),
    sets("GChard, of 10 blocks", "6", &["ftl.gc.hard_threshold=6 blocks"]),
    sets("GChard, of 10 blocks", "7", &["ftl.gc.hard_threshold=7 blocks"]),
    sets("GChard, of 10 blocks", "8", &["ftl.gc.hard_threshold=8 blocks"]),
    sets(
        "GChard, of 10 blocks",
        "4, larger planes",
        &["flash.blocks_per_plane=256", "ftl.precondition.occupancy=0.91"],
    ),
    sets(
        "GChard, of 10 blocks",
        "9, larger planes",
        &[
            "flash.blocks_per_plane=256",
            "ftl.precondition.occupancy=0.91",
            "ftl.gc.hard_threshold=9 blocks",
        ],
    ),
    sets("occupancy", "0.60", &["ftl.precondition.occupancy=0.60"]),
    sets("occupancy", "0.75", &["ftl.precondition.occupancy=0.75"]),
    occupancy("0.76", &["ftl.precondition.occupancy=0.76"]),
    occupancy("0.77", &["ftl.precondition.occupancy=0.77"]),
    occupancy("0.78", &["ftl.precondition.occupancy=0.78"]),
    occupancy("0.79", &["ftl.precondition.occupancy=0.79"]),
    occupancy("0.80", &["ftl.precondition.occupancy=0.80"]),
    occupancy("0.81", &["ftl.precondition.occupancy=0.81"]),
    occupancy("0.82", &["ftl.precondition.occupancy=0.82"]),
    occupancy("0.83", &["ftl.precondition.occupancy=0.83"]),
    occupancy("0.84", &["ftl.precondition.occupancy=0.84"]),
    sets(
        "occupancy",
        "0.75, GChard 8",
        &["ftl.precondition.occupancy=0.75", "ftl.gc.hard_threshold=8 blocks"],
    ),
    load("length", "6 s", [1.0, 1.0 / 3.0]),
    load("length", "36 s", [1.0, 2.0]),
    load("length", "54 s", [1.0, 3.0]),
    load("length", "90 s", [1.0, 5.0]),
    load("time scale", "0.7", [0.7, 1.0]),
    sets(
        "times of suspension",
        "100 and 700 us",
        &[
            "flash.suspend.program_time=100us",
            "flash.suspend.program_min_left=100us",
            "flash.suspend.erase_time=700us",
            "flash.suspend.erase_min_left=700us",
        ],
    ),
    window("64", "window = 64"),
    window("1024", "window = 1024"),
];

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let categories: &[u32] = if lab.smoke { &[2] } else { &CATEGORIES };
    let mixes = shown(lab, categories);
    let changes = if lab.smoke { &CHANGES[..2] } else { &CHANGES[..] };
    let mut table = Table::new(
        NAME,
        format!(
            "Fig. 10-13 with one thing changed: geometric means over {} workloads",
            mixes.len()
        ),
        &[
            "changed",
            "to",
            "flin over",
            "fairness, x",
            "max slowdown, x",
            "STDEV, x",
            "weighted speedup, change",
            "max slowdown of flin",
            "max slowdown of this",
            "growing, flin",
            "growing, this",
        ],
    );
    let base = Load::new(lab);
    let mut rows = Vec::new();
    // Most changes have a larger effect than a seed, so one seed is enough.
    let seeds = if lab.full { lab.seeds } else { 1 };
    for change in changes {
        let [scale, length] = change.load;
        let load = Load { time_scale: base.time_scale * scale, trace_s: base.trace_s * length };
        let sets: Vec<String> = change.sets.iter().map(|&set| set.to_owned()).collect();
        let settings = Settings { sets: &sets, baselines: change.baselines };
        let results = Compared::run_with(lab, mixes.clone(), load, settings, seeds)?;
        add(&mut table, &mut rows, change.axis, change.value, &results);
    }
    let classes = Classes::measure(lab, base)?;
    for share in if lab.smoke { &CLASSES[..1] } else { &CLASSES[..] } {
        let mixes: Vec<Mix> = mixes.iter().map(|mix| classes.scaled(mix, *share)).collect();
        let results = Compared::run(lab, mixes, base, &[], seeds)?;
        let value = format!("{:.0} %", 100.0 * share);
        add(&mut table, &mut rows, "high traces busy for", &value, &results);
    }
    let raised: Vec<Mix> = mixes.iter().map(|mix| classes.raised(mix)).collect();
    let results = Compared::run(lab, raised, base, &[], seeds)?;
    add(&mut table, &mut rows, "high traces busy for", "8 % at least", &results);
    Ok(Findings { rows, tables: vec![table, classes.table] })
}

/// Adds the gains over both baselines, and the slowdown of the worst flow, as geometric means.
fn add(table: &mut Table, rows: &mut Vec<Row>, axis: &str, value: &str, results: &Compared) {
    let all = results.chosen(|_, _| true);
    for (over, name) in COMPARED[..FLIN].iter().enumerate() {
        let mut cells: Vec<Cell> = vec![axis.into(), value.into(), (*name).into()];
        cells.extend((0..4).map(|which| Cell::from(results.gains(&all, over, which).1)));
        for policy in [FLIN, over] {
            cells.push(super::mixes::geometric(&results.values(&all, policy, 1)).into());
        }
        for policy in [FLIN, over] {
            cells.push((results.growing(&all, policy) as f64).into());
        }
        table.row(cells);
        for (which, metric) in METRICS.iter().enumerate() {
            rows.push(Row::no_reference(
                NAME,
                format!("{axis} {value}: {metric}, flin against {name}"),
                None,
                Some(results.gains(&all, over, which).1),
                if which == 3 { "change" } else { "x" },
                "geometric means of the ratios; the paper does not say what it ran with",
            ));
        }
    }
}

/// How busy each trace of high interference keeps the chips when it runs alone.
struct Classes {
    /// Shares by index in [`HIGH`].
    busy: Vec<f64>,
    table: Table,
}

impl Classes {
    fn measure(lab: &Lab<'_>, load: Load) -> Result<Self, Error> {
        let jobs = HIGH
            .iter()
            .map(|trace| {
                let alone = flow(lab, trace, trace, load, UNCACHED)?;
                let job = job(&trace_drive(lab, "sprinkler"), &alone)?;
                if lab.smoke { Ok(job) } else { counted(job, load) }
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let mut table = Table::new(
            "sensitivity-classes",
            "Traces of high interference alone: the paper's keep the chips busy for more than 8 %",
            &["trace", "chips busy, %", "time scale for 10 %", "time scale for 20 %"],
        );
        let mut all = Vec::new();
        for (trace, runs) in HIGH.iter().zip(lab.run_seeds(&jobs, lab.seeds)?) {
            let shares: Vec<f64> = runs.iter().map(|run| busy(&run.summary).0).collect();
            let share = mean(&shares);
            let mut cells: Vec<Cell> = vec![(*trace).into(), (100.0 * share).into()];
            cells.extend(CLASSES.map(|class| Cell::from(scale(share, class))));
            table.row(cells);
            all.push(share);
        }
        Ok(Self { busy: all, table })
    }

    /// The workload in which each trace of high interference takes the share of the class.
    fn scaled(&self, mix: &Mix, class: f64) -> Mix {
        self.changed(mix, |busy| scale(busy, class))
    }

    /// The workload in which each trace of high interference takes the share that makes it one.
    fn raised(&self, mix: &Mix) -> Mix {
        self.changed(mix, |busy| scale(busy, LINE).min(1.0))
    }

    /// The workload with a factor on the gaps of each trace of high interference.
    fn changed(&self, mix: &Mix, factor: impl Fn(f64) -> f64) -> Mix {
        let of = |(trace, before): (&&str, &f64)| {
            let known = HIGH.iter().position(|high| high == trace);
            before * known.map_or(1.0, |at| factor(self.busy[at]))
        };
        let scales = mix.traces.iter().zip(&mix.scales).map(of).collect();
        Mix { scales, ..mix.clone() }
    }
}

/// The factor on the gaps of a trace with which it takes this share of the chips' time, if the
/// share is proportional to the rate.
fn scale(busy: f64, class: f64) -> f64 {
    busy / class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_change_is_none_and_names_are_known() {
        assert!(CHANGES[0].sets.is_empty() && CHANGES[0].load == [1.0, 1.0]);
        assert_eq!(scale(0.75, 0.25), 3.0, "a trace above its class is slowed down");
        let mix = Mix { high: 2, traces: vec!["exch", "tpcc"], scales: vec![1.0; 2] };
        let busy = HIGH.map(|name| if name == "tpcc" { 0.9 } else { 0.04 }).to_vec();
        let classes = Classes { busy, table: Table::new("t", "t", &[]) };
        assert_eq!(classes.raised(&mix).scales, [0.5, 1.0], "only what is below the line");
    }
}
