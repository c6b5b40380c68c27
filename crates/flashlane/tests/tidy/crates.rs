//! Which crates each crate builds on: the table of ARCHITECTURE.md beside the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Crates of the workspace that a crate builds on, by name of the crate.
type BuildsOn = BTreeMap<String, BTreeSet<String>>;

/// The heading of the table.
const HEADING: &str = "## What each crate may know";

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// As the manifests have it. Dependencies of tests do not count.
fn manifests() -> BuildsOn {
    let folders = std::fs::read_dir(root().join("crates")).expect("the folder of crates");
    let mut found = BuildsOn::new();
    for folder in folders {
        let path = folder.expect("an entry of the folder").path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let manifest: toml::Table = text.parse().expect("a manifest");
        let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
        let of_workspace = |name: &&String| name.starts_with("flashlane");
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        let names = dependencies.into_iter().flat_map(toml::Table::keys).filter(of_workspace);
        found.insert(name, names.cloned().collect());
    }
    found
}

/// As a table says: names in back quotes, those of the first column and those of the second.
fn table(text: &str) -> BuildsOn {
    let (_, after) = text.split_once(HEADING).expect("the heading of the table");
    let rows = after.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    let quoted = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut found = BuildsOn::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        for name in quoted(cells[0]) {
            found.insert(name, quoted(cells[1]));
        }
    }
    found
}

#[test]
fn crates_build_on_what_the_architecture_says() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (said, found) = (table(&text), manifests());
    let names: BTreeSet<&String> = said.keys().chain(found.keys()).collect();
    for name in names {
        assert_eq!(said.get(name), found.get(name), "{name}: ARCHITECTURE.md, and its manifest");
    }
}

#[test]
fn the_names_of_a_table_are_found() {
    let text = format!("{HEADING}\n\n| a | b |\n| - | - |\n| `x`, `y` | `z` | no |\n| `z` | |\n");
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let expected = [("x", set(&["z"])), ("y", set(&["z"])), ("z", set(&[]))];
    assert_eq!(table(&text), expected.map(|(name, on)| (name.to_owned(), on)).into());
}
