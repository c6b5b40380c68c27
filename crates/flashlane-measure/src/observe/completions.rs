//! Data that is kept of completed requests: a record of each, and sums by windows of time.

use flashlane_engine::Time;

use super::requests::{Records, RequestRecord};
use super::series::recorder::SeriesRecorder;
use super::{Observe, Observed, SeriesOptions};
use crate::command::Completion;
use crate::metrics::windows::Windows;
use flashlane_device::device::reading::Counters;
use flashlane_device::interface::zones::ZoneRefusal;
use flashlane_device::layout::Geometry;
use flashlane_device::request::{Request, RequestPlace};
use flashlane_reading::Error;

/// Receives completed requests. It needs no calls while requests are under way.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    records: Option<Records>,
    series: Option<SeriesRecorder>,
    /// Completions for the caller of a drive that is stepped from outside.
    returned: Option<Vec<Completion>>,
    /// In a run alone: end-to-end times by windows of the series of all flows.
    alone: Option<Windows>,
}

impl Completions {
    /// `None` if the options ask for none of these.
    pub fn new(observe: &Observe, geometry: &Geometry, open_loops: &[bool]) -> Option<Box<Self>> {
        if observe.requests.is_none() && observe.series.is_none() {
            return None;
        }
        let series = |series: SeriesOptions| {
            let (channels, chips) = (geometry.channels, geometry.chips());
            SeriesRecorder::new(series.window, open_loops.to_vec(), channels, chips)
        };
        Some(Box::new(Self {
            records: observe.requests.clone().map(Records::new),
            series: observe.series.map(series),
            ..Self::default()
        }))
    }

    /// In a run alone: keeps the end-to-end times from which slowdowns over time are computed.
    /// `length`: that of a window, in picoseconds.
    pub fn alone(length: u64, open_loop: bool) -> Box<Self> {
        let alone = Some(Windows::new(length, open_loop));
        Box::new(Self { alone, ..Self::default() })
    }

    /// Keeps completions until the caller of a drive takes them.
    pub fn returned() -> Box<Self> {
        Box::new(Self { returned: Some(Vec::new()), ..Self::default() })
    }

    /// Moves the completions for the caller of a drive to the end of `taken`.
    pub fn hand_over(&mut self, taken: &mut Vec<Completion>) {
        taken.append(self.returned.as_mut().unwrap_or(&mut Vec::new()));
    }

    /// The end-to-end times of a run alone.
    pub fn into_alone(self) -> Option<Windows> {
        self.alone
    }
    /// Adds a completed request. `place`: where it is. `refusal`: the rule of zones that it broke.
    ///
    /// # Errors
    ///
    /// Errors of the sink of request records.
    #[inline]
    pub(crate) fn add(
        &mut self,
        request: &Request,
        (place, refusal): (impl Fn() -> RequestPlace, Option<ZoneRefusal>),
        now: Time,
    ) -> Result<(), Error> {
        if let Some(records) = &mut self.records {
            records.add(request, place(), now)?;
        }
        if let Some(returned) = &mut self.returned {
            let record = RequestRecord::of(request, place(), now);
            returned.push(Completion { cookie: request.cookie, record, refusal });
        }
        if let Some(alone) = self.alone.as_mut().filter(|_| request.marks.counted()) {
            alone.record(request.arrival, now);
        }
        if let Some(series) = &mut self.series {
            series.add(request, now);
        }
        Ok(())
    }

    /// The last instant of the current window of a series.
    pub(crate) fn row_end(&self) -> Option<Time> {
        self.series.as_ref().map(SeriesRecorder::last_instant)
    }

    /// Ends a window of a series. `counters`: work of the device up to its end; `chips`: by flow,
    /// where sets of chips move.
    ///
    /// # Errors
    ///
    /// If the series has too many windows.
    pub(crate) fn row_ends(
        &mut self,
        counters: Counters,
        chips: &[Option<u32>],
    ) -> Result<(), Error> {
        self.series.as_mut().map_or(Ok(()), |series| series.next(counters, chips))
    }

    /// Ends the run. `counters` and `chips`: as for a window of a series.
    ///
    /// # Errors
    ///
    /// Errors of the sink of request records.
    pub(crate) fn finish(
        self,
        now: Time,
        last: impl FnOnce() -> (Counters, Vec<Option<u32>>),
        names: Vec<String>,
        observed: &mut Observed,
    ) -> Result<(), Error> {
        if let Some(mut records) = self.records {
            records.end()?;
        }
        if let Some(series) = self.series {
            observed.series_window = series.window();
            observed.slowed = series.slowed();
            let (counters, chips) = last();
            observed.time_series = Some(series.finish(now, counters, &chips, names));
        }
        Ok(())
    }
}
