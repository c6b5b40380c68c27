//! A simulator of multi-queue SSDs shared by tenants. It tells which tenant slows which one down,
//! and why.
//!
//! The drive itself is the crate `flashlane-device`; what is public of it has its place here, too.
//! The modules are listed in the order in which a request meets them; see `ARCHITECTURE.md`.

// The keys that users write, and the checks of them.
pub use flashlane_config as config;
pub mod conformance;
pub mod content;
mod digest;

pub use flashlane_workload as workload; // 1

// The drive: 2 to 7. Its stages are not part of the face; policies and configurations are.
pub use flashlane_device::{layout, policy};

/// The figures of a run: 8.
pub mod metrics {
    pub use flashlane_measure::metrics::summary::*;
    pub use flashlane_measure::metrics::{
        Baseline, EnergySummary, Estimate, GoalSummary, Interval, SeedStatistics, SloSummary,
        WearSummary, energy, mqsim_results, queues, seeds, slo, steady, summary,
    };
}

/// Data of a run beside its figures: records of requests, windows over time, blame, a timeline.
pub mod observe {
    pub use flashlane_measure::observe::{
        Blame, BlameCause, BlameCell, BlameVictim, DevicePoint, FlowPoint, Observe,
        QueueStatistics, RequestBatch, RequestRecord, RequestSink, SeriesOptions, SeriesWindow,
        Slice, TimeSeries, Timeline, TimelineOptions, Track, blame, queues, requests, series,
        timeline,
    };
}

// Modules above the drive: they run it.
pub mod drive;
pub mod need;
mod options;
mod parallel;
pub mod precondition;
pub mod prelude;
pub mod run;

/// Published JSON schemas.
pub mod schema {
    pub use flashlane_config::schema::*;
    pub use flashlane_measure::schema::*;
}

mod stopwatch;
mod tenants;
mod waf_only;

pub use drive::Drive;
pub use flashlane_engine::Time;
pub use flashlane_reading::{Error, Problem, shortened, visible, visible_json, visible_line};
pub use precondition::{KeptStates, StateStore};
pub use run::{
    Details, RunOptions, Simulation, StateProgress, StateStep, Warmup, partial_runs, simulate,
    simulate_all, simulate_in_detail,
};
