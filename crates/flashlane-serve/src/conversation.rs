//! A conversation with one client in memory: bytes in, bytes out. Tests and fuzzing use it.

use flashlane::Error;
use flashlane_nvme::{Identity, Media, Subsystem};

use crate::house::House;
use crate::limits::Limits;
use crate::nbd::NbdSession;
use crate::server::Door;
use crate::session::{Session, Wire};
use crate::tcp::TcpSession;

/// A client of a drive that nobody else uses, without a socket. The clock is virtual: whatever the
/// client asks is done before it can say more.
pub struct Conversation {
    house: House,
    session: Box<dyn Session>,
    wire: Wire,
    is_over: bool,
}

impl Conversation {
    /// A client comes through a door for bytes: NVMe/TCP, or NBD for all others.
    #[must_use]
    pub fn new(door: Door, media: Media, limits: Limits) -> Self {
        let identity = Identity::of(&media.config().device.name);
        let house = House::new(Subsystem::new(media, identity), limits);
        let mut wire = Wire::default();
        let session: Box<dyn Session> = match door {
            Door::NvmeTcp => Box::new(TcpSession::new()),
            _ => Box::new(NbdSession::new(&mut wire)),
        };
        Self { house, session, wire, is_over: false }
    }

    /// The client sends bytes. Returns the bytes that it gets: those of its greeting, and all
    /// answers to what it has sent so far.
    ///
    /// # Errors
    ///
    /// Those of [`Media::advance`].
    pub fn say(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        if !self.is_over {
            self.wire.input.extend_from_slice(bytes);
            self.turn()?;
        }
        Ok(std::mem::take(&mut self.wire.output))
    }

    /// True if the door has ended the conversation.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The client leaves. Returns the drive, which has done all that was asked for.
    ///
    /// # Errors
    ///
    /// Those of [`Media::advance`].
    pub fn end(mut self) -> Result<Subsystem, Error> {
        self.session.closed(&mut self.house);
        while let Some(at) = self.house.subsystem.next_event() {
            self.house.advance(at)?;
        }
        Ok(self.house.subsystem)
    }

    /// Reads and answers until the client has to say more.
    fn turn(&mut self) -> Result<(), Error> {
        loop {
            let before = self.wire.input.len();
            if self.session.receive(&mut self.wire, &mut self.house).is_err() {
                self.is_over = true;
                return Ok(());
            }
            let answered = self.work()?;
            if !answered && self.wire.input.len() == before {
                return Ok(());
            }
        }
    }

    /// Lets the drive do all its work. True if something was complete.
    fn work(&mut self) -> Result<bool, Error> {
        while let Some(at) = self.house.subsystem.next_event() {
            self.house.advance(at)?;
        }
        let done = std::mem::take(&mut self.house.done);
        let finished = std::mem::take(&mut self.house.finished);
        let answered = !done.is_empty() || !finished.is_empty();
        for one in done {
            self.session.done(one, &mut self.wire, &mut self.house);
        }
        for one in finished {
            if self.house.take_owner(one.tag).is_some() {
                self.session.finished(one, &mut self.wire);
            }
        }
        Ok(answered)
    }
}
