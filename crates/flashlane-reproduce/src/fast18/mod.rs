//! MQSim (Tavakkol et al., FAST'18): the three points of contention, the fetch limit, and how well
//! a preset stands for a drive. Numbers of the paper are cited from its text; its figures are not
//! available as data.

#[cfg(feature = "exec")]
mod application_level;
mod backend;
mod cmt;
mod contention;
mod fetch_size;
mod latency;
mod reader_writer;
mod request_size;
mod steady_state;
mod traces;
mod write_cache;

use crate::{Experiment, Paper};

/// Name of the experiment whose load comes from programs.
#[cfg(feature = "exec")]
const APPLICATION_LEVEL: &str = "application-level";

/// The tool that an experiment needs and that this machine lacks: a cross compiler.
#[cfg(feature = "exec")]
pub(crate) fn missing(experiment: &Experiment) -> Option<String> {
    (experiment.name == APPLICATION_LEVEL).then(flashlane_exec::programs::missing).flatten()
}

/// The tool that an experiment needs and that this machine lacks: none in this build.
#[cfg(not(feature = "exec"))]
pub(crate) fn missing(_: &Experiment) -> Option<String> {
    None
}

/// The paper.
pub const PAPER: Paper = Paper {
    name: "fast18",
    title: "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices \
            (FAST 2018)",
    experiments: &[
        Experiment {
            name: "latency",
            figure: "Fig. 4",
            about: "where the time of one small read goes, with flash and with 3D XPoint",
            run: latency::run,
        },
        Experiment {
            name: "write-cache",
            figure: "Fig. 6",
            about: "two writers share the data cache, their flash is separate",
            run: write_cache::run,
        },
        Experiment {
            name: "cmt",
            figure: "Fig. 7",
            about: "a sequential and an ever more random reader share the mapping cache",
            run: cmt::run,
        },
        Experiment {
            name: "backend",
            figure: "Fig. 8",
            about: "a light and an ever more intense random reader share the flash",
            run: backend::run,
        },
        #[cfg(feature = "exec")]
        Experiment {
            name: APPLICATION_LEVEL,
            figure: "Fig. 9",
            about: "four applications in pairs: QueueFetchSize and instructions per cycle",
            run: application_level::run,
        },
        Experiment {
            name: "request-size",
            figure: "Fig. 10",
            about: "response times by request size on the presets of real drives",
            run: request_size::run,
        },
        Experiment {
            name: "traces",
            figure: "Fig. 11",
            about: "response times of tpcc, tpce and exchange on four drives",
            run: traces::run,
        },
        Experiment {
            name: "fetch-size",
            figure: "Fig. 12 and 2",
            about: "a limit on fetched commands per queue protects the lighter flow",
            run: fetch_size::run,
        },
        Experiment {
            name: "reader-writer",
            figure: "Not in the paper",
            about: "a limit on fetched commands per queue protects a reader beside a writer",
            run: reader_writer::run,
        },
        Experiment {
            name: "steady-state",
            figure: "Fig. 13",
            about: "write-heavy load with and without preconditioning",
            run: steady_state::run,
        },
    ],
};
