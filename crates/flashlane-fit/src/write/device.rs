//! The fitted device as a file.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane::config::load::{self, Overrides};
use flashlane::config::preset::Preset;
use flashlane::{Error, visible_line};
use toml::{Table, Value};

use super::report::{Key, Report, Source};

/// The fitted device as TOML: the base with the fitted keys, each below a comment with its interval
/// and source. A preset as base is only named; a file as base is written out.
///
/// # Errors
/// A base that does not load, or fitted values that the simulator refuses.
pub fn device(report: &Report) -> Result<String, Error> {
    let mut table = base(&report.base)?;
    let source = format!("fitted to {}; base {}", report.data, report.base);
    table.insert("source".to_owned(), Value::String(visible_line(&source).into_owned()));
    let mut comments = BTreeMap::new();
    for key in report.keys.iter().filter(|key| key.source != Source::Base) {
        insert(&mut table, &key.key, parse(&key.toml))?;
        let whole = list(&key.key).map_or(key.key.as_str(), |(whole, _)| whole);
        comments.entry(whole).or_insert_with(Vec::new).push(comment(key));
    }
    let body = toml::to_string(&table)
        .map_err(|error| Error::Output(format!("the fitted device: {error}")))?;
    let text = format!("{}{}", head(report), annotated(&body, &comments));
    load::device_from_toml(&text, "the fitted device", &Overrides::default())?;
    Ok(text)
}

/// The base device as keys.
fn base(base: &str) -> Result<Table, Error> {
    if Preset::by_name(base).is_some() {
        return Ok(Table::from_iter([("base".to_owned(), Value::String(base.to_owned()))]));
    }
    // A base that is no device is refused here, by name.
    let config = load::device(base, &Overrides::default())?.config;
    let text = load::read_text(Path::new(base))?;
    if let Ok(table) = text.parse::<Table>() {
        return Ok(table);
    }
    Table::try_from(&config).map_err(|error| Error::config(base, error.to_string()))
}

/// A value of a key, parsed from TOML.
fn parse(toml: &str) -> Value {
    let table = format!("value = {toml}").parse::<Table>();
    let value = table.ok().and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| Value::String(toml.to_owned()))
}

/// A key and an index in its list, from the name of an element: `flash.read_time.0`.
fn list(key: &str) -> Option<(&str, usize)> {
    let (whole, place) = key.rsplit_once('.')?;
    Some((whole, place.parse().ok()?))
}

/// Sets a key. Elements of a list must come in order.
fn insert(table: &mut Table, key: &str, value: Value) -> Result<(), Error> {
    let (whole, place) = list(key).map_or((key, None), |(whole, place)| (whole, Some(place)));
    let mut parts = whole.split('.').peekable();
    let mut table = table;
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            let value = match (place, table.get(part)) {
                (None, _) => value,
                (Some(1..), Some(Value::Array(before))) => {
                    Value::Array(before.iter().cloned().chain([value]).collect())
                }
                (Some(_), _) => Value::Array(vec![value]),
            };
            table.insert(part.to_owned(), value);
            return Ok(());
        }
        let below = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
        table = below
            .as_table_mut()
            .ok_or_else(|| Error::config(key, format!("`{part}` is no table in the base")))?;
    }
    Ok(())
}

fn comment(key: &Key) -> String {
    let bound = if key.at_bound { ", at a bound of the search" } else { "" };
    match key.source {
        Source::Measured => format!(
            "measured: {} (95 %: {}{bound}), by {}; the base has {}",
            key.text, key.interval_text, key.determined_by, key.base_text
        ),
        Source::Undetermined => format!(
            "cannot be told by these data: {} (95 %: {}{bound}); the base has {}",
            key.text, key.interval_text, key.base_text
        ),
        Source::Base => format!("from the base: {}", key.determined_by),
    }
}

/// The comment above the keys.
fn head(report: &Report) -> String {
    let mut lines = vec!["Written by `flashlane fit`.".to_owned()];
    let verdict = &report.verdict;
    if verdict.fits {
        lines.push(format!("It fits: no measurement is more than {} sigmas off.", verdict.limit));
    } else {
        lines.push(format!(
            "IT DOES NOT FIT: a measurement is more than {} sigmas off. Do not rely on it.",
            verdict.limit
        ));
    }
    if !verdict.converged {
        lines.push("The search ended for want of evaluations.".to_owned());
    }
    lines.extend(report.undetermined.iter().map(|one| format!("Cannot be told: {}.", one.text)));
    let kept = report.keys.iter().filter(|key| key.source == Source::Base);
    lines.extend(kept.map(|key| format!("From the base: {} = {}", key.key, key.toml)));
    lines.iter().map(|line| format!("# {}\n", visible_line(line))).collect::<String>() + "\n"
}

/// Puts comments above the lines of their keys.
fn annotated(body: &str, comments: &BTreeMap<&str, Vec<String>>) -> String {
    let (mut text, mut section) = (String::new(), String::new());
    for line in body.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, _)) = line.split_once(" = ")
            && let Some(comment) = comments.get(format!("{section}{key}").as_str())
        {
            text.extend(comment.iter().map(|one| format!("# {}\n", visible_line(one))));
        }
        text += line;
        text.push('\n');
    }
    text
}
