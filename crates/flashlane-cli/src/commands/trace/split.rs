//! `flashlane trace split`: a trace of several tenants as a trace for each, and a workload file.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::units::Span;
use flashlane::workload::trace::reader_options;
use flashlane_trace::{Action, Split, SplitBy, SplitError, Tally, Tenant};
use tempfile::TempDir;

use super::{STRIDE, reading, trace_error};
use crate::args::{ReadingArgs, RunArgs, SplitArgs};
use crate::execute::spinner;
use crate::output::{Content, OutFolder, SPLIT, note, print};
use crate::table::Table;
use crate::watch::WatchArgs;

/// Name of the workload file.
const WORKLOAD: &str = "workload.toml";
/// Silhouettes above which clusters are far apart, and below which they blur.
const SURE: f64 = 0.7;
const UNSURE: f64 = 0.5;

/// The trace to split, and the options.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) file: &'a str,
    pub(crate) reading: &'a ReadingArgs,
    pub(crate) by: &'a SplitBy,
    pub(crate) top: u16,
    pub(crate) quiet: bool,
}

/// Splits a trace and shows its tenants.
pub(super) fn split(arguments: &SplitArgs) -> Result<(), Error> {
    let request = Request {
        file: &arguments.file,
        reading: &arguments.reading,
        by: &arguments.by,
        top: arguments.top,
        quiet: arguments.quiet,
    };
    let (workload, split) = into(&request, &arguments.out, arguments.overwrite.overwrite)?;
    print(&table(&split))?;
    if !arguments.quiet {
        tell_certainty(&split, &arguments.by);
        note(&format!("run them: flashlane run --device DEVICE --workload {}", workload.display()));
    }
    Ok(())
}

/// Writes the traces of the tenants and the workload file into a folder; all or none. Returns the
/// path of the workload file.
pub(crate) fn into(
    request: &Request<'_>,
    folder: &Path,
    overwrite: bool,
) -> Result<(PathBuf, Split), Error> {
    let config = reading::config(request.file, request.reading)?;
    let options = reader_options(&config)?;
    let bar = spinner("splitting", request.quiet);
    let split = Split::plan(&config.path, &options, request.by, usize::from(request.top));
    let split = split.map_err(trace_error)?;
    let mut out = OutFolder::prepare(folder, overwrite)?.of_set(SPLIT);
    let names: Vec<PathBuf> = split.tenants().iter().map(|one| file_of(one, &split)).collect();
    out.expect(names.iter().cloned().chain([PathBuf::from(WORKLOAD)]))?;
    let mut files = Vec::new();
    for name in &names {
        files.push(out.stage(name)?);
    }
    let handles: Vec<&mut File> = files.iter_mut().map(|file| file.as_file_mut()).collect();
    let progress = |requests: u64| {
        if requests.is_multiple_of(STRIDE) {
            bar.set_position(requests);
        }
    };
    split.write(handles, &progress).map_err(|error| match error {
        SplitError::Read(error) => trace_error(error),
        SplitError::Write { tenant, source } => {
            let place = folder.join(&names[tenant]);
            Error::Output(format!("{}: cannot be written: {source}", place.display()))
        }
    })?;
    bar.finish_and_clear();
    let workload = workload(&split, request);
    let staged = names.into_iter().zip(files).map(|(name, file)| (name, Content::Staged(file)));
    out.write(staged.chain([(PathBuf::from(WORKLOAD), workload.into())]))?;
    Ok((folder.join(WORKLOAD), split))
}

/// Where the workload of a run is: where the arguments say, or among the tenants of their trace.
#[derive(Debug)]
pub(crate) struct Tenants {
    workload: PathBuf,
    split: bool,
    /// Folder of the tenants' traces if the user does not keep them.
    _folder: Option<TempDir>,
}

impl Tenants {
    /// The workload file.
    pub(crate) fn workload(&self) -> &Path {
        &self.workload
    }

    /// The workload is a trace that was split.
    pub(crate) fn are_split(&self) -> bool {
        self.split
    }
}

/// The workload of a run; with `--split` its trace is split first.
pub(crate) fn of_run(arguments: &RunArgs) -> Result<Tenants, Error> {
    let Some(by) = &arguments.split.split else {
        let workload = arguments.workload.clone();
        return Ok(Tenants { workload, split: false, _folder: None });
    };
    let common = &arguments.common;
    let (place, folder) = match common.out.as_ref().filter(|_| !arguments.dry_run) {
        Some(out) => (out.join("tenants"), None),
        None => {
            let folder = tempfile::tempdir().map_err(|error| {
                Error::Output(format!("a folder for the tenants cannot be made: {error}"))
            })?;
            (folder.path().to_owned(), Some(folder))
        }
    };
    let file = arguments.workload.to_string_lossy();
    let reading = arguments.split.reading();
    let request = Request {
        file: &file,
        reading: &reading,
        by,
        top: arguments.split.top,
        quiet: common.quiet,
    };
    let (workload, split) = into(&request, &place, common.overwrite.overwrite)?;
    if !common.quiet {
        tell_certainty(&split, by);
    }
    Ok(Tenants { workload, split: true, _folder: folder })
}

/// The records of the run. It always includes blame, because the question about tenants of a trace
/// is which one delays which.
pub(crate) fn watched(arguments: &RunArgs) -> WatchArgs {
    let mut watch = arguments.common.watch;
    let one_timed_run = arguments.seeds.is_none() && !arguments.waf_only;
    watch.blame |= arguments.split.split.is_some() && one_timed_run;
    watch
}

fn file_of(tenant: &Tenant, split: &Split) -> PathBuf {
    PathBuf::from(format!("{}.{}", tenant.name, split.output()))
}

/// A workload of the tenants. All requests of the trace count, each once, at their times.
fn workload(split: &Split, request: &Request<'_>) -> String {
    let stem = Path::new(request.file).file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').next().unwrap_or_default();
    let mut text = format!(
        "# The tenants of {}, split by {}. Every request of the trace counts, once, at its time.\n",
        one_line(request.file),
        one_line(&request.by.to_string()),
    );
    if let Some(certainty) = certainty(split) {
        let _ = writeln!(text, "# {certainty}");
    }
    let name = toml::Value::String(stem.to_owned());
    let _ = writeln!(text, "name = {name}\nwindow = \"whole-run\"");
    for tenant in split.tenants() {
        let tally = &tenant.tally;
        let _ = writeln!(text, "\n[[flow]]\n# {}: {}", one_line(&texts(tenant)), in_words(tally));
        let _ = writeln!(text, "name = \"{}\"\non_end = \"stop\"", tenant.name);
        if tally.first_ps > 0 {
            let _ = writeln!(text, "starts_after = \"{}\"", Span(tally.first_ps));
        }
        let file = file_of(tenant, split);
        let _ = writeln!(text, "[flow.trace]\npath = \"{}\"", file.display());
        let _ = writeln!(text, "format = \"{}\"", split.output());
        if split.has_completions() && split.action() != Action::Queue {
            let _ = writeln!(text, "action = \"{}\"", split.action().letter());
        }
    }
    text
}

/// What the trace calls a tenant.
fn texts(tenant: &Tenant) -> String {
    /// Texts that are shown of tenants that were joined.
    const SHOWN: usize = 8;
    let texts = &tenant.texts;
    let mut shown = texts[..texts.len().min(SHOWN)].join(", ");
    if texts.len() > SHOWN {
        let _ = write!(shown, " and {} more", texts.len() - SHOWN);
    }
    if shown.is_empty() { "(nothing)".to_owned() } else { shown }
}

/// Text for a comment: no control characters.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn in_words(tally: &Tally) -> String {
    let [reads, writes, trims, flushes] = tally.requests;
    let mut parts = Vec::new();
    let counts = [(reads, "reads"), (writes, "writes"), (trims, "trims"), (flushes, "flushes")];
    for ((count, name), bytes) in counts.into_iter().zip(tally.bytes) {
        match (count, bytes) {
            (0, _) => {}
            (_, 0) => parts.push(format!("{count} {name}")),
            _ => parts.push(format!("{count} {name} of {:.3} MB", bytes as f64 / 1e6)),
        }
    }
    let seconds = |ps: u64| ps as f64 / 1e12;
    let (from, to) = (seconds(tally.first_ps), seconds(tally.last_ps));
    format!("{}, from {from:.3} s to {to:.3} s", parts.join(", "))
}

/// How sure the clusters of addresses are, in words.
fn certainty(split: &Split) -> Option<String> {
    let value = split.silhouette()?;
    let words = match value {
        _ if value >= SURE => "they are far apart",
        _ if value >= UNSURE => "they are apart, with some overlap",
        _ => "they blur into each other: take the tenants as a guess",
    };
    Some(format!(
        "Extents that are alike were joined; mean silhouette {value:.2} (from -1 to 1): {words}."
    ))
}

/// Says on standard error how sure the clusters are.
pub(crate) fn tell_certainty(split: &Split, by: &SplitBy) {
    match certainty(split) {
        Some(text) => note(&text),
        None if *by == SplitBy::Lba => {
            note("All addresses are used alike: the trace is one tenant.");
        }
        None => {}
    }
}

/// The tenants for people.
fn table(split: &Split) -> String {
    let mut table =
        Table::new(&["tenant", "requests", "reads", "writes", "MB", "from s", "to s", "is"]);
    for tenant in split.tenants() {
        let tally = &tenant.tally;
        table.row(vec![
            tenant.name.clone(),
            tally.count().to_string(),
            tally.requests[0].to_string(),
            tally.requests[1].to_string(),
            format!("{:.3}", tally.bytes.iter().sum::<u64>() as f64 / 1e6),
            format!("{:.6}", tally.first_ps as f64 / 1e12),
            format!("{:.6}", tally.last_ps as f64 / 1e12),
            one_line(&texts(tenant)),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_described_by_what_it_does() {
        let tally = Tally {
            requests: [2, 0, 0, 1],
            bytes: [8192, 0, 0, 0],
            first_ps: 0,
            last_ps: 1_500_000_000_000,
        };
        assert_eq!(in_words(&tally), "2 reads of 0.008 MB, 1 flushes, from 0.000 s to 1.500 s");
        let texts_of = |count: usize| {
            let found = (0..count).map(|n| n.to_string()).collect();
            texts(&Tenant { name: "others".to_owned(), texts: found, tally })
        };
        assert_eq!(texts_of(2), "0, 1");
        assert!(texts_of(10).ends_with("7 and 2 more"));
        assert_eq!(one_line("a\nb"), "a\u{fffd}b");
    }
}
