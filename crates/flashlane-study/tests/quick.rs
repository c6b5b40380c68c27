//! Tests of sweeps, as one program.

mod files;
