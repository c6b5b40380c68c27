//! Facts about an executable that are needed before it is loaded.

/// Start of the heap: behind the last segment, at a whole page.
///
/// # Errors
///
/// The reason why the file is no program for this emulator.
pub(crate) fn heap_start(elf: &[u8]) -> Result<u64, String> {
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let slice = elf.get(at..at.checked_add(bytes)?)?;
        Some(slice.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    let field = |at, bytes| number(at, bytes).ok_or_else(|| "the file is cut off".to_owned());
    if elf.get(..4) != Some(b"\x7fELF") {
        return Err("found no ELF file".to_owned());
    }
    if field(4, 1)? != 2 || field(5, 1)? != 1 || field(18, 2)? != 243 {
        return Err("found an executable for another processor".to_owned());
    }
    if field(16, 2)? != 2 {
        return Err("found an executable that is linked dynamically".to_owned());
    }
    let (table, size, count) = (field(32, 8)?, field(54, 2)?, field(56, 2)?);
    let mut end = 0;
    for index in 0..count {
        let at = usize::try_from(table + index * size).map_err(|_| "the file is cut off")?;
        let (address, length) = (field(at + 16, 8)?, field(at + 40, 8)?);
        end = address.checked_add(length).ok_or("a segment ends nowhere")?.max(end);
    }
    end.checked_next_multiple_of(4096).ok_or_else(|| "a segment ends nowhere".to_owned())
}

/// Start and length of every segment that is loaded, in the order of their addresses.
/// [`heap_start`] must have accepted the program.
pub(crate) fn segments(elf: &[u8]) -> Vec<(u64, u64)> {
    const LOAD: u64 = 1;
    let number = |at: u64, bytes: usize| -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let slice = elf.get(at..at.checked_add(bytes)?)?;
        Some(slice.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    let field = |at: u64, bytes| number(at, bytes).unwrap_or(0);
    let (table, size, count) = (field(32, 8), field(54, 2), field(56, 2));
    let header = |index| table + index * size;
    let loaded = (0..count).map(header).filter(|&at| field(at, 4) == LOAD);
    let mut found: Vec<(u64, u64)> =
        loaded.map(|at| (field(at + 16, 8), field(at + 40, 8))).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        assert_eq!(heap_start(b"#!/bin/sh"), Err("found no ELF file".to_owned()));
        let x86 = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0";
        assert_eq!(heap_start(x86), Err("found an executable for another processor".to_owned()));
        let short = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0";
        assert_eq!(heap_start(short), Err("the file is cut off".to_owned()));
    }
}
