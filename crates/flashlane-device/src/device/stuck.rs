//! A drive that cannot finish its work: flows that starve, and the error that names what waits for
//! what.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashlane_units::{FlowId, PlaneId};

use super::Device;
use crate::host::{STARVATION, has_starved};
use crate::interface::sata::Sata;
use crate::transaction::Place;
use flashlane_reading::Error;

/// Most flows that the error lists.
const FLOWS_SHOWN: usize = 32;

impl Device {
    /// Makes the system end with an error soon after `stop` becomes true.
    pub fn with_stop(self, stop: Option<Arc<AtomicBool>>) -> Self {
        Self { stop, ..self }
    }

    /// Notes flows without progress while the device works for other flows; that is a result, not
    /// an error.
    ///
    /// # Errors
    ///
    /// If no flow makes progress although the device works on.
    pub(super) fn check_starvation(&mut self) -> Result<(), Error> {
        let others_go_on = self.host.completed_since(self.context.now.saturating_sub(STARVATION));
        if !others_go_on {
            return self.check_progress();
        }
        let idle: Vec<FlowId> = self.host.idle_flows(self.context.now).collect();
        for flow in idle {
            if !self.host.is_starved(flow) && self.starves(flow) {
                self.host.note_starved(flow);
            }
        }
        Ok(())
    }

    /// True if a request of the flow has waited for [`STARVATION`].
    fn starves(&self, flow: FlowId) -> bool {
        let sata = self.interface.sata();
        let queued = sata.map_or_else(BTreeSet::new, Sata::queued);
        // SATA has one queue for all flows. A command in it waits for earlier commands, however
        // long that takes. Where rates are limited, a command waits to be fetched as long as its
        // limit says.
        let limited = self.interface.nvme().is_limited() || self.host.limits(flow);
        let oldest = self
            .context
            .requests
            .iter()
            .filter(|&(id, r)| r.flow == flow && !queued.contains(&id))
            // Until it is fetched, `fetched` is its arrival.
            .filter(|(_, r)| !limited || r.fetched > r.arrival)
            .map(|(_, r)| match (sata.is_some(), limited) {
                (true, _) => r.enqueued,
                (false, true) => r.fetched,
                (false, false) => r.arrival,
            })
            .min();
        oldest.is_some_and(|since| has_starved(since, self.context.now))
    }

    /// Fails if no request has completed for [`STARVATION`] and one has waited as long.
    fn check_progress(&self) -> Result<(), Error> {
        match self.host.idle_flows(self.context.now).find(|&flow| self.starves(flow)) {
            None => Ok(()),
            Some(flow) => Err(self.stuck(&format!(
                "no request has completed for {} s of simulated time although the device works on, \
                 one of flow {flow} has waited as long",
                STARVATION.0 / 1_000_000_000_000
            ))),
        }
    }

    /// The error that names the requests that cannot finish, and what they wait for.
    pub fn stuck(&self, why: &str) -> Error {
        let mut lines = vec![format!(
            "the device cannot finish the work at {}: {why}; {} of {} requests are outstanding",
            self.context.now,
            self.context.requests.len(),
            self.host.flows().map(|flow| flow.submitted()).sum::<u64>()
        )];
        let mut waiting = self.context.transactions.iter().map(|(_, tr)| tr);
        if let Some(tr) = waiting.find(|tr| tr.place == Place::FreeBlock) {
            lines.push(format!(
                "  plane {} is full: it has no block for writes, and collection finds none",
                tr.plane
            ));
        }
        for (id, request) in self.context.requests.iter().take(8) {
            let waits = self.context.transactions.iter().find(|(_, tr)| tr.request == id);
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
        let in_device = |queue| self.interface.nvme().in_device(queue);
        for (index, flow) in self.host.flows().enumerate().take(FLOWS_SHOWN) {
            lines.push(format!(
                "  flow {index}: {} generated, {} completed, {} in the device",
                flow.submitted(),
                flow.completed(),
                self.host.queues_of(FlowId::at(index)).map(in_device).sum::<u32>()
            ));
        }
        let more = self.host.flows().len().saturating_sub(FLOWS_SHOWN);
        if more > 0 {
            lines.push(format!("  and {more} more flows"));
        }
        Error::Stuck(lines.join("\n"))
    }
}
