//! All counts since the start, for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use flashlane::Error;
use flashlane::metrics::Summary;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::OPERATIONS;

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// A share, a ratio or a time.
type Figure = Gauge<f64, AtomicU64>;

/// The counts of a tenant and an operation.
struct Counts {
    requests: Counter,
    bytes: Counter,
    response: Histogram,
}

/// All counts.
pub(super) struct Metrics {
    registry: Registry,
    /// By tenant, then by operation.
    counts: Vec<Counts>,
    lateness: Histogram,
    simulated: Figure,
    write_amplification: Figure,
    channels: Family<Labels, Figure>,
}

/// From 1 us to 4 s, each bucket twice the one before.
fn response() -> Histogram {
    Histogram::new(exponential_buckets(1e-6, 2.0, 23))
}

/// From 100 ns to 3 s, each bucket twice the one before.
fn lateness() -> Histogram {
    Histogram::new(exponential_buckets(1e-7, 2.0, 26))
}

impl Metrics {
    /// Counts of 0.
    pub(super) fn new(tenants: &[String]) -> Self {
        let requests = Family::<Labels, Counter>::default();
        let bytes = Family::<Labels, Counter>::default();
        let responses = Family::<Labels, Histogram>::new_with_constructor(response);
        let counts = |tenant: &String, operation: &str| {
            let labels = vec![("tenant", tenant.clone()), ("op", operation.to_owned())];
            Counts {
                requests: requests.get_or_create_owned(&labels),
                bytes: bytes.get_or_create_owned(&labels),
                response: responses.get_or_create_owned(&labels),
            }
        };
        let all = tenants.iter().flat_map(|tenant| OPERATIONS.map(|it| counts(tenant, it)));
        let counts = all.collect();
        let (late, channels) = (lateness(), Family::<Labels, Figure>::default());
        let [simulated, write_amplification] = [Figure::default(), Figure::default()];
        let mut registry = Registry::with_prefix("flashlane");
        registry.register("requests", "Completed commands", requests);
        registry.register("bytes", "Data of completed commands", bytes);
        let help = "Simulated time from the arrival of a command to its completion";
        registry.register("response_seconds", help, responses);
        let help = "Real time by which completions left later than the drive had them";
        registry.register("lateness_seconds", help, late.clone());
        registry.register("simulated_seconds", "Simulated time", simulated.clone());
        let help = "Page programs over page programs for the host, since the start";
        registry.register("write_amplification", help, write_amplification.clone());
        let help = "Share of simulated time in which the channel was busy, since the start";
        registry.register("channel_busy_ratio", help, channels.clone());
        Self { registry, counts, lateness: late, simulated, write_amplification, channels }
    }

    /// A command of a tenant and an operation is complete.
    pub(super) fn note(
        &mut self,
        (tenant, operation): (usize, usize),
        bytes: u64,
        response_ps: u64,
    ) {
        let counts = &self.counts[tenant * OPERATIONS.len() + operation];
        counts.requests.inc();
        counts.bytes.inc_by(bytes);
        counts.response.observe(response_ps as f64 / 1e12);
    }

    /// A completion left so late.
    pub(super) fn late(&self, late: Duration) {
        self.lateness.observe(late.as_secs_f64());
    }

    /// The text that Prometheus reads.
    pub(super) fn text(&mut self, summary: &Summary) -> Result<String, Error> {
        self.simulated.set(summary.simulated_s);
        self.write_amplification.set(summary.flash.write_amplification);
        for channel in &summary.channels {
            let labels = vec![("channel", channel.channel.to_string())];
            self.channels.get_or_create_owned(&labels).set(channel.busy_fraction);
        }
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)
            .map_err(|error| Error::Output(format!("metrics: {error}")))?;
        Ok(text)
    }
}
