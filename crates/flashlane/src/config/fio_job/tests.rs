//! Tests of fio job files.

use super::*;
use crate::config::{AddressConfig, Arrivals, Priority, SizeConfig, SyntheticConfig, validate};
use flashlane_units::{ByteSize, Ratio, Span};

fn scenarios(text: &str) -> Vec<Parsed> {
    parse(Path::new("job.fio"), text).unwrap_or_else(|error| panic!("{error}"))
}

/// The only scenario, its places, and the warnings.
fn parsed(text: &str) -> (WorkloadConfig, Places, Vec<String>) {
    let mut all = scenarios(text);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The synthetic part of the only job.
fn one(keys: &str) -> SyntheticConfig {
    let text = format!("[job]\n{}", keys.replace(' ', "\n"));
    let (config, places, warnings) = parsed(&text);
    let loaded = crate::config::load::Loaded { config, places, warnings };
    validate::check_workload(&loaded).unwrap_or_else(|error| panic!("{text}: {error}"));
    let [flow] = &loaded.config.flows[..] else { panic!("one flow") };
    flow.synthetic.clone().expect("a synthetic flow")
}

fn problems(text: &str) -> String {
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
    let job = one("bs=4k size=1m offset=64k");
    assert_eq!((job.requests, job.region), (Some(256), Some(ByteSize(1 << 20))));
    assert_eq!((job.region_start, job.align), (Some(ByteSize(65_536)), Some(ByteSize(4096))));
    assert_eq!(one("bs=4k size=1m loops=3").requests, Some(768));
    assert_eq!(one("bs=4k size=1m io_size=2m").requests, Some(512));
    assert_eq!(one("bs=4k size=1m number_ios=7").requests, Some(7));
    assert_eq!(one("bs=4k size=1m time_based runtime=2").requests, None);
    assert_eq!(one("bs=4k size=50% number_ios=9").working_set, Some(Ratio(0.5)));
    let range = one("bsrange=4k-16k size=100k");
    let sizes = [4096, 8192, 12_288, 16_384].map(|size| (ByteSize(size), 1.0)).to_vec();
    assert_eq!(range.size, SizeConfig::Discrete { discrete: sizes });
    assert_eq!(range.requests, Some(10), "the mean is 10 KiB");
    let split = one("bssplit=4k/10:64k/50:32k/:16k/20 number_ios=1");
    let sizes = [(4, 10.0), (64, 50.0), (32, 20.0), (16, 20.0)]
        .map(|(kib, share)| (ByteSize(kib << 10), share))
        .to_vec();
    assert_eq!(split.size, SizeConfig::Discrete { discrete: sizes });
    assert_eq!(one("rw=write bs=4k,8k number_ios=1").size, SizeConfig::Fixed(ByteSize(8192)));
}

#[test]
fn paces_and_priorities() {
    let job = one("rate_iops=500 number_ios=1");
    assert_eq!((job.iops, job.arrivals, job.queue_depth), (Some(500.0), Arrivals::Constant, None));
    assert_eq!(one("rate_iops=5 rate_process=poisson number_ios=1").arrivals, Arrivals::Poisson);
    assert_eq!(one("rate=1m number_ios=1").bandwidth.map(|rate| rate.0), Some(1 << 20));
    let job = one("iodepth=1 thinktime=50 randseed=7 number_ios=1");
    assert_eq!((job.think_time, job.seed), (Some(Span(50_000_000)), Some(7)));
    assert_eq!(one("iodepth=32 ioengine=psync number_ios=1").queue_depth, Some(1));
    assert_eq!(one("iodepth=32 number_ios=1").queue_depth, Some(32));
    let priority = |keys: &str| parsed(&format!("[j]\nnumber_ios=1\n{keys}")).0.flows[0].priority;
    assert_eq!(priority("prioclass=3"), Priority::Low);
    assert_eq!(
        (priority("prio=0"), priority("prio=4"), priority("prio=7")),
        (Priority::High, Priority::Medium, Priority::Low)
    );
}

#[test]
fn each_direction_keeps_its_rate() {
    // As fio 3.33 measured: 200 reads and 200 writes, 200 and 50, 1 MiB and 256 KiB.
    let job = one("rw=randrw rwmixread=70 rate_iops=200 number_ios=1");
    assert_eq!((job.iops, job.read_ratio), (Some(400.0), Ratio(0.5)));
    let job = one("rw=randrw rwmixread=70 rate_iops=200,50 number_ios=1");
    assert_eq!((job.iops, job.read_ratio), (Some(250.0), Ratio(0.8)));
    let job = one("rw=rw rate=1m,256k number_ios=1");
    assert_eq!(job.bandwidth.map(|rate| rate.0), Some((1 << 20) + (256 << 10)));
    assert_eq!(job.read_ratio, Ratio(0.8));
    assert_eq!(one("rw=randwrite rate_iops=200,50 number_ios=1").iops, Some(50.0));
}

#[test]
fn reads_and_writes_of_different_sizes_are_mixed() {
    let (config, _, warnings) = parsed("[a]\nrw=randrw\nrwmixread=75\nbs=4k,8k\nnumber_ios=9\n");
    let size = &config.flows[0].synthetic.as_ref().expect("it").size;
    let discrete = vec![(ByteSize(4096), 0.75), (ByteSize(8192), 0.25)];
    assert_eq!(*size, SizeConfig::Discrete { discrete });
    assert!(warnings[0].starts_with("job.fio:4: bs: reads and writes"), "{warnings:?}");
}

#[test]
fn runs_of_requests_and_holes() {
    let AddressConfig::Mixed(mixed) = one("rw=randread:8 number_ios=1").address else { panic!() };
    assert_eq!(mixed.streaming, Ratio(0.875));
    let (config, _, warnings) = parsed("[a]\nrw=read:-8k\nnumber_ios=9\n");
    let address = &config.flows[0].synthetic.as_ref().expect("it").address;
    assert_eq!(*address, AddressConfig::Streaming);
    assert!(warnings[0].contains("rw: the holes"), "{warnings:?}");
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
    assert_eq!(config.flows[0].on_end, Some(crate::config::OnEnd::Stop));
}

#[test]
fn flushes_come_after_so_many_writes() {
    let job = one("rw=randwrite fsync=4 number_ios=100");
    assert!((job.flush_ratio.0 - 0.2).abs() < 1e-12, "{:?}", job.flush_ratio);
    assert_eq!(job.requests, Some(125));
    assert_eq!(one("rw=randread fsync=4 number_ios=100").flush_ratio, Ratio(0.0));
    let timed = one("rw=randwrite fsync=4 runtime=1 time_based");
    assert!((timed.flush_ratio.0 - 0.2).abs() < 1e-12, "{:?}", timed.flush_ratio);
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
    // Each waits for the one above, and each is warned of: as many scenarios, in no time.
    let all = scenarios(&jobs(100_000, "stonewall\nverify=crc32c\n"));
    assert_eq!((all.len(), all[99_999].2.len()), (100_000, 1));
    let refused = problems(&jobs(1025, ""));
    assert!(refused.contains("found 1025 jobs together, allowed: up to 1024"), "{refused}");
    let (config, ..) = parsed(&jobs(1024, ""));
    assert_eq!(config.flows[1023].name, "a-1024");
}

#[test]
fn copies_of_a_job_draw_differently_in_spaces_of_their_own() {
    let text = "[j]\nnumjobs=3\nrandseed=5\nsize=1m\noffset=4k\noffset_increment=1m\n";
    let (config, ..) = parsed(text);
    let seeds: Vec<_> =
        config.flows.iter().map(|flow| flow.synthetic.as_ref().expect("it").seed).collect();
    assert_eq!(seeds, [Some(5), Some(6), Some(7)]);
    let starts: Vec<u64> = config
        .flows
        .iter()
        .map(|flow| flow.synthetic.as_ref().expect("it").region_start.expect("a start").0)
        .collect();
    assert_eq!(starts, [4096; 3]);
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
    assert!(warnings[0].starts_with("job.fio:2: iodepth: has no effect with ioengine=sync"));
    let (_, _, warnings) = parsed("[j]\nrate_iops=8\nnumber_ios=1\nrandom_distribution=zipf:1\n");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn keys_are_placed_for_later_checks() {
    let (config, places, warnings) = parsed("[j]\nrw=read\n\nbs=513\nnumber_ios=1\n");
    let loaded = crate::config::load::Loaded { config, places, warnings };
    let refused = validate::check_workload(&loaded).expect_err("no sectors").to_string();
    assert!(refused.contains("job.fio:4: flow[0].synthetic.size: found 513B"), "{refused}");
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
        (
            "[a]\nrw=trimwrite",
            "job.fio:2: rw: found \"trimwrite\"; did you mean `trim`? allowed: read, write",
        ),
        ("[a]\nrw=randreed", "did you mean `randread`?"),
        ("[a]\nbs=4kib", "job.fio:2: bs: found \"4kib\", allowed: bytes, such as 4096"),
        ("[a]\nrw=rw\nbs=4k,8k,1k,2k", "job.fio:3: bs: found \"4k,8k,1k,2k\""),
        ("[a]\nbs=0", "job.fio:2: bs: found \"0\""),
        ("[a]\nbs", "job.fio:2: bs: found no value"),
        ("[a]\nbsrange=16k-4k", "job.fio:2: bsrange: found \"16k-4k\""),
        ("[a]\nbsrange=1-1g", "at most 1024 sizes"),
        ("[a]\nbssplit=4k/60:8k/60", "job.fio:2: bssplit: found"),
        ("[a]\nbssplit=4k/x", "job.fio:2: bssplit: found"),
        (
            "[a]\niodepth=0",
            "job.fio:2: iodepth: found \"0\", allowed: a whole number from 1 to 65535",
        ),
        ("[a]\nnumjobs=1025", "job.fio:2: numjobs: found \"1025\""),
        ("[a]\nrw=rw\nrwmixread=101", "job.fio:3: rwmixread: found \"101\""),
        ("[a]\nrw=rw\nrwmixread=60\nrwmixwrite=60", "both sum to 100"),
        (
            "[a]\nrw=randread\nrandom_distribution=pareto:0.5",
            "random_distribution: found \"pareto:0.5\", allowed: random, zipf",
        ),
        ("[a]\nrw=randread\nrandom_distribution=zipf:9", "found \"zipf:9\""),
        (
            "[a]\nrw=randread\nrandom_distribution=zoned:60/10:30/20:20/70",
            "found \"zoned:60/10:30/20:20/70\"",
        ),
        ("[a]\nrw=randread\npercentage_random=50\nrandom_distribution=random", "one of them"),
        ("[a]\nioengine=nbd", "job.fio:2: ioengine: found \"nbd\"; allowed: sync"),
        ("[a]\nrate=1m\nrate_iops=5", "job.fio:2: rate: found beside rate_iops"),
        ("[a]\nrw=rw\nrate_iops=,5", "job.fio:3: rate_iops: found \",5\", allowed: requests per"),
        ("[a]\nrate_iops=5\nthinktime=5", "job.fio:3: thinktime: found beside rate_iops"),
        ("[a]\nrate_process=bursty", "found \"bursty\", allowed: linear, poisson"),
        ("[a]\nthinktime=5y", "job.fio:2: thinktime: found \"5y\""),
        ("[a]\nruntime=0", "job.fio:2: runtime: found \"0\""),
        ("[a]\ntime_based\nsize=1m", "job.fio:2: time_based: found without runtime"),
        ("[a]\nsize=150%", "job.fio:2: size: found 150%, allowed: 1% to 100%"),
        ("[a]\nsize=50%\noffset=4k", "job.fio:3: offset: found beside a size in percent"),
        ("[a]\nread_iolog=", "job.fio:2: read_iolog: found \"\", allowed: a file"),
        ("[a]\nread_iolog=x\nbs=4k", "job.fio:3: bs: found beside read_iolog"),
        ("[a]\nreplay_no_stall\nsize=1m", "job.fio:2: replay_no_stall: found without read_iolog"),
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
