//! Clients of ours over real sockets of this machine.

#[cfg(target_os = "linux")]
mod doors;
mod faults;
mod fio;
mod nbd;
mod nbd_client;
mod pacing;
mod run;
#[cfg(target_os = "linux")]
mod scale;
mod status;
mod tcp;
mod tcp_client;
#[cfg(target_os = "linux")]
mod vfio_guest;
#[cfg(target_os = "linux")]
mod vfio_user;
