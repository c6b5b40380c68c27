//! The figures of a live page: `flashlane.status/1`.

use flashlane::metrics::Summary;
use flashlane_nvme::{Media, TenantLimit};
use serde::Serialize;

use super::OPERATIONS;
use super::frames::{Change, Wait};
use super::window::{ByOperation, Counted, Span};
use crate::pace::Lateness;

/// Waits of a tenant that are shown, longest first.
const WAITS_MAX: usize = 8;

/// What a live page shows. Rates are per second of simulated time.
#[derive(Debug, Serialize)]
pub(super) struct Figures<'a> {
    schema: &'static str,
    device: &'a str,
    scheduler: &'a str,
    isolation: &'a str,
    /// Simulated time from the start. Unit: seconds.
    simulated_s: f64,
    /// Real time that the figures of tenants are over. Unit: seconds.
    window_s: f64,
    /// Simulated time that passed in it. Unit: seconds.
    window_simulated_s: f64,
    tenants: Vec<TenantFigures<'a>>,
    /// Real time that waits, channels and chips are over. Unit: seconds.
    parts_window_s: f64,
    /// Share of the time in which each channel was busy.
    channels: Vec<f64>,
    chips: Vec<ChipFigures>,
    /// From the start.
    write_amplification: f64,
    /// By how much completions left late, from the start; nothing in virtual time.
    lateness: Option<LatenessFigures>,
}

#[derive(Debug, Serialize)]
struct LatenessFigures {
    p50_us: f64,
    p99_us: f64,
}

#[derive(Debug, Serialize)]
struct ChipFigures {
    channel: u32,
    chip: u32,
    /// Share of the time in which at least one die was busy.
    busy: f64,
}

#[derive(Debug, Serialize)]
struct TenantFigures<'a> {
    name: &'a str,
    /// All operations.
    #[serde(flatten)]
    all: Rates,
    operations: Vec<OperationFigures>,
    /// All operations in the last five to ten seconds.
    recent: Rates,
    /// The estimate of how many times as long commands take as they would without the waits for
    /// other tenants; nothing without blame, or without a command.
    slowdown_estimate: Option<f64>,
    /// Longest first; nothing without blame.
    waits: Option<Vec<WaitFigures<'a>>>,
    limit: LimitFigures,
    /// Requests that the limit holds back now.
    held_back: usize,
}

/// The limits of a tenant; nothing for none.
#[derive(Debug, Default, Serialize)]
struct LimitFigures {
    iops: Option<u64>,
    mb_per_s: Option<f64>,
}

impl From<TenantLimit> for LimitFigures {
    fn from(limit: TenantLimit) -> Self {
        let mb_per_s = limit.bytes_per_s.map(|bytes| bytes as f64 / 1e6);
        Self { iops: limit.iops, mb_per_s }
    }
}

#[derive(Debug, Serialize)]
struct OperationFigures {
    op: &'static str,
    #[serde(flatten)]
    rates: Rates,
}

#[derive(Debug, Serialize)]
struct Rates {
    requests: u64,
    iops: f64,
    mb_per_s: f64,
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
}

#[derive(Debug, Serialize)]
struct WaitFigures<'a> {
    culprit: &'a str,
    cause: &'a str,
    share: f64,
}

impl Rates {
    fn of(counted: &Counted, simulated_s: f64) -> Self {
        let rate = |count: u64| if simulated_s > 0.0 { count as f64 / simulated_s } else { 0.0 };
        Self {
            requests: counted.requests,
            iops: rate(counted.requests),
            mb_per_s: rate(counted.bytes) / 1e6,
            mean_us: counted.mean_us(),
            p50_us: counted.quantile_us(0.5),
            p99_us: counted.quantile_us(0.99),
        }
    }
}

/// The figures of a minute, and those of the last seconds.
pub(super) fn of<'a>(
    media: &'a Media,
    summary: &'a Summary,
    (minute, recent): &(Span, Span),
    change: &'a Change,
    lateness: &Lateness,
) -> Figures<'a> {
    let tenants = media.config().tenants.iter().zip(&minute.tenants).enumerate();
    let waits = |index: usize| change.waits.as_ref().and_then(|it| it.get(index));
    let late = |share| lateness.quantile(share).as_secs_f64() * 1e6;
    let chips = summary.chips.iter().zip(&change.chips);
    Figures {
        schema: "flashlane.status/1",
        device: &summary.device,
        scheduler: &summary.scheduler,
        isolation: &summary.isolation,
        simulated_s: summary.simulated_s,
        window_s: minute.real.as_secs_f64(),
        window_simulated_s: minute.simulated_s,
        tenants: tenants
            .map(|(index, (tenant, counted))| {
                let recent = Rates::of(&sum(&recent.tenants[index]), recent.simulated_s);
                let minute = (counted, minute.simulated_s);
                let figures = of_tenant(&tenant.name, minute, recent, waits(index));
                let held_back = media.held_back(index);
                TenantFigures { limit: media.limit(index).into(), held_back, ..figures }
            })
            .collect(),
        parts_window_s: change.real.as_secs_f64(),
        channels: change.channels.clone(),
        chips: chips
            .map(|(it, &busy)| ChipFigures { channel: it.channel, chip: it.chip, busy })
            .collect(),
        write_amplification: summary.flash.write_amplification,
        lateness: (lateness.count() > 0)
            .then(|| LatenessFigures { p50_us: late(0.5), p99_us: late(0.99) }),
    }
}

/// All operations together.
fn sum(counted: &ByOperation) -> Counted {
    let mut all = Counted::default();
    counted.iter().flatten().for_each(|it| all.add(it));
    all
}

fn of_tenant<'a>(
    name: &'a str,
    (counted, simulated_s): (&ByOperation, f64),
    recent: Rates,
    waits: Option<&'a Vec<Wait>>,
) -> TenantFigures<'a> {
    let all = sum(counted);
    let operations = OPERATIONS.iter().zip(counted);
    let operations = operations.filter_map(|(op, counted)| {
        Some(OperationFigures { op, rates: Rates::of(counted.as_deref()?, simulated_s) })
    });
    let figures = |wait: &'a Wait| {
        let Wait { culprit, cause, share } = wait;
        WaitFigures { culprit, cause, share: *share }
    };
    TenantFigures {
        name,
        operations: operations.collect(),
        recent,
        slowdown_estimate: waits.filter(|_| all.requests > 0).and_then(|it| slowdown(name, it)),
        waits: waits.map(|it| it.iter().take(WAITS_MAX).map(figures).collect()),
        all: Rates::of(&all, simulated_s),
        limit: LimitFigures::default(),
        held_back: 0,
    }
}

/// How many times as long commands take as without the waits for other tenants. Without these
/// waits, others might follow, so it is an estimate.
fn slowdown(name: &str, waits: &[Wait]) -> Option<f64> {
    let by_another =
        |wait: &&Wait| wait.culprit != name && wait.culprit != flashlane::observe::blame::DEVICE;
    let share: f64 = waits.iter().filter(by_another).map(|it| it.share).sum();
    (share < 1.0).then(|| 1.0 / (1.0 - share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_for_other_tenants_slow_down() {
        let wait = |culprit: &str, share| Wait {
            culprit: culprit.to_owned(),
            cause: "die".to_owned(),
            share,
        };
        let waits = [wait("noisy", 0.5), wait("device", 0.2), wait("me", 0.1), wait("third", 0.25)];
        let found = slowdown("me", &waits).expect("a number");
        assert!((found - 4.0).abs() < 1e-9);
        assert_eq!(slowdown("me", &[]), Some(1.0));
        assert_eq!(slowdown("me", &[wait("noisy", 1.0)]), None, "nothing else is left");
    }
}
