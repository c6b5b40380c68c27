//! Flows that write parts of pages, so that the drive has to read before it writes.

use super::summary::{FlowSummary, Summary};

/// Share of read-modify-writes in a flow's page writes above which a sentence names them.
const NAMED_ABOVE: f64 = 0.01;

impl FlowSummary {
    /// Share of the flow's page writes that bring only a part of a page, so that the rest is read
    /// first; `None` if the flow writes no page. Range: 0..=1, except for writes whose read is
    /// inside the window and whose program is after it.
    #[must_use]
    pub fn read_modify_write_share(&self) -> Option<f64> {
        (self.page_writes > 0).then(|| self.read_modify_writes as f64 / self.page_writes as f64)
    }
}

impl Summary {
    /// A sentence for each flow with more than 1 % of read-modify-writes among its page writes.
    /// With several seeds, the summary of the means covers all of them.
    #[must_use]
    pub fn partial_writes(&self) -> Vec<String> {
        let sentence = |flow: &FlowSummary| {
            let share = flow.read_modify_write_share().filter(|share| *share > NAMED_ABOVE)?;
            Some(format!(
                "Read-modify-writes: {:.0} % of the page writes of {} bring part of a page, and the rest is read first \
                 (sizes, align and flash.page_size decide).",
                100.0 * share.min(1.0),
                flow.name,
            ))
        };
        self.flows.iter().filter_map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_above_one_percent_are_named() {
        let flow = |name: &str, page_writes, read_modify_writes| FlowSummary {
            name: name.to_owned(),
            page_writes,
            read_modify_writes,
            ..FlowSummary::default()
        };
        let flows = vec![flow("reader", 0, 0), flow("few", 1000, 10), flow("many", 1000, 500)];
        let found = Summary { flows, ..Summary::default() }.partial_writes();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("Read-modify-writes: 50 % of the page writes of many "));
    }
}
