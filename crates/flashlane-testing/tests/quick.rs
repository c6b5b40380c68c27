//! Tests of the helpers of tests, as one program.

mod skip;
