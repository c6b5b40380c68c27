//! Tests of programs on a drive, as one program.

mod common;
mod exec;
mod hints;
