//! Presets of real drives, fitted anew to their public figures with few requests. All of them with
//! all requests: `cargo run --release -p flashlane-fit --example presets`.

use flashlane_fit::curves::{self, CurveFit, Request};
use flashlane_fit::presets;

fn fit(drive: &str, threads: usize, evaluations: usize) -> CurveFit {
    let figures = presets::figures(drive).expect("a drive");
    let mut request =
        Request { hold_back: false, effort: 0.05, proposals: 0, ..Request::of(drive) };
    request.options.threads = threads;
    request.options.most_evaluations = evaluations;
    curves::fit(&figures, &request, &|_| {}).expect("it runs")
}

fn key(fit: &CurveFit, key: &str) -> usize {
    let mut parameters = fit.calibration.parameters.iter();
    parameters.position(|parameter| parameter.key == key).expect("it is varied")
}

#[test]
fn two_figures_tell_no_three_keys() {
    let fit = fit("micron-9100", 0, 100);
    assert_eq!(fit.calibration.parameters.len(), 3);
    assert!(fit.calibration.fits && !fit.calibration.directions.is_empty());
    assert!(!fit.calibration.determines(key(&fit, "flash.channel_rate")));
    assert!(fit.kept.iter().any(|kept| kept.key == "flash.program_time"));
}

#[test]
fn the_fit_meets_the_figures_at_least_as_well_as_the_hand() {
    let fitted = fit("980-pro", 2, 100);
    let sum = |values: &mut dyn Iterator<Item = f64>| {
        fitted.figures.iter().zip(values).fold(0.0, |sum, (figure, value)| {
            let sigmas = libm::log(value / figure.value) / figure.sigma;
            sum + sigmas * sigmas
        })
    };
    let by_hand = |figure: &curves::Figure| figure.measure("980-pro", &[], 0.05).expect("it runs");
    let by_hand = sum(&mut fitted.figures.iter().map(by_hand));
    let by_fit = sum(&mut fitted.fitted.iter().copied());
    assert!(by_fit <= by_hand && fitted.calibration.fits, "{by_fit} {by_hand}");
    // Writes are acknowledged from the buffer, so that their latency is that of the firmware.
    let firmware = key(&fitted, "interface.write_firmware_time");
    assert!(fitted.calibration.determines(firmware));
    let determined_by = &fitted.figures[fitted.determined_by[firmware].expect("it is told")];
    assert_eq!(determined_by.name(), "4 KiB random write, depth 1, us");
    assert_eq!(fitted, fit("980-pro", 1, 100), "threads change nothing");
}
