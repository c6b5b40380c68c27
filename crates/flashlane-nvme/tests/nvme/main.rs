//! The subsystem as hosts and doors see it.

mod bring_up;
mod data;
mod host;
mod logs;
mod pcie;
mod pcie_driver;
mod pcie_random;
mod times;
