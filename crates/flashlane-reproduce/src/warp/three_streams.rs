//! Fig. 14: three writers on an emulated drive of known geometry: WARP_A2, 448 GiB, 4086 reclaim
//! units of 128 MiB, initially isolated, greedy victims.
//!
//! The first writer writes 90 % of the space in sequence, 128 KiB at a time. The second overwrites
//! the same 90 % at random, and the third the other 10 %, both 4 KiB at a time. In the study they
//! are three jobs, whose shares the emulator's timing decides. Here they are parts of one flow,
//! with the shares that the counters of the handles show behind the filling.

use flashlane::Error;

use super::drive::{Drive, Part, UNIT_PAGES, amplification, parts};
use crate::{Bound, Findings, Lab, Row, Table};

const NAME: &str = "three-streams";

/// Reclaim units of the drive, and those that hold its logical space.
const UNITS: u32 = 4086;
const LOGICAL_UNITS: f64 = 3584.0;

/// Free reclaim units from which on the emulator collects at once: 1 %.
const KEPT_FREE: u32 = 40;

/// Where the second writer writes, in its 90 %.
enum Random {
    Uniform,
    /// Exponent.
    Zipf(f64),
    /// 80 % of the writes to the first 20 % of the space, 10 % to the next 20 %, the rest to the
    /// other 60 %.
    Zoned,
}

/// The handles of the three writers.
struct Mode {
    name: &'static str,
    handles: [u32; 3],
}

const MODES: [Mode; 3] = [
    Mode { name: "none", handles: [0, 0, 0] },
    Mode { name: "shared", handles: [0, 0, 1] },
    Mode { name: "each", handles: [0, 2, 1] },
];

/// A series of the study.
struct Series {
    random: Random,
    name: &'static str,
    /// By mode: amplification of the last fifth, and capacities written in all.
    measured: [f64; 3],
    written: [f64; 3],
    /// By mode: share of the bytes of the first writer. The others have equal parts of the rest.
    sequential: [f64; 3],
}

/// Without handles the counters show no shares: those of the shared handle stand in.
const SERIES: [Series; 3] = [
    Series {
        random: Random::Uniform,
        name: "uniform",
        measured: [4.358, 4.184, 4.052],
        written: [7.758, 7.848, 8.121],
        sequential: [0.569, 0.569, 0.573],
    },
    Series {
        random: Random::Zipf(2.2),
        name: "zipf 2.2",
        measured: [3.844, 3.359, 1.081],
        written: [8.428, 8.712, 8.984],
        sequential: [0.588, 0.588, 0.611],
    },
    Series {
        random: Random::Zoned,
        name: "80/20",
        measured: [4.154, 3.770, 2.267],
        written: [8.101, 8.357, 9.260],
        sequential: [0.586, 0.586, 0.582],
    },
];

/// Part of the space of the first two writers.
const LARGE: f64 = 0.9;

fn writers(series: &Series, mode: usize) -> Vec<Part> {
    let sequential = series.sequential[mode];
    let random = (1.0 - sequential) / 2.0;
    let handles = MODES[mode].handles;
    let of = |handle: usize, share, space, size, address: &str, fills| Part {
        share,
        handle: handles[handle],
        space,
        size,
        address: address.to_owned(),
        fills,
    };
    let uniform = "\"uniform\"";
    let mut parts = vec![
        of(0, sequential, [0.0, LARGE], "128KiB", "\"streaming\"", true),
        of(2, random, [LARGE, 1.0], "4KiB", uniform, true),
    ];
    match series.random {
        Random::Uniform => parts.push(of(1, random, [0.0, LARGE], "4KiB", uniform, false)),
        Random::Zipf(theta) => {
            let address = format!("{{ zipf = {{ theta = {theta}, extent = \"4KiB\" }} }}");
            parts.push(of(1, random, [0.0, LARGE], "4KiB", &address, false));
        }
        Random::Zoned => {
            for (share, from, to) in [(0.8, 0.0, 0.2), (0.1, 0.2, 0.4), (0.1, 0.4, 1.0)] {
                let space = [LARGE * from, LARGE * to];
                parts.push(of(1, share * random, space, "4KiB", uniform, false));
            }
        }
    }
    parts
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let size = if lab.smoke { 0.05 } else { 1.0 };
    let drive = Drive {
        units: (f64::from(UNITS) * size) as u32,
        unit_pages: UNIT_PAGES,
        logical_units: LOGICAL_UNITS * size,
        kept_free: ((f64::from(KEPT_FREE) * size) as u32).max(3),
        // The emulator has eight, which hold a reclaim unit at all times.
        handles: 8,
        always_open: true,
        persistent: false,
    };
    let mut jobs = Vec::new();
    for series in &SERIES {
        for mode in 0..MODES.len() {
            let sequential = series.sequential[mode];
            let pages_per_request = 1.0 / (sequential / 32.0 + 1.0 - sequential);
            let filled = drive.pages() * (LARGE / 32.0 + 1.0 - LARGE);
            let keys = parts(&writers(series, mode));
            jobs.push(drive.job(&keys, series.written[mode], (filled, pages_per_request))?);
        }
    }
    let runs = lab.run(&jobs)?;
    let columns = ["second writer", "handles", "emulated", "ours"];
    let mut table = Table::new(NAME, "Fig. 14: amplification of the last fifth", &columns);
    let mut rows = Vec::new();
    for (series, runs) in SERIES.iter().zip(runs.chunks(MODES.len())) {
        let ours: Vec<f64> = runs.iter().map(amplification).collect();
        for ((mode, &measured), &ours) in MODES.iter().zip(&series.measured).zip(&ours) {
            table.row(vec![series.name.into(), mode.name.into(), measured.into(), ours.into()]);
            let metric = format!("{}, handles: {}", series.name, mode.name);
            rows.push(Row::number(NAME, metric, measured, ours, 1.0, "x", "last fifth"));
        }
        let orders = ours.windows(2).map(|pair| pair[0] / pair[1]).fold(f64::INFINITY, f64::min);
        let metric = format!("{}, order of the three", series.name);
        let note = "none over shared, shared over each: the smaller ratio";
        rows.push(Row::statement_over_seeds(
            NAME,
            metric,
            &[orders],
            Bound::AtLeast(1.0),
            "x",
            note,
        ));
    }
    Ok(Findings { rows, tables: vec![table] })
}
