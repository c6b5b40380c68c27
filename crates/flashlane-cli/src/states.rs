//! Finds the folder of kept states, and handles `flashlane states`.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use flashlane::config::units::ByteSize;
use flashlane::{Error, KeptStates};
use flashlane_files::{StateFile, StateFolder, StateNews, StatePlace};
use serde_json::json;

use crate::args::{StatesAction, StatesArgs, StatesPlace, TextOrJson};
use crate::output::{note, print, print_data};
use crate::table::Table;

/// Number of digits of a key in a table.
const DIGITS: usize = 12;

/// The states that `--states` selects.
pub(crate) fn states(wish: Option<&Path>, quiet: bool) -> Result<Option<Arc<KeptStates>>, Error> {
    let Ok(program) = std::env::current_exe() else { return Ok(None) };
    let place = StatePlace::choose(wish.map(Path::to_owned));
    let tell = move |news: &StateNews| {
        // A quiet command mentions only a wait for a process that is stopped.
        let matters = matches!(news, StateNews::Waits { holder, .. } if holder.stopped);
        if !quiet || matters {
            note(&news.to_string());
        }
    };
    place.open(program, tell).or_else(|problem| {
        if place.is_named() {
            return Err(Error::config("--states", problem));
        }
        if !quiet {
            note(&format!("warning: --states: {problem}"));
        }
        Ok(None)
    })
}

/// Lists or removes kept states.
pub(crate) fn manage(arguments: &StatesArgs) -> Result<(), Error> {
    match &arguments.action {
        StatesAction::List { place, format } => list(place, *format),
        StatesAction::Clear { place } => remove(place, |_| Ok(0)),
        StatesAction::Prune { place, limit } => {
            remove(place, |folder| limit.map_or_else(|| folder.limit(), Ok))
        }
    }
}

/// The chosen folder, and its states.
fn look(place: &StatesPlace) -> Result<(String, Option<StateFolder>), Error> {
    let place = StatePlace::choose(place.states.clone());
    let Some(folder) = place.folder() else {
        let message = "found off, allowed: the folder in which states are kept";
        return Err(Error::config("--states", message));
    };
    let store = place.look().map_err(|problem| Error::config("--states", problem))?;
    Ok((folder.display().to_string(), store))
}

fn list(place: &StatesPlace, format: TextOrJson) -> Result<(), Error> {
    let (name, folder) = look(place)?;
    let unreadable = |error| Error::Output(format!("{name}: cannot be read: {error}"));
    let files = folder.as_ref().map(StateFolder::list).transpose().map_err(unreadable)?;
    let limit = folder.as_ref().map(StateFolder::limit).transpose().map_err(unreadable)?;
    let files = files.unwrap_or_default();
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    if format == TextOrJson::Json {
        let state = |file: &StateFile| {
            let used = file.used.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            json!({ "key": file.key, "bytes": file.bytes, "used_unix_s": used })
        };
        let states: Vec<_> = files.iter().map(state).collect();
        let all = json!({ "folder": name, "limit_bytes": limit, "bytes": total, "states": states });
        return print_data(&format!("{all}\n"));
    }
    let mut text = String::new();
    if !files.is_empty() {
        let mut table = Table::new(&["state", "size", "used"]);
        for file in &files {
            let key = file.key.get(..DIGITS).unwrap_or(&file.key).to_owned();
            table.row(vec![key, size(file.bytes), since(file.used)]);
        }
        text = format!("{}\n", table.render());
    }
    let of = limit.map(|limit| format!(" of {} at most", size(limit))).unwrap_or_default();
    print(&format!("{text}{name}: {}, {}{of}\n", count(files.len()), size(total)))
}

fn remove(
    place: &StatesPlace,
    leave: impl FnOnce(&StateFolder) -> std::io::Result<u64>,
) -> Result<(), Error> {
    let (name, folder) = look(place)?;
    let removed = match &folder {
        None => Ok(Vec::new()),
        Some(folder) => leave(folder).and_then(|bytes| folder.prune(bytes)),
    };
    let removed =
        removed.map_err(|error| Error::Output(format!("{name}: cannot be removed: {error}")))?;
    let bytes = removed.iter().map(|file| file.bytes).sum();
    print(&format!("{name}: {} removed, {}\n", count(removed.len()), size(bytes)))
}

fn count(states: usize) -> String {
    format!("{states} state{}", if states == 1 { "" } else { "s" })
}

/// A size for people, with a tenth of its unit as resolution.
fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.into_iter().find(|(_, bits)| bytes >> bits > 0);
    match unit {
        Some((unit, bits)) => format!("{:.1} {unit}", bytes as f64 / (1_u64 << bits) as f64),
        None => ByteSize(bytes).to_string(),
    }
}

/// The time since then, in the largest unit that it fills.
fn since(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or_default().as_secs();
    let units = [("d", 86_400), ("h", 3600), ("min", 60)];
    let unit = units.into_iter().find(|(_, length)| seconds >= *length);
    match unit {
        Some((unit, length)) => format!("{} {unit} ago", seconds / length),
        None => format!("{seconds} s ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_have_the_largest_unit_that_they_fill() {
        assert_eq!([size(2_147_483_648), size(1 << 20), size(100)], ["2.0 GiB", "1.0 MiB", "100B"]);
        let ago = |seconds| since(SystemTime::now() - std::time::Duration::from_secs(seconds));
        assert_eq!([ago(7200), ago(61), ago(200_000)], ["2 h ago", "1 min ago", "2 d ago"]);
    }
}
