//! What the doors have in common: a conversation over bytes.

use std::fs::File;

use flashlane::Time;
use flashlane_nvme::{Done, Finished};

use crate::house::House;

/// The bytes of a connection.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// What the client sent and the door has not read.
    pub(crate) input: Vec<u8>,
    /// What the door answers and the client has not got.
    pub(crate) output: Vec<u8>,
    /// Files that came with the input.
    pub(crate) files: Vec<File>,
}

/// Reason for which a conversation ends. The output so far is still sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) &'static str);

/// A conversation with a client.
pub(crate) trait Session: Send {
    /// Reads whole messages from the input, as far as there are any, and answers.
    ///
    /// # Errors
    ///
    /// [`Ended`] if the connection is to be closed.
    fn receive(&mut self, wire: &mut Wire, house: &mut House) -> Result<(), Ended>;

    /// A command of an NVMe queue is complete.
    fn done(&mut self, done: Done, wire: &mut Wire, house: &mut House);

    /// Work of a door that does not speak NVMe is over.
    fn finished(&mut self, finished: Finished, wire: &mut Wire);

    /// Time has passed. A controller that watches memory of its client looks at it.
    fn pass(&mut self, _until: Time, _house: &mut House) {}

    /// The connection is closed.
    fn closed(&mut self, house: &mut House);

    /// False until the connection is a queue or an export.
    fn is_established(&self) -> bool;

    /// True if a command has begun to arrive, or the client owes its data.
    fn is_mid_command(&self) -> bool;

    /// Data of commands under way. Unit: bytes.
    fn held(&self) -> usize;

    /// The bytes up to the end of a message, for protocols whose messages bring files.
    fn wanted(&self, _wire: &Wire) -> Option<usize> {
        None
    }
}
