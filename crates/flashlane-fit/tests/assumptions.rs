//! Devices that do what the fit does not assume: it has to say so, or to be right all the same.

use crate::hidden::{COMPAT, Hidden};
use flashlane_fit::drive::{DriveFit, Request, fit};
use flashlane_probe::battery::Probe;
use flashlane_probe::{Battery, Progress, Simulated};

struct Quiet;

impl Progress for Quiet {
    fn starts(&mut self, _: &Probe, _: usize, _: usize) {}
    fn kept(&mut self, _: &Probe) {}
    fn skipped(&mut self, _: &Probe, _: &str) {}
}

/// What the devices do, and the keys that make them.
const KINDS: [(&str, &[&str]); 13] = [
    ("as the fit assumes", &[]),
    ("data placed by load", &["ftl.allocation=dynamic"]),
    ("data placed at random", &["ftl.allocation=dynamic", "ftl.precondition.placement=random"]),
    ("copyback", &["ftl.gc.copyback=true"]),
    (
        "hybrid mapping",
        &["ftl.mapping.kind=hybrid", "ftl.mapping.log_blocks=2", "ftl.over_provisioning=0.5"],
    ),
    ("a small mapping cache", &["ftl.mapping.ideal=false", "ftl.mapping.cmt_capacity=64KiB"]),
    ("a cache that keeps nothing", &["cache.mechanism=simple"]),
    ("no cache", &["cache.capacity=0B"]),
    ("collection in order of age", &["ftl.gc.victim=fifo"]),
    ("programs that reads interrupt", &["flash.suspend.program=true"]),
    ("eight processors", &["interface.firmware_servers=8"]),
    ("the released MQSim's arithmetic", &[COMPAT]),
    (
        "in-place memory",
        &[
            "flash.technology=in-place",
            "flash.read_time=[\"20us\"]",
            "flash.program_time=[\"60us\"]",
            "flash.erase_time=0ps",
        ],
    ),
];

/// What became of a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The fit says that it does not fit.
    Refused,
    /// The fit agrees with the data, and every key that it determines is right.
    Right,
    /// The fit agrees with the data, but a key that it determines is wrong.
    Wrong,
}

fn outcome(seed: u64, more: &[&str]) -> (Outcome, String) {
    let hidden = Hidden::with(seed, more);
    let mut drive = Simulated::new(&hidden.config, 99 + seed, true).expect("it is allowed");
    let battery = Battery { overwrite: false, destroy_data: true, only: &[], budget: None, seed };
    let data = battery.run(&mut drive, None, &mut Quiet).expect("it runs");
    let found = fit(&data, &Request::of("fast18"), &|| {}).expect("it can be fitted");
    if !found.fits() {
        return (Outcome::Refused, String::new());
    }
    let wrong = wrong(&hidden, &found, data.facts.bytes);
    (if wrong.is_empty() { Outcome::Right } else { Outcome::Wrong }, wrong.join(", "))
}

/// What the fit says that is not so: a value whose interval does not hold the truth, and that is
/// off by more than 5 %; over-provisioning by more than 10 %.
fn wrong(hidden: &Hidden, found: &DriveFit, bytes: u64) -> Vec<String> {
    let (flash, mut wrong) = (&hidden.config.flash, Vec::new());
    let mut check = |name: &str, is: bool| {
        if !is {
            wrong.push(name.to_owned());
        }
    };
    check("page", found.inside.page == Some(flash.page_size.0));
    check("geometry", found.inside.geometries.contains(&hidden.geometry));
    let calibrations = [Some(&found.calibration), found.written.calibration.as_ref()];
    for calibration in calibrations.into_iter().flatten() {
        for (at, parameter) in calibration.parameters.iter().enumerate() {
            let truth = match parameter.key.rsplit_once('.') {
                Some(("flash.read_time", at)) => {
                    flash.read_time[at.parse::<usize>().expect("a place")].0 as f64
                }
                Some(("flash.program_time", at)) => {
                    flash.program_time[at.parse::<usize>().expect("a place")].0 as f64
                }
                Some(("flash", "channel_rate")) => flash.channel_rate.0 as f64,
                _ => continue,
            };
            let (value, interval) = (calibration.values[at], calibration.intervals[at]);
            let is = interval.contains(truth) || (value / truth - 1.0).abs() < 0.05;
            check(&format!("{} {value:.3e} of {truth:.3e}", parameter.key), is);
        }
    }
    if let Some(spare) = &found.written.spare {
        let pages = hidden.geometry.all_planes()
            * u64::from(flash.blocks_per_plane)
            * u64::from(flash.pages_per_block);
        let truth = (pages * flash.page_size.0) as f64 / bytes as f64 - 1.0;
        let is =
            spare.interval.contains(truth) || (spare.over_provisioning / truth - 1.0).abs() < 0.1;
        check(&format!("over-provisioning {:.3} of {truth:.3}", spare.over_provisioning), is);
    }
    wrong
}

/// Outcomes of devices of a kind, by [`Outcome`].
fn counts(kind: usize, seeds: std::ops::Range<u64>) -> [usize; 3] {
    let (name, more) = KINDS[kind];
    let mut counts = [0; 3];
    for seed in seeds {
        let (outcome, wrong) = outcome(seed, more);
        counts[outcome as usize] += 1;
        if !wrong.is_empty() {
            println!("{name}, seed {seed}: {wrong}");
        }
    }
    counts
}

/// All kinds at the same time on two threads.
fn table(kinds: &[usize], seeds: std::ops::Range<u64>) -> Vec<[usize; 3]> {
    let half = |kinds: Vec<usize>| -> Vec<(usize, [usize; 3])> {
        kinds.into_iter().map(|kind| (kind, counts(kind, seeds.clone()))).collect()
    };
    let (even, odd): (Vec<usize>, Vec<usize>) = kinds.iter().partition(|kind| *kind % 2 == 0);
    let mut all = std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(odd));
        let mut all = half(even);
        all.extend(odd.join().expect("it ends"));
        all
    });
    all.sort_by_key(|(kind, _)| *kind);
    for (kind, [refused, right, wrong]) in &all {
        println!("| {} | {refused} | {right} | {wrong} |", KINDS[*kind].0);
    }
    all.into_iter().map(|(_, counts)| counts).collect()
}

#[test]
fn what_the_fit_does_not_assume_is_refused() {
    let kinds: Vec<usize> = (0..KINDS.len())
        .filter(|kind| ["data placed by load", "hybrid mapping"].contains(&KINDS[*kind].0))
        .collect();
    assert_eq!(table(&kinds, 301..302), [[1, 0, 0], [1, 0, 0]]);
}

#[test]
#[ignore = "takes minutes: `cargo test -p flashlane-fit --test quick assumptions:: -- --ignored --nocapture`"]
fn few_devices_get_a_wrong_answer() {
    let all = table(&(0..KINDS.len()).collect::<Vec<_>>(), 300..306);
    let wrong: usize = all.iter().map(|counts| counts[2]).sum();
    assert!(wrong * 10 <= 6 * KINDS.len(), "{wrong} wrong answers");
}
