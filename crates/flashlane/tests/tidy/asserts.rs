//! The model states what it relies on.

use crate::sources::{SOURCES, Source};

/// Assertions in the sources of the model, tests in the files included. Unit: occurrences of the
/// word per 1000 lines that are not blank. It was 29 when this check was written.
const DENSITY_MIN: f64 = 20.0;

/// Occurrences of `assert` per 1000 lines that are not blank.
fn density<'a>(sources: impl Iterator<Item = &'a Source>) -> f64 {
    let (mut asserts, mut lines) = (0, 0);
    for source in sources {
        asserts += source.text.matches("assert").count();
        lines += source.text.lines().filter(|line| !line.trim().is_empty()).count();
    }
    asserts as f64 * 1000.0 / lines as f64
}

#[test]
fn the_model_states_what_it_relies_on() {
    let model = SOURCES.iter().filter(|source| source.path.starts_with("crates/flashlane/src/"));
    let density = density(model);
    assert!(
        density >= DENSITY_MIN,
        "crates/flashlane/src has {density:.1} assertions per 1000 lines, fewer than {DENSITY_MIN}"
    );
}

#[test]
fn assertions_are_counted_by_lines_that_are_not_blank() {
    let text = "fn f() {\n\n    assert!(true);\n    debug_assert_eq!(1, 1);\n}\n";
    assert!((density([Source::of("a.rs", text)].iter()) - 500.0).abs() < 1e-9);
}
