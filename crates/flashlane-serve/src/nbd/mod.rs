//! NBD: one connection is a queue of an export, and every namespace is an export.

mod handshake;
mod requests;

use std::collections::BTreeMap;

use flashlane_nvme::{Done, Finished};

use crate::house::House;
use crate::session::{Ended, Session, Wire};
use handshake::Negotiated;

/// Where a conversation is.
#[derive(Debug)]
enum Stage {
    /// The client flags come next.
    Flags,
    /// Options come next.
    Options,
    /// Requests of an export.
    Requests(Export),
}

/// An export that a client uses.
#[derive(Debug)]
struct Export {
    namespace: u32,
    /// Unit: bytes.
    bytes: u64,
    /// What [`flashlane_nvme::Media::open_queue`] returned.
    tenants: Vec<usize>,
}

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
struct Running {
    cookie: u64,
    /// For reads.
    offset: Option<u64>,
    /// Data of the request or of its answer. Unit: bytes.
    held: usize,
}

/// The conversation of a client.
#[derive(Debug)]
pub(crate) struct NbdSession {
    stage: Stage,
    negotiated: Negotiated,
    running: BTreeMap<u64, Running>,
    /// Unit: bytes.
    held: usize,
    has_rest: bool,
    /// The client has said goodbye: the connection ends with the last answer.
    leaving: bool,
}

impl NbdSession {
    /// A conversation, and its first words.
    pub(crate) fn new(wire: &mut Wire) -> Self {
        handshake::greet(&mut wire.output);
        Self {
            stage: Stage::Flags,
            negotiated: Negotiated::default(),
            running: BTreeMap::new(),
            held: 0,
            has_rest: false,
            leaving: false,
        }
    }
}

/// Takes `length` bytes from the input; `None` if they are not all there.
fn take(input: &mut Vec<u8>, length: usize) -> Option<Vec<u8>> {
    (input.len() >= length).then(|| input.drain(..length).collect())
}

/// A number of the bytes, the highest one first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Session for NbdSession {
    fn receive(&mut self, wire: &mut Wire, house: &mut House) -> Result<(), Ended> {
        loop {
            let full = self.held >= house.limits.connection_bytes;
            let more = match &self.stage {
                Stage::Flags => self.flags(wire)?,
                Stage::Options => self.option(wire, house)?,
                Stage::Requests(_) if full || self.leaving => false,
                Stage::Requests(_) => self.request(wire, house)?,
            };
            if !more {
                self.has_rest = !wire.input.is_empty() && !full;
                let over = self.leaving && self.running.is_empty();
                return if over { Err(Ended("the client has said goodbye")) } else { Ok(()) };
            }
        }
    }

    fn done(&mut self, _: Done, _: &mut Wire, _: &mut House) {}

    fn finished(&mut self, finished: Finished, wire: &mut Wire) {
        if let Some(running) = self.running.remove(&finished.tag) {
            self.held -= running.held;
            self.answer(&running, finished.outcome, &mut wire.output);
        }
    }

    fn closed(&mut self, house: &mut House) {
        if let Stage::Requests(export) = &self.stage {
            house.subsystem.media().close_queue(&export.tenants);
        }
        for tag in std::mem::take(&mut self.running).into_keys() {
            house.take_owner(tag);
        }
    }

    fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Requests(_))
    }

    fn is_mid_command(&self) -> bool {
        self.has_rest
    }

    fn held(&self) -> usize {
        self.held
    }
}
