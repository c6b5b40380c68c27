//! Algorithm 1 and section 5.3 on queues worked out by hand, and against the paper's plain two
//! passes.

use flashlane_engine::Rng;
use flashlane_units::{FlowId, TransactionId};

use super::*;

/// A transaction of cost 100, queued at 1000, that would not have waited if its flow ran alone.
fn entry(id: u32, flow: u16, low: bool) -> Entry {
    Entry {
        id: TransactionId::new(id),
        flow: FlowId::new(flow),
        low,
        promoted: false,
        cost: 100,
        enqueued: 1000,
        wait_alone: 0,
    }
}

fn ids(queue: &Queue) -> Vec<u32> {
    queue.iter().map(|entry| entry.id.get()).collect()
}

fn at(now: u64, first_wait: u64) -> Moment {
    Moment { now, first_wait, scan_limit: None }
}

fn add_at(queue: &mut Queue, entry: Entry, moment: Moment) -> u64 {
    let insert = if entry.low { Queue::insert_low } else { Queue::insert_high };
    insert(queue, entry, moment, &mut Scratch::default())
}

/// Inserts at 1000, with no work ahead of the head.
fn add(queue: &mut Queue, entry: Entry) -> u64 {
    add_at(queue, entry, at(1000, 0))
}

#[test]
fn figure_9a_low_intensity_goes_before_high_intensity() {
    // Lines 7, 9 and 10. TR1 to TR3 are of low intensity, TR4 to TR11 are not. A new transaction of
    // low intensity goes behind TR3. Slowdowns are 1 to 4 in any order, and ties stay nearer the
    // tail.
    let mut queue = Queue::default();
    (1..=3).for_each(|id| queue.low.insert(queue.low.len(), entry(id, id as u16, true)));
    (4..=11).for_each(|id| queue.push(entry(id, id as u16, false)));
    add(&mut queue, entry(12, 12, true));
    assert_eq!(ids(&queue), [1, 2, 3, 12, 4, 5, 6, 7, 8, 9, 10, 11]);
    // Line 15: a transaction of high intensity goes to the tail.
    add(&mut queue, entry(13, 13, false));
    assert_eq!(ids(&queue), [1, 2, 3, 12, 4, 5, 6, 7, 8, 9, 10, 11, 13]);
    // Line 7 without any transaction of low intensity: Last_low is before the head.
    let mut queue = Queue::default();
    queue.push(entry(4, 4, false));
    add(&mut queue, entry(12, 12, true));
    assert_eq!(ids(&queue), [12, 4]);
}

#[test]
fn figure_9b_a_new_low_intensity_transaction_moves_towards_the_head_among_its_like() {
    // Lines 11 to 13. TR1 to TR3 have alone times of 400 (they would have waited 300), and the new
    // transaction has 100. At the tail: slowdowns 100/400, 200/400, 300/400, 400/100: fairness
    // 0.25/4 = 0.0625. Before TR3: 0.25, 0.5, 300/100 = 3, 400/400 = 1: 0.083. Before TR2: 0.25, 2,
    // 0.75, 1: 0.125. Before TR1: 1, 0.5, 0.75, 1: 0.5, the best.
    let mut queue = Queue::default();
    let slow = |id: u32| Entry { wait_alone: 300, ..entry(id, id as u16, true) };
    (1..=3).for_each(|id| queue.low.insert(queue.low.len(), slow(id)));
    (4..=11).for_each(|id| queue.push(entry(id, id as u16, false)));
    let scanned = add(&mut queue, entry(12, 12, true));
    assert_eq!(ids(&queue), [12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(scanned, 4 + 3, "four positions in the first pass, three in the second");
    // Transactions behind Last_low make no difference, before or after.
    assert_eq!(queue.low.len(), 4);
}

#[test]
fn figure_9c_a_new_high_intensity_transaction_moves_among_its_like() {
    // Lines 16, 17 and 21: as Fig. 9b, behind two of low intensity that cost 100 each. TR3 to TR5
    // have alone times of 400. At the tail: 300/400, 400/400, 500/400, 600/100: 0.125. Before TR5:
    // 0.75, 1, 500/100 = 5, 600/400 = 1.5: 0.15. Before TR4: 0.75, 4, 1.25, 1.5: 0.1875. Before
    // TR3: 3, 1, 1.25, 1.5: 1/3, the best.
    let mut queue = Queue::default();
    (1..=2).for_each(|id| queue.low.insert(queue.low.len(), entry(id, id as u16, true)));
    (3..=5).for_each(|id| queue.push(Entry { wait_alone: 300, ..entry(id, id as u16, false) }));
    add(&mut queue, entry(12, 12, false));
    assert_eq!(ids(&queue), [1, 2, 12, 3, 4, 5], "up to Last_low + 1, no further");
}

#[test]
fn equations_3_and_5_count_elapsed_time_chip_and_everything_ahead() {
    // A transaction waits since 400, now is 1000, and the chip is busy for 50. T_wait_shared = 600
    // + 50, its slowdown at the head (600 + 50 + 100) / (100 + 200) = 2.5. The new transaction
    // (alone 100) behind it: (0 + 50 + 100 + 100) / 100 = 2.5: fairness 1. Before it: 1.5 and (750
    // + 100) / 300 = 2.83: 0.53.
    let old = Entry { enqueued: 400, wait_alone: 200, ..entry(1, 1, false) };
    let mut queue = Queue::default();
    queue.push(old);
    add_at(&mut queue, entry(2, 2, false), at(1000, 50));
    assert_eq!(ids(&queue), [1, 2]);
    // Without the elapsed time the result would be the opposite: 150/300 = 0.5 and 2.5 (0.2)
    // against 1.5 and 250/300 = 0.83 (0.56).
    let mut queue = Queue::default();
    queue.push(Entry { enqueued: 1000, ..old });
    add_at(&mut queue, entry(2, 2, false), at(1000, 50));
    assert_eq!(ids(&queue), [2, 1]);
    // T_chip_busy: a transaction of alone time 150 waits since 900. An idle chip: 200/150 and
    // 200/100 (0.67) against 300/150 and 100/100 (0.5). A chip busy for 400: 600/150 and 600/100
    // (0.67) against 700/150 and 500/100 (0.93).
    let old = Entry { enqueued: 900, wait_alone: 50, ..entry(1, 1, false) };
    for (busy, order) in [(0, [1, 2]), (400, [2, 1])] {
        let mut queue = Queue::default();
        queue.push(old);
        add_at(&mut queue, entry(2, 2, false), at(1000, busy));
        assert_eq!(ids(&queue), order);
    }
}

#[test]
fn line_20_moves_ahead_of_all_others_of_high_intensity() {
    let mut queue = Queue::default();
    queue.low.insert(0, entry(1, 1, true));
    (2..=4).for_each(|id| queue.push(entry(id, id as u16, false)));
    let passed = queue.promote(entry(5, 5, false), at(1000, 0));
    assert_eq!(passed, 4, "three passed, and its own place");
    assert_eq!(ids(&queue), [1, 5, 2, 3, 4], "Last_low + 1");
    queue.promote(entry(6, 3, false), at(1000, 0));
    assert_eq!(ids(&queue), [1, 5, 2, 3, 6, 4], "behind its own flow's");
    queue.promote(entry(7, 7, false), at(1000, 0));
    assert_eq!(ids(&queue), [1, 5, 2, 3, 6, 7, 4], "promoted ones keep their order");
    assert!(queue.iter().filter(|entry| entry.promoted).map(|entry| entry.id.get()).eq([5, 6, 7]));
    queue.audit();
}

#[test]
fn nobody_overtakes_its_own_flow_or_a_promoted_one() {
    let urgent = |id: u32, flow: u16| entry(id, flow, false);
    let patient = |id: u32, flow: u16| Entry { wait_alone: 90_000, ..entry(id, flow, false) };
    let mut queue = Queue::default();
    [patient(1, 1), urgent(2, 7), patient(3, 1)].into_iter().for_each(|entry| queue.push(entry));
    add(&mut queue, urgent(4, 7));
    assert_eq!(ids(&queue), [1, 2, 4, 3], "behind its own flow's");
    let mut queue = Queue::default();
    queue.push(patient(1, 1));
    queue.promote(patient(2, 2), at(1000, 0));
    queue.push(patient(3, 1));
    assert_eq!(ids(&queue), [2, 1, 3]);
    add(&mut queue, urgent(4, 7));
    assert_eq!(ids(&queue), [2, 4, 1, 3], "behind the promoted one");
}

#[test]
fn a_transaction_put_back_is_first_in_its_region() {
    let mut queue = Queue::default();
    queue.low.insert(0, entry(1, 1, true));
    queue.push(entry(2, 2, false));
    queue.put_back(entry(3, 3, false));
    queue.put_back(entry(4, 4, true));
    assert_eq!(ids(&queue), [4, 1, 3, 2]);
    assert_eq!(queue.remove(2).id.get(), 3);
    assert_eq!(queue.remove(0).id.get(), 4);
    assert_eq!((ids(&queue), queue.front_since()), (vec![1, 2], Some(1000)));
}

/// Section 5.3 exactly as the paper gives it. A first pass computes the fairness of the region by
/// Eq. 2, 3 and 5; a second pass tries every place from the tail on, and computes all slowdowns
/// anew. Returns the place and the number of positions looked at.
fn plain(order: &[Entry], new: Entry, moment: Moment) -> (usize, u64) {
    let limit = moment.scan_limit.map_or(order.len(), |limit| limit as usize - 1);
    let first = order.len().saturating_sub(limit);
    let fairness = |place: usize| {
        let mut with = order.to_vec();
        with.insert(place, new);
        let (mut done, mut least, mut most) = (moment.first_wait, f64::INFINITY, 0.0_f64);
        for (at, entry) in with.iter().enumerate() {
            done += entry.cost;
            let slowdown = (moment.now - entry.enqueued + done) as f64
                / (entry.cost + entry.wait_alone).max(1) as f64;
            if at >= first {
                (least, most) = (least.min(slowdown), most.max(slowdown));
            }
        }
        least / most
    };
    let (mut best, mut found, mut tried) = (fairness(order.len()), order.len(), 0);
    for place in (first..order.len()).rev() {
        if order[place].flow == new.flow || order[place].promoted {
            break;
        }
        tried += 1;
        if fairness(place) > best {
            (best, found) = (fairness(place), place);
        }
    }
    (found, (order.len() - first) as u64 + 1 + tried)
}

/// Inserts many transactions at random and lets some leave; every place equals that of the plain
/// passes.
fn same_as_plain(seed: u64, length: usize, steps: usize) {
    let mut rng = Rng::stream(seed, "test.flin", 0);
    let (mut region, mut list) = (Region::default(), Vec::new());
    let mut scratch = Scratch::default();
    let (mut now, mut moved, mut far) = (1_000_000, 0, 0);
    for step in 0..steps {
        now += rng.below(3) * rng.below(500);
        let scan_limit = (rng.below(8) == 0).then(|| 1 + rng.below(20) as u32);
        let moment = Moment { now, first_wait: rng.below(500), scan_limit };
        // Some flows are common and some are rare.
        let flow = (rng.below(8) * rng.below(8) / 4) as u16;
        let new = Entry {
            id: TransactionId::new(step as u32),
            flow: FlowId::new(flow),
            low: false,
            promoted: rng.below(200) == 0,
            cost: 1 + rng.below(900),
            enqueued: now,
            wait_alone: if rng.below(3) == 0 { 0 } else { rng.below(1 + 900 * length as u64) },
        };
        let found = region.fairest_place(&new, moment, &mut scratch);
        let (place, scanned) = plain(&list, new, moment);
        assert_eq!((found.place, found.scanned), (place, scanned), "seed {seed}, step {step}");
        region.insert(place, new);
        list.insert(place, new);
        moved += usize::from(place + 1 < list.len());
        far += usize::from(place + 20 < list.len());
        while list.len() > length {
            let at = if rng.below(10) > 0 { 0 } else { rng.below(list.len() as u64) as usize };
            assert_eq!(region.remove(at), list.remove(at));
        }
    }
    region.audit();
    assert!(moved > steps / 50, "{moved} of {steps} moved, {far} of them far");
}

#[test]
fn short_queues_are_ordered_as_by_the_plain_two_passes() {
    (0..60).for_each(|seed| same_as_plain(seed, 1 + seed as usize % 12, 150));
}

#[test]
fn long_queues_are_ordered_as_by_the_plain_two_passes() {
    (100..104).for_each(|seed| same_as_plain(seed, 420, 1100));
}

#[test]
fn own_flow_order_is_kept_in_a_region() {
    // In the queue, and in the order in which the head is taken, with both kinds of intensity and
    // promotions.
    let mut rng = Rng::stream(9, "test.flin", 0);
    for _ in 0..40 {
        let mut queue = Queue::default();
        let mut left: Vec<Vec<u32>> = vec![Vec::new(); 10];
        for id in 0..200 {
            let (flow, low) = (rng.below(5) as u16, rng.below(3) == 0);
            let now = 1000 + 40 * u64::from(id);
            let new = Entry {
                cost: 1 + rng.below(300),
                enqueued: now,
                wait_alone: rng.below(3000),
                ..entry(id, flow, low)
            };
            if !low && rng.below(10) == 0 {
                queue.promote(new, at(1000, 0));
            } else {
                add_at(&mut queue, new, at(now, rng.below(200)));
            }
            if rng.below(3) == 0 {
                let first = queue.remove(0);
                left[usize::from(first.low) * 5 + first.flow.index()].push(first.id.get());
            }
        }
        queue.audit();
        while queue.len() > 0 {
            let first = queue.remove(0);
            left[usize::from(first.low) * 5 + first.flow.index()].push(first.id.get());
        }
        assert_eq!(left.iter().map(Vec::len).sum::<usize>(), 200);
        assert!(left.iter().all(|ids| ids.is_sorted()), "{left:?}");
    }
}

#[test]
fn a_limit_bounds_what_is_looked_at() {
    let mut queue = Queue::default();
    for id in 0..100 {
        queue.push(Entry { wait_alone: 90_000, ..entry(id, 1, false) });
    }
    let new = entry(100, 2, false);
    let place = |queue: &Queue| ids(queue).iter().position(|&id| id == 100);
    let mut unlimited = queue.clone();
    assert_eq!(add(&mut unlimited, new), 101 + 100);
    let limited = Moment { scan_limit: Some(8), ..at(1000, 0) };
    assert_eq!(add_at(&mut queue, new, limited), 8 + 7);
    assert!(place(&unlimited) < place(&queue));
    assert_eq!(place(&queue), Some(93));
    // Line 20 as well.
    let limited = Moment { scan_limit: Some(5), ..at(1000, 0) };
    assert_eq!(queue.promote(entry(101, 3, false), limited), 5, "four passed, and its own place");
    assert_eq!(ids(&queue)[97], 101);
}
