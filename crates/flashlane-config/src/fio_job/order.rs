//! Groups of jobs that run together: `stonewall` and `wait_for` make the jobs below them wait.

use std::collections::BTreeMap;

use super::Notes;
use super::reader::Reader;
use super::sections::Section;

/// Most jobs that a message names.
const SHOWN_MAX: usize = 10;

/// The group of each job, from 0. A group starts when the group before it has ended.
pub(super) fn groups(sections: &[Section], notes: &mut Notes) -> Vec<usize> {
    let (mut current, mut last) = (0, 0);
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        let mut reader = Reader { section, notes };
        if reader.flag("stonewall") && index > 0 {
            current = last + 1;
        }
        let mut group = current;
        if let Some(name) = reader.text("wait_for") {
            match by_name.get(name.as_str()) {
                Some(other) => group = group.max(other + 1),
                None => {
                    let above: Vec<&str> = by_name.keys().copied().take(SHOWN_MAX).collect();
                    let message =
                        format!("found {name:?}, allowed: a job above ({})", above.join(", "));
                    reader.refuse("wait_for", message);
                }
            }
        }
        by_name.insert(&section.name, group);
        groups.push(group);
        last = last.max(group);
    }
    groups
}
