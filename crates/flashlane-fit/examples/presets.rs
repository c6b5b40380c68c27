//! Fits the presets of real drives anew to their public figures and compares with their hand-tuned
//! values: `cargo run --release -p flashlane-fit --example presets [DRIVE ...]`.
//!
//! `UPDATE_DOCS=1` writes the table into `docs/drives.md`.

use std::time::Instant;

use flashlane::Error;
use flashlane_fit::curves::{self, CurveFit, Request, Role};
use flashlane_fit::presets;
use flashlane_fit::write::undetermined;

fn main() -> Result<(), Error> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let mut table = String::from(
        "| preset | key | by hand | fitted | 95 % interval | by hand is off by | told by |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut notes = String::new();
    for &drive in presets::DRIVES {
        if !named.is_empty() && !named.iter().any(|name| name == drive) {
            continue;
        }
        let start = Instant::now();
        let mut request = Request { hold_back: false, ..Request::of(drive) };
        request.options.starts = 8;
        let figures = presets::figures(drive)?;
        let fit = curves::fit(&figures, &request, &|_| {})?;
        table += &rows(drive, &fit);
        notes += &note(drive, &fit);
        let (seconds, found) = (start.elapsed().as_secs_f64(), &fit.calibration);
        eprintln!(
            "{drive}: {seconds:.1} s, {} evaluations, chi2 {:.2} for {} figures, {} degrees, {}",
            found.evaluations,
            found.chi2,
            figures.len(),
            found.degrees,
            if found.converged { "converged" } else { "not converged" },
        );
        for (figure, fitted) in figures.iter().zip(&fit.fitted) {
            let error = 100.0 * (fitted / figure.value - 1.0);
            let role = if figure.role == Role::Fitted { "fitted" } else { "predicted" };
            eprintln!("  {} {} {fitted:.1} {error:+.1} % {role}", figure.name(), figure.value);
        }
    }
    println!("{table}\n{notes}");
    if std::env::var_os("UPDATE_DOCS").is_some() && named.is_empty() {
        update_docs(&table, &notes);
    }
    Ok(())
}

/// A row for each key that was varied.
fn rows(drive: &str, fit: &CurveFit) -> String {
    let found = &fit.calibration;
    let row = |(at, parameter): (usize, &flashlane_fit::Parameter)| {
        let (unit, interval) = (&parameter.unit, &found.intervals[at]);
        let (fitted, by_hand) = (found.values[at], parameter.start);
        let told = fit.determined_by[at]
            .map_or("cannot be told".to_owned(), |index| fit.figures[index].name());
        let off = match (found.determines(at), interval.contains(by_hand)) {
            (false, _) => "-".to_owned(),
            (true, inside) => {
                let outside = if inside { "" } else { ", outside" };
                format!("{:+.0} %{outside}", 100.0 * (by_hand / fitted - 1.0))
            }
        };
        format!(
            "| `{drive}` | `{}` | {} | {} | {} to {}{} | {off} | {told} |\n",
            parameter.key,
            unit.text(by_hand),
            unit.text(fitted),
            unit.text(interval.low),
            unit.text(interval.high),
            if interval.at_low || interval.at_high { " (at a bound)" } else { "" },
        )
    };
    found.parameters.iter().enumerate().map(row).collect()
}

/// What else there is to say of a drive: how well it fits and what its figures cannot tell.
fn note(drive: &str, fit: &CurveFit) -> String {
    let found = &fit.calibration;
    let error = |(fitted, figure): (&f64, &curves::Figure)| (fitted / figure.value - 1.0).abs();
    let worst = fit.fitted.iter().zip(&fit.figures).map(error).fold(0.0, f64::max);
    let mut text = format!(
        "- `{drive}`: the fitted values meet all {} figures within {:.1} %",
        fit.figures.len(),
        100.0 * worst
    );
    let blind: Vec<String> =
        undetermined(found).iter().map(|one| format!("`{}`", one.text)).collect();
    if !blind.is_empty() {
        text += &format!(". They cannot tell {}", blind.join(", "));
    }
    if let Some(also) = &found.also {
        let values = found.parameters.iter().zip(also);
        let values = values.map(|(parameter, &value)| {
            format!("`{}` {}", parameter.key, parameter.unit.text(value))
        });
        text += &format!(". As good: {}", values.collect::<Vec<_>>().join(", "));
    }
    if let Some(proposal) = fit.proposals.first() {
        text += &format!(
            ". Next, measure {}. Then `{}` would be known to {:.0} % instead of {:.0} %",
            proposal.name,
            proposal.key,
            100.0 * proposal.after,
            100.0 * proposal.before
        );
    }
    text + ".\n"
}

/// Puts table and notes between the marks in the page about drives.
fn update_docs(table: &str, notes: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/drives.md");
    let (start, end) = ("<!-- fitted: start -->\n", "<!-- fitted: end -->");
    let page = std::fs::read_to_string(path).expect("the page exists");
    let (before, rest) = page.split_once(start).expect("the page has the first mark");
    let (_, after) = rest.split_once(end).expect("the page has the second mark");
    let page = format!("{before}{start}{table}\n{notes}{end}{after}");
    std::fs::write(path, page).expect("the page can be written");
}
