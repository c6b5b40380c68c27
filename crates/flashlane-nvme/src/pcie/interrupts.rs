//! Interrupts: vectors, their masks, and coalescing.

use flashlane::Time;

use super::host::PcieHost;
use crate::status::Status;

/// A unit of the aggregation time.
const AGGREGATION: Time = Time::from_us(100);

/// A vector.
#[derive(Clone, Copy, Debug, Default)]
struct Vector {
    /// Completions of which the host has not been told.
    count: u32,
    /// When the host is told of them at the latest.
    due: Option<Time>,
    /// The host has switched coalescing off for this vector.
    at_once: bool,
    /// The vector is masked, and has something to tell.
    pending: bool,
}

/// The interrupts of a controller.
#[derive(Clone, Debug)]
pub(super) struct Interrupts {
    vectors: Vec<Vector>,
    /// A bit for each of the first 32 vectors.
    masked: u32,
    /// Completions that are told of together, 0-based.
    threshold: u8,
    /// Unit: [`AGGREGATION`]; 0 for no coalescing.
    time: u8,
}

impl Interrupts {
    pub(super) fn new(vectors: u16) -> Self {
        let vectors = vec![Vector::default(); vectors.into()];
        Self { vectors, masked: 0, threshold: 0, time: 0 }
    }

    /// True if there is such a vector.
    pub(super) fn has(&self, vector: u16) -> bool {
        usize::from(vector) < self.vectors.len()
    }

    /// The mask of the first 32 vectors.
    pub(super) fn masked(&self) -> u32 {
        self.masked
    }

    /// Masks vectors.
    pub(super) fn mask(&mut self, bits: u32) {
        self.masked |= bits;
    }

    /// Unmasks vectors, and tells what they had to tell.
    pub(super) fn unmask(&mut self, at: Time, bits: u32, host: &mut dyn PcieHost) {
        self.masked &= !bits;
        for vector in 0..self.vectors.len() as u16 {
            if !self.is_masked(vector) && self.vectors[usize::from(vector)].pending {
                self.vectors[usize::from(vector)].pending = false;
                host.interrupt(at, vector);
            }
        }
    }

    fn is_masked(&self, vector: u16) -> bool {
        vector < 32 && self.masked >> vector & 1 == 1
    }

    /// The value of the feature Interrupt Coalescing.
    pub(super) fn coalescing(&self) -> u32 {
        u32::from(self.threshold) | u32::from(self.time) << 8
    }

    /// Sets the feature Interrupt Coalescing.
    pub(super) fn coalesce(&mut self, value: u32) {
        (self.threshold, self.time) = (value as u8, (value >> 8) as u8);
    }

    /// The value of the feature Interrupt Vector Configuration.
    pub(super) fn configuration(&self, vector: u16) -> Result<u32, Status> {
        let known = self.vectors.get(usize::from(vector)).ok_or(Status::INVALID_FIELD)?;
        Ok(u32::from(vector) | u32::from(known.at_once) << 16)
    }

    /// Sets the feature Interrupt Vector Configuration.
    pub(super) fn configure(&mut self, value: u32) -> Result<(), Status> {
        let vector = self.vectors.get_mut((value & 0xffff) as usize);
        vector.ok_or(Status::INVALID_FIELD)?.at_once = value >> 16 & 1 == 1;
        Ok(())
    }

    /// Completions were posted to a queue of a vector. Those of the admin queue are told at once.
    pub(super) fn posted(
        &mut self,
        at: Time,
        (vector, count): (u16, u32),
        is_admin: bool,
        host: &mut dyn PcieHost,
    ) {
        let (threshold, time) = (u32::from(self.threshold), u64::from(self.time));
        let Some(state) = self.vectors.get_mut(usize::from(vector)) else { return };
        state.count += count;
        if is_admin || state.at_once || time == 0 || state.count > threshold {
            return self.fire(at, vector, host);
        }
        state.due.get_or_insert(at + Time(AGGREGATION.0 * time));
    }

    fn fire(&mut self, at: Time, vector: u16, host: &mut dyn PcieHost) {
        let masked = self.is_masked(vector);
        let state = &mut self.vectors[usize::from(vector)];
        (state.count, state.due, state.pending) = (0, None, masked);
        if !masked {
            host.interrupt(at, vector);
        }
    }

    /// When the next coalesced interrupt is due.
    pub(super) fn due(&self) -> Option<Time> {
        self.vectors.iter().filter_map(|vector| vector.due).min()
    }

    /// Tells what is due.
    pub(super) fn pass(&mut self, now: Time, host: &mut dyn PcieHost) {
        for vector in 0..self.vectors.len() as u16 {
            if self.vectors[usize::from(vector)].due.is_some_and(|due| due <= now) {
                self.fire(now, vector, host);
            }
        }
    }

    /// A reset of the controller.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.vectors.len() as u16);
    }
}
