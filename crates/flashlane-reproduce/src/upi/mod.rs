//! UPI (HotStorage): sets of chips that follow the load.

mod composition;

use crate::{Experiment, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "upi",
    title: "UPI: utilitarian performance isolation in shared SSDs (HotStorage)",
    experiments: &[Experiment {
        name: "composition",
        figure: "Not in the paper",
        about: "isolation by scheduling: what wins when",
        run: composition::run,
    }],
};
