//! The table of an advice: a row for each candidate and tenant.

use flashlane_files::csv_line;

use super::advice::{Advice, Effect, Span, Tried};

const COLUMNS: [&str; 21] = [
    "label",
    "settings",
    "verdict",
    "reason",
    "seeds",
    "value",
    "value_low",
    "value_high",
    "before",
    "change",
    "change_low",
    "change_high",
    "largest_loss",
    "on_front",
    "amplification_before",
    "amplification",
    "tenant",
    "iops",
    "rate_change",
    "p99_us",
    "p99_change",
];

/// The candidates as comma-separated values, by RFC 4180. The first row is the unchanged drive.
#[must_use]
pub fn csv(advice: &Advice) -> String {
    let mut text = csv_line(COLUMNS);
    for one in std::iter::once(&advice.unchanged).chain(&advice.candidates) {
        if one.effects.is_empty() {
            text += &csv_line(row(one, None));
        }
        for effect in &one.effects {
            text += &csv_line(row(one, Some(effect)));
        }
    }
    text
}

fn row(one: &Tried, effect: Option<&Effect>) -> Vec<String> {
    let verdict = serde_json::to_value(one.verdict).unwrap_or_default();
    let span = |span: &Option<Span>| {
        let interval = span.and_then(|span| span.interval);
        let end = |at: usize| text(interval.map(|ends| ends[at]));
        [text(span.map(|span| span.median)), end(0), end(1)]
    };
    let seeds: Vec<String> = one.seeds.iter().map(u64::to_string).collect();
    let mut row = vec![
        one.candidate.label.clone(),
        one.candidate.sets.join("; "),
        verdict.as_str().unwrap_or_default().to_owned(),
        one.reason.clone().unwrap_or_default(),
        seeds.join(" "),
    ];
    row.extend(span(&one.value));
    row.push(text(one.before.map(|span| span.median)));
    row.extend(span(&one.change));
    row.extend([text(one.loss), one.on_front.to_string()]);
    row.extend([0, 1].map(|at| text(one.amplification.map(|both| both[at]))));
    row.push(effect.map(|one| one.tenant.clone()).unwrap_or_default());
    row.push(text(effect.map(|one| one.iops)));
    row.push(text(effect.and_then(|one| one.rate_change)));
    row.push(text(effect.map(|one| one.p99_us)));
    row.push(text(effect.and_then(|one| one.p99_change)));
    row
}

fn text(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
