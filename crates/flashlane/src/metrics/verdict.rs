//! Whether the numbers of a run can be trusted: the sentences that every report prints first.

use super::summary::{FlowSummary, Summary};

/// Flows that the verdict names; it counts the others.
const NAMED: usize = 4;

impl Summary {
    /// What has to be known before any other number of the run: flows that the drive does not keep up with,
    /// and flows without a request in the window. Empty where there are none. Text, reports, Python and
    /// comparisons print the same words.
    #[must_use]
    pub fn verdict(&self) -> Vec<String> {
        let flows: Vec<&FlowSummary> = self.flows.iter().filter(|flow| flow.saturated).collect();
        let mut verdict = if flows.is_empty() { Vec::new() } else { saturation(&flows) };
        let silent = self.flows.iter().filter(|flow| flow.requests.all() == 0);
        let silent: Vec<String> = silent.map(|flow| flow.name.clone()).collect();
        if !silent.is_empty() {
            verdict.push(format!(
                "No request of {} arrived inside the window: the figures of {} are empty.",
                list(&silent),
                if silent.len() == 1 { "this flow" } else { "these flows" },
            ));
        }
        verdict
    }
}

/// The flows that the drive does not keep up with, and what that means.
fn saturation(flows: &[&FlowSummary]) -> Vec<String> {
    let each = |flow: &&FlowSummary| {
        // The window is the whole run.
        if flow.backlog_at_end == 0 {
            let piles = "its requests pile up until its load ends";
            return format!("{} ({piles}; the window contains the time after that)", flow.name);
        }
        format!(
            "{} (offered {} IOPS, completed {} IOPS, {} requests not complete at the end of the \
             window)",
            flow.name,
            grouped(flow.offered_iops),
            grouped(flow.iops),
            grouped(flow.backlog_at_end as f64),
        )
    };
    let named: Vec<String> = flows.iter().map(each).collect();
    let (flow, these) =
        if flows.len() == 1 { ("flow", "this flow") } else { ("flows", "these flows") };
    vec![
        format!("Saturated: the drive does not keep up with {flow} {}.", list(&named)),
        format!(
            "Latencies and slowdowns of {these} grow with the length of the run and say nothing about \
             the drive."
        ),
    ]
}

/// `a, b and c`; of many, the first ones and the number of the others.
fn list(items: &[String]) -> String {
    let named = &items[..items.len().min(NAMED)];
    let more = match items.len().saturating_sub(NAMED) {
        0 => None,
        1 => Some("1 more flow".to_owned()),
        more => Some(format!("{more} more flows")),
    };
    let (last, first) = match (&more, named) {
        (Some(more), _) => (more, named),
        (None, [first @ .., last]) => (last, first),
        (None, []) => return String::new(),
    };
    if first.is_empty() { last.clone() } else { format!("{} and {last}", first.join(", ")) }
}

/// A number without decimals from 100 on, thousands apart.
fn grouped(value: f64) -> String {
    if value < 100.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::summary::RequestCounts;

    fn flow(name: &str, saturated: bool) -> FlowSummary {
        FlowSummary {
            name: name.to_owned(),
            offered_iops: 200_000.0,
            iops: 36_123.4,
            backlog_at_end: 16_400,
            saturated,
            requests: RequestCounts { read: 1, ..RequestCounts::default() },
            ..FlowSummary::default()
        }
    }

    #[test]
    fn the_flows_that_the_drive_does_not_keep_up_with_are_named() {
        let verdict = |flows| Summary { flows, ..Summary::default() }.verdict();
        assert!(verdict(vec![flow("a", false)]).is_empty());
        let one = verdict(vec![flow("a", true), flow("b", false)]);
        assert_eq!(
            one[0],
            "Saturated: the drive does not keep up with flow a (offered 200,000 IOPS, completed 36,123 \
             IOPS, 16,400 requests not complete at the end of the window)."
        );
        let many = verdict((0..6).map(|index| flow(&format!("f{index}"), true)).collect());
        assert!(
            many[0].contains("flows f0 (") && many[0].ends_with(" and 2 more flows."),
            "{many:?}"
        );
        assert!(!many[0].contains("f4"));
        let silent = FlowSummary { name: "late".to_owned(), ..FlowSummary::default() };
        let found = verdict(vec![flow("b", false), silent]);
        assert_eq!(
            found,
            ["No request of late arrived inside the window: the figures of this flow are empty."]
        );
    }

    #[test]
    fn numbers_are_grouped() {
        let found = [0.0, 7.0, 2.5, 99.99, 999.0, 1_000.0, 1_234_567.8].map(grouped);
        assert_eq!(found, ["0", "7", "2.50", "99.99", "999", "1,000", "1,234,568"]);
    }
}
