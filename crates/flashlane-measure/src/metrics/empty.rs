//! Refuses windows in which no request arrives: all numbers of such a run would be 0.

use flashlane_engine::Time;

use crate::metrics::summary::OverloadSummary;
use crate::rules::Warmup;
use flashlane_config::{FlowConfig, OnEnd, WindowRule, WorkloadConfig};
use flashlane_reading::Error;

/// Length of the first pass of a flow, as far as the configuration tells.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    requests: Option<u64>,
    /// Unit: picoseconds.
    duration: Option<u64>,
}

impl Pass {
    fn of(flow: &FlowConfig) -> Self {
        let (synthetic, clone) = (flow.synthetic.as_ref(), flow.clone.as_ref());
        let requests = synthetic.and_then(|s| s.requests).or(clone.and_then(|c| c.requests));
        let duration = synthetic.and_then(|s| s.duration).or(clone.and_then(|c| c.duration));
        Self { requests, duration: duration.map(|span| span.0 + flow.starts_at().0) }
    }
}

/// Refuses a warm-up that lasts as long as the load, if the configuration already shows that,
/// without a simulation.
///
/// # Errors
///
/// [`Error::Config`] with the key and the allowed values.
pub fn foreseen(
    workload: &WorkloadConfig,
    warmup: Warmup,
    until_steady: bool,
) -> Result<(), Error> {
    if workload.window == WindowRule::WholeRun || until_steady {
        return Ok(());
    }
    let several = workload.flows.len() > 1;
    let passes: Vec<Pass> = workload.flows.iter().map(Pass::of).collect();
    match warmup.or(workload.warmup) {
        Warmup::None => Ok(()),
        Warmup::Time(warmup) => {
            // The first end of a flow that stops ends the load; otherwise the last end of a pass
            // does.
            let stops = |flow: &FlowConfig| flow.on_end.map_or(!several, |end| end == OnEnd::Stop);
            let stop = workload.flows.iter().zip(&passes).filter(|(flow, _)| stops(flow));
            let first = stop.filter_map(|(_, pass)| pass.duration).min();
            let last = passes.iter().map(|pass| pass.duration).collect::<Option<Vec<u64>>>();
            let end = first.into_iter().chain(last.and_then(|all| all.into_iter().max())).min();
            match end {
                Some(end) if end <= warmup => Err(too_long(
                    &seconds(Time(warmup)),
                    &format!("the load lasts {}", seconds(Time(end))),
                )),
                _ => Ok(()),
            }
        }
        // Flows that repeat make more requests than those of their passes.
        Warmup::Requests(warmup) => match passes[..] {
            [Pass { requests: Some(requests), .. }]
                if workload.flows[0].on_end != Some(OnEnd::Repeat) && requests <= warmup =>
            {
                Err(too_long(
                    &format!("{warmup} requests"),
                    &format!("the flow makes {requests} requests"),
                ))
            }
            _ => Ok(()),
        },
    }
}

fn seconds(time: Time) -> String {
    format!("{} s", time.as_s())
}

fn too_long(found: &str, load: &str) -> Error {
    let message = format!(
        "found {found}, but {load}: no request would be counted; allowed: less than the load"
    );
    Error::config("--warmup", message)
}

/// The error of a run whose load ended before its window opened.
pub fn overloaded(found: &OverloadSummary) -> Error {
    Error::Stuck(format!(
        "the drive cannot keep up with the load: at {} s, {} requests of open loops were outstanding \
         (outstanding_max), most of them of flow {}, and the warm-up was not over: no request would be \
         counted; allowed: less load, a shorter warm-up, or a larger outstanding_max",
        found.at_s, found.outstanding, found.flow
    ))
}

/// The error of a run in which none of the `generated` requests counted. `end`: the time at which
/// the load ended.
pub fn found(
    workload: &WorkloadConfig,
    warmup: Warmup,
    generated: u64,
    end: Option<Time>,
) -> Error {
    let until = end.map_or_else(String::new, |end| format!(" by {}", seconds(end)));
    let ended =
        format!("the flows have made {generated} requests and ended their first passes{until}");
    let starts = || workload.flows.iter().map(FlowConfig::starts_at);
    let last = workload.last_start();
    let warmup = match warmup.or(workload.warmup) {
        _ if generated == 0 => {
            let message = "found no request in any flow: the files of its traces are empty, or every \
                           request was rejected or clipped; allowed: at least one";
            return Error::config("workload", message);
        }
        Warmup::Time(span) => seconds(Time(span)),
        Warmup::Requests(count) => format!("{count} requests"),
        Warmup::None if last > Time::ZERO => {
            let flow = starts().position(|start| start == last).unwrap_or_default();
            let message = format!(
                "found {}, but {ended} before this one started: no request would be counted; allowed: \
                 earlier than that",
                seconds(last)
            );
            return Error::config(format!("flow[{flow}].starts_after"), message);
        }
        Warmup::None => "none".to_owned(),
    };
    too_long(&warmup, &ended)
}
