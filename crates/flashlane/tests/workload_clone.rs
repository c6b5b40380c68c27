//! Every clone against the statistics that it is made from.

use std::collections::VecDeque;

use flashlane::config::{CloneConfig, TraceConfig};
use flashlane::layout::FlowSpace;
use flashlane::workload::clone::{CloneParams, CloneSource, list};
use flashlane::workload::footprint::Footprint;
use flashlane::workload::{Planned, RequestOp, RequestSource};
use flashlane_engine::Time;

const REQUESTS: u64 = 1_000_000;

fn space(sectors: u64) -> FlowSpace {
    FlowSpace {
        sectors,
        pages: sectors.div_ceil(16),
        ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
    }
}

/// The clones whose rate does not change over the day; the others are in `workload_clone_day`.
fn steady() -> impl Iterator<Item = &'static CloneParams<'static>> {
    list().iter().filter(|params| params.read.daily.is_empty() && params.write.daily.is_empty())
}

/// 32 GiB: no set of extents is cut.
fn roomy() -> FlowSpace {
    space(64 << 20)
}

fn config(of: &str, requests: u64) -> CloneConfig {
    CloneConfig::plain(of, Some(requests))
}

fn open(of: &str, requests: u64, seed: u64) -> CloneSource {
    CloneSource::new(&config(of, requests), &roomy(), seed, 0).expect("a known clone")
}

/// Statistics of one type; index by `is_read`.
#[derive(Default)]
struct SideStats {
    requests: f64,
    kib: f64,
    gap_ms: f64,
    continued: f64,
}

struct Stats {
    sides: [SideStats; 2],
    cv: f64,
    idc_1s: f64,
    end_sector: u64,
}

impl Stats {
    fn read_ratio(&self) -> f64 {
        self.sides[1].requests / (self.sides[0].requests + self.sides[1].requests)
    }

    fn kib(&self, side: usize) -> f64 {
        self.sides[side].kib / self.sides[side].requests
    }

    fn gap_ms(&self, side: usize) -> f64 {
        self.sides[side].gap_ms / self.sides[side].requests
    }

    fn seq32(&self, side: usize) -> f64 {
        self.sides[side].continued / self.sides[side].requests
    }
}

/// Mean and variance by Welford's rule.
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.count;
        self.squares += delta * (value - self.mean);
    }

    fn variance(&self) -> f64 {
        self.squares / self.count
    }
}

fn measure(mut source: CloneSource) -> Stats {
    let mut stats =
        Stats { sides: <[SideStats; 2]>::default(), cv: 0.0, idc_1s: 0.0, end_sector: 0 };
    let (mut gaps, mut counts) = (Moments::default(), Moments::default());
    let (mut window, mut in_window) = (0, 0.0);
    let (mut last, mut ends) = (0, VecDeque::new());
    while let Some(p) = source.next(Time::ZERO).expect("clones never fail") {
        let side = &mut stats.sides[usize::from(p.op == RequestOp::Read)];
        let gap_ms = (p.arrival.0 - last) as f64 / 1e9;
        last = p.arrival.0;
        side.requests += 1.0;
        side.kib += f64::from(p.sectors) / 2.0;
        side.gap_ms += gap_ms;
        side.continued += f64::from(u8::from(ends.contains(&p.sector)));
        gaps.add(gap_ms);
        while p.arrival.0 / 1_000_000_000_000 > window {
            counts.add(std::mem::take(&mut in_window));
            window += 1;
        }
        in_window += 1.0;
        if ends.len() == 32 {
            ends.pop_front();
        }
        ends.push_back(p.sector + u64::from(p.sectors));
        stats.end_sector = stats.end_sector.max(p.sector + u64::from(p.sectors));
    }
    stats.cv = gaps.variance().sqrt() / gaps.mean;
    stats.idc_1s = counts.variance() / counts.mean;
    stats
}

fn row(p: &CloneParams, s: &Stats) -> String {
    let pair = |a: f64, b: f64, digits: usize| format!("{a:.digits$} ({b:.digits$})");
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} ({}) | {} | {} |",
        p.name,
        pair(s.read_ratio(), p.read_ratio, 3),
        pair(s.kib(1), p.read.mean_kib, 2),
        pair(s.kib(0), p.write.mean_kib, 2),
        pair(s.gap_ms(1), p.read.gap_ms, 3),
        pair(s.gap_ms(0), p.write.gap_ms, 3),
        pair(s.cv, p.gap_cv, 2),
        s.idc_1s.round(),
        p.idc_1s.map_or("-".to_owned(), |idc| idc.to_string()),
        pair(s.seq32(1), p.read.seq32, 3),
        pair(s.seq32(0), p.write.seq32, 3),
    )
}

/// What a clone misses of its acceptance limits.
fn faults(p: &CloneParams, s: &Stats) -> Vec<String> {
    let near = |found: f64, target: f64, share: f64| (found / target - 1.0).abs() <= share;
    let mut faults = Vec::new();
    let mut check = |what: &str, holds: bool| {
        if !holds {
            faults.push(format!("{}: {what}", p.name));
        }
    };
    check("read ratio within 0.005", (s.read_ratio() - p.read_ratio).abs() <= 0.005);
    for (index, side) in [&p.write, &p.read].into_iter().enumerate() {
        check("mean size within 1 %", near(s.kib(index), side.mean_kib, 0.01));
        check("mean gap within 3 %", near(s.gap_ms(index), side.gap_ms, 0.03));
        check("seq32 within 0.03", (s.seq32(index) - side.seq32).abs() <= 0.03);
    }
    check("CV within 15 %", near(s.cv, p.gap_cv, 0.15));
    if let Some(target) = p.idc_1s {
        check("IDC within a factor of 2", (0.5..=2.0).contains(&(s.idc_1s / target)));
    }
    faults
}

/// The acceptance limits over a million requests. Prints measured values, targets in brackets.
#[test]
fn every_clone_is_within_its_limits() {
    println!(
        "| clone | read ratio | read KiB | write KiB | read gap ms | write gap ms | gap CV | IDC 1 s | read seq32 | write seq32 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut missed = Vec::new();
    for params in steady() {
        let stats = measure(open(params.name, REQUESTS, 1));
        println!("{}", row(params, &stats));
        missed.extend(faults(params, &stats));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// The limits hold for other seeds, too: by construction, not by luck.
#[test]
fn the_limits_hold_for_other_seeds() {
    let seeds = std::env::var("CLONE_SEEDS").map_or(2, |n| n.parse().expect("a number"));
    let missed: Vec<String> = steady()
        .flat_map(|params| (2..2 + seeds).map(move |seed| (params, seed)))
        .flat_map(|(params, seed)| {
            let missed = faults(params, &measure(open(params.name, REQUESTS, seed)));
            missed.into_iter().map(move |fault| format!("seed {seed} {fault}"))
        })
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

fn take(source: &mut CloneSource, count: usize) -> Vec<Planned> {
    (0..count).map_while(|_| source.next(Time::ZERO).expect("clones never fail")).collect()
}

#[test]
fn the_same_seed_gives_the_same_stream_and_another_flow_another() {
    let stream = |seed, flow| {
        let mut source =
            CloneSource::new(&config("msnfs", 1000), &roomy(), seed, flow).expect("known");
        take(&mut source, 2000)
    };
    assert_eq!(stream(1, 0).len(), 1000);
    assert_eq!(stream(1, 0), stream(1, 0));
    assert_ne!(stream(1, 0), stream(1, 1));
    assert_ne!(stream(1, 0), stream(2, 0));
}

/// MSR volumes: most gaps are microseconds, as in the cuts, at mean gaps of tens of milliseconds.
#[test]
fn requests_of_msr_clones_come_in_batches() {
    for params in list().iter().filter(|params| params.batch > 0.0) {
        let arrivals: Vec<u64> =
            take(&mut open(params.name, 100_000, 1), 100_000).iter().map(|p| p.arrival.0).collect();
        let short = arrivals.windows(2).filter(|w| w[1] - w[0] < 100_000_000).count();
        let share = short as f64 / arrivals.len() as f64;
        assert!((params.batch - 0.02..params.batch + 0.15).contains(&share), "{share}");
    }
}

#[test]
fn a_small_space_is_never_left() {
    for sectors in [1, 100, 5000, 1_000_003] {
        for params in list() {
            let space = space(sectors);
            let mut source =
                CloneSource::new(&config(params.name, 5000), &space, 3, 0).expect("known");
            let mut last = Time::ZERO;
            for p in take(&mut source, 5000) {
                assert!(p.sectors > 0);
                assert!(p.sector + u64::from(p.sectors) <= sectors, "{} {p:?}", params.name);
                assert!(p.arrival >= last);
                last = p.arrival;
            }
        }
    }
}

#[test]
fn time_scale_scales_the_gaps_and_nothing_else() {
    let stream = |time_scale| {
        let config = CloneConfig { time_scale, ..config("fin1", 10_000) };
        take(&mut CloneSource::new(&config, &roomy(), 9, 0).expect("known"), 10_000)
    };
    for (plain, fast) in stream(1.0).iter().zip(stream(0.1)) {
        assert!(plain.arrival.0.abs_diff(fast.arrival.0 * 10) <= 20_000);
        assert_eq!((plain.op, plain.sector), (fast.op, fast.sector));
    }
    let config = CloneConfig { time_scale: 0.0, ..config("fin1", 1) };
    let error = CloneSource::new(&config, &roomy(), 9, 0).expect_err("0 is refused");
    assert!(error.to_string().contains("above 0"), "{error}");
}

#[test]
fn another_pass_goes_on_with_other_requests() {
    let mut source = open("wsrch", 500, 1);
    let first = take(&mut source, 1000);
    assert_eq!(first.len(), 500);
    let start = Time::from_s(1000);
    source.restart(start).expect("clones never fail");
    let second = take(&mut source, 1000);
    assert_eq!(second.len(), 500);
    assert!(second[0].arrival >= start);
    assert_ne!(first[0].sector, second[0].sector);
}

#[test]
fn the_footprint_covers_what_is_drawn_at_random() {
    let mut source = open("tpcc", 20_000, 1);
    let Footprint::Pages(pages) = source.footprint(16) else { panic!("5 of 32 GiB") };
    let mib = pages.count() as f64 * 8.0 / 1024.0;
    assert!((mib / (3136.0 + 1984.0) - 1.0).abs() < 0.05, "{mib} MiB");
    let requests = take(&mut source, 20_000);
    let inside = requests.iter().filter(|p| pages.contains(p.sector / 16)).count();
    assert!(inside as f64 > 0.99 * requests.len() as f64, "{inside}");
}

/// The configuration types of traces and clones stay apart.
#[test]
fn clone_configurations_read_from_toml() {
    let config: CloneConfig = toml::from_str("of = \"tpcc\"\ntime_scale = 0.5").expect("valid");
    assert_eq!(config.time_scale, 0.5);
    assert!(toml::from_str::<TraceConfig>("of = \"tpcc\"").is_err());
}

/// The draws are part of what users compare: this changes only on purpose.
#[test]
fn the_draws_are_pinned() {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for params in steady() {
        for p in take(&mut open(params.name, 1000, 1), 1000) {
            for word in [p.arrival.0, p.sector, u64::from(p.sectors), p.op as u64] {
                hash = (hash ^ word).wrapping_mul(0x0100_0000_01B3);
            }
        }
    }
    assert_eq!(hash, 0x5D4D_2A86_D0AA_24DB, "{hash:#x}");
}
