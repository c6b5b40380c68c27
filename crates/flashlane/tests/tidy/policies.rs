//! Every policy is in the table of its family.

use crate::reached::reached;
use crate::sources::{Finding, SOURCES, Source, ratchet};

/// Policies that no table names.
///
/// A family is the folder of a table of policies (`policies!`). A policy is a file of that folder,
/// or a folder in it, in which a trait of the family is implemented or a configuration is described
/// (`PolicyDoc`).
fn unregistered(sources: &[Source]) -> Vec<Finding> {
    let reached = reached(sources);
    let mut found = Vec::new();
    for family in sources.iter().filter(|source| !source.tables.is_empty()) {
        let Some(folder) = family.path.strip_suffix("mod.rs") else {
            found
                .push(family.finding(1, "a table of policies belongs into the mod.rs of a folder"));
            continue;
        };
        let named: Vec<&String> = family.tables.iter().flatten().collect();
        let of_family = sources.iter().filter(|source| {
            source.path.starts_with(folder)
                && source.path != family.path
                && reached.get(&source.path) == Some(&false)
        });
        let mut policies: Vec<(&str, Vec<&Source>)> = Vec::new();
        for source in of_family {
            let inside = &source.path[folder.len()..];
            let policy = inside.split('/').next().unwrap_or(inside);
            match policies.last_mut() {
                Some((last, files)) if *last == policy => files.push(source),
                _ => policies.push((policy, vec![source])),
            }
        }
        for (_, files) in policies {
            found.extend(unregistered_in(&files, &family.traits, &named));
        }
    }
    found
}

/// The findings in the files of one policy.
fn unregistered_in(files: &[&Source], traits: &[String], named: &[&String]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut registered = false;
    for source in files {
        for described in source.implementations.iter().filter(|it| it.of == "PolicyDoc") {
            if named.contains(&&described.by) {
                registered = true;
            } else {
                let what = format!("{} is not in the table of its family", described.by);
                found.push(source.finding(described.line, what));
            }
        }
    }
    if !registered && found.is_empty() {
        for source in files {
            let policy = source.implementations.iter().find(|it| traits.contains(&it.of));
            found.extend(policy.map(|it| {
                let what = format!("{} has no configuration in the table of its family", it.by);
                source.finding(it.line, what)
            }));
        }
    }
    found
}

pub(crate) fn every_policy_is_in_the_table_of_its_family() {
    let families = SOURCES.iter().filter(|source| !source.tables.is_empty()).count();
    assert!(families >= 5, "{families} tables of policies");
    ratchet("Every policy is in the table of its family:", &unregistered(&SOURCES), &[]);
}

#[test]
fn policies_that_no_table_names_are_found() {
    let table = "mod one;\nmod two;\nmod three;\nmod help;\npub trait Policy {}\n\
                 units::policies! { pub enum P at \"p\" { \"one\" => One(OneConfig) } }\n";
    let policy = |name: &str, described: bool| {
        let doc = format!("impl PolicyDoc for {name}Config {{}}\n");
        format!("impl Policy for {name} {{}}\n{}", if described { &doc } else { "" })
    };
    let sources = [
        Source::of("crates/a/src/help.rs", ""),
        Source::of("crates/a/src/lib.rs", "mod p;"),
        Source::of("crates/a/src/p/help.rs", "fn f() {}"),
        Source::of("crates/a/src/p/mod.rs", table),
        Source::of("crates/a/src/p/one.rs", &policy("One", true)),
        Source::of("crates/a/src/p/three.rs", &policy("Three", false)),
        Source::of("crates/a/src/p/two.rs", &policy("Two", true)),
    ];
    let found = unregistered(&sources);
    let found: Vec<(&str, usize)> = found.iter().map(|it| (it.path.as_str(), it.line)).collect();
    assert_eq!(found, [("crates/a/src/p/three.rs", 1), ("crates/a/src/p/two.rs", 2)]);
}
