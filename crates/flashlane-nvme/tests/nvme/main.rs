//! The subsystem as hosts and doors see it.

mod bring_up;
mod data;
mod host;
mod logs;
mod times;
