//! System calls on threads, signals, limits and other properties of a process.

use super::{Call, EAGAIN, EFAULT, EINVAL, ENOMEM, ENOSYS, ETIMEDOUT, Outcome};
use crate::process::Process;
use crate::threads::{State, Wait};

const CLONE_VM: u64 = 0x100;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;

/// Most threads of a program.
const THREADS: usize = 4096;

/// The number of a thread as the program sees it; that of thread 0 is the process number.
fn tid(thread: usize) -> i64 {
    1000 + thread as i64
}

impl Process {
    pub(super) fn task_call(&mut self, call: &Call) -> Option<Outcome> {
        let [first, second, third, ..] = call.arguments;
        Some(Outcome::Value(match call.number {
            93 => return Some(self.end_thread()),
            94 => {
                self.exit(call.int(0));
                return Some(Outcome::Ended);
            }
            96 => {
                self.threads.get(call.thread).clear = first;
                tid(call.thread)
            }
            98 | 422 => return Some(self.futex(call)),
            // No list of locks is needed, because threads do not die with locks held.
            99 => 0,
            122 => 0,
            124 => return Some(Outcome::Yield),
            123 => match self.give(third, &1u64.to_le_bytes()) {
                0 => 8,
                error => error,
            },
            129..=131 => {
                let signal = if call.number == 131 { third } else { second };
                let thread = call.thread;
                return Some(Outcome::Fail(format!("thread {thread} crashed by signal {signal}")));
            }
            132 | 134 | 135 => 0,
            160 => self.name_of_system(first),
            163 => self.limit(first, second),
            166 => 0o22,
            167 => 0,
            168 => match (first, second) {
                (0, 0) => 0,
                (0, at) | (at, _) => self.give(at, &0u32.to_le_bytes()),
            },
            172 | 173 => tid(0),
            174..=177 => 0,
            178 => tid(call.thread),
            179 => self.system_information(first),
            220 => return Some(self.clone_thread(call)),
            261 => match call.arguments[3] {
                0 => 0,
                at => self.limit(second, at),
            },
            278 => self.random(first, second),
            // The C library can do without these: hwprobe, membarrier, statx, rseq, clone3.
            258 | 283 | 291 | 293 | 435 => ENOSYS,
            259 => 0,
            _ => return None,
        }))
    }

    fn end_thread(&mut self) -> Outcome {
        let number = self.threads.current().expect("a thread that calls has the core");
        let clear = self.threads.get(number).clear;
        self.threads.end();
        if clear != 0 && self.give(clear, &0u32.to_le_bytes()) == 0 {
            self.threads.wake_futex(clear, 1, u32::MAX);
        }
        if self.threads.alive() == 0 {
            self.exit(0);
        }
        Outcome::Ended
    }

    fn clone_thread(&mut self, call: &Call) -> Outcome {
        let [flags, stack, parent, thread_pointer, child, _] = call.arguments;
        if flags & CLONE_VM == 0 {
            let thread = call.thread;
            let message =
                format!("thread {thread} makes system call 220 (`clone`) for another process");
            return Outcome::Fail(format!("{message}, which is not supported: threads only"));
        }
        if self.threads.len() >= THREADS {
            return Outcome::Value(EAGAIN);
        }
        let mut registers = *self.threads.registers(call.thread);
        registers.set_result(0);
        if stack != 0 {
            registers.set_stack(stack);
        }
        if flags & CLONE_SETTLS != 0 {
            registers.set_thread_pointer(thread_pointer);
        }
        let clear = if flags & CLONE_CHILD_CLEARTID != 0 { child } else { 0 };
        let number = self.threads.add(registers, clear);
        let id = tid(number);
        for (flag, at) in [(CLONE_PARENT_SETTID, parent), (CLONE_CHILD_SETTID, child)] {
            if flags & flag != 0 && self.give(at, &(id as u32).to_le_bytes()) != 0 {
                return Outcome::Value(EFAULT);
            }
        }
        Outcome::Value(id)
    }

    fn futex(&mut self, call: &Call) -> Outcome {
        let [address, operation, value, timeout, second, third] = call.arguments;
        let Some(word) = self.take_u32(address) else { return Outcome::Value(EFAULT) };
        let real = operation & 256 != 0;
        let operation = operation & 127;
        match operation {
            // Wait; a wait with a mask has an absolute time-out.
            0 | 9 => {
                if word != value as u32 {
                    return Outcome::Value(EAGAIN);
                }
                let mask = if operation == 9 { third as u32 } else { u32::MAX };
                let until = match timeout {
                    0 => None,
                    at => match self.deadline(at, operation == 9, Self::epoch(real)) {
                        Ok(at) => Some(at),
                        Err(error) => return Outcome::Value(error),
                    },
                };
                Outcome::Park(Wait::Futex { address, mask }, until)
            }
            1 => Outcome::Value(self.threads.wake_futex(address, value, u32::MAX) as i64),
            10 => Outcome::Value(self.threads.wake_futex(address, value, third as u32) as i64),
            // Wake some, and move others to a second futex.
            3 | 4 => {
                if operation == 4 && word != third as u32 {
                    return Outcome::Value(EAGAIN);
                }
                let woken = self.threads.wake_futex(address, value, u32::MAX);
                let moved = self.threads.requeue_futex(address, timeout, second);
                Outcome::Value((woken + moved) as i64)
            }
            other => Outcome::Fail(format!(
                "thread {} makes system call 98 (`futex`) with operation {other}, which is not supported",
                call.thread
            )),
        }
    }

    /// A thread has waited until its time-out.
    pub(crate) fn time_out(&mut self, thread: usize) {
        let State::Parked(wait, _) = self.threads.get(thread).state.clone() else {
            panic!("only a parked thread times out")
        };
        match wait {
            Wait::Sleep => self.threads.wake(thread, 0, 0),
            Wait::Events(wait) => {
                let (result, owed) = self.deliver(&wait);
                self.threads.wake(thread, result, owed);
            }
            _ => self.threads.wake(thread, ETIMEDOUT, 0),
        }
    }

    fn name_of_system(&mut self, address: u64) -> i64 {
        let mut bytes = vec![0; 6 * 65];
        let fields = ["Linux", "flashlane", "6.1.0", "#1", "riscv64", ""];
        for (index, field) in fields.iter().enumerate() {
            bytes[index * 65..index * 65 + field.len()].copy_from_slice(field.as_bytes());
        }
        self.give(address, &bytes)
    }

    /// Soft and hard limit of a resource. The limit on stacks is small, because threads get stacks
    /// of that size.
    fn limit(&mut self, resource: u64, address: u64) -> i64 {
        let limit = match resource {
            3 => 256 << 10,
            7 => 4096,
            0..=15 => u64::MAX,
            _ => return EINVAL,
        };
        self.give(address, &[limit.to_le_bytes(), limit.to_le_bytes()].concat())
    }

    fn system_information(&mut self, address: u64) -> i64 {
        let mut bytes = vec![0; 112];
        let seconds = self.clock.now().0 / 1_000_000_000_000;
        bytes[..8].copy_from_slice(&seconds.to_le_bytes());
        bytes[32..40].copy_from_slice(&(256u64 << 20).to_le_bytes());
        bytes[40..48].copy_from_slice(&(256u64 << 20).to_le_bytes());
        bytes[104..108].copy_from_slice(&1u32.to_le_bytes());
        self.give(address, &bytes)
    }

    fn random(&mut self, address: u64, length: u64) -> i64 {
        if length > 1 << 20 {
            return ENOMEM;
        }
        let bytes: Vec<u8> = (0..length).map(|_| self.rng.next_u64() as u8).collect();
        match self.give(address, &bytes) {
            0 => length as i64,
            error => error,
        }
    }
}
