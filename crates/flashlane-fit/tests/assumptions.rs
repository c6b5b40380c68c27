//! Devices that do what the fit does not assume: it has to say so, or to be right all the same.

mod hidden;

use flashlane_fit::drive::{DriveFit, Request, fit};
use flashlane_probe::battery::Probe;
use flashlane_probe::{Battery, Progress, Simulated};
use hidden::Hidden;

struct Quiet;

impl Progress for Quiet {
    fn starts(&mut self, _: &Probe, _: usize, _: usize) {}
    fn kept(&mut self, _: &Probe) {}
    fn skipped(&mut self, _: &Probe, _: &str) {}
}

/// What the devices do, and the keys that make them.
const KINDS: [(&str, &[&str]); 12] = [
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
    ("collection at once", &["ftl.gc.preemptible=false"]),
    ("in-place memory", &["flash.technology=in-place"]),
];

/// What became of a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The fit says that it does not fit.
    Refused,
    /// It fits, and everything told is right.
    Right,
    /// It fits, and something told is wrong.
    Wrong,
}

fn outcome(seed: u64, more: &[&str]) -> (Outcome, String) {
    let hidden = Hidden::with(seed, more);
    let mut drive = Simulated::new(&hidden.config, 99 + seed, true).expect("it is allowed");
    let battery = Battery { destroy_data: true, only: &[], budget: None, seed };
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

#[test]
#[ignore = "minutes"]
fn table() {
    for (name, more) in KINDS {
        let mut counts = [0; 3];
        for seed in 300..304 {
            let (outcome, wrong) = outcome(seed, more);
            counts[outcome as usize] += 1;
            if !wrong.is_empty() {
                println!("  {seed}: {wrong}");
                if std::env::var("V").is_ok() {
                    println!("{}", outcome_debug(seed, more));
                }
            }
        }
        println!("{name}: does not fit {}, right {}, wrong {}", counts[0], counts[1], counts[2]);
    }
}
fn outcome_debug(seed: u64, more: &[&str]) -> String {
    let hidden = Hidden::with(seed, more);
    let mut drive = Simulated::new(&hidden.config, 99 + seed, true).expect("it is allowed");
    let battery = Battery { destroy_data: true, only: &[], budget: None, seed };
    let data = battery.run(&mut drive, None, &mut Quiet).expect("it runs");
    let found = fit(&data, &Request::of("fast18"), &|| {}).expect("it can be fitted");
    let one = data
        .series("behind-writes", "one-by-one")
        .map(|o| o.timings.iter().take(60).map(|t| t.latency.as_us() as u64).collect::<Vec<_>>());
    let r: Vec<String> = found
        .features
        .iter()
        .zip(&found.calibration.residuals)
        .map(|(f, r)| format!("{} {:.1} {:.1} {:.1}s", f.name(), f.value, r.fitted, r.sigmas))
        .collect();
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{}",
        hidden.sets,
        found.sets,
        found.written.programs,
        one,
        r.join("\n")
    )
}
