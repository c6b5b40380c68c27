//! Asynchronous I/O: `io_submit` and related calls. Linux carries out a buffered transfer within
//! `io_submit`; here it goes on in the background.

use super::transfers::{Finished, Segment, Waiter};
use super::{Call, EAGAIN, EBADF, EFAULT, EINVAL, Outcome};
use crate::host::Progress;
use crate::process::{Context, Process};
use crate::threads::{EventsWait, Wait};

/// Size of a request, and of an event, in the program's memory.
const REQUEST: usize = 64;
const EVENT: u64 = 32;

impl Process {
    pub(super) fn asynchronous_call(&mut self, call: &Call) -> Option<Outcome> {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        Some(Outcome::Value(match call.number {
            0 => self.set_up(second),
            1 => match self.contexts.remove(&first) {
                Some(_) => 0,
                None => EINVAL,
            },
            2 => self.submit(first, second, third),
            3 => EAGAIN,
            4 => {
                let wait = EventsWait {
                    context: first,
                    least: second as usize,
                    most: third as usize,
                    address: fourth,
                };
                return Some(self.get_events(wait, fifth));
            }
            _ => return None,
        }))
    }

    fn set_up(&mut self, address: u64) -> i64 {
        let number = self.contexts.last_key_value().map_or(1, |(last, _)| last + 1);
        self.contexts.insert(number, Context::default());
        self.give(address, &number.to_le_bytes())
    }

    fn submit(&mut self, context: u64, count: u64, address: u64) -> i64 {
        if !self.contexts.contains_key(&context) || count > 65_536 {
            return EINVAL;
        }
        for index in 0..count {
            let submitted = match self.take_u64(address.wrapping_add(8 * index)) {
                Some(request) => self.submit_one(context, request),
                None => Err(EFAULT),
            };
            if let Err(error) = submitted {
                return if index > 0 { index as i64 } else { error };
            }
        }
        count as i64
    }

    fn submit_one(&mut self, context: u64, request: u64) -> Result<(), i64> {
        let bytes = self.machine.read(request, REQUEST).ok_or(EFAULT)?;
        let word =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (data, buffer, length, offset) = (word(0), word(24), word(32), word(40));
        let operation = u16::from_le_bytes([bytes[16], bytes[17]]);
        let descriptor = word(16).wrapping_shr(32) as i32;
        let waiter = Waiter::Context(context, data, request);
        let whole = vec![Segment::new(buffer, length)];
        if self.descriptors.get(descriptor).is_none() {
            return Err(EBADF);
        }
        let (progress, ending) = match operation {
            0 => self.start_read(waiter, descriptor, offset, whole)?,
            1 => self.start_write(waiter, descriptor, Some(offset), whole)?,
            2 => self.start_file_sync(waiter, descriptor, true)?,
            3 => self.start_file_sync(waiter, descriptor, false)?,
            _ => return Err(EINVAL),
        };
        match progress {
            Progress::Wait(operation) => drop(self.endings.insert(operation, ending)),
            Progress::Done => {
                if let Finished::Over(result, owed) = self.finish(self.clock.now(), ending) {
                    self.event(context, [data, request, result.cast_unsigned(), 0], owed);
                }
            }
        }
        Ok(())
    }

    fn get_events(&mut self, wait: EventsWait, timeout: u64) -> Outcome {
        let Some(context) = self.contexts.get(&wait.context) else { return Outcome::Value(EINVAL) };
        if wait.most == 0 || wait.least > wait.most {
            return Outcome::Value(EINVAL);
        }
        if context.events.len() >= wait.least {
            let (result, owed) = self.deliver(&wait);
            return Outcome::Costly(result, owed);
        }
        let until = match timeout {
            0 => None,
            at => match self.deadline(at, false, 0) {
                Ok(at) => Some(at),
                Err(error) => return Outcome::Value(error),
            },
        };
        Outcome::Park(Wait::Events(wait), until)
    }

    /// Gives events to the program. Returns their number, and the instructions of the kernel.
    pub(super) fn deliver(&mut self, wait: &EventsWait) -> (i64, u64) {
        let Some(context) = self.contexts.get_mut(&wait.context) else { return (EINVAL, 0) };
        let owed = std::mem::take(&mut context.owed);
        let count = context.events.len().min(wait.most);
        let events: Vec<[u64; 4]> = context.events.drain(..count).collect();
        for (index, event) in events.iter().enumerate() {
            let bytes: Vec<u8> = event.iter().flat_map(|word| word.to_le_bytes()).collect();
            let at = wait.address.wrapping_add(index as u64 * EVENT);
            if self.give(at, &bytes) != 0 {
                return (EFAULT, owed);
            }
        }
        (count as i64, owed)
    }

    /// A request of asynchronous I/O is complete. The thread that takes the event executes the
    /// kernel's instructions.
    pub(super) fn event(&mut self, context: u64, event: [u64; 4], owed: u64) {
        let Some(of) = self.contexts.get_mut(&context) else { return };
        of.events.push_back(event);
        of.owed += owed;
        let have = of.events.len();
        let waiting = self.threads.parked().find_map(|(number, wait, _)| match wait {
            Wait::Events(wait) if wait.context == context && have >= wait.least => {
                Some((number, wait.clone()))
            }
            _ => None,
        });
        if let Some((thread, wait)) = waiting {
            let (result, owed) = self.deliver(&wait);
            self.threads.wake(thread, result, owed);
        }
    }
}
