//! The matrix that the accounts come to.

use super::account::Account;
use super::{Blame, BlameCause, BlameCell, BlameVictim, DEVICE, SCHEMA};
use crate::cause::{CAUSES, DOCS};

impl Account {
    /// Checks that nothing is charged that was no wait, and nothing left out.
    pub(crate) fn audit(&self) {
        let cells = self.matrix.len() / self.flows;
        for (flow, victim) in self.victims.iter().enumerate() {
            let charged: u128 = self.matrix[flow * cells..][..cells].iter().sum();
            let places = self.rooms.iter().chain(&self.fetch).chain(&self.host);
            let places = places.chain([&self.arbitration, &self.link, &self.firmware]);
            let owed: u128 = places.map(|places| places.owed(flow)).sum();
            let owed = owed + self.flash[flow].counted;
            assert_eq!(charged + owed, victim.waiting, "flow {flow}: blame sums to the waiting");
        }
    }

    /// The matrix, after the last block.
    pub(crate) fn report(&self, names: &[String]) -> Blame {
        let cells = self.matrix.len() / self.flows;
        let victims = (0..self.flows).map(|flow| {
            let row = &self.matrix[flow * cells..][..cells];
            let mut found: Vec<usize> = (0..cells).filter(|&cell| row[cell] > 0).collect();
            found.sort_by_key(|&cell| (std::cmp::Reverse(row[cell]), cell));
            let victim = &self.victims[flow];
            let named = |cell: usize| BlameCell {
                culprit: names.get(cell / CAUSES).map_or(DEVICE, String::as_str).to_owned(),
                cause: DOCS[cell % CAUSES].0.to_owned(),
                ps: row[cell],
            };
            BlameVictim {
                flow: names[flow].clone(),
                requests: victim.requests,
                end_to_end_ps: victim.end_to_end,
                service_ps: victim.end_to_end - victim.waiting,
                waiting_ps: victim.waiting,
                cells: found.into_iter().map(named).collect(),
            }
        });
        let cause = |&(name, doc): &(&str, &str)| BlameCause { name: name.into(), doc: doc.into() };
        Blame {
            schema: SCHEMA.to_owned(),
            flows: names.to_vec(),
            causes: DOCS.iter().map(cause).collect(),
            victims: victims.collect(),
        }
    }
}
