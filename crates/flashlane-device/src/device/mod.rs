//! The whole simulated system, with the one `match` over all events.
//!
//! The files beside this one hand the outcome of one stage to the next: [`requests`] and
//! [`queue_pairs`] or [`sata`] tell the story of a request from its arrival to its completion.
//!
//! Calls go down the pipeline (`host` -> `interface` -> `cache` -> `ftl` -> `scheduler` ->
//! `flash`), completions come back as events. A stage never holds a reference to another stage.
//! Some stages still add methods to [`Device`] in their own folders.

mod host_limits;
mod queue_pairs;
mod requests;
mod sata;
mod stuck;

mod commands;

mod audit;
mod caching;
mod command_bus;
mod decoding;
mod dispatch;
mod doors;
mod idle;
mod making;
mod pages;
pub mod reading;
mod translation;
mod units;
pub mod watcher;
mod watching;
mod withheld;
mod zoned;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flashlane_engine::{Array, Divisor, Time};
use flashlane_units::{FlowId, RequestId, SubmissionId};

use crate::cache::Cache;
use crate::context::Context;
use crate::event::{Event, Up};
use crate::flash::Flash;
use crate::grain::Grain;
use crate::host::Host;
use crate::interface::Interface;
use crate::interface::costs::Costs;
use crate::interface::zones::Zones;
use crate::layout::{Geometry, Layout};
use crate::link::Link;
use crate::scheduler::Scheduler;
use decoding::Decoders;
use flashlane_reading::Error;
use idle::IdleWatch;
use queue_pairs::Ringing;
use reading::TransactionTimes;
use translation::Translation;
use watcher::Watcher;
use withheld::Withheld;
use zoned::ZoneWork;

/// Least number of events between two full audits with `--check`.
const AUDIT_INTERVAL_MIN: u64 = 100_000;
/// Number of events between two calls of the progress function.
const PROGRESS_INTERVAL: u64 = 1 << 16;
/// Number of events at one instant that shows that the model runs in circles.
const EVENTS_PER_INSTANT_MAX: u64 = 50_000_000;

/// The simulated system.
#[derive(Clone)]
pub struct Device {
    /// The clock, the events, and what is under way.
    context: Context,
    /// No event after this time may be handled while another event is handled.
    horizon: Time,
    geometry: Geometry,
    layout: Layout,
    // The stages, in the order in which a request meets them.
    host: Host,
    link: Link,
    interface: Interface,
    cache: Cache,
    ftl: Translation,
    scheduler: Scheduler,
    flash: Flash,
    /// By flow: page transactions that are over.
    transaction_times: Array<FlowId, [TransactionTimes; 2]>,
    /// The last doorbell of the current event, as long as it is not scheduled.
    ringing: Option<Ringing>,
    /// Watches the run.
    observer: Option<Box<dyn Watcher>>,
    /// True if the run is watched, the processors are modelled, or pages may be withheld.
    attended: bool,
    withheld: Option<Withheld>,
    /// The zones of the flows; `None` where they have none.
    zones: Option<Box<Zones>>,
    zone_work: ZoneWork,
    /// The request that the last news were about: one that arrives, or one that is complete.
    arriving: SubmissionId,
    completed: RequestId,
    /// Number of events at which [`Device::look_around`] is due.
    next_look: u64,
    /// Number of events until then, at least one.
    until_look: u64,
    /// The last time at which a look saw that time had passed, and the number of events then.
    looked_at: (Time, u64),
    /// Number of sectors of a page.
    page_sectors: Divisor,
    /// What a bit of a mask of sectors stands for.
    grain: Grain,
    check: bool,
    /// What commands cost before the fetch.
    costs: Costs,
    /// Decoders of read data; `None` where bit errors are not modelled.
    decoders: Option<Decoders>,
    /// Idle time; `None` if collection does not use it.
    idle: Option<IdleWatch>,
    /// Set from outside: the run then ends at the next look around.
    stop: Option<Arc<AtomicBool>>,
    failure: Option<Error>,
}

impl Device {
    /// Sets the observer of the run, if there is one.
    pub fn watch(&mut self, observer: Option<Box<dyn Watcher>>) {
        assert!(self.observer.is_none(), "one watcher at most watches a run");
        if observer.is_some() {
            self.ftl.watch();
        }
        self.attended |= observer.is_some();
        self.observer = observer;
    }

    /// The watcher of the run, if there is one.
    pub fn watcher(&self) -> Option<&dyn Watcher> {
        self.observer.as_deref()
    }

    /// Takes the watcher of the run out, at its end.
    pub fn take_watcher(&mut self) -> Option<Box<dyn Watcher>> {
        self.observer.take()
    }

    /// Begins the run: work of the drive before the first event.
    pub fn start(&mut self) {
        assert_eq!(self.events(), 0, "a run begins once");
        self.start_collection();
        self.look_for_idle();
        self.dispatch_offered();
    }

    /// Handles the next event up to the point where the host hears of it, and returns that news.
    /// `None`: no event is left. The caller continues with the calls that [`Up`] names, and with
    /// [`Device::step_over`]. If the event comes after `edge`, calls `passed` before, with the time
    /// of the event.
    #[inline(always)]
    pub fn step(&mut self, edge: Time, passed: impl FnOnce(&mut Self, Time)) -> Option<Up> {
        let due = self.context.events.due()?;
        let (now, event) = (due.time(), self.context.events.take(due));
        if now > edge {
            passed(self, now);
        }
        let before = std::mem::replace(&mut self.context.now, now);
        debug_assert!(before <= now, "time does not run backwards");
        Some(self.handle(event, before))
    }

    /// Ends the current event: starts work that has become ready. True if it is time for
    /// [`Device::look_around`].
    #[inline(always)]
    pub fn step_over(&mut self) -> bool {
        self.dispatch_offered();
        self.until_look -= 1;
        self.until_look == 0
    }

    /// Takes the error that ends the run, if there is one.
    pub fn failed(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Ends a run in which no events are left.
    ///
    /// # Errors
    ///
    /// If requests can never finish.
    pub fn end(&mut self) -> Result<(), Error> {
        assert!(self.ringing.is_none(), "the last doorbell has rung");
        if !self.context.requests.is_empty() {
            if self.check {
                self.audit();
            }
            self.audit_stuck();
            return Err(self.stuck("nothing is left that could move them"));
        }
        if self.check {
            self.audit();
            self.audit_end();
        }
        Ok(())
    }

    /// Schedules [`Up::Woken`] at a time.
    pub fn wake_at(&mut self, at: Time, flow: FlowId) {
        assert!(at >= self.context.now, "a tenant is not woken in the past");
        self.context.events.schedule(at, Event::Wake { flow });
    }

    /// Work that is due once in a while: progress, audits, and a check whether the model makes
    /// progress.
    #[cold]
    pub fn look_around(&mut self, progress: &dyn Fn(&Self)) -> Result<(), Error> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        assert_eq!(self.until_look, 0, "the look is due");
        let events = self.next_look;
        // An audit looks at every page, so large devices have fewer audits.
        let audit_interval = AUDIT_INTERVAL_MIN.max(self.geometry.pages() / 8);
        if events.is_multiple_of(PROGRESS_INTERVAL) {
            self.context.events.fit();
            self.host.fit();
            self.link.fit();
            self.interface.fit();
            self.ftl.let_go();
            progress(self);
            if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::Interrupted);
            }
            self.check_starvation()?;
            if self.context.now > self.looked_at.0 {
                self.looked_at = (self.context.now, events);
            } else if events - self.looked_at.1 > EVENTS_PER_INSTANT_MAX {
                return Err(self.stuck("the model makes no progress in time"));
            }
        }
        if self.check && events.is_multiple_of(audit_interval) {
            self.audit();
        }
        let next = |interval: u64| (events / interval + 1) * interval;
        let audit = if self.check { next(audit_interval) } else { u64::MAX };
        self.next_look = next(PROGRESS_INTERVAL).min(audit);
        assert!(self.next_look > events, "the next look is ahead");
        self.until_look = self.next_look - events;
        Ok(())
    }

    /// Number of events handled.
    pub fn events(&self) -> u64 {
        self.next_look - self.until_look
    }

    /// Handles an event. This is the map of the device: every event and what it starts. `before`:
    /// the time of the last event.
    #[inline(always)]
    fn handle(&mut self, event: Event, before: Time) -> Up {
        match event {
            Event::Arrival { submission } => {
                self.arriving = submission;
                return Up::Arrived { flow: self.host.flow_of(submission) };
            }
            Event::Wake { flow } => return Up::Woken { flow },
            Event::Completion { request } => return self.on_completion(request),
            Event::AdapterCompleted { request } => return self.on_adapter_completed(request),
            Event::Doorbell { queue, entries } => self.on_doorbell(queue, entries),
            Event::DoorbellDue { queue } => self.on_doorbell_due(queue),
            Event::WriteEntry { request } => self.on_write_entry(request),
            Event::AdapterSubmitted { request } => self.on_adapter_submitted(request),
            Event::SataCommand { request } => self.on_sata_command(request),
            Event::Begin { request } => self.on_begin(request),
            Event::DramDone { request } => self.on_dram_done(request),
            Event::DramTurn => self.on_dram_turn(),
            Event::Admission { flow } => self.on_admission(flow, before),
            Event::EvictionRead { transaction } => self.on_eviction_read(transaction),
            Event::ChannelFree { channel } => self.on_channel_free(channel),
            Event::DataBusFree { channel } => self.data_bus_free(channel),
            Event::Sensed { channel } => self.on_sensed(channel),
            Event::ArrayDone { die, epoch } => self.on_array_done(die, epoch),
            Event::Progressed { die } => self.on_progressed(die),
            Event::DataSent { channel } => self.on_data_sent(channel),
            Event::Decoded { transaction } => self.on_decoded(transaction),
            Event::CompletionRoom { queue } => self.on_completion_room(queue),
            Event::LimitRoom { limit } => self.on_limit_room(limit),
            Event::HostLimitRoom { limit } => self.on_host_limit_room(limit),
            Event::Alarm => self.on_alarm(before),
            Event::PagesDue => self.on_pages_due(before),
            Event::PassesDue => self.on_passes_due(before),
            Event::Idle => self.on_idle(before),
        }
        Up::Nothing
    }

    /// Ends the run with an error at the end of the current event.
    pub fn fail(&mut self, error: Error) {
        assert!(self.until_look > 0, "the look at the end of this event is still ahead");
        self.failure.get_or_insert(error);
        self.next_look -= self.until_look - 1;
        self.until_look = 1;
    }
}
