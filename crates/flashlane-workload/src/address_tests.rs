//! Tests of the distributions of addresses.

use super::*;
use crate::config::{HotColdConfig, MixedConfig, ZipfConfig};
use flashlane_units::{ByteSize, Ratio, Span};

fn draw(config: &AddressConfig, limit: u64, align: u64) -> (AddressDraw, Rng) {
    let mut rng = Rng::stream(5, "test.address", 0);
    (AddressDraw::new(config, limit, align, &mut rng), rng)
}

#[test]
fn a_stream_goes_on_and_wraps() {
    let (mut address, mut rng) = draw(&AddressConfig::Streaming, 1000, 8);
    let mut expected = address.stream;
    for _ in 0..500 {
        let (start, sectors) = address.draw(12, Time::ZERO, &mut rng);
        assert_eq!(sectors, 12);
        assert_eq!(start, if expected + 12 <= 1000 { expected } else { 0 });
        expected = start + 16;
    }
}

#[test]
fn the_past_of_a_stream_ends_where_the_stream_begins() {
    for (limit, align, sizes) in [(1000, 8, [8, 8, 8]), (1001, 8, [3, 12, 40]), (96, 1, [7, 5, 9])]
    {
        let (begins, mut rng) = draw(&AddressConfig::Streaming, limit, align);
        let mut first = begins.clone();
        first.diverge(0);
        let take = |address: &mut AddressDraw, rng: &mut Rng| -> Vec<(u64, u64)> {
            let sizes = sizes.iter().cycle().take(100);
            sizes.map(|&size| address.draw(size, Time::ZERO, rng)).collect()
        };
        take(&mut first, &mut rng);
        let mut past = begins.clone();
        past.diverge(first.gone());
        let (start, sectors) = take(&mut past, &mut rng)[99];
        assert_eq!(past.stream, begins.stream, "the run goes on where the past ends");
        let ends = (start + sectors).next_multiple_of(align);
        assert!(ends == begins.stream || begins.stream < 48, "{ends} {}", begins.stream);
        assert_eq!(past.gone(), first.gone(), "from wherever it comes");
    }
}

#[test]
fn a_mixed_stream_wraps_in_its_part_of_the_space() {
    let config = AddressConfig::Mixed(MixedConfig {
        streaming: Ratio(1.0),
        stream_space: Ratio(0.1),
        phase: None,
    });
    let (mut address, mut rng) = draw(&config, 10_000, 8);
    let starts: Vec<u64> = (0..250).map(|_| address.draw(8, Time::ZERO, &mut rng).0).collect();
    assert!(starts.iter().all(|start| start + 8 <= 1000));
    assert_eq!(starts[..125], starts[125..], "a round of 125 requests repeats");
}

#[test]
fn a_mixed_flow_streams_for_its_part_of_each_phase() {
    let config = AddressConfig::Mixed(MixedConfig {
        streaming: Ratio(0.25),
        stream_space: Ratio(0.01),
        phase: Some(Span(1000)),
    });
    let (mut address, mut rng) = draw(&config, 100_000, 8);
    let streamed = |address: &mut AddressDraw, rng: &mut Rng, from: u64| {
        (from..from + 250).filter(|&t| address.draw(8, Time(t), rng).0 < 1000).count()
    };
    for phase in [0, 1000, 7000] {
        assert_eq!(streamed(&mut address, &mut rng, phase), 250);
        assert!(streamed(&mut address, &mut rng, phase + 250) < 20);
        assert!(streamed(&mut address, &mut rng, phase + 750) < 20);
    }
}

#[test]
fn hot_and_cold_get_their_shares() {
    let config = AddressConfig::HotCold(HotColdConfig {
        hot_region: Ratio(0.1),
        hot_traffic: Ratio(0.8),
        scattered: false,
    });
    let (mut address, mut rng) = draw(&config, 100_000, 8);
    let n = 50_000;
    let hot = (0..n).filter(|_| address.draw(8, Time::ZERO, &mut rng).0 < 10_000).count();
    assert!((hot as f64 / f64::from(n) - 0.8).abs() < 0.01, "{hot}");
    let footprint = address.footprint(100_000);
    let (hot_sectors, total_sectors, hot_traffic) = (10_000, 100_000, 0.8);
    assert_eq!(footprint, Footprint::HotCold { hot_sectors, total_sectors, hot_traffic });
}

#[test]
fn requests_larger_than_their_region_still_fit_the_space() {
    let zipf = ZipfConfig { theta: 1.0, extent: ByteSize(4096), stands_for: None };
    let mixed = MixedConfig { streaming: Ratio(0.5), stream_space: Ratio(0.3), phase: None };
    let hot = HotColdConfig { hot_region: Ratio(0.01), hot_traffic: Ratio(0.5), scattered: false };
    for config in [
        AddressConfig::Uniform,
        AddressConfig::Streaming,
        AddressConfig::Zipf(zipf),
        AddressConfig::Mixed(mixed),
        AddressConfig::HotCold(hot),
        AddressConfig::Permutation,
    ] {
        for limit in [1, 7, 8, 9, 100, 1001] {
            let (mut address, mut rng) = draw(&config, limit, 8);
            for size in 1..300 {
                let (start, sectors) = address.draw(size, Time::ZERO, &mut rng);
                assert_eq!(sectors, size.min(limit));
                assert!(start + sectors <= limit);
                assert_eq!(start % 8, 0);
            }
        }
    }
}

#[test]
fn a_permutation_visits_every_block_once_a_round() {
    for (config, same) in [(AddressConfig::Permutation, true), (AddressConfig::Permutations, false)]
    {
        for (limit, size) in [(8 * 1000, 8), (8 * 1000 + 7, 8), (8 * 999, 24), (8, 8)] {
            let (mut address, mut rng) = draw(&config, limit, 8);
            let blocks = (limit / size) as usize;
            let mut round = || -> Vec<u64> {
                (0..blocks).map(|_| address.draw(size, Time::ZERO, &mut rng).0).collect()
            };
            let rounds = [round(), round(), round()];
            for round in &rounds {
                let mut sorted = round.clone();
                sorted.sort_unstable();
                let all: Vec<u64> = (0..blocks as u64).map(|block| block * size).collect();
                assert_eq!(sorted, all, "{limit} {size}");
            }
            assert_eq!(rounds[0] == rounds[1], same || blocks == 1);
            assert_eq!(rounds[1] == rounds[2], same || blocks == 1);
            assert!(blocks < 10 || rounds[0].windows(2).any(|pair| pair[0] > pair[1]));
        }
    }
}

#[test]
fn scattered_hot_blocks_get_their_share_from_anywhere() {
    let config = AddressConfig::HotCold(HotColdConfig {
        hot_region: Ratio(0.1),
        hot_traffic: Ratio(0.8),
        scattered: true,
    });
    let (mut address, mut rng) = draw(&config, 100_000, 8);
    let n = 50_000;
    let mut counts = vec![0_u32; 12_500];
    for _ in 0..n {
        let (start, _) = address.draw(8, Time::ZERO, &mut rng);
        counts[(start / 8) as usize] += 1;
    }
    // A hot block is met 32 times on average, a cold one hardly once.
    let hot: Vec<_> = (0..counts.len()).filter(|&block| counts[block] > 10).collect();
    assert_eq!(hot.len(), 1250);
    let met: u32 = hot.iter().map(|&block| counts[block]).sum();
    assert!((f64::from(met) / f64::from(n) - 0.8).abs() < 0.01, "{met}");
    let early = hot.iter().filter(|&&block| block < 6250).count();
    assert!((500..750).contains(&early), "half of the hot blocks lie in each half: {early}");
}

#[test]
fn a_space_is_filled_in_order_before_the_draws() {
    let (address, mut rng) = draw(&AddressConfig::Uniform, 1001, 8);
    let mut plain = address.clone();
    let mut address = address.after_filling();
    assert_eq!(address.footprint(1001), plain.footprint(1001));
    for start in (0..1001).step_by(16) {
        assert_eq!(address.draw(16, Time::ZERO, &mut rng), (start, 16.min(1001 - start)));
    }
    let mut again = rng.clone();
    for _ in 0..100 {
        let drawn = address.draw(16, Time::ZERO, &mut rng);
        assert_eq!(drawn, plain.draw(16, Time::ZERO, &mut again));
    }
}
