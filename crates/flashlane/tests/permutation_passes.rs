//! Two real drives and two emulated ones under one stream of permutation writes: the whole drive is
//! written pass after pass, each time in another order, and each block once a pass. Amplification
//! rises and falls with every pass.
//!
//! Figures: drives A and B, and the emulated WARP_1 and WARP_7, of Song et al., FAST'26 (artifact
//! `MoatLab/WARP-FAST26-AE`, the counters of the figures of one stream), as means of all whole
//! passes after the first two. One value is fitted to each real drive: its over-provisioning, from
//! the mean. The geometry of the emulated ones is known. What WARP_1 keeps free is from the onset.
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

/// Points of a pass.
const POINTS: usize = 20;
/// The first passes do not count.
const LEFT_OUT: usize = 2;

/// A measured drive.
struct Measured {
    /// Amplification over each twentieth of a pass. Unit: hundredths.
    curve: [u16; POINTS],
    /// Mean of a pass.
    mean: f64,
    /// Capacities written when collection was first seen: after the first, before the second.
    onset: [f64; 2],
    /// Physical over logical space, less 1. Fitted for the real drives.
    over_provisioning: f64,
    /// Superblocks of the model, and the number that collection keeps free.
    superblocks: u32,
    kept_free: u32,
    /// Placement handles, each of which holds a superblock at all times; 1: no placement.
    handles: u32,
    /// Pages of the model in a request.
    pages_per_request: u32,
    /// Passes, of which the last ones count. The emulated drives have the same curve in all.
    passes: usize,
}

const A: Measured = Measured {
    curve: [
        100, 100, 100, 259, 426, 359, 307, 267, 236, 215, 240, 223, 205, 188, 173, 160, 148, 135,
        121, 107,
    ],
    mean: 2.035,
    onset: [1.154, 1.180],
    over_provisioning: 0.171,
    superblocks: 1024,
    kept_free: 3,
    handles: 1,
    pages_per_request: 8,
    passes: 5,
};

const B: Measured = Measured {
    curve: [
        101, 622, 720, 542, 524, 520, 473, 448, 426, 393, 368, 342, 314, 285, 257, 229, 201, 172,
        144, 116,
    ],
    mean: 3.60,
    onset: [1.047, 1.067],
    over_provisioning: 0.083,
    superblocks: 1024,
    kept_free: 3,
    handles: 1,
    pages_per_request: 8,
    passes: 5,
};

/// 128 GiB in units of 128 MiB, and 10 % more. By the onset, 57 to 61 of its 102 spare units are
/// written before it collects. Eight are open; the others are kept free, 2.5 % of all.
const WARP_1: Measured = Measured {
    curve: [
        127, 762, 818, 703, 707, 652, 621, 580, 542, 504, 466, 427, 389, 351, 312, 274, 235, 196,
        158, 120,
    ],
    mean: 4.4715,
    onset: [1.056, 1.061],
    over_provisioning: 1126.0 / 1024.0 - 1.0,
    superblocks: 1126,
    kept_free: 28,
    handles: 8,
    pages_per_request: 2,
    passes: 3,
};

/// 448 GiB in units of 128 MiB, and 14 % more. It keeps 1 % free.
const WARP_7: Measured = Measured {
    curve: [
        100, 100, 351, 546, 442, 372, 328, 362, 334, 306, 284, 267, 249, 228, 208, 189, 169, 149,
        129, 121,
    ],
    mean: 2.6165,
    onset: [1.103, 1.150],
    over_provisioning: 4086.0 / 3584.0 - 1.0,
    superblocks: 4086,
    kept_free: 40,
    handles: 8,
    pages_per_request: 2,
    passes: 3,
};

/// Amplification over each twentieth of each pass. Every run makes the writes of the one before it
/// and a twentieth of a pass more.
fn passes(measured: &Measured) -> Vec<f64> {
    let &Measured { over_provisioning, superblocks, kept_free, handles, .. } = measured;
    let pages_per_request = measured.pages_per_request;
    let mut drive = Scenario::new(DRIVE, WRITER)
        .set("ftl.over_provisioning", over_provisioning)
        .set("flash.blocks_per_plane", superblocks)
        .set("ftl.gc.threshold", format!("{} blocks", kept_free + 3))
        .set("ftl.gc.hard_threshold", format!("{kept_free} blocks"));
    if handles > 1 {
        drive = drive
            .set("placement.mode", "fdp")
            .set("placement.handles", handles)
            .set("placement.always_open", true)
            .set("ftl.gc.preemptible", false)
            .set("flow.writer.synthetic.size", format!("{}KiB", 16 * pages_per_request))
            .set("flow.writer.synthetic.align", format!("{}KiB", 16 * pages_per_request));
    }
    let pages = f64::from(4 * 2 * superblocks * 64) / (1.0 + over_provisioning);
    let until =
        |point: usize| (pages / f64::from(pages_per_request) * point as f64 / POINTS as f64) as u64;
    let runs: Vec<Scenario> = (1..=measured.passes * POINTS)
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
    let points = passes(drive);
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

#[test]
fn two_emulated_drives_of_known_geometry_rise_and_fall_as_measured() {
    compare("WARP_1", &WARP_1);
    compare("WARP_7", &WARP_7);
}
