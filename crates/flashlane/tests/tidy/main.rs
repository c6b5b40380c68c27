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
