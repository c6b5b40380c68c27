//! Collects a time series while windows grow: pairs of them are merged when there are too many.

use super::area::{Changes, Level};
use super::{DevicePoint, FlowPoint, SeriesWindow, TimeSeries};
use crate::metrics::windows::Windows;
use flashlane_device::device::reading::Counters;
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_device::request::Request;
use flashlane_engine::Time;
use flashlane_reading::Error;
use flashlane_units::RequestOp;

use super::histogram::Histogram;

/// Length of the windows at the start. Unit: picoseconds.
const FIRST_WINDOW: u64 = 1_000_000_000;
/// Most windows, where their length may grow.
const WINDOWS_MAX: usize = 2_048;
/// Most windows, where their length is given.
const FIXED_WINDOWS_MAX: usize = 1 << 16;

/// Most readings of single chips in all windows together; beyond that, only their sums are kept.
const CHIP_READINGS_MAX: usize = 1 << 22;

/// Sums of a flow in a window.
#[derive(Clone, Debug, Default)]
struct FlowSums {
    /// Reads, writes, and other requests.
    requests: [u64; 3],
    /// Bytes read and bytes written.
    bytes: [u64; 2],
    /// Sum of response times. Unit: picoseconds.
    response: u128,
    end_to_end: u128,
    responses: Histogram,
    /// Requests that wait, and requests in the device.
    waiting: Changes,
    device: Changes,
    /// Number of counted requests for the slowdown, and the sum of their end-to-end times. Unit:
    /// picoseconds.
    slowed: (u64, u128),
    set_chips: Option<u32>,
}

impl FlowSums {
    /// Merges a window with the next one, which is `window` long. Unit: picoseconds.
    fn add(&mut self, later: &Self, window: u64) {
        for (sum, more) in self.requests.iter_mut().zip(later.requests) {
            *sum += more;
        }
        for (sum, more) in self.bytes.iter_mut().zip(later.bytes) {
            *sum += more;
        }
        self.response += later.response;
        self.end_to_end += later.end_to_end;
        self.responses.add(&later.responses);
        self.waiting.add(&later.waiting, window);
        self.device.add(&later.device, window);
        self.slowed.0 += later.slowed.0;
        self.slowed.1 += later.slowed.1;
        self.set_chips = later.set_chips.or(self.set_chips);
    }

    /// Adds a request that completes in the window. `response`: its response time; `whole`: its
    /// end-to-end time. Unit: picoseconds.
    #[inline]
    fn add_request(&mut self, request: &Request, response: u64, whole: u128) {
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        let kind = match request.op {
            RequestOp::Read => 0,
            RequestOp::Write => 1,
            _ => 2,
        };
        self.requests[kind] += 1;
        if let Some(sum) = self.bytes.get_mut(kind) {
            *sum += bytes;
        }
        self.response += u128::from(response);
        self.end_to_end += whole;
        self.responses.record(response / 1_000);
    }

    /// The point of the series. `waiting` and `device` are in requests times picoseconds.
    fn point(&self, span_s: f64, waiting: u128, device: u128) -> FlowPoint {
        let requests: u64 = self.requests.iter().sum();
        let mean = |sum: u128| (requests > 0).then(|| sum as f64 / requests as f64 / 1e6);
        let rate = |count: u64| count as f64 / span_s;
        let level = |area: u128| area as f64 / 1e12 / span_s;
        FlowPoint {
            requests,
            read_iops: rate(self.requests[0]),
            write_iops: rate(self.requests[1]),
            read_bytes_per_s: rate(self.bytes[0]),
            write_bytes_per_s: rate(self.bytes[1]),
            response_mean_us: mean(self.response),
            response_p50_us: self.responses.quantile_us(0.5),
            response_p99_us: self.responses.quantile_us(0.99),
            end_to_end_mean_us: mean(self.end_to_end),
            measured_mean_us: None,
            slowdown: None,
            waiting_requests: level(waiting),
            device_requests: level(device),
            set_chips: self.set_chips,
        }
    }
}

/// A window.
#[derive(Clone, Debug)]
struct Sums {
    flows: Vec<FlowSums>,
    /// The counters of the device at the end of the window, once it is over.
    counters: Option<Counters>,
}

/// Collects the series of a run.
#[derive(Clone, Debug)]
pub(crate) struct SeriesRecorder {
    /// Length of a window. Unit: picoseconds.
    window: u64,
    fixed: bool,
    windows: Vec<Sums>,
    /// Start and end of the last window. Unit: picoseconds.
    open_from: u64,
    open_until: u64,
    /// By flow: true if requests belong to the window of their arrival, for slowdowns.
    by_arrival: Vec<bool>,
    /// Channels and chips of the drive.
    channels: u32,
    chips: u32,
}

impl SeriesRecorder {
    /// `window`: length of a window in picoseconds, if it is given.
    pub(crate) fn new(
        window: Option<u64>,
        by_arrival: Vec<bool>,
        channels: u32,
        chips: u32,
    ) -> Self {
        let (length, flows) = (window.unwrap_or(FIRST_WINDOW), by_arrival.len());
        Self {
            window: length,
            fixed: window.is_some(),
            windows: vec![Sums { flows: vec![FlowSums::default(); flows], counters: None }],
            open_from: 0,
            open_until: length,
            by_arrival,
            channels,
            chips,
        }
    }

    /// Length of a window so far. Unit: picoseconds.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// The last instant of the open window.
    pub(crate) fn last_instant(&self) -> Time {
        Time(self.open_until - 1)
    }

    /// Ends the window and opens the next one. `counters`: work of the device up to its end;
    /// `set_chips`: by flow, where sets of chips move.
    ///
    /// # Errors
    ///
    /// With more windows of a given length than the memory bound allows.
    pub(crate) fn next(
        &mut self,
        counters: Counters,
        set_chips: &[Option<u32>],
    ) -> Result<(), Error> {
        if self.fixed && self.windows.len() >= FIXED_WINDOWS_MAX {
            let message = format!("allowed: at most {FIXED_WINDOWS_MAX} windows, the run has more");
            return Err(Error::config("--series-window", message));
        }
        self.close(counters, set_chips);
        let flows = vec![FlowSums::default(); self.by_arrival.len()];
        self.windows.push(Sums { flows, counters: None });
        while !self.fixed && self.windows.len() > WINDOWS_MAX {
            self.merge_pairs();
        }
        let last = self.windows.len() as u64 - 1;
        self.open_from = last * self.window;
        self.open_until = self.open_from.saturating_add(self.window);
        Ok(())
    }

    /// Ends the last window.
    fn close(&mut self, mut counters: Counters, set_chips: &[Option<u32>]) {
        if self.windows.len() * self.chips as usize > CHIP_READINGS_MAX {
            counters.each_chip = Vec::new();
        }
        let Some(window) = self.windows.last_mut() else { return };
        window.counters = Some(counters);
        for (flow, &chips) in window.flows.iter_mut().zip(set_chips) {
            flow.set_chips = chips;
            flow.responses.pack();
        }
    }

    fn merge_pairs(&mut self) {
        let count = self.windows.len().div_ceil(2);
        let flows = vec![FlowSums::default(); self.by_arrival.len()];
        self.windows.resize(2 * count, Sums { flows, counters: None });
        for index in 0..count {
            let mut merged = self.windows[2 * index].clone();
            let later = &self.windows[2 * index + 1];
            for (flow, more) in merged.flows.iter_mut().zip(&later.flows) {
                flow.add(more, self.window);
            }
            merged.counters.clone_from(&later.counters);
            self.windows[index] = merged;
        }
        self.windows.truncate(count);
        self.window *= 2;
    }

    /// Adds a completed request, whose window is open.
    pub(crate) fn add(&mut self, request: &Request, now: Time) {
        let flow = request.flow.index();
        let by_arrival = self.by_arrival[flow];
        let sums = &mut self.windows.last_mut().expect("a window is open").flows[flow];
        let response = (now - request.enqueued).0;
        let whole = u128::from((now - request.arrival).0);
        sums.add_request(request, response, whole);
        if request.arrival.0 >= self.open_from {
            // Most requests arrive and complete in one window.
            if request.marks.counted() {
                (sums.slowed.0, sums.slowed.1) = (sums.slowed.0 + 1, sums.slowed.1 + whole);
            }
            sums.waiting.pass((request.fetched - request.arrival).0);
            sums.device.pass((now - request.fetched).0);
            return;
        }
        if request.marks.counted() {
            let at = if by_arrival { request.arrival } else { now };
            let slowed = &mut self.windows[(at.0 / self.window) as usize].flows[flow].slowed;
            (slowed.0, slowed.1) = (slowed.0 + 1, slowed.1 + whole);
        }
        self.spread(flow, request.arrival, request.fetched, |sums| &mut sums.waiting);
        self.spread(flow, request.fetched, now, |sums| &mut sums.device);
    }

    /// Counts a request over the time from one instant to another.
    fn spread(
        &mut self,
        flow: usize,
        from: Time,
        to: Time,
        changes: impl Fn(&mut FlowSums) -> &mut Changes,
    ) {
        if from < to {
            let window = u128::from(self.window);
            let mut at = |time: Time, change: fn(&mut Changes, u128)| {
                let number = time.0 / self.window;
                let before_end = (u128::from(number) + 1) * window - u128::from(time.0);
                let sums = &mut self.windows[number as usize].flows[flow];
                change(changes(sums), before_end);
            };
            at(from, Changes::begin);
            at(to, Changes::end);
        }
    }

    /// The series of a run that ended at `end`, with the last counters of the device.
    pub(crate) fn finish(
        mut self,
        end: Time,
        counters: Counters,
        set_chips: &[Option<u32>],
        names: Vec<String>,
    ) -> TimeSeries {
        self.close(counters.clone(), set_chips);
        let nothing = vec![0; self.chips as usize];
        let mut before = Counters { each_chip: nothing, ..Counters::default() };
        let mut levels = vec![[Level::default(); 2]; names.len()];
        let mut windows = Vec::with_capacity(self.windows.len());
        for (index, sums) in (0_u64..).zip(&self.windows) {
            let start = Time(index * self.window);
            // A last window in which nothing takes time still needs a length.
            let end = Time(start.0.saturating_add(self.window).min(end.0.max(start.0 + 1)));
            let span_s = (end - start).as_s();
            let after = sums.counters.clone().unwrap_or_else(|| counters.clone());
            let points = sums.flows.iter().zip(&mut levels).map(|(flow, [waiting, device])| {
                let waiting = waiting.area(&flow.waiting, self.window);
                flow.point(span_s, waiting, device.area(&flow.device, self.window))
            });
            windows.push(SeriesWindow {
                start_s: start.as_s(),
                end_s: end.as_s(),
                flows: points.collect(),
                device: self.device_point(&before, &after, span_s),
                chips: busy_shares(&before.each_chip, &after.each_chip, span_s),
            });
            before = after;
        }
        TimeSeries { window_s: Time(self.window).as_s(), flows: names, windows }
    }

    fn device_point(&self, before: &Counters, after: &Counters, span_s: f64) -> DevicePoint {
        let user_programs = after.user_programs - before.user_programs;
        let gc_programs = after.gc_programs - before.gc_programs;
        let mapping_programs = after.mapping_programs - before.mapping_programs;
        let programs = user_programs + gc_programs + mapping_programs;
        let share = |busy: u128, count: u32| busy as f64 / 1e12 / span_s / f64::from(count);
        DevicePoint {
            free_blocks_min: after.free_blocks_min,
            free_blocks: after.free_blocks,
            user_programs,
            gc_programs,
            mapping_programs,
            erases: after.erases - before.erases,
            write_amplification: (user_programs > 0)
                .then(|| programs as f64 / user_programs as f64),
            channels_busy: share(after.channels - before.channels, self.channels),
            chips_busy: share(after.chips - before.chips, self.chips),
        }
    }

    /// Mean end-to-end times of counted requests, for slowdowns. Unit: microseconds.
    pub(crate) fn slowed(&self) -> Vec<Vec<Option<f64>>> {
        let mean = |flow: &FlowSums| {
            let (count, sum) = flow.slowed;
            (count > 0).then(|| sum as f64 / count as f64 / 1e6)
        };
        self.windows.iter().map(|window| window.flows.iter().map(mean).collect()).collect()
    }
}

/// Share of a window in which each chip was busy, from two readings; empty if one is missing.
fn busy_shares(before: &[u64], after: &[u64], span_s: f64) -> Vec<f64> {
    if before.len() != after.len() {
        return Vec::new();
    }
    let share = |(before, after): (&u64, &u64)| (after - before) as f64 / 1e12 / span_s;
    before.iter().zip(after).map(share).collect()
}

/// Fills in the slowdowns of a series from mean end-to-end times by window and flow, shared and
/// alone.
pub fn fill_slowdowns(series: &mut TimeSeries, shared: &[Vec<Option<f64>>], alone: &[Windows]) {
    for (index, (window, shared)) in (0_u64..).zip(series.windows.iter_mut().zip(shared)) {
        for (flow, point) in window.flows.iter_mut().enumerate() {
            let alone = alone[flow].of(index).end_to_end_us;
            point.slowdown = shared[flow].zip(alone).map(|(shared, alone)| shared / alone);
        }
    }
}

/// Fills in slowdowns of 1, for a run with a single flow.
pub fn fill_ones(series: &mut TimeSeries, shared: &[Vec<Option<f64>>]) {
    for (window, shared) in series.windows.iter_mut().zip(shared) {
        for (point, mean) in window.flows.iter_mut().zip(shared) {
            point.slowdown = mean.map(|_| 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_device::request::Chain;
    use flashlane_units::FlowId;

    fn request(arrival_us: u64, fetched_us: u64) -> Request {
        Request {
            flow: FlowId::new(0),
            op: RequestOp::Read,
            marks: flashlane_device::request::Marks::new(
                true,
                flashlane_device::request::Directive::NONE,
            ),
            sector: 0,
            sectors: 8,
            arrival: Time::from_us(arrival_us),
            enqueued: Time::from_us(arrival_us),
            fetched: Time::from_us(fetched_us),
            received: Time::from_us(fetched_us),
            begun: Time::from_us(fetched_us),
            place: flashlane_engine::Sequence::default(),
            served: Time::from_us(fetched_us),
            pending: 0,
            next_page: 0,
            queue: flashlane_units::QueueId::new(0),
            chain: Chain::default(),
            cookie: 0,
        }
    }

    fn add(recorder: &mut SeriesRecorder, request: &Request, now: Time, programs: u64) {
        while recorder.last_instant() < now {
            let counters = Counters { user_programs: programs, ..Counters::default() };
            recorder.next(counters, &[None]).expect("few windows");
        }
        recorder.add(request, now);
    }

    #[test]
    fn windows_hold_what_completes_in_them_and_share_what_lasts() {
        let mut recorder = SeriesRecorder::new(Some(10_000_000), vec![false], 1, 1);
        add(&mut recorder, &request(0, 4), Time::from_us(8), 0);
        add(&mut recorder, &request(5, 15), Time::from_us(35), 7);
        let end = Counters { user_programs: 9, gc_programs: 2, ..Counters::default() };
        let series = recorder.finish(Time::from_us(35), end, &[Some(3)], vec!["a".into()]);
        let of = |f: fn(&FlowPoint) -> f64| -> Vec<f64> {
            series.windows.iter().map(|w| f(&w.flows[0])).collect()
        };
        assert_eq!(of(|f| f.requests as f64), [1.0, 0.0, 0.0, 1.0]);
        let close = |found: Vec<f64>, expected: [f64; 4]| {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        };
        close(of(|f| f.waiting_requests), [0.9, 0.5, 0.0, 0.0]);
        close(of(|f| f.device_requests), [0.4, 0.5, 1.0, 1.0]);
        close(of(|f| f.response_mean_us.unwrap_or(0.0)), [8.0, 0.0, 0.0, 30.0]);
        let programs: Vec<u64> = series.windows.iter().map(|w| w.device.user_programs).collect();
        assert_eq!(
            programs,
            [7, 0, 0, 2],
            "the counters of the test are those of the next completion"
        );
        assert_eq!(series.windows[3].device.write_amplification, Some(2.0));
        assert_eq!(series.windows[3].flows[0].set_chips, Some(3));
        assert!((series.windows[3].end_s - 35e-6).abs() < 1e-12, "the last window is short");
    }

    #[test]
    fn a_week_without_requests_takes_no_memory_of_its_own() {
        let mut recorder = SeriesRecorder::new(None, vec![true], 1, 1);
        let week_us = 7 * 24 * 3_600 * 1_000_000;
        add(&mut recorder, &request(0, 4), Time::from_us(8), 1);
        add(&mut recorder, &request(week_us, week_us + 4), Time::from_us(week_us + 8), 2);
        assert!(recorder.windows.capacity() <= 2 * WINDOWS_MAX, "{}", recorder.windows.capacity());
        let last = Counters { user_programs: 2, ..Counters::default() };
        let end = Time::from_us(week_us + 8);
        let series = recorder.finish(end, last, &[None], vec!["a".into()]);
        let counts = |first: bool| -> u64 {
            let half = series.windows.len() / 2;
            let side = if first { &series.windows[..half] } else { &series.windows[half..] };
            side.iter().map(|window| window.flows[0].requests).sum()
        };
        assert_eq!((counts(true), counts(false)), (1, 1));
        assert!(series.windows.len() <= WINDOWS_MAX);
    }

    /// Compares requests that last for many windows, with merged windows, against spans cut at the
    /// ends of windows.
    #[test]
    fn long_requests_are_in_every_window_that_they_last_through() {
        let mut rng = flashlane_engine::Rng::stream(1, "series", 0);
        let mut recorder = SeriesRecorder::new(Some(10_000_000), vec![true], 1, 1);
        let mut spans = Vec::new();
        for step in 0..2_000 {
            let now = 3 * step;
            let arrival = now - rng.below(now + 1);
            let fetched = arrival + rng.below(now - arrival + 1);
            add(&mut recorder, &request(arrival, fetched), Time::from_us(now), 0);
            spans.push((arrival, fetched, now));
            if step % 500 == 499 {
                recorder.merge_pairs();
                recorder.open_from = (recorder.windows.len() as u64 - 1) * recorder.window;
                recorder.open_until = recorder.open_from + recorder.window;
            }
        }
        let end = Time::from_us(6_000);
        let series = recorder.finish(end, Counters::default(), &[None], vec!["a".into()]);
        assert!(series.windows.len() > 20, "{} windows", series.windows.len());
        for window in &series.windows {
            let inside = |from: u64, to: u64| {
                let (from, to) = (from as f64 / 1e6, to as f64 / 1e6);
                (to.min(window.end_s) - from.max(window.start_s)).max(0.0)
            };
            let length = window.end_s - window.start_s;
            let waiting = spans.iter().map(|&(arrival, fetched, _)| inside(arrival, fetched));
            let device = spans.iter().map(|&(_, fetched, now)| inside(fetched, now));
            let expected = [waiting.sum::<f64>() / length, device.sum::<f64>() / length];
            let found = [window.flows[0].waiting_requests, window.flows[0].device_requests];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-6 * expected.max(1.0), "{found} {expected}");
            }
        }
    }

    #[test]
    fn merged_windows_are_those_of_twice_the_length() {
        let mut fine = SeriesRecorder::new(Some(10_000_000), vec![true], 1, 1);
        let mut coarse = SeriesRecorder::new(Some(20_000_000), vec![true], 1, 1);
        for step in 1..50 {
            let now = Time::from_us(9 * step);
            let request = request(9 * step / 2, 6 * step);
            add(&mut fine, &request, now, step);
            add(&mut coarse, &request, now, step);
        }
        fine.merge_pairs();
        let end = Time::from_us(500);
        let slowed = (fine.slowed(), coarse.slowed());
        assert_eq!(slowed.0, slowed.1);
        let last = Counters { user_programs: 50, ..Counters::default() };
        let [fine, coarse] = [fine, coarse]
            .map(|series| series.finish(end, last.clone(), &[None], vec!["a".into()]));
        let flows = |series: &TimeSeries| -> Vec<FlowPoint> {
            series.windows.iter().map(|window| window.flows[0]).collect()
        };
        assert_eq!(flows(&fine), flows(&coarse));
    }
}
