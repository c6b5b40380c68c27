//! Tests of the measurements of speed, as one program.

mod command;
