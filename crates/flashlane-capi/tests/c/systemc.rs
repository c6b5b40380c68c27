//! The SystemC module with the library of an installed prefix.

use flashlane_testing::{skip, skip_part};

use crate::prefix::{Link, Program, has, has_systemc, has_tools, said};

const TEST: &str = "../../integrations/systemc/tests/transactions.cpp";
const EXAMPLE: &str = "../../integrations/systemc/examples/two_initiators.cpp";

fn program(source: &'static str, sanitized: bool) -> Program {
    Program { source, compiler: "c++", link: Link::Shared, sanitized }
}

/// Whether the tools and SystemC are there. Where they are not, the running test says so.
fn has_all() -> bool {
    if has_tools() && !has_systemc() {
        skip("libsystemc-dev");
        return false;
    }
    has_systemc()
}

/// Blocking transport ahead of SystemC's time, non-blocking transport with many commands at a time
/// and refusals: every command is complete at the picosecond at which it is without SystemC.
#[test]
fn random_transactions_complete_as_without_systemc() {
    if !has_all() {
        return;
    }
    let lines = said(&mut program(TEST, false).command(&[]));
    assert_eq!(lines, "10000 transactions\n");
    // SystemC's threads change stacks, which valgrind does not follow; AddressSanitizer does.
    let lines = said(&mut program(TEST, true).command(&[]));
    assert_eq!(lines, "10000 transactions\n");
    if !has("valgrind") {
        skip_part("SystemC under valgrind", "valgrind");
        return;
    }
    let excuses = crate::header::root().join("tests/c/valgrind.supp");
    let excuses = format!("--suppressions={}", excuses.display());
    let tool = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", &excuses];
    let lines = said(program(TEST, false).command(&tool).arg("methods"));
    assert_eq!(lines, "1500 transactions\n");
}

#[test]
fn the_example_shows_what_writes_do_to_reads() {
    if !has_all() {
        return;
    }
    let lines = said(&mut program(EXAMPLE, false).command(&[]));
    let number = |line: &str| -> f64 {
        let (_, number) = line.split_once(": ").expect("a number");
        number.trim_end_matches(" us").parse().expect("a number")
    };
    let [alone, beside] = lines.lines().collect::<Vec<_>>()[..] else { panic!("{lines}") };
    assert!(alone.starts_with("reads alone: ") && beside.starts_with("beside writes: "));
    assert!(number(beside) > 1.5 * number(alone), "{lines}");
}
