//! Records of requests, handed out many at a time.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use flashlane_engine::Time;

use flashlane_device::layout::SECTOR_BYTES;
use flashlane_device::request::{Chain, Request, RequestPlace};
use flashlane_reading::Error;
use flashlane_units::RequestOp;

/// Records that are handed out at a time; the last ones of a run may be fewer. They fit into a
/// processor's cache on their way from the thread that makes them to the thread that takes them.
pub const RECORDS_AT_A_TIME: usize = 1 << 12;

/// Records whose columns are filled together.
const AT_HAND: usize = 64;

/// Takes the records of requests during a run, so that memory stays bounded.
pub trait RequestSink: Debug + Send {
    /// Takes the next records out of `records`, in the order of completion. The next records go
    /// into the vector that it leaves; a vector that has held records before needs no new memory.
    /// The run ends with the error, if there is one.
    ///
    /// # Errors
    ///
    /// If the records cannot be kept.
    fn take(&mut self, records: &mut Vec<RequestRecord>) -> Result<(), Error>;
}

/// A completed request. Times are from the start of the run; the nine stages sum to `complete_ps -
/// submit_ps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestRecord {
    /// The flow, by its place in the workload.
    pub flow: u16,
    /// Operation of the request.
    pub op: RequestOp,
    /// First byte in the flow's space. Unit: bytes.
    pub offset_bytes: u64,
    /// Length. Unit: bytes.
    pub bytes: u64,
    /// True if the request arrived inside the measurement window.
    pub counted: bool,
    /// Flash pages that the request touches, in part or whole.
    pub pages: u32,
    /// Time at which the workload generated the request. Unit: picoseconds.
    pub arrival_ps: u64,
    /// Time at which the entry was written to the submission queue. Unit: picoseconds.
    pub submit_ps: u64,
    /// Time at which the host saw the completion. Unit: picoseconds.
    pub complete_ps: u64,
    /// Stage `submission`. Unit: picoseconds.
    pub submission_ps: u64,
    /// Stage `transfer_in`. Unit: picoseconds.
    pub transfer_in_ps: u64,
    /// Stage `firmware`. Unit: picoseconds.
    pub firmware_ps: u64,
    /// Stage `cache`. Unit: picoseconds.
    pub cache_ps: u64,
    /// Stage `mapping`. Unit: picoseconds.
    pub mapping_ps: u64,
    /// Stage `flash_queue`. Unit: picoseconds.
    pub flash_queue_ps: u64,
    /// Stage `flash_bus`. Unit: picoseconds.
    pub flash_bus_ps: u64,
    /// Stage `flash_array`. Unit: picoseconds.
    pub flash_array_ps: u64,
    /// Stage `transfer_out`. Unit: picoseconds.
    pub transfer_out_ps: u64,
}

impl RequestRecord {
    /// The record of a completed request.
    #[inline]
    pub(crate) fn of(request: &Request, place: RequestPlace, now: Time) -> Self {
        let Chain { cache, mapping, queue, bus, array } = request.chain;
        Self {
            flow: request.flow.get(),
            op: request.op,
            counted: request.marks.counted(),
            pages: place.pages,
            offset_bytes: place.sector * SECTOR_BYTES,
            bytes: u64::from(request.sectors) * SECTOR_BYTES,
            arrival_ps: request.arrival.0,
            submit_ps: request.enqueued.0,
            complete_ps: now.0,
            submission_ps: (request.fetched - request.enqueued).0,
            transfer_in_ps: (request.received - request.fetched).0,
            firmware_ps: (request.begun - request.received).0,
            cache_ps: cache,
            mapping_ps: mapping,
            flash_queue_ps: queue,
            flash_bus_ps: bus,
            flash_array_ps: array,
            transfer_out_ps: (now - request.served).0,
        }
    }
}

/// Records of requests in columns, in the order of completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestBatch {
    /// The flow, by its place in the workload.
    pub flow: Vec<u16>,
    /// Operation of the request.
    pub op: Vec<RequestOp>,
    /// First byte in the flow's space. Unit: bytes.
    pub offset_bytes: Vec<u64>,
    /// Length. Unit: bytes.
    pub bytes: Vec<u64>,
    /// True if the request arrived inside the measurement window.
    pub counted: Vec<bool>,
    /// Flash pages that the request touches, in part or whole.
    pub pages: Vec<u32>,
    /// Time at which the workload generated the request. Unit: picoseconds.
    pub arrival_ps: Vec<u64>,
    /// Time at which the entry was written to the submission queue. Unit: picoseconds.
    pub submit_ps: Vec<u64>,
    /// Time at which the host saw the completion. Unit: picoseconds.
    pub complete_ps: Vec<u64>,
    /// Stage `submission`. Unit: picoseconds.
    pub submission_ps: Vec<u64>,
    /// Stage `transfer_in`. Unit: picoseconds.
    pub transfer_in_ps: Vec<u64>,
    /// Stage `firmware`. Unit: picoseconds.
    pub firmware_ps: Vec<u64>,
    /// Stage `cache`. Unit: picoseconds.
    pub cache_ps: Vec<u64>,
    /// Stage `mapping`. Unit: picoseconds.
    pub mapping_ps: Vec<u64>,
    /// Stage `flash_queue`. Unit: picoseconds.
    pub flash_queue_ps: Vec<u64>,
    /// Stage `flash_bus`. Unit: picoseconds.
    pub flash_bus_ps: Vec<u64>,
    /// Stage `flash_array`. Unit: picoseconds.
    pub flash_array_ps: Vec<u64>,
    /// Stage `transfer_out`. Unit: picoseconds.
    pub transfer_out_ps: Vec<u64>,
}

impl RequestBatch {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// True if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }

    /// Removes all rows; the columns keep their memory.
    pub fn clear(&mut self) {
        self.flow.clear();
        self.op.clear();
        self.offset_bytes.clear();
        self.bytes.clear();
        self.counted.clear();
        self.pages.clear();
        self.arrival_ps.clear();
        self.submit_ps.clear();
        self.complete_ps.clear();
        self.submission_ps.clear();
        self.transfer_in_ps.clear();
        self.firmware_ps.clear();
        self.cache_ps.clear();
        self.mapping_ps.clear();
        self.flash_queue_ps.clear();
        self.flash_bus_ps.clear();
        self.flash_array_ps.clear();
        self.transfer_out_ps.clear();
    }

    /// Adds rows.
    pub fn extend(&mut self, records: &[RequestRecord]) {
        // A few records at a time stay in the processor's cache while all columns are filled.
        for records in records.chunks(AT_HAND) {
            self.flow.extend(records.iter().map(|record| record.flow));
            self.op.extend(records.iter().map(|record| record.op));
            self.offset_bytes.extend(records.iter().map(|record| record.offset_bytes));
            self.bytes.extend(records.iter().map(|record| record.bytes));
            self.counted.extend(records.iter().map(|record| record.counted));
            self.pages.extend(records.iter().map(|record| record.pages));
            self.arrival_ps.extend(records.iter().map(|record| record.arrival_ps));
            self.submit_ps.extend(records.iter().map(|record| record.submit_ps));
            self.complete_ps.extend(records.iter().map(|record| record.complete_ps));
            self.submission_ps.extend(records.iter().map(|record| record.submission_ps));
            self.transfer_in_ps.extend(records.iter().map(|record| record.transfer_in_ps));
            self.firmware_ps.extend(records.iter().map(|record| record.firmware_ps));
            self.cache_ps.extend(records.iter().map(|record| record.cache_ps));
            self.mapping_ps.extend(records.iter().map(|record| record.mapping_ps));
            self.flash_queue_ps.extend(records.iter().map(|record| record.flash_queue_ps));
            self.flash_bus_ps.extend(records.iter().map(|record| record.flash_bus_ps));
            self.flash_array_ps.extend(records.iter().map(|record| record.flash_array_ps));
            self.transfer_out_ps.extend(records.iter().map(|record| record.transfer_out_ps));
        }
    }
}

/// Collects the records of a run.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    records: Vec<RequestRecord>,
    sink: Arc<Mutex<dyn RequestSink>>,
}

impl Records {
    pub(crate) fn new(sink: Arc<Mutex<dyn RequestSink>>) -> Self {
        Self { records: Vec::with_capacity(RECORDS_AT_A_TIME), sink }
    }

    /// Adds a completed request.
    #[inline]
    pub(crate) fn add(
        &mut self,
        request: &Request,
        at: RequestPlace,
        now: Time,
    ) -> Result<(), Error> {
        self.records.push(RequestRecord::of(request, at, now));
        if self.records.len() == RECORDS_AT_A_TIME { self.hand_out() } else { Ok(()) }
    }

    /// Hands out the last records at the end of the run.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        if self.records.is_empty() { Ok(()) } else { self.hand_out() }
    }

    fn hand_out(&mut self) -> Result<(), Error> {
        // A sink that panicked has ended the program or its own thread; this thread continues with
        // it.
        let mut sink = self.sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sink.take(&mut self.records)?;
        self.records.clear();
        Ok(())
    }
}
