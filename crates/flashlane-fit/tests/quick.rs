//! Tests of the fit of configurations to drives, as one program.

mod assumptions;
mod blind;
mod curves;
mod hidden;
mod presets;
