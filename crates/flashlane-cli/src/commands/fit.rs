//! `flashlane fit`: finds the device file that behaves like the measured figures.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane_fit::curves::{self, Request, table};
use flashlane_fit::drive::{self, Validation};
use flashlane_fit::write::{self, Report, Source};
use flashlane_probe::data::HELD_BACK;
use flashlane_probe::{Collected, Measured};
use indicatif::ProgressStyle;

use crate::args::FitArgs;
use crate::execute::spinner;
use crate::output::{Content, OutFolder, note, print, refuse_input};
use crate::table::{Table, number};

/// The base of a fit to measurements if none is named.
const DRIVE_BASE: &str = "fast18";

/// Fits a device to measurements or to a table of figures, and writes the outcome.
pub(crate) fn fit(arguments: &FitArgs) -> Result<(), Error> {
    match arguments.data.is_dir() {
        true => to_drive(arguments),
        false => to_curves(arguments),
    }
}

/// Fits a device to a probed drive.
fn to_drive(arguments: &FitArgs) -> Result<(), Error> {
    let data = Collected::load(&arguments.data)
        .map_err(|failure| Error::config("fit", failure.to_string()))?;
    if !arguments.vary.is_empty() {
        let why = "measurements of a drive decide what is varied; allowed: with a table of figures";
        return Err(Error::config("--vary", why));
    }
    let work = arguments.validate.as_ref().map(|folder| held_back(folder, &data)).transpose()?;
    let (folder, name) = place(arguments)?;
    let mut request = drive::Request::of(arguments.base.as_deref().unwrap_or(DRIVE_BASE));
    request.options.threads = usize::from(arguments.threads);
    let progress = spinner("simulating", arguments.quiet);
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} drives, {elapsed}");
    progress.set_style(style.expect("the template is constant"));
    let fit = drive::fit(&data, &request, &|| progress.inc(1));
    progress.finish_and_clear();
    let fit = fit?;
    let mut report = fit.report(&arguments.data.display().to_string(), &request)?;
    if let Some(work) = work {
        report.validation = Some(fit.validate(&work, &request)?);
    }
    save(folder, name, &report)?;
    print(&summary(&report))?;
    note(&format!("wrote {}, fit.json and fit.html beside it", arguments.out.display()));
    Ok(())
}

/// Work that is not used for the fit, measured on the same target.
fn held_back(folder: &Path, data: &Collected) -> Result<Measured, Error> {
    let place = || folder.display().to_string();
    let other = Collected::load(folder)
        .map_err(|failure| Error::config("--validate", failure.to_string()))?;
    if other.facts != data.facts {
        let (found, wanted) = (&other.facts.name, &data.facts.name);
        return Err(Error::config(place(), format!("found {found}, allowed: {wanted}")));
    }
    other.probe(HELD_BACK).first().cloned().ok_or_else(|| {
        Error::config(place(), "found no work, allowed: a folder of `flashlane probe --trace`")
    })
}

/// Fits a base device to a table of figures.
fn to_curves(arguments: &FitArgs) -> Result<(), Error> {
    if arguments.validate.is_some() {
        let why = "allowed with measurements of a drive only; figures are held back by their role";
        return Err(Error::config("--validate", why));
    }
    let figures = table::read(&arguments.data)?;
    let (folder, name) = place(arguments)?;
    let mut request = Request::of(arguments.base.as_deref().unwrap_or_default());
    request.vary.clone_from(&arguments.vary);
    request.effort = arguments.effort;
    request.options.threads = usize::from(arguments.threads);
    request.options.starts = usize::from(arguments.starts);
    request.options.most_evaluations = arguments.evaluations as usize;
    let progress = spinner("simulating", arguments.quiet);
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} figures, {elapsed}");
    progress.set_style(style.expect("the template is constant"));
    let count = |step: curves::Step| progress.set_position(step.simulations as u64);
    let fit = match arguments.base {
        Some(_) => curves::fit(&figures, &request, &count),
        None => curves::fit_nearest(&figures, &request, &count),
    };
    progress.finish_and_clear();
    let report = fit?.report(&arguments.data.display().to_string(), &request);
    save(folder, name, &report)?;
    print(&summary(&report))?;
    note(&format!("wrote {}, fit.json and fit.html beside it", arguments.out.display()));
    Ok(())
}

/// The folder and the name of the device file. A file of this name that Flashlane did not write is
/// refused.
fn place(arguments: &FitArgs) -> Result<(OutFolder, PathBuf), Error> {
    let out = &arguments.out;
    let base = arguments.base.iter().map(PathBuf::from);
    refuse_input(out, base.chain([arguments.data.clone()]))?;
    let name = out
        .file_name()
        .ok_or_else(|| Error::Output(format!("{}: is not the name of a file", out.display())))?;
    let root = out.parent().filter(|root| !root.as_os_str().is_empty());
    let root = root.unwrap_or(Path::new("."));
    let folder = OutFolder::prepare(root, arguments.overwrite.overwrite)?;
    let name = PathBuf::from(name);
    folder.expect([&name, Path::new("fit.json"), Path::new("fit.html")])?;
    Ok((folder, name))
}

/// Writes the device file, `fit.json` and `fit.html`.
fn save(folder: OutFolder, name: PathBuf, report: &Report) -> Result<(), Error> {
    let files = [
        (name, write::device(report)?),
        (PathBuf::from("fit.json"), write::json(report)?),
        (PathBuf::from("fit.html"), write::page(report)?),
    ];
    folder.write(files.map(|(path, text)| (path, Content::from(text))))
}

/// The keys with their intervals, and warnings about their use.
fn summary(report: &Report) -> String {
    let mut table = Table::new(&["key", "value", "95 % interval", "base", "told by"]);
    for key in report.keys.iter().filter(|key| key.source != Source::Base) {
        let bound = if key.at_bound { " (at a bound)" } else { "" };
        table.row(vec![
            key.key.clone(),
            key.text.clone(),
            format!("{}{bound}", key.interval_text),
            key.base_text.clone(),
            key.determined_by.clone(),
        ]);
    }
    let mut text = table.render();
    let verdict = &report.verdict;
    let far = report.points.iter().filter(|point| !point.held_back);
    let worst = far.map(|point| point.sigmas.abs()).fold(0.0, f64::max);
    let says = if verdict.fits { "fits" } else { "DOES NOT FIT" };
    text += &format!(
        "\n{says}: the worst figure is {worst:.1} sigmas off; {} simulated devices\n",
        verdict.evaluations
    );
    if !report.tried.is_empty() {
        let presets: Vec<&str> = report.tried.iter().map(|tried| tried.base.as_str()).collect();
        text += &format!("base: {}; nearest first: {}\n", report.base, presets.join(", "));
    }
    if !verdict.converged {
        text += "the search ended for want of evaluations\n";
    }
    for one in &report.undetermined {
        text += &format!("cannot be told: {}\n", one.text);
    }
    if !report.also.is_empty() {
        text += &format!("as good: {}\n", report.also.join(", "));
    }
    for pair in &report.correlations {
        let (first, second, coefficient) = (&pair.first, &pair.second, pair.coefficient);
        text += &format!("correlated: {first} and {second} ({coefficient:.3})\n");
    }
    let kept = report.keys.iter().filter(|key| key.source == Source::Base);
    let kept: Vec<_> = kept.map(|key| format!("{} = {}", key.key, key.toml)).collect();
    if !kept.is_empty() {
        text += &format!("from the base: {}\n", kept.join(", "));
    }
    if let Some(validation) = &report.validation {
        text += &validated(validation);
    }
    for one in &report.observations {
        text += &format!("seen: {one}\n");
    }
    for proposal in &report.proposals {
        text += &format!("measure next: {proposal}\n");
    }
    text
}

/// Measured and predicted figures of work that was not used for the fit.
fn validated(validation: &Validation) -> String {
    let mut table = Table::new(&["work not fitted to", "measured (us)", "predicted (us)", "error"]);
    for one in &validation.latencies {
        let error = format!("{:+.1} %", 100.0 * one.error());
        let cells = [one.name.clone(), number(one.measured), number(one.predicted), error];
        table.row(cells.to_vec());
    }
    let near = 100.0 * validation.near;
    format!("\n{}{near:.1} % of {} requests within 10 %\n\n", table.render(), validation.requests)
}
