//! Presets of real drives against public figures. `--nocapture` prints the table of
//! `docs/drives.md`, `UPDATE_DOCS=1` writes it there. The figures are in `flashlane-fit/figures`.
//!
//! Latency at queue depth 1 and peaks are fitted, everything between is a prediction.

use flashlane_fit::curves::{Figure, Metric, Role};
use flashlane_fit::presets;

/// How far a preset may be off: latency that it was fitted to 5 %, peaks 10 %, predictions 15 %.
fn tolerance(figure: &Figure) -> f64 {
    match (figure.role, figure.metric) {
        (Role::Fitted, Metric::MeanUs | Metric::P99Us) => 0.05,
        (Role::Fitted, _) => 0.10,
        (Role::Predicted, _) => 0.15,
    }
}

#[test]
fn presets_meet_public_figures() {
    // `DRIVE=zn540` picks one preset; with `DRIVE_FILES=folder` presets are read from there.
    let only = std::env::var("DRIVE").ok();
    let folder = std::env::var("DRIVE_FILES").ok();
    let mut failures = Vec::new();
    let mut table = String::from(
        "| preset | figure | public | ours | error | | source |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for drive in presets::DRIVES {
        if only.as_ref().is_some_and(|only| only != drive) {
            continue;
        }
        let device = folder
            .as_ref()
            .map_or_else(|| (*drive).to_owned(), |folder| format!("{folder}/{drive}.toml"));
        for figure in presets::figures(drive).expect("the table is right") {
            let ours = figure.measure(&device, &[], 1.0);
            let ours = ours.unwrap_or_else(|error| panic!("{drive}: {error}"));
            let error = ours / figure.value - 1.0;
            let role = match figure.role {
                Role::Fitted => "fitted",
                Role::Predicted => "predicted",
            };
            let (name, public, source) = (figure.name(), figure.value, &figure.source);
            let percent = 100.0 * error;
            table += &format!(
                "| `{drive}` | {name} | {public} | {ours:.1} | {percent:+.1} % | {role} | {source} |\n"
            );
            if error.abs() > tolerance(&figure) {
                failures.push(format!("{drive} {name}: {ours}"));
            }
        }
    }
    println!("{table}");
    if std::env::var_os("UPDATE_DOCS").is_some() && only.is_none() && folder.is_none() {
        update_docs(&table);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Puts the table into the page about drives, after its heading.
fn update_docs(table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/drives.md");
    let page = std::fs::read_to_string(path).expect("the page exists");
    let (before, rest) = page.split_once("| preset |").expect("the page has the table");
    let (_, after) = rest.split_once("\n\n").expect("text follows the table");
    std::fs::write(path, format!("{before}{table}\n{after}")).expect("the page can be written");
}
