//! Tests of fio job files.

use super::*;
use crate::{
    AddressConfig, FioConfig, FioDistribution, FioExtent, FioFileOrder, FioRw, Priority,
    SizeConfig, SyntheticConfig, validate,
};
use flashlane_device::cache::config::CacheMode;
use flashlane_units::{ByteSize, Ratio, Span};

fn scenarios(text: &str) -> Vec<Parsed> {
    parse(Path::new("job.fio"), text).unwrap_or_else(|error| panic!("{error}"))
}

/// The only scenario, with its places and warnings.
pub(super) fn parsed(text: &str) -> (WorkloadConfig, Places, Vec<String>) {
    let mut all = scenarios(text);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The synthetic part of the only job.
fn one(keys: &str) -> SyntheticConfig {
    let text = format!("[job]\n{}", keys.replace(' ', "\n"));
    let (config, places, warnings) = parsed(&text);
    let loaded = crate::load::Loaded { config, places, warnings };
    validate::check_workload(&loaded).unwrap_or_else(|error| panic!("{text}: {error}"));
    let [flow] = &loaded.config.flows[..] else { panic!("one flow") };
    flow.synthetic.clone().expect("a synthetic flow")
}

/// The only job, in fio's terms.
pub(super) fn job(keys: &str) -> FioConfig {
    *one(keys).fio.expect("a job")
}

/// The warnings about the only job.
pub(super) fn warned(keys: &str) -> Vec<String> {
    parsed(&format!("[job]\n{}", keys.replace(' ', "\n"))).2
}

pub(super) fn problems(text: &str) -> String {
    parse(Path::new("job.fio"), text).expect_err("a problem").to_string()
}

#[test]
fn sections_become_flows_under_their_globals() {
    let text = "; comment\n[global]\nrw=randread\nbs=4k\nruntime=10\ntime_based\niodepth=8\nioengine=libaio\n\
        direct=1\n\n[reader]\n[writer]\nrw=randwrite\nbs=64k\nprioclass=1\n# more\n[global]\nbs=8k\n[third]\nnumjobs=2\n";
    let (config, ..) = parsed(text);
    let names: Vec<&str> = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(
        (config.name.as_str(), names),
        ("job", vec!["reader", "writer", "third.0", "third.1"])
    );
    let of = |index: usize| config.flows[index].synthetic.clone().expect("a synthetic flow");
    assert_eq!((of(0).read_ratio, of(1).read_ratio), (Ratio(1.0), Ratio(0.0)));
    assert_eq!((of(0).queue_depth, of(0).duration), (Some(8), Some(Span(10_000_000_000_000))));
    assert_eq!(of(0).requests, None, "the time alone ends it");
    assert_eq!(of(1).size, SizeConfig::Fixed(ByteSize(64 << 10)));
    assert_eq!(of(3).size, SizeConfig::Fixed(ByteSize(8 << 10)), "a later global section");
    assert_eq!(
        (config.flows[0].priority, config.flows[1].priority),
        (Priority::Medium, Priority::Urgent)
    );
}

#[test]
fn patterns_and_mixes() {
    let end = "number_ios=5";
    let of = |keys: &str| one(&format!("{keys} {end}"));
    assert_eq!(of("").read_ratio, Ratio(1.0), "fio reads unless told otherwise");
    assert_eq!(of("rw=rw").read_ratio, Ratio(0.5));
    assert_eq!(of("rw=randrw rwmixread=70").read_ratio, Ratio(0.7));
    assert_eq!(of("rw=randrw rwmixwrite=10").read_ratio, Ratio(0.9));
    assert_eq!(of("readwrite=randtrim").trim_ratio, Ratio(1.0));
    assert_eq!(of("rw=write").address, AddressConfig::Streaming);
    assert_eq!(of("rw=randwrite").address, AddressConfig::Uniform);
    let AddressConfig::Mixed(mixed) = of("rw=randread percentage_random=30").address else {
        panic!("mixed")
    };
    assert_eq!(mixed.streaming, Ratio(0.7));
    let AddressConfig::Zipf(zipf) = of("rw=randread bs=8k random_distribution=zipf:1.2").address
    else {
        panic!("Zipf")
    };
    assert_eq!((zipf.theta, zipf.extent), (1.2, ByteSize(8192)));
    let zoned = of("rw=randread random_distribution=zoned:80/10:20/90").address;
    let AddressConfig::HotCold(hot) = zoned else { panic!("hot and cold") };
    assert_eq!((hot.hot_region, hot.hot_traffic), (Ratio(0.1), Ratio(0.8)));
    // fio's own example: the last zone is the rest of the region.
    let zoned = of("rw=randread random_distribution=zoned:50/5:30/15:20/").address;
    let AddressConfig::HotCold(hot) = zoned else { panic!("hot and cold") };
    assert_eq!((hot.hot_region, hot.hot_traffic), (Ratio(0.05), Ratio(0.5)));
}

#[test]
fn sizes_and_what_ends_a_job() {
    let both = one("bs=4k size=1m offset=64k");
    assert_eq!((both.region, both.region_start), (Some(ByteSize(1 << 20)), Some(ByteSize(65_536))));
    let bytes = |bytes: u64| Some(FioExtent::Bytes(ByteSize(bytes)));
    let of = |keys: &str| {
        let job = job(&format!("bs=4k size=1m {keys}"));
        (job.size, job.io_size, job.loops, job.number_ios, job.time_based)
    };
    assert_eq!(of(""), (bytes(1 << 20), None, 1, None, false));
    assert_eq!(of("loops=3"), (bytes(1 << 20), None, 3, None, false));
    assert_eq!(of("io_limit=2m"), (bytes(1 << 20), bytes(2 << 20), 1, None, false));
    assert_eq!(of("number_ios=7"), (bytes(1 << 20), None, 1, Some(7), false));
    assert_eq!(of("time_based runtime=2"), (bytes(1 << 20), None, 1, None, true));
    let shares = job("size=40% offset=40% io_size=20% offset_align=8k offset_increment=1m");
    assert_eq!(shares.size, Some(FioExtent::Percent(40)));
    assert_eq!(
        (shares.offset, shares.io_size),
        (FioExtent::Percent(40), Some(FioExtent::Percent(20)))
    );
    assert_eq!(shares.offset_align, Some(ByteSize(8192)));
    assert_eq!(one("bs=4k size=50% number_ios=9").working_set, Some(Ratio(0.5)));
    let files = job("size=96k nrfiles=3 file_service_type=random:4");
    assert_eq!((files.files, files.size), (3, bytes(32 << 10)));
    assert_eq!(files.file_order, FioFileOrder::Random(4));
    assert_eq!(one("size=96k nrfiles=3").region, Some(ByteSize(96 << 10)));
    assert_eq!(one("rw=write bs=4k,8k number_ios=1").size, SizeConfig::Fixed(ByteSize(8192)));
}

#[test]
fn each_direction_has_its_sizes() {
    let sizes = |keys: &str| {
        let job = job(&format!("{keys} number_ios=1"));
        [job.read, job.write, job.trim].map(|one| (one.smallest.0 >> 10, one.largest.0 >> 10))
    };
    assert_eq!(sizes("bs=4k,64k"), [(4, 4), (64, 64), (64, 64)]);
    assert_eq!(sizes("bs=,8k"), [(4, 4), (8, 8), (8, 8)]);
    assert_eq!(sizes("bs=8k,"), [(8, 8), (4, 4), (4, 4)]);
    assert_eq!(sizes("bs=8k bsrange=4k-16k,8k-32k"), [(4, 16), (8, 32), (8, 32)]);
    let split = job("bssplit=4k/10:64k/50:32k/:16k/20,8k/100 number_ios=1");
    let kib: Vec<(u64, u32)> = split.read.split.iter().map(|one| (one.0.0 >> 10, one.1)).collect();
    assert_eq!(kib, [(4, 10), (32, 20), (16, 20), (64, 50)], "the rarest first, then as written");
    assert_eq!(split.write.split, [(ByteSize(8192), 100)]);
    assert_eq!(job("blockalign=16k number_ios=1").read.align, Some(ByteSize(16_384)));
    assert!(!job("blockalign=16k number_ios=1").map, "as in fio");
}

#[test]
fn sizes_that_no_drive_takes_are_rounded_or_refused() {
    let said = warned("rw=write bs=2300 size=1m");
    let expected =
        "job.fio:3: bs: 2300 B is no multiple of 512 B: each request covers the blocks of 4096 B";
    assert!(said.iter().any(|one| one.starts_with(expected)), "{said:?}");
    assert_eq!(one("rw=write bs=2300 size=1m").size, SizeConfig::Fixed(ByteSize(4096)));
    assert!(warned("rw=write bs=2560 size=1m").is_empty());
    let refused = problems("[a]\nrw=write\nbs=2300\ndirect=1\nsize=1m\n");
    assert!(
        refused.contains("job.fio:3: bs: found 2300 B with direct=1, allowed: multiples"),
        "{refused}"
    );
}

/// Sizes near 2^64 overflowed where they were rounded up (found by fuzzing).
#[test]
fn sizes_above_the_largest_request_are_refused() {
    assert_eq!(job("bs=16m size=1g number_ios=1").read.largest, ByteSize(16 << 20));
    let keys = [
        "bs=18446744073709551615",
        "bs=5g",
        "bsrange=1-18446744073709551614",
        "bssplit=4k/50:8g/50",
        "blockalign=8g",
    ];
    for key in keys {
        let refused = problems(&format!("[a]\nrw=write\n{key}\nsize=1m\n"));
        assert!(refused.contains("job.fio:3:") && refused.contains("up to 4g"), "{refused}");
    }
}

#[test]
fn paces_and_pauses_are_those_of_the_job() {
    let rates = |keys: &str| {
        let job = job(&format!("number_ios=1 {keys}"));
        ([job.read.rate, job.write.rate, job.trim.rate], job.poisson)
    };
    assert_eq!(rates("rate_iops=500"), ([Some(2_048_000); 3], false));
    assert_eq!(rates("rw=rw rate=,20m"), ([None, Some(20 << 20), Some(20 << 20)], false));
    assert_eq!(rates("rate=1m,256k, rate_process=poisson").0, [Some(1 << 20), Some(1 << 18), None]);
    assert!(rates("rate=1m rate_process=poisson").1);
    let think = job("number_ios=1 thinktime=100 thinktime_blocks=4").think.expect("pauses");
    assert_eq!((think.time, think.blocks, think.issued), (Span(100_000_000), Some(4), true));
    let complete = job("number_ios=1 thinktime=1 thinktime_blocks_type=complete").think;
    assert!(complete.is_some_and(|think| !think.issued), "as fio 3.33 does");
    let think = job("number_ios=1 thinktime=1s thinktime_iotime=9s thinktime_blocks_type=issue");
    let think = think.think.expect("pauses");
    assert_eq!(
        (think.blocks, think.issued, think.after),
        (None, true, Some(Span(9_000_000_000_000)))
    );
    assert_eq!(job("number_ios=1 thinktime=0").think, None);
    let both = job("number_ios=1 rate_iops=5 thinktime=5 rate_ignore_thinktime=1");
    assert!(both.think.is_some_and(|think| think.shifts_rate));
}

#[test]
fn engines_priorities_and_seeds() {
    let depth = |keys: &str| {
        let one = one(&format!("number_ios=1 iodepth=32 {keys}"));
        let job = one.fio.expect("a job");
        (one.queue_depth, job.blocking, job.queued_flushes)
    };
    assert_eq!(depth("ioengine=psync"), (Some(1), true, false));
    assert_eq!(depth("ioengine=libaio"), (Some(32), false, false));
    assert_eq!(depth("ioengine=io_uring"), (Some(32), false, true));
    assert_eq!(depth(""), (Some(32), false, false));
    assert!(warned("number_ios=1 iodepth=32")[0].contains("fio's default engine (psync)"));
    assert_eq!(job("number_ios=1").seed, None);
    let seeded = job("number_ios=1 randseed=7 randrepeat=0");
    assert_eq!((seeded.seed, seeded.repeat), (Some(7), false));
    let priority = |keys: &str| parsed(&format!("[j]\nnumber_ios=1\n{keys}")).0.flows[0].priority;
    assert_eq!(priority("prioclass=3"), Priority::Low);
    assert_eq!(
        (priority("prio=0"), priority("prio=4"), priority("prio=7")),
        (Priority::High, Priority::Medium, Priority::Low)
    );
}

#[test]
fn runs_of_requests_holes_and_mixes() {
    let row = job("rw=randread:8 number_ios=1");
    assert_eq!((row.in_a_row, row.hole, row.identical), (8, 0, false));
    assert!(job("rw=randread:8 rw_sequencer=identical number_ios=1").identical);
    assert_eq!(job("rw=read:8k number_ios=1").hole, 8192);
    assert_eq!(job("rw=read:-8k number_ios=1").hole, -8192);
    assert_eq!(job("rw=trimwrite number_ios=1").rw, FioRw::TrimWrite);
    let mix = |keys: &str| job(&format!("rw=rw number_ios=1 {keys}")).read_percent;
    assert_eq!((mix("rwmixread=60 rwmixwrite=60"), mix("rwmixwrite=60 rwmixread=60")), (40, 60));
}

#[test]
fn distributions_have_zones_and_centers() {
    let of = |text: &str| {
        let job = job(&format!("rw=randrw number_ios=1 random_distribution={text}"));
        (job.read.distribution, job.write.distribution, job.map)
    };
    let zoned = |zones: &[(u32, u32)]| {
        let zone = |one: &(u32, u32)| (one.0, FioExtent::Percent(one.1));
        FioDistribution::Zoned(zones.iter().map(zone).collect())
    };
    let (read, write, map) = of("zoned:50/5:30/15:20/");
    assert_eq!((&read, &write, map), (&zoned(&[(50, 5), (30, 20), (20, 100)]), &read, false));
    let (read, write, _) = of("zoned:50/50:50/50,100/10");
    assert_eq!((read, write), (zoned(&[(50, 50), (50, 100)]), zoned(&[(100, 10)])));
    let (absolute, ..) = of("zoned_abs:60/1m:40/3m");
    let ends = [(60, 1 << 20), (40, 4 << 20)];
    let ends = ends.map(|(share, end)| (share, FioExtent::Bytes(ByteSize(end))));
    assert_eq!(absolute, FioDistribution::Zoned(ends.to_vec()));
    let FioDistribution::Zipf(skew) = of("zipf:1.2:0.25").0 else { panic!("zipf") };
    assert_eq!((skew.parameter, skew.center), (1.2, Some(0.25)));
    assert!(matches!(of("pareto:0.2").0, FioDistribution::Pareto(_)));
    assert!(matches!(of("normal:10").0, FioDistribution::Normal(_)));
    assert_eq!(of("random"), (FioDistribution::Random, FioDistribution::Random, true));
}

#[test]
fn flushes_have_places_and_synchronous_writes_pass_the_cache() {
    let job = job("rw=randwrite fsync=4 fdatasync=3 end_fsync=1 number_ios=100");
    assert_eq!((job.fsync, job.fdatasync, job.end_fsync), (4, 3, true));
    let cache = |keys: &str| parsed(&format!("[j]\nnumber_ios=1\n{keys}")).0.flows[0].cache;
    assert_eq!(cache("rw=write\nsync=1"), CacheMode::default());
    assert_eq!(self::job("rw=write sync=1 number_ios=1").fdatasync, 1, "a flush after each write");
    assert_eq!(cache("rw=rw\nsync=dsync"), CacheMode::Off);
    assert_eq!(cache("rw=write\nsync=1\niodepth=4\nioengine=libaio"), CacheMode::Off);
    assert_eq!(cache("rw=write\nsync=none"), CacheMode::default());
}

#[test]
fn files_of_several_drives_are_refused_and_names_are_shared() {
    let refused = problems("[a]\nfilename=/dev/nvme0n1:/dev/nvme1n1\nsize=1m\n");
    assert!(
        refused.contains("job.fio:2: filename: found 2 drives (nvme0, nvme1), allowed: one"),
        "{refused}"
    );
    let spaces = job("filename=/dev/nvme0n1:/dev/nvme0n2 size=1m");
    assert_eq!((spaces.files, spaces.file_size), (2, None));
    let shared = "[a]\nfilename=/tmp/x\nsize=1m\nnumjobs=4\nrw=randread\n[b]\nsize=1m\n";
    let (config, ..) = parsed(shared);
    let of = |index: usize| config.flows[index].synthetic.clone().expect("it").fio.expect("a job");
    assert_eq!((config.flows.len(), of(0).jobs, of(0).own_files), (2, 4, false));
    assert_eq!((of(0).first_job, of(1).first_job), (1, 5), "as fio counts");
    let (config, _, warnings) = parsed("[a]\nsize=64k\nnumjobs=256\n");
    assert_eq!(config.flows.len(), 1);
    assert!(warnings[0].contains("256 jobs are one tenant"), "{warnings:?}");
    let (config, _, warnings) = parsed("[a]\nsize=64k\nnumjobs=256\ngroup_reporting\n");
    assert_eq!((config.flows.len(), warnings.len()), (1, 0));
    let apart = "[a]\nfilename=/dev/nvme0n1\nsize=1m\n[b]\nfilename=/dev/nvme0n1\nsize=1m\n";
    assert!(parsed(apart).2[0].contains("jobs on nvme0 have a part of the drive each"));
}

#[test]
fn a_command_line_and_an_included_file_are_jobs() {
    let (config, ..) = parsed("fio --name=a --rw=randread --size=1m \\\n --bs 8k --name=b");
    let names: Vec<&str> = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(is_job("fio --name=a --size=1m") && is_job("[global]\nrw=read\n[a]\n"));
    assert!(is_job("# x\n[a]\nrw=read\n") && !is_job("[flash]\nsize = \"4KiB\"\n"));
    assert!(!is_job("[[flow]]\nname = 'x'") && !is_job("<a/>") && !is_job(""));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("common.inc"), "bs=16k\nnumber_ios=5\n").expect("room");
    let path = folder.path().join("job.fio");
    let all = parse(&path, "[a]\ninclude common.inc\n").expect("a job");
    let fio = all[0].0.flows[0].synthetic.clone().expect("it").fio.expect("a job");
    assert_eq!((fio.read.smallest, fio.number_ios), (ByteSize(16_384), Some(5)));
    let missing = problems("[a]\ninclude none.inc\nsize=1m");
    assert!(missing.contains("job.fio:2: include: none.inc: no such file"), "{missing}");
}

#[test]
fn jobs_behind_a_stonewall_are_another_scenario() {
    let text = "[global]\nsize=1m\nbs=4k\n[a]\n[b]\nstonewall\n[c]\n[d]\nwait_for=c\n";
    let all = scenarios(text);
    let names: Vec<(&str, Vec<&str>)> = all
        .iter()
        .map(|(one, ..)| (one.name.as_str(), one.flows.iter().map(|f| f.name.as_str()).collect()))
        .collect();
    assert_eq!(names, [("job 1", vec!["a"]), ("job 2", vec!["b", "c"]), ("job 3", vec!["d"])]);
    let warnings = &all[0].2;
    assert!(warnings[0].starts_with("job.fio: 3 groups of jobs"), "{warnings:?}");
    let refused = problems("[a]\nsize=1m\n[b]\nsize=1m\nwait_for=x\n");
    assert!(refused.contains("wait_for: found \"x\", allowed: a job above (a)"), "{refused}");
}

#[test]
fn jobs_start_late_and_warm_up() {
    let text = "[global]\nruntime=10\ntime_based\n[a]\nramp_time=2\nexitall\n[b]\nnumjobs=2\nstartdelay=1-3\n";
    let (config, ..) = parsed(text);
    const SECOND: u64 = 1_000_000_000_000;
    let starts: Vec<_> = config.flows.iter().map(|flow| flow.starts_after).collect();
    assert_eq!(starts, [None, Some(Span(SECOND)), Some(Span(2 * SECOND))]);
    assert_eq!(config.warmup, Some(Span(3 * SECOND)));
    let of = |index: usize| config.flows[index].synthetic.as_ref().expect("it").duration;
    assert_eq!((of(0), of(1)), (Some(Span(12 * SECOND)), Some(Span(10 * SECOND))));
    assert_eq!(config.flows[0].on_end, Some(crate::OnEnd::Stop));
}

#[test]
fn what_is_not_modelled_is_said_once() {
    let text = "[global]\nverify=crc32c\nwrite_bw_log=x\nsize=1m\n[a]\n[b]\nlatency_target=5\n";
    let (_, _, warnings) = parsed(text);
    let about = |key: &str| warnings.iter().filter(|one| one.contains(key)).count();
    assert_eq!((about("verify:"), about("write_bw_log:"), about("latency_target:")), (1, 1, 1));
    assert!(warnings.iter().any(|one| one.contains("--series-window")), "{warnings:?}");
}

#[test]
fn a_job_that_nothing_ends_runs_for_a_second() {
    let (config, _, warnings) = parsed("[a]\nrw=read\n");
    let duration = config.flows[0].synthetic.as_ref().expect("it").duration;
    assert_eq!(duration, Some(Span(1_000_000_000_000)));
    assert!(warnings[0].starts_with("job.fio:1: nothing ends the job"), "{warnings:?}");
}

#[test]
fn comments_variables_and_names() {
    let text = "[a]\nsize=1m ; all of it\nnumjobs=2\t# two\nfilename=/x/$jobname\n[a]\nsize=2m\n";
    let (config, ..) = parsed(text);
    let names: Vec<&str> = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["a.0", "a.1", "a"]);
    let (config, ..) = parsed("[a]\nsize=1m\n[a]\nsize=2m\n");
    assert_eq!(config.flows[1].name, "a-2");
    let refused = problems("[a]\nbs=${FLASHLANE_NO_SUCH_VARIABLE}\nsize=1m\n");
    assert!(refused.contains("the variable FLASHLANE_NO_SUCH_VARIABLE"), "{refused}");
}

#[test]
fn a_hundred_thousand_jobs_are_told_apart_at_once() {
    let jobs = |count: usize, keys: &str| format!("[a]\nnumber_ios=1\n{keys}").repeat(count);
    // Each job waits for the one above it and causes a warning: this gives as many scenarios,
    // quickly.
    let all = scenarios(&jobs(100_000, "stonewall\nverify=crc32c\n"));
    assert_eq!((all.len(), all[99_999].2.len()), (100_000, 1));
    let refused = problems(&jobs(1025, ""));
    assert!(refused.contains("found 1025 jobs together, allowed: up to 1024"), "{refused}");
    let (config, ..) = parsed(&jobs(1024, ""));
    assert_eq!(config.flows[1023].name, "a-1024");
}

#[test]
fn copies_of_a_job_draw_differently_in_spaces_of_their_own() {
    let (config, ..) = parsed("[j]\nnumjobs=3\nrandseed=5\nsize=1m\noffset=4k\n");
    let all = config.flows.iter().map(|flow| flow.synthetic.clone().expect("it"));
    let all: Vec<_> =
        all.map(|one| (one.fio.expect("a job").first_job, one.region_start)).collect();
    assert_eq!(all, [1, 2, 3].map(|number| (number, Some(ByteSize(4096)))));
    let (config, ..) = parsed("[j]\nnumjobs=3\nsize=1m\noffset_increment=1m\n");
    let fio = config.flows[0].synthetic.clone().expect("it").fio.expect("a job");
    assert_eq!((config.flows.len(), fio.jobs), (1, 3), "they share a file");
}

#[test]
fn a_log_is_replayed() {
    let (config, ..) = parsed("[j]\nread_iolog=a.log\nreplay_time_scale=50\nloops=2\n");
    let trace = config.flows[0].trace.clone().expect("a trace");
    assert_eq!((trace.path.to_str(), trace.time_scale, trace.repeat), (Some("a.log"), 0.5, 2));
    assert_eq!(trace.queue_depth, None);
    let (config, ..) = parsed("[j]\nread_iolog=a.log\nreplay_no_stall=1\niodepth=4\n");
    assert_eq!(config.flows[0].trace.clone().expect("a trace").queue_depth, Some(4));
}

#[test]
fn what_has_no_effect_is_said() {
    let (_, _, warnings) = parsed("[j]\niodepth=8\nioengine=sync\nnumber_ios=1\nbuffered=1\n");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("job.fio:5: buffered: there is no page cache"), "{warnings:?}");
    assert!(warnings[1].starts_with("job.fio:2: iodepth: has no effect with ioengine=sync"));
    assert_eq!(warned("number_ios=1 direct=0").len(), 1);
    let (_, _, warnings) = parsed("[j]\nnumber_ios=1\nrandom_distribution=zipf:1.1\n");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warned("number_ios=1 disable_lat=1 cgroup=x uid=5 serialize_overlap=1").is_empty());
}

#[test]
fn keys_are_placed_for_later_checks() {
    let (config, places, warnings) = parsed("[j]\nrw=read\n\nbs=100m\nnumber_ios=1\n");
    let loaded = crate::load::Loaded { config, places, warnings };
    let refused = validate::check_workload(&loaded).expect_err("no sectors").to_string();
    assert!(refused.contains("job.fio:4: flow[0].synthetic.size: found 100MiB"), "{refused}");
}

#[test]
fn everything_unknown_or_out_of_range_is_refused_with_its_line() {
    let cases = [
        ("rw=randread", "job.fio:1: rw: found a key above all sections"),
        (
            "[a]\nrwmixreed=5",
            "job.fio:2: unknown key `rwmixreed`; did you mean `rwmixread`? allowed: rw, ",
        ),
        ("[a]\nstonewal", "job.fio:2: unknown key `stonewal`; did you mean `stonewall`? allowed"),
        ("[a]\nstartdelay=soon", "job.fio:2: startdelay: found \"soon\", allowed: seconds"),
        ("[a]\nrw=randread:x", "job.fio:2: rw: found \"randread:x\", allowed: a number behind"),
        ("[a\nrw=read", "job.fio:1: found \"[a\", allowed: [global] or [NAME]"),
        ("[a]\nrw=randreed", "did you mean `randread`?"),
        ("[a]\nbs=4kib", "job.fio:2: bs: found \"4kib\", allowed: bytes, such as 4096"),
        ("[a]\nrw=rw\nbs=4k,8k,1k,2k", "job.fio:3: bs: found \"4k,8k,1k,2k\""),
        ("[a]\nbs=0", "job.fio:2: bs: found \"0\""),
        ("[a]\nbs", "job.fio:2: bs: found no value"),
        ("[a]\nbsrange=16k-4k", "job.fio:2: bsrange: found \"16k-4k\""),
        ("[a]\nbssplit=4k/60:8k/60", "job.fio:2: bssplit: found"),
        ("[a]\nbssplit=4k/x", "job.fio:2: bssplit: found"),
        (
            "[a]\niodepth=0",
            "job.fio:2: iodepth: found \"0\", allowed: a whole number from 1 to 65535",
        ),
        ("[a]\nnumjobs=1025", "job.fio:2: numjobs: found \"1025\""),
        ("[a]\nrw=rw\nrwmixread=101", "job.fio:3: rwmixread: found \"101\""),
        ("[a]\nrw=randread\nrandom_distribution=zipf:9", "found \"zipf:9\""),
        (
            "[a]\nrw=randread\nrandom_distribution=zoned:60/10:30/20:20/70",
            "found \"zoned:60/10:30/20:20/70\"",
        ),
        ("[a]\nioengine=nbd", "job.fio:2: ioengine: found \"nbd\"; allowed: sync"),
        ("[a]\nrate=1m\nrate_iops=5", "job.fio:2: rate: found beside rate_iops"),
        ("[a]\nrate_process=bursty", "found \"bursty\", allowed: linear, poisson"),
        ("[a]\nthinktime=5y", "job.fio:2: thinktime: found \"5y\""),
        ("[a]\nruntime=0", "job.fio:2: runtime: found \"0\""),
        ("[a]\ntime_based\nsize=1m", "job.fio:2: time_based: found without runtime"),
        ("[a]\nsize=150%", "job.fio:2: size: found \"150%\", allowed: bytes"),
        ("[a]\nread_iolog=", "job.fio:2: read_iolog: found \"\", allowed: a file"),
        ("[a]\nread_iolog=x\nbs=4k", "job.fio:3: bs: found beside read_iolog"),
        ("[a]\nreplay_no_stall\nsize=1m", "job.fio:2: replay_no_stall: found without read_iolog"),
        (
            "[a]\nrw=randread\nrandom_distribution=pareto:1.5",
            "found \"pareto:1.5\", allowed: random",
        ),
        ("[a]\nrw=randread\nrandom_distribution=zipf:1:2", "found \"zipf:1:2\""),
        ("[a]\nrate_iops=x,5", "job.fio:2: rate_iops: found \"x,5\", allowed: requests per"),
        ("[a]\nthinktime_blocks_type=x", "found \"x\", allowed: complete, issue"),
        ("[a]\nread_iolog=x\nreplay_scale=2", "job.fio:3: replay_scale: is not modelled; convert"),
        ("[a]\nkb_base=1000", "job.fio:2: kb_base: found another base"),
        ("[a]\nzonesize=4k", "job.fio:2: zonesize: found without zonemode"),
        ("[a]\nfile_service_type=zipf", "job.fio:2: file_service_type: found \"zipf\""),
        ("fio --name=a --size=1m x y", "found \"x\" in a command line of fio"),
        ("[a]\nprio=8", "job.fio:2: prio: found \"8\""),
        ("[global]\nrw=read", "job.fio: found no job"),
        ("; nothing", "job.fio: found no job"),
    ];
    for (text, expected) in cases {
        let found = problems(text);
        assert!(found.contains(expected), "{text}\n{expected}\n{found}");
    }
    let all = problems("[a]\nbs=x\niodepth=x\nsize=1m\nwhat=5\n");
    assert_eq!(all.lines().count(), 3, "{all}");
}
