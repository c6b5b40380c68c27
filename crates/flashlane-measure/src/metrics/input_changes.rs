//! Changes to the records of a trace on their way to the drive.

use super::summary::{FlowSummary, Summary};

/// Share of a flow's records above which there is a warning.
const WARNED_ABOVE: f64 = 0.01;

impl FlowSummary {
    /// Counts of requests and lines that were not replayed unchanged, with a description of each
    /// change.
    #[must_use]
    pub fn input_changes(&self) -> Vec<(String, u64)> {
        let own = [
            ("wrapped into the flow's space", self.wrapped_requests),
            ("dropped beyond the flow's space", self.clipped_requests),
            ("split above the drive's largest transfer", self.split_requests),
        ];
        let own = own.into_iter().map(|(what, count)| (what.to_owned(), count));
        let lines = self.rejected_lines.iter().map(|(what, count)| (what.clone(), *count));
        own.chain(lines).filter(|(_, count)| *count > 0).collect()
    }

    /// Number of records of the flow's trace that were wrapped, dropped, split, delayed or
    /// rejected.
    fn changed(&self) -> u64 {
        let own = self.wrapped_requests + self.clipped_requests + self.split_requests;
        own + self.changed_records
    }
}

impl Summary {
    /// A warning for each flow of which more than 1 % of the trace is not replayed unchanged.
    #[must_use]
    pub fn input_warnings(&self) -> Vec<String> {
        let warning = |flow: &FlowSummary| {
            let (changed, records) = (flow.changed(), flow.trace_records);
            if records == 0 || changed as f64 <= WARNED_ABOVE * records as f64 {
                return None;
            }
            let share = 100.0 * changed.min(records) as f64 / records as f64;
            let kinds = flow.input_changes();
            let kinds: Vec<String> =
                kinds.iter().map(|(what, count)| format!("{count} {what}")).collect();
            Some(format!(
                "Warning: {share:.1} % of the {records} records of flow {}'s trace were not replayed as they \
                 are: {}.",
                flow.name,
                kinds.join(", ")
            ))
        };
        self.flows.iter().filter_map(warning).collect()
    }

    /// Changes to the trace of each flow: counts, then the first lines with the reason.
    #[must_use]
    pub fn input_changes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for flow in &self.flows {
            let kinds = flow.input_changes();
            for (what, count) in kinds {
                lines.push(format!("input of {}: {count} {what}", flow.name));
            }
            lines.extend(flow.named_lines.iter().map(|line| format!("  {line}")));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(wrapped_requests: u64, changed_records: u64) -> Summary {
        let flow = FlowSummary {
            name: "a".to_owned(),
            trace_records: 1000,
            wrapped_requests,
            changed_records,
            rejected_lines: [("length 0".to_owned(), changed_records)].into(),
            named_lines: vec!["line 3: far".to_owned()],
            ..FlowSummary::default()
        };
        Summary { flows: vec![flow], ..Summary::default() }
    }

    #[test]
    fn more_than_one_percent_is_a_warning() {
        assert_eq!(summary(5, 5).input_warnings(), [""; 0]);
        let expected = "Warning: 1.1 % of the 1000 records of flow a's trace were not replayed as they are: 5 wrapped \
                        into the flow's space, 6 length 0.";
        assert_eq!(summary(5, 6).input_warnings(), [expected]);
    }

    #[test]
    fn counts_stand_above_the_lines() {
        let expected = [
            "input of a: 1 wrapped into the flow's space",
            "input of a: 2 length 0",
            "  line 3: far",
        ];
        assert_eq!(summary(1, 2).input_changes(), expected);
        assert_eq!(Summary::default().input_changes(), [""; 0]);
    }
}
