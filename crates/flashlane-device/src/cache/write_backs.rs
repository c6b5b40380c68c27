//! Write-backs under way, found by their page.

use flashlane_units::{FlowId, Lpa, Ppa, TransactionId};

use super::Cache;
use crate::transaction::{Transaction, Transactions};

/// Least and largest number of chains of a cache.
const CHAINS: std::ops::RangeInclusive<u64> = 16..=1 << 16;

/// The write-backs under way, in chains. The low bits of a page name its chain, so that
/// neighbouring pages are in different chains. The links of the chains are in the transactions.
#[derive(Clone, Debug)]
pub(super) struct WriteBacks {
    /// The newest write-back of each chain, or [`NONE`]. The number of chains is a power of two.
    newest: Box<[TransactionId]>,
}

impl WriteBacks {
    /// No write-backs, in a cache of `pages` pages.
    pub(super) fn new(pages: u64) -> Self {
        let chains = pages.clamp(*CHAINS.start(), *CHAINS.end()).next_power_of_two();
        Self { newest: vec![TransactionId::NONE; chains as usize].into() }
    }

    fn chain(&mut self, lpa: Lpa) -> &mut TransactionId {
        let last = self.newest.len() - 1;
        &mut self.newest[lpa.index() & last]
    }

    /// The newest write-back in the chain of a page. The chain may hold other pages as well.
    pub(super) fn first(&mut self, lpa: Lpa) -> TransactionId {
        *self.chain(lpa)
    }

    /// A write-back starts.
    pub(super) fn add(&mut self, id: TransactionId, transactions: &mut Transactions) {
        let tr = &mut transactions[id];
        let next = std::mem::replace(self.chain(tr.lpa), id);
        (tr.previous_write_back, tr.next_write_back) = (TransactionId::NONE, next);
        if next != TransactionId::NONE {
            transactions[next].previous_write_back = id;
        }
    }

    /// A write-back is over.
    pub(super) fn remove(&mut self, tr: &Transaction, transactions: &mut Transactions) {
        let (previous, next) = (tr.previous_write_back, tr.next_write_back);
        if previous == TransactionId::NONE {
            *self.chain(tr.lpa) = next;
        } else {
            transactions[previous].next_write_back = next;
        }
        if next != TransactionId::NONE {
            transactions[next].previous_write_back = previous;
        }
    }

    /// Checks that the chains hold exactly these write-backs, each once.
    pub(super) fn audit(&self, under_way: &[TransactionId], transactions: &Transactions) {
        let mut found = 0;
        for (chain, &newest) in self.newest.iter().enumerate() {
            let (mut previous, mut id) = (TransactionId::NONE, newest);
            while id != TransactionId::NONE {
                let tr = &transactions[id];
                assert_eq!(tr.lpa.index() & (self.newest.len() - 1), chain, "in its chain");
                assert_eq!(tr.previous_write_back, previous, "a chain can be followed both ways");
                found += 1;
                assert!(found <= under_way.len(), "a chain has an end");
                (previous, id) = (id, tr.next_write_back);
            }
        }
        assert_eq!(found, under_way.len(), "every write-back under way is in a chain");
    }
}

impl Cache {
    /// Removes trimmed sectors from the cache, and from those write-backs of the page that have no
    /// place on flash yet; otherwise they would bring the sectors back. The trimmed sectors count
    /// for the bound until their write-back is over.
    pub(crate) fn trim(
        &mut self,
        flow: FlowId,
        lpa: Lpa,
        mask: u64,
        transactions: &mut Transactions,
    ) {
        self.slots(flow).trim(lpa, mask);
        let mut id = self.write_backs.first(lpa);
        while id != TransactionId::NONE {
            let tr = &mut transactions[id];
            if tr.lpa == lpa && tr.ppa == Ppa::NONE {
                let left = tr.mask() & !mask;
                tr.set_part(left, self.grain.sectors(left));
            }
            id = tr.next_write_back;
        }
    }
}

#[cfg(test)]
mod tests {
    use flashlane_engine::Slab;
    use flashlane_engine::{Rng, Time};

    use super::*;
    use crate::transaction::{Op, Source};

    /// Write-backs of a page, newest first, in the order in which a trim finds them.
    fn of_page(
        chains: &mut WriteBacks,
        lpa: Lpa,
        transactions: &Transactions,
    ) -> Vec<TransactionId> {
        let mut found = Vec::new();
        let mut id = chains.first(lpa);
        while id != TransactionId::NONE {
            if transactions[id].lpa == lpa {
                found.push(id);
            }
            id = transactions[id].next_write_back;
        }
        found
    }

    #[test]
    fn write_backs_are_found_by_their_page() {
        let (mut chains, mut transactions) = (WriteBacks::new(1), Slab::new());
        let mut rng = Rng::stream(7, "write-backs", 0);
        let mut under_way: Vec<TransactionId> = Vec::new();
        for _ in 0..5_000 {
            if under_way.len() < 60 && rng.below(2) == 0 {
                let mut tr =
                    Transaction::new(Source::Cache, Op::Program, FlowId::new(0), 0, Time::ZERO);
                // Twice as many pages as chains, so that some pages share a chain.
                tr.lpa = Lpa::new(rng.below(32) as u32);
                let id = transactions.insert(tr);
                chains.add(id, &mut transactions);
                under_way.push(id);
            } else if !under_way.is_empty() {
                let id = under_way.remove(rng.below(under_way.len() as u64) as usize);
                let tr = transactions[id];
                transactions.remove(id);
                chains.remove(&tr, &mut transactions);
            }
            chains.audit(&under_way, &transactions);
            let lpa = rng.below(32) as u32;
            let newest_first = under_way.iter().rev().copied();
            let expected: Vec<TransactionId> =
                newest_first.filter(|&id| transactions[id].lpa == Lpa::new(lpa)).collect();
            assert_eq!(of_page(&mut chains, Lpa::new(lpa), &transactions), expected);
        }
    }
}
