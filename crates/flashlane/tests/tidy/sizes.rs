//! Lines, functions and files are short.

use crate::reached::reached;
use crate::sources::{Finding, SOURCES, Source, ratchet};

/// Unit: characters.
const LINE_MAX: usize = 100;

/// Without documentation and attributes. Unit: lines.
const FUNCTION_MAX: usize = 60;

/// Without the tests in the file. Unit: lines.
const FILE_MAX: usize = 400;

/// Unit: lines.
const TEST_FILE_MAX: usize = 500;

/// Files and folders with long lines.
const LONG_LINES: &[&str] = &[];

/// Files with long functions.
const LONG_FUNCTIONS: &[&str] = &[
    "crates/flashlane-cli/src/commands/run.rs",
    "crates/flashlane-cli/tests/run.rs",
    "crates/flashlane-python/src/simulate.rs",
    "crates/flashlane-reproduce/src/fast18/backend.rs",
    "crates/flashlane-reproduce/src/fast18/cmt.rs",
    "crates/flashlane-reproduce/src/fast18/latency.rs",
    "crates/flashlane-reproduce/src/fast18/request_size.rs",
    "crates/flashlane-reproduce/src/fast18/steady_state.rs",
    "crates/flashlane-reproduce/src/fast18/write_cache.rs",
    "crates/flashlane-reproduce/src/flin/access_pattern.rs",
    "crates/flashlane-reproduce/src/flin/device.rs",
    "crates/flashlane-reproduce/src/flin/gc.rs",
    "crates/flashlane-reproduce/src/flin/intensity.rs",
    "crates/flashlane-reproduce/src/flin/over_time.rs",
    "crates/flashlane-reproduce/src/flin/read_write.rs",
    "crates/flashlane/benches/flin.rs",
    "crates/flashlane-config/src/fio_job/tests.rs",
    "crates/flashlane-device/src/ftl/mod.rs",
    "crates/flashlane-measure/src/metrics/recorder.rs",
    "crates/flashlane/src/precondition/conformance.rs",
    "crates/flashlane/src/precondition/mod.rs",
    "crates/flashlane/src/run/jobs.rs",
    "crates/flashlane/src/waf_only/refuse.rs",
    "crates/flashlane/tests/golden.rs",
    "crates/flashlane/tests/swarm/generate/mod.rs",
];

/// Files that are longer than allowed.
const LONG_FILES: &[&str] = &[
    "crates/flashlane-device/src/scheduler/policy/flin/region.rs",
    "crates/flashlane-device/src/scheduler/policy/flin/tests.rs",
    "crates/flashlane-device/src/scheduler/queues.rs",
];

/// Lines that are too long and could be broken.
fn long_lines(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let length = line.chars().count();
        if length > LINE_MAX && !is_string(source, number, line) && !is_unbreakable(line) {
            let what = format!("{length} characters, allowed: {LINE_MAX}");
            found.push(source.finding(number, what));
        }
    }
    found
}

/// Whether what is too much of a line is part of a string literal, or follows one as punctuation.
fn is_string(source: &Source, number: usize, line: &str) -> bool {
    source.strings.iter().any(|(start, end)| {
        let starts = start.line < number || start.line == number && start.column < LINE_MAX;
        let rest = match end.line {
            last if last > number => return starts && start.line <= number,
            last if last == number => line.chars().skip(end.column),
            _ => return false,
        };
        starts && end.column + 2 >= LINE_MAX && rest.into_iter().all(|c| ",;)]}?".contains(c))
    })
}

/// Whether a line is the row of a table in a comment, or a comment of one word, like an address.
fn is_unbreakable(line: &str) -> bool {
    let comment = line.trim().strip_prefix("//");
    let words = comment.map(|comment| comment.trim_start_matches(['/', '!']).trim());
    words.is_some_and(|words| words.starts_with('|') || !words.contains(char::is_whitespace))
}

/// Functions that are too long.
fn long_functions(source: &Source) -> Vec<Finding> {
    let long = source.functions.iter().filter(|function| function.length > FUNCTION_MAX);
    let finding = |function: &crate::sources::Function| {
        let (name, length) = (&function.name, function.length);
        source.finding(function.line, format!("{name}: {length} lines, allowed: {FUNCTION_MAX}"))
    };
    long.map(finding).collect()
}

/// Says so if a file is too long.
fn long_file(source: &Source, test: bool) -> Option<Finding> {
    let (lines, allowed) = match test {
        true => (source.text.lines().count(), TEST_FILE_MAX),
        false => (source.lines_of_code(), FILE_MAX),
    };
    (lines > allowed).then(|| source.finding(1, format!("{lines} lines, allowed: {allowed}")))
}

pub(crate) fn lines_are_short() {
    let found: Vec<Finding> = SOURCES.iter().flat_map(long_lines).collect();
    ratchet(
        "Lines have at most 100 characters, but for those of string literals:",
        &found,
        LONG_LINES,
    );
}

pub(crate) fn functions_are_short() {
    let found: Vec<Finding> = SOURCES.iter().flat_map(long_functions).collect();
    ratchet("A function does one thing:", &found, LONG_FUNCTIONS);
}

pub(crate) fn files_are_short() {
    let reached = reached(&SOURCES);
    let test = |source: &Source| reached.get(&source.path) == Some(&true);
    let found: Vec<Finding> =
        SOURCES.iter().filter_map(|source| long_file(source, test(source))).collect();
    ratchet("A file has one subject:", &found, LONG_FILES);
}

#[test]
fn long_lines_are_found() {
    let (words, word) = ("many words ".repeat(10), "x".repeat(110));
    let text = [
        format!("// {words}"),
        format!("// https://{word}"),
        format!("// | {words} |"),
        format!("const A: &str = \"{words}\";"),
        format!("const B: &[&str] = &[\"{words}\", {word}];"),
        format!("/// {words}"),
        "/// ".to_owned() + &"é".repeat(50) + " " + &"é".repeat(45),
        format!("const C: &str = \"\n{words}\n\";"),
        format!("const {word}: u8 = 0;"),
    ];
    let found = long_lines(&Source::of("a.rs", &text.join("\n")));
    let lines: Vec<usize> = found.iter().map(|it| it.line).collect();
    assert_eq!(lines, [1, 5, 6, 11], "{found:?}");
}

#[test]
fn long_functions_are_found() {
    let body = "    g();\n".repeat(FUNCTION_MAX - 2);
    let text = format!(
        "/// Short.\nfn a() {{\n{body}}}\nstruct S;\nimpl S {{\n/// Long.\n#[cold]\nfn b() {{\n\n{body}}}\n}}\n\
         trait T {{\nfn c();\nfn d() {{\nfn e() {{\n\n{body}}}\n}}\n}}"
    );
    let found = long_functions(&Source::of("a.rs", &text));
    let what: Vec<&str> = found.iter().filter_map(|it| it.what.split(':').next()).collect();
    assert_eq!(what, ["b", "d", "e"]);
    assert_eq!(found[0].line, FUNCTION_MAX + 6);
}

#[test]
fn long_files_are_found() {
    let code = "fn f() {}\n".repeat(FILE_MAX);
    let tests = format!("#[cfg(test)]\n#[rustfmt::skip]\nmod tests {{\n{code}}}\n");
    assert_eq!(long_file(&Source::of("a.rs", &(code.clone() + &tests)), false), None);
    let found = long_file(&Source::of("a.rs", &(code.clone() + &tests + "fn f() {}")), false);
    assert_eq!(found.map(|it| it.what), Some("401 lines, allowed: 400".to_owned()));
    let test = code + &"fn f() {}\n".repeat(TEST_FILE_MAX - FILE_MAX);
    assert_eq!(long_file(&Source::of("t.rs", &test), true), None);
    assert!(long_file(&Source::of("t.rs", &(test + "fn f() {}")), true).is_some());
}
