//! Write-backs under way, found by their page.

use flashlane_engine::{NONE, Slab};

use crate::transaction::Transaction;

/// Chains that a cache has at least and at most.
const CHAINS: std::ops::RangeInclusive<u64> = 16..=1 << 16;

/// Every write-back under way is in one chain, which the low bits of its page name: pages side by side are in
/// different ones. The links of the chains are in the transactions.
#[derive(Clone, Debug)]
pub(super) struct WriteBacks {
    /// The newest write-back of each chain, or [`NONE`]. A power of two of them.
    newest: Box<[u32]>,
}

impl WriteBacks {
    /// Nothing under way, in a cache of so many pages.
    pub(super) fn new(pages: u64) -> Self {
        let chains = pages.clamp(*CHAINS.start(), *CHAINS.end()).next_power_of_two();
        Self { newest: vec![NONE; chains as usize].into() }
    }

    fn chain(&mut self, lpa: u32) -> &mut u32 {
        let last = self.newest.len() - 1;
        &mut self.newest[lpa as usize & last]
    }

    /// The newest write-back of the chain of a page. The chain has other pages, too.
    pub(super) fn first(&mut self, lpa: u32) -> u32 {
        *self.chain(lpa)
    }

    /// A write-back starts.
    pub(super) fn add(&mut self, id: u32, transactions: &mut Slab<Transaction>) {
        let tr = &mut transactions[id];
        let next = std::mem::replace(self.chain(tr.lpa), id);
        (tr.previous_write_back, tr.next_write_back) = (NONE, next);
        if next != NONE {
            transactions[next].previous_write_back = id;
        }
    }

    /// A write-back is over.
    pub(super) fn remove(&mut self, tr: &Transaction, transactions: &mut Slab<Transaction>) {
        let (previous, next) = (tr.previous_write_back, tr.next_write_back);
        if previous == NONE {
            *self.chain(tr.lpa) = next;
        } else {
            transactions[previous].next_write_back = next;
        }
        if next != NONE {
            transactions[next].previous_write_back = previous;
        }
    }

    /// Checks that the chains have these write-backs, each once.
    pub(super) fn audit(&self, under_way: &[u32], transactions: &Slab<Transaction>) {
        let mut found = 0;
        for (chain, &newest) in self.newest.iter().enumerate() {
            let (mut previous, mut id) = (NONE, newest);
            while id != NONE {
                let tr = &transactions[id];
                assert_eq!(tr.lpa as usize & (self.newest.len() - 1), chain, "in its chain");
                assert_eq!(tr.previous_write_back, previous, "a chain can be followed both ways");
                found += 1;
                assert!(found <= under_way.len(), "a chain has an end");
                (previous, id) = (id, tr.next_write_back);
            }
        }
        assert_eq!(found, under_way.len(), "every write-back under way is in a chain");
    }
}
