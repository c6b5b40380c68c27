//! Random reads of a drive as new by a host whose software takes time, as measurements contain it.
//!
//! Each job has a core of its own. After a completion has reached the host (which takes a fixed
//! time), the core ends that request and submits the next one in its place, one after another. A
//! request lasts from its submission to its end at the core, as fio measures it.

use std::fmt;
use std::str::FromStr;

use flashlane::config::DeviceConfig;
use flashlane::drive::{Command, Drive, Tenant};
use flashlane::{Error, Time};
use flashlane_engine::Rng;
use serde::{Serialize, Serializer};

use super::figure::{Figure, Metric};

const SECTOR: u64 = 512;

/// Most jobs of a host.
const MOST_JOBS: u32 = 64;

/// Requests of a run for each outstanding one, and bounds of their sum.
const TURNS: u64 = 400;
const REQUESTS: (u64, u64) = (8_000, 100_000);

/// How the host reaches the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Software {
    /// The kernel, by `io_uring`.
    IoUring,
    /// A driver in the program that polls the drive, without the kernel.
    Spdk,
}

impl Software {
    const ALL: [Self; 2] = [Self::IoUring, Self::Spdk];

    fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io-uring",
            Self::Spdk => "spdk",
        }
    }

    /// Time of the core for a request. Fitted: 375,000 requests a second of one job by `io_uring`;
    /// SPDK is not the bottleneck of any figure. Unit: picoseconds.
    fn core(self) -> u64 {
        match self {
            Self::IoUring => 2_660_000,
            Self::Spdk => 1_000_000,
        }
    }

    /// Time in which a completion reaches the program. Fitted: latency at depth 1, which is 8.2 us
    /// longer than with SPDK. Unit: picoseconds.
    fn notice(self) -> u64 {
        match self {
            Self::IoUring => 6_500_000,
            Self::Spdk => 0,
        }
    }
}

/// The host of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// How it reaches the drive.
    pub software: Software,
    /// Jobs, each with a core of its own, which share the outstanding requests.
    pub jobs: u32,
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, jobs) = text.split_once(':').unwrap_or((text, "1"));
        let software = Software::ALL.into_iter().find(|one| one.name() == name);
        let jobs = jobs.parse().ok().filter(|jobs| (1..=MOST_JOBS).contains(jobs));
        software.zip(jobs).map(|(software, jobs)| Self { software, jobs }).ok_or_else(|| {
            format!(
                "found {text}, allowed: io-uring, spdk, io-uring:4 (four jobs, {MOST_JOBS} at most)"
            )
        })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.software.name())?;
        if self.jobs > 1 { write!(f, " with {} jobs", self.jobs) } else { Ok(()) }
    }
}

impl Serialize for Host {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}:{}", self.software.name(), self.jobs))
    }
}

/// What the host has seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Hosted {
    /// Latencies in rising order. Unit: microseconds.
    latencies: Vec<f64>,
    /// Unit: requests per second.
    rate: f64,
}

impl Hosted {
    /// Runs the reads of a figure.
    ///
    /// # Errors
    /// A device that the simulation refuses.
    pub(super) fn of(
        figure: &Figure,
        host: Host,
        device: &DeviceConfig,
        effort: f64,
    ) -> Result<Self, Error> {
        let mut drive = Drive::new(device, &[Tenant::named("one")], 1)?;
        let sectors = figure.size.0 / SECTOR;
        let places = drive.sectors(0) / sectors;
        let mut rng = Rng::stream(1, "hosted", 0);
        let mut read = || Command::read(rng.below(places) * sectors, sectors as u32);
        let jobs = u64::from(host.jobs);
        let (core, notice) = (host.software.core(), host.software.notice());
        let depth = u64::from(figure.depth);
        let all = (TURNS * depth).clamp(REQUESTS.0, REQUESTS.1) as f64 * effort;
        let all = (all as u64).max(8 * depth + 100);
        // The cookie of a request: its job. By job: when its core is free. By request: its start.
        let mut free: Vec<u64> = (0..jobs).map(|_| 0).collect();
        let mut begun: Vec<u64> = Vec::new();
        for number in 0..depth {
            let core_free = &mut free[(number % jobs) as usize];
            *core_free += core;
            begun.push(*core_free);
            submit(&mut drive, *core_free, read(), number)?;
        }
        let (mut done, mut latencies) = (Vec::new(), Vec::new());
        let (mut ended, mut first, mut last) = (0, 0, 0);
        while drive.step(&mut done)?.is_some() {
            for completion in done.drain(..) {
                let slot = completion.cookie;
                let core_free = &mut free[(slot % jobs) as usize];
                let end = (*core_free).max(completion.at().0 + notice) + core;
                *core_free = end;
                ended += 1;
                // The first turns fill the queues, and the last ones have fewer beside them.
                if ended > 4 * depth && ended <= all {
                    first = if latencies.is_empty() { end } else { first };
                    latencies.push((end - begun[slot as usize]) as f64 / 1e6);
                    last = end;
                }
                if ended < all {
                    begun[slot as usize] = end;
                    submit(&mut drive, end, read(), slot)?;
                }
            }
        }
        let rate = (latencies.len() - 1) as f64 / ((last - first) as f64 / 1e12);
        latencies.sort_by(f64::total_cmp);
        Ok(Self { latencies, rate })
    }

    /// The value of a figure.
    pub(super) fn value(&self, figure: &Figure) -> f64 {
        let share = |share: f64| {
            let rank = (share * self.latencies.len() as f64).ceil() as usize;
            self.latencies[rank.max(1) - 1]
        };
        match figure.metric {
            Metric::P50Us => share(0.5),
            Metric::P90Us => share(0.9),
            Metric::P99Us => share(0.99),
            Metric::P999Us => share(0.999),
            Metric::P9999Us => share(0.9999),
            Metric::P99999Us => share(0.99999),
            Metric::Kiops => self.rate / 1e3,
            Metric::GbPerS => self.rate * figure.size.0 as f64 / 1e9,
            Metric::MbPerS => self.rate * figure.size.0 as f64 / 1e6,
            _ => self.latencies.iter().sum::<f64>() / self.latencies.len() as f64,
        }
    }
}

fn submit(drive: &mut Drive, at: u64, command: Command, slot: u64) -> Result<(), Error> {
    let refused = |refused| Error::config("size", format!("{refused}"));
    drive.submit(Time(at), 0, command, slot).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::super::figure::Operation;
    use super::super::pattern::Pattern;
    use super::*;
    use flashlane::config::load::{self, Overrides};

    fn value(host: &str, depth: u32, metric: Metric) -> f64 {
        let sets = vec![
            "ftl.precondition.enabled=false".to_owned(),
            "ftl.unwritten_read=flash".to_owned(),
        ];
        let overrides = Overrides { sets, ..Overrides::default() };
        let device = load::device("zn540", &overrides).expect("a preset").config;
        let plain = Figure::of(Operation::Read, Pattern::Random, metric, 1.0);
        let figure = Figure { depth, ..plain };
        let host = host.parse().expect("a host");
        Hosted::of(&figure, host, &device, 0.2).expect("it runs").value(&figure)
    }

    #[test]
    fn a_core_bounds_the_rate_and_jobs_have_one_each() {
        let [one, four] = ["io-uring", "io-uring:4"].map(|host| value(host, 128, Metric::Kiops));
        assert!((one - 1e3 / 2.66).abs() < 2.0, "{one}");
        assert!(four > 1.1 * one, "{four}");
        let mean = value("io-uring", 128, Metric::MeanUs);
        assert!((mean / (128.0 * 2.66) - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn the_software_is_part_of_the_latency() {
        let [kernel, polled] = ["io-uring", "spdk"].map(|host| value(host, 1, Metric::MeanUs));
        assert!((kernel - polled - 8.16).abs() < 0.5, "{kernel} {polled}");
        assert!(value("spdk", 1, Metric::P99Us) > 0.999 * polled);
    }

    #[test]
    fn hosts_are_read() {
        assert_eq!("spdk".parse(), Ok(Host { software: Software::Spdk, jobs: 1 }));
        for text in ["", "spdk:0", "spdk:x", "libaio", "io-uring:65"] {
            let error = text.parse::<Host>().expect_err(text);
            assert!(error.contains("allowed: io-uring, spdk"), "{error}");
        }
    }
}
