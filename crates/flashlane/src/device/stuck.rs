//! A drive that cannot finish its work: flows that starve, and the error that says what waits for
//! what.

use std::collections::BTreeSet;

use flashlane_units::{FlowId, PlaneId};

use super::Device;
use crate::error::Error;
use crate::host::{STARVATION, has_starved};
use crate::interface::sata::Sata;

/// Flows that the error lists.
const FLOWS_SHOWN: usize = 32;

impl Device {
    /// Fails where a flow gets nothing done although the device works on.
    pub(super) fn check_starvation(&self) -> Result<(), Error> {
        for flow in self.host.idle_flows(self.now) {
            let sata = self.interface.sata();
            let queued = sata.map_or_else(BTreeSet::new, Sata::queued);
            // SATA has one queue for all flows. A command in it waits for those before it, however
            // long that takes.
            let oldest = self
                .requests
                .iter()
                .filter(|&(id, r)| r.flow == flow && !queued.contains(&id))
                .map(|(_, r)| if sata.is_some() { r.enqueued } else { r.arrival })
                .min();
            if oldest.is_some_and(|since| has_starved(since, self.now)) {
                return Err(self.stuck(&format!(
                    "flow {flow} has had no completion for {} s of simulated time while the device \
                     works for others",
                    STARVATION.0 / 1_000_000_000_000
                )));
            }
        }
        Ok(())
    }

    /// The error that says which requests cannot finish, and what they wait for.
    pub(crate) fn stuck(&self, why: &str) -> Error {
        let mut lines = vec![format!(
            "the device cannot finish the work at {}: {why}; {} of {} requests are outstanding",
            self.now,
            self.requests.len(),
            self.host.flows().map(|flow| flow.submitted()).sum::<u64>()
        )];
        for (id, request) in self.requests.iter().take(8) {
            let waits = self.transactions.iter().find(|(_, tr)| tr.request == id);
            let place = waits.map_or_else(
                || "in the host interface or the cache".to_owned(),
                |(_, tr)| {
                    let plane =
                        if tr.plane == PlaneId::NONE { "-".into() } else { tr.plane.to_string() };
                    format!(
                        "{:?} {:?} of page {} at {:?}, plane {plane}",
                        tr.source, tr.op, tr.lpa, tr.place
                    )
                },
            );
            lines.push(format!(
                "  flow {} {:?} sector {} + {}, arrived {}: {place}",
                request.flow, request.op, request.sector, request.sectors, request.arrival
            ));
        }
        if let Some(sata) = self.interface.sata() {
            let (taken, waiting) = (sata.tags_taken(), sata.waiting());
            lines.push(format!("  {taken} tags in use, {waiting} commands wait for one"));
        }
        for (index, flow) in self.host.flows().enumerate().take(FLOWS_SHOWN) {
            lines.push(format!(
                "  flow {index}: {} generated, {} completed, {} in the device",
                flow.submitted(),
                flow.completed(),
                self.interface.nvme().in_device(FlowId::at(index))
            ));
        }
        let more = self.host.flows().len().saturating_sub(FLOWS_SHOWN);
        if more > 0 {
            lines.push(format!("  and {more} more flows"));
        }
        Error::Stuck(lines.join("\n"))
    }
}
