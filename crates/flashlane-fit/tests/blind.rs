//! Random devices whose configuration only the test knows, measured as black boxes by reads and
//! fitted.

mod hidden;

use std::fmt;

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

/// How often something was right.
#[derive(Default)]
struct Score {
    devices: usize,
    fits: usize,
    page: usize,
    class: usize,
    channels: usize,
    dies: usize,
    values: usize,
    near: usize,
    inside: usize,
    commands: u64,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { devices, fits, page, class, channels, dies, values, near, inside, commands } =
            self;
        write!(
            f,
            "{devices} devices: {fits} fit; page {page}, class {class}, channels {channels}, dies of \
             a channel {dies}; of {values} values {near} are within 5 %, {inside} in their interval; \
             {commands} commands"
        )
    }
}

impl Score {
    fn add(&mut self, seed: u64) {
        let hidden = Hidden::random(seed);
        let mut drive = Simulated::new(&hidden.config, 99 + seed, true).expect("it is allowed");
        let battery = Battery { destroy_data: false, only: &[], budget: None, seed };
        let data = battery.run(&mut drive, None, &mut Quiet).expect("it runs");
        let found = fit(&data, &Request::of("fast18"), &|| {}).expect("it can be fitted");
        self.devices += 1;
        self.fits += usize::from(found.fits());
        let page = hidden.config.flash.page_size.0;
        self.page += usize::from(found.inside.page == Some(page));
        let truth = &hidden.geometry;
        self.class += usize::from(found.inside.geometries.contains(truth));
        let best = found.inside.geometries.get(found.geometry);
        let same = |of: &dyn Fn(&_) -> u32| usize::from(best.map(of) == Some(of(truth)));
        self.channels += same(&|one| one.channels);
        self.dies += same(&|one| one.dies_per_channel());
        self.compare(&hidden, &found);
        self.commands += found.commands;
        if best.is_none_or(|best| best.channels != truth.channels) || !found.fits() {
            println!("seed {seed}: {} {:?}", hidden.sets.join(" "), found.inside);
        }
    }

    fn compare(&mut self, hidden: &Hidden, found: &DriveFit) {
        let reads = hidden.config.flash.read_time.iter().map(|time| time.0 as f64);
        let rate = std::iter::once(hidden.config.flash.channel_rate.0 as f64);
        let calibration = &found.calibration;
        let wanted = |key: &str| key.starts_with("flash.");
        let parameters = calibration.parameters.iter().enumerate();
        let fitted: Vec<usize> =
            parameters.filter(|(_, one)| wanted(&one.key)).map(|(at, _)| at).collect();
        let truth: Vec<f64> = reads.chain(rate).collect();
        self.values += truth.len();
        if fitted.len() != truth.len() {
            return;
        }
        for (at, truth) in fitted.into_iter().zip(truth) {
            let (value, interval) = (calibration.values[at], calibration.intervals[at]);
            self.near += usize::from((value / truth - 1.0).abs() < 0.05);
            self.inside += usize::from(interval.contains(truth));
            if !interval.contains(truth) {
                let key = &calibration.parameters[at].key;
                println!("{key}: {truth} is not in {interval:?}; {}", hidden.sets.join(" "));
            }
        }
    }
}

/// Runs seeds, and checks that what the issue wants holds for this share of them.
fn blind(seeds: std::ops::Range<u64>) {
    let mut score = Score::default();
    seeds.for_each(|seed| score.add(seed));
    println!("{score}");
    let most = |right: usize, of: usize, share: f64| right as f64 >= share * of as f64;
    assert!(most(score.page, score.devices, 0.95), "{score}");
    assert!(most(score.class, score.devices, 0.9), "{score}");
    assert!(most(score.channels, score.devices, 0.9), "{score}");
    assert!(most(score.dies, score.devices, 0.9), "{score}");
    assert!(most(score.near, score.values, 0.9), "{score}");
    assert!(most(score.inside, score.values, 0.9), "{score}");
}

#[test]
fn random_devices_are_found_by_reads() {
    blind(0..10);
}

#[test]
#[ignore = "takes minutes: `cargo test -p flashlane-fit --test blind -- --ignored`"]
fn a_hundred_random_devices_are_found_by_reads() {
    blind(100..200);
}
