//! Random devices whose configuration only the test knows, measured as black boxes and fitted.

use std::fmt;

use crate::hidden::Hidden;
use flashlane_engine::{Rng, Time};
use flashlane_fit::drive::{DriveFit, Request, fit};
use flashlane_probe::battery::Probe;
use flashlane_probe::structure::Buffer;
use flashlane_probe::{self as probe, Battery, Progress, Series, Simulated, Target};

struct Quiet;

impl Progress for Quiet {
    fn starts(&mut self, _: &Probe, _: usize, _: usize) {}
    fn kept(&mut self, _: &Probe) {}
    fn skipped(&mut self, _: &Probe, _: &str) {}
}

/// How often something was right, of how many.
#[derive(Default)]
struct Share {
    right: usize,
    of: usize,
}

impl Share {
    fn add(&mut self, right: bool) {
        self.right += usize::from(right);
        self.of += 1;
    }

    fn is_at_least(&self, share: f64) -> bool {
        self.right as f64 >= share * self.of as f64
    }
}

/// The results that are counted, with the share of each that has to be right.
const COUNTED: [(&str, f64); 15] = [
    ("fits", 0.9),
    ("page", 0.95),
    ("class of geometries", 0.9),
    ("channels", 0.95),
    ("dies of a channel", 0.95),
    ("write buffer", 0.95),
    ("pages of a block", 0.9),
    ("tR, tPROG, tBERS and bus rate within 5 %", 0.9),
    ("their intervals", 0.9),
    ("over-provisioning within 10 %", 0.9),
    ("its interval", 0.9),
    // Which kind a page is of, where there are several, nobody can tell that did not read it.
    ("held-back reads of one kind: 90 % within 10 %", 0.9),
    ("held-back reads: p50, p90 and p99 within 10 %", 0.9),
    ("held-back mix: mean within 5 %", 0.9),
    ("held-back mix: p99 within 10 %", 0.9),
];

/// Results of some devices that were right.
#[derive(Default)]
struct Score {
    shares: [Share; COUNTED.len()],
    devices: u64,
    commands: u64,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} commands a device", self.commands / self.devices.max(1))?;
        for ((name, _), share) in COUNTED.iter().zip(&self.shares) {
            write!(f, "; {name} {}/{}", share.right, share.of)?;
        }
        Ok(())
    }
}

impl Score {
    fn join(&mut self, other: &Self) {
        self.devices += other.devices;
        self.commands += other.commands;
        for (share, other) in self.shares.iter_mut().zip(&other.shares) {
            share.right += other.right;
            share.of += other.of;
        }
    }

    fn count(&mut self, name: &str, right: bool) {
        let at = COUNTED.iter().position(|(other, _)| *other == name).expect("it is counted");
        self.shares[at].add(right);
    }

    fn add(&mut self, seed: u64) {
        let hidden = Hidden::random(seed);
        let mut drive = Simulated::new(&hidden.config, 99 + seed, true).expect("it is allowed");
        let battery =
            Battery { overwrite: false, destroy_data: true, only: &[], budget: None, seed };
        let data = battery.run(&mut drive, None, &mut Quiet).expect("it runs");
        let found = fit(&data, &Request::of("fast18"), &|| {}).expect("it can be fitted");
        self.devices += 1;
        self.commands += found.commands;
        self.count("fits", found.fits());
        let page = hidden.config.flash.page_size.0;
        self.count("page", found.inside.page == Some(page));
        let truth = &hidden.geometry;
        self.count("class of geometries", found.inside.geometries.contains(truth));
        let best = found.inside.geometries.get(found.geometry);
        let same = |of: &dyn Fn(&_) -> u32| best.map(of) == Some(of(truth));
        self.count("channels", same(&|one| one.channels));
        self.count("dies of a channel", same(&|one| one.dies_per_channel()));
        let buffer = Buffer::Bytes(hidden.config.cache.capacity.0);
        self.count("write buffer", found.written.buffer == Some(buffer));
        let block = found.written.programs.as_ref().and_then(|one| one.pages_per_block);
        self.count(
            "pages of a block",
            block == Some(u64::from(hidden.config.flash.pages_per_block)),
        );
        self.times(&hidden, &found);
        self.spare(&hidden, &found, data.facts.bytes);
        self.predicted(&mut drive, &found, seed);
        if !found.fits() || block.is_none() || found.written.spare.is_none() {
            println!("seed {seed}: {} {:?}", hidden.sets.join(" "), found.sets);
        }
    }

    /// Times and rates.
    fn times(&mut self, hidden: &Hidden, found: &DriveFit) {
        let flash = &hidden.config.flash;
        let truth = |key: &str| match key.rsplit_once('.')? {
            ("flash.read_time", at) => {
                Some(flash.read_time.get(at.parse::<usize>().ok()?)?.0 as f64)
            }
            ("flash.program_time", at) => {
                Some(flash.program_time.get(at.parse::<usize>().ok()?)?.0 as f64)
            }
            ("flash", "channel_rate") => Some(flash.channel_rate.0 as f64),
            _ => None,
        };
        let calibrations = [Some(&found.calibration), found.written.calibration.as_ref()];
        let mut left = 2 * flash.read_time.len() + 1;
        for calibration in calibrations.into_iter().flatten() {
            for (at, parameter) in calibration.parameters.iter().enumerate() {
                let Some(truth) = truth(&parameter.key) else { continue };
                let (value, interval) = (calibration.values[at], calibration.intervals[at]);
                self.count(COUNTED[7].0, (value / truth - 1.0).abs() < 0.05);
                self.count(COUNTED[8].0, interval.contains(truth));
                left = left.saturating_sub(1);
                if !interval.contains(truth) {
                    println!("{}: {truth} is not in {interval:?}", parameter.key);
                }
            }
        }
        // Results that were not found count as wrong.
        (0..left).for_each(|_| self.count(COUNTED[7].0, false));
        let erase = found.written.programs.as_ref().and_then(|one| one.erase_us);
        let truth = flash.erase_time.0 as f64 / 1e6;
        self.count(COUNTED[7].0, erase.is_some_and(|us| (us / truth - 1.0).abs() < 0.05));
    }

    /// Work that was held back: reads, and a mix with writes and collection.
    fn predicted(&mut self, drive: &mut Simulated, found: &DriveFit, seed: u64) {
        let (bytes, kinds) = (found.bytes, found.inside.levels.len());
        // A drive serves 300 reads of 4 KiB a second and plane, and a tenth of the writes, easily.
        let planes = found.inside.geometries.get(found.geometry).map_or(1, |one| one.all_planes());
        for (name, writes, us) in [("reads", 0, 4000 / planes), ("mix", 30, 30_000 / planes)] {
            let mut random = Rng::stream(seed, name, 0);
            let (mut requests, mut at, mut now) = (Vec::new(), Vec::new(), 0);
            for _ in 0..8000 {
                now += random.below(2 * us.max(1) * 1_000_000);
                let offset = random.below(bytes / 4096) * 4096;
                requests.push(match random.below(100) < writes {
                    true => probe::Request::write(offset, 4096),
                    false => probe::Request::read(offset, 4096),
                });
                at.push(Time(now));
            }
            drive.reset().expect("it can be made again");
            let measured = Series::open(name, requests, at).run(drive).expect("it runs");
            let found = found.validate(&measured, &Request::of("fast18")).expect("it runs");
            let error = |name: &str| {
                let of = found.latencies.iter().find(|one| one.name == name);
                of.expect("it is compared").error().abs()
            };
            if writes == 0 {
                if kinds == 1 {
                    self.count("held-back reads of one kind: 90 % within 10 %", found.near >= 0.9);
                }
                let near = ["p50", "p90", "p99"].iter().all(|name| error(name) < 0.1);
                self.count("held-back reads: p50, p90 and p99 within 10 %", near);
            } else {
                self.count("held-back mix: mean within 5 %", error("mean") < 0.05);
                self.count("held-back mix: p99 within 10 %", error("p99") < 0.1);
            }
        }
    }

    fn spare(&mut self, hidden: &Hidden, found: &DriveFit, bytes: u64) {
        let flash = &hidden.config.flash;
        let pages = hidden.geometry.all_planes()
            * u64::from(flash.blocks_per_plane)
            * u64::from(flash.pages_per_block);
        let truth = (pages * flash.page_size.0) as f64 / bytes as f64 - 1.0;
        let spare = found.written.spare.as_ref();
        let near = spare.is_some_and(|one| (one.over_provisioning / truth - 1.0).abs() < 0.1);
        self.count("over-provisioning within 10 %", near);
        let inside = spare.is_some_and(|one| one.interval.contains(truth));
        self.count("its interval", inside);
        if !near || !inside {
            println!("over-provisioning {truth}: {spare:?}; {}", hidden.sets.join(" "));
        }
    }
}

/// Both halves at the same time.
fn half_and_half(half: impl Fn(u64) -> Score + Sync) -> Score {
    std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        let mut all = half(0);
        all.join(&odd.join().expect("it ends"));
        all
    })
}

/// Runs seeds, and checks that what the issue wants holds for this share of them.
fn blind(seeds: std::ops::Range<u64>) {
    // The odd ones beside the even ones.
    let half = |from: u64| {
        let mut score = Score::default();
        (seeds.start + from..seeds.end).step_by(2).for_each(|seed| score.add(seed));
        score
    };
    let score = half_and_half(half);
    println!("{score}");
    for ((name, wanted), share) in COUNTED.iter().zip(&score.shares) {
        assert!(share.is_at_least(*wanted), "{name}: {score}");
    }
}

#[test]
fn random_devices_are_found() {
    blind(0..6);
}

#[test]
#[ignore = "takes minutes: `cargo test -p flashlane-fit --test quick blind:: -- --ignored`"]
fn a_hundred_random_devices_are_found() {
    blind(100..200);
}
