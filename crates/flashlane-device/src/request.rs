//! A host request inside the simulator, from arrival to completion.

use flashlane_engine::{Sequence, Slab, Time};

use flashlane_units::{FlowId, Handle, QueueId, RequestId, RequestOp};

/// A request as its source describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Open loop: absolute arrival time. Closed loop: ignored. A request at or after [`Time::END`]
    /// never arrives: the run ends with an error instead, so that no request is lost silently.
    pub arrival: Time,
    /// The operation.
    pub op: RequestOp,
    /// First sector, counted from the start of the flow's logical space. Unit: sectors of 512 B.
    pub sector: u64,
    /// Length; 0 only for flushes. Unit: sectors. `sector + sectors` never exceeds the space.
    pub sectors: u32,
    /// The queue pair that takes it, out of those of the flow. Range: `0..queue pairs of the flow`.
    pub queue: u16,
    /// The placement handle of a write; [`Directive::NONE`] unless the request names one.
    pub directive: Directive,
}

/// The placement directive of a request: the handle that a write names, if it names one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directive(u8);

impl Directive {
    /// The request names none: the handle of its flow counts.
    pub const NONE: Self = Self(0);

    /// The request names a handle.
    #[must_use]
    pub fn place(handle: Handle) -> Self {
        assert!(handle.get() < u8::MAX / 2, "{handle} is a handle of a drive");
        Self(handle.get() + 1)
    }

    /// The handle that a key or a command names, if it names one. Identifiers are checked before.
    #[must_use]
    pub fn named(placement: Option<u16>) -> Self {
        let handle = |id| Handle::new(u8::try_from(id).expect("identifiers are small"));
        placement.map_or(Self::NONE, |id| Self::place(handle(id)))
    }

    /// The handle, or `NONE`.
    #[inline]
    #[must_use]
    pub fn handle(self) -> Handle {
        Handle::new(self.0.wrapping_sub(1))
    }
}

/// Whether a request counts, and the placement handle that it names: one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    /// Marks of a request.
    #[inline(always)]
    #[must_use]
    pub fn new(counted: bool, directive: Directive) -> Self {
        Self(directive.0 << 1 | u8::from(counted))
    }

    /// True if the request arrived inside the measurement window.
    #[inline(always)]
    #[must_use]
    pub fn counted(self) -> bool {
        self.0 & 1 != 0
    }

    /// The placement handle that the request names, or `NONE`.
    #[inline]
    #[must_use]
    pub fn handle(self) -> Handle {
        Directive(self.0 >> 1).handle()
    }
}

/// Time spent per stage by the chain of work that ended last. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Chain {
    /// DRAM access, waiting for cache room.
    pub cache: u64,
    /// Waiting for translation pages, for free blocks.
    pub mapping: u64,
    /// Waiting in the scheduler and for the bus, suspended time.
    pub queue: u64,
    /// In the array.
    pub array: u64,
    // Last: a copy in steps of two words would stall on a word that was written just before, and
    // that is the time on the bus.
    /// On the bus.
    pub bus: u64,
}

impl Chain {
    /// All stages together.
    pub fn total(&self) -> u64 {
        self.cache + self.mapping + self.queue + self.bus + self.array
    }

    /// The stages since an earlier state of this chain.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            cache: self.cache - before.cache,
            mapping: self.mapping - before.mapping,
            queue: self.queue - before.queue,
            bus: self.bus - before.bus,
            array: self.array - before.array,
        }
    }

    /// Adds the stages of an earlier chain.
    pub(crate) fn add(&mut self, other: &Self) {
        self.cache += other.cache;
        self.mapping += other.mapping;
        self.queue += other.queue;
        self.bus += other.bus;
        self.array += other.array;
    }
}

/// Time that a request itself needs outside of cache and flash. Unit: picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostWork {
    /// Before its submission queue.
    pub host: u64,
    /// Between its entry in the queue and the start of the fetch.
    pub submission: u64,
    /// Transfers of its entry, and of data of a write, to the drive.
    pub transfer_in: u64,
    /// Firmware of the command.
    pub firmware: u64,
    /// Transfers of data of a read, and of its completion, to the host.
    pub transfer_out: u64,
}

/// A host request. The fields that are used between arrival and completion are in the first of two
/// cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Request {
    /// The flow that submitted it.
    pub flow: FlowId,
    /// What it asks for.
    pub op: RequestOp,
    /// Whether it counts, and its placement handle.
    pub marks: Marks,
    /// Length. Unit: sectors.
    pub sectors: u32,
    /// First sector in the flow's space.
    pub sector: u64,
    /// Place, in the order of events, of the request for its entry or data and of what follows from
    /// it; a delay does not change this place.
    pub place: Sequence,
    /// Time at which the device starts to fetch the entry.
    pub fetched: Time,
    /// Time at which the entry and the write data are in the device.
    pub received: Time,
    /// Time at which the firmware is over.
    pub begun: Time,
    /// Time at which the device work is done.
    pub served: Time,
    /// Parts of the device work that are not done: page transactions and DRAM accesses.
    pub pending: u32,
    /// Before the completion is sent: the next page that waits for cache room, as an offset from
    /// the first page. After that: the low bits of the number of entries of its queue that had
    /// arrived by then ([`Request::report`]).
    pub next_page: u16,
    /// The queue pair that it goes through.
    pub queue: QueueId,
    /// Time at which the workload generated the request.
    pub arrival: Time,
    /// Time at which the entry was written to the submission queue.
    pub enqueued: Time,
    /// Chain of the part that ended last.
    pub chain: Chain,
    /// The submitter's own name of the request.
    pub cookie: u64,
}

/// Where a request is.
#[derive(Clone, Copy, Debug)]
pub struct RequestPlace {
    /// First sector in the space of the flow.
    pub sector: u64,
    /// Number of pages that the request touches.
    pub pages: u32,
}

impl Request {
    /// Notes in the completion, which is sent now, how many entries of its queue have arrived.
    #[inline(always)]
    pub(crate) fn report(&mut self, arrived: u64) {
        self.next_page = arrived as u16;
    }

    /// The number of entries that the completion reports; `arrived`: the number by now. A queue has
    /// fewer than 2^16 entries, so that the low bits tell the difference.
    #[inline(always)]
    pub(crate) fn reported(&self, arrived: u64) -> u64 {
        arrived - u64::from((arrived as u16).wrapping_sub(self.next_page))
    }

    /// Ends one part of the device work; the chain of the part that ends last counts. True for the
    /// last part.
    #[inline(always)]
    pub(crate) fn end_part(&mut self, now: Time, chain: &Chain) -> bool {
        assert!(self.pending > 0, "a part ends once");
        self.pending -= 1;
        let span = (now - self.begun).0;
        let spans = chain.total() == span;
        if spans {
            self.chain = *chain;
        }
        let is_last = self.pending == 0;
        if is_last {
            assert!(spans || self.chain.total() == span, "the last part spans the device work");
            self.served = now;
        }
        is_last
    }
}

const _: () = assert!(
    size_of::<Request>() == 128 && std::mem::offset_of!(Request, arrival) == 64,
    "two cache lines"
);

/// The requests under way.
pub type Requests = Slab<RequestId, Request>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_that_spans_the_device_work_counts() {
        let mut request = Request { begun: Time(100), pending: 3, ..Request::default() };
        let chain = |array| Chain { array, ..Chain::default() };
        assert!(!request.end_part(Time(150), &chain(50)));
        // This part began later than the request, so its chain cannot account for all of the time.
        assert!(!request.end_part(Time(170), &chain(20)));
        assert_eq!(request.chain, chain(50));
        assert!(request.end_part(Time(190), &chain(90)));
        assert_eq!((request.served, request.chain), (Time(190), chain(90)));
    }
}
