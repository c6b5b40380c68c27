//! Equations 1 to 3 and the allocation step on cases worked by hand.

use flashlane_engine::Rng;
use flashlane_units::FlowId;

use super::*;
use crate::isolation::upi::sets::Owner;

/// Reads and programs in a window of 1 s with 50 us a read and 500 us a program.
fn counts(reads: &[&[f64]], programs: &[f64]) -> Counts {
    Counts {
        reads: reads.concat(),
        programs: programs.to_vec(),
        read_time: 50e-6,
        program_time: 500e-6,
        traffic_limit: 0.99,
        traffic_exponents: vec![1.0; programs.len()],
        read_exponent: 1.0,
    }
}

fn sets(owners: &[u16], flows: usize) -> Sets {
    Sets::new(owners.iter().map(|&flow| Owner::Flow(FlowId::new(flow))).collect(), flows)
}

fn rules(settle: bool) -> StepRules {
    StepRules { hysteresis: 0.0, settle, fewest_reads: FewestReads::All }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn equation_3_spreads_programs_over_the_set() {
    let counts = counts(&[&[0.0; 3], &[0.0; 3]], &[600.0, 90.0]);
    let sets = sets(&[0, 0, 1], 2);
    let on = |flow| [0, 1, 2].map(|chip| counts.programs_on(flow, ChipId::new(chip), &sets));
    assert_eq!(on(0), [300.0, 300.0, 0.0]);
    assert_eq!(on(1), [0.0, 0.0, 90.0]);
    let shared =
        Sets::new(vec![Owner::Flow(FlowId::new(0)), Owner::Everyone, Owner::Nobody].into(), 1);
    assert_eq!(
        [0, 1, 2].map(|chip| counts.programs_on(0, ChipId::new(chip), &shared)),
        [300.0, 300.0, 0.0]
    );
}

#[test]
fn equation_2_adds_reads_and_programs_of_all_flows() {
    let counts = counts(&[&[1000.0, 200.0], &[400.0, 0.0]], &[600.0, 100.0]);
    let sets = sets(&[0, 1], 2);
    // (1000 + 400) * 50 us + 600 * 500 us; 200 * 50 us + 100 * 500 us.
    assert!(close(counts.traffic(ChipId::new(0), &sets), 0.37));
    assert!(close(counts.traffic(ChipId::new(1), &sets), 0.06));
}

#[test]
fn equation_1_weighs_reads_by_the_delay_of_their_chip() {
    let mut counts = counts(&[&[1000.0, 3000.0], &[0.0, 600.0]], &[0.0, 640.0]);
    let sets = sets(&[0, 1], 2);
    // Traffic 0.05 and 3600 * 50 us + 640 * 500 us = 0.5.
    let first = 4000.0 / (1000.0 / 0.95 + 3000.0 / 0.5);
    let [a, b] = counts.utilities(&sets)[..] else { panic!("two flows") };
    assert!(close(a, first), "{a}");
    assert!(close(b, 0.5), "{b}");
    counts.traffic_exponents[1] = 2.0;
    counts.read_exponent = 2.0;
    let [a, b] = counts.utilities(&sets)[..] else { panic!("two flows") };
    assert!(close(a, 1e7 / (1e6 / 0.95 + 9e6 / 0.5)), "{a}");
    assert!(close(b, 0.25), "an exponent on the idle share: {b}");
}

#[test]
fn overloaded_chips_keep_an_order_and_flows_without_reads_a_utility() {
    let mut counts = counts(&[&[0.0, 0.0], &[0.0, 10.0]], &[3000.0, 4000.0]);
    let sets = sets(&[0, 1], 2);
    counts.assume_reads(&sets);
    assert_eq!(counts.reads, [1.0, 0.0, 0.0, 10.0]);
    let [a, b] = counts.utilities(&sets)[..] else { panic!("two flows") };
    assert!(0.0 < b && b < a && a < 0.01, "{a} and {b}");
}

#[test]
fn the_step_moves_the_least_read_chip_from_the_happiest_to_the_unhappiest() {
    // Flow 1 writes its only chip half full; flow 0 is idle but for some reads.
    let counts = counts(&[&[500.0, 100.0, 100.0, 0.0], &[0.0, 0.0, 0.0, 100.0]], &[0.0, 1000.0]);
    let sets = sets(&[0, 0, 0, 1], 2);
    let pages = |chip: ChipId| [0, 30, 20, 0][chip.index()];
    let transfer = step(&counts, &sets, rules(true), pages);
    assert_eq!(
        transfer,
        Some(Transfer { chip: ChipId::new(2), from: 0, to: 1 }),
        "the emptier of two alike"
    );
    assert_eq!(
        step(&counts, &sets, rules(true), |_| 0),
        Some(Transfer { chip: ChipId::new(1), from: 0, to: 1 }),
        "then the lower number"
    );
    let hysteresis = StepRules { hysteresis: 1.0, ..rules(true) };
    assert_eq!(step(&counts, &sets, hysteresis, pages), None);
}

/// The chip that flow 0 gets back is full of reads of the other: it keeps the one with its own.
#[test]
fn a_flow_keeps_the_chips_that_it_reads_or_those_that_anyone_reads() {
    let counts = counts(&[&[60.0, 5.0, 0.0], &[0.0, 400.0, 400.0]], &[0.0, 1500.0]);
    let sets = sets(&[0, 0, 1], 2);
    for (fewest_reads, chip) in [(FewestReads::Own, 1), (FewestReads::All, 0)] {
        let transfer = step(&counts, &sets, StepRules { fewest_reads, ..rules(true) }, |_| 0);
        assert_eq!(
            transfer,
            Some(Transfer { chip: ChipId::new(chip), from: 0, to: 1 }),
            "{fewest_reads:?}"
        );
    }
}

#[test]
fn a_happy_flow_with_one_chip_does_not_keep_others_from_giving() {
    let counts = counts(
        &[&[10.0, 0.0, 0.0, 0.0], &[0.0, 10.0, 10.0, 0.0], &[0.0, 0.0, 0.0, 10.0]],
        &[0.0, 200.0, 1500.0],
    );
    let transfer = step(&counts, &sets(&[0, 1, 1, 2], 3), rules(true), |_| 0);
    assert_eq!(transfer, Some(Transfer { chip: ChipId::new(1), from: 1, to: 2 }));
}

#[test]
fn nobody_gives_the_last_chip_or_makes_itself_worse_off() {
    let counts_of = |programs: &[f64]| counts(&[&[10.0, 0.0, 0.0], &[0.0, 10.0, 10.0]], programs);
    let one = sets(&[0, 1, 1], 2);
    assert_eq!(step(&counts_of(&[0.0, 1500.0]), &one, rules(false), |_| 0), None);
    // After the transfer flow 1 would have 0.9 of traffic on one chip against 0.5 of flow 0 now.
    assert_eq!(step(&counts_of(&[1000.0, 1800.0]), &one, rules(false), |_| 0), None);
    let transfer = step(&counts_of(&[1900.0, 100.0]), &one, rules(true), |_| 0);
    assert_eq!(transfer, Some(Transfer { chip: ChipId::new(1), from: 1, to: 0 }));
}

/// The paper's guard admits equality.
#[test]
fn without_settling_equal_flows_swap_a_chip_for_ever() {
    for (settle, expected) in [(false, 20), (true, 0)] {
        let counts = counts(&[&[10.0, 0.0, 0.0], &[0.0, 0.0, 10.0]], &[600.0, 600.0]);
        let mut sets = sets(&[0, 0, 1], 2);
        let mut transfers = 0;
        for _ in 0..20 {
            if let Some(transfer) = step(&counts, &sets, rules(settle), |_| 0) {
                sets.transfer(transfer.chip, transfer.to);
                transfers += 1;
            }
        }
        assert_eq!(transfers, expected, "settle = {settle}");
    }
}

#[test]
fn with_constant_counts_transfers_stop_within_as_many_windows_as_chips() {
    for seed in 0..2000 {
        let mut rng = Rng::stream(seed, "upi", 0);
        let flows = 1 + rng.below(5) as usize;
        let chips = flows + rng.below(20) as usize;
        let owners: Vec<u16> = (0..chips).map(|chip| (chip % flows) as u16).collect();
        let mut sets = sets(&owners, flows);
        let mut counts = counts(&[], &vec![0.0; flows]);
        let skew = rng.unit() * 4.0;
        counts.reads =
            (0..flows * chips).map(|_| (libm::pow(rng.unit(), skew) * 3000.0).floor()).collect();
        counts.programs =
            (0..flows).map(|_| libm::pow(rng.unit(), skew) * 2000.0 * chips as f64).collect();
        counts.assume_reads(&sets);
        let mut windows = 0;
        while let Some(transfer) = step(&counts, &sets, rules(true), |_| 0) {
            sets.transfer(transfer.chip, transfer.to);
            sets.audit();
            windows += 1;
            assert!(windows <= chips, "seed {seed}: more than {chips} transfers");
        }
    }
}

#[test]
fn faded_reads_count_as_none() {
    let mut counts = counts(&[&[1e-200, 0.0], &[5.0, 9.0]], &[10.0, 0.0]);
    counts.read_exponent = 2.0;
    let sets = sets(&[0, 1], 2);
    assert!(counts.utilities(&sets)[0].is_nan(), "the square of the mean is zero");
    counts.assume_reads(&sets);
    assert_eq!(counts.reads, [1.0, 0.0, 5.0, 9.0]);
    assert!(counts.utilities(&sets).iter().all(|utility| *utility > 0.0));
}
