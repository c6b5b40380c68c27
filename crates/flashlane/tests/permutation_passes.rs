//! Two real drives under one stream of permutation writes: the whole drive is written pass after
//! pass, each time in another order, and each block once a pass. Amplification rises and falls with
//! every pass.
//!
//! Figures: drives A and B of Song et al., FAST'26 (artifact `MoatLab/WARP-FAST26-AE`, the counters
//! of the figures of one stream), as means of all whole passes after the first two. One value is
//! fitted to each drive: its over-provisioning, from the mean.
//!
//! Run with `--nocapture` for the curves.

use crate::common::{Scenario, run_all};
use flashlane::metrics::Summary;

/// A drive whose superblocks are many, as those of the measured drives are. Their number and size
/// are not known.
const DRIVE: &str = r#"
name = "superblocks"
[flash]
technology = "tlc"
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 1024
pages_per_block = 64
page_size = "16KiB"
channel_rate = "2400MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
[ftl]
superblock = "drive"
precondition.enabled = false
[ftl.mapping]
ideal = true
[ftl.gc]
victim = "greedy"
threshold = "6 blocks"
hard_threshold = "3 blocks"
max_concurrent_per_plane = 1
"#;

/// The stream. The measured drives were empty at the start.
const WRITER: &str = r#"
[[flow]]
name = "writer"
cache = "off"
on_end = "stop"
[flow.synthetic]
queue_depth = 128
read_ratio = 0.0
size = "128KiB"
align = "128KiB"
address = "permutations"
"#;

/// Pages of the drive's flash in a request.
const PAGES_PER_REQUEST: f64 = 8.0;
/// Points of a pass.
const POINTS: usize = 20;
/// Passes, and those of them that do not count.
const PASSES: usize = 5;
const LEFT_OUT: usize = 2;

/// A measured drive.
struct Measured {
    /// Amplification over each twentieth of a pass. Unit: hundredths.
    curve: [u16; POINTS],
    /// Mean of a pass.
    mean: f64,
    /// Capacities written when collection was first seen: after the first, before the second.
    onset: [f64; 2],
    /// The value that is fitted: physical over logical space, less 1.
    over_provisioning: f64,
}

const A: Measured = Measured {
    curve: [
        100, 100, 100, 259, 426, 359, 307, 267, 236, 215, 240, 223, 205, 188, 173, 160, 148, 135,
        121, 107,
    ],
    mean: 2.035,
    onset: [1.154, 1.180],
    over_provisioning: 0.171,
};

const B: Measured = Measured {
    curve: [
        101, 622, 720, 542, 524, 520, 473, 448, 426, 393, 368, 342, 314, 285, 257, 229, 201, 172,
        144, 116,
    ],
    mean: 3.60,
    onset: [1.047, 1.067],
    over_provisioning: 0.083,
};

/// Amplification over each twentieth of each pass. Every run makes the writes of the one before it
/// and a twentieth of a pass more.
fn passes(over_provisioning: f64) -> Vec<f64> {
    let drive = Scenario::new(DRIVE, WRITER).set("ftl.over_provisioning", over_provisioning);
    let pages = f64::from(4 * 2 * 1024 * 64) / (1.0 + over_provisioning);
    let until = |point: usize| (pages / PAGES_PER_REQUEST * point as f64 / POINTS as f64) as u64;
    let runs: Vec<Scenario> = (1..=PASSES * POINTS)
        .map(|point| {
            let mut run = drive.set("flow.writer.synthetic.requests", until(point));
            (run.options.waf_only, run.options.check) = (true, false);
            run
        })
        .collect();
    let programs = |s: &Summary| (s.flash.user_programs as f64, s.flash.gc_programs as f64);
    let mut before = (0.0, 0.0);
    let written = run_all(&runs);
    let points = written.iter().map(programs).map(|(host, moved)| {
        let (more, copies) = (host - before.0, moved - before.1);
        before = (host, moved);
        1.0 + copies / more
    });
    points.collect()
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

fn compare(name: &str, drive: &Measured) {
    let points = passes(drive.over_provisioning);
    let steady = &points[LEFT_OUT * POINTS..];
    let curve: Vec<f64> = (0..POINTS)
        .map(|at| mean(&steady.iter().skip(at).step_by(POINTS).copied().collect::<Vec<_>>()))
        .collect();
    let measured = drive.curve.map(|hundredths| f64::from(hundredths) / 100.0);
    let errors: Vec<f64> =
        curve.iter().zip(measured).map(|(ours, theirs)| (ours / theirs - 1.0).abs()).collect();
    let first = points.iter().position(|&amplification| amplification > 1.01).expect("it collects");
    // The point covers the twentieth before it.
    let onset = [first, first + 1].map(|at| at as f64 / POINTS as f64);
    println!("{name}: mean {:.3} of {:.3}, onset {onset:?}", mean(steady), drive.mean);
    println!("  ours {curve:.2?}\n  drive {measured:.2?}\n  mean error {:.3}", mean(&errors));
    assert!((mean(steady) / drive.mean - 1.0).abs() < 0.03, "{name}: {}", mean(steady));
    assert!(mean(&errors) < 0.1, "{name}: {curve:?}");
    assert!(onset[0] < drive.onset[1] + 0.05 && onset[1] > drive.onset[0] - 0.05, "{onset:?}");
}

#[test]
fn two_real_drives_rise_and_fall_as_measured() {
    compare("drive A", &A);
    compare("drive B", &B);
}
