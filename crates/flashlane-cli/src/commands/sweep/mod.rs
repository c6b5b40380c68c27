//! `flashlane sweep`.

mod dask;
mod slurm;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashlane::content::InputFiles;
use flashlane::metrics::Baseline;
use flashlane::{Error, RunOptions, visible_line};
use flashlane_study::sweep::{
    Found, Grid, Outcome, Point, Source, Store, Sweep, Table, Trouble, fault, share_baseline,
    usual_limit,
};
use indicatif::ProgressStyle;
use serde_json::{Map, Value};

use crate::args::{Engine, SweepArgs, SweepFormat};
use crate::commands::against;
use crate::execute::progress_bar;
use crate::fault::started_again;
use crate::output::{OutFolder, note, print_data};
use crate::states;

/// Number of points that `--dry-run` shows, and of failures that the summary shows.
const SHOWN: usize = 10;

/// Runs the points that have no result, and writes the table.
pub(crate) fn sweep(arguments: &SweepArgs) -> Result<(), Error> {
    let grid = Grid::read(&arguments.grid)?;
    if arguments.dry_run {
        return dry_run(&grid);
    }
    check_engine(arguments)?;
    if arguments.engine == Engine::Dask {
        return dask::run(arguments);
    }
    let baseline = arguments.baseline.as_deref().map(against::one_run).transpose()?;
    let baseline = baseline.as_ref().map(|(_, baseline)| baseline);
    // Parts of a sweep share the folder.
    let whole = arguments.shard.is_none() && !arguments.merge;
    let prepare = if whole { OutFolder::prepare } else { OutFolder::shared };
    let folder = prepare(&arguments.out, arguments.overwrite.overwrite)?;
    folder.expect(["results.parquet", "results.csv", "sweep.html"])?;
    let kept = arguments.out.join("points");
    let store = Store::open(&kept)?;
    // A part of a sweep tries no fault again, because other parts may look for its note.
    if whole && !started_again() {
        fault::forget(&kept);
    }
    let program = std::env::current_exe()
        .map_err(|error| Error::Output(format!("the program's own file: {error}")))?;
    let options = RunOptions {
        states: states::states(arguments.states.as_deref(), arguments.quiet)?,
        ..RunOptions::default()
    };
    let sweep = Sweep {
        source: Source::Files(grid.base.clone()),
        options: grid.options(&options)?,
        store: Some(store),
        program,
        files: InputFiles::new(),
        memory: arguments.memory.unwrap_or_else(usual_limit),
        stop: Arc::new(AtomicBool::new(false)),
        describe: |_| None,
    };
    if arguments.merge {
        return merge(arguments, &sweep, &grid, folder, baseline);
    }
    if arguments.engine == Engine::Slurm {
        let array = slurm::Array::new(arguments, grid.points.len());
        array.run(&mut || missing(&sweep, &grid))?;
    }
    let found = run(arguments, &sweep, &grid)?;
    if !arguments.quiet {
        note(&summary(&found));
    }
    let failed = none_succeeded(found.iter().map(|one| &one.outcome));
    let outcomes = match arguments.shard {
        None => Some(found.into_iter().map(|one| one.outcome).collect()),
        Some(_) => all_kept(&sweep, &grid)?,
    };
    if let Some(outcomes) = outcomes {
        write(arguments, folder, &grid, outcomes, baseline)?;
    }
    failed
}

/// Refuses options that the engine does not have.
fn check_engine(arguments: &SweepArgs) -> Result<(), Error> {
    if arguments.engine != Engine::Threads && (arguments.shard.is_some() || arguments.merge) {
        let message = "found with another engine, allowed: with threads";
        return Err(Error::config("--shard, --merge", message));
    }
    if arguments.engine == Engine::Dask && arguments.baseline.is_some() {
        let message = "found with dask, allowed: with threads and slurm";
        return Err(Error::config("--baseline", message));
    }
    Ok(())
}

/// Writes the table from the results of all parts.
fn merge(
    arguments: &SweepArgs,
    sweep: &Sweep,
    grid: &Grid,
    folder: OutFolder,
    baseline: Option<&Baseline>,
) -> Result<(), Error> {
    let Some(outcomes) = all_kept(sweep, grid)? else {
        return Err(incomplete(missing(sweep, grid)?.len(), grid.points.len()));
    };
    let failed = none_succeeded(outcomes.iter());
    write(arguments, folder, grid, outcomes, baseline)?;
    failed
}

/// Fails if no point has a result, because the table then has only failures. The exit status is 3
/// if every device could not finish its work, else 2.
fn none_succeeded<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Result<(), Error> {
    let mut troubles: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Done(_) => return Ok(()),
            Outcome::Failed(trouble, _) => *troubles.entry(trouble.name()).or_default() += 1,
        }
    }
    let points: usize = troubles.values().sum();
    if points == 0 {
        return Ok(());
    }
    let kinds: Vec<String> =
        troubles.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let message = format!(
        "found no result: all {points} points failed ({}); the column `error` of results.csv says why",
        kinds.join(", ")
    );
    if troubles.keys().eq([Trouble::Stuck.name()].iter()) {
        return Err(Error::Stuck(format!("sweep: {message}")));
    }
    Err(Error::config("sweep", message))
}

/// Runs the points of the grid, or of a part of it.
fn run(arguments: &SweepArgs, sweep: &Sweep, grid: &Grid) -> Result<Vec<Found>, Error> {
    let of_part = |index: &usize| match arguments.shard {
        None => true,
        Some((part, parts)) => index % parts as usize == part as usize - 1,
    };
    let points: Vec<Point> =
        (0..grid.points.len()).filter(of_part).map(|index| grid.points[index].clone()).collect();
    let bar = progress_bar(points.len() as u64, "sweep", arguments.quiet);
    let style = "{msg} [{wide_bar}] {pos} of {len}, {eta} to go";
    bar.set_style(
        ProgressStyle::with_template(style).expect("it is constant").progress_chars("=> "),
    );
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let jobs = if arguments.jobs == 0 { cores } else { usize::from(arguments.jobs) };
    let found = sweep.run(&points, jobs, &|_, one| {
        if let Some(damage) = &one.damage {
            bar.suspend(|| note(&format!("warning: {damage}; the point was run again")));
        }
        bar.inc(1);
    });
    bar.finish_and_clear();
    found
}

/// The numbers of the points that have to be run.
fn missing(sweep: &Sweep, grid: &Grid) -> Result<Vec<usize>, Error> {
    let mut missing = Vec::new();
    for (index, point) in grid.points.iter().enumerate() {
        if sweep.kept(point)?.is_none() {
            missing.push(index);
        }
    }
    Ok(missing)
}

/// The results of all points; `None` if a point has to be run.
fn all_kept(sweep: &Sweep, grid: &Grid) -> Result<Option<Vec<Outcome>>, Error> {
    grid.points.iter().map(|point| sweep.kept(point).transpose()).collect::<Option<_>>().transpose()
}

fn incomplete(missing: usize, points: usize) -> Error {
    let message = format!(
        "{missing} of {points} points have no result in the folder; run the sweep, or its other parts, \
         first"
    );
    Error::config("--merge", message)
}

fn write(
    arguments: &SweepArgs,
    folder: OutFolder,
    grid: &Grid,
    mut outcomes: Vec<Outcome>,
    baseline: Option<&Baseline>,
) -> Result<(), Error> {
    share_baseline(&grid.points, &mut outcomes, baseline);
    let table = Table::of(&grid.keys, grid.points.iter().zip(&outcomes));
    let parquet = table.parquet();
    let parquet = parquet.map_err(|error| Error::Output(format!("results.parquet: {error}")))?;
    folder.write([
        (PathBuf::from("results.parquet"), crate::output::Content::Bytes(parquet)),
        (PathBuf::from("results.csv"), table.csv().into()),
        (PathBuf::from("sweep.html"), page(arguments, grid, &outcomes)?.into()),
    ])?;
    match arguments.format {
        SweepFormat::Text => Ok(()),
        SweepFormat::Csv => print_data(&table.csv()),
        SweepFormat::Json => {
            for (point, outcome) in grid.points.iter().zip(&outcomes) {
                let mut line: Map<String, Value> = Map::new();
                line.insert(
                    "point".to_owned(),
                    point.iter().cloned().collect::<Map<_, _>>().into(),
                );
                if let Value::Object(result) = outcome.to_json() {
                    line.extend(result);
                }
                print_data(&format!("{}\n", Value::Object(line)))?;
            }
            Ok(())
        }
    }
}

/// The page of the sweep.
fn page(arguments: &SweepArgs, grid: &Grid, outcomes: &[Outcome]) -> Result<String, Error> {
    let name = arguments.grid.file_stem().unwrap_or_default().to_string_lossy();
    let points = grid.points.iter().zip(outcomes);
    let points: Vec<_> = points.map(|(point, one)| (point.clone(), one.to_json())).collect();
    flashlane_report::render_sweep(&format!("Sweep {name}"), &grid.keys, &points)
}

/// The numbers of points that ran, that had a result, and that failed, with the first failures.
fn summary(found: &[Found]) -> String {
    let kept = found.iter().filter(|one| one.was_kept).count();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for one in found {
        if let Outcome::Failed(trouble, why) = &one.outcome {
            *kinds.entry(trouble.name()).or_default() += 1;
            failures.push(why.lines().next().unwrap_or_default());
        }
    }
    let mut text = format!("{} points: {} run, {kept} found", found.len(), found.len() - kept);
    if !kinds.is_empty() {
        let kinds: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        text += &format!("; {} failed ({})", failures.len(), kinds.join(", "));
    }
    for why in failures.iter().take(SHOWN) {
        text += &format!("\n  failed: {}", visible_line(why));
    }
    text
}

fn dry_run(grid: &Grid) -> Result<(), Error> {
    let mut text = format!("{} points over {}\n", grid.points.len(), grid.keys.join(", "));
    for point in grid.points.iter().take(SHOWN) {
        let keys: Vec<String> = point.iter().map(|(key, value)| format!("{key}={value}")).collect();
        text += &format!("{}\n", keys.join(" "));
    }
    if grid.points.len() > SHOWN {
        text += "…\n";
    }
    print_data(&text)
}
