//! Tests of the readers and writers of traces, as one program.

mod compression;
mod properties;
mod real_traces;
mod statistics;
mod tools;
mod writers;
