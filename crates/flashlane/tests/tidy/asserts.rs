//! The model states what it relies on.

use crate::sources::{SOURCES, Source};

/// Folders of the model, and the least assertions in them, tests in the files included. Unit:
/// occurrences of the word per 1000 lines that are not blank.
const DENSITIES_MIN: &[(&str, f64)] = &[
    ("crates/flashlane-device/src/", 30.0),
    ("crates/flashlane-device/src/device/", 16.0),
    ("crates/flashlane-device/src/flash/", 30.0),
    ("crates/flashlane-device/src/ftl/", 20.0),
    ("crates/flashlane-device/src/link/", 60.0),
    ("crates/flashlane-device/src/scheduler/", 30.0),
    ("crates/flashlane-measure/src/", 20.0),
    ("crates/flashlane-workload/src/", 20.0),
    ("crates/flashlane/src/", 12.0),
];

/// Occurrences of `assert` per 1000 lines that are not blank.
fn density<'a>(sources: impl Iterator<Item = &'a Source>) -> f64 {
    let (mut asserts, mut lines) = (0, 0);
    for source in sources {
        asserts += source.text.matches("assert").count();
        lines += source.text.lines().filter(|line| !line.trim().is_empty()).count();
    }
    asserts as f64 * 1000.0 / lines as f64
}

pub(crate) fn the_model_states_what_it_relies_on() {
    for (folder, least) in DENSITIES_MIN {
        let found = density(SOURCES.iter().filter(|source| source.path.starts_with(folder)));
        assert!(
            found >= *least,
            "{folder} has {found:.1} assertions per 1000 lines, fewer than {least}"
        );
    }
}

#[test]
fn assertions_are_counted_by_lines_that_are_not_blank() {
    let text = "fn f() {\n\n    assert!(true);\n    debug_assert_eq!(1, 1);\n}\n";
    assert!((density([Source::of("a.rs", text)].iter()) - 500.0).abs() < 1e-9);
}
