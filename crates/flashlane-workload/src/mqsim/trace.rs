//! MQSim's trace flows: rounds, percentage and address rule on top of a reader of lines.

use flashlane_engine::Time;

use super::place;
use crate::config::MqsimTraceConfig;
use crate::{Directive, Planned, RequestOp, RequestSource, SourceReport};
use flashlane_device::layout::FlowSpace;
use flashlane_reading::Error;

/// A line of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// Arrival, from the start of the trace. Unit: nanoseconds.
    pub time_ns: u64,
    /// First sector.
    pub lba: u64,
    /// Length. Unit: sectors.
    pub sectors: u32,
    /// True for a write, false for a read.
    pub write: bool,
}

/// Reads the lines of a trace, in order.
pub trait LineSource: Send {
    /// The next line, or `None` after the last one.
    ///
    /// # Errors
    /// [`Error::Trace`] where the trace cannot be read on.
    fn next(&mut self) -> Result<Option<TraceLine>, Error>;

    /// Goes back to the first line.
    ///
    /// # Errors
    /// [`Error::Trace`] where the trace cannot be read again.
    fn rewind(&mut self) -> Result<(), Error>;
}

/// Requests of an `IO_Flow_Parameter_Set_Trace_Based`.
///
/// With one round, it replays the first `percent` of the lines. With several rounds, it replays all
/// lines in each, and a round starts at the last arrival of the previous round. The first time of
/// the file is not moved to zero. Differs from MQSim: requests without sectors are dropped, and no
/// request leaves the flow (both are in the report).
pub struct MqsimTraceSource {
    lines: Box<dyn LineSource>,
    config: MqsimTraceConfig,
    /// Size of the flow. Unit: sectors.
    space: u64,
    /// Lines of the first round that count.
    line_limit: u64,
    line: u64,
    round: u32,
    /// Time of the flow that corresponds to the file's zero in this round.
    offset: Time,
    /// Time of the last line.
    last: Time,
    ended: bool,
    /// Number of requests so far.
    gone: u64,
    report: SourceReport,
}

impl MqsimTraceSource {
    /// The source of a flow that owns `space`. Reads all lines once if only a part of them counts.
    ///
    /// # Errors
    ///
    /// [`Error::Trace`] where the trace cannot be read.
    pub fn new(
        mut lines: Box<dyn LineSource>,
        config: &MqsimTraceConfig,
        space: &FlowSpace,
    ) -> Result<Self, Error> {
        let mut line_limit = u64::MAX;
        if config.rounds == 1 && config.percent < 100 {
            let mut count = 0_u64;
            while lines.next()?.is_some() {
                count += 1;
            }
            lines.rewind()?;
            line_limit = (f64::from(config.percent) / 100.0 * count as f64) as u64;
        }
        Ok(Self {
            lines,
            config: config.clone(),
            space: space.sectors,
            line_limit,
            line: 0,
            round: 0,
            offset: Time::ZERO,
            last: Time::ZERO,
            ended: space.sectors == 0,
            gone: 0,
            report: SourceReport::default(),
        })
    }

    /// The next line of this or the next round.
    fn line(&mut self) -> Result<Option<TraceLine>, Error> {
        loop {
            if self.line >= self.line_limit {
                return Ok(None);
            }
            if let Some(line) = self.lines.next()? {
                self.line += 1;
                return Ok(Some(line));
            }
            self.round += 1;
            if self.round >= self.config.rounds || self.line == 0 {
                return Ok(None);
            }
            self.lines.rewind()?;
            self.line = 0;
            self.offset = self.last;
        }
    }

    /// Skips up to `most` requests of a round. Returns the number of skipped requests.
    fn skip(&mut self, most: u64) -> Result<u64, Error> {
        let mut skipped = 0;
        while skipped < most && self.line < self.line_limit {
            let Some(line) = self.lines.next()? else { break };
            self.line += 1;
            skipped += u64::from(line.sectors > 0);
        }
        Ok(skipped)
    }

    fn arrival(&self, time_ns: u64) -> Result<Time, Error> {
        let refuse = |what: &str| {
            let path = self.config.path.display();
            Error::Trace(format!(
                "{path}: request {} of round {} {what}",
                self.line,
                self.round + 1
            ))
        };
        let time = time_ns
            .checked_mul(1_000)
            .and_then(|time| time.checked_add(self.offset.0))
            .map(Time)
            .ok_or_else(|| refuse("arrives later than 213 days, the most that can be simulated"))?;
        if time < self.last {
            return Err(refuse("arrives before the request in front of it"));
        }
        Ok(time)
    }

    /// The flow's sector for an address of the file.
    fn sector(&mut self, lba: u64) -> u64 {
        let last = self.space - 1;
        if lba <= last {
            return lba;
        }
        self.report.wrapped += 1;
        lba % last.max(1)
    }
}

impl RequestSource for MqsimTraceSource {
    fn next(&mut self, _now: Time) -> Result<Option<Planned>, Error> {
        while !self.ended {
            let Some(line) = self.line()? else {
                self.ended = true;
                break;
            };
            let arrival = self.arrival(line.time_ns)?;
            self.last = arrival;
            if line.sectors == 0 {
                self.report.clipped += 1;
                continue;
            }
            let wrapped = self.report.wrapped;
            let sector = self.sector(line.lba);
            let placed = place(sector, line.sectors, self.space, 1);
            if placed.moved && self.report.wrapped == wrapped {
                self.report.wrapped += 1;
            }
            self.report.clipped += u64::from(placed.clipped);
            self.gone += 1;
            let op = if line.write { RequestOp::Write } else { RequestOp::Read };
            return Ok(Some(Planned {
                arrival,
                op,
                sector: placed.sector,
                sectors: placed.sectors,
                queue: 0,
                directive: Directive::NONE,
            }));
        }
        Ok(None)
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.lines.rewind()?;
        self.line = 0;
        self.round = 0;
        self.offset = now;
        self.last = now;
        self.ended = self.space == 0;
        Ok(())
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        if back == 0 {
            return Ok(());
        }
        let requests = self.skip(u64::MAX)?;
        self.restart(Time::ZERO)?;
        if requests > 0 {
            self.skip((requests - back % requests) % requests)?;
        }
        Ok(())
    }

    fn gone(&self) -> u64 {
        self.gone
    }

    fn closed_loop(&self) -> Option<u32> {
        None
    }

    fn report(&self) -> SourceReport {
        self.report.clone()
    }
}
