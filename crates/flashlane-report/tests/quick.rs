//! Tests of the page of a run, as one program.

mod page;
mod placement;
