//! Makes names of tenants. They are legal names of flows and of files, unique, and the same on
//! every machine.

use std::collections::BTreeSet;

/// Longest name. Unit: characters.
const NAME_MAX: usize = 48;

/// Gives names that no other tenant has.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names that are taken, in lower case, because some file systems do not distinguish cases.
    taken: BTreeSet<String>,
}

impl Names {
    /// A name made from a text. `prefix` is put before a text that is only a number.
    pub(super) fn name(&mut self, text: &str, prefix: &str) -> String {
        let mut name = legal(text);
        if name.is_empty() {
            name = format!("no-{prefix}");
        } else if name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            name = format!("{prefix}-{name}");
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !self.taken.insert(unique.to_ascii_lowercase()) {
            unique = format!("{name}-{number}");
            number += 1;
        }
        unique
    }
}

/// Replaces everything but letters, digits, `_` and `-` by a dash.
fn legal(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let is_legal = c.is_ascii_alphanumeric() || c == '_';
        if is_legal {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() == NAME_MAX {
            break;
        }
    }
    name.truncate(name.trim_end_matches('-').len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique() {
        let mut names = Names::default();
        let made: Vec<String> =
            ["mysqld", "MYSQLD", "kworker/0:1H", "/a.slice/b.service", "4411", "", "é", "259,0"]
                .into_iter()
                .map(|text| names.name(text, "process"))
                .collect();
        assert_eq!(
            made,
            [
                "mysqld",
                "MYSQLD-2",
                "kworker-0-1H",
                "a-slice-b-service",
                "process-4411",
                "no-process",
                "no-process-2",
                "process-259-0",
            ]
        );
        assert_eq!(names.name(&"x".repeat(200), "process").len(), NAME_MAX);
    }
}
