//! A server in a thread.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use flashlane::config::load::{Overrides, device};
use flashlane::drive::{Completion, DriveOptions, Tenant};
use flashlane::metrics::Summary;
use flashlane::{Drive, Error, Time};
use flashlane_nvme::{Arrival, Journal, MediaConfig, Tenancy};
use flashlane_serve::{Address, Door, Limits, Outcome, Pace, ServeConfig, Server, StoreKind};

use crate::nbd_client::Client;

/// Arrivals, and the cookies that completed with their times.
type Record = (Vec<Arrival>, Vec<(u64, Time)>);

/// Keeps arrivals and completions.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Record>>);

#[cfg(target_os = "linux")]
impl Kept {
    /// The commands that have arrived.
    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.0.lock().expect("no panic").0.clone()
    }
}

impl Journal for Kept {
    fn arrived(&mut self, arrival: &Arrival) {
        self.0.lock().expect("no panic").0.push(*arrival);
    }

    fn completed(&mut self, number: u64, completion: &Completion) {
        self.0.lock().expect("no panic").1.push((number, completion.at()));
    }
}

/// The drive of the tests, with two tenants.
pub(crate) fn media(tenancy: Tenancy) -> MediaConfig {
    let device = device("tiny", &Overrides::default()).expect("a preset").config;
    let tenants = vec![Tenant::named("first"), Tenant::named("second")];
    let options = DriveOptions { check: false, blame: true };
    MediaConfig { device, tenants, tenancy, block_bytes: 4096, seed: 1, options }
}

pub(crate) fn config(pace: Pace, tenancy: Tenancy) -> ServeConfig {
    let any = |door| (door, "127.0.0.1:0".parse::<Address>().expect("an address"));
    ServeConfig {
        media: media(tenancy),
        doors: vec![any(Door::NvmeTcp), any(Door::Nbd)],
        pace,
        store: StoreKind::Memory,
        allow: Vec::new(),
        limits: Limits { patience: Duration::from_millis(1), ..Limits::default() },
        journal: None,
    }
}

/// A server that runs until it is stopped.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Outcome, Error>>>,
    pub(crate) addresses: Vec<(Door, Address)>,
    pub(crate) kept: Kept,
    /// What changes of a live page need.
    pub(crate) token: Option<String>,
}

impl Running {
    pub(crate) fn start(mut config: ServeConfig) -> Self {
        let kept = Kept::default();
        config.journal = Some(Box::new(kept.clone()));
        let mut running = Self::without_record(config);
        running.kept = kept;
        running
    }

    /// A server that keeps nothing of what clients send.
    pub(crate) fn without_record(config: ServeConfig) -> Self {
        let (kept, stop) = (Kept::default(), Arc::new(AtomicBool::new(false)));
        let mut server = Server::bind(config).expect("free ports");
        let (addresses, seen) = (server.addresses(), stop.clone());
        let token = server.token().map(str::to_owned);
        let thread = Some(std::thread::spawn(move || server.run(&seen)));
        Self { stop, thread, addresses, kept, token }
    }

    pub(crate) fn port(&self, door: Door) -> SocketAddr {
        let found = self.addresses.iter().find_map(|(it, address)| match address {
            Address::Tcp(address) if *it == door => Some(*address),
            _ => None,
        });
        found.expect("the server has this door")
    }

    /// A client of an export, which takes structured replies or not.
    pub(crate) fn nbd(&self, export: &str, structured: bool) -> Client<TcpStream> {
        let stream = TcpStream::connect(self.port(Door::Nbd)).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Client::connect(stream, export, structured)
    }

    pub(crate) fn stop(mut self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("no panic").expect("nothing fails")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Submits the arrivals to a drive of its own, and compares all completions.
pub(crate) fn replay(kept: &Kept, tenancy: Tenancy) -> usize {
    replay_on(&media(tenancy), kept).0
}

/// As [`replay`], on another drive; also returns the summary of the replay.
pub(crate) fn replay_on(media: &MediaConfig, kept: &Kept) -> (usize, Summary) {
    let (arrivals, mut completed) = kept.0.lock().expect("no panic").clone();
    let made = Drive::with_options(&media.device, &media.tenants, media.seed, &media.options);
    let (mut drive, mut completions) = (made.expect("a drive"), Vec::new());
    for Arrival { at, tenant, command, number } in arrivals {
        drive.advance(at, &mut completions).expect("nothing fails");
        drive.schedule(at, tenant, command, number).expect("a valid command");
    }
    drive.advance(Time(1 << 60), &mut completions).expect("nothing fails");
    let mut replayed: Vec<(u64, Time)> =
        completions.iter().map(|done| (done.cookie, done.at())).collect();
    replayed.sort_unstable();
    completed.sort_unstable();
    assert!(replayed == completed, "the replay has other completions");
    (completed.len(), drive.summary().expect("nothing fails"))
}

/// Simulated response times of the completed commands, the shortest first. Unit: picoseconds.
pub(crate) fn response_times(kept: &Kept) -> Vec<u64> {
    let (arrivals, completed) = kept.0.lock().expect("no panic").clone();
    let at: BTreeMap<u64, Time> = arrivals.iter().map(|it| (it.number, it.at)).collect();
    let mut times: Vec<u64> = completed.iter().map(|it| it.1.0 - at[&it.0].0).collect();
    times.sort_unstable();
    times
}

/// True if tests are to run at full size, as `make long` does.
pub(crate) fn is_whole() -> bool {
    std::env::var("SCALE").is_ok_and(|it| it == "all")
}

/// Times of the completions of the server, in order.
pub(crate) fn completed(kept: &Kept) -> Vec<Time> {
    kept.0.lock().expect("no panic").1.iter().map(|it| it.1).collect()
}

/// Draws numbers.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Data that differs from place to place and from `salt` to `salt`.
pub(crate) fn data(offset: u64, length: usize, salt: u8) -> Vec<u8> {
    let place = offset..offset + length as u64;
    place.map(|at| (at / 512) as u8 ^ (at % 251) as u8 ^ salt).collect()
}
