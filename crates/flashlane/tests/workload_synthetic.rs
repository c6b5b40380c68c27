//! Synthetic flows: ranges, shares, clocks, ends of passes.

use flashlane::config::SyntheticConfig;
use flashlane::layout::FlowSpace;
use flashlane::workload::footprint::Footprint;
use flashlane::workload::synthetic::SyntheticSource;
use flashlane::workload::{Planned, RequestOp, RequestSource};
use flashlane_engine::Time;
use proptest::prelude::*;

const HOT: &str = "{ hot-cold = { hot_region = 0.1, hot_traffic = 0.5 } }";
const MIXED: &str = "{ mixed = { streaming = 0.5, stream_space = 0.3 } }";
const SECOND: u64 = 1_000_000_000_000;

fn space(sectors: u64) -> FlowSpace {
    FlowSpace {
        start_sector: 1000,
        sectors,
        pages: sectors.div_ceil(16),
        first_lpa: 77,
        ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
    }
}

fn config(text: &str) -> SyntheticConfig {
    toml::from_str(text).expect("a valid configuration")
}

fn source(text: &str, sectors: u64, seed: u64, flow: u64) -> SyntheticSource {
    SyntheticSource::new(&config(text), &space(sectors), 8192, seed, flow)
}

fn take(source: &mut SyntheticSource, count: usize, now: Time) -> Vec<Planned> {
    (0..count).map_while(|_| source.next(now).expect("synthetic flows never fail")).collect()
}

fn share(requests: &[Planned], op: RequestOp) -> f64 {
    requests.iter().filter(|p| p.op == op).count() as f64 / requests.len() as f64
}

#[test]
fn operations_have_their_shares() {
    let mut source = source(
        "queue_depth = 4\nread_ratio = 0.75\ntrim_ratio = 0.1\nflush_ratio = 0.05",
        1 << 20,
        1,
        0,
    );
    assert_eq!(source.closed_loop(), Some(4));
    let requests = take(&mut source, 100_000, Time(5));
    assert!((share(&requests, RequestOp::Flush) - 0.05).abs() < 0.005);
    assert!((share(&requests, RequestOp::Trim) - 0.1).abs() < 0.005);
    assert!((share(&requests, RequestOp::Read) - 0.85 * 0.75).abs() < 0.01);
    for p in requests {
        assert_eq!(p.sectors == 0, p.op == RequestOp::Flush);
        assert_eq!(p.arrival, Time(5));
    }
}

#[test]
fn constant_arrivals_do_not_drift() {
    // 3 requests per second: a third of a second is no whole number of picoseconds.
    let mut source = source("iops = 3.0\narrivals = \"constant\"", 1 << 20, 1, 0);
    assert_eq!(source.closed_loop(), None);
    let requests = take(&mut source, 30_000, Time::ZERO);
    let last = requests[29_999].arrival.0;
    assert!(last.abs_diff(10_000 * SECOND) <= 10, "{last}");
}

#[test]
fn a_bandwidth_is_kept_in_bytes() {
    for size in [
        "size = \"4KiB\"",
        "size = { normal = { mean = \"12KiB\", stddev = \"8KiB\" } }",
        "size = { discrete = [[\"4KiB\", 3.0], [\"64KiB\", 1.0]] }",
        "size = \"16KiB\"\nflush_ratio = 0.2",
    ] {
        let text = format!("bandwidth = \"100MB/s\"\n{size}");
        let requests = take(&mut source(&text, 1 << 24, 1, 0), 200_000, Time::ZERO);
        let bytes: u64 = requests.iter().map(|p| u64::from(p.sectors) * 512).sum();
        let rate = bytes as f64 / requests[199_999].arrival.as_s();
        assert!((rate / 1e8 - 1.0).abs() < 0.015, "{size}: {rate}");
    }
}

#[test]
fn poisson_gaps_have_variation_1() {
    let requests = take(&mut source("iops = 1000", 1 << 20, 3, 0), 200_000, Time::ZERO);
    let gaps: Vec<f64> =
        requests.windows(2).map(|w| (w[1].arrival.0 - w[0].arrival.0) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let square = gaps.iter().map(|g| g * g).sum::<f64>() / gaps.len() as f64;
    assert!((mean / 1e9 - 1.0).abs() < 0.01, "{mean}");
    assert!((square / (mean * mean) - 2.0).abs() < 0.05);
}

#[test]
fn an_open_pass_ends_before_the_first_arrival_beyond_its_duration() {
    let text = "iops = 10\narrivals = \"constant\"\nduration = \"1s\"";
    let mut source = source(text, 1 << 20, 1, 0);
    let first = take(&mut source, 100, Time::ZERO);
    // Arrivals at 0.1 s, ..., 0.9 s; the one at 1 s is not part of the pass.
    assert_eq!(first.len(), 9);
    assert_eq!(source.next(Time::ZERO).expect("no failure"), None);
    source.restart(Time(7 * SECOND)).expect("no failure");
    let second = take(&mut source, 100, Time::ZERO);
    assert_eq!(second.len(), 9);
    assert_eq!(second[0].arrival, Time(7 * SECOND + SECOND / 10));
    assert_ne!(first[0].sector, second[0].sector);
}

#[test]
fn a_closed_pass_ends_by_count_and_by_the_clock() {
    let mut source = source("queue_depth = 1\nrequests = 5\nduration = \"1s\"", 1 << 20, 1, 0);
    assert_eq!(take(&mut source, 100, Time::ZERO).len(), 5);
    source.restart(Time(SECOND)).expect("no failure");
    assert_eq!(take(&mut source, 3, Time(2 * SECOND - 1)).len(), 3);
    assert_eq!(take(&mut source, 3, Time(2 * SECOND)).len(), 0);
}

#[test]
fn zipf_extents_are_scattered_and_have_the_shares_of_theory() {
    let text = "queue_depth = 1\naddress = { zipf = { theta = 1.0, extent = \"64KiB\" } }";
    let mut source = source(text, 128 * 1000, 1, 0);
    let n = 500_000;
    let mut seen = vec![0_u32; 1000];
    for p in take(&mut source, n, Time::ZERO) {
        seen[(p.sector / 128) as usize] += 1;
    }
    let hottest = seen.iter().position(|&c| c == *seen.iter().max().expect("not empty"));
    assert_ne!(hottest, Some(0));
    seen.sort_unstable_by(|a, b| b.cmp(a));
    let harmonic: f64 = (1..=1000).map(|k| 1.0 / f64::from(k)).sum();
    for rank in [1, 2, 3, 10] {
        let expected = n as f64 / harmonic / rank as f64;
        let found = f64::from(seen[rank - 1]);
        assert!((found / expected - 1.0).abs() < 0.05, "rank {rank}: {found} {expected}");
    }
}

#[test]
fn footprints_say_what_is_touched() {
    let footprint =
        |text: &str| source(&format!("queue_depth = 1\n{text}"), 1000, 1, 0).footprint();
    assert_eq!(footprint(""), Footprint::Whole);
    assert_eq!(footprint("working_set = 0.25"), Footprint::Prefix { sectors: 250 });
    assert_eq!(footprint("address = \"streaming\""), Footprint::Streaming { sectors: 1000 });
    let hot = "align = \"512B\"\naddress = { hot-cold = { hot_region = 0.2, hot_traffic = 0.8 } }";
    let (hot_sectors, total_sectors, hot_traffic) = (200, 1000, 0.8);
    assert_eq!(footprint(hot), Footprint::HotCold { hot_sectors, total_sectors, hot_traffic });
}

fn addresses() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("address = \"uniform\"".to_owned()),
        Just("address = \"streaming\"".to_owned()),
        (0.0..1.0, 0.01..0.99).prop_map(|(t, r)| format!(
            "address = {{ hot-cold = {{ hot_region = {r}, hot_traffic = {t} }} }}"
        )),
        (0.0..3.0, 1_u64..200).prop_map(|(theta, kib)| format!(
            "address = {{ zipf = {{ theta = {theta}, extent = \"{kib}KiB\" }} }}"
        )),
        (0.0..1.0).prop_map(|s| format!("address = {{ mixed = {{ streaming = {s} }} }}")),
    ]
}

fn sizes() -> impl Strategy<Value = String> {
    prop_oneof![
        (1_u64..200_000).prop_map(|b| format!("size = \"{b}B\"")),
        (1_u64..100, 0_u64..100).prop_map(|(mean, sd)| format!(
            "size = {{ normal = {{ mean = \"{mean}KiB\", stddev = \"{sd}KiB\" }} }}"
        )),
        (1_u64..64, 1_u64..64).prop_map(|(a, b)| format!(
            "size = {{ discrete = [[\"{a}KiB\", 1.0], [\"{b}KiB\", 2.5]] }}"
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_request_is_in_range_aligned_and_in_order(
        address in addresses(),
        size in sizes(),
        align in 1_u64..20,
        sectors in 1_u64..1_000_000,
        working_set in 0.001..1.0,
        seed: u64,
    ) {
        let text = format!(
            "iops = 1e5\ntrim_ratio = 0.1\nflush_ratio = 0.1\nalign = \"{}B\"\n\
             working_set = {working_set}\n{address}\n{size}",
            align * 512
        );
        let limit = ((sectors as f64 * working_set) as u64 + 1).min(sectors);
        let requests = take(&mut source(&text, sectors, seed, 0), 300, Time::ZERO);
        prop_assert_eq!(requests.len(), 300);
        let mut last = Time::ZERO;
        for p in &requests {
            prop_assert!(p.sector + u64::from(p.sectors) <= limit, "{:?} of {}", p, limit);
            prop_assert_eq!(p.sector % align, 0);
            prop_assert_eq!(p.sectors == 0, p.op == RequestOp::Flush);
            prop_assert!(p.arrival >= last);
            last = p.arrival;
        }
        prop_assert_eq!(&requests, &take(&mut source(&text, sectors, seed, 0), 300, Time::ZERO));
        prop_assert_ne!(&requests, &take(&mut source(&text, sectors, seed, 1), 300, Time::ZERO));
    }
}

#[test]
fn a_region_bounds_every_address_and_the_footprint() {
    let text = "queue_depth = 1\nsize = '8KiB'\nregion_start = '1MiB'\nregion = '64KiB'\n";
    for address in ["'uniform'", "'streaming'", "{ zipf = { theta = 1.0 } }"] {
        let mut source = source(&format!("{text}address = {address}"), 1 << 20, 3, 0);
        let requests = take(&mut source, 2_000, Time::ZERO);
        let first = requests.iter().map(|p| p.sector).min();
        let last = requests.iter().map(|p| p.sector + u64::from(p.sectors)).max();
        assert_eq!((first, last), (Some(2048), Some(2048 + 128)), "{address}");
        let Footprint::Pages(pages) = source.footprint() else { panic!("{address}: pages") };
        assert_eq!(pages.iter().collect::<Vec<_>>(), (128..136).collect::<Vec<_>>());
    }
    let whole = source("queue_depth = 1\nregion = '1MiB'", 1 << 20, 3, 0);
    assert_eq!(whole.footprint(), Footprint::Prefix { sectors: 2048 });
    let rest = source("queue_depth = 1\nregion_start = '511MiB'", 1 << 20, 3, 0);
    let Footprint::Pages(pages) = rest.footprint() else { panic!("pages") };
    assert_eq!(pages.count(), 128);
}

#[test]
fn requests_start_at_multiples_of_their_size_in_every_region_and_shape() {
    for address in ["'uniform'", "'streaming'", "{ zipf = { theta = 1.0 } }", HOT, MIXED] {
        for (size, sectors) in [("64KiB", 128), ("12KiB", 8), ("512B", 1)] {
            for region in ["", "region_start = '1536B'\nregion = '1000KiB'", "working_set = 0.3"] {
                let text =
                    format!("queue_depth = 1\nsize = '{size}'\n{region}\naddress = {address}");
                let first = if region.starts_with("region") { 3 } else { 0 };
                for seed in 1..5 {
                    let requests = take(&mut source(&text, 100_001, seed, 0), 500, Time::ZERO);
                    assert!(
                        requests.iter().all(|p| (p.sector - first).is_multiple_of(sectors)),
                        "{text}"
                    );
                }
            }
        }
    }
    // Blocks of 12 KiB follow each other without holes.
    let text = "queue_depth = 1\nsize = '12KiB'\naddress = 'streaming'";
    let stream = take(&mut source(text, 1 << 20, 1, 0), 100, Time::ZERO);
    assert!(stream.windows(2).all(|w| w[1].sector == w[0].sector + 24 || w[1].sector == 0));
}

#[test]
fn a_flow_may_have_a_seed_of_its_own() {
    let with = |seed: &str, run: u64| {
        take(&mut source(&format!("queue_depth = 1\n{seed}"), 1 << 20, run, 0), 50, Time::ZERO)
    };
    assert_eq!(with("seed = 5", 1), with("seed = 5", 2), "the seed of the run does not matter");
    assert_eq!(with("seed = 5", 1), with("", 5));
    assert_ne!(with("seed = 5", 1), with("seed = 6", 1));
}
