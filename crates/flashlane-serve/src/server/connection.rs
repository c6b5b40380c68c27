//! A connection: a socket, its bytes, and the conversation over it.

use std::io::{self, Read, Write};
use std::time::Instant;

use mio::net::TcpStream;

use super::Door;
use crate::pace::Quiet;
use crate::session::{Session, Wire};

/// Bytes that are read at a time.
const READ_BYTES: usize = 64 * 1024;

/// The socket of a connection.
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(mio::net::UnixStream),
}

impl Socket {
    pub(super) fn source(&mut self) -> &mut dyn mio::event::Source {
        match self {
            Self::Tcp(stream) => stream,
            #[cfg(unix)]
            Self::Unix(stream) => stream,
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(bytes),
        }
    }
}

/// A connection.
pub(super) struct Connection {
    pub(super) door: Door,
    pub(super) socket: Socket,
    pub(super) wire: Wire,
    pub(super) session: Box<dyn Session>,
    pub(super) quiet: Quiet,
    pub(super) since: Instant,
    /// When the client was heard of.
    pub(super) heard: Instant,
    /// The socket may have more to read.
    pub(super) readable: bool,
    /// The client sends nothing more.
    pub(super) ended: bool,
    /// The connection is to be closed when the output is sent.
    pub(super) closing: bool,
}

impl Connection {
    pub(super) fn new(door: Door, socket: Socket, session: Box<dyn Session>, wire: Wire) -> Self {
        let now = Instant::now();
        Self {
            door,
            socket,
            wire,
            session,
            quiet: Quiet::default(),
            since: now,
            heard: now,
            readable: true,
            ended: false,
            closing: false,
        }
    }

    /// True if the server may read more for this client, which keeps at most `most` bytes of its.
    pub(super) fn has_room(&self, most: usize) -> bool {
        // Whatever is kept, the rest of a large message must have room.
        let kept = self.session.held() + self.wire.output.len();
        !self.closing && kept < most
    }

    /// Reads once. True if there was something.
    pub(super) fn fill(&mut self) -> bool {
        let mut bytes = [0; READ_BYTES];
        match self.socket.read(&mut bytes) {
            Ok(0) => self.ended = true,
            Ok(length) => {
                self.wire.input.extend(&bytes[..length]);
                self.heard = Instant::now();
                return true;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
        false
    }

    /// Writes what the socket takes.
    pub(super) fn flush(&mut self) {
        let mut sent = 0;
        while sent < self.wire.output.len() {
            match self.socket.write(&self.wire.output[sent..]) {
                Ok(0) => break,
                Ok(length) => sent += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.ended = true;
                    self.wire.output.clear();
                    return;
                }
            }
        }
        self.wire.output.drain(..sent);
    }

    /// True if nothing more happens on this connection.
    pub(super) fn is_over(&self) -> bool {
        self.ended || self.closing && self.wire.output.is_empty()
    }
}
