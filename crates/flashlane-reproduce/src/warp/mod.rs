//! Song et al., FAST 2026: what flexible data placement does to write amplification, on two real
//! drives and on an emulator of known geometry. Everything runs without time.
//!
//! Figures: the counters of host and media bytes in the study's artifact, `MoatLab/WARP-FAST26-AE`.

mod cache_engines;
mod drive;
mod noisy;
mod one_stream;
mod three_streams;

use crate::{Experiment, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "warp",
    title: "Song et al.: flexible data placement and write amplification (FAST'26)",
    experiments: &[
        Experiment {
            name: "one-stream",
            figure: "Fig. 11",
            about: "permutation writes to two real drives and to an emulated one",
            run: one_stream::run,
        },
        Experiment {
            name: "three-streams",
            figure: "Fig. 14",
            about: "three writers with no handles, with a shared one, and with one each",
            run: three_streams::run,
        },
        Experiment {
            name: "cache-engines",
            figure: "CacheLib",
            about: "small objects at random beside a log of large ones, with and without handles",
            run: cache_engines::run,
        },
        Experiment {
            name: "noisy",
            figure: "Noisy handles",
            about: "a handle that overwrites a little of its data often, beside a quiet one",
            run: noisy::run,
        },
    ],
};
