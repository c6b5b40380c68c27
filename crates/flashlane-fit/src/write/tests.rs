use flashlane::config::load::{self, Overrides};

use super::*;
use crate::curves::{self, CurveFit, Request, table};

const CURVES: &str = "op,pattern,size,depth,metric,value,role,source\n\
    read,random,4KiB,1,mean_us,80,,<b>page</b>\nread,random,4KiB,32,kiops,260,,\n\
    read,random,16KiB,4,kiops,38,predicted,\n";

fn fitted(base: &str, vary: &[&str]) -> (CurveFit, Report) {
    let figures = table::parse(CURVES, "x").expect("right");
    let vary = vary.iter().map(ToString::to_string).collect();
    let mut request = Request { effort: 0.02, proposals: 1, vary, ..Request::of(base) };
    request.options.most_evaluations = 60;
    let fit = curves::fit(&figures, &request, &|_| {}).expect("it runs");
    let report = fit.report("x.csv", &request);
    (fit, report)
}

#[test]
fn a_fit_to_figures_becomes_a_device_that_loads_and_behaves_as_fitted() {
    let (fit, report) = fitted("zn540", &[]);
    assert!(report.verdict.fits, "{report:?}");
    let text = device(&report).expect("it loads");
    assert!(text.contains("base = \"zn540\"") && text.contains("# It fits"), "{text}");
    assert!(text.contains("# From the base: flash.channels = 8"), "{text}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fitted.toml");
    std::fs::write(&path, &text).expect("room");
    let path = path.display().to_string();
    for (figure, fitted) in fit.figures.iter().zip(&fit.fitted) {
        let again = figure.measure(&path, &[], 0.02).expect("it runs");
        assert!((again / fitted - 1.0).abs() < 2e-3, "{} {again} {fitted}", figure.name());
    }
    // The result can itself be the base: its comments are lost, its keys stay.
    let again = Report { base: path, ..report };
    let written = device(&again).expect("it loads");
    let load = |text: &str| {
        let mut config = load::device_from_toml(text, "x", &Overrides::default()).expect("right");
        config.config.source = String::new();
        config.config
    };
    assert_eq!(load(&written), load(&text));
}

#[test]
fn whole_numbers_are_tried_and_reported() {
    let (fit, report) = fitted("zn540", &["flash.chips_per_channel", "interface.firmware_time"]);
    let scan = &fit.scans[0];
    assert!(scan.tried.len() == 7 && scan.agreeing.contains(&scan.best), "{scan:?}");
    let text = device(&report).expect("it loads");
    assert!(text.contains(&format!("chips_per_channel = {}", scan.best)), "{text}");
}

#[test]
fn json_and_page_say_the_same() {
    let (_, report) = fitted("zn540", &["interface.firmware_time"]);
    let json: serde_json::Value =
        serde_json::from_str(&json(&report).expect("numbers")).expect("JSON");
    assert_eq!(json["schema"], SCHEMA);
    assert_eq!(json["keys"][0]["key"], "interface.firmware_time");
    assert_eq!(json["points"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["points"][2]["held_back"], true);
    let predicted = json["predicted"].as_array().expect("the figures that were held back");
    assert_eq!(predicted.len(), 1);
    for (key, value) in [("point", "name"), ("measured", "measured"), ("ours", "fitted")] {
        assert_eq!(predicted[0][key], json["points"][2][value], "{key}");
    }
    let page = page(&report).expect("it renders");
    assert!(page.contains("&lt;b&gt;page") && !page.contains("<b>page"));
    assert!(!page.contains("http:") && !page.contains("https:"));
    for point in &report.points {
        assert!(page.contains(&point.name), "{}", point.name);
    }
    assert_eq!(page.matches("<circle").count(), 6);
}

#[test]
fn what_does_not_fit_says_so() {
    let (_, mut report) = fitted("zn540", &["interface.firmware_time"]);
    report.verdict.fits = false;
    assert!(device(&report).expect("it loads").contains("IT DOES NOT FIT"));
    assert!(page(&report).expect("it renders").contains("It does not fit"));
}
