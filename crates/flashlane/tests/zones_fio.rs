//! Jobs of fio with `zonemode=zbd` on a drive with zones: the drive refuses none of their commands,
//! and its counts are those of the jobs.

use std::path::Path;

use crate::zones::{PAGES, device};
use flashlane::config::validate::{validate, warnings};
use flashlane::config::{DeviceConfig, WorkloadConfig, fio_job};
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate};
use flashlane_units::Ratio;

/// A drive with zones that are larger than their capacity.
fn with_holes() -> DeviceConfig {
    device(&PAGES.replace("max_active = 5", "max_active = 5, size = \"2MiB\""))
}

fn workload(text: &str, occupancy: f64) -> WorkloadConfig {
    let mut all = fio_job::parse(Path::new("job.fio"), text).expect("a valid job");
    let mut workload = all.remove(0).0;
    for flow in &mut workload.flows {
        flow.occupancy = Some(Ratio(occupancy));
    }
    workload
}

/// Runs a job; the run ends with an error if the drive refuses a command.
fn run(device: &DeviceConfig, text: &str, occupancy: f64) -> Summary {
    let workload = workload(text, occupancy);
    assert_eq!(validate(device, &workload), [], "{text}");
    let options = RunOptions { seed: 3, check: true, ..RunOptions::default() };
    let outcome = simulate(device, &workload, &options, &|_| {});
    outcome.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The messages about a job on a drive.
fn refused(device: &DeviceConfig, keys: &str) -> Vec<String> {
    let text = format!("[a]\n{}", keys.replace(' ', "\n"));
    let problems = validate(device, &workload(&text, 0.0));
    problems.into_iter().map(|one| format!("{}: {}", one.place, one.message)).collect()
}

/// A job with `zonemode=zbd`, eight requests at a time.
fn zbd(keys: &str) -> String {
    let keys = keys.replace(' ', "\n");
    format!("[a]\nzonemode=zbd\nioengine=libaio\niodepth=8\nbs=64k\n{keys}\n")
}

/// Kinds of jobs, each on a part of the drive.
const JOBS: [&str; 13] = [
    "rw=randwrite size=8z max_open_zones=3 loops=6",
    "rw=write size=6z offset=1z",
    "rw=write size=4z loops=3 bs=20k",
    "rw=randwrite size=6z loops=2",
    "rw=randwrite size=6z max_open_zones=1",
    "rw=randwrite size=8z max_open_zones=3 job_max_open_zones=1 loops=2 numjobs=3 filename=/dev/nvme0n1",
    "rw=read size=5z",
    "rw=randread size=50%",
    "rw=randrw size=6z loops=3 fsync=7",
    "rw=rw size=6z loops=2 read_beyond_wp=1 thinktime=20",
    "rw=write numjobs=2 offset_increment=3z size=3z filename=/dev/nvme0n1 loops=2",
    "rw=randwrite bsrange=4k-200k size=6z loops=2 rate=400m",
    "rw=randrw size=100% io_size=20m percentage_random=60",
];

#[test]
fn a_drive_refuses_no_command_of_a_job() {
    let devices = [device(PAGES), with_holes()];
    for device in &devices {
        for job in JOBS {
            for occupancy in [0.0, 0.5, 1.0] {
                let summary = run(device, &zbd(job), occupancy);
                let requests = &summary.flows[0].requests;
                let done = requests.read + requests.write;
                assert!(done > 20, "{job}: {requests:?}");
                let is_read =
                    !job.contains("write") && !job.contains("rw=rw") && !job.contains("randrw");
                assert_eq!(requests.zone == 0, is_read, "{job}: only writers reset zones");
                assert_eq!(summary.flash.gc_reads, 0, "a drive with zones copies nothing");
            }
        }
    }
}

#[test]
fn tenants_share_the_open_zones() {
    let reader = "[reader]\nrw=randread\nbs=4k\nsize=2z\nzonemode=zbd\n";
    let text = format!("{}numjobs=2\n{reader}", zbd("rw=randwrite size=3z loops=4"));
    let summary = run(&device(PAGES), &text, 1.0);
    assert_eq!(summary.flows.len(), 3);
    assert!(summary.flows[..2].iter().all(|flow| flow.requests.zone >= 12), "each zone, each pass");
}

#[test]
fn streams_reset_each_zone_once_a_pass() {
    let requests = |keys: &str| run(&device(PAGES), &zbd(keys), 1.0).flows[0].requests;
    let found = requests("rw=write size=4z loops=3");
    // A zone of 1 MiB takes 16 writes of 64 KiB.
    assert_eq!((found.write, found.zone), (3 * 4 * 16, 3 * 4));
    let odd = requests("rw=write size=4z bs=100k");
    assert_eq!((odd.write, odd.zone), (4 * 10, 4 + 4), "the rest of a zone is finished");
    let trims = requests("rw=randtrim size=4z bs=1m");
    assert_eq!((trims.trim, trims.zone), (0, 4), "a trim is the reset of a zone");
    let both = requests("rw=randtrimwrite size=4z bs=1m");
    assert_eq!((both.trim, both.zone), (0, 4));
}

#[test]
fn a_job_has_to_fit_the_zones_of_the_drive() {
    let drive = device(PAGES);
    let on_zones = |keys: &str| refused(&drive, &format!("zonemode=zbd rw=randwrite {keys}"));
    assert_eq!(on_zones("size=4z zonesize=1m zonecapacity=1m"), [""; 0]);
    let job = "flow[0].synthetic.fio";
    let cases = [
        ("size=4z zonesize=2m", ".zbd.size: found 2MiB, allowed: 1MiB, as the zones of the drive"),
        ("size=4z zonecapacity=512k", ".zbd.capacity: found 512KiB, allowed: 1MiB"),
        ("size=4z max_open_zones=4", ".zbd.max_open: found 4, allowed: 1 (one for each file"),
        ("size=4z bs=2k", ".write.smallest: found writes of 2KiB, allowed: multiples of 4KiB"),
        ("size=512k", ": found an offset and a size without a whole zone, allowed: a part of the"),
    ];
    for (keys, expected) in cases {
        let found = on_zones(keys);
        assert_eq!(found.len(), 1, "{keys}: {found:?}");
        assert!(found[0].starts_with(&format!("{job}{expected}")), "{keys}: {found:?}");
    }
    assert_eq!(on_zones("size=4z max_open_zones=5 ignore_zone_limits=1"), [""; 0]);
    let trims = refused(&drive, "zonemode=zbd rw=trim size=4z bs=64k");
    assert!(trims[0].contains("found trims of 64KiB, allowed: bs=1048576 (a zone)"), "{trims:?}");
    let many = "zonemode=zbd rw=write size=6z nrfiles=6";
    let found = refused(&drive, many);
    assert!(found[0].starts_with("placement.zones.max_active: found 5, allowed: 6"), "{found:?}");
}

#[test]
fn a_drive_without_zones_does_what_it_does_without_the_key() {
    let plain = device("base = \"tiny\"");
    let jobs = |mode: &str| format!("[a]\nrw=randwrite\nsize=2m\n{mode}");
    let run = |text: &str| run(&plain, text, 0.5).flows[0].requests;
    assert_eq!(run(&jobs("zonemode=zbd\n")), run(&jobs("")));
    let found = warnings(&plain, &workload(&jobs("zonemode=zbd\n"), 0.5));
    let expected = "flow \"a\": zonemode=zbd has no effect: this drive has no zones";
    assert!(found.iter().any(|one| one.starts_with(expected)), "{found:?}");
    let zones = refused(&plain, "zonemode=zbd size=4z");
    assert_eq!(zones.len(), 1);
    assert!(zones[0].contains(".size: found 4 zones on a drive without zones"), "{zones:?}");
    assert_eq!(refused(&plain, "zonemode=zbd size=4z zonesize=64k"), [""; 0]);
}
