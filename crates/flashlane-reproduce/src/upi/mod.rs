//! UPI (HotStorage): sets of chips that follow the load, against one shared drive and fixed
//! partitions. Numbers of the paper are cited from its text; its figures are not available as data.

mod change;
mod composition;
mod held;
mod isolation;
mod load;
mod parallelism;
mod setup;
mod variants;

use crate::{Experiment, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "upi",
    title: "UPI: utilitarian performance isolation in shared SSDs (HotStorage)",
    experiments: &[
        Experiment {
            name: "parallelism",
            figure: "Fig. 1",
            about: "mean read response of each tenant alone on 16 to 2 chips",
            run: parallelism::run,
        },
        Experiment {
            name: "isolation",
            figure: "Fig. 3, 4",
            about: "three tenants under unified, partitioned and upi: the main result",
            run: isolation::run,
        },
        Experiment {
            name: "variants",
            figure: "Section 4",
            about: "the main result with other readings of what the paper leaves open",
            run: variants::run,
        },
        Experiment {
            name: "held",
            figure: "Section 4",
            about: "the main result by what das-as holds and what it touches",
            run: held::run,
        },
        Experiment {
            name: "load",
            figure: "Section 4",
            about: "the main result at other loads",
            run: load::run,
        },
        Experiment {
            name: "change",
            figure: "Fig. 5",
            about: "ten minutes in which lm-tbe turns to writing: responses and sets",
            run: change::run,
        },
        Experiment {
            name: "composition",
            figure: "Not in the paper",
            about: "isolation by scheduling: fairness, latency, throughput and wear",
            run: composition::run,
        },
    ],
};
