//! Plants the faults of `crates/flashlane-testing/faults.toml` into copies of the sources, one at a
//! time, and requires that an assertion or an audit of the simulator catches each.
//!
//! ```text
//! planted-faults                  all of them
//! planted-faults --only NAME…     these
//! planted-faults --part 1/4       every fourth, from the first
//! planted-faults --list           their names
//! ```

mod execute;
mod tree;

use std::process::ExitCode;
use std::time::Instant;

use execute::{Ending, Prepared};
use flashlane_testing::faults::{Fault, Faults};
use tree::Tree;

/// Options of the command line.
#[derive(Debug, Default)]
struct Options {
    list: bool,
    only: Vec<String>,
    /// A part of the faults: its number, and the number of parts.
    part: Option<(usize, usize)>,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|options| plant(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("planted-faults: {message}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    const USAGE: &str = "allowed: --list, --only NAME…, --part N/OF";
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => options.list = true,
            "--only" => options.only.extend(arguments.by_ref()),
            "--part" => {
                let text = arguments.next().unwrap_or_default();
                let numbers = text.split_once('/').and_then(|(part, parts)| {
                    Some((part.parse::<usize>().ok()?, parts.parse::<usize>().ok()?))
                });
                let part = numbers.filter(|&(part, parts)| (1..=parts).contains(&part));
                options.part = Some(part.ok_or(format!("--part: found {text:?}, {USAGE}"))?);
            }
            other => return Err(format!("found {other:?}, {USAGE}")),
        }
    }
    Ok(options)
}

impl Options {
    /// The faults that the command line asks for.
    fn choose<'a>(&self, list: &'a Faults) -> Result<Vec<&'a Fault>, String> {
        let known = |name: &&String| list.faults.iter().any(|fault| fault.name == **name);
        if let Some(unknown) = self.only.iter().find(|name| !known(name)) {
            return Err(format!("there is no fault {unknown:?}; --list names all"));
        }
        let named = |fault: &&Fault| self.only.is_empty() || self.only.contains(&fault.name);
        let (part, parts) = self.part.unwrap_or((1, 1));
        Ok(list.faults.iter().filter(named).skip(part - 1).step_by(parts).collect())
    }
}

fn plant(options: &Options) -> Result<(), String> {
    let list = Faults::read()?;
    let chosen = options.choose(&list)?;
    if options.list {
        for fault in chosen {
            println!("{:<32} {} ({})", fault.name, fault.about, fault.file.display());
        }
        return Ok(());
    }
    let problems = list.problems();
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let start = Instant::now();
    let tree = Tree::new();
    let runs = Prepared::all(&list.runs, &tree)?;
    tree.plant(None)?;
    tree.build()?;
    for run in &runs {
        let ending = run.execute(&tree)?;
        if ending != Ending::Success {
            return Err(format!("without a fault, the run {} {ending}", run.name()));
        }
    }
    println!("without a fault, all {} runs pass", runs.len());
    let mut missed = 0;
    for fault in &chosen {
        tree.plant(Some(fault))?;
        tree.build().map_err(|e| format!("{}: {e}", fault.name))?;
        missed += usize::from(!is_caught(fault, &runs, &tree)?);
    }
    let (caught, minutes) = (chosen.len() - missed, start.elapsed().as_secs_f64() / 60.0);
    println!("{caught} of {} faults are caught, in {minutes:.1} minutes", chosen.len());
    if missed > 0 { Err(format!("{missed} faults are not caught")) } else { Ok(()) }
}

/// Executes the runs that must catch a fault and prints a line for each. If one does not catch it,
/// also prints the results of the other runs.
fn is_caught(fault: &Fault, runs: &[Prepared<'_>], tree: &Tree) -> Result<bool, String> {
    let mut caught = true;
    let wanted = |run: &&Prepared<'_>| fault.caught_by.iter().any(|name| name == run.name());
    for run in runs.iter().filter(wanted) {
        let ending = run.execute(tree)?;
        let right = ending.is_fault(&fault.message);
        caught &= right;
        let verdict = if right { "caught" } else { "MISSED" };
        println!("{verdict} {:<32} {:<14} {ending}", fault.name, run.name());
    }
    if !caught {
        for run in runs.iter().filter(|run| !wanted(run)) {
            println!("       {:<32} {:<14} {}", fault.name, run.name(), run.execute(tree)?);
        }
    }
    Ok(caught)
}
