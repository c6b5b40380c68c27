//! The live page: what the drive has done in the last minute, for people and for Prometheus.
//!
//! It is a door like the others: its connections are read and written by the server's one thread
//! without waiting. A connection asks one question and is closed; it has no part in the drive's
//! time. The drive is asked for figures only while somebody looks, and at most four times a second.
//! Limits of tenants are changed only by who knows the token.

mod change;
mod figures;
mod frames;
mod hosts;
mod http;
mod metrics;
mod window;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flashlane::drive::Completion;
use flashlane::{Error, Time};
use flashlane_nvme::{Arrival, Journal, Media};

use crate::pace::Lateness;
use frames::Frames;
pub(crate) use http::HttpSession;
use metrics::Metrics;
use window::Window;

/// Connections of live pages at a time. The oldest one makes room for a further one.
pub(crate) const CONNECTIONS_MAX: usize = 64;

/// The drive is asked for figures once in this time at most.
const FRESH: Duration = Duration::from_millis(250);

/// Operations that clients can ask for, by their names in records.
const OPERATIONS: [&str; 4] = ["read", "write", "trim", "flush"];

/// Notes about all commands.
struct Noted {
    window: Window,
    metrics: Metrics,
}

/// The journal that notes commands.
struct Notes(Arc<Mutex<Noted>>);

impl Journal for Notes {
    fn arrived(&mut self, _: &Arrival) {}

    fn completed(&mut self, _: u64, completion: &Completion) {
        let record = &completion.record;
        let name = record.op.name();
        let Some(operation) = OPERATIONS.iter().position(|&it| it == name) else { return };
        let place = (usize::from(record.flow), operation);
        let response_ps = record.complete_ps.saturating_sub(record.arrival_ps);
        let mut noted = lock(&self.0);
        noted.window.note(place, record.bytes, response_ps);
        noted.metrics.note(place, record.bytes, response_ps);
    }
}

fn lock(noted: &Mutex<Noted>) -> MutexGuard<'_, Noted> {
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Text that was made at a time.
type Made = Option<(Instant, Arc<str>)>;

/// Why a change is not made.
enum Denied {
    /// Another token than that of the server.
    Token,
    /// The change asks for something that is not allowed; the text says what.
    Body(String),
}

/// What live pages show.
pub(crate) struct Status {
    noted: Arc<Mutex<Noted>>,
    frames: Frames,
    figures: Made,
    metrics: Made,
    /// What a change must bring along.
    token: String,
}

impl Status {
    /// Begins to note what the drive does.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] if the system has no random bytes.
    pub(crate) fn of(media: &mut Media) -> Result<Self, Error> {
        let token =
            change::token().map_err(|error| Error::Output(format!("random bytes: {error}")))?;
        let names: Vec<String> =
            media.config().tenants.iter().map(|tenant| tenant.name.clone()).collect();
        let now = Instant::now();
        let noted = Noted {
            window: Window::new(names.len(), now, media.now()),
            metrics: Metrics::new(&names),
        };
        let noted = Arc::new(Mutex::new(noted));
        media.keep(Box::new(Notes(noted.clone())));
        let frames = Frames::new(now);
        Ok(Self { noted, frames, figures: None, metrics: None, token })
    }

    /// What a change must bring along.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Changes the limits of a tenant, if the token is right.
    fn change(
        &mut self,
        media: &mut Media,
        at: Time,
        (token, body): (&str, &[u8]),
    ) -> Result<(), Denied> {
        if !change::is_token(token, &self.token) {
            return Err(Denied::Token);
        }
        self.figures = None;
        change::apply(media, at, body).map_err(Denied::Body)
    }

    /// Real time has passed; the simulated time is `at`.
    pub(crate) fn passes(&mut self, at: Time) {
        lock(&self.noted).window.passes(Instant::now(), at);
    }

    /// A completion left so late.
    pub(crate) fn late(&self, late: Duration) {
        lock(&self.noted).metrics.late(late);
    }

    /// The figures of the last minute, as JSON.
    fn figures(
        &mut self,
        media: &mut Media,
        lateness: &Lateness,
        at: Time,
    ) -> Result<Arc<str>, Error> {
        let now = Instant::now();
        if let Some(text) = fresh(&self.figures, now) {
            return Ok(text);
        }
        let summary = media.summary()?;
        let change = self.frames.change(now, &summary, media.blame()?);
        let mut noted = lock(&self.noted);
        noted.window.passes(now, at);
        let spans = (noted.window.minute(now, at), noted.window.recent(now, at));
        let figures = figures::of(media, &summary, &spans, &change, lateness);
        drop(noted);
        let text = serde_json::to_string(&figures)
            .map_err(|error| Error::Output(format!("figures: {error}")))?;
        let text: Arc<str> = text.into();
        self.figures = Some((now, text.clone()));
        Ok(text)
    }

    /// All counts since the start, as Prometheus reads them.
    fn metrics(&mut self, media: &mut Media) -> Result<Arc<str>, Error> {
        let now = Instant::now();
        if let Some(text) = fresh(&self.metrics, now) {
            return Ok(text);
        }
        let summary = media.summary()?;
        let text: Arc<str> = lock(&self.noted).metrics.text(&summary)?.into();
        self.metrics = Some((now, text.clone()));
        Ok(text)
    }
}

/// The text, unless it is too old.
fn fresh(made: &Made, now: Instant) -> Option<Arc<str>> {
    let (when, text) = made.as_ref()?;
    (now.saturating_duration_since(*when) < FRESH).then(|| text.clone())
}
