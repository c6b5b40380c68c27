//! The threads of a program. Only one runs at a time, since a program has one core. A system call
//! that has to wait parks its thread, and the other threads continue.

use std::collections::VecDeque;

use flashlane::Time;

use crate::machine::Registers;

/// The event that a parked thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A wake-up of a futex.
    Futex {
        /// Address of the word.
        address: u64,
        /// Mask of the wake-ups that count.
        mask: u32,
    },
    /// An operation of the host's file system.
    Operation(u32),
    /// Only a point in time.
    Sleep,
    /// Completions of asynchronous I/O.
    Events(EventsWait),
    /// The beginning of the measured part of every program.
    Begin,
}

/// Arguments of `io_getevents`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventsWait {
    /// The context.
    pub(crate) context: u64,
    /// Fewest events to return.
    pub(crate) least: usize,
    /// Most events to return.
    pub(crate) most: usize,
    /// Address for the events.
    pub(crate) address: u64,
}

/// State of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Running, or waiting for the core.
    Ready,
    /// Waiting for an event, at most until a time if one is given.
    Parked(Wait, Option<Time>),
    /// Ended.
    Ended,
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) state: State,
    registers: Registers,
    /// Address at which the kernel writes 0 and wakes a futex when the thread ends; 0 for none.
    pub(crate) clear: u64,
    /// The last system call, for messages.
    pub(crate) call: &'static str,
    /// Instructions of the kernel that the thread has to execute before it continues.
    pub(crate) owed: u64,
}

/// The threads of a program. Number 0 is the first thread.
#[derive(Debug)]
pub(crate) struct Threads {
    all: Vec<Thread>,
    /// Threads that could run, in the order in which they run. The first one has the core.
    ready: VecDeque<usize>,
}

impl Threads {
    /// A program with one thread that is about to start.
    pub(crate) fn new(registers: Registers) -> Self {
        let mut threads = Self { all: Vec::new(), ready: VecDeque::new() };
        threads.add(registers, 0);
        threads
    }

    /// Adds a thread that is ready to run. Returns its number.
    pub(crate) fn add(&mut self, registers: Registers, clear: u64) -> usize {
        let number = self.all.len();
        let state = State::Ready;
        self.all.push(Thread { state, registers, clear, call: "nothing yet", owed: 0 });
        self.ready.push_back(number);
        number
    }

    /// The thread that has the core.
    pub(crate) fn current(&self) -> Option<usize> {
        self.ready.front().copied()
    }

    /// A thread by number.
    pub(crate) fn get(&mut self, number: usize) -> &mut Thread {
        &mut self.all[number]
    }

    /// Number of threads that were made.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Threads that have not ended.
    pub(crate) fn alive(&self) -> usize {
        self.all.iter().filter(|one| one.state != State::Ended).count()
    }

    /// The registers with which a thread continues.
    pub(crate) fn registers(&self, number: usize) -> &Registers {
        &self.all[number].registers
    }

    /// The registers with which a thread continues, for changes.
    pub(crate) fn registers_mut(&mut self, number: usize) -> &mut Registers {
        &mut self.all[number].registers
    }

    /// Gives the core to the next thread.
    pub(crate) fn rotate(&mut self) {
        if let Some(first) = self.ready.pop_front() {
            self.ready.push_back(first);
        }
    }

    /// Parks the thread that has the core.
    pub(crate) fn park(&mut self, wait: Wait, until: Option<Time>) {
        let number = self.ready.pop_front().expect("a thread has the core");
        assert_eq!(self.all[number].state, State::Ready, "who has the core is ready");
        self.all[number].state = State::Parked(wait, until);
    }

    /// Wakes a parked thread with a result, after `owed` instructions of the kernel.
    pub(crate) fn wake(&mut self, number: usize, result: i64, owed: u64) {
        let thread = &mut self.all[number];
        assert!(matches!(thread.state, State::Parked(..)), "only parked threads wake");
        thread.state = State::Ready;
        thread.owed += owed;
        thread.registers.set_result(result);
        self.ready.push_back(number);
    }

    /// Ends the thread that has the core.
    pub(crate) fn end(&mut self) {
        let number = self.ready.pop_front().expect("a thread has the core");
        self.all[number].state = State::Ended;
    }

    /// Ends all threads.
    pub(crate) fn end_all(&mut self) {
        self.ready.clear();
        self.all.iter_mut().for_each(|one| one.state = State::Ended);
    }

    /// Parked threads: number, the event that each waits for, and the latest time.
    pub(crate) fn parked(&self) -> impl Iterator<Item = (usize, &Wait, Option<Time>)> {
        self.all.iter().enumerate().filter_map(|(number, thread)| match &thread.state {
            State::Parked(wait, until) => Some((number, wait, *until)),
            State::Ready | State::Ended => None,
        })
    }

    /// The earliest time at which a parked thread continues by itself, with its number.
    pub(crate) fn next_timeout(&self) -> Option<(Time, usize)> {
        self.parked().filter_map(|(number, _, until)| Some((until?, number))).min()
    }

    /// Wakes up to `most` threads that wait for a futex, in the order of their numbers.
    pub(crate) fn wake_futex(&mut self, address: u64, most: u64, mask: u32) -> u64 {
        let waiting = |wait: &Wait| {
            matches!(wait, Wait::Futex { address: at, mask: may }
                if *at == address && *may & mask != 0)
        };
        let found: Vec<usize> =
            self.parked().filter(|(_, wait, _)| waiting(wait)).map(|one| one.0).collect();
        let woken = found.into_iter().take(usize::try_from(most).unwrap_or(usize::MAX));
        woken.map(|number| self.wake(number, 0, 0)).count() as u64
    }

    /// Moves up to `most` threads that wait for a futex to another futex.
    pub(crate) fn requeue_futex(&mut self, from: u64, most: u64, to: u64) -> u64 {
        let mut moved = 0;
        for thread in &mut self.all {
            if let State::Parked(Wait::Futex { address, .. }, _) = &mut thread.state
                && *address == from
                && moved < most
            {
                *address = to;
                moved += 1;
            }
        }
        moved
    }

    /// The events that parked threads wait for, for messages.
    pub(crate) fn describe(&self) -> String {
        let text = |(number, wait, _): (usize, &Wait, Option<Time>)| {
            let why = match wait {
                Wait::Futex { address, .. } => format!("the futex at {address:#x}"),
                Wait::Operation(_) => "the drive".to_owned(),
                Wait::Sleep => "the clock".to_owned(),
                Wait::Events(_) => "completions of asynchronous I/O".to_owned(),
                Wait::Begin => "the other programs to begin".to_owned(),
            };
            format!("thread {number} waits in `{}` for {why}", self.all[number].call)
        };
        let parked: Vec<String> = self.parked().map(text).collect();
        let mut shown = parked.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        if parked.len() > 4 {
            shown.push_str(&format!(", and {} more threads", parked.len() - 4));
        }
        shown
    }
}
