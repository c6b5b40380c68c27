use flashlane_engine::Rng;

use super::*;

fn parameter(key: &str, start: f64, low: f64, high: f64) -> Parameter {
    Parameter { key: key.to_owned(), start, low, high, unit: Unit::Ratio }
}

/// Latency and peaks of a drive with three parameters, in closed form.
fn drive(values: &[f64]) -> Vec<f64> {
    let (read, firmware, rate) = (values[0], values[1], values[2]);
    let latency = |size: f64| read + firmware + size / rate;
    let peak = |size: f64| 1.0 / (1.0 / (32.0 / read) + size / rate / 8.0 + firmware / 64.0);
    vec![latency(4.0), latency(16.0), latency(64.0), peak(4.0), peak(16.0), peak(64.0)]
}

fn ok(numbers: Vec<f64>) -> Result<Vec<f64>, String> {
    Ok(numbers)
}

fn three() -> Vec<Parameter> {
    vec![
        parameter("read", 30.0, 10.0, 200.0),
        parameter("firmware", 10.0, 1.0, 100.0),
        parameter("rate", 1.0, 0.1, 10.0),
    ]
}

#[test]
fn the_truth_is_found_from_afar_and_does_not_depend_on_threads() {
    let truth = [75.0, 12.0, 0.45];
    let measured = drive(&truth);
    let sigmas = vec![0.01; measured.len()];
    let run = |threads| {
        let options = Options { threads, hold: 1e-4, starts: 8, ..Options::default() };
        calibrate(&three(), &measured, &sigmas, |values| ok(drive(values)), &options).unwrap()
    };
    let found = run(1);
    for ((value, truth), interval) in found.values.iter().zip(truth).zip(&found.intervals) {
        assert!((value / truth - 1.0).abs() < 1e-4, "{:?}", found.values);
        assert!(interval.contains(truth) && !interval.at_low && !interval.at_high);
    }
    assert!(found.fits && found.converged && found.undetermined.is_empty());
    assert!(found.directions.is_empty() && found.chi2 < 1e-4, "{found:?}");
    assert_eq!(found, run(3));
}

#[test]
fn factors_of_a_product_are_not_told() {
    let parameters = [
        parameter("a", 2.0, 0.5, 8.0),
        parameter("b", 2.0, 0.5, 8.0),
        parameter("c", 1.0, 0.1, 9.0),
    ];
    let model = |values: &[f64]| ok(vec![values[0] * values[1], values[2], 2.0 * values[2]]);
    let found =
        calibrate(&parameters, &[6.0, 3.0, 6.0], &[0.02; 3], model, &Options::default()).unwrap();
    assert!((found.values[0] * found.values[1] - 6.0).abs() < 1e-2, "{:?}", found.values);
    assert_eq!(found.undetermined, [0, 1]);
    let [Direction { exponents, sensitivity }] = &found.directions[..] else { panic!("{found:?}") };
    assert!(exponents.len() == 2 && *sensitivity < 1e-6, "{exponents:?}");
    assert!((exponents[0].1 + exponents[1].1).abs() < 1e-3, "{exponents:?}");
    let [Correlation { first: 0, second: 1, coefficient }] = found.correlations[..] else {
        panic!("{found:?}")
    };
    assert!(coefficient < -0.99 && found.fits && found.determines(2));
}

#[test]
fn a_parameter_without_effect_keeps_its_start() {
    let parameters = [parameter("seen", 2.0, 0.5, 8.0), parameter("unseen", 3.0, 0.5, 8.0)];
    let model = |values: &[f64]| ok(vec![values[0]]);
    let found = calibrate(&parameters, &[4.0], &[0.02], model, &Options::default()).unwrap();
    assert_eq!(found.undetermined, [1]);
    assert!((found.values[1] - 3.0).abs() < 1e-6 && (found.values[0] - 4.0).abs() < 1e-2);
    assert_eq!(found.directions[0].exponents, [(1, 1.0)]);
    assert_eq!((found.degrees, found.chi2_reduced), (0, None));
    assert!((found.elasticities[0][0] - 1.0).abs() < 1e-3 && found.elasticities[1][0] == 0.0);
    let none = calibrate(&[], &[4.0], &[0.1], |_| ok(vec![4.4]), &Options::default()).unwrap();
    assert!(none.values.is_empty() && none.fits && (none.chi2 - 0.908).abs() < 1e-3, "{none:?}");
}

#[test]
fn a_wrong_model_does_not_fit_and_has_wide_intervals() {
    // The truth is a power law that the model, a line, cannot follow.
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let measured: Vec<f64> = sizes.iter().map(|size: &f64| 3.0 + size * size.sqrt()).collect();
    let parameters = [parameter("offset", 1.0, 0.01, 100.0), parameter("slope", 1.0, 0.01, 100.0)];
    let model =
        |values: &[f64]| ok(sizes.iter().map(|size| values[0] + values[1] * size).collect());
    let run = |sigma: f64| {
        let options = Options::default();
        calibrate(&parameters, &measured, &[sigma; 6], model, &options).unwrap()
    };
    let (strict, loose) = (run(0.01), run(0.5));
    assert!(!strict.fits && loose.fits);
    assert!(strict.chi2_reduced.unwrap() > 10.0 && loose.chi2_reduced.unwrap() < 1.0);
    // Errors of 1 % would give intervals some twenty times narrower.
    let width = |found: &Calibration| found.intervals[1].high / found.intervals[1].low;
    assert!(width(&strict) > 1.2, "{:?}", strict.intervals);
}

#[test]
fn a_value_beyond_a_bound_is_said_to_be_at_it() {
    let model = |values: &[f64]| ok(vec![values[0]]);
    let parameters = [parameter("a", 2.0, 1.0, 4.0)];
    let found = calibrate(&parameters, &[40.0], &[0.1], model, &Options::default()).unwrap();
    assert!(found.intervals[0].at_high && !found.intervals[0].at_low);
    assert!(found.values[0] > 3.9 && !found.fits, "{:?}", found.values);
}

#[test]
fn intervals_hold_the_truth_in_95_of_100_cases() {
    let truth = [75.0, 12.0, 0.45];
    let exact = drive(&truth);
    let mut rng = Rng::stream(1, "calibration noise", 0);
    // The stated error is right in the first round, and a third of the truth in the second.
    for (stated, least) in [(0.01, 0.92), (0.01 / 3.0, 0.92)] {
        let (mut inside, mut all) = (0, 0);
        for _ in 0..200 {
            // Three measurements of each number.
            let noisy = exact.iter().cycle().take(18).map(|x| x * libm::exp(0.01 * rng.normal()));
            let measured: Vec<f64> = noisy.collect();
            let model = |values: &[f64]| ok(drive(values).repeat(3));
            let options = Options { threads: 1, ..Options::default() };
            let found = calibrate(&three(), &measured, &[stated; 18], model, &options).unwrap();
            all += truth.len();
            inside += found.intervals.iter().zip(truth).filter(|(i, t)| i.contains(*t)).count();
        }
        let share = f64::from(inside as u32) / all as f64;
        assert!((least..=0.99).contains(&share), "{share}");
    }
}

#[test]
fn two_ends_that_are_as_good_are_both_in_the_intervals() {
    // Two valleys, at 2 and at 20. The first search ends in the first valley. The second search
    // begins in the middle of the bounds, which belongs to the second valley.
    let parameters = [parameter("a", 3.0, 1.0, 64.0)];
    let run = |offset: f64, offset_of_second: f64| {
        let model = |values: &[f64]| match values[0] {
            value if value < 6.0 => ok(vec![value / 2.0, offset]),
            value => ok(vec![value / 20.0, offset_of_second]),
        };
        let options = Options { starts: 2, widest_share: 0.2, ..Options::default() };
        calibrate(&parameters, &[1.0, 1.0], &[0.01; 2], model, &options).unwrap()
    };
    let same = run(1.02, 1.02);
    assert!((same.values[0] - 2.0).abs() < 1e-3 && same.undetermined == [0], "{same:?}");
    let also = same.also.expect("the second valley is as deep")[0];
    assert!((also - 20.0).abs() < 1e-2 && same.intervals[0].contains(also));
    let deeper = run(1.05, 1.0);
    assert!((deeper.values[0] - 20.0).abs() < 1e-2 && deeper.also.is_none(), "{deeper:?}");
    let shallower = run(1.02, 1.05);
    assert!((shallower.values[0] - 2.0).abs() < 1e-3 && shallower.also.is_none());
    assert!(shallower.undetermined.is_empty());
}

#[test]
fn a_model_that_refuses_some_points_is_avoided() {
    let model = |values: &[f64]| match values[0] {
        value if value > 5.0 => Err("too large"),
        value => Ok(vec![value, value * values[1]]),
    };
    let parameters = [parameter("a", 2.0, 1.0, 50.0), parameter("b", 2.0, 1.0, 50.0)];
    let options = Options { starts: 12, ..Options::default() };
    let found = calibrate(&parameters, &[4.0, 12.0], &[0.01; 2], model, &options).unwrap();
    assert!((found.values[1] - 3.0).abs() < 1e-2 && found.refused > 0, "{found:?}");
}

#[test]
fn senseless_requests_are_refused() {
    let model = |_: &[f64]| ok(vec![1.0]);
    let refused = |parameter: Parameter, measured: &[f64], sigmas: &[f64], most: usize| {
        let options = Options { most_evaluations: most, ..Options::default() };
        let result = calibrate(&[parameter], measured, sigmas, model, &options);
        assert!(matches!(result, Err(Failure::Request(_))), "{result:?}");
    };
    let good = || parameter("a", 2.0, 1.0, 4.0);
    refused(parameter("a", 9.0, 1.0, 4.0), &[1.0], &[0.1], 100);
    refused(parameter("a", 2.0, 0.0, 4.0), &[1.0], &[0.1], 100);
    refused(good(), &[], &[], 100);
    refused(good(), &[1.0], &[0.1, 0.1], 100);
    refused(good(), &[-1.0], &[0.1], 100);
    refused(good(), &[1.0, 2.0], &[0.1, 0.1], 100);
    refused(good(), &[1.0], &[0.1], 3);
    let failing = |_: &[f64]| Err::<Vec<f64>, _>("no");
    let result = calibrate(&[good()], &[1.0], &[0.1], failing, &Options::default());
    assert!(matches!(result, Err(Failure::Simulation("no"))));
}
