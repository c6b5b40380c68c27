//! `flashlane validate`: measured figures of drives beside those of their presets.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane::Error;
use flashlane::config::load::read_text;
use flashlane_study::validate::{self, Errors, Fact, Kind, Point, Request, Wait, percent};

use crate::args::ValidateArgs;
use crate::execute::progress_bar;
use crate::output::{Content, OutFolder, note, print};
use crate::table::{Table, number};

/// Runs the figures of the drives, prints the table, and writes the files.
pub(crate) fn validate(arguments: &ValidateArgs) -> Result<(), Error> {
    let facts = facts(arguments)?;
    let out = arguments.out.as_deref().map(|root| place(root, arguments)).transpose()?;
    let request = Request {
        devices: devices(arguments, &facts)?,
        sets: arguments.sets.clone(),
        effort: arguments.effort,
        mqsim: arguments.compat.is_some(),
        threads: usize::from(arguments.threads),
    };
    let bar = progress_bar(0, "runs", arguments.quiet);
    let points = validate::validate(&facts, &request, &|done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let points = points?;
    print(&table(&points))?;
    print(&waits(&points))?;
    print(&summary(&points))?;
    if let (Some(folder), Some(root)) = (out, &arguments.out) {
        let json = serde_json::to_string_pretty(&points)
            .map_err(|error| Error::Output(format!("{JSON}: {error}")))?;
        let page = validate::page(&points)?;
        let files = [(JSON, json + "\n"), (PAGE, page)];
        folder.write(files.map(|(name, text)| (name.into(), Content::from(text))))?;
        note(&format!("wrote {JSON} and {PAGE} to {}", root.display()));
    }
    Ok(())
}

const JSON: &str = "validate.json";
const PAGE: &str = "validate.html";

fn place(root: &Path, arguments: &ValidateArgs) -> Result<OutFolder, Error> {
    let folder = OutFolder::prepare(root, arguments.overwrite.overwrite)?;
    folder.expect([Path::new(JSON), Path::new(PAGE)])?;
    Ok(folder)
}

/// The figures that the arguments name.
fn facts(arguments: &ValidateArgs) -> Result<Vec<Fact>, Error> {
    let kinds = arguments.kind.iter().map(|name| {
        Kind::by_name(name).ok_or_else(|| {
            let allowed: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            Error::config("--kind", format!("found {name}, allowed: {}", allowed.join(", ")))
        })
    });
    let kinds: Vec<Kind> = kinds.collect::<Result<_, _>>()?;
    let all = match &arguments.facts {
        Some(path) => validate::parse(&read_text(path)?, &path.display().to_string())?,
        None => validate::drives().into_iter().filter_map(validate::shipped).flatten().collect(),
    };
    let mut known: Vec<&str> = Vec::new();
    for fact in &all {
        if !known.contains(&fact.drive.as_str()) {
            known.push(&fact.drive);
        }
    }
    for name in &arguments.names {
        if !known.contains(&name.as_str()) {
            let allowed = known.join(", ");
            return Err(Error::config("NAME", format!("found {name}, allowed: {allowed}")));
        }
    }
    let named = |fact: &Fact| arguments.names.is_empty() || arguments.names.contains(&fact.drive);
    let chosen = |fact: &Fact| named(fact) && (kinds.is_empty() || kinds.contains(&fact.kind));
    let chosen: Vec<Fact> = all.iter().filter(|fact| chosen(fact)).cloned().collect();
    if chosen.is_empty() {
        let why = "these drives have no figure of it, allowed: a kind that one of them has";
        return Err(Error::config("--kind", why));
    }
    Ok(chosen)
}

/// The devices that the arguments name for drives.
fn devices(arguments: &ValidateArgs, facts: &[Fact]) -> Result<BTreeMap<String, String>, Error> {
    let device = |text: &String| match text.split_once('=') {
        Some((drive, device)) if facts.iter().any(|fact| fact.drive == drive) => {
            Ok((drive.to_owned(), device.to_owned()))
        }
        _ => {
            let why =
                format!("found {text}, allowed: NAME=FILE with the name of a drive that runs");
            Err(Error::config("--device", why))
        }
    };
    arguments.device.iter().map(device).collect()
}

fn table(points: &[Point]) -> String {
    let mut header = vec!["drive", "kind", "point", "measured", "ours", "error", "role"];
    let compared = points.iter().any(|point| point.mqsim.is_some());
    if compared {
        header.extend(["mqsim", "its error"]);
    }
    let mut table = Table::new(&header);
    for one in points {
        let mqsim = one.mqsim.map_or(["-".to_owned(), "-".to_owned()], |value| {
            [number(value), percent(value / one.measured - 1.0)]
        });
        let mut row = vec![
            one.drive.clone(),
            one.kind.name().to_owned(),
            one.point.clone(),
            number(one.measured),
            number(one.ours),
            percent(one.error),
            one.role.name().to_owned(),
        ];
        if compared {
            row.extend(mqsim);
        }
        table.row(row);
    }
    table.render()
}

/// What reads beside neighbours wait for; empty without any.
fn waits(points: &[Point]) -> String {
    let waits = validate::waits(points);
    if waits.is_empty() {
        return String::new();
    }
    let mut header = vec!["drive", "what a read waits for, us"];
    header.extend(Wait::HEADS);
    let mut table = Table::new(&header);
    for wait in waits {
        let times = wait.times().map(number);
        table.row([wait.drive, wait.beside].into_iter().chain(times).collect::<Vec<_>>());
    }
    format!("\n{}", table.render())
}

fn summary(points: &[Point]) -> String {
    let mut table = Table::new(&Errors::HEADS);
    for errors in validate::summary(points) {
        table.row(errors.row());
    }
    let mut text = format!("\n{}", table.render());
    let signs = validate::signs(points);
    if signs.effects > 0 {
        let (right, all) = (signs.effects - signs.wrong.len(), signs.effects);
        text += &format!("\neffects of patterns with the measured sign: {right} of {all}\n");
        for wrong in &signs.wrong {
            text += &format!("wrong sign: {wrong}\n");
        }
    }
    text
}
