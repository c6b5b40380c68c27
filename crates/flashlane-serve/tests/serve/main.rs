//! Clients of ours over real sockets of this machine.

mod faults;
mod fio;
mod nbd;
mod nbd_client;
mod pacing;
mod run;
mod status;
mod tcp;
mod tcp_client;
#[cfg(target_os = "linux")]
mod vfio_guest;
#[cfg(target_os = "linux")]
mod vfio_user;
