use super::*;

/// Flush before, operation, forced.
fn brief(asked: Option<Asked>) -> Option<(bool, Op, bool)> {
    asked.map(|asked| (asked.flush_before, asked.op, asked.forced))
}

#[test]
fn letters_mean_operations() {
    let plain = |op| Some((false, op, false));
    let cases = [
        ("R", true, plain(Op::Read)),
        ("RA", true, plain(Op::Read)),
        ("WSM", true, plain(Op::Write)),
        ("WFS", true, Some((false, Op::Write, true))),
        ("FWFS", true, Some((true, Op::Write, true))),
        ("FWFSM", true, Some((true, Op::Write, true))),
        ("FWS", true, Some((true, Op::Write, false))),
        ("FWS", false, plain(Op::Flush)),
        ("F", false, plain(Op::Flush)),
        ("FF", false, plain(Op::Flush)),
        ("FN", false, plain(Op::Flush)),
        ("DS", true, plain(Op::Trim)),
        ("DE", true, plain(Op::Trim)),
        ("WZ", true, plain(Op::Trim)),
        ("WZS", true, plain(Op::Trim)),
        ("ZAS", true, plain(Op::Write)),
        ("ZAFS", true, Some((false, Op::Write, true))),
        ("ZR", true, plain(Op::Trim)),
        ("ZO", true, None),
        ("N", false, None),
        ("N", true, None),
        ("W", false, None),
        ("", true, None),
    ];
    for (rwbs, has_data, expected) in cases {
        assert_eq!(brief(asked(rwbs.as_bytes(), has_data)), expected, "{rwbs} {has_data}");
        if let Some(op) = plain_operation(rwbs.as_bytes()) {
            assert_eq!(brief(asked(rwbs.as_bytes(), true)), plain(op), "{rwbs}");
        }
    }
}

#[test]
fn categories_mean_operations() {
    let plain = |op| Some((false, op, false));
    let cases = [
        (0x1, true, plain(Op::Read)),
        (0xa, true, plain(Op::Write)),
        (0x800e, true, Some((true, Op::Write, true))),
        (0x2002, true, plain(Op::Trim)),
        (0x6, false, plain(Op::Flush)),
        (0x400, true, None),
        (0x201, true, None),
        (0x1, false, None),
        (0x8, true, None),
    ];
    for (categories, has_data, expected) in cases {
        assert_eq!(brief(asked_of(categories, has_data)), expected, "{categories:x} {has_data}");
    }
}

/// The operations that come of events with these letters on one device.
fn operations(action: Action, events: &[(&str, bool)]) -> (String, Vec<u64>) {
    let (mut account, mut waiting) = (Account::default(), ByArrival::default());
    for (time_ps, (rwbs, has_data)) in (0..).zip(events) {
        let asked = asked(rwbs.as_bytes(), *has_data).expect("a request");
        let (op, length_bytes) = (asked.op, if *has_data { 512 } else { 0 });
        let record = RawRecord::of(time_ps, op, (0, length_bytes), 1);
        account.hand_on(action, asked, record, &mut waiting);
    }
    let letter = |record: RawRecord| match record.op {
        Op::Read => 'R',
        Op::Write => 'W',
        Op::Trim => 'T',
        Op::Flush => 'F',
    };
    let counts = account.notes().into_iter().map(|(_, count)| count).collect();
    (std::iter::from_fn(|| waiting.ready(true)).map(letter).collect(), counts)
}

#[test]
fn flushes_stand_before_and_behind_the_data() {
    let queued = [("FWFSM", true), ("W", true), ("ZAS", true), ("WZ", true)];
    assert_eq!(operations(Action::Queue, &queued), ("FWFWWT".to_owned(), vec![1, 1, 1, 1]));
}

#[test]
fn flushes_that_the_trace_has_are_not_added_again() {
    let issued = [("FN", false), ("WFSM", true), ("FN", false)];
    assert_eq!(operations(Action::Issue, &issued), ("FWF".to_owned(), vec![]));
    // A drive that supports forced writes gets no flush after them.
    let forced = [("FN", false), ("WFS", true), ("R", true)];
    assert_eq!(operations(Action::Issue, &forced), ("FWFR".to_owned(), vec![1]));
    assert_eq!(operations(Action::Complete, &[("FWFS", true)]), ("FWF".to_owned(), vec![1, 1]));
    assert_eq!(operations(Action::Complete, &[("F", false), ("FWS", true)]).0, "FW");
}
