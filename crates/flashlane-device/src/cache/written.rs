//! The pages that were ever written, with `compat.cache_fills_written`: reads of others fill one
//! place of the data cache, as in the released MQSim.

use flashlane_units::{FlowId, Lpa};

use super::Cache;

/// A set of logical pages. Memory: a bit for each page up to the highest in the set.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenPages {
    words: Vec<u64>,
}

impl WrittenPages {
    /// Adds a page.
    pub(super) fn add(&mut self, lpa: Lpa) {
        let (word, bit) = place(lpa);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    /// True if the page was added.
    pub(super) fn contains(&self, lpa: Lpa) -> bool {
        let (word, bit) = place(lpa);
        self.words.get(word).is_some_and(|word| word >> bit & 1 != 0)
    }
}

impl Cache {
    /// True if data that the flow reads from flash stays in the cache.
    #[inline]
    pub(crate) fn fills_on_read(&self, flow: FlowId) -> bool {
        self.modes[flow].fills_on_read()
    }

    /// The page under which such data stays. All pages that were never written are one there.
    pub(crate) fn page_to_fill(&self, flow: FlowId, lpa: Lpa) -> Lpa {
        match &self.written {
            Some(pages) if !pages.contains(lpa) => never_written(flow),
            _ => lpa,
        }
    }

    /// True if data of the page that is read from flash costs no time of the memory.
    pub(super) fn fills_for_nothing(&mut self, flow: FlowId, lpa: Lpa) -> bool {
        self.written.is_some() && self.slots(flow).contains(lpa)
    }

    /// Notes the pages that are on flash before the run, where that matters later. `holds`: whether
    /// a page is.
    pub(crate) fn data_lies_on_flash(
        &mut self,
        pages: impl Iterator<Item = Lpa>,
        holds: impl Fn(Lpa) -> bool,
    ) {
        if let Some(written) = &mut self.written {
            pages.filter(|&lpa| holds(lpa)).for_each(|lpa| written.add(lpa));
        }
    }

    /// Notes that a page is written, where that matters later.
    #[inline]
    pub(super) fn note_written(&mut self, lpa: Lpa) {
        if let Some(pages) = &mut self.written {
            pages.add(lpa);
        }
    }
}

/// The page of a flow that stands for all that were never written. It lies behind the logical pages
/// of any drive.
fn never_written(flow: FlowId) -> Lpa {
    Lpa::new(Lpa::NONE.get() - 1 - u32::from(flow.get()))
}

/// The word of a page, and its bit there.
fn place(lpa: Lpa) -> (usize, u32) {
    ((lpa.get() / u64::BITS) as usize, lpa.get() % u64::BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_the_set_once_it_was_added() {
        let mut pages = WrittenPages::default();
        for page in [3, 64, 200] {
            assert!(!pages.contains(Lpa::new(page)));
            pages.add(Lpa::new(page));
        }
        let found: Vec<u32> = (0..300).filter(|&page| pages.contains(Lpa::new(page))).collect();
        assert_eq!(found, [3, 64, 200]);
    }
}
