//! The pages do what they say: their shell blocks run in order, as printed, in a folder that has
//! what `make demo` leaves; files that they name are there afterwards; output that they show is
//! what came. Not run: what builds or tests this project, experiments of minutes, and tools that
//! are not installed.
//!
//! `UPDATE_DOCS=1` writes the output that came into the pages. `EVERY_COMMAND=1` also runs the
//! commands that take a minute, whose output no page shows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{has_fio_with_nbd, python, repository, text};

/// A fenced block of a page.
struct Block {
    language: String,
    content: String,
    /// The last line of text above it.
    above: String,
}

fn page(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect("a page")
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut above, mut inside) = (String::new(), false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(language) => {
                inside = true;
                let (language, content) = (language.to_owned(), String::new());
                found.push(Block { language, content, above: above.clone() });
            }
            None if inside => {
                let content = &mut found.last_mut().expect("a block").content;
                *content += line;
                content.push('\n');
            }
            None if !line.trim().is_empty() => line.clone_into(&mut above),
            None => {}
        }
    }
    found
}

/// What stands between backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Writes the TOML that a page gives a name in the line above: "`mine.toml`, a replayed trace:".
fn write_files(folder: &Path, blocks: &[Block]) {
    for block in blocks.iter().filter(|b| b.language == "toml" && b.above.ends_with(':')) {
        if let Some(name) = quoted(&block.above).find(|name| name.ends_with(".toml")) {
            std::fs::write(folder.join(name), &block.content).expect("room");
        }
    }
}

/// A folder like a clone after `make demo`: the program in its place, a `cargo` and a Python that
/// have nothing to do, the workload of the tutorial.
fn clone_after_demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for made in ["target/release", "target/python-env/bin", "bin", "out", "scripts"] {
        std::fs::create_dir_all(at(made)).expect("made");
    }
    let program = at("target/release/flashlane");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_flashlane"), program).expect("linked");
    // `make docs` has nothing to write here.
    for idle in ["bin/cargo", "scripts/python-env.sh", "target/python-env/bin/python"] {
        std::os::unix::fs::symlink("/bin/true", at(idle)).expect("linked");
    }
    for copied in ["Makefile", "scripts/demo.sh"] {
        std::fs::copy(repository().join(copied), at(copied)).expect("copied");
    }
    // Finds no libraries for browsers: the demonstration does without.
    std::os::unix::fs::symlink("/bin/true", at("scripts/what-if.sh")).expect("linked");
    write_files(folder.path(), &blocks(&page("docs/tutorial.md")));
    folder
}

/// Where commands are looked for: the stand-in for `cargo`, the program, the environment of the
/// Python tests.
fn search_path(folder: &Path) -> Vec<PathBuf> {
    let mut path = vec![folder.join("bin"), folder.join("target/release")];
    let python = std::env::var_os("PYTHON").map(PathBuf::from);
    path.extend(python.as_deref().and_then(Path::parent).map(Path::to_owned));
    path.push(repository().join("target/python-env/bin"));
    path.extend(std::env::split_paths(&std::env::var_os("PATH").expect("a path")));
    path
}

/// Whether a line is run.
fn runs(line: &str, path: &[PathBuf]) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["make", "test", ..] => false,
        ["flashlane", "advise", .., "--workload", "why/tenants/workload.toml", "--out", _] => {
            std::env::var_os("EVERY_COMMAND").is_some()
        }
        [program, "reproduce", ..] if program.ends_with("flashlane") => words.contains(&"list"),
        ["fio-plot", ..] => {
            let found = path.iter().any(|folder| folder.join("fio-plot").exists());
            if !found {
                flashlane_testing::skip_part(&format!("`{line}`"), "fio-plot");
            }
            found
        }
        _ => true,
    }
}

/// Output of each shell block, standard error among it. One shell runs all of them, so that a
/// variable of one serves the next.
fn run(folder: &Path, blocks: &[&Block]) -> Vec<String> {
    const MARK: &str = "@@ end of a block @@";
    let path = search_path(folder);
    let mut script = "exec 2>&1\n".to_owned();
    for block in blocks {
        for line in block.content.lines().filter(|line| runs(line, &path)) {
            script += line;
            script.push('\n');
        }
        script += &format!("echo; echo '{MARK}'\n");
    }
    // The first run would say where states are, which differs from run to run. Writing them takes
    // longer than what they save here, so that only a page about them keeps any.
    let about_states = blocks.iter().any(|block| block.content.contains("flashlane states"));
    let states = if about_states { folder.join("states") } else { "off".into() };
    let output = Command::new("bash")
        .args(["-eu", "-o", "pipefail", "-c", &script])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(&path).expect("a path"))
        .env("HOME", folder)
        .env("FLASHLANE_STATES", states)
        .stdin(Stdio::null())
        .output()
        .expect("bash starts");
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    let mut parts: Vec<String> = said.split(MARK).map(str::to_owned).collect();
    parts.pop();
    parts
}

/// Lines of output, without wall times, which differ from run to run, and without empty ones.
fn masked(text: &str) -> Vec<String> {
    let cut = |line: &'_ str| without_clock(line.trim_end()).0.to_owned();
    text.lines().map(cut).filter(|line| !line.is_empty()).collect()
}

/// Asserts that a page shows what came; a line `…` stands for any lines.
fn assert_shown(shown: &str, came: &str) {
    let lines = masked(came);
    let mut rest = &lines[..];
    for piece in masked(shown).split(|line| line == "…").filter(|piece| !piece.is_empty()) {
        let at = rest.windows(piece.len()).position(|window| window == piece);
        let at = at.unwrap_or_else(|| panic!("not in the output:\n{}\n{came}", piece.join("\n")));
        rest = &rest[at + piece.len()..];
    }
}

/// The words of a line of output, without its numbers and the spaces between columns.
fn words(line: &str) -> String {
    let of_number = |c: char| c.is_ascii_digit() || c == '.';
    let words = line.split_whitespace().filter(|word| !word.trim_matches('-').is_empty());
    words.map(|word| word.replace(of_number, "#")).filter(|word| word != "#").collect()
}

/// A line of output without a wall time at its end, and the wall time.
fn without_clock(line: &str) -> (&str, Option<&str>) {
    let clocks = ["simulated in", "steady state set in"];
    let at = clocks.into_iter().find_map(|clock| Some(line.find(clock)? + clock.len()));
    at.map_or((line, None), |at| (&line[..at], Some(&line[at..])))
}

/// The output that came in place of what a page shows: every part begins and ends with lines of the
/// same words. Wall times stay as they were.
fn shown_anew(shown: &str, came: &str) -> String {
    let lines: Vec<&str> = came.lines().map(str::trim_end).collect();
    let mut rest = &lines[..];
    let mut anew = Vec::new();
    for part in shown.trim_end().split("\n…\n") {
        let mut part = part.lines();
        let first = words(part.next().expect("a part has lines"));
        let from = rest.iter().position(|line| words(line) == first).expect("where it begins");
        let last = part.next_back().map_or(first, words);
        let to = rest[from..].iter().position(|line| words(line) == last).expect("where it ends");
        anew.push(rest[from..=from + to].join("\n"));
        rest = &rest[from + to + 1..];
    }
    let mut clocks = shown.lines().filter_map(|line| without_clock(line).1);
    let keep_clock = |line: &str| match without_clock(line) {
        (_, None) => line.to_owned(),
        (before, Some(now)) => before.to_owned() + clocks.next().unwrap_or(now),
    };
    anew.join("\n…\n").lines().map(keep_clock).map(|line| line + "\n").collect()
}

#[test]
fn output_is_shown_anew() {
    let came =
        "x 1\n\nflow  mean\n----------\na     20.5\nb      3\ny 7\nend 9, simulated in 2 s\n";
    let shown = "flow mean\n---------\na       1\nb       2\n…\nend 1, simulated in 1 s\n";
    let anew = "flow  mean\n----------\na     20.5\nb      3\n…\nend 9, simulated in 1 s\n";
    assert_eq!(shown_anew(shown, came), anew);
}

#[test]
#[should_panic(expected = "not in the output:\nc 1")]
fn output_that_differs_is_noticed() {
    assert_shown("a\n…\nc 1\n", "a\nb\nc 2\n");
}

/// Files that a page names: after the options that write, and those below `out/` in its text.
fn named_files(page: &str, blocks: &[&Block], path: &[PathBuf]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in blocks.iter().flat_map(|block| block.content.lines()).filter(|l| runs(l, path)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        files.extend(
            words
                .windows(2)
                .filter(|pair| ["--out", "--report", "-o", ">"].contains(&pair[0]))
                .map(|pair| pair[1].to_owned())
                .filter(|name| !name.starts_with('-') && !name.contains('$')),
        );
    }
    let text: String =
        page.split("```").step_by(2).flat_map(|part| [part, "\n"]).collect::<Vec<_>>().concat();
    files.extend(quoted(&text).filter(|name| name.starts_with("out/")).map(str::to_owned));
    // The site comes from `make site`.
    files.retain(|name| name != "out/site");
    files
}

/// Runs a page in a folder, and compares.
fn follow(folder: &Path, name: &str, imports: &str) {
    let page = page(name);
    let all = blocks(&page);
    write_files(folder, &all);
    let shell: Vec<&Block> = all.iter().filter(|block| block.language == "sh").collect();
    assert!(!shell.is_empty(), "{name} has something to run");
    let said = run(folder, &shell);
    assert_eq!(said.len(), shell.len());
    let mut said = said.iter();
    let mut last = None;
    let mut anew = page.clone();
    for block in &all {
        match block.language.as_str() {
            "sh" => last = said.next(),
            "text" => {
                let came = last.take().expect("a command comes first");
                if std::env::var_os("UPDATE_DOCS").is_some() {
                    anew = anew.replace(&block.content, &shown_anew(&block.content, came));
                } else {
                    assert_shown(&block.content, came);
                }
            }
            _ => {}
        }
    }
    if anew != page {
        std::fs::write(repository().join(name), anew).expect("room");
    }
    for file in named_files(&page, &shell, &search_path(folder)) {
        assert!(folder.join(&file).exists(), "{name}: {file} does not appear");
    }
    if !imports.is_empty() {
        for block in all.iter().filter(|block| block.language == "python") {
            python(folder, imports, &block.content);
        }
    }
}

#[test]
fn the_tutorial_runs_as_printed() {
    follow(clone_after_demo().path(), "docs/tutorial.md", "");
}

#[test]
fn how_to_pages_run_as_printed() {
    let clone = clone_after_demo();
    follow(clone.path(), "README.md", "");
    follow(clone.path(), "docs/howto.md", "");
    follow(clone.path(), "docs/blame.md", "");
    follow(clone.path(), "docs/incident.md", "");
    follow(clone.path(), "docs/advise.md", "");
    follow(clone.path(), "docs/energy.md", "");
    follow(clone.path(), "docs/results.md", "import pandas, pyarrow");
    follow(clone.path(), "docs/adding-a-policy.md", "");
    follow(clone.path(), "docs/reproduce.md", "");
}

#[test]
fn ten_tasks_are_done_as_printed() {
    if std::env::var_os("PYTHON").is_none() && !repository().join("target/python-env/bin").exists()
    {
        flashlane_testing::skip_part("docs/tasks.md", "the Python package");
        return;
    }
    follow(clone_after_demo().path(), "docs/tasks.md", "");
}

#[test]
fn a_drive_is_served_as_printed() {
    if has_fio_with_nbd("docs/serve.md") {
        follow(clone_after_demo().path(), "docs/serve.md", "");
    }
}

/// A request that was queued on a device, as blktrace records it.
/// Layout: `struct blk_io_trace` of Linux, version 7.
fn queued_request(sequence: u32, read: bool) -> Vec<u8> {
    let category = if read { 1_u32 } else { 2 };
    let words = [0x6561_7407, sequence];
    let time_and_sector = [u64::from(sequence) * 1_000_000, u64::from(sequence) * 8];
    let rest = [4096, (category << 16) | 1, 99, 0x0010_3000, 0, 0_u32];
    let mut record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    record.extend(time_and_sector.iter().flat_map(|word| word.to_le_bytes()));
    record.extend(rest.iter().flat_map(|word| word.to_le_bytes()));
    record
}

#[test]
fn pages_about_input_of_others_run_as_printed() {
    let clone = clone_after_demo();
    let folder = clone.path();
    // What their readers have: files of blktrace and of MQSim.
    let records: Vec<u8> = (1..20).flat_map(|n| queued_request(n, n % 3 > 0)).collect();
    std::fs::write(folder.join("dev.blktrace.0"), records).expect("room");
    let corpus = repository().join("fuzz/corpus/mqsim_xml");
    std::fs::copy(corpus.join("device"), folder.join("ssdconfig.xml")).expect("copied");
    let workload = std::fs::read_to_string(corpus.join("workload")).expect("a file");
    let workload = workload.replace("<Channel_IDs>0, 1,3<", "<Channel_IDs>0, 1<");
    std::fs::write(folder.join("workload.xml"), workload).expect("room");
    std::fs::create_dir(folder.join("traces")).expect("made");
    let trace: String = (0..50).map(|n| format!("{} 0 {} 8 1\n", n * 20_000, n * 16)).collect();
    std::fs::write(folder.join("traces/tpcc.trace"), trace).expect("room");
    follow(folder, "docs/traces.md", "");
    follow(folder, "docs/mqsim.md", "");
    // And a trace of MSR Cambridge, compressed.
    let row = |n: u64| {
        let op = if n.is_multiple_of(3) { "Write" } else { "Read" };
        format!("{},hm,0,{op},{},8192,100\n", 128_166_385_295_514_663 + n * 20_000, n * 16_384)
    };
    let rows: String = (0..200).map(row).collect();
    let packed = zstd::encode_all(rows.as_bytes(), 0).expect("it packs");
    std::fs::write(folder.join("database.csv.zst"), packed).expect("room");
    follow(folder, "docs/commands.md", "");
}
