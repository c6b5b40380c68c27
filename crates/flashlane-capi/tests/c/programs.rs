//! Programs in C and C++ with the library of an installed prefix.

use flashlane_testing::skip_part;

use crate::prefix::{Link, Program, has, has_tools, said, symbols};

const C_EXAMPLE: &str = "examples/noisy_neighbour.c";
const CPP_EXAMPLE: &str = "examples/what_if.cpp";

fn program(source: &'static str, link: Link) -> Program {
    let compiler = if source.ends_with(".c") { "cc" } else { "c++" };
    Program { source, compiler, link, sanitized: false }
}

fn sanitized(source: &'static str, link: Link) -> Program {
    Program { sanitized: true, ..program(source, link) }
}

/// Runs a program under valgrind, which fails at the first error or leak. Where valgrind is absent,
/// the running test says so.
fn under_valgrind(program: &Program) -> Option<String> {
    if !has("valgrind") {
        skip_part(&format!("{} under valgrind", program.source), "valgrind");
        return None;
    }
    let excuses = crate::header::root().join("tests/c/valgrind.supp");
    let excuses = format!("--suppressions={}", excuses.display());
    let tool = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", &excuses];
    Some(said(&mut program.command(&tool)))
}

/// Runs a program as it is, with both kinds of library, with AddressSanitizer and under valgrind,
/// and returns what it prints, which is always the same.
fn everywhere(source: &'static str) -> String {
    let plain = program(source, Link::Shared);
    let printed = said(&mut plain.command(&[]));
    let linked_statically = said(&mut sanitized(source, Link::Static).command(&[]));
    assert_eq!(linked_statically, printed, "{source} with the static library");
    let shared = said(&mut sanitized(source, Link::Shared).command(&[]));
    assert_eq!(shared, printed, "{source} with AddressSanitizer");
    if let Some(watched) = under_valgrind(&plain) {
        assert_eq!(watched, printed, "{source} under valgrind");
    }
    // Where the system has more compilers, they accept the program without a warning as well.
    let others = if source.ends_with(".c") { ["gcc", "clang"] } else { ["g++", "clang++"] };
    for compiler in others.into_iter().filter(|compiler| has(compiler)) {
        let other = Program { compiler, ..plain.clone() };
        assert_eq!(said(&mut other.command(&[])), printed, "{source} with {compiler}");
    }
    printed
}

#[test]
fn the_example_in_c_runs_from_an_installed_prefix() {
    if !has_tools() {
        return;
    }
    let printed = everywhere(C_EXAMPLE);
    let lines: Vec<&str> = printed.lines().collect();
    let [alone, beside, summary] = lines[..] else { panic!("{printed}") };
    let mean = |line: &str| -> f64 {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|&word| word == "mean").expect("a mean") + 1;
        words[place].parse().expect("a number")
    };
    assert!(mean(beside) > 2.0 * mean(alone), "the neighbour is heard: {printed}");
    assert!(summary.starts_with("{\"schema\":\"flashlane.summary/"), "{summary}");
}

#[test]
fn the_example_in_cpp_runs_from_an_installed_prefix() {
    if !has_tools() {
        return;
    }
    let printed = everywhere(CPP_EXAMPLE);
    assert_eq!(printed.lines().count(), 6, "{printed}");
    assert!(printed.contains("0 writes outstanding"), "{printed}");
    assert!(printed.contains("{\"schema\":\"flashlane.blame/"), "{printed}");
}

/// Where the program of the page goes.
const FIRST: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/first.c");

#[test]
fn the_first_program_of_the_page_prints_what_the_page_says() {
    if !has_tools() {
        return;
    }
    let page = crate::header::read(&crate::header::root().join("../../docs/c.md"));
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
        rest.split_once("```").expect("the end of the block").0
    };
    std::fs::write(FIRST, block("c")).expect("the program can be written");
    assert_eq!(everywhere(FIRST), block("text"));
}

#[test]
fn the_contract_of_the_header_holds() {
    if !has_tools() {
        return;
    }
    let version = format!("version {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(everywhere("tests/c/border.c"), version);
    assert_eq!(everywhere("tests/c/wrapper.cpp"), "moved\n");
    assert_eq!(everywhere("tests/c/zones.c"), "zones and events\n");
}

#[test]
fn a_host_in_c_uses_the_controller() {
    if !has_tools() {
        return;
    }
    let printed = everywhere("tests/c/nvme.c");
    let expected = "ready 1\nwrite 0, read 0, nowhere 4\nsame, 3 interrupts\nin time\n\
                    slow memory: write 0, read 0, same, asked 2 times\n\
                    {\"schema\":\"flashlane.summary/\n111\n";
    assert_eq!(printed, expected);
}

#[test]
fn a_panic_inside_is_an_error_and_the_process_lives() {
    if !has_tools() {
        return;
    }
    let plain = program("tests/c/panic.c", Link::Panicking);
    assert_eq!(said(&mut plain.command(&[])), "alive\n");
    let checked = sanitized("tests/c/panic.c", Link::Panicking);
    assert_eq!(said(&mut checked.command(&[])), "alive\n");
}

#[test]
fn drives_on_two_threads_give_what_each_gives_alone() {
    if !has_tools() {
        return;
    }
    for link in [Link::Shared, Link::Static] {
        assert_eq!(said(&mut program("tests/c/threads.c", link).command(&[])), "64 drives\n");
    }
}

#[test]
fn the_library_offers_what_the_header_declares_and_nothing_else() {
    if !has("nm") {
        flashlane_testing::skip("nm");
        return;
    }
    assert_eq!(symbols(), crate::header::functions());
}
