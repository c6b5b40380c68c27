//! Every built-in policy keeps the rules of its family, a small drive with every audit among them.

use flashlane::conformance::Family;
use flashlane::policy::{Allocation, Arbitration, Isolation, Scheduling, Separation, Victim};

fn keep_the_rules<P: Family>(names: &[&str], by_name: fn(&str) -> Option<P>) {
    for name in names {
        let verdicts = by_name(name).expect("listed names exist").verdicts();
        assert!(verdicts.len() >= 2, "{name}: a rule of the family, and the small drive");
        for verdict in verdicts {
            assert_eq!(verdict.result, Ok(()), "{name}: {}", verdict.rule);
        }
    }
}

#[test]
fn schedulers() {
    keep_the_rules(Scheduling::NAMES, Scheduling::by_name);
}

#[test]
fn victims() {
    keep_the_rules(Victim::NAMES, Victim::by_name);
}

#[test]
fn separations() {
    keep_the_rules(Separation::NAMES, Separation::by_name);
}

#[test]
fn allocations() {
    // The static orders differ in their planes' order only, which has a test of its own.
    keep_the_rules(&["cwdp", "pdwc", "dynamic"], Allocation::by_name);
}

#[test]
fn isolations() {
    keep_the_rules(Isolation::NAMES, Isolation::by_name);
}

#[test]
fn arbitrations() {
    keep_the_rules(Arbitration::NAMES, Arbitration::by_name);
}
