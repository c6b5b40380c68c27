//! Independent simulations on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of threads that an option asks for: 0 is one on each core.
pub(crate) fn threads(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Does the work of every item, and returns the results in the order of the items. The number of
/// threads never changes a result.
pub(crate) fn each<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            results.lock().expect("no thread panics with it").push((index, result));
        }
    };
    match threads.min(items.len()) {
        0 | 1 => take(),
        threads => std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(take);
            }
        }),
    }
    let mut results = results.into_inner().expect("no thread panicked with it");
    results.sort_by_key(|(index, _)| *index);
    assert_eq!(results.len(), items.len(), "the work of every item is done");
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        for threads in [0, 1, 3, 80] {
            assert_eq!(each(threads, &items, |item| item * item), squares);
        }
        assert!(each(2, &[], |item: &u64| *item).is_empty());
        assert!(threads(0) >= 1 && threads(3) == 3);
    }
}
