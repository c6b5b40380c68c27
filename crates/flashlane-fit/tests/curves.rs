//! Figures of simulated drives whose values only the test knows.

use flashlane_engine::Rng;
use flashlane_fit::curves::{self, Figure, Request, table};

const MEASUREMENTS: &str = "op,pattern,size,depth,metric,value,sigma\n\
    read,random,4KiB,1,mean_us,1,0.01\nread,random,4KiB,256,kiops,1,0.01\n\
    read,random,8KiB,1,mean_us,1,0.01\nread,random,8KiB,32,kiops,1,0.01\n\
    read,random,64KiB,1,mean_us,1,0.01\nread,sequential,128KiB,32,gb_per_s,1,0.01\n\
    write,random,4KiB,1,mean_us,1,0.01\nwrite,random,8KiB,64,kiops,1,0.01\n\
    write,sequential,128KiB,32,gb_per_s,1,0.01\n";

/// Keys of `zn540`, its values, and their units.
const KEYS: &[(&str, f64, &str)] = &[
    ("flash.read_time", 58.0, "us"),
    ("flash.small_read.time", 54.0, "us"),
    ("flash.program_time", 561.0, "us"),
    ("interface.firmware_time", 9.0, "us"),
    ("interface.write_firmware_time", 5.0, "us"),
    ("flash.channel_rate", 450.0, "MT/s"),
];

fn sets(values: &[f64]) -> Vec<String> {
    let set = |(&(key, _, unit), value): (&(&str, f64, &str), &f64)| {
        let list = key.starts_with("flash") && unit == "us";
        match list {
            true => format!("{key}=[\"{value:.3}{unit}\"]"),
            false => format!("{key}={value:.3}{unit}"),
        }
    };
    KEYS.iter().zip(values).map(set).collect()
}

#[test]
fn the_values_of_drives_that_only_the_test_knows_lie_in_their_intervals() {
    let mut rng = Rng::stream(1, "blind curves", 0);
    let (mut inside, mut told, mut near, mut all) = (0, 0, 0, 0);
    for _ in 0..4 {
        let truth: Vec<f64> =
            KEYS.iter().map(|&(_, by_hand, _)| by_hand * (0.6 + rng.unit())).collect();
        let measure = |mut figure: Figure| {
            let exact = figure.measure("zn540", &sets(&truth), 0.05).expect("it runs");
            figure.value = exact * libm::exp(figure.sigma * rng.normal());
            figure
        };
        let figures = table::parse(MEASUREMENTS, "x").expect("right");
        let figures: Vec<Figure> = figures.into_iter().map(measure).collect();
        let mut request = Request { effort: 0.05, proposals: 0, ..Request::of("zn540") };
        request.options.starts = 8;
        let found = curves::fit(&figures, &request, &|_| {}).expect("it runs").calibration;
        println!("chi2 {:.2}, {} evaluations", found.chi2, found.evaluations);
        assert!(found.fits, "{found:?}");
        for (&(key, ..), truth) in KEYS.iter().zip(&truth) {
            let at = found.parameters.iter().position(|p| p.key == key).expect("it is varied");
            // Picoseconds and transfers per second.
            let scale = 1e6;
            let (value, interval) = (found.values[at] / scale, &found.intervals[at]);
            println!(
                "{key} {truth:.2} {value:.2} {:.2} to {:.2} {}",
                interval.low / scale,
                interval.high / scale,
                found.determines(at)
            );
            all += 1;
            told += u32::from(found.determines(at));
            inside += u32::from(interval.contains(truth * scale));
            near += u32::from((value / truth - 1.0).abs() < 0.05);
        }
    }
    println!("{inside} inside, {told} told, {near} within 5 % of {all}");
    assert!(10 * inside >= 9 * all, "{inside} of {all} in their intervals");
    assert!(4 * told >= 3 * all, "{told} of {all} told");
}

/// The value of a figure of `micron-7450-max` with keys set.
fn measured(line: &str, sets: &[&str], effort: f64) -> f64 {
    let header = "op,pattern,size,depth,load_iops,write_share,used,written,metric,value\n";
    let figures = table::parse(&format!("{header}{line}"), "test").expect("it is right");
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    figures[0].measure("micron-7450-max", &sets, effort).expect("it runs")
}

#[test]
fn amplification_depends_on_spare_space_patterns_and_use() {
    let waf = |line: &str, spare: &str| measured(line, &[spare], 1.0);
    let (tight, roomy) = ("ftl.over_provisioning=15%", "ftl.over_provisioning=40%");
    let uniform = "write,random,4KiB,,,,,3,waf,1";
    assert!(waf(uniform, tight) > 1.3 * waf(uniform, roomy));
    let half = waf("write,random,4KiB,,,,0.5,3,waf,1", roomy);
    assert!(half < 1.3, "half of the drive in use: {half}");
    let stream = waf("write,sequential,128KiB,,,,,3,waf,1", roomy);
    assert!((stream - 1.0).abs() < 0.02, "a stream leaves nothing to copy: {stream}");
    let zones = waf("write,zones:1/16GiB,512KiB,,,,,3,waf,1", roomy);
    assert!(zones < 1.1, "large zones are nearly a stream: {zones}");
}

#[test]
fn an_open_loop_has_latencies_of_reads_and_of_writes() {
    let at = |op: &str, iops: u32, metric: &str| {
        let line = format!("{op},random,4KiB,,{iops},0.5,,,{metric},1");
        measured(&line, &[], 0.05)
    };
    let (idle, busy) = (at("read", 10_000, "mean_us"), at("read", 60_000, "mean_us"));
    assert!(busy > idle, "reads wait for writes: {idle} {busy}");
    assert!(at("write", 10_000, "p50_us") < 0.5 * idle, "a write is served from the buffer");
    let tail = ["p50_us", "p90_us", "p99_us", "p999_us", "p9999_us", "p99999_us"];
    let tail: Vec<f64> = tail.iter().map(|metric| at("read", 60_000, metric)).collect();
    assert!(tail.windows(2).all(|pair| pair[0] <= pair[1]), "percentiles rise: {tail:?}");
    assert!(tail[5] > 2.0 * tail[0], "{tail:?}");
}

/// The value of a figure of `tiny` in steady state with this over-provisioning.
fn of_tiny(mut figure: Figure, spare: f64) -> Figure {
    let sets = [format!("ftl.over_provisioning={spare}")];
    figure.value = figure.measure("tiny", &sets, 0.05).expect("it runs");
    figure
}

#[test]
fn a_stream_in_steady_state_costs_no_copies() {
    let lines = "op,pattern,size,depth,metric,value,state\n\
        write,sequential,64KiB,32,mb_per_s,1,sustained\n\
        write,sequential,64KiB,32,mb_per_s,1,fresh\nwrite,random,4KiB,32,mb_per_s,1,sustained\n";
    let figures = table::parse(lines, "x").expect("right");
    let values = figures.into_iter().map(|figure| of_tiny(figure, 0.15).value);
    let [steady, fresh, random] = values.collect::<Vec<f64>>()[..] else { panic!("three") };
    assert!(steady > 0.9 * fresh, "{steady} {fresh}");
    assert!(random < 0.3 * steady, "{random} {steady}");
}

/// The amplification of one drive with the rates of another one: no drive has both, and the fit
/// says so. From the figures of one drive it finds the spare space.
#[test]
fn figures_of_two_drives_do_not_fit() {
    let lines = "op,pattern,size,depth,metric,value,sigma,state\n\
        write,random,4KiB,,waf,1,0.03,sustained\n\
        write,sequential,64KiB,32,mb_per_s,1,0.03,sustained\n\
        write,random,4KiB,32,mb_per_s,1,0.03,sustained\n";
    let figures = table::parse(lines, "x").expect("right");
    let of = |spare: f64| figures.iter().map(move |figure| of_tiny(figure.clone(), spare));
    let mut request = Request { effort: 0.05, proposals: 0, ..Request::of("tiny") };
    request.vary = ["flash.program_time", "ftl.over_provisioning"].map(str::to_owned).to_vec();
    let fit = |figures: Vec<Figure>| {
        curves::fit(&figures, &request, &|_| {}).expect("it runs").calibration
    };
    let (one, other): (Vec<Figure>, Vec<Figure>) = (of(0.15).collect(), of(0.6).collect());
    let own = fit(one.clone());
    assert!(own.fits, "{own:?}");
    assert!((own.values[1] / 0.15 - 1.0).abs() < 0.1, "{:?}", own.values);
    let mixed = fit([&other[..1], &one[1..]].concat());
    assert!(!mixed.fits, "{mixed:?}");
}
