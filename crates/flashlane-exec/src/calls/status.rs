//! System calls that describe files, folders and file systems.

use super::descriptors::Target;
use super::{EBADF, EFAULT, EINVAL, ENOENT, ENOTDIR};
use crate::host::PAGE;
use crate::process::Process;

impl Process {
    pub(super) fn list(&mut self, descriptor: i32, address: u64, room: u64) -> i64 {
        let Some(Target::Folder(path, done)) = self.descriptors.get(descriptor).cloned() else {
            return ENOTDIR;
        };
        let (mut bytes, mut next) = (Vec::new(), done);
        for (name, number, folder) in self.host.files.entries(&path).into_iter().skip(done) {
            let length = (19 + name.len() + 1).next_multiple_of(8);
            if bytes.len() + length > room as usize {
                if bytes.is_empty() {
                    return EINVAL;
                }
                break;
            }
            next += 1;
            let start = bytes.len();
            bytes.extend(u64::from(number).to_le_bytes());
            bytes.extend((next as u64).to_le_bytes());
            bytes.extend((length as u16).to_le_bytes());
            bytes.push(if folder { 4 } else { 8 });
            bytes.extend(name.as_bytes());
            bytes.resize(start + length, 0);
        }
        if self.give(address, &bytes) != 0 {
            return EFAULT;
        }
        if let Some(Target::Folder(_, done)) = self.descriptors.targets.get_mut(&descriptor) {
            *done = next;
        }
        bytes.len() as i64
    }

    pub(super) fn status_at(&mut self, folder: u64, path: u64, address: u64, flags: u64) -> i64 {
        let empty = self.machine.text(path, 4096).is_some_and(|text| text.is_empty());
        if flags & 0x1000 != 0 && empty {
            return self.status(folder as i32, address);
        }
        let path = match self.path(folder, path) {
            Ok(path) => path,
            Err(error) => return error,
        };
        match self.host.files.find(&path) {
            Some(file) => self.give_status(Some(file), 0o100_644, address),
            None if self.host.files.is_folder(&path) => self.give_status(None, 0o040_755, address),
            None => ENOENT,
        }
    }

    pub(super) fn status(&mut self, descriptor: i32, address: u64) -> i64 {
        match self.descriptors.get(descriptor) {
            None => EBADF,
            Some(Target::File(_)) => {
                let file = self.descriptors.file(descriptor);
                self.give_status(file, 0o100_644, address)
            }
            Some(Target::Folder(..)) => self.give_status(None, 0o040_755, address),
            Some(_) => self.give_status(None, 0o020_666, address),
        }
    }

    fn give_status(&mut self, file: Option<u32>, mode: u32, address: u64) -> i64 {
        let size = file.map_or(0, |file| self.host.files.get(file).size);
        let mut bytes = [0; 128];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &1u64.to_le_bytes());
        put(8, &u64::from(file.unwrap_or(0)).to_le_bytes());
        put(16, &mode.to_le_bytes());
        put(20, &1u32.to_le_bytes());
        put(48, &size.to_le_bytes());
        put(56, &(PAGE as u32).to_le_bytes());
        put(64, &size.div_ceil(512).to_le_bytes());
        self.give(address, &bytes)
    }

    pub(super) fn file_system_information(&mut self, address: u64) -> i64 {
        let mut bytes = [0; 120];
        bytes[..8].copy_from_slice(&0xef53u64.to_le_bytes());
        bytes[8..16].copy_from_slice(&PAGE.to_le_bytes());
        bytes[64..72].copy_from_slice(&255u64.to_le_bytes());
        bytes[72..80].copy_from_slice(&PAGE.to_le_bytes());
        self.give(address, &bytes)
    }
}
