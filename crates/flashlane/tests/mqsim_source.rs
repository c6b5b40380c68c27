//! MQSim's synthetic and trace flows as sources of requests.

use flashlane::Error;
use flashlane::config::{MqsimAddress, MqsimSyntheticConfig, MqsimTraceConfig};
use flashlane::layout::FlowSpace;
use flashlane::workload::mqsim::{
    GeneratorMode, LineSource, MqsimRandom, MqsimSource, MqsimTraceSource, TraceLine,
};
use flashlane::workload::{Planned, RequestOp, RequestSource};
use flashlane_engine::Time;
use proptest::prelude::*;

const MQSIM: GeneratorMode = GeneratorMode::Mqsim { device_aligned: false };
const OURS: GeneratorMode = GeneratorMode::Ours { seed: 1, flow_index: 0 };

fn space(sectors: u64) -> FlowSpace {
    FlowSpace {
        start_sector: 12_345,
        sectors,
        pages: sectors.div_ceil(16),
        ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
    }
}

fn config() -> MqsimSyntheticConfig {
    MqsimSyntheticConfig {
        working_set_percent: 100,
        closed_loop: true,
        read_percent: 50,
        address: MqsimAddress::Uniform,
        hot_region_percent: 0,
        aligned: false,
        alignment_sectors: 1,
        normal_size: false,
        size_mean_sectors: 8,
        size_stddev_sectors: 0,
        seed: 798,
        queue_depth: 16,
        bandwidth: 0,
        stop_time_ns: 0,
        requests: 1000,
    }
}

fn all(source: &mut dyn RequestSource) -> Vec<Planned> {
    std::iter::from_fn(|| source.next(Time::ZERO).expect("no error")).collect()
}

fn drawn(config: &MqsimSyntheticConfig, sectors: u64, mode: GeneratorMode) -> Vec<Planned> {
    all(&mut MqsimSource::new(config, &space(sectors), mode))
}

#[test]
fn uniform_requests_follow_the_generators_of_consecutive_seeds() {
    let requests = drawn(&config(), 1_000_000, GeneratorMode::Mqsim { device_aligned: false });
    assert_eq!(requests.len(), 1000);
    let (mut kind, mut address) = (MqsimRandom::new(798), MqsimRandom::new(799));
    for request in requests {
        let op = if kind.unit() <= 0.5 { RequestOp::Read } else { RequestOp::Write };
        let sector = (1_000_000.0 * address.unit()) as u64;
        let sector = if sector + 8 > 999_999 { 0 } else { sector };
        assert_eq!((request.op, request.sector, request.sectors), (op, sector, 8));
    }
}

#[test]
fn hot_cold_sizes_and_gaps_take_the_next_seeds() {
    let config = MqsimSyntheticConfig {
        address: MqsimAddress::HotCold,
        hot_region_percent: 20,
        normal_size: true,
        size_mean_sectors: 100,
        size_stddev_sectors: 10,
        closed_loop: false,
        bandwidth: 300_000_000,
        ..config()
    };
    let requests = drawn(&config, 1 << 30, GeneratorMode::Mqsim { device_aligned: false });
    let [mut place, mut region, mut size, mut gap] = [800, 801, 802, 803].map(MqsimRandom::new);
    let hot_last = ((((1_u64 << 30) - 1) as f64) * 0.2) as u64;
    // 300 000 000 / 512 / 100 = 5859 requests a second, 170 677 ns apart, in whole numbers.
    let mut time_ns = 0;
    for request in requests {
        time_ns += (170_677.0 * gap.exponential()) as u64;
        assert_eq!(request.arrival, Time(time_ns * 1000));
        assert_eq!(u64::from(request.sectors), (100.0 + size.normal() * 10.0).ceil() as u64);
        let cold = region.unit() < 0.2;
        let count = if cold { (1 << 30) - 1 - hot_last } else { hot_last + 1 };
        let sector = (count as f64 * place.unit()) as u64 + if cold { hot_last + 1 } else { 0 };
        assert_eq!(request.sector, sector);
    }
}

#[test]
fn normal_sizes_below_one_sector_are_one_sector() {
    let mut config = config();
    (config.normal_size, config.size_mean_sectors, config.size_stddev_sectors) = (true, 4, 8);
    let requests = drawn(&config, 1_000_000, GeneratorMode::Mqsim { device_aligned: false });
    let ones = requests.iter().filter(|request| request.sectors == 1).count();
    // A third of a normal distribution is as far below its mean.
    assert!((ones as f64 / requests.len() as f64 - 0.354).abs() < 0.1, "{ones}");
    assert!(requests.iter().all(|request| (1..50).contains(&request.sectors)));
}

#[test]
fn streams_start_anywhere_go_on_and_wrap() {
    let config = MqsimSyntheticConfig {
        address: MqsimAddress::Streaming,
        aligned: true,
        alignment_sectors: 16,
        ..config()
    };
    let mut next = (10_000.0 * MqsimRandom::new(799).unit()) as u64 / 16 * 16;
    let mut wraps = 0;
    for request in drawn(&config, 10_000, GeneratorMode::Mqsim { device_aligned: false }) {
        let fits = next + 8 <= 9_999;
        assert_eq!(request.sector, if fits { next } else { 0 });
        // As in MQSim: the wrap itself does not move the stream on, so that 0 comes twice.
        next = if fits { (next + 8).next_multiple_of(16) } else { 0 };
        wraps += u32::from(!fits);
    }
    assert!(wraps > 0, "the stream never wrapped");
}

#[test]
fn closed_loops_stop_by_count_or_by_time() {
    let mut source = MqsimSource::new(&config(), &space(1000), OURS);
    assert_eq!(source.closed_loop(), Some(16));
    assert_eq!(all(&mut source).len(), 1000);
    assert_eq!(source.next(Time::ZERO).expect("no error"), None);
    source.restart(Time::from_us(5)).expect("no error");
    assert_eq!(all(&mut source).len(), 1000);

    let timed = MqsimSyntheticConfig { stop_time_ns: 1_000, requests: 0, ..config() };
    let mut source = MqsimSource::new(&timed, &space(1000), OURS);
    assert!(source.next(Time::from_us(1)).expect("no error").is_some());
    assert!(source.next(Time(1_000_001)).expect("no error").is_none());
    assert!(source.next(Time::ZERO).expect("no error").is_none(), "over is over");
    source.restart(Time::from_us(2)).expect("no error");
    assert!(source.next(Time::from_us(3)).expect("no error").is_some());
    assert!(source.next(Time::from_us(4)).expect("no error").is_none());
}

#[test]
fn open_loops_arrive_at_their_rate_until_the_end() {
    let open = MqsimSyntheticConfig {
        closed_loop: false,
        bandwidth: 409_600_000,
        stop_time_ns: 1_000_000_000,
        requests: 0,
        ..config()
    };
    for mode in [MQSIM, OURS] {
        let mut source = MqsimSource::new(&open, &space(1_000_000), mode);
        assert_eq!(source.closed_loop(), None);
        let requests = all(&mut source);
        assert!((requests.len() as f64 / 100_000.0 - 1.0).abs() < 0.02, "{}", requests.len());
        assert!(requests.is_sorted_by_key(|request| request.arrival));
        assert!(requests.last().expect("some").arrival <= Time::from_s(1));
        source.restart(Time::from_s(7)).expect("no error");
        let again = all(&mut source);
        assert!(again[0].arrival >= Time::from_s(7));
        assert!(again.last().expect("some").arrival <= Time::from_s(8));
    }
}

#[test]
fn ours_has_the_same_distributions_and_its_own_streams() {
    let config = MqsimSyntheticConfig {
        address: MqsimAddress::HotCold,
        hot_region_percent: 10,
        read_percent: 70,
        requests: 100_000,
        ..config()
    };
    for mode in [MQSIM, OURS] {
        let requests = drawn(&config, 1_000_000, mode);
        let share = |test: &dyn Fn(&Planned) -> bool| {
            requests.iter().filter(|request| test(request)).count() as f64 / 100_000.0
        };
        assert!((share(&|r| r.op == RequestOp::Read) - 0.7).abs() < 0.01);
        assert!((share(&|r| r.sector < 100_000) - 0.9).abs() < 0.01, "hot gets the other share");
    }
    let other = GeneratorMode::Ours { seed: 1, flow_index: 1 };
    assert_eq!(drawn(&config, 1_000_000, OURS), drawn(&config, 1_000_000, OURS));
    assert_ne!(drawn(&config, 1_000_000, OURS), drawn(&config, 1_000_000, other));
    let reseeded = MqsimSyntheticConfig { seed: 799, ..config.clone() };
    assert_ne!(drawn(&config, 1_000_000, OURS), drawn(&reseeded, 1_000_000, OURS));
}

#[test]
fn a_flow_without_space_has_no_requests() {
    for mode in [MQSIM, OURS] {
        assert!(drawn(&config(), 0, mode).is_empty());
        assert_eq!(drawn(&config(), 1, mode)[0].sectors, 1);
    }
}

fn any_config() -> impl Strategy<Value = MqsimSyntheticConfig> {
    let address = prop::sample::select(vec![
        MqsimAddress::Streaming,
        MqsimAddress::Uniform,
        MqsimAddress::HotCold,
    ]);
    let place = (0_u32..=100, 0_u32..=100, 0_u32..=100, address, 1_u32..5000, any::<bool>());
    let size = (any::<bool>(), 1_u32..5000, 0_u32..5000);
    (place, size, any::<i32>(), any::<bool>(), 0_u64..1 << 32).prop_map(
        |(place, (normal_size, mean, spread), seed, closed_loop, bandwidth)| {
            let (working_set_percent, read_percent, hot, address, unit, aligned) = place;
            MqsimSyntheticConfig {
                working_set_percent,
                read_percent,
                hot_region_percent: hot,
                address,
                aligned,
                alignment_sectors: unit,
                normal_size,
                size_mean_sectors: mean,
                size_stddev_sectors: spread,
                seed,
                closed_loop,
                bandwidth,
                requests: 200,
                ..config()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn requests_stay_inside_the_working_set(
        config in any_config(),
        sectors in prop_oneof![1_u64..100, 1_u64..1_000_000, 1_u64..1 << 40],
        ours in any::<bool>(),
    ) {
        let mode = if ours { OURS } else { MQSIM };
        let share = f64::from(config.working_set_percent) / 100.0;
        let end = ((sectors - 1) as f64 * share) as u64 + 1;
        let requests = drawn(&config, sectors, mode);
        prop_assert_eq!(requests.len(), 200);
        prop_assert!(requests.is_sorted_by_key(|request| request.arrival));
        for request in requests {
            prop_assert!(request.sectors > 0);
            prop_assert!(request.sector + u64::from(request.sectors) <= end);
            if config.aligned {
                prop_assert_eq!(request.sector % u64::from(config.alignment_sectors), 0);
            }
        }
    }
}

/// Lines in memory.
struct Lines(Vec<TraceLine>, usize);

impl LineSource for Lines {
    fn next(&mut self) -> Result<Option<TraceLine>, Error> {
        self.1 += 1;
        Ok(self.0.get(self.1 - 1).copied())
    }

    fn rewind(&mut self) -> Result<(), Error> {
        self.1 = 0;
        Ok(())
    }
}

fn line(time_ns: u64, lba: u64, sectors: u32, write: bool) -> TraceLine {
    TraceLine { time_ns, lba, sectors, write }
}

fn trace(lines: Vec<TraceLine>, percent: u32, rounds: u32, sectors: u64) -> MqsimTraceSource {
    let config = MqsimTraceConfig { path: "a.trace".into(), percent, rounds };
    MqsimTraceSource::new(Box::new(Lines(lines, 0)), &config, &space(sectors)).expect("readable")
}

fn times_ns(requests: &[Planned]) -> Vec<u64> {
    requests.iter().map(|request| request.arrival.0 / 1000).collect()
}

#[test]
fn trace_rounds_start_at_the_last_arrival_of_the_one_before() {
    let lines = vec![line(100, 0, 8, true), line(250, 8, 16, false)];
    let mut source = trace(lines.clone(), 50, 3, 1000);
    assert_eq!(source.closed_loop(), None);
    let requests = all(&mut source);
    assert_eq!(times_ns(&requests), [100, 250, 350, 500, 600, 750]);
    assert_eq!((requests[0].op, requests[1].op), (RequestOp::Write, RequestOp::Read));
    source.restart(Time::from_ns(2000)).expect("no error");
    assert_eq!(times_ns(&all(&mut source))[..3], [2100, 2250, 2350]);
    assert_eq!(times_ns(&all(&mut trace(lines, 50, 1, 1000))), [100]);
}

#[test]
fn percentages_of_a_trace_round_down() {
    let lines: Vec<TraceLine> = (0..7).map(|i| line(i, i, 1, false)).collect();
    for (percent, count) in [(100, 7), (99, 6), (50, 3), (14, 0), (15, 1)] {
        assert_eq!(all(&mut trace(lines.clone(), percent, 1, 100)).len(), count, "{percent} %");
    }
}

#[test]
fn trace_addresses_are_wrapped_as_mqsim_does_and_kept_inside() {
    let lines = vec![
        line(0, 99, 1, false),
        line(0, 100, 1, false),
        line(0, 250, 8, false),
        line(0, 96, 8, false),
        line(0, 0, 0, true),
        line(0, 0, 500, true),
    ];
    let mut source = trace(lines, 100, 1, 100);
    let requests = all(&mut source);
    let places: Vec<(u64, u32)> = requests.iter().map(|r| (r.sector, r.sectors)).collect();
    assert_eq!(places, [(99, 1), (1, 1), (52, 8), (92, 8), (0, 100)]);
    let report = source.report();
    assert_eq!((report.wrapped, report.clipped), (3, 2));
}

#[test]
fn trace_times_must_not_run_back_or_overflow() {
    let mut source = trace(vec![line(5, 0, 1, false), line(4, 0, 1, false)], 100, 1, 10);
    assert!(source.next(Time::ZERO).expect("good").is_some());
    let error = source.next(Time::ZERO).expect_err("a refusal").to_string();
    assert!(error.contains("a.trace") && error.contains("request 2"), "{error}");
    let mut source = trace(vec![line(u64::MAX / 10, 0, 1, false)], 100, 1, 10);
    assert!(source.next(Time::ZERO).is_err());
    assert!(all(&mut trace(Vec::new(), 100, 5, 10)).is_empty());
    assert!(all(&mut trace(vec![line(0, 0, 1, false)], 100, 1, 0)).is_empty());
}

proptest! {
    #[test]
    fn trace_requests_stay_inside_the_flow(
        lines in prop::collection::vec((any::<u64>(), any::<u32>()), 0..20),
        sectors in 1_u64..1000,
    ) {
        let lines = lines.into_iter().map(|(lba, size)| line(0, lba, size, false)).collect();
        for request in all(&mut trace(lines, 100, 2, sectors)) {
            prop_assert!(request.sectors > 0);
            prop_assert!(request.sector + u64::from(request.sectors) <= sectors);
        }
    }
}

#[test]
fn hot_and_cold_requests_reach_over_the_end_where_they_wrap() {
    let config =
        MqsimSyntheticConfig { address: MqsimAddress::HotCold, hot_region_percent: 50, ..config() };
    let ends = |wraps_after: Option<u64>| {
        let space = FlowSpace { wraps_after, ..space(200) };
        let requests = all(&mut MqsimSource::new(&config, &space, MQSIM));
        assert!(requests.iter().all(|request| request.sector < 200));
        requests.iter().map(|request| request.sector + u64::from(request.sectors)).max()
    };
    assert_eq!(ends(None), Some(200), "moved back");
    assert!(ends(Some(199)) > Some(200), "or not");
}
