//! `run --waf-only`: placement, collection and wear without time, for studies of write amplification over
//! more writes than a timed run could take.
//!
//! The flows' requests come in the order of [`Turns`]; each is carried out page by page by
//! [`Untimed`], which shares mapping, allocation, victims, wear levelling and cache with the
//! timed drive. What time decides there follows rules here: see `docs/model.md`.

mod pressure;
mod refuse;
mod report;

use std::time::Instant;

use crate::cache::Cache;
use crate::config::{DeviceConfig, WorkloadConfig};
use crate::error::Error;
use crate::ftl::untimed::{HostPage, Untimed};
use crate::ftl::{Ftl, FtlState};
use crate::layout::Layout;
use crate::metrics::Summary;
use crate::metrics::summary::{ByteCounts, RequestCounts};
use crate::run::{Progress, RunOptions, Warmup};
use crate::workload::turns::Turns;
use crate::workload::{Planned, RequestOp};
pub(crate) use refuse::refuse;

/// Pages of requests that are drawn before they are carried out.
const AHEAD: usize = 64;
/// Batches of pages between two calls of the progress function.
const PROGRESS_INTERVAL: u64 = 1 << 10;
/// Pages of requests between two full audits with `--check`, at least.
const AUDIT_INTERVAL_MIN: u64 = 100_000;

/// What the requests of a flow were.
#[derive(Clone, Copy, Debug, Default)]
struct FlowRequests {
    counted: RequestCounts,
    bytes: ByteCounts,
}

/// A run without time.
pub(crate) struct WafRun<'a> {
    layout: &'a Layout,
    turns: Turns<'a>,
    drive: Untimed,
    flows: Vec<FlowRequests>,
    generated: u64,
    /// Requests that do not count.
    warmup: u64,
    sectors_per_page: u64,
    /// The pages of the requests drawn ahead.
    ahead: Vec<(RequestOp, HostPage)>,
}

/// Runs a scenario over a state that may have been preconditioned.
pub(crate) fn run(
    device: &DeviceConfig,
    workload: &WorkloadConfig,
    options: &RunOptions,
    layout: &Layout,
    state: FtlState,
    cache: Cache,
    progress: Progress<'_>,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let paces = pressure::paces(device, workload, layout, options.seed)?;
    let classes = vec![0; workload.flows.len()];
    let ftl = Ftl::new(device, layout, state, classes, options.seed);
    let mut run = WafRun {
        layout,
        turns: Turns::new(device, workload, layout, options.seed)?,
        drive: Untimed::new(ftl, cache, workload.flows.len(), paces),
        flows: vec![FlowRequests::default(); workload.flows.len()],
        generated: 0,
        warmup: if let Warmup::Requests(count) = options.warmup { count } else { 0 },
        sectors_per_page: u64::from(layout.geometry.sectors_per_page),
        ahead: Vec::with_capacity(2 * AHEAD),
    };
    run.drive.start()?;
    run.run(options.check, progress)?;
    let wall_s = start.elapsed().as_secs_f64();
    Ok(report::summarise(&run, device, workload, options, wall_s))
}

impl WafRun<'_> {
    fn run(&mut self, check: bool, progress: Progress<'_>) -> Result<(), Error> {
        let audit_interval = AUDIT_INTERVAL_MIN.max(self.layout.geometry.pages() / 8);
        let (mut batches, mut pages) = (0_u64, 0);
        while self.draw()? {
            self.carry_out()?;
            batches += 1;
            pages += self.ahead.len() as u64;
            self.ahead.clear();
            if batches.is_multiple_of(PROGRESS_INTERVAL) {
                progress(self.turns.progress());
            }
            if check && pages >= audit_interval {
                pages = 0;
                self.drive.audit(self.layout);
            }
        }
        if check {
            self.drive.audit(self.layout);
        }
        Ok(())
    }

    /// Draws requests ahead. False at the end of the run.
    fn draw(&mut self) -> Result<bool, Error> {
        while self.ahead.len() < AHEAD {
            let Some((flow, planned, at)) = self.turns.next()? else { break };
            self.count(flow, &planned);
            let Planned { op, sector, sectors, .. } = planned;
            if op == RequestOp::Flush {
                self.ahead.push((op, HostPage { flow, lpa: 0, mask: 0, at }));
                continue;
            }
            let (spp, end) = (self.sectors_per_page, sector + u64::from(sectors));
            let first = self.layout.flows[flow as usize].first_lpa;
            let mut from = sector;
            let mut page = sector / spp;
            while from < end {
                let to = end.min((page + 1) * spp);
                let ones = if to - from == 64 { u64::MAX } else { (1 << (to - from)) - 1 };
                let mask = ones << (from - page * spp);
                self.ahead.push((op, HostPage { flow, lpa: (first + page) as u32, mask, at }));
                (from, page) = (to, page + 1);
            }
        }
        Ok(!self.ahead.is_empty())
    }

    fn count(&mut self, flow: u16, planned: &Planned) {
        self.generated += 1;
        if self.generated <= self.warmup {
            return;
        }
        let FlowRequests { counted, bytes } = &mut self.flows[flow as usize];
        let length = u64::from(planned.sectors) * crate::layout::SECTOR_BYTES;
        match planned.op {
            RequestOp::Read => {
                counted.read += 1;
                bytes.read += length;
            }
            RequestOp::Write => {
                counted.write += 1;
                bytes.write += length;
            }
            RequestOp::Trim => counted.trim += 1,
            RequestOp::Flush => counted.flush += 1,
        }
    }

    /// Carries out what was drawn.
    fn carry_out(&mut self) -> Result<(), Error> {
        for (op, page) in &self.ahead {
            match op {
                RequestOp::Write => self.drive.write(page)?,
                RequestOp::Read => self.drive.read(page)?,
                RequestOp::Trim => self.drive.trim(page)?,
                RequestOp::Flush => self.drive.flush(page.flow)?,
            }
        }
        Ok(())
    }
}
