//! The requests of programs as a trace. The work can then be replayed without programs.

use std::fmt::Write;

use flashlane::Time;
use flashlane::drive::{Command, Operation};

/// A command that a program sent to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Time of submission.
    pub at: Time,
    /// The program, as an index into the configuration.
    pub program: usize,
    /// Instructions that the program's core had executed by then.
    pub instructions: u64,
    /// The command.
    pub command: Command,
}

/// The commands as a trace that `flashlane run` replays: columns that the first line describes. The
/// device of a record is the program's number. Two more columns follow: the name of the program,
/// and the instructions that it executed since its last command; then the placement identifiers of
/// writes, if there are any.
#[must_use]
pub fn trace(captured: &[Captured], names: &[&str]) -> String {
    let placed = captured.iter().any(|one| one.command.placement.is_some());
    let column = if placed { ",placement=8" } else { "" };
    let rest = ";sep=comma;read=R;write=W;trim=T;flush=F";
    let mut text = format!("# columns: t=1[ps],op=2,off=3[B],len=4[B],dev=5{column}{rest}\n");
    text.push_str(
        "# picoseconds, operation, bytes, bytes, program, its name, instructions since its ",
    );
    text.push_str("last request");
    text.push_str(if placed { ", placement identifier\n" } else { "\n" });
    // Times of a trace count from its first record. This record, of no program, marks the start.
    let end = if placed { "," } else { "" };
    text.push_str(&format!("0,F,0,0,{},start,0{end}\n", names.len()));
    let mut last = vec![0; names.len()];
    for one in captured {
        let operation = match one.command.operation {
            Operation::Read => 'R',
            Operation::Write => 'W',
            Operation::Trim => 'T',
            _ => 'F',
        };
        let gap = one.instructions - last[one.program];
        last[one.program] = one.instructions;
        let (offset, length) = (one.command.sector * 512, u64::from(one.command.sectors) * 512);
        let (time, program, name) = (one.at.0, one.program, names[one.program]);
        let line = write!(text, "{time},{operation},{offset},{length},{program},{name},{gap}");
        line.expect("a text takes everything");
        if placed {
            let identifier = one.command.placement.map(|one| one.to_string()).unwrap_or_default();
            text.push(',');
            text.push_str(&identifier);
        }
        text.push('\n');
    }
    text
}
