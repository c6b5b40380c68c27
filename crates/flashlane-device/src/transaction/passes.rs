//! The pass of a program, where word lines are programmed in two (`ftl/units/passes.rs`).

use super::{Op, SOFT, Transaction};

/// Mark of a program that is the second pass of its word line. Such a program has no reads left, so
/// that the field is free for it.
const SECOND_PASS: u8 = SOFT;

impl Transaction {
    /// True for the second pass of a word line, with two-pass programming.
    #[inline]
    #[must_use]
    pub fn in_second_pass(&self) -> bool {
        self.reads_left == SECOND_PASS && self.op == Op::Program
    }

    /// The program of a word line is its second pass from now on.
    pub(crate) fn begin_second_pass(&mut self) {
        assert!(self.op == Op::Program && self.reads_left == 0, "a word line has two passes");
        self.reads_left = SECOND_PASS;
    }
}
