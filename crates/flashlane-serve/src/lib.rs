//! Serves a simulated drive to real clients, which use it as they use a drive. The data is real,
//! and the times are those of the simulated drive.
//!
//! The doors are NVMe/TCP (`tcp`), NBD (`nbd`), vfio-user (`vfio_user`) and the live page
//! (`status`). A door translates and decides nothing: it reads bytes of a connection and writes
//! bytes to it, and knows no socket. One thread ([`Server`]) does all the rest: it waits for the
//! sockets with `mio`, and steps the drive. So no two things happen at the same time, and with the
//! virtual clock the server knows when all sockets are empty.

mod allow;
mod conversation;
mod house;
mod limits;
mod nbd;
mod pace;
mod server;
mod session;
mod status;
mod store;
mod tcp;
#[cfg(target_os = "linux")]
mod vfio_user;

pub use allow::Network;
pub use conversation::Conversation;
pub use limits::Limits;
pub use pace::{Lateness, Pace};
pub use server::{Address, Door, Outcome, ServeConfig, Server};
pub use store::{PatternStore, SparseFile, StoreKind};
