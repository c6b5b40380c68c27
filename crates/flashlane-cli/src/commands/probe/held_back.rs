//! `flashlane probe --trace`: measures work that is not used for a fit.

use std::path::Path;

use flashlane::Error;
use flashlane_engine::Time;
use flashlane_probe::{Facts, Operation, Request, Series};
use flashlane_trace::{Op, Record};

use crate::args::ReadingArgs;
use crate::commands::trace::reading::open;
use crate::commands::trace::trace_error;

/// Largest number of requests that are kept in memory.
const MOST: usize = 10_000_000;

/// The requests of a trace as a series for a target. Addresses are taken modulo the capacity of the
/// target, and requests that are too long for it are cut.
pub(super) fn series(
    path: &Path,
    reading: &ReadingArgs,
    facts: &Facts,
    destroys: bool,
) -> Result<Series, Error> {
    let mut reader = open(&path.display().to_string(), reading)?;
    let (mut requests, mut at) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next().map_err(trace_error)? {
        if requests.len() == MOST {
            let problem = format!("found more than {MOST} requests, allowed: fewer; see --limit");
            return Err(Error::config(path.display().to_string(), problem));
        }
        let Some(operation) = operation(record.op) else { continue };
        if operation != Operation::Read && !destroys {
            let problem = "found a write, allowed: --destroy-data, or a trace that only reads";
            return Err(Error::config(path.display().to_string(), problem));
        }
        requests.push(request(&record, operation, facts));
        at.push(Time(record.time_ps));
    }
    if requests.is_empty() {
        let problem = "found no request, allowed: at least one";
        return Err(Error::config(path.display().to_string(), problem));
    }
    let first = at[0];
    at.iter_mut().for_each(|at| *at = at.saturating_sub(first));
    Ok(Series::open("held-back", requests, at))
}

fn operation(op: Op) -> Option<Operation> {
    match op {
        Op::Read => Some(Operation::Read),
        Op::Write => Some(Operation::Write),
        Op::Trim => Some(Operation::Trim),
        Op::Flush => None,
    }
}

fn request(record: &Record, operation: Operation, facts: &Facts) -> Request {
    let block = u64::from(facts.block);
    let end = record.end_bytes().next_multiple_of(block);
    let start = record.offset_bytes / block * block;
    let bytes = (end - start).clamp(block, u64::from(facts.longest) / block * block);
    let offset = start % ((facts.bytes - bytes) / block * block + block);
    Request { operation, offset, bytes: bytes as u32 }
}
