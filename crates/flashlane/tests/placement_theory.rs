//! Placement against theory: a sequential stream with a handle of its own is written once; uniform
//! streams with persistently isolated handles meet the closed form of their spare share.
//!
//! Source: Desnoyers 2012 and others: with many pages in a block, the share `u` of valid pages in a
//! victim solves `spare = -ln u / (1 - u)`, with `spare` the physical over the logical space, and
//! amplification is `1 / (1 - u)`.

use crate::common::{Scenario, run_all};
use flashlane::Warmup;
use flashlane::metrics::HandleSummary;

/// Superblocks, and those that are always free or open beside the two of each handle.
const UNITS: u32 = 1000;
const KEPT: u32 = 10;
/// Logical space in superblocks.
const LOGICAL: f64 = UNITS as f64 / 1.14;

fn drive(parts: &str, isolation: &str) -> Scenario {
    let device = format!(
        r#"
name = "theory"
[placement]
mode = "fdp"
isolation = "{isolation}"
[ftl]
superblock = "drive"
over_provisioning = 0.14
precondition.enabled = false
wear_leveling.static_threshold = 0
mapping.ideal = true
[ftl.gc]
victim = "greedy"
threshold = "{} blocks"
hard_threshold = "{KEPT} blocks"
max_concurrent_per_plane = 1
preemptible = false
[flash]
technology = "tlc"
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = {UNITS}
pages_per_block = 64
page_size = "4KiB"
channel_rate = "1200MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#,
        KEPT + 1
    );
    let pages = (LOGICAL * 512.0) as u64;
    let workload = format!(
        "[[flow]]\nname = \"writer\"\ncache = \"off\"\non_end = \"stop\"\n\
         [flow.synthetic]\nqueue_depth = 64\nrequests = {}\n{parts}",
        7 * pages
    );
    let mut run = Scenario::new(&device, &workload);
    (run.options.waf_only, run.options.check) = (true, false);
    run.options.warmup = Warmup::Requests(4 * pages);
    run
}

fn part(handle: u32, share: f64, [from, to]: [f64; 2], address: &str) -> String {
    format!(
        "[[flow.synthetic.parts]]\nshare = {share}\nplacement = {handle}\nstart = {from}\nend = {to}\n\
         size = \"4KiB\"\naddress = \"{address}\"\nfill_first = true\n"
    )
}

/// Amplification of uniform writes. `spare`: physical over logical space.
fn closed_form(spare: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..200 {
        let u: f64 = (low + high) / 2.0;
        if -libm::log(u) / (1.0 - u) > spare { low = u } else { high = u }
    }
    1.0 / (1.0 - low)
}

#[test]
fn handles_meet_the_closed_forms() {
    let halves = [[0.0, 0.5], [0.5, 1.0]];
    let uniform = |share: f64| {
        part(0, share, halves[0], "uniform") + &part(1, 1.0 - share, halves[1], "uniform")
    };
    let apart = part(0, 0.99, halves[0], "streaming") + &part(1, 0.01, halves[1], "uniform");
    let found = run_all(&[
        drive(&uniform(0.5), "persistently"),
        drive(&uniform(0.2), "persistently"),
        drive(&apart, "persistently"),
        drive(&apart, "initially"),
        drive(&part(1, 1.0, [0.0, 1.0], "streaming"), "initially"),
    ]);
    let amplification = |handle: &HandleSummary| handle.write_amplification.expect("it wrote");
    let handles = |at: usize| {
        let placement = found[at].placement.as_ref().expect("the drive has handles");
        [0, 1].map(|handle: usize| amplification(&placement.handles[handle]))
    };
    // Greedy victims have the same share of valid pages in both handles, whatever their rates, so
    // both have the same spare share. Two superblocks of each handle are open, and half full in the
    // mean.
    let expected = closed_form((f64::from(UNITS - KEPT) - 2.0) / LOGICAL);
    for at in [0, 1] {
        for (handle, ours) in handles(at).into_iter().enumerate() {
            println!("uniform, handle {handle}: {ours:.3}, closed form {expected:.3}");
            assert!((ours / expected - 1.0).abs() < 0.03, "{ours:.3} against {expected:.3}");
        }
    }
    let alone = &found[4].placement.as_ref().expect("the drive has handles").handles[1];
    assert_eq!(alone.write_amplification, Some(1.0), "a stream alone is written once");
    for at in [2, 3] {
        let [stream, _] = handles(at);
        println!("a stream beside a few uniform writes: {stream:.4}");
        // Few, since they need room, and then a unit that the stream has overwritten in part may
        // have the fewest valid pages of all: the study calls this the fate of sequential data.
        assert!((1.0..1.03).contains(&stream), "{stream}: its units become empty by themselves");
    }
}
