//! Runs independent simulations on several threads. The results do not depend on the number of
//! threads.
//!
//! A job has a first part, and then further parts that share the result of the first one. Parts of
//! jobs that were begun go before new jobs, so that there are never more jobs under way than
//! threads. This bounds the memory that jobs keep.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Result of the first part of a job.
pub(crate) enum Begun<S, R> {
    /// A value that further parts share, and their number, at least one.
    Parts(S, usize),
    /// The result.
    Over(R),
}

/// Jobs of one kind, by number.
pub(crate) trait Jobs: Sync {
    /// Value that further parts share.
    type Shared: Send + Sync;
    /// Result of a further part.
    type Part: Send;
    /// Result of a job.
    type Result: Send;

    /// Does the first part of a job.
    fn begin(&self, job: usize) -> Begun<Self::Shared, Self::Result>;

    /// Does another part.
    fn part(&self, job: usize, shared: &Self::Shared, part: usize) -> Self::Part;

    /// Puts the parts together, in their order.
    fn end(&self, job: usize, shared: Self::Shared, parts: Vec<Self::Part>) -> Self::Result;
}

/// A job under way, after its first part.
struct Job<J: Jobs> {
    shared: Arc<J::Shared>,
    parts: Vec<Option<J::Part>>,
    left: usize,
}

/// Work to do, and results.
struct Board<J: Jobs> {
    /// Next job to begin.
    next: usize,
    /// Number of first parts under way; they may add more work.
    beginning: usize,
    /// Further parts to do: job and part.
    waiting: VecDeque<(usize, usize)>,
    jobs: Vec<Option<Job<J>>>,
    results: Vec<Option<J::Result>>,
    /// Set after a panic of a thread: the others then stop.
    broken: bool,
}

/// Next work of a thread.
enum Task<S> {
    Begin(usize),
    Part(usize, usize, Arc<S>),
}

/// The threads' view of the work.
struct Work<'a, J: Jobs> {
    jobs: &'a J,
    board: Mutex<Board<J>>,
    changed: Condvar,
}

impl<J: Jobs> Work<'_, J> {
    fn board(&self) -> MutexGuard<'_, Board<J>> {
        self.board.lock().expect("nothing panics with the lock")
    }

    /// Waits for work; `None` if there will be none.
    fn next(&self) -> Option<Task<J::Shared>> {
        let mut board = self.board();
        loop {
            if board.broken {
                return None;
            }
            if let Some((job, part)) = board.waiting.pop_front() {
                let shared = &board.jobs[job].as_ref().expect("it was begun").shared;
                return Some(Task::Part(job, part, Arc::clone(shared)));
            }
            if board.next < board.jobs.len() {
                board.next += 1;
                board.beginning += 1;
                return Some(Task::Begin(board.next - 1));
            }
            if board.beginning == 0 {
                return None;
            }
            board = self.changed.wait(board).expect("nothing panics with the lock");
        }
    }

    fn begin(&self, job: usize) {
        let begun = self.jobs.begin(job);
        let mut board = self.board();
        match begun {
            Begun::Parts(shared, count) => {
                let parts = (0..count).map(|_| None).collect();
                board.jobs[job] = Some(Job { shared: Arc::new(shared), parts, left: count });
                board.waiting.extend((0..count).map(|part| (job, part)));
            }
            Begun::Over(result) => board.results[job] = Some(result),
        }
        board.beginning -= 1;
        self.changed.notify_all();
    }

    fn part(&self, job: usize, part: usize, shared: Arc<J::Shared>) {
        let done = self.jobs.part(job, &shared, part);
        drop(shared);
        let mut board = self.board();
        let state = board.jobs[job].as_mut().expect("it was begun");
        state.parts[part] = Some(done);
        state.left -= 1;
        if state.left > 0 {
            return;
        }
        let Job { shared, parts, .. } = board.jobs[job].take().expect("just seen");
        drop(board);
        let shared = Arc::into_inner(shared).expect("every other part has let go of it");
        let parts = parts.into_iter().map(|part| part.expect("every part is done")).collect();
        let result = self.jobs.end(job, shared, parts);
        self.board().results[job] = Some(result);
    }

    /// Work of every thread.
    fn work(&self) {
        let alarm = Alarm(self);
        while let Some(task) = self.next() {
            match task {
                Task::Begin(job) => self.begin(job),
                Task::Part(job, part, shared) => self.part(job, part, shared),
            }
        }
        std::mem::forget(alarm);
    }
}

/// Tells the other threads of a panic, so that they do not wait in vain.
struct Alarm<'a, 'b, J: Jobs>(&'a Work<'b, J>);

impl<J: Jobs> Drop for Alarm<'_, '_, J> {
    fn drop(&mut self) {
        if let Ok(mut board) = self.0.board.lock() {
            board.broken = true;
        }
        self.0.changed.notify_all();
    }
}

/// Does `count` jobs on `threads` threads, this one included; 0 for all cores. `parts`: most parts
/// of a job that can be done at the same time. Results are in the order of the jobs.
pub(crate) fn run<J: Jobs>(jobs: &J, count: usize, parts: usize, threads: usize) -> Vec<J::Result> {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = if threads == 0 { cores() } else { threads };
    let work = Work {
        jobs,
        board: Mutex::new(Board {
            next: 0,
            beginning: 0,
            waiting: VecDeque::new(),
            jobs: (0..count).map(|_| None).collect(),
            results: (0..count).map(|_| None).collect(),
            broken: false,
        }),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let more = threads.min(count * parts.max(1)).saturating_sub(1);
        let threads: Vec<_> = (0..more).map(|_| scope.spawn(|| work.work())).collect();
        work.work();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let board = work.board.into_inner().expect("nothing panics with the lock");
    board.results.into_iter().map(|result| result.expect("every job is done")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Jobs of `number % 4` parts, counted while they are under way.
    #[derive(Default)]
    struct Counted {
        under_way: AtomicUsize,
        most: AtomicUsize,
        panics: bool,
    }

    impl Jobs for Counted {
        type Shared = usize;
        type Part = usize;
        type Result = Vec<usize>;

        fn begin(&self, job: usize) -> Begun<usize, Vec<usize>> {
            assert!(!(self.panics && job == 5), "as asked for");
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_micros(200));
            if job.is_multiple_of(4) {
                self.under_way.fetch_sub(1, Ordering::SeqCst);
                return Begun::Over(vec![job]);
            }
            Begun::Parts(job, job % 4)
        }

        fn part(&self, job: usize, shared: &usize, part: usize) -> usize {
            assert_eq!(*shared, job);
            std::thread::sleep(std::time::Duration::from_micros(100 * part as u64));
            10 * job + part
        }

        fn end(&self, job: usize, shared: usize, parts: Vec<usize>) -> Vec<usize> {
            assert_eq!(shared, job);
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            parts
        }
    }

    #[test]
    fn results_are_in_order_and_few_jobs_are_under_way() {
        let expected: Vec<Vec<usize>> = (0..40)
            .map(|job| match job % 4 {
                0 => vec![job],
                parts => (0..parts).map(|part| 10 * job + part).collect(),
            })
            .collect();
        for threads in 1..6 {
            let jobs = Counted::default();
            assert_eq!(run(&jobs, 40, 3, threads), expected);
            let most = jobs.most.into_inner();
            assert!(most <= threads, "{most} jobs under way with {threads} threads");
        }
        assert!(run(&Counted::default(), 0, 3, 0).is_empty());
    }

    #[test]
    fn a_panic_ends_all_threads() {
        for threads in [1, 4] {
            let jobs = Counted { panics: true, ..Counted::default() };
            let run = || run(&jobs, 40, 3, threads);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
        }
    }
}
