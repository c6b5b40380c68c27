//! `flashlane run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flashlane::config::load::{self, Loaded};
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};
use flashlane::metrics::mqsim_results;
use flashlane::{Error, Problem, RunOptions, visible_line};
use flashlane_results::fio;

use crate::args::{CommonArgs, Format, RunArgs};
use crate::commands::trace::split;
use crate::commands::{advise, against, dry_run, removal_table, replay};
use crate::execute::{Outcome, Scenario, execute, pretty};
use crate::flow_rows::print_rows;
use crate::output::{Content, OutFolder, RUN, note, places_of_results, print, print_data, show};
use crate::side_by_side::{Column, verdicts};
use crate::watch::Watched;
use crate::{blame_table, report, slo_table, states, summary_table};

/// Loads the files, checks them, runs the scenarios, and reports the results.
pub(crate) fn run(arguments: &RunArgs) -> Result<(), Error> {
    let wants_time = match arguments.common.format {
        Format::Text | Format::Json => None,
        Format::Csv => Some("--format csv"),
        Format::Markdown => Some("--format markdown"),
        Format::Latex => Some("--format latex"),
        Format::FioJson => Some("--format fio-json"),
        Format::MqsimXml => Some("--format mqsim-xml"),
    };
    if let Some(format) = wants_time.filter(|_| arguments.waf_only) {
        let message = "allowed: text, json; with --waf-only there are no times to write";
        return Err(Error::config(format, message));
    }
    if arguments.seeds.is_some() && arguments.common.watch.any() {
        let message = "found, allowed: not given; one run is watched, choose it with --seed";
        return Err(Error::config("--seeds", message));
    }
    if let Some(arrivals) = &arguments.arrivals {
        return replay::replay(arguments, arrivals);
    }
    let overrides = arguments.overrides();
    let device = load::device(&arguments.device, &overrides);
    let tenants = split::of_run(arguments)?;
    let watch = &split::watched(arguments);
    let workloads = load::workloads(tenants.workload(), &overrides);
    let (device, workloads) = both(device, workloads)?;
    check_all(&device, &workloads)?;
    if arguments.advise && workloads.len() != 1 {
        let found = format!("found {} scenarios, allowed: one", workloads.len());
        return Err(Error::config("--advise", found));
    }
    if !arguments.common.quiet {
        warn(&device, &workloads);
    }
    if arguments.dry_run {
        return dry_run::dry_run(&device.config, &workloads, arguments.common.format);
    }
    let baseline = arguments.baseline.as_deref().map(|path| against::read(path, &workloads));
    let baseline = baseline.transpose()?;
    let mut folder = out_folder(arguments, workloads.len())?;
    let states = states::states(arguments.states.as_deref(), arguments.common.quiet)?;
    let (mut scenarios, mut watched) = (Vec::new(), Vec::new());
    for (index, workload) in workloads.iter().enumerate() {
        let path = PathBuf::from(scenario_name(index, workloads.len()).unwrap_or_default());
        // fio's samples are windows over time.
        let series = arguments.common.format == Format::FioJson;
        let (mut observe, files) =
            Watched::prepare(watch, series, folder.as_mut(), &path, &workload.config)?;
        observe.queues = arguments.common.format == Format::MqsimXml;
        watched.push(files);
        scenarios.push(Scenario {
            device: &device.config,
            workload: &workload.config,
            options: RunOptions { observe, states: states.clone(), ..options(arguments) },
            seeds: arguments.seeds,
        });
    }
    let common = &arguments.common;
    let mut outcomes =
        execute(&scenarios, usize::from(common.threads), "simulating", common.quiet)?;
    if let Some(baseline) = &baseline {
        outcomes.iter_mut().for_each(|outcome| baseline.apply(outcome));
    }
    let advice = arguments
        .advise
        .then(|| advise::beside_run(arguments, tenants.workload(), &scenarios[0].options));
    let advice = advice.transpose()?;
    let mut documents = Vec::new();
    if arguments.common.format == Format::MqsimXml {
        for (outcome, workload) in outcomes.iter().zip(&workloads) {
            let (summary, queues) = (&outcome.summary, &outcome.details.queues);
            documents.push(mqsim_results(summary, queues, &device.config, &workload.config));
        }
    }
    let to_files = folder.is_some();
    if let Some(folder) = folder {
        let mut files = files(&outcomes)?;
        for ((watched, outcome), workload) in watched.into_iter().zip(&outcomes).zip(&workloads) {
            if watch.report {
                let mut run = report::data(outcome, &device.config, &workload.config)?;
                run.baseline = baseline.as_ref().map(|baseline| baseline.label.clone());
                run.advice = advice.as_ref().map(advise::sentences).unwrap_or_default();
                files.push((watched.folder().join("report.html"), report::page(&[run])?));
            }
            files.extend(watched.files(watch, &outcome.details)?);
        }
        files.extend(documents.iter().enumerate().map(|(index, document)| {
            (mqsim_file(&arguments.workload, index), document.clone().into())
        }));
        if let Some(advice) = &advice {
            files.extend(advise::files(advice)?);
        }
        folder.write(files)?;
    }
    if tenants.are_split() {
        tell_cause(&outcomes, common)?;
    }
    tell(&outcomes, common)?;
    for line in advice.iter().flat_map(advise::sentences) {
        show(&line, common.format != Format::Text)?;
    }
    if let Some(baseline) = &baseline {
        show(&baseline.sentence(), common.format != Format::Text)?;
    }
    if arguments.common.format == Format::FioJson {
        for (outcome, workload) in outcomes.iter().zip(&workloads) {
            let document = fio::json(&outcome.summary, &outcome.details, &workload.config);
            print_data(&pretty(&document))?;
        }
    }
    if !to_files {
        print(&documents.concat())?;
    }
    missed(&outcomes)
}

/// The folder for results. A file in it that has the name of a result, but that Flashlane did not
/// write, is refused.
fn out_folder(arguments: &RunArgs, scenarios: usize) -> Result<Option<OutFolder>, Error> {
    let common = &arguments.common;
    let Some(root) = &common.out else { return Ok(None) };
    let folder = OutFolder::prepare(root, common.overwrite.overwrite)?.of_set(RUN);
    folder.expect(places_of_results((0..scenarios).filter_map(|i| scenario_name(i, scenarios))))?;
    if common.format == Format::MqsimXml {
        folder.expect((0..scenarios).map(|index| mqsim_file(&arguments.workload, index)))?;
    }
    Ok(Some(folder))
}

/// Fails if a tenant missed a goal.
fn missed(outcomes: &[Outcome]) -> Result<(), Error> {
    let mut lines = Vec::new();
    for (index, outcome) in outcomes.iter().enumerate() {
        let scenario = scenario_name(index, outcomes.len()).map(|name| format!("{name}: "));
        let summary = outcome.shown()?;
        lines.extend(
            slo_table::missed(&summary)
                .map(|line| format!("{}{line}", scenario.as_deref().unwrap_or_default())),
        );
    }
    if lines.is_empty() { Ok(()) } else { Err(Error::Missed(lines.join("\n"))) }
}

fn options(arguments: &RunArgs) -> RunOptions {
    RunOptions {
        seed: arguments.common.seed,
        alone: arguments.alone,
        alone_basis: arguments.basis(),
        leave_one_out: arguments.leave_one_out,
        check: arguments.common.check,
        warmup: arguments.warmup.unwrap_or_default(),
        until_steady: arguments.steady(),
        compat: arguments.compat.map(|_| "mqsim".to_owned()),
        threads: usize::from(arguments.common.threads),
        series_interval: None,
        windows: arguments.windows.map(|span| span.0),
        waf_only: arguments.waf_only,
        ..RunOptions::default()
    }
}

/// Both results, or the problems of both sides.
fn both<A, B>(a: Result<A, Error>, b: Result<B, Error>) -> Result<(A, B), Error> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(Error::Config(mut problems)), Err(Error::Config(more))) => {
            // Both sides report a malformed `--set`.
            problems.extend(more);
            Err(Error::Config(unique(problems)))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

fn unique(problems: Vec<Problem>) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let new = |problem: &Problem| seen.insert((problem.place.clone(), problem.message.clone()));
    problems.into_iter().filter(new).collect()
}

/// Checks the device against every scenario, and reports each problem once.
fn check_all(
    device: &Loaded<DeviceConfig>,
    workloads: &[Loaded<WorkloadConfig>],
) -> Result<(), Error> {
    let mut problems = Vec::new();
    for workload in workloads {
        match validate::check_pair(device, workload) {
            Err(Error::Config(more)) => problems.extend(more),
            other => other?,
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Config(unique(problems))) }
}

fn warn(device: &Loaded<DeviceConfig>, workloads: &[Loaded<WorkloadConfig>]) {
    let mut said: BTreeSet<&String> = BTreeSet::new();
    let slow: Vec<String> = workloads
        .iter()
        .flat_map(|workload| validate::warnings(&device.config, &workload.config))
        .collect();
    let all = device.warnings.iter().chain(workloads.iter().flat_map(|w| &w.warnings));
    let all = all.chain(&slow);
    for warning in all {
        if said.insert(warning) {
            note(&format!("warning: {warning}"));
        }
    }
}

/// A name such as `scenario-2`, if there are several scenarios.
pub(crate) fn scenario_name(index: usize, count: usize) -> Option<String> {
    (count > 1).then(|| format!("scenario-{}", index + 1))
}

/// MQSim's name for the results of a scenario.
fn mqsim_file(workload: &Path, index: usize) -> PathBuf {
    let stem = workload.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("{stem}_scenario_{}.xml", index + 1))
}

fn files(outcomes: &[Outcome]) -> Result<Vec<(PathBuf, Content)>, Error> {
    let mut files = Vec::new();
    for (index, outcome) in outcomes.iter().enumerate() {
        let folder = PathBuf::from(scenario_name(index, outcomes.len()).unwrap_or_default());
        for (name, text) in outcome.files()? {
            files.push((folder.join(name), text.into()));
        }
    }
    Ok(files)
}

/// Prints which tenant suffers and which one causes it, before any number.
fn tell_cause(outcomes: &[Outcome], common: &CommonArgs) -> Result<(), Error> {
    if common.format != Format::Text && common.quiet {
        return Ok(());
    }
    for outcome in outcomes {
        let summary = outcome.shown()?;
        let verdict = flashlane_verdict::of(&summary, outcome.details.blame.as_ref());
        let sentences = [verdict.headline, verdict.cause].join(" ");
        show(visible_line(sentences.trim_end()).as_ref(), common.format != Format::Text)?;
        show("", common.format != Format::Text)?;
    }
    Ok(())
}

fn tell(outcomes: &[Outcome], common: &CommonArgs) -> Result<(), Error> {
    let json = common.format != Format::Text;
    let shown = outcomes.iter().map(Outcome::shown).collect::<Result<Vec<_>, _>>()?;
    if common.format == Format::Text || !common.quiet {
        if outcomes.len() > 1 {
            show_verdicts(outcomes, json)?;
        }
        for (index, (outcome, summary)) in outcomes.iter().zip(&shown).enumerate() {
            if let Some(name) = scenario_name(index, outcomes.len()) {
                show(&name, json)?;
            }
            show(summary_table::report(summary, outcome.seeds.as_ref()).trim_end(), json)?;
            if let Some(blame) = &outcome.details.blame {
                show(blame_table::blame(blame).trim_end(), json)?;
            }
            let removal = removal_table::removal(summary, outcome.details.blame.as_ref());
            if !removal.is_empty() {
                show(removal.trim_end(), json)?;
            }
        }
    }
    if common.format == Format::Json {
        let lines = outcomes.iter().map(Outcome::json_line).collect::<Result<Vec<_>, _>>()?;
        print_data(&lines.concat())?;
    }
    let name = |index| scenario_name(index, outcomes.len()).unwrap_or_default();
    let rows = outcomes.iter().zip(&shown).enumerate();
    let rows =
        rows.map(|(index, (outcome, summary))| (name(index), &**summary, outcome.seeds.as_ref()));
    print_rows(&rows.collect::<Vec<_>>(), common.format)
}

/// Prints the verdicts of several scenarios, before the tables of the first one.
fn show_verdicts(outcomes: &[Outcome], json: bool) -> Result<(), Error> {
    let names: Vec<String> = (0..outcomes.len())
        .map(|index| scenario_name(index, outcomes.len()).unwrap_or_default())
        .collect();
    let columns = names.iter().zip(outcomes).map(|(label, outcome)| Column {
        label,
        summary: &outcome.summary,
        seeds: outcome.seeds.as_ref(),
    });
    let text = verdicts(&columns.collect::<Vec<_>>());
    if !text.is_empty() {
        show(text.trim_end(), json)?;
        show("", json)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_problems_are_told_apart_at_once() {
        let problem = |index: usize| Problem {
            place: format!("flow[{}]", index / 2),
            message: "found".to_owned(),
        };
        let seconds = |count: usize| {
            let problems: Vec<Problem> = (0..count).map(problem).collect();
            let begun = std::time::Instant::now();
            assert_eq!(unique(problems).len(), count / 2);
            begun.elapsed().as_secs_f64()
        };
        // The time would grow by 10 in proportion to the count, and by 100 in proportion to its
        // square. A busy machine may spoil some of the tries.
        let found: Vec<_> = (0..20).map(|_| seconds(100_000) / seconds(10_000)).collect();
        assert!(found.iter().any(|ratio| *ratio < 40.0), "{found:?}");
    }
}
