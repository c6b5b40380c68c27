//! The subsystem as hosts and doors see it.

mod bring_up;
mod data;
mod fdp;
mod format;
mod host;
mod logs;
mod pcie;
mod pcie_driver;
mod pcie_placement;
mod pcie_random;
mod tenancy;
mod times;
