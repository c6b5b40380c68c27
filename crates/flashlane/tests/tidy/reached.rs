//! Every file is part of a program, a library or a test.

use std::collections::BTreeMap;

use crate::sources::{Finding, SOURCES, Source, ratchet};

/// The files that compilers read, and whether only tests have them.
pub(crate) fn reached(sources: &[Source]) -> BTreeMap<String, bool> {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let mut reached = BTreeMap::new();
    let roots = sources.iter().filter(|source| is_root(&source.path));
    let mut open: Vec<(&Source, bool)> =
        roots.map(|source| (source, source.path.contains("/tests/"))).collect();
    while let Some((source, test)) = open.pop() {
        // A file of code outside of tests is looked at again if tests came to it first.
        match reached.insert(source.path.clone(), test) {
            Some(before) if before == test => continue,
            Some(false) => {
                reached.insert(source.path.clone(), false);
                continue;
            }
            _ => {}
        }
        for module in &source.modules {
            for path in files(source, module) {
                open.extend(by_path.get(path.as_str()).map(|&it| (it, test || module.test)));
            }
        }
    }
    reached
}

/// The programs of tests that are one file each. Other files in a folder `tests` are modules of
/// these.
const TESTS: &[&str] = &["quick.rs", "slow.rs", "faulty.rs", "waf_only_policies.rs"];

/// Whether cargo compiles a file by itself.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let inside = match parts.as_slice() {
        ["crates", _, inside @ ..] | ["fuzz", inside @ ..] => inside,
        _ => return false,
    };
    matches!(inside, ["build.rs"] | ["src", "lib.rs" | "main.rs"])
        || matches!(inside, ["examples" | "benches" | "fuzz_targets", _])
        || matches!(inside, ["tests", file] if TESTS.contains(file))
        || matches!(inside, ["tests" | "examples" | "benches", _, "main.rs"])
        || matches!(inside, ["src", "bin", _] | ["src", "bin", _, "main.rs"])
}

/// Where the file of a module may be.
fn files(source: &Source, module: &crate::sources::Module) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let owns_folder = is_root(&source.path) || file == "mod.rs";
    let mut parts: Vec<&str> = folder.split('/').collect();
    if !owns_folder && (module.path.is_none() || !module.inside.is_empty()) {
        parts.push(file.strip_suffix(".rs").unwrap_or(file));
    }
    parts.extend(module.inside.iter().map(String::as_str));
    if let Some(path) = &module.path {
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        return vec![parts.join("/")];
    }
    let base = format!("{}/{}", parts.join("/"), module.name);
    vec![format!("{base}.rs"), format!("{base}/mod.rs")]
}

/// Files that no `mod` names.
fn lost(sources: &[Source]) -> Vec<Finding> {
    let reached = reached(sources);
    let lost = sources.iter().filter(|source| !reached.contains_key(&source.path));
    lost.map(|source| source.finding(1, "no `mod` leads to this file: it is not compiled"))
        .collect()
}

pub(crate) fn every_file_is_compiled() {
    ratchet("Every file is part of a program, a library or a test:", &lost(&SOURCES), &[]);
}

#[test]
fn files_that_nothing_names_are_found() {
    let sources = [
        Source::of("crates/a/src/lib.rs", "mod b;\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests;\n"),
        Source::of("crates/a/src/b.rs", "mod c { mod d; }\nmod e;"),
        Source::of("crates/a/src/b/c/d.rs", ""),
        Source::of("crates/a/src/b/e/mod.rs", "#[path = \"../../f.rs\"] mod f;"),
        Source::of("crates/a/src/f.rs", ""),
        Source::of("crates/a/src/g.rs", ""),
        Source::of("crates/a/src/t.rs", ""),
        Source::of("crates/a/tests/quick.rs", "#[path = \"i/j.rs\"] mod j;"),
        Source::of("crates/a/tests/i/j.rs", ""),
        Source::of("crates/a/tests/i/k.rs", ""),
        Source::of("crates/a/tests/n.rs", ""),
        Source::of("crates/a/tests/l/main.rs", "mod m;"),
        Source::of("crates/a/tests/l/m.rs", ""),
    ];
    let paths: Vec<String> = lost(&sources).into_iter().map(|it| it.path).collect();
    assert_eq!(paths, ["crates/a/src/g.rs", "crates/a/tests/i/k.rs", "crates/a/tests/n.rs"]);
    let reached = reached(&sources);
    let tests = reached.iter().filter(|(_, test)| **test).map(|(path, _)| path.as_str());
    let expected =
        ["src/t.rs", "tests/i/j.rs", "tests/l/m.rs", "tests/l/main.rs", "tests/quick.rs"];
    assert!(tests.eq(expected.map(|path| format!("crates/a/{path}"))));
}
