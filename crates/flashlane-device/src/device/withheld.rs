//! With `compat.scan_at_once` and a mapping cache: reads of translation pages are sent before the
//! other pages of their request.

use flashlane_units::{RequestId, TransactionId};

use super::Device;
use crate::config::DeviceConfig;
use crate::transaction::Source;

/// Lists of pages are used only where there are some.
const PRESENT: &str = "pages may be withheld";

/// The pages of a request that are ready while the rest of it is looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct Withheld {
    /// True while the pages of a request are looked up.
    looks_up: bool,
    pages: Vec<TransactionId>,
}

impl Withheld {
    /// False where everything that becomes ready in an event is sent together.
    pub(super) fn any(device: &DeviceConfig) -> bool {
        device.compat.scan_at_once && device.ftl.mapping.is_cached()
    }
}

impl Device {
    /// A request begins. Where pages are withheld, those that are ready wait from now on until all
    /// are looked up, while reads of translation pages are sent one by one.
    #[cold]
    pub(super) fn attend_begin(&mut self, id: RequestId) {
        if self.observer.is_some() {
            self.observe_begin(id);
        }
        if self.withheld.is_none() {
            return;
        }
        self.queue_lone();
        let withheld = self.withheld.as_mut().expect(PRESENT);
        assert!(!withheld.looks_up && withheld.pages.is_empty(), "one request at a time: {id}");
        withheld.looks_up = true;
    }

    /// All pages of the request are looked up: those that are ready enter their queues.
    #[cold]
    pub(super) fn release_pages(&mut self) {
        let Some(withheld) = &mut self.withheld else { return };
        withheld.looks_up = false;
        let mut pages = std::mem::take(&mut withheld.pages);
        for page in pages.drain(..) {
            let (scheduler, mut at) = self.scheduling();
            scheduler.enlist(&mut at, page);
        }
        self.withheld.as_mut().expect(PRESENT).pages = pages;
    }

    /// Keeps a page that became ready out of the queues for now, or sends the read of a translation
    /// page at once. False if it goes the usual way, as the work of collection does.
    pub(super) fn withhold(&mut self, id: TransactionId, source: Source) -> bool {
        let Some(withheld) = self.withheld.as_mut().filter(|withheld| withheld.looks_up) else {
            return false;
        };
        match source {
            Source::Gc => return false,
            Source::User | Source::Cache => withheld.pages.push(id),
            Source::Mapping => {
                let (scheduler, mut at) = self.scheduling();
                scheduler.enlist(&mut at, id);
                self.dispatch_offered();
            }
        }
        true
    }
}
