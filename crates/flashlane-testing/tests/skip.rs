//! A skipped test says so where everybody sees it, and no test goes round the helper that does it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane_testing::{LIST, SHARED, assert_skipped_without_shared, shared, skip_part};

/// Run by the tests below in a process of its own.
#[test]
#[ignore = "the other tests run it"]
fn needs_reference_data() {
    if shared("data", "made up for this test").is_none() {
        return;
    }
    println!("the data is there");
}

/// As above: skips only a part.
#[test]
#[ignore = "the other tests run it"]
fn needs_a_tool_for_a_part() {
    skip_part("the comparison with fio", "fio");
}

/// As above: passes without a word where the data is absent.
#[test]
#[ignore = "the other tests run it"]
fn says_nothing() {}

/// Standard output, standard error and the list of skipped tests after one test of this program.
fn run(test: &str, folder: &Path) -> [String; 3] {
    let list = folder.join("skipped.txt");
    let output = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", &format!("skip::{test}"), "--ignored", "--test-threads=2"])
        .env(SHARED, folder)
        .env(LIST, &list)
        .output()
        .expect("it starts");
    assert!(output.status.success());
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    [text(output.stdout), text(output.stderr), fs::read_to_string(list).unwrap_or_default()]
}

#[test]
fn absent_data_is_named_past_the_capture_of_output_and_in_the_list() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "skipped: quick::skip::needs_reference_data: needs ../shared/data (made up for this test)\n";
    let [_, said, listed] = run("needs_reference_data", folder.path());
    assert_eq!((said.as_str(), listed.as_str()), (line, line));
    let [_, _, listed] = run("needs_reference_data", folder.path());
    assert_eq!(listed, line.repeat(2), "the list keeps what is there");
}

#[test]
fn present_data_is_used_without_a_word() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("made");
    let [_, said, listed] = run("needs_reference_data", folder.path());
    assert_eq!((said.as_str(), listed.as_str()), ("", ""));
}

#[test]
fn a_part_that_is_skipped_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let [_, said, listed] = run("needs_a_tool_for_a_part", folder.path());
    assert_eq!(
        said,
        "skipped in part: quick::skip::needs_a_tool_for_a_part: the comparison with fio: needs fio\n"
    );
    assert_eq!(said, listed);
}

#[test]
fn the_check_of_a_test_program_finds_a_test_that_says_so() {
    assert_skipped_without_shared(module_path!(), &["needs_reference_data"]);
}

#[test]
#[should_panic(expected = "says_nothing passes without ../shared")]
fn the_check_of_a_test_program_finds_a_test_that_says_nothing() {
    assert_skipped_without_shared(module_path!(), &["says_nothing"]);
}

#[test]
fn the_list_is_printed_with_its_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("skipped.txt");
    let print = || {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/skipped-tests.sh");
        let output = Command::new(script).arg(&list).output().expect("it starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(print(), "Rust tests skipped: none\n");
    let lines =
        ["skipped: b::two: needs x", "skipped: a::one: needs y", "skipped in part: c: d: needs z"];
    fs::write(&list, lines.map(|line| format!("{line}\n")).concat()).expect("written");
    let [two, one, part] = lines;
    let expected =
        format!("Rust tests skipped: 2, skipped in part: 1\n  {one}\n  {two}\n  {part}\n");
    assert_eq!(print(), expected);
}

/// All Rust files under a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_test_finds_shared_data_and_reports_its_absence_by_the_helper() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    let mut files = Vec::new();
    sources(crates, &mut files);
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    files.retain(|file| {
        !file.starts_with(own) && file.components().any(|c| c.as_os_str() == "tests")
    });
    assert!(files.len() > 50, "{} files", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        for (line, text) in text.lines().enumerate() {
            let lower = text.to_lowercase();
            let own_path = lower.contains("/../shared");
            let own_words = lower.contains("print") && lower.contains("\"skipped");
            if own_path || own_words {
                wrong.push(format!("{}:{}: {}", file.display(), line + 1, text.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "use flashlane_testing::shared or skip:\n{}", wrong.join("\n"));
}
