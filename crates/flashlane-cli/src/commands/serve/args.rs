//! Arguments of `serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use flashlane::config::load::Overrides;
use flashlane::config::units::{ByteSize, Span};
use flashlane_serve::{Address, Door, Limits, Network, Pace, StoreKind};

use crate::args::{Compat, OverwriteArgs, TextOrJson, parse_window};

/// Picoseconds in a nanosecond.
const NANOSECOND_PS: u64 = 1_000;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Preset name, TOML file, or MQSim ssdconfig.xml.
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) device: String,
    /// Workload file whose flows are the tenants. Their requests come from clients; a source of
    /// requests in the file only tells what data the drive holds at the start.
    #[arg(long, value_name = "FILE", conflicts_with = "tenants")]
    pub(crate) workload: Option<PathBuf>,
    /// Number of tenants, without a workload file. They share the drive equally.
    #[arg(long, value_name = "N", default_value_t = 2,
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) tenants: u16,
    /// What a tenant is: a queue (an NVMe queue or an NBD connection), a host, or a priority class
    /// of queues, all of which share one namespace; or a namespace (an NBD export).
    #[arg(long, value_name = "WHAT", default_value = "queue")]
    pub(crate) tenant_is: TenantIs,
    /// Listen for NVMe over TCP; port 0 for any free port; repeatable.
    #[arg(long, value_name = "ADDR:PORT")]
    nvme_tcp: Vec<Address>,
    /// Listen for NBD; port 0 for any free port; repeatable.
    #[arg(long, value_name = "ADDR:PORT|unix:PATH")]
    nbd: Vec<Address>,
    /// Be an NVMe controller behind PCIe for virtual machines (vfio-user); Linux only; repeatable.
    #[arg(long, value_name = "unix:PATH")]
    vfio_user: Vec<Address>,
    /// Show a live page over HTTP, and counts for Prometheus at /metrics; port 0 for any free port.
    #[arg(long, value_name = "ADDR:PORT")]
    status: Option<Address>,
    /// Where the data is: in memory, in a sparse file that stays, or nowhere (every read gets a
    /// pattern).
    #[arg(long, value_name = "memory|sparse:FILE|pattern", default_value = "memory")]
    pub(crate) store: StoreKind,
    /// How simulated time passes: as real time does, N times as slowly, or as fast as the clients
    /// are.
    #[arg(long, value_name = "real|dilated=N|virtual", default_value = "real")]
    pub(crate) time: Pace,
    /// Folder for a recording that `flashlane run --arrivals` replays: arrivals.parquet,
    /// workload.toml and device.toml.
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// A network that may connect, beside this machine; repeatable. Hosts prove nothing about who
    /// they are.
    #[arg(long, value_name = "CIDR")]
    pub(crate) allow: Vec<Network>,
    /// Logical block of the namespaces. Unit: bytes. Allowed: 512, 4096.
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    pub(crate) block: u32,
    /// Scheduling policy, in place of the device's policy (see `flashlane policies`).
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Isolation policy, in place of the device's policy.
    #[arg(long, value_name = "NAME")]
    isolation: Option<String>,
    /// Set a key of the device or of the workload; repeatable.
    #[arg(long = "set", value_name = "PATH.TO.KEY=VALUE")]
    sets: Vec<String>,
    /// Switch to the arithmetic of the released MQSim.
    #[arg(long, value_name = "MODE")]
    compat: Option<Compat>,
    /// Seed of all random draws.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Audit the state of the model while it serves (slow).
    #[arg(long)]
    pub(crate) check: bool,
    /// Show which tenant delays which, and why; with --out also as blame.json.
    #[arg(long)]
    pub(crate) blame: bool,
    /// Folder for summary.json and serve.json; made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Format of standard output: lines and tables for people, or a JSON object on each line.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: TextOrJson,
    /// Print no notes and no warnings; with `--format json` also no table.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// What clients may take of this machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Connections at a time. A further client is disconnected at once.
    #[arg(long, value_name = "N", default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=65_536))]
    connections: u32,
    /// I/O queues of an NVMe controller.
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u16).range(1..=65_534))]
    queues: u16,
    /// NVMe controllers at a time.
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u16).range(1..=65_519))]
    controllers: u16,
    /// Time in which a connection must become a queue or an export.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_window)]
    handshake: Span,
    /// Data of a connection that is kept in memory. Beyond it no further commands are read.
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = parse_size)]
    connection_data: ByteSize,
    /// The largest NBD request with data.
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = parse_size)]
    request_data: ByteSize,
    /// Data that the store keeps in memory. A write beyond it is a media error of that command.
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = parse_store)]
    store_data: ByteSize,
    /// With `--time virtual`: how long a client may think before time goes on without it.
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = parse_window)]
    patience: Span,
}

/// What a tenant is to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TenantIs {
    /// A queue of NVMe, or a connection of NBD.
    Queue,
    /// A namespace of NVMe, or an export of NBD.
    Namespace,
    /// A host of NVMe by its name, or a connection of NBD.
    Host,
    /// A priority class of queues, as hosts of NVMe name them.
    Class,
}

/// A size from 4 KiB to 1 GiB.
fn parse_size(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if (4096..=1 << 30).contains(&size.0) => Ok(size),
        Ok(_) => Err("allowed: 4KiB to 1GiB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A size above 0.
fn parse_store(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.0 > 0 => Ok(size),
        Ok(_) => Err("allowed: above 0".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl ServeArgs {
    /// The addresses to listen on, with their protocols.
    pub(crate) fn doors(&self) -> Vec<(Door, Address)> {
        let of = |door, addresses: &[Address]| {
            let addresses = addresses.iter().map(|address| (door, address.clone()));
            addresses.collect::<Vec<_>>()
        };
        [
            of(Door::NvmeTcp, &self.nvme_tcp),
            of(Door::Nbd, &self.nbd),
            of(Door::VfioUser, &self.vfio_user),
        ]
        .concat()
    }

    /// Where the live page is, if it is asked for.
    pub(crate) fn status(&self) -> Option<(Door, Address)> {
        Some((Door::Status, self.status.clone()?))
    }

    /// What clients may take.
    pub(crate) fn limits(&self) -> Limits {
        let time = |span: Span| Duration::from_nanos(span.0.div_ceil(NANOSECOND_PS));
        let limits = &self.limits;
        Limits {
            connections: limits.connections as usize,
            queues: limits.queues,
            controllers: limits.controllers,
            handshake: time(limits.handshake),
            connection_bytes: limits.connection_data.0 as usize,
            request_bytes: limits.request_data.0 as usize,
            store_bytes: limits.store_data.0,
            patience: time(limits.patience),
        }
    }

    /// The settings of the command line, which override the files.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            scheduler: self.scheduler.clone(),
            isolation: self.isolation.clone(),
            compat_mqsim: self.compat.is_some(),
            sets: self.sets.clone(),
            ..Overrides::default()
        }
    }
}
