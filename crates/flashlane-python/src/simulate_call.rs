//! The parameters of `flashlane.simulate`, apart from the drive and the workload.

use std::path::PathBuf;

use flashlane::config::CompatConfig;
use flashlane::config::units::Span;
use flashlane::metrics::AloneBasis;
use flashlane::metrics::steady::{Round, SteadyRule, Tracked};
use flashlane::observe::{Observe, SeriesOptions, TimelineOptions};
use flashlane::{Error, RunOptions, Warmup};
use pyo3::prelude::*;

use crate::config::Device;
use crate::error::{OrRaise, raise};

/// Largest number of slices of a timeline whose span is given.
const SLICES_MAX: usize = 10_000_000;

/// Parameters of `flashlane.simulate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SimulateCall<'py> {
    seed: u64,
    pub(crate) seeds: u64,
    alone: bool,
    alone_basis: String,
    leave_one_out: bool,
    check: bool,
    warmup: Option<Bound<'py, PyAny>>,
    until_steady: Option<String>,
    round: Bound<'py, PyAny>,
    windows: Option<String>,
    pub(crate) requests: bool,
    pub(crate) submissions: bool,
    timeseries: Option<Bound<'py, PyAny>>,
    blame: bool,
    energy: bool,
    timeline: Option<String>,
    waf_only: bool,
    threads: usize,
    pub(crate) states: Option<PathBuf>,
    pub(crate) program: PathBuf,
    pub(crate) label: String,
    pub(crate) named: bool,
}

/// A time such as `"10ms"`, or for a warm-up a number of requests.
fn span(text: &str, what: &str) -> PyResult<u64> {
    let span =
        text.parse::<Span>().map_err(|error| raise(&Error::config(what, error.to_string())))?;
    Ok(span.0)
}

fn warmup(value: Option<&Bound<'_, PyAny>>) -> PyResult<Warmup> {
    let Some(value) = value else { return Ok(Warmup::None) };
    if let Ok(count) = value.extract::<u64>() {
        return Ok(Warmup::Requests(count));
    }
    Ok(Warmup::Time(span(&value.extract::<String>()?, "warmup")?))
}

/// The windows of a time series: true, false, or their length.
fn series(value: &Bound<'_, PyAny>) -> PyResult<Option<SeriesOptions>> {
    if let Ok(wanted) = value.extract::<bool>() {
        return Ok(wanted.then(SeriesOptions::default));
    }
    Ok(Some(SeriesOptions { window: Some(span(&value.extract::<String>()?, "timeseries")?) }))
}

/// A span of simulated time, `"10ms..12ms"`; empty text for the start of the run.
fn timeline(text: &str) -> PyResult<TimelineOptions> {
    if text.is_empty() {
        return Ok(TimelineOptions::default());
    }
    let refuse = || {
        let message = format!("found \"{text}\", allowed: two times, for example \"10ms..12ms\"");
        raise(&Error::config("timeline", message))
    };
    let (from, to) = text.split_once("..").ok_or_else(refuse)?;
    let time = |text: &str| if text == "0" { Ok(0) } else { span(text, "timeline") };
    let (from, to) = (time(from)?, time(to)?);
    if from >= to {
        return Err(refuse());
    }
    Ok(TimelineOptions { from, to, slices_max: SLICES_MAX })
}

impl SimulateCall<'_> {
    /// The records beside the summary, without requests and submissions.
    pub(crate) fn observe(&self) -> PyResult<Observe> {
        Ok(Observe {
            series: self.timeseries.as_ref().map(series).transpose()?.flatten(),
            blame: self.blame,
            timeline: self.timeline.as_deref().map(timeline).transpose()?,
            energy: self.energy,
            ..Observe::default()
        })
    }

    /// The options that decide a summary.
    pub(crate) fn options(&self, device: &Device) -> PyResult<RunOptions> {
        self.check().or_raise()?;
        Ok(RunOptions {
            seed: self.seed,
            alone: self.alone,
            alone_basis: self.basis()?,
            leave_one_out: self.leave_one_out,
            check: self.check,
            warmup: warmup(self.warmup.as_ref())?,
            until_steady: self.steady()?,
            windows: self.windows.as_deref().map(|text| span(text, "windows")).transpose()?,
            waf_only: self.waf_only,
            threads: self.threads,
            compat: (device.loaded.config.compat == CompatConfig::mqsim())
                .then(|| "mqsim".to_owned()),
            ..RunOptions::default()
        })
    }

    /// Refuses parameters that contradict each other.
    fn check(&self) -> Result<(), Error> {
        let refuse = |place: &str, message: &str| Err(Error::config(place, message));
        if self.windows.is_some() && !self.alone {
            return refuse("windows", "found without alone=True, which it needs");
        }
        if self.until_steady.is_some() && (self.alone || self.leave_one_out || self.seeds > 1) {
            return refuse(
                "until_steady",
                "found with alone, leave_one_out or seeds, allowed: neither",
            );
        }
        let watched = self.requests
            || self.submissions
            || self.blame
            || self.timeline.is_some()
            || self.windows.is_some()
            || self.timeseries.as_ref().is_some_and(|value| value.is_truthy().unwrap_or(true));
        if self.seeds > 1 && watched {
            let message = "found with what watches one run (requests, submissions, timeseries, blame, \
                           timeline, windows), allowed: 1 with these; seed chooses the run";
            return refuse("seeds", message);
        }
        Ok(())
    }

    /// What flows have when they run alone.
    fn basis(&self) -> PyResult<AloneBasis> {
        match self.alone_basis.as_str() {
            "whole-drive" => Ok(AloneBasis::WholeDrive),
            "same-isolation" => Ok(AloneBasis::SameIsolation),
            other => {
                let message = format!("found `{other}`, allowed: whole-drive, same-isolation");
                Err(raise(&Error::config("alone_basis", message)))
            }
        }
    }

    /// Rounds until the run is steady.
    fn steady(&self) -> PyResult<Option<SteadyRule>> {
        let Some(tracked) = &self.until_steady else { return Ok(None) };
        let tracked = match tracked.as_str() {
            "iops" => Tracked::Iops,
            "bandwidth" => Tracked::Bandwidth,
            "latency" => Tracked::Latency,
            other => {
                let message = format!("found `{other}`, allowed: iops, bandwidth, latency");
                return Err(raise(&Error::config("until_steady", message)));
            }
        };
        let round = match warmup(Some(&self.round))? {
            Warmup::Time(span) if span > 0 => Round::Time(span),
            Warmup::Requests(count) if count > 0 => Round::Requests(count),
            _ => return Err(raise(&Error::config("round", "found 0, allowed: above 0"))),
        };
        Ok(Some(SteadyRule { round, tracked }))
    }
}
