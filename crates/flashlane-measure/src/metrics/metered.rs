//! A drive with its meters. The drive reports arrivals and completions, and gives readings; the
//! meters count and keep them. Nothing here changes what the drive does.

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::energy::FlowEnergy;
use super::reading::{Reading, RoundReading};
use super::recorder::Recorder;
use super::report::Ended;
use super::summary::MemorySummary;
use super::window::Edge;
use crate::observe::{Completions, Observed, Observer};
use flashlane_config::{DeviceConfig, WorkloadConfig};
use flashlane_device::device::Device;
use flashlane_device::event::Up;
use flashlane_device::host::HostFlow;
use flashlane_device::request::Planned;
use flashlane_reading::Error;

/// A drive with its meters.
#[derive(Clone)]
pub struct Metered {
    /// The drive.
    pub device: Device,
    /// What counts its work.
    pub meters: Meters,
    /// The submitter's own name of the request that completed last.
    pub completed_cookie: u64,
}

/// Counts, times and records of a run.
#[derive(Clone)]
pub struct Meters {
    /// Times and counts of requests.
    pub recorder: Recorder,
    /// Takes completed requests, if data is kept of them beside the summary.
    pub completions: Option<Box<Completions>>,
}

impl Metered {
    /// A drive before its first event.
    pub fn new(device: Device, recorder: Recorder) -> Self {
        let meters = Meters { recorder, completions: None };
        Self { device, meters, completed_cookie: 0 }
    }

    /// Handles the next event as [`Device::step`] does, after the edges of the window before it.
    /// What it reports is measured with [`Metered::enter`] and [`Metered::complete`].
    #[inline(always)]
    pub fn step(&mut self) -> Option<Up> {
        let Self { device, meters, .. } = self;
        let edge = meters.recorder.window.edge;
        device.step(edge, |device, now| meters.pass_edges(device, now))
    }

    /// Handles the next event, and measures what it reports.
    pub fn step_measured(&mut self) -> Option<Up> {
        let up = self.step();
        match up {
            Some(Up::Arrived { .. }) => self.enter(),
            Some(Up::Completed { .. } | Up::TagFreed { .. }) => self.complete(),
            Some(Up::Nothing | Up::Woken { .. }) | None => {}
        }
        up
    }

    /// Enters a request into the drive now, as [`Device::submit`] does.
    #[inline(always)]
    pub fn submit(&mut self, flow: FlowId, planned: &Planned, upcoming: Option<u64>, cookie: u64) {
        let counted = self.meters.admits(&mut self.device);
        self.device.submit(flow, planned, upcoming, cookie, counted);
    }

    /// Enters the request that arrives.
    #[inline]
    pub fn enter(&mut self) {
        let counted = self.meters.admits(&mut self.device);
        self.device.enter(counted);
    }

    /// Measures the request that is complete, and lets it go.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub fn complete(&mut self) {
        let (now, request) = (self.device.now(), self.device.completed());
        self.completed_cookie = request.cookie;
        self.meters.recorder.request_completed(request, now, &self.device);
        if self.meters.completions.is_some() {
            self.meters.keep_completion(&mut self.device);
        }
        self.device.forget();
    }

    /// Ends a run in which no events are left.
    ///
    /// # Errors
    ///
    /// If requests can never finish.
    pub fn end(&mut self) -> Result<(), Error> {
        self.settle_window();
        self.device.end()?;
        self.meters.recorder.audit_end();
        Ok(())
    }

    /// Takes the last readings at the end of the run.
    pub fn settle_window(&mut self) {
        self.meters.settle_window(&mut self.device);
    }

    /// Reduces the records to the rounds of the window, at the end of the run.
    pub fn settle(&mut self) {
        self.meters.recorder.settle(&self.device);
    }

    /// Results of observation at the end of the run.
    ///
    /// # Errors
    ///
    /// Errors of the sink of request records.
    pub fn observed(&mut self, workload: &WorkloadConfig) -> Result<Observed, Error> {
        let mut observed = Observed::default();
        let names: Vec<String> = workload.flows.iter().map(|flow| flow.name.clone()).collect();
        let now = self.device.now();
        if let Some(observer) = self.device.take_watcher().and_then(Observer::of_watcher) {
            observer.finish(now, &names, &mut observed);
        }
        if let Some(completions) = self.meters.completions.take() {
            completions.finish(now, || self.device.counters(now), names, &mut observed)?;
        }
        Ok(observed)
    }

    /// The data from which the summary of a run that ends now is made.
    pub fn ended(&self, device: &DeviceConfig) -> Ended<'_> {
        // Number of transactions that the DRAM of the drive has room for.
        let room = device.cache.capacity.0 / device.unit().0;
        let drive = &self.device;
        let (page_table_bytes, partial_page_bytes) = drive.table_bytes();
        Ended {
            recorder: &self.meters.recorder,
            end: self.meters.read(drive, drive.now()),
            events: drive.events(),
            generated: drive.flows().map(|flow| flow.submitted()).sum(),
            completed: drive.flows().map(HostFlow::completed).sum(),
            geometry: drive.geometry(),
            isolation_sets: drive.sets_summary(),
            scheduler_overhead: drive.scheduler_overhead(room),
            zones: drive.layout().zones_of_all(),
            logical_bytes: drive.layout().logical_pages * device.unit().0,
            memory: MemorySummary {
                physical_pages: drive.geometry().pages(),
                page_table_bytes,
                partial_page_bytes,
            },
        }
    }
}

impl Meters {
    /// A request arrives: true if it counts.
    #[inline(always)]
    fn admits(&mut self, device: &mut Device) -> bool {
        let window = &mut self.recorder.window;
        window.admits(device.now()) || window.may_open() && self.open_window(device)
    }

    /// Keeps data of a completed request.
    fn keep_completion(&mut self, device: &mut Device) {
        let Some(completions) = &mut self.completions else { return };
        let place = (|| device.completed_place(), device.completed_refusal());
        let kept = completions.add(device.completed(), place, device.now());
        if let Err(error) = kept {
            device.fail(error);
        }
    }

    /// Sets the edge at the end of a window of the time series.
    pub fn start_rows(&mut self) {
        if let Some(at) = self.completions.as_ref().and_then(|completions| completions.row_end()) {
            self.recorder.window.set(Edge::Row, at);
        }
    }

    /// Ends a window of the time series.
    fn row_ends(&mut self, device: &mut Device, at: Time) {
        // Nothing happens between that instant and the end of the window.
        let (counters, chips) = device.counters(Time(at.0 + 1));
        let Some(completions) = &mut self.completions else { return };
        match completions.row_ends(counters, &chips) {
            Ok(()) => self.start_rows(),
            Err(error) => device.fail(error),
        }
    }

    /// Reads all counters at `at`: everything that happens at that instant has happened, and
    /// nothing later.
    fn read(&self, device: &Device, at: Time) -> Reading {
        let observer = device.watcher().and_then(Observer::seen_as);
        let spent: Vec<FlowEnergy> = observer.map_or_else(Vec::new, Observer::spent);
        Reading { drive: device.read(at), spent }
    }

    /// A request arrives before the window is open. True if it opens the window.
    #[cold]
    fn open_window(&mut self, device: &mut Device) -> bool {
        let now = device.now();
        if !self.recorder.window.opens(now) {
            return false;
        }
        self.window_opens(device, now);
        if self.recorder.opened_by_request(now) {
            self.count_outstanding(device, now);
        }
        true
    }

    /// The clock passes edges of the window: takes the readings for them.
    #[cold]
    fn pass_edges(&mut self, device: &mut Device, now: Time) {
        while self.recorder.window.edge < now {
            let Some((edge, at)) = self.recorder.window.take_edge() else { return };
            match edge {
                Edge::Open => self.window_opens(device, at),
                Edge::Close => self.load_ends(device, at),
                Edge::Sample => self.count_outstanding(device, at),
                Edge::Round => self.round_ends(device, at),
                Edge::Row => self.row_ends(device, at),
            }
        }
    }

    fn window_opens(&mut self, device: &mut Device, at: Time) {
        let reading = self.read(device, at);
        if self.recorder.counts_part() {
            device.forget_longest_queues();
        }
        self.recorder.window_opens(reading);
    }

    fn count_outstanding(&mut self, device: &Device, at: Time) {
        let levels = device.levels();
        self.recorder.count_outstanding(at, &levels);
    }

    fn load_ends(&mut self, device: &Device, at: Time) {
        let levels = device.levels();
        if self.recorder.load_ends(at, &levels) {
            self.window_ends(device, at);
        }
    }

    fn window_ends(&mut self, device: &Device, at: Time) {
        let backlog = device.backlog(self.recorder.window_since(at));
        let reading = self.read(device, at);
        self.recorder.window_ends(reading, backlog);
    }

    /// Ends a round of `--until-steady`.
    fn round_ends(&mut self, device: &Device, at: Time) {
        let round = RoundReading {
            reading: self.read(device, at),
            backlog: device.backlog(self.recorder.rounds_since(at)),
            levels: device.levels(),
        };
        self.recorder.round_ends(round);
    }

    /// Takes the last readings at the end of the run.
    fn settle_window(&mut self, device: &mut Device) {
        while let Some((edge, at)) = self.recorder.window.take_edge() {
            match edge {
                Edge::Open => self.window_opens(device, at),
                Edge::Close => self.load_ends(device, at),
                Edge::Round if at <= device.now() => self.round_ends(device, at),
                Edge::Round | Edge::Sample | Edge::Row => {}
            }
        }
        if self.recorder.settle_rounds() {
            self.window_ends(device, device.now());
        }
    }
}
