//! System calls of Linux on 64-bit RISC-V. A call that is not implemented here ends the run with an
//! error that names it.

mod asynchronous;
pub(crate) mod descriptors;
mod files;
mod memory;
mod names;
mod status;
mod tasks;
mod time;
pub(crate) mod transfers;

use flashlane::{Error, Time};

use crate::process::Process;
use crate::threads::Wait;

pub(crate) const EPERM: i64 = -1;
pub(crate) const ENOENT: i64 = -2;
pub(crate) const EBADF: i64 = -9;
pub(crate) const EAGAIN: i64 = -11;
pub(crate) const ENOMEM: i64 = -12;
pub(crate) const EFAULT: i64 = -14;
pub(crate) const EEXIST: i64 = -17;
pub(crate) const ENOTDIR: i64 = -20;
pub(crate) const EISDIR: i64 = -21;
pub(crate) const EINVAL: i64 = -22;
pub(crate) const ENOTTY: i64 = -25;
pub(crate) const ENOSPC: i64 = -28;
pub(crate) const ESPIPE: i64 = -29;
pub(crate) const ENOSYS: i64 = -38;
pub(crate) const ENOTEMPTY: i64 = -39;
pub(crate) const ETIMEDOUT: i64 = -110;

/// Effect of a call on its thread.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The thread continues with this result.
    Value(i64),
    /// The thread continues with this result, after this number of kernel instructions.
    Costly(i64, u64),
    /// The thread waits, at most until a time if one is given.
    Park(Wait, Option<Time>),
    /// The thread lets the other threads go first.
    Yield,
    /// The thread has ended, or the program has.
    Ended,
    /// The program cannot continue.
    Fail(String),
}

/// Numbers and arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) arguments: [u64; 6],
    /// The calling thread.
    pub(crate) thread: usize,
}

impl Call {
    /// An argument as a signed number of 32 bits, as descriptors are.
    pub(crate) fn int(&self, index: usize) -> i32 {
        self.arguments[index] as i32
    }
}

impl Process {
    /// Carries out the system call of the thread that has the core.
    pub(crate) fn carry_out(&mut self, thread: usize) -> Result<(), Error> {
        let registers = self.threads.registers(thread);
        let arguments = std::array::from_fn(|index| registers.argument(index));
        let call = Call { number: registers.call(), arguments, thread };
        let name = names::name(call.number);
        self.threads.get(thread).call = name.unwrap_or("an unknown call");
        match self.dispatch(&call) {
            Outcome::Value(value) => self.threads.registers_mut(thread).set_result(value),
            Outcome::Costly(value, owed) => {
                self.threads.registers_mut(thread).set_result(value);
                self.threads.get(thread).owed += owed;
            }
            Outcome::Park(wait, until) => self.threads.park(wait, until),
            Outcome::Yield => {
                self.threads.registers_mut(thread).set_result(0);
                self.threads.rotate();
            }
            Outcome::Ended => {}
            Outcome::Fail(message) => return Err(self.fail(&message)),
        }
        Ok(())
    }

    fn dispatch(&mut self, call: &Call) -> Outcome {
        let outcome = match call.number {
            0..=4 => self.asynchronous_call(call),
            17 | 23..=25 | 29 | 32..=62 | 78..=80 | 88 | 276 | 439 => self.file_call(call),
            63..=70 | 81..=84 => self.transfer_call(call),
            101 | 112..=115 | 169 => self.time_call(call),
            214..=216 | 222..=223 | 226..=227 | 233 => self.memory_call(call),
            _ => self.task_call(call),
        };
        outcome.unwrap_or_else(|| {
            let number = call.number;
            let what = names::name(number)
                .map_or_else(|| number.to_string(), |name| format!("{number} (`{name}`)"));
            let thread = call.thread;
            Outcome::Fail(format!(
                "thread {thread} makes system call {what}, which is not supported"
            ))
        })
    }

    /// Writes to memory of the program. Returns 0, or the error if the program may not write there.
    pub(crate) fn give(&mut self, address: u64, bytes: &[u8]) -> i64 {
        if self.machine.write(address, bytes) { 0 } else { EFAULT }
    }

    /// A number in the program's memory.
    pub(crate) fn take_u64(&mut self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.machine.read_into(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }

    /// A number of 32 bits in the program's memory.
    pub(crate) fn take_u32(&mut self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.machine.read_into(address, &mut bytes).then(|| u32::from_le_bytes(bytes))
    }
}
