//! A configuration that is not finished: a tree of values in layers, later ones over earlier ones.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::hint;
use super::places::{Places, at, join, join_index};
use super::{refuse, values};
use crate::shortened;
use crate::{Error, Problem};

/// Most levels of a key, and of nested dictionaries and lists. Configurations have fewer than ten.
/// The library that parses files has a separate limit of 80.
pub const LEVELS_MAX: usize = 32;

/// Keys whose table names one of several alternatives, so that a later layer replaces it whole.
const CHOICES: &[&str] =
    &["scheduler", "isolation", "allocation", "victim", "arbitration", "address", "size"];

/// Values, with the places where they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The values, by key.
    pub value: Table,
    /// Where each of them was written.
    pub places: Places,
}

impl Draft {
    /// The draft of a finished configuration, so that overrides can go on top of it.
    pub fn of<T: Serialize>(config: &T, file: &str) -> Result<Self, Error> {
        let value = Table::try_from(config).map_err(|error| {
            Error::config(file, format!("cannot be overridden key by key: {error}"))
        })?;
        Ok(Self { value, places: Places::new(file) })
    }

    /// Adds the layer `over`: tables merge, everything else is replaced.
    pub fn merge(&mut self, over: Self) {
        merge_tables("", &mut self.value, over.value, &mut self.places, &over.places);
    }

    /// Sets a key. Refusals name `place`.
    pub fn set(&mut self, path: &str, value: Value, place: &str) -> Result<(), Problem> {
        let levels = 1 + path.matches(['.', '[']).count();
        if levels > LEVELS_MAX {
            let message = format!(
                "found a key of {levels} levels, {}; allowed: {LEVELS_MAX} at most",
                shortened(path)
            );
            return Err(Problem { place: shortened(place).into_owned(), message });
        }
        let steps: Vec<&str> =
            path.split(['.', '[']).map(|step| step.strip_suffix(']').unwrap_or(step)).collect();
        if steps.iter().any(|step| step.is_empty()) {
            let message = "write path.to.key=value, for example flash.channels=4".to_owned();
            return Err(Problem { place: place.to_owned(), message });
        }
        let (first, rest) = steps.split_first().expect("split gives at least one piece");
        let mut target =
            self.value.entry((*first).to_owned()).or_insert(Value::Table(Table::new()));
        let mut key = (*first).to_owned();
        for step in rest {
            let above = std::mem::take(&mut key);
            (key, target) = descend(target, &above, step, place)?;
        }
        *target = value;
        self.places.set(&key, place);
        Ok(())
    }

    /// Reads the structure that the values describe.
    pub fn finish<T: DeserializeOwned>(&self) -> Result<T, Error> {
        values::read(&Value::Table(self.value.clone())).map_err(|stop| {
            Error::Config(vec![refuse::problem(stop.key, &stop.message, &self.places)])
        })
    }
}

/// True where `path` names one of several alternatives.
fn is_choice(path: &str) -> bool {
    path.rsplit('.').next().is_some_and(|last| CHOICES.contains(&last))
}

fn merge_tables(path: &str, under: &mut Table, over: Table, to: &mut Places, from: &Places) {
    for (key, value) in over {
        let path = join(path, &key);
        match (under.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above))
                if !is_choice(&path) || above.keys().eq(below.keys()) =>
            {
                to.take_over_one(&path, from);
                merge_tables(&path, below, above, to, from);
            }
            (_, value) => {
                to.take_over(&path, from);
                under.insert(key, value);
            }
        }
    }
}

/// Goes down from `target`, which is at `above`, by one step of the key.
fn descend<'a>(
    target: &'a mut Value,
    above: &str,
    step: &str,
    place: &str,
) -> Result<(String, &'a mut Value), Problem> {
    if let Value::Array(list) = target {
        let index = element(list, above, step, place)?;
        return Ok((join_index(above, index), &mut list[index]));
    }
    let replace = match target {
        // `scheduler = "fcfs"` is replaced by `scheduler.read-priority. ...`.
        Value::Table(table) => is_choice(above) && !table.contains_key(step) && !table.is_empty(),
        _ => true,
    };
    if replace {
        *target = Value::Table(Table::new());
    }
    let table = target.as_table_mut().expect("made a table just above");
    let next = table.entry(step.to_owned()).or_insert(Value::Table(Table::new()));
    Ok((join(above, step), next))
}

/// The index of the list element that `step` names, by number or by its `name`.
fn element(list: &[Value], above: &str, step: &str, place: &str) -> Result<usize, Problem> {
    let refuse = |message: String| Problem { place: at(place, above), message };
    if let Ok(index) = step.parse::<usize>() {
        return match index < list.len() {
            true => Ok(index),
            false => {
                Err(refuse(format!("found [{index}], allowed: 0 to {}", list.len().max(1) - 1)))
            }
        };
    }
    let names: Vec<&str> = list
        .iter()
        .map(|element| element.get("name").and_then(Value::as_str).unwrap_or(""))
        .collect();
    names.iter().position(|&name| name == step).ok_or_else(|| {
        refuse(format!("no element named `{step}`; {}", hint::allowed(step, &names)))
    })
}

/// The value of the text after `=`, which is TOML or a bare word for a string.
pub fn parse_value(text: &str) -> Value {
    let parsed = toml::from_str::<Table>(&format!("value = {text}")).ok();
    parsed
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}
