//! Tests of the command that take longer than those of `quick.rs`, as one program.

mod common;
mod demonstration;
mod docs;
mod guest;
mod pages_over_seeds;
mod reproduce;
