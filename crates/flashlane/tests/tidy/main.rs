//! What a reader of the sources may rely on, as tests.
//!
//! - Imports go down (`imports.rs`), and crates import what ARCHITECTURE.md says (`crates.rs`).
//! - Lines, functions and files are short (`sizes.rs`).
//! - Some words and `unwrap` are not used (`words.rs`).
//! - Every file is part of a program, a library or a test (`reached.rs`).
//! - Every policy is in the table of its family (`policies.rs`).
//! - The model states what it relies on (`asserts.rs`).
//!
//! Files that do not follow a rule yet are on a list beside it. A file leaves the list when it
//! follows the rule, and none may join it: both are failures of the test.

mod asserts;
mod crates;
mod imports;
mod policies;
mod reached;
mod sizes;
mod sources;
mod words;

/// The rules for all sources are one test: reading the sources takes longer than all checks, and
/// each test is a process of its own.
#[test]
fn the_sources_follow_the_rules() {
    let rules: [(&str, fn()); 9] = [
        ("all sources are read", sources::all_sources_are_read),
        ("lines are short", sizes::lines_are_short),
        ("functions are short", sizes::functions_are_short),
        ("files are short", sizes::files_are_short),
        ("banned words are not used", words::banned_words_are_not_used),
        ("code outside of tests does not unwrap", words::code_outside_of_tests_does_not_unwrap),
        ("every file is compiled", reached::every_file_is_compiled),
        ("every policy is in a table", policies::every_policy_is_in_the_table_of_its_family),
        ("the model states what it relies on", asserts::the_model_states_what_it_relies_on),
    ];
    let is_broken = |rule: &&(&str, fn())| std::panic::catch_unwind(rule.1).is_err();
    let broken: Vec<&str> = rules.iter().filter(is_broken).map(|rule| rule.0).collect();
    assert!(broken.is_empty(), "rules that are broken, with the places above: {broken:?}");
}
