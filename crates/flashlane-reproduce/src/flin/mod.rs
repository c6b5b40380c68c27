//! FLIN (Tavakkol et al., ISCA'18): four sources of interference, and a scheduler against them.
//! Numbers of the paper are cited from its text; its figures are not available as data.

mod access_pattern;
mod compared;
mod device;
mod gc;
mod intensity;
mod mixes;
mod over_time;
mod overhead;
mod parameters;
mod policies;
mod priorities;
mod read_write;
mod sensitivity;
mod setup;
mod stages;
mod write_cache;

use crate::{Experiment, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "flin",
    title: "FLIN: Enabling Fairness and Enhancing Performance in Modern NVMe Solid State Drives \
            (ISCA 2018)",
    experiments: &[
        Experiment {
            name: "over-time",
            figure: "Fig. 2",
            about: "slowdown of tpce beside tpcc, window by window",
            run: over_time::run,
        },
        Experiment {
            name: "intensity-alone",
            figure: "Fig. 3",
            about: "a flow of growing intensity: queues and waits",
            run: intensity::alone,
        },
        Experiment {
            name: "intensity",
            figure: "Fig. 4",
            about: "a light flow beside an ever more intense one",
            run: intensity::beside,
        },
        Experiment {
            name: "access-pattern",
            figure: "Fig. 5",
            about: "a streaming flow beside an ever more random one",
            run: access_pattern::run,
        },
        Experiment {
            name: "read-write",
            figure: "Fig. 6",
            about: "read priority and first come, first served, by shares of writes",
            run: read_write::run,
        },
        Experiment {
            name: "gc",
            figure: "Fig. 7",
            about: "no, default and semi-preemptive collection beside an ever heavier writer",
            run: gc::run,
        },
        Experiment {
            name: "overhead",
            figure: "Section 5.5",
            about: "memory and work of queue insertion",
            run: overhead::run,
        },
        Experiment {
            name: "policies",
            figure: "Fig. 10-13",
            about: "workloads of four traces under sprinkler, sprinkler-fairness and flin",
            run: policies::run,
        },
        Experiment {
            name: "sensitivity",
            figure: "Fig. 10-13",
            about: "the same against what the paper leaves open: collection, state, length, rates",
            run: sensitivity::run,
        },
        Experiment {
            name: "stages",
            figure: "Fig. 14",
            about: "the first stage alone, the third alone, all three",
            run: stages::run,
        },
        Experiment {
            name: "parameters",
            figure: "Fig. 15",
            about: "epoch, thresholds of intensity, fairness and collection",
            run: parameters::run,
        },
        Experiment {
            name: "device",
            figure: "Section 7.3",
            about: "page size, flash latencies, number of chips",
            run: device::run,
        },
        Experiment {
            name: "priorities",
            figure: "Fig. 16",
            about: "four equal flows of four priorities",
            run: priorities::run,
        },
        Experiment {
            name: "write-cache",
            figure: "Fig. 17",
            about: "with and without a write cache",
            run: write_cache::run,
        },
    ],
};
