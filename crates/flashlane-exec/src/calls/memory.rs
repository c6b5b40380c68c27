//! System calls on memory.

use super::{Call, EBADF, EFAULT, EINVAL, ENOMEM, Outcome};
use crate::host::PAGE;
use crate::memory::SharedMapping;
use crate::process::Process;

/// Larger mappings without access are refused. The C library reserves such arenas for its heaps,
/// and falls back to smaller ones.
const RESERVED: u64 = 16 << 20;

const MAP_SHARED: u64 = 1;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const PROT_WRITE: u64 = 2;

impl Process {
    pub(super) fn memory_call(&mut self, call: &Call) -> Option<Outcome> {
        let [address, length, ..] = call.arguments;
        Some(Outcome::Value(match call.number {
            214 => {
                let before = self.memory.brk();
                let (end, fresh) = self.memory.set_brk(address);
                let last = end.next_multiple_of(PAGE);
                match end.checked_sub(before) {
                    Some(more) => self.machine.open(before, more),
                    None => self.machine.close(last, before.next_multiple_of(PAGE) - last),
                }
                if let Some((start, length)) = fresh {
                    self.clear(start, length);
                }
                end.cast_signed()
            }
            215 => {
                let cost = self.save_shared(address, length, true);
                if !self.memory.unmap(address, length) {
                    return Some(Outcome::Value(EINVAL));
                }
                self.machine.close(address, length.next_multiple_of(PAGE));
                return Some(Outcome::Costly(0, cost));
            }
            216 => self.remap(call),
            222 => return Some(self.map(call)),
            // All memory may be read and written, and advice is ignored.
            223 | 226 | 233 => 0,
            227 => return Some(Outcome::Costly(0, self.save_shared(address, length, false))),
            _ => return None,
        }))
    }

    fn clear(&mut self, start: u64, length: u64) {
        static ZEROS: [u8; 65_536] = [0; 65_536];
        let (mut at, end) = (start, start + length);
        while at < end {
            let size = (end - at).min(ZEROS.len() as u64);
            assert!(self.machine.write(at, &ZEROS[..size as usize]), "it is the program's memory");
            at += size;
        }
    }

    fn map(&mut self, call: &Call) -> Outcome {
        let [address, length, protection, flags, _, offset] = call.arguments;
        if length == 0 || !offset.is_multiple_of(PAGE) || length > 1 << 40 {
            return Outcome::Value(EINVAL);
        }
        if protection == 0 && length > RESERVED {
            return Outcome::Value(ENOMEM);
        }
        let at = if flags & MAP_FIXED != 0 {
            if !self.memory.map_at(address, length) {
                return Outcome::Value(ENOMEM);
            }
            self.machine.open(address, length);
            if protection != 0 {
                self.clear(address, length.next_multiple_of(PAGE));
            }
            address
        } else {
            let Some((at, old)) = self.memory.map(length) else {
                return Outcome::Value(ENOMEM);
            };
            self.machine.open(at, length);
            self.clear(at, old);
            at
        };
        if flags & MAP_ANONYMOUS != 0 {
            return Outcome::Value(at.cast_signed());
        }
        let Some(file) = self.descriptors.file(call.int(4)) else {
            self.memory.unmap(at, length);
            self.machine.close(at, length.next_multiple_of(PAGE));
            return Outcome::Value(EBADF);
        };
        let mut bytes = vec![0; length as usize];
        self.host.files.get(file).read(offset, &mut bytes);
        if !self.machine.write(at, &bytes) {
            return Outcome::Value(EFAULT);
        }
        if flags & MAP_SHARED != 0 && protection & PROT_WRITE != 0 {
            self.memory.shared.push(SharedMapping { address: at, length, file, offset });
        }
        let cost = length.div_ceil(PAGE) * self.page_instructions;
        Outcome::Costly(at.cast_signed(), cost)
    }

    /// Grows or shrinks a mapping by moving it.
    fn remap(&mut self, call: &Call) -> i64 {
        let [address, before, after, flags, ..] = call.arguments;
        if flags & 1 == 0 || before == 0 || after == 0 {
            return ENOMEM;
        }
        let Some((at, old)) = self.memory.map(after) else { return ENOMEM };
        self.machine.open(at, after);
        self.clear(at, old);
        let Some(bytes) = self.machine.read(address, before.min(after) as usize) else {
            return EFAULT;
        };
        if !self.machine.write(at, &bytes) || !self.memory.unmap(address, before) {
            return EINVAL;
        }
        self.machine.close(address, before.next_multiple_of(PAGE));
        at.cast_signed()
    }

    /// Writes shared mappings that lie in a range to their files. Returns the kernel's
    /// instructions.
    fn save_shared(&mut self, address: u64, length: u64, forget: bool) -> u64 {
        let inside = |one: &SharedMapping| {
            address <= one.address
                && one.address + one.length <= address + length.next_multiple_of(PAGE)
        };
        let found: Vec<SharedMapping> =
            self.memory.shared.iter().filter(|one| inside(one)).copied().collect();
        let mut pages = 0;
        for one in &found {
            let size = match self.host.files.find_mut(one.file) {
                Some(file) => file.size,
                None => continue,
            };
            let kept = one.length.min(size.saturating_sub(one.offset));
            if let Some(bytes) = self.machine.read(one.address, kept as usize) {
                self.host.files.get_mut(one.file).write(one.offset, &bytes);
                pages += kept.div_ceil(PAGE);
            }
        }
        if forget {
            self.memory.shared.retain(|one| !inside(one));
        }
        pages * self.page_instructions
    }
}
