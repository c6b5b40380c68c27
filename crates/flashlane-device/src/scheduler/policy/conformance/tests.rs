//! The rules on every built-in scheduler, and the expectations for some of them.

use super::*;

/// Policies that tell classes apart by default; all others ignore them. The table in
/// `docs/model-flash.md` must agree.
const WITH_CLASSES: [&str; 2] = ["priority-out-of-order", "flin"];

/// Policies that change the order of a flow's reads at a die of one plane. With FLIN, a flow that
/// becomes of low intensity overtakes its own earlier reads.
const REORDER_A_FLOW: [&str; 1] = ["flin"];

/// Policies that serve collection last unless it is urgent.
const USERS_FIRST: [&str; 3] = ["out-of-order", "priority-out-of-order", "sprinkler"];

fn by_name(name: &str) -> Scheduling {
    Scheduling::by_name(name).expect("listed names exist")
}

#[test]
fn random_work_is_served_by_the_rules() {
    for name in Scheduling::NAMES {
        let in_order = !REORDER_A_FLOW.contains(name);
        let result = super::random_work_is_served_by_the_rules(&by_name(name), in_order);
        assert_eq!(result, Ok(()), "{name}");
    }
}

#[test]
fn urgent_collection_makes_progress() {
    for name in Scheduling::NAMES {
        assert_eq!(super::urgent_collection_makes_progress(&by_name(name)), Ok(()), "{name}");
    }
    for name in USERS_FIRST {
        for op in [Op::Read, Op::Program, Op::Erase] {
            let relaxed = rounds_until_collection(&by_name(name), op, false);
            let relaxed = relaxed.expect("it serves").unwrap_or(2_000);
            assert!(relaxed > 700, "{name} serves users first, {op:?} after {relaxed} rounds");
        }
    }
}

/// Four flows of the four classes read without end: policies that know classes serve higher classes
/// more, and all others serve them alike.
#[test]
fn classes_count_where_they_should() {
    for name in Scheduling::NAMES {
        let mut bench = Bench::new(1, 1);
        let mut policy = policy(&by_name(name), &bench);
        let mut served = [0_u32; FLOWS as usize];
        for flow in (0..FLOWS).cycle().take(400) {
            let read = Bench::user(Op::Read, FlowId::new(flow), PlaneId::new(0));
            bench.enqueue(&mut *policy, read, 0);
        }
        for _ in 0..150 {
            for id in serve_one(&mut bench, &mut *policy).expect("it serves") {
                served[bench.transactions[id].flow.index()] += 1;
            }
        }
        if WITH_CLASSES.contains(name) {
            assert!(served.is_sorted_by(|high, low| high >= low), "{name}: {served:?}");
            assert!(served[0] > 2 * served[3], "{name}: {served:?}");
        } else {
            let alike = served.iter().all(|&count| count.abs_diff(served[0]) <= 3);
            assert!(alike, "{name} ignores classes: {served:?}");
        }
    }
}
