//! Unit tests of the family.

use super::*;
use flashlane_units::Ratio;

fn counts(hot: u32, halve_after: f64, spaces: &[Range<u32>]) -> counts::Counts {
    counts::Counts::new(&CountsConfig { hot, halve_after: Ratio(halve_after) }, spaces)
}

#[test]
fn every_policy_keeps_to_the_rules() {
    for name in Separation::NAMES {
        for rule in RULES {
            let config = Separation::by_name(name).expect("listed names exist");
            assert_eq!((rule.check)(&config), Ok(()), "{name}: {}", rule.text);
        }
    }
}

#[test]
fn a_page_is_hot_after_some_writes_until_they_are_old() {
    let mut policy = counts(3, 1.0, std::slice::from_ref(&(0..10)));
    let hot = |policy: &counts::Counts, page| policy.is_hot(Lpa::new(page));
    for _ in 0..3 {
        assert!(!hot(&policy, 7));
        policy.written(Lpa::new(7));
    }
    assert!(hot(&policy, 7) && !hot(&policy, 6));
    // Seven more writes end the period: 3 becomes 1.
    (0..7).for_each(|_| policy.written(Lpa::new(2)));
    assert!(!hot(&policy, 7) && hot(&policy, 2), "7 becomes 3");
    policy.audit();
}

#[test]
fn flows_are_halved_by_their_own_writes() {
    let mut policy = counts(1, 1.0, &[0..4, 4..8]);
    policy.written(Lpa::new(0));
    (0..40).for_each(|_| policy.written(Lpa::new(5)));
    assert!(policy.is_hot(Lpa::new(0)), "the first flow wrote one page");
    (0..3).for_each(|_| policy.written(Lpa::new(1)));
    assert!(!policy.is_hot(Lpa::new(0)), "its fourth write halves 1 to 0");
    policy.audit();
}

#[test]
fn each_way_has_its_streams() {
    for (name, count, host) in [
        ("none", 1, Stream::SHARED),
        ("two-frontiers", 2, Stream::HOST),
        ("counts", 3, Stream::HOST),
    ] {
        let frontiers = Separation::by_name(name).expect("registered").frontiers();
        assert_eq!((frontiers.count(), frontiers.host()), (count, host), "{name}");
        let closed = frontiers.streams().iter().all(|s| frontiers.streams().contains(&s.moved()));
        assert!(closed, "{name}: copies of its blocks go to its frontiers");
    }
    assert_eq!(Separation::default().name(), "two-frontiers");
}
