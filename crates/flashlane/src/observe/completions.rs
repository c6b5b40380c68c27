//! What is kept of requests when they are over: a record of each, sums by windows of time.

use flashlane_engine::Time;

use super::requests::{Records, RequestRecord};
use super::series::recorder::{Counters, SeriesRecorder};
use super::{Observe, SeriesOptions};
use crate::device::Device;
use crate::drive::command::Completion;
use crate::error::Error;
use crate::layout::Geometry;
use crate::metrics::window::Edge;
use crate::metrics::windows::Windows;

/// Takes requests that are over. Nothing else has to happen while they are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    pub(super) records: Option<Records>,
    pub(super) series: Option<SeriesRecorder>,
    /// For the caller of a drive that is stepped from outside.
    returned: Option<Vec<Completion>>,
    /// Of a flow alone: its end-to-end times by windows of the series of all flows.
    alone: Option<Windows>,
}

impl Completions {
    /// `None` if nobody asked for any of it.
    pub(crate) fn new(
        observe: &Observe,
        geometry: &Geometry,
        open_loops: &[bool],
    ) -> Option<Box<Self>> {
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

    /// Of a flow alone, keeps what the slowdowns of a series want. `length` of its windows in picoseconds.
    pub(crate) fn alone(length: u64, open_loop: bool) -> Box<Self> {
        let alone = Some(Windows::new(length, open_loop));
        Box::new(Self { alone, ..Self::default() })
    }

    /// Keeps them until the caller of a drive takes them.
    pub(crate) fn returned() -> Box<Self> {
        Box::new(Self { returned: Some(Vec::new()), ..Self::default() })
    }

    /// Moves what it keeps for the caller of a drive to the end of `taken`.
    pub(crate) fn hand_over(&mut self, taken: &mut Vec<Completion>) {
        taken.append(self.returned.as_mut().unwrap_or(&mut Vec::new()));
    }

    /// What it kept.
    pub(crate) fn into_alone(self) -> Option<Windows> {
        self.alone
    }
}

impl Device {
    /// A request is back at the host.
    pub(crate) fn keep_completion(&mut self, id: u32) {
        let Some(mut completions) = self.completions.take() else { return };
        let kept = self.add_to(&mut completions, id);
        self.completions = Some(completions);
        if let Err(error) = kept {
            self.fail(error);
        }
    }

    #[inline]
    fn add_to(&self, completions: &mut Completions, id: u32) -> Result<(), Error> {
        let now = self.now;
        let request = &self.requests[id];
        if let Some(records) = &mut completions.records {
            records.add(request, self.page_count(id), now)?;
        }
        if let Some(returned) = &mut completions.returned {
            let record = RequestRecord::of(request, self.page_count(id), now);
            returned.push(Completion { cookie: request.cookie, record });
        }
        if let Some(alone) = completions.alone.as_mut().filter(|_| request.counted) {
            alone.record(request.arrival, now);
        }
        if let Some(series) = &mut completions.series {
            series.add(request, now);
        }
        Ok(())
    }

    /// Has the run loop stop where the first window of a series ends.
    pub(crate) fn start_rows(&mut self) {
        let series = self.completions.as_ref().and_then(|it| it.series.as_ref());
        if let Some(at) = series.map(SeriesRecorder::last_instant) {
            self.recorder.window.set(Edge::Row, at);
        }
    }

    /// A window of a series is over.
    pub(crate) fn row_ends(&mut self, at: Time) {
        // Nothing happens between that instant and the end of the window.
        let (counters, chips) = (self.counters(Time(at.0 + 1)), self.set_chips());
        let Some(series) = self.completions.as_mut().and_then(|it| it.series.as_mut()) else {
            return;
        };
        match series.next(counters, &chips) {
            Ok(()) => {
                let at = series.last_instant();
                self.recorder.window.set(Edge::Row, at);
            }
            Err(error) => self.fail(error),
        }
    }

    /// What the device has done up to `at`.
    pub(super) fn counters(&self, at: Time) -> Counters {
        let free = self.ftl.blocks.planes.iter().map(|plane| u64::from(plane.free));
        let flash = self.flash.counters();
        Counters {
            free_blocks_min: free.clone().min().unwrap_or(0),
            free_blocks: free.sum(),
            user_programs: flash.user_programs,
            gc_programs: flash.gc_programs,
            mapping_programs: flash.mapping_programs,
            erases: flash.erases,
            channels: self.flash.taken(at, &self.transactions).into_iter().map(u128::from).sum(),
            chips: self.flash.busy_chips(at).into_iter().map(u128::from).sum(),
        }
    }

    /// Chips that each flow may write to, where sets of chips move.
    pub(super) fn set_chips(&self) -> Vec<Option<u32>> {
        let chips = |flow| self.ftl.sets.as_ref().map(|sets| sets.chips_of(flow));
        (0..self.host.flows().len() as u16).map(chips).collect()
    }
}
