//! Tests of the measurements of drives, as one program.

mod linux;
mod page;
mod seen;
