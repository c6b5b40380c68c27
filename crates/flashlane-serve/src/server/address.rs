//! Addresses to listen on.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use flashlane::Error;
use mio::net::TcpListener;

use super::connection::Socket;
use crate::allow::{Network, is_allowed};

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port; port 0 for any free port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// The IP address; that of this machine for a Unix socket.
    pub(super) fn ip(&self) -> IpAddr {
        match self {
            Self::Tcp(address) => address.ip(),
            Self::Unix(_) => Ipv4Addr::LOCALHOST.into(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(_) => Err("found `unix:`, allowed: unix:PATH".to_owned()),
            None => text.parse().map(Self::Tcp).map_err(|_| {
                format!("found `{text}`, allowed: ADDRESS:PORT, like 127.0.0.1:4420, or unix:PATH")
            }),
        }
    }
}

/// A socket that clients connect to.
pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(mio::net::UnixListener, PathBuf),
}

impl Listener {
    /// Listens on an address, which is returned with its real port.
    pub(super) fn bind(address: &Address, allow: &[Network]) -> Result<(Self, Address), Error> {
        let failed =
            |error: std::io::Error| Error::Output(format!("{address}: cannot listen: {error}"));
        match address {
            Address::Tcp(socket) => {
                if !socket.ip().is_loopback() && allow.is_empty() {
                    let message = format!(
                        "found {socket}, allowed: addresses of this machine only (127.0.0.1, ::1), or any \
                         with --allow and the networks that may connect"
                    );
                    return Err(Error::config("address", message));
                }
                let listener = TcpListener::bind(*socket).map_err(failed)?;
                let bound = listener.local_addr().map_err(failed)?;
                Ok((Self::Tcp(listener), Address::Tcp(bound)))
            }
            #[cfg(unix)]
            Address::Unix(path) => {
                let listener = mio::net::UnixListener::bind(path).map_err(failed)?;
                Ok((Self::Unix(listener, path.clone()), address.clone()))
            }
            #[cfg(not(unix))]
            Address::Unix(_) => Err(failed(std::io::ErrorKind::Unsupported.into())),
        }
    }

    /// The next client, if there is one. Clients that are not allowed are disconnected.
    pub(super) fn accept(&self, allow: &[Network]) -> std::io::Result<Option<Socket>> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept()?;
                if !is_allowed(peer.ip(), allow) {
                    return Ok(None);
                }
                stream.set_nodelay(true)?;
                Ok(Some(Socket::Tcp(stream)))
            }
            #[cfg(unix)]
            Self::Unix(listener, _) => Ok(Some(Socket::Unix(listener.accept()?.0))),
        }
    }

    pub(super) fn source(&mut self) -> &mut dyn mio::event::Source {
        match self {
            Self::Tcp(listener) => listener,
            #[cfg(unix)]
            Self::Unix(listener, _) => listener,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}
