//! A program on its core: machine, threads, memory, descriptors, host. It is a tenant of the drive.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::Path;

use flashlane::drive::{Command, Operation};
use flashlane::{Error, Time};
use flashlane_engine::Rng;

use crate::calls::descriptors::Descriptors;
use crate::calls::transfers::Ending;
use crate::clock::CoreClock;
use crate::config::ExecConfig;
use crate::elf;
use crate::host::{Host, PAGE};
use crate::machine::{Machine, Stop};
use crate::measure::Measure;
use crate::memory::AddressSpace;
use crate::threads::{Threads, Wait};

/// Size of the first thread's stack.
const STACK: u32 = 1 << 20;

/// Most output of a program that is kept. Unit: bytes.
const OUTPUT: usize = 1 << 20;

/// Completions of asynchronous I/O that the program has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub(crate) events: VecDeque<[u64; 4]>,
    /// Instructions of the kernel that no thread has executed yet.
    pub(crate) owed: u64,
}

/// A system call that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    None,
    /// A call whose kernel instructions are not counted yet.
    Called,
    Charged,
}

/// A program.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) machine: Machine,
    pub(crate) clock: CoreClock,
    pub(crate) threads: Threads,
    pub(crate) memory: AddressSpace,
    pub(crate) descriptors: Descriptors,
    pub(crate) host: Host,
    pub(crate) contexts: BTreeMap<u64, Context>,
    /// Work at the end of each operation of the host.
    pub(crate) endings: BTreeMap<u32, Ending>,
    pub(crate) measure: Measure,
    pub(crate) output: Vec<u8>,
    pub(crate) rng: Rng,
    /// Exit status of the program, if it has ended.
    pub(crate) exited: Option<i32>,
    pub(crate) page_instructions: u64,
    call_instructions: u64,
    pending: Pending,
    slice: u64,
    most_instructions: u64,
    most_time: Time,
}

impl Process {
    /// Loads a program of a configuration. `sectors`: its space on the drive.
    pub(crate) fn new(config: &ExecConfig, index: usize, sectors: u64) -> Result<Self, Error> {
        let program = &config.programs[index];
        let host = config.host_of(index);
        let elf = read_program(&program.elf)?;
        let refuse = |message: String| {
            let allowed = "allowed: a 64-bit RISC-V executable that is linked with -static";
            Error::config(program.elf.display().to_string(), format!("{message}; {allowed}"))
        };
        let heap = elf::heap_start(&elf).map_err(refuse)?;
        let mut arguments = vec![program.name.clone()];
        arguments.extend(program.args.iter().cloned());
        let memory = host.memory.0;
        let mut machine = Machine::new(&elf, &arguments, memory, STACK).map_err(refuse)?;
        let registers = machine.registers();
        let space = AddressSpace::new(heap, registers.stack(), STACK.into(), memory);
        let space = space.ok_or_else(|| {
            let message = format!("found {} of memory, which is too little", host.memory);
            Error::config(format!("program {}: host.memory", program.name), message)
        })?;
        close_what_is_not_there(&mut machine, &elf, &space);
        let mut rng = Rng::stream(config.seed, "exec", index as u64);
        overwrite_random(&mut machine, registers.stack(), &mut rng);
        let thousandths = (config.core.ipc * 1000.0).round().max(1.0) as u64;
        Ok(Self {
            name: program.name.clone(),
            machine,
            clock: CoreClock::new(config.core.hertz, thousandths),
            threads: Threads::new(registers),
            memory: space,
            descriptors: Descriptors::default(),
            host: Host::new(host, &program.hints, sectors),
            contexts: BTreeMap::new(),
            endings: BTreeMap::new(),
            measure: Measure::default(),
            output: Vec::new(),
            rng,
            exited: None,
            page_instructions: host.page_instructions,
            call_instructions: host.call_instructions,
            pending: Pending::None,
            slice: config.core.slice,
            most_instructions: config.limits.instructions,
            most_time: Time(config.limits.time.0),
        })
    }

    /// Time of the program's next step. `None` if it has ended, or waits for others.
    pub(crate) fn next_time(&self) -> Option<Time> {
        if self.exited.is_some() {
            return None;
        }
        if self.threads.current().is_some() {
            return Some(self.clock.now());
        }
        let timeout = self.threads.next_timeout().map(|one| one.0);
        let tick = self.host.next_tick();
        let next = timeout.into_iter().chain(tick).min();
        next.map(|at| at.max(self.clock.now()))
    }

    /// Does the next step: a system call, a slice of instructions, or the work of a timer.
    pub(crate) fn act(&mut self) -> Result<(), Error> {
        assert!(self.exited.is_none(), "a program that has ended does nothing");
        let Some(thread) = self.threads.current() else { return self.on_timer() };
        self.fire_timers();
        match self.pending {
            Pending::Called if self.call_instructions > 0 => {
                self.clock.spend(self.call_instructions);
                self.pending = Pending::Charged;
            }
            Pending::Called | Pending::Charged => {
                self.pending = Pending::None;
                self.carry_out(thread)?;
            }
            Pending::None => self.run(thread)?,
        }
        self.within_limits()
    }

    /// Executes instructions of a thread.
    fn run(&mut self, thread: usize) -> Result<(), Error> {
        let owed = std::mem::take(&mut self.threads.get(thread).owed);
        if owed > 0 {
            self.clock.spend(owed);
        }
        self.machine.set_registers(self.threads.registers(thread));
        let (instructions, stop) = self.machine.run(self.slice);
        self.measure.user += instructions;
        self.clock.spend(instructions);
        *self.threads.registers_mut(thread) = self.machine.registers();
        match stop {
            Stop::Call => self.pending = Pending::Called,
            Stop::Limit => self.threads.rotate(),
            Stop::Fault(message) => return Err(self.crashed(thread, &message)),
        }
        Ok(())
    }

    /// Handles threads whose wait is over, and pages that have been dirty for too long.
    fn fire_timers(&mut self) {
        let now = self.clock.now();
        while let Some((_, thread)) = self.threads.next_timeout().filter(|&(at, _)| at <= now) {
            self.time_out(thread);
        }
        if self.host.next_tick().is_some_and(|at| at <= now) {
            self.host.write_back(now);
        }
    }

    fn on_timer(&mut self) -> Result<(), Error> {
        let at = self.next_time().expect("only programs with something to do act");
        self.awake(at);
        self.fire_timers();
        self.within_limits()
    }

    /// Moves the core's clock to the present, if the core was idle.
    fn awake(&mut self, now: Time) {
        if self.threads.current().is_none() {
            self.clock.idle_until(now);
        }
    }

    /// A command of the program is complete.
    pub(crate) fn completed(&mut self, now: Time, request: u32) {
        self.measure.completed(now);
        if self.exited.is_some() {
            return;
        }
        self.host.completed(now, request);
        while let Some(operation) = self.host.take_finished() {
            self.awake(now);
            self.operation_over(now, operation);
        }
    }

    /// Takes the program's commands for the drive.
    pub(crate) fn take_commands(&mut self, at: Time) -> Vec<(u32, Command)> {
        let commands = self.host.take_outbox();
        for (_, command) in &commands {
            self.measure.submitted(at, command);
        }
        commands
    }

    /// True if a thread waits for the other programs to begin.
    pub(crate) fn begins(&self) -> bool {
        self.threads.parked().any(|(_, wait, _)| *wait == Wait::Begin)
    }

    /// Begins the measured part, together with every other program.
    pub(crate) fn begin(&mut self, at: Time) {
        self.awake(at);
        let waiting: Vec<usize> = self
            .threads
            .parked()
            .filter_map(|(number, wait, _)| (*wait == Wait::Begin).then_some(number))
            .collect();
        for thread in waiting {
            self.threads.wake(thread, crate::calls::ENOENT, 0);
        }
        let at = at.max(self.clock.now());
        self.measure.begin(at, self.clock.instructions(), self.host.counts);
    }

    /// The program's measured part is over.
    pub(crate) fn end_measure(&mut self) {
        let now = self.clock.now();
        self.measure.end(now, self.clock.instructions(), self.host.counts);
    }

    /// The program ends.
    pub(crate) fn exit(&mut self, status: i32) {
        self.end_measure();
        self.threads.end_all();
        self.exited = Some(status);
    }

    /// Adds to the output.
    pub(crate) fn print(&mut self, bytes: &[u8]) {
        let room = OUTPUT - self.output.len();
        self.output.extend(bytes.iter().take(room));
    }

    /// An error that names the program and, if there is one, the last line of its output.
    pub(crate) fn fail(&self, message: &str) -> Error {
        let text = String::from_utf8_lossy(&self.output);
        let said = text.lines().next_back().map(|line| format!("; it last printed: {line}"));
        Error::Stuck(format!("program {}: {message}{}", self.name, said.unwrap_or_default()))
    }

    fn crashed(&mut self, thread: usize, message: &str) -> Error {
        let call = self.threads.get(thread).call;
        let pc = self.threads.registers(thread).pc();
        let clock = self.clock.now();
        self.fail(&format!(
            "thread {thread} crashed at {clock}: {message}; pc {pc:#x}, its last system call was \
             `{call}`"
        ))
    }

    fn within_limits(&self) -> Result<(), Error> {
        if self.exited.is_some() {
            return Ok(());
        }
        if self.clock.instructions() > self.most_instructions {
            let limit = self.most_instructions;
            return Err(self.fail(&format!(
                "found more than {limit} instructions, which is limits.instructions: does it end?"
            )));
        }
        if self.clock.now() > self.most_time {
            let limit = self.most_time;
            return Err(self.fail(&format!(
                "found more than {limit} of simulated time, which is limits.time: does it end?"
            )));
        }
        Ok(())
    }

    /// True if no thread is ready and the program has not ended.
    pub(crate) fn is_stuck(&self) -> bool {
        self.exited.is_none() && self.next_time().is_none()
    }
}

/// Closes all memory outside of segments, heap, stack and mappings.
fn close_what_is_not_there(machine: &mut Machine, elf: &[u8], space: &AddressSpace) {
    let mut end = PAGE;
    for (start, length) in elf::segments(elf) {
        let start = start / PAGE * PAGE;
        machine.close(end, start.saturating_sub(end));
        end = end.max((start + length).next_multiple_of(PAGE) + PAGE);
    }
    let (heap, heap_end, base) = space.bounds();
    machine.close(heap, heap_end - heap);
    machine.close_from(base);
}

/// Largest program. Unit: bytes.
const PROGRAM_MAX: u64 = 1 << 30;

/// Reads a program. It must be a regular file, since devices and pipes may never end.
fn read_program(path: &Path) -> Result<Vec<u8>, Error> {
    let refuse = |message: String| Error::config(path.display().to_string(), message);
    let unreadable = |error: std::io::Error| refuse(format!("cannot be read: {error}"));
    // Checked before it is opened, because opening a pipe waits for its writer.
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(refuse(format!("found {what}, allowed: a file with a program")));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(PROGRAM_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > PROGRAM_MAX {
        return Err(refuse(
            "found more than 1 GiB, allowed: a program of that size at most".into(),
        ));
    }
    Ok(bytes)
}

/// Replaces the 16 random bytes with which the C library seeds itself. The emulator draws them from
/// the real world; here they come from the seed. They are found through the auxiliary vector above
/// the stack pointer.
fn overwrite_random(machine: &mut Machine, stack: u64, rng: &mut Rng) {
    const AT_RANDOM: u64 = 25;
    let mut word = |at: u64| {
        let bytes = machine.read(at, 8)?;
        Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    };
    // Arguments end in a zero, the environment ends in a zero, and pairs follow.
    let mut found = || -> Option<u64> {
        let mut at = stack + 8 * (word(stack)? + 2);
        while word(at)? != 0 {
            at += 8;
        }
        at += 8;
        while word(at)? != 0 {
            if word(at)? == AT_RANDOM {
                return word(at + 8);
            }
            at += 16;
        }
        None
    };
    if let Some(address) = found() {
        let bytes = [rng.next_u64().to_le_bytes(), rng.next_u64().to_le_bytes()].concat();
        assert!(machine.write(address, &bytes), "the stack can be written");
    }
}

/// Counts of requests by operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) trims: u64,
    pub(crate) flushes: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
}

impl Requests {
    /// Counts a command.
    pub(crate) fn add(&mut self, command: &Command) {
        let bytes = u64::from(command.sectors) * 512;
        match command.operation {
            Operation::Read => {
                (self.reads, self.bytes_read) = (self.reads + 1, self.bytes_read + bytes)
            }
            Operation::Write => {
                (self.writes, self.bytes_written) = (self.writes + 1, self.bytes_written + bytes);
            }
            Operation::Trim => self.trims += 1,
            _ => self.flushes += 1,
        }
    }
}
