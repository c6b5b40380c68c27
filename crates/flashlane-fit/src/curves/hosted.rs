//! Random reads by a host whose software takes time, as measurements contain it: those of all its
//! jobs, or those of one job beside neighbours.

use std::fmt;
use std::str::FromStr;

use flashlane::Error;
use flashlane::config::DeviceConfig;
use flashlane::drive::{Drive, DriveOptions, Tenant};
use serde::{Serialize, Serializer};

use super::figure::{Figure, Metric, Operation};
use super::machine::{Ended, Job, Machine, Next};
use super::neighbours::Neighbours;
use super::scaled;

/// Most jobs of a host.
const MOST_JOBS: u32 = 64;

/// Requests of a run for each outstanding one, and bounds of their sum.
const TURNS: u64 = 400;
const REQUESTS: (u64, u64) = (8_000, 100_000);

/// Requests of a job beside neighbours that count, and most requests of all jobs together.
const VICTIM_REQUESTS: f64 = 4_000.0;
const MOST_BESIDE: f64 = 1_000_000.0;

/// Requests for each outstanding one before those of the job beside neighbours count.
const WARM_TURNS: u64 = 20;

/// Data that neighbours write before that, as multiples of a block of every plane of every drive.
const WARM_ROUNDS: u64 = 4;

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
    pub(super) fn core(self) -> u64 {
        match self {
            Self::IoUring => 2_660_000,
            Self::Spdk => 1_000_000,
        }
    }

    /// Time in which a completion reaches the program. Fitted: latency at depth 1, which is 8.2 us
    /// longer than with SPDK. Unit: picoseconds.
    pub(super) fn notice(self) -> u64 {
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
    /// Beside neighbours: what they did.
    beside: Option<Beside>,
}

/// What neighbours did to a job.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Beside {
    /// Mean latency of the job by itself. Unit: microseconds.
    alone: f64,
    fault: Fault,
}

/// For what a request waited, in the mean. Unit: microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Fault {
    /// For work of the neighbours in the drive.
    pub neighbours: f64,
    /// For data of the neighbours on the link of the host.
    pub link: f64,
    /// For anything else in the drive.
    pub drive: f64,
}

impl Hosted {
    /// Runs the reads of a figure on a device; with neighbours, beside these and by themselves.
    ///
    /// # Errors
    /// A device that the simulation refuses.
    pub(super) fn of(
        figure: &Figure,
        host: Host,
        device: &DeviceConfig,
        effort: f64,
    ) -> Result<Self, Error> {
        let Some(neighbours) = figure.neighbours else {
            return Self::without(figure, host, device, effort);
        };
        let (mut hosted, fault) = Self::beside(figure, host, neighbours, device, effort)?;
        let alone = match neighbours.jobs {
            0 => hosted.mean(),
            _ => {
                let nobody = Neighbours { jobs: 0, ..neighbours };
                Self::beside(figure, host, nobody, device, effort)?.0.mean()
            }
        };
        hosted.beside = Some(Beside { alone, fault });
        Ok(hosted)
    }

    fn without(
        figure: &Figure,
        host: Host,
        device: &DeviceConfig,
        effort: f64,
    ) -> Result<Self, Error> {
        let drive = Drive::new(device, &[Tenant::named("one")], 1)?;
        let depth = u64::from(figure.depth);
        let count = u64::from(host.jobs).min(depth);
        let job = |number: u64| Job {
            operation: figure.operation,
            size: figure.size,
            depth: (depth - number).div_ceil(count),
            tenant: 0,
        };
        let mut machine =
            Machine::new(host.software, vec![drive], (0..count).map(job).collect(), None);
        let all = (TURNS * depth).clamp(REQUESTS.0, REQUESTS.1) as f64 * effort;
        let all = (all as u64).max(8 * depth + 100);
        let (mut seen, mut ended) = (Seen::default(), 0);
        machine.run(&mut |request| {
            ended += 1;
            // The first turns fill the queues.
            if ended > 4 * depth {
                seen.note(request);
            }
            if ended < all { Next::Submit } else { Next::Stop }
        })?;
        Ok(seen.hosted())
    }

    /// A job beside neighbours on the drives of a host, and for what it waited.
    fn beside(
        figure: &Figure,
        host: Host,
        neighbours: Neighbours,
        device: &DeviceConfig,
        effort: f64,
    ) -> Result<(Self, Fault), Error> {
        let tenants = [Tenant::named("victim"), Tenant::named("neighbours")];
        let options = DriveOptions { blame: true, ..DriveOptions::default() };
        let drives = (1..=u64::from(neighbours.drives))
            .map(|seed| Drive::with_options(device, &tenants, seed, &options))
            .collect::<Result<Vec<_>, _>>()?;
        let victim = Job {
            operation: figure.operation,
            size: figure.size,
            depth: u64::from(figure.depth),
            tenant: 0,
        };
        let other = Job {
            operation: neighbours.operation,
            size: neighbours.size,
            depth: u64::from(neighbours.depth),
            tenant: 1,
        };
        let others = (0..neighbours.jobs).map(|_| other);
        let jobs = std::iter::once(victim).chain(others).collect();
        let link = (neighbours.host_gb_per_s * 1e9) as u64;
        let mut machine = Machine::new(host.software, drives, jobs, Some(link));
        let wanted = (VICTIM_REQUESTS * effort).max(100.0) as usize;
        let outstanding = neighbours.jobs * neighbours.depth + figure.depth;
        let warm = u64::from(outstanding) * WARM_TURNS + neighbours.warm_writes(device);
        let most = (MOST_BESIDE * effort) as u64 + warm;
        let (mut seen, mut ended) = (Seen::default(), 0);
        machine.run(&mut |request| {
            ended += 1;
            if ended > warm && request.job == 0 {
                seen.note(request);
            }
            let enough = seen.latencies.len() >= wanted;
            let over = ended >= most && seen.latencies.len() >= 100;
            if enough || over { Next::Stop } else { Next::Submit }
        })?;
        let link = seen.link_wait as f64 / 1e6 / seen.latencies.len() as f64;
        let fault = Fault { link, ..waits(machine.drives())? };
        Ok((seen.hosted(), fault))
    }

    /// For what a request of the job waited; `None` without neighbours.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.beside.map(|beside| beside.fault)
    }

    fn mean(&self) -> f64 {
        self.latencies.iter().sum::<f64>() / self.latencies.len() as f64
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
            Metric::Slowdown => self.beside.map_or(1.0, |beside| self.mean() / beside.alone),
            _ => self.mean(),
        }
    }
}

impl Neighbours {
    /// Writes after which collection has come round on every drive.
    fn warm_writes(&self, device: &DeviceConfig) -> u64 {
        match self.operation {
            Operation::Write if self.jobs > 0 => {
                let blocks = scaled::units_of_blocks(device) * device.unit().0;
                WARM_ROUNDS * u64::from(self.drives) * blocks / self.size.0
            }
            _ => 0,
        }
    }
}

/// Latencies of requests.
#[derive(Default)]
struct Seen {
    /// Unit: microseconds.
    latencies: Vec<f64>,
    /// Unit: picoseconds.
    first: u64,
    /// Unit: picoseconds.
    last: u64,
    /// Sum. Unit: picoseconds.
    link_wait: u64,
}

impl Seen {
    fn note(&mut self, request: Ended) {
        if self.latencies.is_empty() {
            self.first = request.end;
        }
        self.latencies.push((request.end - request.begun) as f64 / 1e6);
        self.last = request.end;
        self.link_wait += request.link_wait;
    }

    fn hosted(mut self) -> Hosted {
        let time = (self.last - self.first) as f64 / 1e12;
        let rate = (self.latencies.len() - 1) as f64 / time;
        self.latencies.sort_by(f64::total_cmp);
        Hosted { latencies: self.latencies, rate, beside: None }
    }
}

/// For what the first tenant of the drives waited in them.
fn waits(drives: &mut [Drive]) -> Result<Fault, Error> {
    let (mut neighbours, mut all, mut requests) = (0, 0, 0);
    for drive in drives {
        let blame = drive.blame()?.expect("the drives keep it");
        let victim = &blame.victims[0];
        requests += victim.requests;
        all += victim.waiting_ps;
        neighbours += victim.by_culprit("neighbours");
    }
    let mean = |ps: u128| ps as f64 / 1e6 / requests.max(1) as f64;
    Ok(Fault { neighbours: mean(neighbours), link: 0.0, drive: mean(all - neighbours) })
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
