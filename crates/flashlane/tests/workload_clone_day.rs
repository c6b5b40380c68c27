//! Clones with a day against UPI's Table 2: 24 hours of each.

use flashlane::config::CloneConfig;
use flashlane::config::units::Span;
use flashlane::layout::FlowSpace;
use flashlane::workload::clone::{CloneParams, CloneSource, find};
use flashlane::workload::footprint::Footprint;
use flashlane::workload::{RequestOp, RequestSource};
use flashlane_engine::Time;

/// Unit: picoseconds.
const MINUTE_PS: u64 = 60_000_000_000_000;
const DAY_PS: u64 = 24 * 60 * MINUTE_PS;

/// A column of UPI's Table 2, writes first.
struct Published {
    name: &'static str,
    millions: [f64; 2],
    kib: [f64; 2],
    peak: [f64; 2],
}

const TABLE: [Published; 3] = [
    Published { name: "das-as", millions: [0.1, 1.3], kib: [7.2, 31.5], peak: [53.2, 89.9] },
    Published { name: "dtrs", millions: [5.8, 12.0], kib: [31.9, 21.8], peak: [408.8, 745.3] },
    Published { name: "lm-tbe", millions: [9.2, 34.7], kib: [61.9, 53.2], peak: [589.1, 4173.8] },
];

/// What a day of a clone has, writes first.
#[derive(Default)]
struct Found {
    millions: [f64; 2],
    kib: [f64; 2],
    /// Requests per second in the busiest minute, and that minute.
    peak: [(f64, usize); 2],
    /// Least requests per second of an hour, both types.
    calm: f64,
}

fn measure(mut source: CloneSource, minute_ps: u64) -> Found {
    let mut minutes = [vec![0_u64; 24 * 60], vec![0; 24 * 60]];
    let mut sectors = [0_u64; 2];
    while let Some(p) = source.next(Time::ZERO).expect("clones never fail") {
        let side = usize::from(p.op == RequestOp::Read);
        let Some(count) = minutes[side].get_mut((p.arrival.0 / minute_ps) as usize) else { break };
        *count += 1;
        sectors[side] += u64::from(p.sectors);
    }
    let seconds = minute_ps as f64 / 1e12;
    let mut found = Found { calm: f64::INFINITY, ..Found::default() };
    for side in 0..2 {
        let count: u64 = minutes[side].iter().sum();
        found.millions[side] = count as f64 / 1e6;
        found.kib[side] = sectors[side] as f64 / 2.0 / count as f64;
        let busiest = minutes[side].iter().zip(0..).max().expect("1440 minutes");
        found.peak[side] = (*busiest.0 as f64 / seconds, busiest.1);
    }
    for hour in 0..24 {
        let of = |side: usize| minutes[side][hour * 60..][..60].iter().sum::<u64>();
        found.calm = found.calm.min((of(0) + of(1)) as f64 / seconds / 60.0);
    }
    found
}

/// The clone with one request in `2^log2`, and bursts as long as before.
fn thinned(name: &str, log2: usize) -> CloneParams<'static> {
    let mut params = *find(name).expect("built in");
    for side in [&mut params.read, &mut params.write] {
        side.gap_ms *= (1_u64 << log2) as f64;
    }
    params.levels -= log2;
    params
}

/// Prints what it finds and returns what is too far from the table.
fn faults(published: &Published, found: &Found, thinned: f64) -> Vec<String> {
    let mut faults = Vec::new();
    for (side, what) in ["writes", "reads"].into_iter().enumerate() {
        let of = |found: f64, wanted: f64| format!("{found:.3} ({wanted})");
        let row = format!(
            "{} {what}: {} million, {} KiB, peak {} per second",
            published.name,
            of(found.millions[side] * thinned, published.millions[side]),
            of(found.kib[side], published.kib[side]),
            of(found.peak[side].0 * thinned, published.peak[side]),
        );
        println!("{row}");
        let near = |found: f64, wanted: f64, share: f64| (found / wanted - 1.0).abs() <= share;
        let holds = near(found.millions[side] * thinned, published.millions[side], 0.03)
            && near(found.kib[side], published.kib[side], 0.01)
            && near(found.peak[side].0 * thinned, published.peak[side], 0.20);
        if !holds {
            faults.push(row);
        }
    }
    faults
}

/// Counts within 3 %, sizes within 1 %, peaks over a minute within 20 %, one in eight requests of
/// the two larger ones.
#[test]
fn a_day_has_the_counts_sizes_and_peaks_of_the_table() {
    let mut missed = Vec::new();
    for (published, log2) in TABLE.iter().zip([0, 3, 3]) {
        for seed in 1..3 {
            let source = CloneSource::alone(&thinned(published.name, log2), u64::MAX, 1.0, seed);
            let found = measure(source, MINUTE_PS);
            missed.extend(faults(published, &found, (1_u64 << log2) as f64));
            let mean = (found.millions[0] + found.millions[1]) * 1e6 / 86_400.0;
            assert!(found.calm < 0.6 * mean, "{}: {} of {mean}", published.name, found.calm);
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// 64 million requests. `cargo test --release ... -- --ignored --nocapture` prints the time.
#[test]
#[ignore = "long: all requests of three days"]
fn whole_days_have_the_counts_sizes_and_peaks_of_the_table() {
    let space = FlowSpace {
        sectors: 100 << 20,
        pages: (100 << 20) / 16,
        ..FlowSpace::empty(<[Vec<u32>; 4]>::default())
    };
    let mut missed = Vec::new();
    for published in &TABLE {
        let duration = Some(Span(DAY_PS));
        let config = CloneConfig { duration, ..CloneConfig::plain(published.name, None) };
        for seed in 1..4 {
            let source = CloneSource::new(&config, &space, seed, 0).expect("built in");
            let start = std::time::Instant::now();
            let found = measure(source, MINUTE_PS);
            let requests = (found.millions[0] + found.millions[1]) * 1e6;
            println!("{:.0} ns per request", start.elapsed().as_nanos() as f64 / requests);
            missed.extend(faults(published, &found, 1.0));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A day at a hundredth of its length has as many requests, and its busiest minute is in the same
/// place.
#[test]
fn the_day_follows_the_time_scale() {
    let params = thinned("lm-tbe", 6);
    let [slow, fast] = [1.0, 0.01].map(|time_scale| {
        let source = CloneSource::alone(&params, u64::MAX, time_scale, 7);
        measure(source, (MINUTE_PS as f64 * time_scale) as u64)
    });
    for side in 0..2 {
        assert!((slow.millions[side] / fast.millions[side] - 1.0).abs() < 0.005);
        assert!(slow.peak[side].1.abs_diff(fast.peak[side].1) < 45);
    }
    // Writes rise from hour 17 on.
    assert!((17 * 60..20 * 60).contains(&slow.peak[0].1), "{:?}", slow.peak);
}

/// Without its day, the peak is gone.
#[test]
fn it_is_the_day_that_makes_the_peaks() {
    let mut params = thinned("lm-tbe", 6);
    let busiest = |params: &CloneParams<'_>| {
        let found = measure(CloneSource::alone(params, u64::MAX, 1.0, 1), MINUTE_PS);
        [0, 1].map(|side| found.peak[side].0 * 86_400.0 / (found.millions[side] * 1e6))
    };
    let with = busiest(&params);
    (params.read.daily, params.write.daily) = (&[], &[]);
    let without = busiest(&params);
    assert!(with[1] > 9.0 && without[1] < 4.0, "{with:?} {without:?}");
    assert!(with[0] > 4.5 && without[0] < 4.0, "{with:?} {without:?}");
}

/// What the text of UPI says of its tenants beyond Table 2, and what its one number for a peak does
/// not say: that it lasts.
#[test]
fn the_tenants_are_what_the_paper_says_of_them() {
    for published in &TABLE {
        let params = find(published.name).expect("built in");
        let reads = published.millions[1] / (published.millions[0] + published.millions[1]);
        assert!((params.read_ratio - reads).abs() < 0.002, "{}: {reads}", published.name);
        let minutes = thinned(published.name, 6.min(params.levels));
        let mut source = CloneSource::alone(&minutes, u64::MAX, 1.0, 5);
        let (mut work, mut largest) = (vec![0_u64; 24 * 60], 0);
        while let Some(p) = source.next(Time::ZERO).expect("clones never fail") {
            let Some(minute) = work.get_mut((p.arrival.0 / MINUTE_PS) as usize) else { break };
            *minute += u64::from(p.sectors);
            largest = largest.max(p.sectors);
        }
        assert!(largest <= 128, "{}: no request above 64 KiB, found {largest}", published.name);
        let all: u64 = work.iter().sum();
        let busiest = work.windows(75).map(|minutes| minutes.iter().sum::<u64>()).max();
        let share = busiest.expect("a day") as f64 / all as f64;
        println!("{}: {share:.3} of the work in the busiest 75 minutes", published.name);
        assert!(share < 0.15, "{}: {share:.3} in 75 minutes of 1440", published.name);
    }
}

/// Mean length of the runs of requests of a type, each of which begins where another one of the
/// type ended, among the last 64 requests. Unit: KiB.
fn mean_run_kib(name: &str, op: RequestOp) -> f64 {
    let params = find(name).expect("built in");
    let mut source = CloneSource::alone(params, 200_000, 1.0, 3);
    let mut ends = std::collections::VecDeque::new();
    let (mut sectors, mut starts) = (0_u64, 0_u64);
    while let Some(p) = source.next(Time::ZERO).expect("clones never fail") {
        if p.op == op {
            sectors += u64::from(p.sectors);
            starts += u64::from(!ends.contains(&(p.sector, true)));
        }
        ends.push_back((p.sector + u64::from(p.sectors), p.op == op));
        if ends.len() > 64 {
            ends.pop_front();
        }
    }
    sectors as f64 / 2.0 / starts as f64
}

/// LM-TBE "sequentially accesses the device", DTRS is "relatively random".
#[test]
fn lm_tbe_is_sequential_and_dtrs_is_not() {
    for op in [RequestOp::Read, RequestOp::Write] {
        let [sequential, random] = ["lm-tbe", "dtrs"].map(|name| mean_run_kib(name, op));
        println!("{op:?}: mean runs of {sequential:.0} KiB and {random:.0} KiB");
        assert!(sequential > 4.0 * 1024.0, "{op:?}: {sequential:.0} KiB");
        assert!(random < sequential / 32.0, "{op:?}: {random:.0} KiB");
    }
}

/// Footprint, popularity and sizes of a clone can be replaced; its mean size stays.
#[test]
fn a_flow_can_change_what_a_clone_touches() {
    let space = FlowSpace {
        sectors: 100 << 20,
        pages: (100 << 20) / 16,
        ..FlowSpace::empty(<[Vec<u32>; 4]>::default())
    };
    let source = |change: fn(&mut CloneConfig)| {
        let mut config = CloneConfig::plain("das-as", Some(20_000));
        change(&mut config);
        CloneSource::new(&config, &space, 1, 0)
    };
    let pages = |change| match source(change).expect("allowed").footprint(32) {
        Footprint::Pages(set) => set.count(),
        other => panic!("a part of the space, found {other:?}"),
    };
    let (plain, half) = (pages(|_| {}), pages(|config| config.footprint = Some(0.5)));
    assert!((plain as f64 / half as f64 - 2.0).abs() < 0.01, "{plain} and {half}");
    let distinct = |change| {
        let mut source = source(change).expect("allowed");
        let mut extents = std::collections::BTreeSet::new();
        while let Some(p) = source.next(Time::ZERO).expect("clones never fail") {
            extents.insert(p.sector / 512);
        }
        extents.len()
    };
    assert!(distinct(|_| {}) > 2 * distinct(|config| config.theta = Some(1.2)));
    let mut large = source(|config| config.read_sizes = Some(vec![(8.0, 1.0), (128.0, 0.1)]))
        .expect("around the mean");
    let (mut reads, mut sectors, mut largest) = (0_u64, 0_u64, 0);
    while let Some(p) = large.next(Time::ZERO).expect("clones never fail") {
        if p.op == RequestOp::Read {
            (reads, sectors) = (reads + 1, sectors + u64::from(p.sectors));
            largest = largest.max(p.sectors);
        }
    }
    assert_eq!(largest, 256);
    assert!((sectors as f64 / 2.0 / reads as f64 / 31.5 - 1.0).abs() < 0.01);
    let refused = source(|config| config.read_sizes = Some(vec![(4.0, 1.0)]));
    let message = refused.map(drop).expect_err("the mean is outside").to_string();
    assert!(message.contains("clone.read_sizes") && message.contains("31.5"), "{message}");
}
