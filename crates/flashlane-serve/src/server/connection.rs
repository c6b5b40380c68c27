//! A connection: a socket, its bytes, and the conversation over it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Instant;

use mio::net::TcpStream;

use super::Door;
use crate::pace::Quiet;
use crate::session::{Session, Wire};
#[cfg(target_os = "linux")]
use crate::vfio_user::FILES_MAX;

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

    /// Reads bytes and the files that come with them.
    #[cfg(target_os = "linux")]
    fn receive(&mut self, bytes: &mut [u8], files: &mut Vec<File>) -> io::Result<usize> {
        use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
        let Self::Unix(stream) = self else { return self.read(bytes) };
        let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut room);
        let (mut places, flags) = ([io::IoSliceMut::new(bytes)], RecvFlags::CMSG_CLOEXEC);
        let received = recvmsg(&*stream, &mut places, &mut control, flags)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights.map(File::from));
            }
        }
        Ok(received.bytes)
    }

    #[cfg(not(target_os = "linux"))]
    fn receive(&mut self, bytes: &mut [u8], _: &mut Vec<File>) -> io::Result<usize> {
        self.read(bytes)
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
        let read = match self.session.wanted(&self.wire) {
            None => self.socket.read(&mut bytes),
            Some(wanted) => {
                let most = wanted.min(READ_BYTES);
                self.socket.receive(&mut bytes[..most], &mut self.wire.files)
            }
        };
        match read {
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
