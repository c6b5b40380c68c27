//! Programs and their drive in one virtual time.
//!
//! The participant with the smallest time goes first: a program, by the clock of its core, or the
//! drive, by its next event. At a tie the drive goes first, then the programs in their order. A
//! program runs ahead only between two system calls, where its work is invisible to others.
//! Therefore a system call happens when the drive has done everything up to its time, and commands
//! reach the drive in the order of time.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashlane::config::validate::HANDLES;
use flashlane::config::{DeviceConfig, PlacementMode};
use flashlane::drive::{Command, Completion, DriveOptions, Operation, Tenant};
use flashlane::{Drive, Error, Time};

use crate::capture::Captured;
use crate::config::{ExecConfig, ProgramConfig};
use crate::process::Process;
use crate::results::{ProgramResult, Results, Run};

/// Options for a run of programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExecOptions {
    /// Every program also runs alone.
    pub alone: bool,
    /// Number of parallel runs; 0 for one on each core. Never changes a result.
    pub threads: usize,
    /// Keeps which tenant delays which.
    pub blame: bool,
    /// Keeps every request.
    pub capture: bool,
    /// Audits the state of the drive.
    pub check: bool,
}

/// Runs the programs of a configuration on a drive.
///
/// # Errors
/// Problems of the configuration; a program that crashes, makes an unknown system call, ends with a
/// status other than 0, or does not end.
pub fn execute(
    config: &ExecConfig,
    device: &DeviceConfig,
    options: &ExecOptions,
) -> Result<Results, Error> {
    let all: Vec<usize> = (0..config.programs.len()).collect();
    let alone = all.iter().filter(|_| options.alone).map(|&one| vec![one]);
    let jobs: Vec<Vec<usize>> = std::iter::once(all.clone()).chain(alone).collect();
    let mut runs = in_parallel(&jobs, options.threads, |active| {
        let watched = ExecOptions { capture: options.capture && *active == all, ..*options };
        run(config, device, active, &watched)
    })
    .into_iter();
    let shared = runs.next().expect("there is a first job")?;
    Ok(Results::new(shared, runs.collect::<Result<_, _>>()?))
}

/// Does jobs on several threads; results are in the order of the jobs. 0 threads: one on each core.
pub fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> R + Sync,
) -> Vec<R> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads }.min(jobs.len());
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = work(job);
                    *results[index].lock().expect("nothing panics with the lock") = Some(result);
                }
            });
        }
    });
    let take = |one: Mutex<Option<R>>| one.into_inner().expect("nothing panics with the lock");
    results.into_iter().map(|one| take(one).expect("every job is done")).collect()
}

/// A run of some of the programs. The other programs' parts of the drive stay unused.
///
/// # Errors
///
/// Those of [`execute`].
pub fn run(
    config: &ExecConfig,
    device: &DeviceConfig,
    active: &[usize],
    options: &ExecOptions,
) -> Result<Run, Error> {
    check_placement(config, device)?;
    let tenant =
        |one: &ProgramConfig| Tenant { placement: one.placement, ..Tenant::named(&*one.name) };
    let tenants: Vec<Tenant> = config.programs.iter().map(tenant).collect();
    let drive_options = DriveOptions { check: options.check, blame: options.blame };
    let drive = Drive::with_options(device, &tenants, config.seed, &drive_options)?;
    let tenants = active.to_vec();
    let processes = tenants
        .iter()
        .map(|&tenant| Process::new(config, tenant, drive.sectors(tenant)))
        .collect::<Result<_, _>>()?;
    let capture = options.capture;
    let (captured, latencies, completions, waiting, next_free) = Default::default();
    let placements = config.programs.iter().map(|one| one.placement).collect();
    let mut engine = Engine {
        drive,
        tenants,
        placements,
        processes,
        completions,
        waiting,
        next_free,
        capture,
        captured,
        latencies,
    };
    engine.run()?;
    engine.results(config)
}

/// Checks that the drive has the identifiers of the programs, and takes writes in any order.
fn check_placement(config: &ExecConfig, device: &DeviceConfig) -> Result<(), Error> {
    if device.placement.mode == PlacementMode::Zones {
        let message = "found `zones`, allowed: none, fdp, streams, since the file system of programs \
                       writes anywhere";
        return Err(Error::config("placement.mode", message));
    }
    // A drive that places nothing takes any identifier that another one might have.
    let most = match device.placement.identifiers() {
        0 => *HANDLES.end(),
        identifiers => identifiers - 1,
    };
    for program in &config.programs {
        let hints = program.hints.all().map(|(name, one)| (format!("hints.{name}"), one));
        let all = std::iter::once(("placement".to_owned(), program.placement)).chain(hints);
        for (key, found) in all {
            if let Some(found) = found.filter(|&found| u32::from(found) > most) {
                let key = format!("program `{}`: {key}", program.name);
                return Err(Error::config(key, format!("found {found}, allowed: 0 to {most}")));
            }
        }
    }
    Ok(())
}

struct Engine {
    drive: Drive,
    /// The tenant of each process.
    tenants: Vec<usize>,
    /// The placement identifier of each program's writes.
    placements: Vec<Option<u16>>,
    processes: Vec<Process>,
    completions: Vec<Completion>,
    /// Commands that were not given to the drive yet, in the order of time.
    waiting: VecDeque<Waiting>,
    /// Earliest time that no command has yet.
    next_free: Time,
    capture: bool,
    captured: Vec<Captured>,
    /// Latencies of captured commands, in the order of submission.
    latencies: Vec<u64>,
}

/// A command of a process that was not given to the drive yet.
struct Waiting {
    at: Time,
    index: usize,
    request: u32,
    command: Command,
    /// Instructions that the process had executed by then.
    instructions: u64,
}

/// Largest file that is kept as a result. Unit: bytes.
const MOST_KEPT: u64 = 4 << 30;

/// Number of low bits of a cookie that hold the number of a request; the bits above hold the index
/// of a captured command.
const REQUEST_BITS: u32 = 32;

impl Engine {
    fn run(&mut self) -> Result<(), Error> {
        loop {
            let process = (0..)
                .zip(&self.processes)
                .filter_map(|(index, process)| Some((process.next_time()?, index)))
                .min();
            let command = self.waiting.front().map(|one| one.at);
            let first = command.into_iter().chain(process.map(|one| one.0)).min();
            match (self.drive.next_event(), process) {
                (Some(event), _) if first.is_none_or(|at| event <= at) => {
                    self.step(first.unwrap_or(Time::MAX))?;
                }
                (_, process) if command.is_some_and(|at| process.is_none_or(|one| at <= one.0)) => {
                    self.submit()?;
                }
                (_, Some((_, index))) => self.act(index)?,
                _ if self.processes.iter().all(|one| one.exited.is_some()) => return Ok(()),
                _ => return Err(self.deadlock()),
            }
        }
    }

    /// Gives the drive the first command that waits for it. Every command has a picosecond for
    /// itself, in which the drive has done nothing and no other command arrives. Therefore its time
    /// alone determines its order, and a trace of commands is an equal load.
    fn submit(&mut self) -> Result<(), Error> {
        let first = self.waiting.front_mut().expect("a command waits");
        if first.at <= self.drive.now() || first.at < self.next_free {
            first.at = Time(self.drive.now().0 + 1).max(self.next_free);
            return Ok(());
        }
        let Waiting { at, index, request, command, instructions } =
            self.waiting.pop_front().expect("a command waits");
        self.next_free = Time(at.0 + 1);
        let cookie = (self.captured.len() as u64) << REQUEST_BITS | u64::from(request);
        let program = self.tenants[index];
        if self.capture {
            let mut command = command;
            if command.operation == Operation::Write {
                command.placement = command.placement.or(self.placements[program]);
            }
            self.captured.push(Captured { at, program, instructions, command });
            self.latencies.push(0);
        }
        self.drive.schedule(at, program, command, cookie).map_err(|refused| {
            self.processes[index].fail(&format!("the drive refuses a command: {refused}"))
        })
    }

    /// Lets the drive handle an event, up to a time.
    fn step(&mut self, until: Time) -> Result<(), Error> {
        self.drive.step_until(until, &mut self.completions)?;
        for completion in std::mem::take(&mut self.completions) {
            let index = self.process_of(usize::from(completion.record.flow));
            let request = completion.cookie as u32;
            if self.capture {
                let place = (completion.cookie >> REQUEST_BITS) as usize;
                self.latencies[place] = completion.at().0 - self.captured[place].at.0;
            }
            self.processes[index].completed(completion.at(), request);
            self.send(index, completion.at());
        }
        Ok(())
    }

    fn process_of(&self, tenant: usize) -> usize {
        let place = self.tenants.iter().position(|&one| one == tenant);
        place.expect("only programs that run submit commands")
    }

    /// Does the next step of a program.
    fn act(&mut self, index: usize) -> Result<(), Error> {
        self.processes[index].act()?;
        let process = &self.processes[index];
        if let Some(status) = process.exited.filter(|&status| status != 0) {
            return Err(process.fail(&format!("ended with status {status}")));
        }
        let now = process.clock.now().max(self.drive.now());
        self.send(index, now);
        let (waits, ready): (Vec<_>, Vec<_>) = (
            self.processes.iter().filter(|one| one.begins()).collect(),
            self.processes
                .iter()
                .filter(|one| one.begins() || one.measure.marked || one.exited.is_some())
                .collect(),
        );
        if !waits.is_empty() && ready.len() == self.processes.len() {
            let at = waits.iter().map(|one| one.clock.now()).max().expect("one waits");
            for process in self.processes.iter_mut().filter(|one| one.exited.is_none()) {
                process.begin(at);
            }
        }
        Ok(())
    }

    /// Queues a program's commands for the drive.
    fn send(&mut self, index: usize, at: Time) {
        let process = &mut self.processes[index];
        let instructions = process.clock.instructions();
        let commands = process.take_commands(at);
        let waiting = |(request, command)| Waiting { at, index, request, command, instructions };
        self.waiting.extend(commands.into_iter().map(waiting));
    }

    /// No participant can continue: the error says which one waits for what.
    fn deadlock(&self) -> Error {
        let stuck: Vec<String> = self
            .processes
            .iter()
            .filter(|one| one.is_stuck())
            .map(|one| format!("program {}: {}", one.name, one.threads.describe()))
            .collect();
        Error::Stuck(format!(
            "deadlock: every thread waits and the drive has nothing to do; {}",
            stuck.join("; ")
        ))
    }

    fn results(mut self, config: &ExecConfig) -> Result<Run, Error> {
        let mut kept = Vec::new();
        for (process, &tenant) in self.processes.iter().zip(&self.tenants) {
            for path in &config.programs[tenant].keep {
                let Some(file) = process.host.files.find(path) else {
                    let message = format!("has no file {path}, which was to be kept");
                    return Err(process.fail(&message));
                };
                let file = process.host.files.get(file);
                if file.size > MOST_KEPT {
                    let (size, most) = (file.size, MOST_KEPT);
                    let message = format!("{path} has {size} bytes, allowed: {most} to be kept");
                    return Err(process.fail(&message));
                }
                let mut bytes = vec![0; file.size as usize];
                file.read(0, &mut bytes);
                kept.push((tenant, path.clone(), bytes));
            }
        }
        Ok(Run {
            programs: self.processes.iter().map(ProgramResult::of).collect(),
            kept,
            summary: self.drive.summary()?,
            blame: self.drive.blame()?,
            captured: self.captured,
            latencies: self.latencies,
        })
    }
}
