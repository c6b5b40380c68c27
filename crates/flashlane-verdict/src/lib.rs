//! What a run shows, in sentences: who suffers, by how much, who causes it, and what
//! could be tried.
//!
//! Reports and the playground say the same of the same numbers.

pub mod removal;
pub mod words;

use flashlane::metrics::{FlowSummary, Summary};
use flashlane::observe::Blame;

/// Slowdowns below this are not worth a word.
const NOTICEABLE: f64 = 1.1;

/// What the first screen says of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The flow that suffers most; `None` if no flow suffers.
    pub sufferer: Option<String>,
    /// What happened, in one sentence.
    pub headline: String,
    /// Who caused it, in one sentence; or how to find out.
    pub cause: String,
}

/// A culprit and what it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Culprit {
    /// Name of the flow; `device` if no flow's work is in the way.
    pub name: String,
    /// Share of the culprit in the wait of the victim. Range: 0..=1.
    pub share: f64,
    /// The cause with most of it, and its share of what the culprit is charged with.
    pub cause: String,
}

/// The other flow for which a flow waits most; `None` if it waits for no other flow.
#[must_use]
pub fn culprit_of(blame: &Blame, victim: &str) -> Option<Culprit> {
    let row = blame.victims.iter().find(|row| row.flow == victim)?;
    let total: f64 = row.cells.iter().map(|cell| cell.ps as f64).sum();
    let others = row.cells.iter().filter(|cell| cell.culprit != victim && cell.ps > 0);
    let mut sums: Vec<(&str, f64, &str, f64)> = Vec::new();
    for cell in others {
        let ps = cell.ps as f64;
        match sums.iter_mut().find(|sum| sum.0 == cell.culprit) {
            Some(sum) => {
                sum.1 += ps;
                if ps > sum.3 {
                    (sum.2, sum.3) = (&cell.cause, ps);
                }
            }
            None => sums.push((&cell.culprit, ps, &cell.cause, ps)),
        }
    }
    let most = sums.into_iter().reduce(|most, sum| if sum.1 > most.1 { sum } else { most })?;
    Some(Culprit {
        name: most.0.to_owned(),
        share: most.1 / total.max(1.0),
        cause: most.2.to_owned(),
    })
}

/// The sentences about a run.
#[must_use]
pub fn of(summary: &Summary, blame: Option<&Blame>) -> Verdict {
    if summary.flows.len() < 2 {
        return alone(summary, blame);
    }
    if summary.flows.iter().all(|flow| flow.depends_on_length()) {
        return overloaded(summary, blame);
    }
    // Latencies and slowdowns of saturated and of starving flows depend on the length of the run.
    let sound = || summary.flows.iter().filter(|flow| !flow.depends_on_length());
    let worst = sound()
        .filter_map(|flow| Some((flow, flow.slowdown?)))
        .reduce(|worst, one| if one.1 > worst.1 { one } else { worst });
    let others = if summary.depends_on_length() { " that the drive keeps up with" } else { "" };
    match (worst, blame) {
        (Some((_, slowdown)), _) if slowdown < NOTICEABLE => Verdict {
            sufferer: None,
            headline: format!(
                "No tenant{others} suffers: the largest slowdown is {slowdown:.2} times the time alone."
            ),
            cause: String::new(),
        },
        (Some((flow, slowdown)), blame) => Verdict {
            sufferer: Some(flow.name.clone()),
            headline: format!(
                "{} suffers most{}: its requests take {} times as long as with the drive to itself \
                 ({} instead of {} on average).",
                flow.name,
                if others.is_empty() { String::new() } else { format!(" of the tenants{others}") },
                crate::words::number(slowdown),
                crate::words::time(flow.end_to_end_us.mean),
                crate::words::time(flow.alone_end_to_end_us.unwrap_or_default()),
            ),
            cause: cause(flow, blame),
        },
        (None, Some(blame)) => by_blame(summary, blame),
        (None, None) => Verdict {
            sufferer: None,
            headline: format!("{} tenants share the drive.", summary.flows.len()),
            cause:
                "How much they slow each other down: run it with `alone`; who does it: with `blame`."
                    .to_owned(),
        },
    }
}

/// Every flow is saturated: no slowdown says anything. Shares of waiting still tell who is in the
/// way.
fn overloaded(summary: &Summary, blame: Option<&Blame>) -> Verdict {
    let advice =
        "To see who suffers and by how much, run with a load that the drive keeps up with.";
    let worst = blame.and_then(|blame| {
        let shares = summary.flows.iter().filter_map(|flow| share_of_others(flow, blame));
        let (flow, _) = shares.reduce(|worst, one| if one.1 > worst.1 { one } else { worst })?;
        Some(format!("{} waits most for others. {} ", flow.name, said_of(blame, &flow.name)))
    });
    Verdict {
        sufferer: None,
        headline: "The drive does not keep up with any tenant.".to_owned(),
        cause: worst.unwrap_or_default() + advice,
    }
}

fn alone(summary: &Summary, blame: Option<&Blame>) -> Verdict {
    let Some(flow) = summary.flows.first() else {
        return Verdict { sufferer: None, headline: "No tenant.".to_owned(), cause: String::new() };
    };
    let headline = if flow.depends_on_length() {
        format!("{} has the drive to itself, which does not keep up with it.", flow.name)
    } else {
        format!(
            "{} has the drive to itself: {} on average, {} at the 99th percentile.",
            flow.name,
            crate::words::time(flow.response_time_us.mean),
            crate::words::time(flow.response_time_us.p99),
        )
    };
    let own = blame.and_then(|blame| {
        let row = blame.victims.first()?;
        let cell = row.cells.iter().max_by_key(|cell| cell.ps).filter(|cell| cell.ps > 0)?;
        Some(format!("It waits mostly for {}.", crate::words::cause(&cell.cause)))
    });
    Verdict { sufferer: None, headline, cause: own.unwrap_or_default() }
}

fn cause(flow: &FlowSummary, blame: Option<&Blame>) -> String {
    let Some(blame) = blame else {
        return "Who causes it: run it with `blame`.".to_owned();
    };
    said_of(blame, &flow.name)
}

/// Whom a flow waits for, in one or two sentences: it says so where that is mostly the flow itself.
fn said_of(blame: &Blame, victim: &str) -> String {
    let Some(culprit) = culprit_of(blame, victim) else {
        return "It waits for nobody but itself.".to_owned();
    };
    let Culprit { name, share, cause } = &culprit;
    let by = format!(
        "{name} causes {:.0} % of its waiting, most of that by {}.",
        share * 100.0,
        crate::words::cause(cause)
    );
    let own = own_share(blame, victim);
    if own <= *share {
        return by;
    }
    format!("It mostly waits for its own requests ({:.0} % of its waiting). {by}", own * 100.0)
}

/// The share of its waiting that a flow causes itself. Range: 0..=1.
#[must_use]
pub fn own_share(blame: &Blame, victim: &str) -> f64 {
    let Some(row) = blame.victims.iter().find(|row| row.flow == victim) else { return 0.0 };
    let sum = |own: bool| {
        let cells = row.cells.iter().filter(|cell| !own || cell.culprit == victim);
        cells.map(|cell| cell.ps as f64).sum::<f64>()
    };
    sum(true) / sum(false).max(1.0)
}

/// Settings that could be tried for the one that suffers, by the largest cause of its waiting.
/// Empty where nothing is known. The sentence says that they were not tried: only runs show what
/// helps.
#[must_use]
pub fn remedy(summary: &Summary, blame: Option<&Blame>, victim: Option<&str>) -> String {
    if summary.starved {
        return "Not tried: another arbitration or class (interface.arbitration, priority of the \
                flow), a limit on waiting where the scheduler has one, or less load of the others. \
                flashlane advise tries what the drive can do."
            .to_owned();
    }
    if summary.saturated {
        return "Not tried: less load, or a faster drive. Where work piles up, no policy makes room \
                for it."
            .to_owned();
    }
    let found = victim
        .zip(blame)
        .and_then(|(victim, blame)| Some((culprit_of(blame, victim)?, own_share(blame, victim))));
    let Some((culprit, own)) = found else { return String::new() };
    if own > culprit.share {
        return "Not tried: a lower queue depth of its own, or more dies for it (isolation = \
                \"partitioned\" gives it chips of its own). flashlane advise tries what the drive \
                can do."
            .to_owned();
    }
    let advice = match culprit.cause.as_str() {
        "program" | "erase" if summary.scheduler == "fcfs" => {
            "a scheduler that serves reads first (out-of-order), or a fair one (flin)"
        }
        "read" | "program" | "bus" | "policy" if summary.scheduler != "flin" => {
            "a fair scheduler (flin), or chips of its own (isolation = \"partitioned\")"
        }
        "read" | "program" | "bus" | "policy" => "chips of its own (isolation = \"partitioned\")",
        "erase" => "suspension of erases (flash.suspend.erase = true)",
        "gc" | "free-block" => {
            "more over-provisioning (ftl.over_provisioning), or chips of its own"
        }
        "cache-room" | "dram" => "a part of the data cache of its own (cache.sharing)",
        "mapping" => {
            "a larger mapping cache (ftl.mapping.cmt_capacity), or parts of it for each tenant"
        }
        "arbitration" | "host-queue" | "fetch-limit" => {
            "a higher NVMe class for it (priority of the flow, interface.arbitration)"
        }
        "rate-limit" => "a looser limit of its rate (limit of the flow or of its group)",
        "retry" => "data that is moved before it has many errors (errors.refresh_at)",
        "link" => "a faster link (link.generation, link.lanes)",
        "firmware" => "more processors in the drive (interface.firmware_servers)",
        _ => return String::new(),
    };
    format!(
        "Not tried: {advice}. flashlane advise tries what the drive can do, and says by how much."
    )
}

/// The share of the time of a flow's requests in which they wait for others.
fn share_of_others<'a>(flow: &'a FlowSummary, blame: &Blame) -> Option<(&'a FlowSummary, f64)> {
    culprit_of(blame, &flow.name)?;
    let row = blame.victims.iter().find(|row| row.flow == flow.name)?;
    let others = row.cells.iter().filter(|cell| cell.culprit != flow.name);
    let ps = others.map(|cell| cell.ps as f64).sum::<f64>();
    Some((flow, ps / (row.end_to_end_ps as f64).max(1.0)))
}

/// Without runs alone: who waits most for others, as a share of its time.
fn by_blame(summary: &Summary, blame: &Blame) -> Verdict {
    let worst = summary
        .flows
        .iter()
        .filter(|flow| !flow.depends_on_length())
        .filter_map(|flow| share_of_others(flow, blame))
        .reduce(|worst, one| if one.1 > worst.1 { one } else { worst });
    match worst {
        Some((flow, share)) => Verdict {
            sufferer: Some(flow.name.clone()),
            headline: format!(
                "{} waits most for others: {:.0} % of the time of its requests.",
                flow.name,
                share * 100.0
            ),
            cause: said_of(blame, &flow.name),
        },
        None => Verdict {
            sufferer: None,
            headline: if summary.depends_on_length() {
                "No tenant that the drive keeps up with waits for another.".to_owned()
            } else {
                "No tenant waits for another.".to_owned()
            },
            cause: String::new(),
        },
    }
}
