//! The server: one thread that waits for the sockets and steps the drive.

mod address;
mod connection;
mod deliver;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flashlane::metrics::Summary;
use flashlane::observe::Blame;
use flashlane::{Error, Time};
use flashlane_nvme::{DiscoveryRecord, Family, Identity, Journal, Media, MediaConfig, Subsystem};
use mio::{Events, Interest, Poll, Token};

pub use address::Address;
use address::Listener;
use connection::Connection;

use crate::allow::Network;
use crate::house::House;
use crate::limits::Limits;
use crate::nbd::NbdSession;
use crate::pace::{Clock, Lateness, Pace};
use crate::session::{Session, Wire};
use crate::status::{self, HttpSession, Status};
use crate::store::StoreKind;
use crate::tcp::TcpSession;

/// The protocol of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Queues of NVMe over TCP.
    NvmeTcp,
    /// Exports of the network block device.
    Nbd,
    /// NVMe controllers behind PCIe, for virtual machines.
    VfioUser,
    /// The live page, and the counts for Prometheus, over HTTP.
    Status,
}

/// What a server is made from.
pub struct ServeConfig {
    /// The drive.
    pub media: MediaConfig,
    /// Where to listen.
    pub doors: Vec<(Door, Address)>,
    /// How time passes.
    pub pace: Pace,
    /// Where the data is.
    pub store: StoreKind,
    /// Networks that may connect, beside this machine.
    pub allow: Vec<Network>,
    /// What clients may take.
    pub limits: Limits,
    /// Is told about every command of the drive.
    pub journal: Option<Box<dyn Journal>>,
}

/// What a server has done.
#[derive(Debug)]
pub struct Outcome {
    /// The summary of the drive.
    pub summary: Summary,
    /// Which tenant delays which, if it was asked for.
    pub blame: Option<Blame>,
    /// How late completions left. Empty with the virtual clock.
    pub lateness: Lateness,
    /// Connections there were, without those of live pages.
    pub connections: u64,
}

/// The longest wait without a look at the clock and at the request to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The operating system wakes this process up so exactly. Shorter waits are spent looking.
const SPIN: Duration = Duration::from_millis(2);

/// The first token of connections; listeners have the lower ones.
const FIRST: usize = 1 << 16;

/// A server.
pub struct Server {
    poll: Poll,
    listeners: Vec<(Listener, Door, Address)>,
    connections: BTreeMap<usize, Connection>,
    last_token: usize,
    house: House,
    pace: Pace,
    clock: Option<Clock>,
    allow: Vec<Network>,
    /// When the server looked for silent controllers.
    silence_seen: Instant,
}

impl Server {
    /// A server that listens.
    ///
    /// # Errors
    ///
    /// Those of [`Media::new`] and of the store; [`Error::Config`] and [`Error::Output`] for
    /// an address on which it may not or cannot listen.
    pub fn bind(config: ServeConfig) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::Output(format!("sockets: {error}"));
        let poll = Poll::new().map_err(failed)?;
        let mut listeners = Vec::new();
        for (door, address) in &config.doors {
            check(*door, address, &config.limits)?;
            let (mut listener, bound) = Listener::bind(address, &config.allow)?;
            let token = Token(listeners.len());
            poll.registry()
                .register(listener.source(), token, Interest::READABLE)
                .map_err(failed)?;
            listeners.push((listener, *door, bound));
        }
        let identity = identity(&config, &listeners);
        let limits = config.limits;
        let mut media =
            Media::with_store(config.media, |bytes| config.store.open(bytes, limits.store_bytes))?;
        if let Some(journal) = config.journal {
            media.keep(journal);
        }
        let shown = listeners.iter().any(|(_, door, _)| *door == Door::Status);
        let status = shown.then(|| Status::of(&mut media)).transpose()?;
        let mut house = House::new(Subsystem::new(media, identity), limits);
        house.status = status;
        Ok(Self {
            poll,
            listeners,
            connections: BTreeMap::new(),
            last_token: FIRST,
            house,
            pace: config.pace,
            clock: None,
            allow: config.allow,
            silence_seen: Instant::now(),
        })
    }

    /// The addresses on which the server listens, with their real ports.
    #[must_use]
    pub fn addresses(&self) -> Vec<(Door, Address)> {
        self.listeners.iter().map(|(_, door, address)| (*door, address.clone())).collect()
    }

    /// What a live page must know to change limits; nothing without a door for live pages.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.house.status.as_ref().map(Status::token)
    }

    /// The name that NVMe hosts connect to.
    #[must_use]
    pub fn nqn(&self) -> &str {
        &self.house.subsystem.identity().nqn
    }

    /// Lengths of the namespaces, the first of which is 1. Unit: bytes.
    #[must_use]
    pub fn namespaces(&mut self) -> Vec<u64> {
        let media = self.house.subsystem.media();
        let all = 1..=media.namespaces();
        all.filter_map(|it| Some(media.sectors(it)? * flashlane_nvme::SECTOR_BYTES)).collect()
    }

    /// Serves until `stop` is true, and returns what was done.
    ///
    /// # Errors
    ///
    /// Those of the drive, and [`Error::Output`] if the store cannot keep what was written.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<Outcome, Error> {
        self.clock = Clock::of(self.pace);
        let (mut events, mut served) = (Events::with_capacity(1024), 0);
        while !stop.load(Ordering::Relaxed) {
            let wait = self.patience();
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Err(Error::Output(format!("sockets: {error}")));
                }
                _ => {}
            }
            for event in &events {
                match self.connections.get_mut(&event.token().0) {
                    Some(connection) => connection.readable |= event.is_readable(),
                    None => served += self.accept(event.token().0),
                }
            }
            self.turn()?;
        }
        let media = self.house.subsystem.media();
        media.sync()?;
        let (summary, blame) = (media.summary()?, media.blame()?);
        Ok(Outcome { summary, blame, lateness: self.house.lateness.clone(), connections: served })
    }

    /// Accepts all clients of a listener, and returns how many are served.
    fn accept(&mut self, listener: usize) -> u64 {
        let mut served = 0;
        loop {
            let Some((listener, door, address)) = self.listeners.get(listener) else { return 0 };
            let (door, address) = (*door, address.clone());
            let mut socket = match listener.accept(&self.allow) {
                Ok(Some(socket)) => socket,
                Ok(None) => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return served,
                // The client is gone already, or there are too many files: the rest waits.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(_) => return served,
            };
            if !self.has_place(door) {
                continue;
            }
            self.last_token += 1;
            let (token, both) = (self.last_token, Interest::READABLE | Interest::WRITABLE);
            if self.poll.registry().register(socket.source(), Token(token), both).is_err() {
                continue;
            }
            let mut wire = Wire::default();
            self.house.connection = token;
            let Some(session) = session(door, &address, &mut wire, &mut self.house) else {
                continue;
            };
            self.connections.insert(token, Connection::new(door, socket, session, wire));
            served += u64::from(door != Door::Status);
        }
    }

    /// True if a further client of a door has a place. Live pages take no place of other clients,
    /// and the oldest connection of one makes room for the newest.
    fn has_place(&mut self, door: Door) -> bool {
        let shows = |it: &(&usize, &Connection)| it.1.door == Door::Status;
        let shown = self.connections.iter().filter(shows).count();
        if door != Door::Status {
            return self.connections.len() - shown < self.house.limits.connections;
        }
        let oldest = self.connections.iter().find(shows).map(|(token, _)| *token);
        if let Some(oldest) = oldest.filter(|_| shown >= status::CONNECTIONS_MAX) {
            self.close(oldest);
        }
        true
    }

    /// How long to wait for sockets.
    fn patience(&mut self) -> Duration {
        let most = self.house.limits.connection_bytes;
        let busy = |it: &Connection| it.readable && it.has_room(most) || it.is_over();
        if self.connections.values().any(busy) {
            return Duration::ZERO;
        }
        if !self.house.is_busy() {
            return LOOK;
        }
        let Some(clock) = &self.clock else { return self.silence().min(LOOK) };
        let next = self.house.next_event().unwrap_or(Time::MAX);
        let rest = clock.between(clock.now(), next).min(LOOK);
        rest.saturating_sub(SPIN)
    }

    /// How long the virtual clock waits for clients; 0 if it may go on.
    fn silence(&mut self) -> Duration {
        let (now, patience) = (Instant::now(), self.house.limits.patience);
        let waits = self.connections.values_mut().map(|it| it.quiet.wait(now, patience));
        waits.max().unwrap_or_default()
    }
}

/// Whether a door may be at an address.
fn check(door: Door, address: &Address, limits: &Limits) -> Result<(), Error> {
    let is_path = matches!(address, Address::Unix(_));
    let refuse = |option: &str, allowed: &str| {
        Err(Error::config(option, format!("found {address}, allowed: {allowed}")))
    };
    match door {
        Door::NvmeTcp if is_path => refuse("--nvme-tcp", "ADDRESS:PORT"),
        Door::Status if is_path => refuse("--status", "ADDRESS:PORT"),
        Door::VfioUser if cfg!(not(target_os = "linux")) => {
            refuse("--vfio-user", "none, as this door needs Linux")
        }
        Door::VfioUser if !is_path => refuse("--vfio-user", "unix:PATH"),
        #[cfg(target_os = "linux")]
        Door::VfioUser if limits.queues > crate::vfio_user::QUEUES_MAX => {
            let (found, most) = (limits.queues, crate::vfio_user::QUEUES_MAX);
            let message = format!("found {found}, allowed with --vfio-user: 1 to {most}");
            Err(Error::config("--queues", message))
        }
        _ => {
            debug_assert!(limits.queues > 0, "a controller has queues");
            Ok(())
        }
    }
}

/// The conversation of a client that gets a controller; `None` if there is no room for one.
#[cfg(target_os = "linux")]
fn controller(house: &mut House) -> Option<Box<dyn Session>> {
    let session = crate::vfio_user::VfioUserSession::new(house).ok()?;
    Some(Box::new(session))
}

#[cfg(not(target_os = "linux"))]
fn controller(_: &mut House) -> Option<Box<dyn Session>> {
    None
}

/// The conversation with a client of a door, and its first words; `None` if there is no room.
fn session(
    door: Door,
    address: &Address,
    wire: &mut Wire,
    house: &mut House,
) -> Option<Box<dyn Session>> {
    Some(match door {
        Door::NvmeTcp => Box::new(TcpSession::new()),
        Door::Nbd => Box::new(NbdSession::new(wire)),
        Door::VfioUser => return controller(house),
        Door::Status => Box::new(HttpSession::new(address.ip())),
    })
}

/// Names of the subsystem. The serial number is the first address, since hosts that reach two
/// drives of the same name and serial number take them for one.
fn identity(config: &ServeConfig, listeners: &[(Listener, Door, Address)]) -> Identity {
    let mut identity = Identity::of(&config.media.device.name);
    identity.queues_max = config.limits.queues;
    identity.controllers_max = config.limits.controllers;
    for (_, door, address) in listeners {
        if let (Door::NvmeTcp, Address::Tcp(address)) = (door, address) {
            if identity.records.is_empty() {
                identity.serial = address.to_string();
            }
            identity.records.push(DiscoveryRecord {
                subsystem: identity.nqn.clone(),
                family: if address.is_ipv4() { Family::V4 } else { Family::V6 },
                address: address.ip().to_string(),
                port: address.port(),
            });
        }
    }
    identity
}
