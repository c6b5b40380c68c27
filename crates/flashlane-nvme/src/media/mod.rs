//! The drive with its data: namespaces that are read, written, trimmed and flushed.

mod counts;
mod gates;
mod queues;
mod slots;
mod store;
mod submit;
mod tenancy;
mod work;

use flashlane::config::DeviceConfig;
use flashlane::drive::{Command, Completion, DriveOptions, PlacementEvent, Refused, Tenant};
use flashlane::metrics::Summary;
use flashlane::observe::Blame;
use flashlane::{Drive, Error, Time};

pub(crate) use counts::Counts;
pub use gates::TenantLimit;
use gates::{Gates, Held};
pub use queues::Client;
pub(crate) use slots::Slots;
pub use store::{MemoryStore, Store};
pub use tenancy::Tenancy;
pub use work::{Action, Arrival, Finished, Journal, Range, WorkError};

/// Unit: bytes.
pub const SECTOR_BYTES: u64 = 512;

/// The longest trim that a drive takes as one command. Unit: sectors.
const TRIM_MAX: u64 = 8_388_608;

/// What a drive with data is made from.
#[derive(Clone, Debug)]
pub struct MediaConfig {
    /// The device.
    pub device: DeviceConfig,
    /// The tenants, which have equal shares of the drive unless they say otherwise.
    pub tenants: Vec<Tenant>,
    /// Which tenant a queue belongs to.
    pub tenancy: Tenancy,
    /// Logical block of the namespaces. Unit: bytes. Allowed: 512, 4096.
    pub block_bytes: u32,
    /// Seed of all random draws.
    pub seed: u64,
    /// Audits and blame.
    pub options: DriveOptions,
}

/// Work that is under way.
struct Pending {
    tag: u64,
    tenant: usize,
    namespace: usize,
    action: Action,
    /// Commands of the drive that are not complete.
    parts: u32,
    /// The action is over, and its flush is under way.
    flushing: bool,
    /// The drive did not accept all commands.
    refused: Option<Refused>,
}

/// A command of the drive that is under way.
struct Part {
    work: usize,
    number: u64,
}

/// A drive with data. See the page of the crate about time.
pub struct Media {
    drive: Drive,
    store: Box<dyn Store>,
    config: MediaConfig,
    /// Length of each namespace. Unit: sectors.
    namespaces: Vec<u64>,
    /// Queues of each tenant.
    queues: Vec<u32>,
    hosts: queues::Hosts,
    /// For each tenant: it has written since its last flush.
    dirty: Vec<bool>,
    work: Slots<Pending>,
    parts: Slots<Part>,
    counts: Counts,
    journals: Vec<Box<dyn Journal>>,
    gates: Gates,
    /// Commands that have entered.
    entered: u64,
    completions: Vec<Completion>,
}

impl Media {
    /// A preconditioned drive at time 0, whose data is in `store`.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::with_options`]; [`Error::Config`] for a block size that is not allowed.
    pub fn new(config: MediaConfig, store: Box<dyn Store>) -> Result<Self, Error> {
        Self::with_store(config, |_| Ok(store))
    }

    /// A preconditioned drive at time 0. `open` makes the store for a number of bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Media::new`] and of `open`.
    pub fn with_store(
        config: MediaConfig,
        open: impl FnOnce(u64) -> Result<Box<dyn Store>, Error>,
    ) -> Result<Self, Error> {
        let block = config.block_bytes;
        if block != 512 && block != 4096 {
            let message = format!("found {block} bytes, allowed: 512, 4096");
            return Err(Error::config("block size", message));
        }
        let (device, tenants) = (&config.device, &config.tenants);
        let drive = Drive::with_options(device, tenants, config.seed, &config.options)?;
        let spaces: Vec<u64> = (0..tenants.len()).map(|tenant| drive.sectors(tenant)).collect();
        let blocks = u64::from(block) / SECTOR_BYTES;
        let lengths = config.tenancy.namespaces(&spaces).into_iter();
        let namespaces: Vec<u64> = lengths.map(|sectors| sectors - sectors % blocks).collect();
        let store = open(namespaces.iter().sum::<u64>() * SECTOR_BYTES)?;
        let (queues, dirty) = (vec![0; spaces.len()], vec![false; spaces.len()]);
        let gates = Gates::new(spaces.len());
        Ok(Self {
            drive,
            store,
            namespaces,
            queues,
            hosts: queues::Hosts::default(),
            dirty,
            config,
            work: Slots::default(),
            parts: Slots::default(),
            counts: Counts::default(),
            journals: Vec::new(),
            gates,
            entered: 0,
            completions: Vec::new(),
        })
    }

    /// From now on a journal is told about every command, beside the journals so far.
    pub fn keep(&mut self, journal: Box<dyn Journal>) {
        self.journals.push(journal);
    }

    /// What the drive is made from.
    #[must_use]
    pub fn config(&self) -> &MediaConfig {
        &self.config
    }

    /// Number of namespaces; the first one is 1.
    #[must_use]
    pub fn namespaces(&self) -> u32 {
        self.namespaces.len() as u32
    }

    /// Length of a namespace; `None` if there is no such namespace. Unit: sectors.
    #[must_use]
    pub fn sectors(&self, namespace: u32) -> Option<u64> {
        let index = (namespace as usize).checked_sub(1)?;
        self.namespaces.get(index).copied()
    }

    /// The name of a namespace: that of its tenant where it has one of its own, else that of the
    /// device.
    #[must_use]
    pub fn name(&self, namespace: u32) -> &str {
        let tenant = (namespace as usize).wrapping_sub(1);
        match (self.config.tenancy, self.config.tenants.get(tenant)) {
            (Tenancy::Namespace, Some(tenant)) => &tenant.name,
            _ => &self.config.device.name,
        }
    }

    /// Number of pieces of work that are not complete.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.work.len()
    }

    /// The drive's present time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.drive.now()
    }

    /// The time of the next event (see [`Drive::next_event`]), or at which held work enters.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.drive.next_event().into_iter().chain(self.gates.next()).min()
    }

    /// Limits what a tenant gets, from `at` on. Work beyond the limit waits outside of the drive
    /// and enters it in its order; a journal is told when it enters.
    pub fn set_limit(&mut self, at: Time, tenant: usize, limit: TenantLimit) {
        self.gates.set(at, tenant, limit);
    }

    /// The limit of a tenant.
    #[must_use]
    pub fn limit(&self, tenant: usize) -> TenantLimit {
        self.gates.limit(tenant)
    }

    /// Pieces of work of a tenant that its limit holds back.
    #[must_use]
    pub fn held_back(&self, tenant: usize) -> usize {
        self.gates.waiting(tenant)
    }

    /// Handles all events up to and including `until`, and adds what is over to `finished`.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::advance`].
    pub fn advance(&mut self, until: Time, finished: &mut Vec<Finished>) -> Result<(), Error> {
        while let Some(at) = self.next_event().filter(|&at| at <= until) {
            self.drive.advance(at, &mut self.completions)?;
            for completion in std::mem::take(&mut self.completions) {
                self.part_done(&completion, finished);
            }
            self.gates.reach(at);
            while let Some(held) = self.gates.take(at) {
                self.enter_held(at, &held, finished);
            }
        }
        Ok(())
    }

    /// Work that was held back enters the drive.
    fn enter_held(&mut self, at: Time, held: &Held, finished: &mut Vec<Finished>) {
        let Some(tag) = self.work.get_mut(held.work).map(|pending| pending.tag) else { return };
        if let Err(error) = self.enter(at, held.work, &held.commands) {
            self.over(at, tag, Err(error), finished);
        }
    }

    fn part_done(&mut self, completion: &Completion, finished: &mut Vec<Finished>) {
        let Some(part) = self.parts.remove(completion.cookie as usize) else { return };
        for journal in &mut self.journals {
            journal.completed(part.number, completion);
        }
        let Some(pending) = self.work.get_mut(part.work) else { return };
        let tag = pending.tag;
        pending.parts -= 1;
        if pending.parts > 0 {
            return;
        }
        if pending.action.is_durable() && !pending.flushing && pending.refused.is_none() {
            pending.flushing = true;
            let flush = [(pending.tenant, Command::flush())];
            // Without a part under way, a refused flush removes the work and says so.
            match self.enter(completion.at(), part.work, &flush) {
                Ok(()) => return,
                Err(error) => return self.over(completion.at(), tag, Err(error), finished),
            }
        }
        if let Some(pending) = self.work.remove(part.work) {
            let outcome = match pending.refused {
                Some(refused) => Err(WorkError::Refused(refused)),
                None => self.move_data(&pending),
            };
            self.over(completion.at(), tag, outcome, finished);
        }
    }

    fn over(
        &mut self,
        at: Time,
        tag: u64,
        outcome: Result<Vec<u8>, WorkError>,
        finished: &mut Vec<Finished>,
    ) {
        self.counts.ended(outcome.is_ok());
        finished.push(Finished { at, tag, outcome });
    }

    /// Reads, writes or syncs the data of work that the drive has completed.
    fn move_data(&mut self, pending: &Pending) -> Result<Vec<u8>, WorkError> {
        let before: u64 = self.namespaces[..pending.namespace].iter().sum();
        let place = |sector: u64| (before + sector) * SECTOR_BYTES;
        let mut data = Vec::new();
        let moved = match &pending.action {
            Action::Read(range) => {
                data = vec![0; (range.sectors * SECTOR_BYTES) as usize];
                self.store.read(place(range.sector), &mut data)
            }
            Action::Write { sector, data, .. } => self.store.write(place(*sector), data),
            Action::Zero { .. } | Action::Trim(_) | Action::Format(_) => {
                let mut ranges = pending.action.ranges().into_iter();
                ranges.try_for_each(|range| {
                    self.store.zero(place(range.sector), range.sectors * SECTOR_BYTES)
                })
            }
            Action::Flush => self.store.sync(),
        };
        let synced = moved.and_then(|()| match pending.action.is_synced() {
            true => self.store.sync(),
            false => Ok(()),
        });
        synced.map(|()| data).map_err(WorkError::Store)
    }

    /// Commands and data that clients have sent.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The latest events of placement; see [`Drive::placement_events`].
    #[must_use]
    pub fn placement_events(&self) -> Vec<PlacementEvent> {
        self.drive.placement_events()
    }

    /// The summary so far; see [`Drive::summary`].
    ///
    /// # Errors
    ///
    /// Those of [`Drive::summary`].
    pub fn summary(&mut self) -> Result<Summary, Error> {
        self.drive.summary()
    }

    /// Which tenant delays which; see [`Drive::blame`].
    ///
    /// # Errors
    ///
    /// Those of [`Drive::blame`].
    pub fn blame(&mut self) -> Result<Option<Blame>, Error> {
        self.drive.blame()
    }

    /// Makes all data durable that was written, outside of simulated time.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] if the store cannot do that.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.store.sync().map_err(|error| Error::Output(format!("store: {error}")))
    }
}
