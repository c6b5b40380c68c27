//! The import graph inside of the crates that have several folders. Imports go down: a circle of
//! imports stays inside one folder, and a stage of the drive imports neither the configuration as a
//! whole nor the driver. What crates may import of each other the compiler knows (`crates.rs`).
//!
//! The graph is read from the text of the sources: `use` declarations, and paths that start with
//! `crate`, `self` or `super`. Files and modules that only tests compile are left out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The crates with several folders.
const CRATES: &[&str] = &["flashlane-device", "flashlane-measure", "flashlane"];

/// The stages of the drive, and the isolation policies, which work with them.
const STAGES: &[&str] =
    &["cache", "flash", "ftl", "host", "interface", "isolation", "link", "scheduler"];

/// What stands above the stages.
const ABOVE: &[&str] = &["config", "device", "audit"];

/// A module of the crate, by the names on its path. The root has none.
type Module = Vec<String>;

/// The modules that each module imports, with a path by which it does.
type Imports = BTreeMap<Module, BTreeMap<Module, String>>;

/// The sources, without those that only tests compile.
struct Sources {
    /// The text of each module without comments and unit tests.
    texts: BTreeMap<Module, String>,
    files: BTreeMap<Module, String>,
}

impl Sources {
    fn read(root: &Path) -> Self {
        let mut paths = Vec::new();
        list(root, &mut paths);
        let mut whole = BTreeMap::new();
        let mut of_tests = BTreeSet::new();
        for path in &paths {
            let text = without_comments(&std::fs::read_to_string(path).expect("a source file"));
            let folder = path.parent().expect("a file lies in a folder");
            let is_module_file = path.ends_with("lib.rs") || path.ends_with("mod.rs");
            for (name, file) in test_modules(&text) {
                let beside = match is_module_file || file.is_some() {
                    true => folder.to_path_buf(),
                    false => path.with_extension(""),
                };
                of_tests.insert(beside.join(file.unwrap_or(format!("{name}.rs"))));
            }
            whole.insert(path.clone(), text);
        }
        whole.retain(|path, _| !of_tests.contains(path));
        let (mut texts, mut files) = (BTreeMap::new(), BTreeMap::new());
        for (path, text) in whole {
            let inside = path.strip_prefix(root).expect("a file of the crate");
            let file = inside.to_string_lossy().replace('\\', "/");
            let stem = file.strip_suffix(".rs").expect("a Rust file");
            let mut module: Module = stem.split('/').map(str::to_owned).collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
                module.pop();
            }
            texts.insert(module.clone(), without_unit_tests(&text).to_owned());
            files.insert(module, file);
        }
        Self { texts, files }
    }

    fn imports(&self) -> Imports {
        let of = |(module, text): (&Module, &String)| {
            let mut imported = BTreeMap::new();
            for path in paths_in(text) {
                if let Some(target) = self.resolve(module, &path)
                    && target != *module
                {
                    imported.entry(target).or_insert(path);
                }
            }
            (module.clone(), imported)
        };
        self.texts.iter().map(of).collect()
    }

    /// The module that a path written in `module` leads to: the longest part of it that names one.
    fn resolve(&self, module: &Module, path: &str) -> Option<Module> {
        let mut names: VecDeque<&str> = path.split("::").map(str::trim).collect();
        let mut full = match *names.front()? {
            "crate" => Module::new(),
            "self" | "super" => module.clone(),
            // A child of the module, or another crate.
            child => {
                let mut full = module.clone();
                full.push(child.to_owned());
                return self.files.contains_key(&full).then(|| self.longest(module.clone(), names));
            }
        };
        if matches!(names.front(), Some(&("crate" | "self"))) {
            names.pop_front();
        }
        while names.front() == Some(&"super") {
            names.pop_front();
            full.pop();
        }
        Some(self.longest(full, names))
    }

    fn longest(&self, mut from: Module, names: VecDeque<&str>) -> Module {
        for name in names {
            from.push(name.to_owned());
            if !self.files.contains_key(&from) {
                from.pop();
                break;
            }
        }
        from
    }

    /// The name of a module's file.
    fn file(&self, module: &Module) -> &str {
        &self.files[module]
    }
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            list(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn without_comments(text: &str) -> String {
    let code = |line: &'_ str| line.split_once("//").map_or(line, |(code, _)| code).to_owned();
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// Modules in files of their own that only tests compile: name, and file where it is given.
fn test_modules(text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    for after in text.split("#[cfg(test)]").skip(1) {
        let mut file = None;
        for line in after.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(path) = line.strip_prefix("#[path = \"") {
                file = path.strip_suffix("\"]").map(str::to_owned);
            } else if let Some((_, name)) = line.split_once("mod ") {
                found.extend(name.strip_suffix(';').map(|name| (name.to_owned(), file)));
                break;
            } else if !line.starts_with("#[") {
                break;
            }
        }
    }
    found
}

/// Unit tests are the last item of a file.
fn without_unit_tests(text: &str) -> &str {
    text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code)
}

/// The paths of all `use` declarations, one for each name, and the other paths that start with
/// `crate`, `self` or `super`.
fn paths_in(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut rest = text;
    while let Some(at) = next_word(rest, &["use", "crate", "self", "super"]) {
        let (word, after) = rest[at..].split_at(word_length(&rest[at..]));
        if word == "use" && !rest[at..].starts_with("use<") {
            let (tree, after) = after.split_once(';').unwrap_or((after, ""));
            expand("", tree, &mut paths);
            rest = after;
        } else {
            let names = after.char_indices().find(|&(_, c)| !(is_of_word(c) || c == ':'));
            let length = names.map_or(after.len(), |(at, _)| at);
            if after[..length].starts_with("::") {
                paths.push(format!("{word}{}", after[..length].trim_end_matches(':')));
            }
            rest = &after[length..];
        }
    }
    paths
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !is_of_word(c)).unwrap_or(text.len())
}

/// Where the first of some words begins.
fn next_word(text: &str, words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let length = word_length(&text[at..]);
        if words.contains(&&text[at..at + length]) {
            return Some(at);
        }
        at += length;
        at += text[at..].chars().take_while(|&c| !is_of_word(c)).map(char::len_utf8).sum::<usize>();
    }
    None
}

/// The paths of a `use` tree.
fn expand(before: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((inside, _)) = tree.split_once('{') else {
        let path = tree.split_once(" as ").map_or(tree, |(path, _)| path);
        if !path.is_empty() {
            paths.push(format!("{before}{path}").trim_end_matches("::self").to_owned());
        }
        return;
    };
    let before = format!("{before}{}", inside.trim());
    let end = tree.rfind('}').expect("a brace that closes");
    let (mut depth, mut part) = (0, String::new());
    for c in tree[inside.len() + 1..end].chars().chain([',']) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&before, &std::mem::take(&mut part), paths);
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
}

/// The folder of a module, or the file where it lies in none.
fn room(module: &Module) -> &str {
    module.first().map_or("lib.rs", String::as_str)
}

/// A shortest way along imports, both ends included.
fn way(imports: &Imports, from: &Module, to: &Module) -> Option<Vec<Module>> {
    let mut came_from = BTreeMap::from([(from.clone(), from.clone())]);
    let mut open = VecDeque::from([from.clone()]);
    while let Some(module) = open.pop_front() {
        if module == *to {
            let mut way = vec![module];
            while way.last() != Some(from) {
                way.push(came_from[&way[way.len() - 1]].clone());
            }
            way.reverse();
            return Some(way);
        }
        for next in imports.get(&module).into_iter().flat_map(BTreeMap::keys) {
            if !came_from.contains_key(next) {
                came_from.insert(next.clone(), module.clone());
                open.push_back(next.clone());
            }
        }
    }
    None
}

/// Every import between two folders that lies on a circle, with the shortest circle, in words.
fn circles(sources: &Sources, imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for (module, imported) in imports {
        for target in imported.keys().filter(|target| room(target) != room(module)) {
            let Some(back) = way(imports, target, module) else { continue };
            let mut words = sources.file(module).to_owned();
            let links = [module, target].into_iter().chain(&back[1..]).collect::<Vec<_>>();
            for (index, link) in links.windows(2).enumerate() {
                let (path, file) = (&imports[link[0]][link[1]], sources.file(link[1]));
                let which = if index == 0 { "" } else { ",\n    which" };
                let _ = write!(words, "{which} imports {path} ({file})");
            }
            found.push(words);
        }
    }
    found
}

fn sources(of: &str) -> Sources {
    Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(of).join("src"))
}

fn module(path: &str) -> Module {
    path.split('/').map(str::to_owned).collect()
}

#[test]
fn circles_of_imports_stay_in_one_folder() {
    let mut problems = Vec::new();
    for name in CRATES {
        let sources = sources(name);
        for circle in circles(&sources, &sources.imports()) {
            problems.push(format!("{name}: a circle of imports leaves its folder:\n    {circle}"));
        }
    }
    assert!(
        problems.is_empty(),
        "imports go down, as ARCHITECTURE.md says: move what two files need of each other to a file that imports \
         neither\n\n{}\n",
        problems.join("\n")
    );
}

#[test]
fn stages_do_not_look_up() {
    let sources = sources("flashlane-device");
    let mut problems = Vec::new();
    for (from, imported) in &sources.imports() {
        if STAGES.contains(&room(from)) {
            for (to, path) in imported.iter().filter(|(to, _)| ABOVE.contains(&room(to))) {
                let (from, to) = (sources.file(from), sources.file(to));
                problems.push(format!("{from} imports {path} ({to})"));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "a stage takes its own configuration and fills in its own counts; what runs, watches and measures the \
         drive stands above it\n\n{}\n",
        problems.join("\n")
    );
}

#[test]
fn stages_have_an_order() {
    let mut imports = Imports::new();
    let sources = sources("flashlane-device");
    for (from, imported) in sources.imports() {
        for (to, path) in imported {
            let rooms = (room(&from), room(&to));
            if rooms.0 != rooms.1 && STAGES.contains(&rooms.0) && STAGES.contains(&rooms.1) {
                let because = format!("{path} in {}", sources.file(&from));
                imports
                    .entry(module(rooms.0))
                    .or_default()
                    .entry(module(rooms.1))
                    .or_insert(because);
            }
        }
    }
    let circles = circles(&sources, &imports);
    assert!(
        circles.is_empty(),
        "of two stages at most one imports the other, directly or by way of others\n\n    {}\n",
        circles.join("\n    ")
    );
}

#[test]
fn paths_are_found_in_use_declarations_and_in_expressions() {
    let text = "use crate::a::{self, b::{C, d::E as F}, G};\npub(super) use h::I;\n\
                fn j(k: &super::l::M) { crate::n::o(self.p, Self::q()); }";
    let text = without_comments(text);
    let paths = paths_in(&text);
    let expected = [
        "crate::a",
        "crate::a::b::C",
        "crate::a::b::d::E",
        "crate::a::G",
        "h::I",
        "super::l::M",
        "crate::n::o",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn a_circle_is_told_in_words() {
    let text = |text: &str| text.to_owned();
    let files = [("a", "a/mod.rs"), ("a/b", "a/b.rs"), ("c", "c.rs")];
    let texts =
        [("a", "use b::B;"), ("a/b", "use crate::c::C;\nuse super::A;"), ("c", "use crate::a::A;")];
    let sources = Sources {
        files: files.map(|(path, file)| (module(path), text(file))).into(),
        texts: texts.map(|(path, code)| (module(path), text(code))).into(),
    };
    let found = circles(&sources, &sources.imports());
    let into = "a/b.rs imports crate::c::C (c.rs),\n    which imports crate::a::A (a/mod.rs),\n    which imports b::B (a/b.rs)";
    let out = "c.rs imports crate::a::A (a/mod.rs),\n    which imports b::B (a/b.rs),\n    which imports crate::c::C (c.rs)";
    assert_eq!(found, [into, out]);
    // Inside a folder files may import each other.
    let mut imports = sources.imports();
    imports.remove(&module("c"));
    assert_eq!(circles(&sources, &imports), [""; 0]);
}

#[test]
fn modules_of_tests_are_left_out() {
    let text = "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n#[cfg(test)]\nmod y;\nmod z;\n#[cfg(test)]\nfn f() {}";
    let expected =
        [(String::from("tests"), Some(String::from("x_tests.rs"))), (String::from("y"), None)];
    assert_eq!(test_modules(text), expected);
}
