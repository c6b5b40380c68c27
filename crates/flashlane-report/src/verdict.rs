//! The sentences at the top of a page: who suffers, by how much, and who causes it.

use flashlane::metrics::{FlowSummary, Summary};
use flashlane::observe::Blame;

/// Slowdowns below this are not worth a word.
const NOTICEABLE: f64 = 1.1;

/// What the first screen says of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The flow that suffers most; none where nobody does.
    pub(crate) sufferer: Option<String>,
    /// What happened, in one sentence.
    pub(crate) headline: String,
    /// Who caused it, in one sentence; or how to find out.
    pub(crate) cause: String,
}

/// A culprit and what it did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Culprit {
    pub(crate) name: String,
    /// Its share of the waiting of the victim. Range: 0..=1.
    pub(crate) share: f64,
    /// The cause with most of it, and its share of what the culprit is charged with.
    pub(crate) cause: String,
}

/// Who but itself keeps a flow waiting most; none where nobody else does.
pub(crate) fn culprit_of(blame: &Blame, victim: &str) -> Option<Culprit> {
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
pub(crate) fn of(summary: &Summary, blame: Option<&Blame>) -> Verdict {
    if summary.flows.len() < 2 {
        return alone(summary, blame);
    }
    if summary.flows.iter().all(|flow| flow.saturated) {
        return overloaded();
    }
    // Latencies and slowdowns of saturated flows depend on the length of the run.
    let sound = || summary.flows.iter().filter(|flow| !flow.saturated);
    let worst = sound()
        .filter_map(|flow| Some((flow, flow.slowdown?)))
        .reduce(|worst, one| if one.1 > worst.1 { one } else { worst });
    let others = if summary.saturated { " that the drive keeps up with" } else { "" };
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
                "How much they slow each other down: run with --alone; who does it: with --blame."
                    .to_owned(),
        },
    }
}

/// Every flow is saturated: no slowdown says anything.
fn overloaded() -> Verdict {
    Verdict {
        sufferer: None,
        headline: "The drive does not keep up with any tenant.".to_owned(),
        cause: "To see who suffers and by how much, run with a load that the drive keeps up with."
            .to_owned(),
    }
}

fn alone(summary: &Summary, blame: Option<&Blame>) -> Verdict {
    let Some(flow) = summary.flows.first() else {
        return Verdict { sufferer: None, headline: "No tenant.".to_owned(), cause: String::new() };
    };
    let headline = if flow.saturated {
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
        return "Who causes it: run with --blame.".to_owned();
    };
    match culprit_of(blame, &flow.name) {
        Some(Culprit { name, share, cause }) => format!(
            "{name} causes {:.0} % of its waiting, most of that by {}.",
            share * 100.0,
            crate::words::cause(&cause)
        ),
        None => "It waits for nobody but itself.".to_owned(),
    }
}

/// The share of the time of a flow's requests in which they wait for others, and for whom most.
fn share_of_others<'a>(
    flow: &'a FlowSummary,
    blame: &Blame,
) -> Option<(&'a FlowSummary, f64, Culprit)> {
    let culprit = culprit_of(blame, &flow.name)?;
    let row = blame.victims.iter().find(|row| row.flow == flow.name)?;
    let others = row.cells.iter().filter(|cell| cell.culprit != flow.name);
    let ps = others.map(|cell| cell.ps as f64).sum::<f64>();
    Some((flow, ps / (row.end_to_end_ps as f64).max(1.0), culprit))
}

/// Without runs alone: who waits most for others, as a share of its time.
fn by_blame(summary: &Summary, blame: &Blame) -> Verdict {
    let worst = summary
        .flows
        .iter()
        .filter(|flow| !flow.saturated)
        .filter_map(|flow| share_of_others(flow, blame))
        .reduce(|worst, one| if one.1 > worst.1 { one } else { worst });
    match worst {
        Some((flow, share, culprit)) => Verdict {
            sufferer: Some(flow.name.clone()),
            headline: format!(
                "{} waits most for others: {:.0} % of the time of its requests.",
                flow.name,
                share * 100.0
            ),
            cause: format!(
                "{} causes {:.0} % of its waiting, most of that by {}.",
                culprit.name,
                culprit.share * 100.0,
                crate::words::cause(&culprit.cause)
            ),
        },
        None => Verdict {
            sufferer: None,
            headline: if summary.saturated {
                "No tenant that the drive keeps up with waits for another.".to_owned()
            } else {
                "No tenant waits for another.".to_owned()
            },
            cause: String::new(),
        },
    }
}
