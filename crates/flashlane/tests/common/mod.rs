//! Runs a device and a workload given as TOML text, with keys changed one by one.

// Every test file uses a part of it.
#![allow(dead_code)]

use flashlane::config::bounds::Capacity;
use flashlane::config::load::{Overrides, device_from_toml, workload_from_toml};
use flashlane::config::validate::{validate, validate_device};
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::drive::{Command, Completion, Drive, DriveOptions, Tenant};
use flashlane::metrics::{FlashSummary, Summary};
use flashlane::observe::Blame;
use flashlane::{RunOptions, Time, simulate, simulate_in_detail};

/// Three channels of two chips, one die of two planes each; small enough to fill.
pub(crate) const SMALL_DRIVE: &str = r#"
name = "small"
[ftl]
over_provisioning = "28%"
[flash]
technology = "slc"
channels = 3
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// A drive that nothing limits but its flash. `ftl`: keys of its section. `array`: channels, chips
/// of a channel, dies of a chip, planes of a die. `blocks`: blocks of a plane, pages of a block.
pub(crate) fn flash_only(ftl: &str, array: [u32; 4], blocks: [u32; 2], page_size: &str) -> String {
    let ([channels, chips, dies, planes], [blocks, pages]) = (array, blocks);
    format!(
        r#"
name = "flash only"
[link]
lanes = 32
lane_bandwidth = "1000GB/s"
[interface]
firmware_time = "0ns"
fetch_ahead = 65535
queue_fetch_size = 65535
[ftl]
{ftl}
[ftl.gc]
threshold = "4 blocks"
hard_threshold = "2 blocks"
[flash]
technology = "slc"
channels = {channels}
chips_per_channel = {chips}
dies_per_chip = {dies}
planes_per_die = {planes}
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_size = "{page_size}"
channel_rate = "800MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#
    )
}

/// A tenant with its use of the data cache (`cache`), and the keys of its synthetic source.
pub(crate) fn tenant(name: &str, cache: &str, keys: &str) -> String {
    format!(
        r#"
[[flow]]
name = "{name}"
cache = "{cache}"
[flow.synthetic]
{keys}
"#
    )
}

/// Uniform random writes of 4 KiB past the cache, one request.
pub(crate) fn random_writes(queue_depth: u32) -> String {
    format!(
        r#"
[[flow]]
name = "writes"
cache = "off"
[flow.synthetic]
queue_depth = {queue_depth}
size = "4KiB"
align = "4KiB"
requests = 1
"#
    )
}

/// Two tenants that do everything: one through the cache with parts of pages and flushes, one past
/// it with trims. `requests`: of each.
pub(crate) fn mixed(requests: u32) -> String {
    format!(
        r#"
[[flow]]
name = "cached"
cache = "write-read"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.4
size = "8KiB"
align = "512B"
flush_ratio = 0.02
requests = {requests}
[[flow]]
name = "past"
cache = "off"
[flow.synthetic]
queue_depth = 8
read_ratio = 0.3
trim_ratio = 0.1
size = "4KiB"
align = "4KiB"
requests = {requests}
"#
    )
}

/// One die of one plane, empty. Commands take 1 ns and data of a page 1024 ns; the front of the
/// drive takes no time that differs between requests.
pub(crate) const ONE_DIE: &str = r#"
name = "one die"
[cache]
capacity = "0B"
[interface]
firmware_time = "0ns"
[link]
lane_bandwidth = "100GB/s"
[ftl]
over_provisioning = "28%"
[ftl.precondition]
enabled = false
[flash]
technology = "slc"
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
channel_rate = "4000MT/s"
command_time = "1ns"
read_time = ["40us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// Completions of commands on [`ONE_DIE`] with their arrivals, in order of the commands. `sets`:
/// keys of the device.
pub(crate) fn completions_of_one_die(
    sets: &[&str],
    commands: &[(u64, Command)],
) -> Vec<Completion> {
    let sets = sets.iter().map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device_from_toml(ONE_DIE, "device", &overrides).expect("valid").config;
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    let mut drive =
        Drive::with_options(&device, &[Tenant::named("one")], 1, &options).expect("a drive");
    for (cookie, &(at, command)) in (0..).zip(commands) {
        drive.submit(Time(at), 0, command, cookie).expect("it is accepted");
    }
    let mut done = Vec::new();
    drive.advance(Time::from_s(1), &mut done).expect("everything ends");
    assert_eq!(done.len(), commands.len(), "everything is completed");
    done.sort_by_key(|completion| completion.cookie);
    done
}

/// Logical pages, and valid share of the blocks that are neither free nor open: the collection
/// keeps `threshold` blocks free, and one host and one collection frontier are open on each plane.
/// With small mapping units, pages are units.
pub(crate) fn utilisation(scenario: &Scenario) -> (u64, f64) {
    let (device, workload) = scenario.load();
    let layout = workload.layout(&device);
    let capacity = Capacity::new(&layout);
    let geometry = layout.geometry;
    let threshold = device.ftl.gc.threshold.blocks(geometry.blocks_per_plane);
    let outside = u64::from(capacity.planes * (threshold + 2) * geometry.pages_per_block);
    let rho = layout.logical_pages as f64 / (capacity.pages - outside) as f64;
    (layout.logical_pages, rho)
}

/// A scenario: texts plus `key=value` changes, as `--set` takes them.
#[derive(Clone)]
pub(crate) struct Scenario {
    device: String,
    workload: String,
    sets: Vec<String>,
    pub(crate) options: RunOptions,
}

impl Scenario {
    /// The two texts as they are. Runs are audited.
    pub(crate) fn new(device: &str, workload: &str) -> Self {
        let options = RunOptions { check: true, ..RunOptions::default() };
        Self { device: device.to_owned(), workload: workload.to_owned(), sets: Vec::new(), options }
    }

    /// Changes one key of the device, or of the workload where it starts with `flow`.
    #[must_use]
    pub(crate) fn set(&self, key: &str, value: impl std::fmt::Display) -> Self {
        let mut changed = self.clone();
        changed.sets.push(format!("{key}={value}"));
        changed
    }

    /// This scenario with another seed.
    #[must_use]
    pub(crate) fn seed(&self, seed: u64) -> Self {
        let mut changed = self.clone();
        changed.options.seed = seed;
        changed
    }

    /// The configurations.
    pub(crate) fn parsed(&self) -> (DeviceConfig, WorkloadConfig) {
        let overrides = Overrides { sets: self.sets.clone(), ..Overrides::default() };
        let device = device_from_toml(&self.device, "device", &overrides)
            .unwrap_or_else(|error| panic!("{error}"))
            .config;
        let workload = workload_from_toml(&self.workload, "workload", &overrides)
            .unwrap_or_else(|error| panic!("{error}"))
            .config;
        (device, workload)
    }

    /// The configurations, checked.
    pub(crate) fn load(&self) -> (DeviceConfig, WorkloadConfig) {
        let (device, workload) = self.parsed();
        let problems = validate(&device, &workload);
        assert!(problems.is_empty(), "{problems:?}");
        (device, workload)
    }

    /// Runs it; the error where the device cannot finish the work.
    pub(crate) fn try_run(&self) -> Result<Summary, flashlane::Error> {
        let (device, workload) = self.load();
        simulate(&device, &workload, &self.options, &|_| {})
    }

    /// Runs it.
    pub(crate) fn run(&self) -> Summary {
        let summary = self.try_run().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(summary.requests_completed, summary.requests_generated);
        summary
    }

    /// Runs it with blame.
    pub(crate) fn blamed(&self) -> (Summary, Blame) {
        let mut watched = self.clone();
        watched.options.observe.blame = true;
        let (device, workload) = watched.load();
        let run = simulate_in_detail(&device, &workload, &watched.options, &|_| {});
        let (summary, details) = run.expect("it ends");
        (summary, details.blame.expect("it was asked for"))
    }
}

/// Flash operations of the whole run: before, inside and after the window. Fields that are not
/// counts are left out.
pub(crate) fn whole_run(summary: &Summary) -> FlashSummary {
    let parts = [&summary.before_window.flash, &summary.flash, &summary.after_window.flash];
    let sum = |of: fn(&FlashSummary) -> u64| parts.iter().map(|part| of(part)).sum::<u64>();
    let user_programs = sum(|f| f.user_programs);
    let programs = user_programs + sum(|f| f.gc_programs) + sum(|f| f.mapping_programs);
    FlashSummary {
        user_reads: sum(|f| f.user_reads),
        zero_fill_reads: sum(|f| f.zero_fill_reads),
        user_programs,
        gc_reads: sum(|f| f.gc_reads),
        gc_programs: sum(|f| f.gc_programs),
        mapping_reads: sum(|f| f.mapping_reads),
        mapping_programs: sum(|f| f.mapping_programs),
        erases: sum(|f| f.erases),
        wear_leveling_moves: sum(|f| f.wear_leveling_moves),
        read_scrubbing_moves: sum(|f| f.read_scrubbing_moves),
        copybacks: sum(|f| f.copybacks),
        multiplane_commands: sum(|f| f.multiplane_commands),
        interleaved_commands: sum(|f| f.interleaved_commands),
        program_suspends: sum(|f| f.program_suspends),
        erase_suspends: sum(|f| f.erase_suspends),
        gc_invocations: sum(|f| f.gc_invocations),
        full_merges: sum(|f| f.full_merges),
        partial_merges: sum(|f| f.partial_merges),
        switch_merges: sum(|f| f.switch_merges),
        write_amplification: programs as f64 / user_programs.max(1) as f64,
        ..FlashSummary::default()
    }
}

/// The problems of a device after these keys were set: a line for each of them, which begins
/// with its place.
pub(crate) fn problems(device: &str, sets: &[&str]) -> Vec<String> {
    let sets = sets.iter().map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device_from_toml(device, "device", &overrides).expect("well-formed").config;
    validate_device(&device).iter().map(|p| format!("{}: {}", p.place, p.message)).collect()
}

/// A scenario with both kinds of pacing and of allocation, watched for blame and energy.
pub(crate) fn watched_in_four_ways(base: &Scenario) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for pacing in ["burst", "proportional"] {
        for allocation in ["cwdp", "dynamic"] {
            let mut scenario = base.set("ftl.gc.pacing", pacing).set("ftl.allocation", allocation);
            scenario.options.observe.blame = true;
            scenario.options.observe.energy = true;
            scenarios.push(scenario);
        }
    }
    scenarios
}

/// Runs several scenarios on two threads; results in order.
pub(crate) fn run_all(scenarios: &[Scenario]) -> Vec<Summary> {
    let half = scenarios.len() / 2;
    let run = |part: &[Scenario]| part.iter().map(Scenario::run).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| run(&scenarios[..half]));
        let second = run(&scenarios[half..]);
        let mut all = first.join().expect("the runs finish");
        all.extend(second);
        all
    })
}
