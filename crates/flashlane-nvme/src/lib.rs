//! The NVMe subsystem of a simulated drive: its namespaces with their data, and its controllers
//! with their commands and logs. It knows no transport and opens no socket.
//!
//! A door (NVMe/TCP, NBD) brings commands with the times at which they arrive, and takes
//! completions with the times at which the simulated drive has them. [`Subsystem`] is the face for
//! doors that speak NVMe. [`Media`], the layer below, is the face for doors that speak another
//! protocol: it reads, writes, trims and flushes namespaces.
//!
//! # Time
//!
//! All times are simulated. A command enters the drive after all events up to and including its
//! time, and commands of one picosecond enter in the order in which they were submitted. So a
//! record of times, tenants and commands ([`Journal`]) is enough to get the same completions
//! again. Admin commands other than Format NVM take no simulated time.

mod admin;
mod bytes;
mod controller;
mod entry;
mod fabrics;
mod media;
mod opcode;
pub mod pcie;
mod status;
mod subsystem;

pub use controller::Transfer;
pub use entry::{CompletionEntry, DataPointer, Entry};
pub use fabrics::{ConnectData, DISCOVERY_NQN, DiscoveryRecord, FabricsCommand, Family};
pub use media::{
    Action, Arrival, Client, Finished, Journal, Media, MediaConfig, MemoryStore, Range,
    SECTOR_BYTES, Store, Tenancy, TenantLimit, WorkError,
};
pub use opcode::{admin as admin_opcode, fabrics as fabrics_type, io as io_opcode};
pub use status::Status;
pub use subsystem::{Connected, Done, Identity, QueueKey, Subsystem};
