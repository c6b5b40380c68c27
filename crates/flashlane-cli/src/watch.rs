//! What a run is watched for (`--requests`, `--blame`, `--timeline`, `--series-window`), and the
//! files that come of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use flashlane::config::units::Span;
use flashlane::config::{FlowConfig, WorkloadConfig};
use flashlane::observe::{Observe, RequestSink, SeriesOptions, TimelineOptions};
use flashlane::{Details, Error};
use flashlane_results::{RequestFile, perfetto, series};
use tempfile::NamedTempFile;

use crate::execute::{pretty, to_json};
use crate::output::{Content, OutFolder, note};

/// Arguments of what to watch.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WatchArgs {
    /// Write requests.parquet: every request with the times of all its stages.
    #[arg(long, requires = "out")]
    pub(crate) requests: bool,
    /// Show which tenant delays which, and why; with --out also as blame.json.
    #[arg(long)]
    pub(crate) blame: bool,
    /// Tell what energy each tenant takes and how much of the wear is its: collection is charged to
    /// those whose writes use up the blocks. Powers and rated cycles: `[energy]` and `[endurance]`
    /// of the device.
    #[arg(long)]
    pub(crate) energy: bool,
    /// Write timeline.pftrace, for ui.perfetto.dev: every command on channels and dies. Without a
    /// span from the start on, 200000 slices at most; `10ms..12ms`: what happens then, whole.
    #[arg(long, value_name = "FROM..TO", num_args = 0..=1, require_equals = true,
        default_missing_value = "", value_parser = parse_span, requires = "out")]
    timeline: Option<TimelineOptions>,
    /// Write timeseries.parquet with windows of this length, for example `10ms`. Where the run is
    /// watched in any other way, it is written with windows that grow with the run.
    #[arg(long, value_name = "TIME", value_parser = crate::args::parse_window, requires = "out")]
    series_window: Option<Span>,
    /// Write report.html, one page that needs nothing else: who suffers and who causes it,
    /// latencies, the run over time, chips and channels. Keeps blame and time series as well.
    #[arg(long, requires = "out")]
    pub(crate) report: bool,
}

/// Slices of a timeline whose span is given.
const SLICES_MAX: usize = 10_000_000;

/// A span of simulated time; the whole run where nothing is given.
fn parse_span(text: &str) -> Result<TimelineOptions, String> {
    if text.is_empty() {
        return Ok(TimelineOptions::default());
    }
    let example = "allowed: two times, for example 10ms..12ms";
    let (from, to) = text.split_once("..").ok_or(example)?;
    let time = |text: &str| match text {
        "0" => Ok(0),
        _ => text.parse::<Span>().map(|span| span.0).map_err(|error| format!("{error}; {example}")),
    };
    let (from, to) = (time(from)?, time(to)?);
    if from >= to {
        return Err(format!("the end has to be after the start; {example}"));
    }
    Ok(TimelineOptions { from, to, slices_max: SLICES_MAX })
}

impl WatchArgs {
    /// Something is watched.
    pub(crate) fn any(&self) -> bool {
        self.requests
            || self.blame
            || self.timeline.is_some()
            || self.series_window.is_some()
            || self.report
    }
}

/// A scenario that is watched: what becomes files after it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// Below the folder for results.
    folder: PathBuf,
    requests: Option<(Arc<Mutex<RequestFile>>, NamedTempFile)>,
}

/// Starts `requests.parquet` below `path` in the folder for results.
pub(crate) fn start_requests(
    folder: &mut OutFolder,
    path: &Path,
    flows: &[FlowConfig],
) -> Result<(NamedTempFile, RequestFile), Error> {
    let (file, handle) = folder.stage_to_write(&path.join("requests.parquet"))?;
    let names: Vec<String> = flows.iter().map(|flow| flow.name.clone()).collect();
    Ok((file, RequestFile::create(handle, &names)?))
}

impl Watched {
    /// Gets ready to watch a scenario whose files go to `path` below the folder for results.
    /// `series`: the windows over time are of use to something else too.
    pub(crate) fn prepare(
        arguments: &WatchArgs,
        series: bool,
        folder: Option<&mut OutFolder>,
        path: &Path,
        workload: &WorkloadConfig,
    ) -> Result<(Observe, Self), Error> {
        let mut watched = Self { folder: path.to_owned(), requests: None };
        let mut sink: Option<Arc<Mutex<dyn RequestSink>>> = None;
        let files = folder.is_some();
        if let (true, Some(folder)) = (arguments.requests, folder) {
            let (file, writer) = start_requests(folder, path, &workload.flows)?;
            let writer = Arc::new(Mutex::new(writer));
            sink = Some(writer.clone());
            watched.requests = Some((writer, file));
        }
        let wants_series = series || files && arguments.any();
        let window = arguments.series_window.map(|span| span.0);
        let observe = Observe {
            requests: sink,
            series: wants_series.then_some(SeriesOptions { window }),
            blame: arguments.blame || arguments.report,
            timeline: arguments.timeline,
            queues: false,
            energy: arguments.energy,
            submissions: None,
        };
        Ok((observe, watched))
    }

    /// Where its files go, below the folder for results.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of a scenario that is over.
    pub(crate) fn files(
        self,
        arguments: &WatchArgs,
        details: &Details,
    ) -> Result<Vec<(PathBuf, Content)>, Error> {
        let mut files = Vec::new();
        let mut add = |name: &str, content| files.push((self.folder.join(name), content));
        if let Some((writer, file)) = self.requests {
            writer.lock().unwrap_or_else(PoisonError::into_inner).finish()?;
            add("requests.parquet", Content::Staged(file));
        }
        if let Some(series) = details.time_series.as_ref().filter(|_| arguments.any()) {
            add("timeseries.parquet", Content::Bytes(series::parquet(series)?));
        }
        if let Some(blame) = &details.blame {
            add("blame.json", Content::Text(pretty(&to_json(blame)?)));
        }
        if let Some(timeline) = &details.timeline {
            if timeline.truncated {
                let us = timeline.to as f64 / 1e6;
                note(&format!(
                    "timeline.pftrace: the first {} slices, up to {us:.3} us; --timeline=FROM..TO takes \
                     another span",
                    timeline.slices.len()
                ));
            }
            add("timeline.pftrace", Content::Bytes(perfetto::pftrace(timeline)));
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_ends_in_order() {
        assert_eq!(parse_span("").unwrap(), TimelineOptions::default());
        let span = parse_span("0..1.5ms").unwrap();
        assert_eq!((span.from, span.to), (0, 1_500_000_000));
        for bad in ["1ms", "2ms..1ms", "1ms..1ms", "1..2ms", "..", "1ms..x"] {
            assert!(parse_span(bad).unwrap_err().contains("10ms..12ms"), "{bad}");
        }
    }
}
