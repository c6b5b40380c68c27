//! System calls on names and descriptors.

use super::descriptors::{Open, Target};
use super::{
    Call, EBADF, EEXIST, EFAULT, EINVAL, EISDIR, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY, ENOTTY, EPERM,
    ESPIPE, Outcome,
};
use crate::config::Hints;
use crate::process::Process;
use crate::threads::Wait;

const O_ACCMODE: u64 = 3;
const O_CREAT: u64 = 0o100;
const O_EXCL: u64 = 0o200;
const O_TRUNC: u64 = 0o1000;
const O_APPEND: u64 = 0o2000;
const O_DSYNC: u64 = 0o10000;
const O_DIRECT: u64 = 0o40000;
const O_DIRECTORY: u64 = 0o200_000;

/// `F_GET_RW_HINT` and `F_SET_RW_HINT` of `fcntl`.
const GET_HINT: u64 = 1035;
const SET_HINT: u64 = 1036;

/// A program that opens this path begins its measured part. It waits until every other program has
/// begun its part or has ended. There is no such file, so on other systems the call has no effect.
const BEGIN: &str = "/flashlane/begin";

/// A program that opens this path ends its measured part.
const END: &str = "/flashlane/end";

impl Process {
    pub(super) fn file_call(&mut self, call: &Call) -> Option<Outcome> {
        let [first, second, third, fourth, ..] = call.arguments;
        Some(Outcome::Value(match call.number {
            17 => match self.give(first, b"/\0") {
                0 => 2,
                error => error,
            },
            23 => self.duplicate(call.int(0), 0),
            24 => self.duplicate_to(call.int(0), call.int(1)),
            25 => self.control(call),
            29 => ENOTTY,
            // Locks, owners, modes and times of files are not kept; programs share no files.
            32 | 52..=55 | 88 => 0,
            34 => self.make_folder(first, second),
            35 => self.unlink(first, second, third),
            38 | 276 => self.rename(first, second, third, fourth),
            43 | 44 => self.file_system_information(second),
            45 => match self.path(AT_FDCWD, first) {
                Ok(path) => match self.host.files.find(&path) {
                    Some(file) => self.resize(file, second),
                    None => ENOENT,
                },
                Err(error) => error,
            },
            46 => match self.descriptors.open(call.int(0)).filter(|open| open.writes) {
                Some(&mut Open { file, .. }) => self.resize(file, second),
                None => EINVAL,
            },
            47 => self.allocate(call.int(0), second, third, fourth),
            48 | 439 => match self.path(first, second) {
                Ok(path) if self.exists(&path) => 0,
                Ok(_) => ENOENT,
                Err(error) => error,
            },
            49 => 0,
            56 => return Some(self.open(first, second, third)),
            57 => match self.descriptors.close(call.int(0)) {
                Some(file) => {
                    if let Some(file) = file {
                        self.host.files.closed(file);
                        self.host.drop_unused(file);
                    }
                    0
                }
                None => EBADF,
            },
            61 => self.list(call.int(0), second, third),
            62 => self.seek(call),
            78 => EINVAL,
            79 => self.status_at(first, second, third, fourth),
            80 => self.status(call.int(0), second),
            _ => return None,
        }))
    }

    /// The absolute path of an argument, without `.`, `..` and double slashes.
    pub(super) fn path(&mut self, folder: u64, address: u64) -> Result<String, i64> {
        let text = self.machine.text(address, 4096).ok_or(EFAULT)?;
        let mut parts: Vec<String> = Vec::new();
        if !text.starts_with('/') && folder as i32 != AT_FDCWD as i32 {
            match self.descriptors.get(folder as i32) {
                Some(Target::Folder(path, _)) => {
                    parts
                        .extend(path.split('/').filter(|part| !part.is_empty()).map(str::to_owned));
                }
                Some(_) => return Err(ENOTDIR),
                None => return Err(EBADF),
            }
        }
        if text.is_empty() {
            return Err(ENOENT);
        }
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                name => parts.push(name.to_owned()),
            }
        }
        Ok(format!("/{}", parts.join("/")))
    }

    fn exists(&self, path: &str) -> bool {
        self.host.files.find(path).is_some() || self.host.files.is_folder(path)
    }

    fn open(&mut self, folder: u64, address: u64, flags: u64) -> Outcome {
        let path = match self.path(folder, address) {
            Ok(path) => path,
            Err(error) => return Outcome::Value(error),
        };
        match path.as_str() {
            BEGIN if self.measure.marked || self.begins() => return Outcome::Value(ENOENT),
            BEGIN => return Outcome::Park(Wait::Begin, None),
            END => {
                self.end_measure();
                return Outcome::Value(ENOENT);
            }
            _ => {}
        }
        let special = match path.as_str() {
            "/dev/null" => Some(Target::Null),
            "/dev/urandom" | "/dev/random" => Some(Target::Random),
            path if self.host.files.is_folder(path) => Some(Target::Folder(path.to_owned(), 0)),
            _ => None,
        };
        if let Some(target) = special {
            if matches!(target, Target::Folder(..)) && flags & O_ACCMODE != 0 {
                return Outcome::Value(EISDIR);
            }
            return Outcome::Value(self.descriptors.add(target, 0).into());
        }
        Outcome::Value(self.open_file(&path, flags))
    }

    fn open_file(&mut self, path: &str, flags: u64) -> i64 {
        let files = &mut self.host.files;
        let file = match files.find(path) {
            Some(_) if flags & O_CREAT != 0 && flags & O_EXCL != 0 => return EEXIST,
            Some(_) if flags & O_DIRECTORY != 0 => return ENOTDIR,
            Some(file) => file,
            None if flags & O_CREAT == 0 || !files.has_parent(path) => return ENOENT,
            None => files.create(path),
        };
        files.opened(file);
        if flags & O_TRUNC != 0 && flags & O_ACCMODE != 0 && files.get(file).size > 0 {
            self.host.resize(file, 0);
        }
        let open = Open {
            file,
            append: flags & O_APPEND != 0,
            direct: flags & O_DIRECT != 0,
            synchronous: flags & O_DSYNC != 0,
            reads: flags & O_ACCMODE != 1,
            writes: flags & O_ACCMODE != 0,
            flags,
            ..Open::default()
        };
        self.descriptors.add_open(open).into()
    }

    fn duplicate(&mut self, descriptor: i32, from: i32) -> i64 {
        match self.descriptors.get(descriptor).cloned() {
            Some(target) if from >= 0 => self.descriptors.add(target, from).into(),
            Some(_) => EINVAL,
            None => EBADF,
        }
    }

    fn duplicate_to(&mut self, from: i32, to: i32) -> i64 {
        let Some(target) = self.descriptors.get(from).cloned() else { return EBADF };
        if from == to || to < 0 {
            return EINVAL;
        }
        if let Some(Some(file)) = self.descriptors.close(to) {
            self.host.files.closed(file);
            self.host.drop_unused(file);
        }
        self.descriptors.put(to, target);
        to.into()
    }

    fn control(&mut self, call: &Call) -> i64 {
        let [_, command, argument, ..] = call.arguments;
        match command {
            0 | 1030 => self.duplicate(call.int(0), argument as i32),
            3 => match self.descriptors.open(call.int(0)) {
                Some(open) => (open.flags & !O_CREAT & !O_TRUNC & !O_EXCL).cast_signed(),
                None => 2,
            },
            4 => {
                if let Some(open) = self.descriptors.open(call.int(0)) {
                    open.direct = argument & O_DIRECT != 0;
                    open.append = argument & O_APPEND != 0;
                    open.flags = open.flags & O_ACCMODE | argument & !O_ACCMODE;
                }
                0
            }
            // No other process has a lock, so its type becomes "unlocked".
            5 => self.give(argument, &2u16.to_le_bytes()),
            1 | 2 | 6 | 7 => 0,
            GET_HINT => match self.descriptors.file(call.int(0)) {
                Some(file) => {
                    let hint = self.host.files.get(file).hint;
                    self.give(argument, &hint.to_le_bytes())
                }
                None => EINVAL,
            },
            SET_HINT => self.set_hint(call.int(0), argument),
            _ => EINVAL,
        }
    }

    /// The program tells how long the data of a file will live.
    fn set_hint(&mut self, descriptor: i32, address: u64) -> i64 {
        let Some(hint) = self.take_u64(address) else { return EFAULT };
        match self.descriptors.file(descriptor) {
            Some(file) if hint <= Hints::MOST => {
                self.host.files.get_mut(file).hint = hint;
                0
            }
            _ => EINVAL,
        }
    }

    fn make_folder(&mut self, folder: u64, address: u64) -> i64 {
        match self.path(folder, address) {
            Ok(path) if self.exists(&path) => EEXIST,
            Ok(path) if !self.host.files.has_parent(&path) => ENOENT,
            Ok(path) => {
                self.host.files.make_folder(&path);
                0
            }
            Err(error) => error,
        }
    }

    fn unlink(&mut self, folder: u64, address: u64, flags: u64) -> i64 {
        let path = match self.path(folder, address) {
            Ok(path) => path,
            Err(error) => return error,
        };
        if self.host.files.is_folder(&path) {
            if flags & 0x200 == 0 {
                return EISDIR;
            }
            return if self.host.files.remove_folder(&path) { 0 } else { ENOTEMPTY };
        }
        let Some(file) = self.host.files.unlink(&path) else { return ENOENT };
        self.host.files.nameless(file);
        self.host.drop_unused(file);
        0
    }

    fn rename(&mut self, from_folder: u64, from: u64, to_folder: u64, to: u64) -> i64 {
        let (from, to) = match (self.path(from_folder, from), self.path(to_folder, to)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(error), _) | (_, Err(error)) => return error,
        };
        if self.host.files.is_folder(&from) || self.host.files.is_folder(&to) {
            return EPERM;
        }
        if self.host.files.find(&from).is_none() || !self.host.files.has_parent(&to) {
            return ENOENT;
        }
        if let Some(old) = self.host.files.rename(&from, &to) {
            self.host.files.nameless(old);
            self.host.drop_unused(old);
        }
        0
    }

    fn resize(&mut self, file: u32, size: u64) -> i64 {
        if size > 1 << 44 {
            return EINVAL;
        }
        self.host.resize(file, size);
        0
    }

    /// Reserves drive space for a range. Its pages count as written, so reads of them go to the
    /// drive.
    fn allocate(&mut self, descriptor: i32, mode: u64, offset: u64, length: u64) -> i64 {
        let Some(&mut Open { file, .. }) = self.descriptors.open(descriptor).filter(|o| o.writes)
        else {
            return EBADF;
        };
        let Some(end) = offset.checked_add(length).filter(|&end| end <= 1 << 44) else {
            return EINVAL;
        };
        // Only complete allocation is supported, with or without a new size.
        if length == 0 || mode > 1 {
            return EINVAL;
        }
        if self.host.reserve(file, offset, length).is_err() {
            return ENOSPC;
        }
        if mode == 0 && end > self.host.files.get(file).size {
            self.host.resize(file, end);
        }
        0
    }

    fn seek(&mut self, call: &Call) -> i64 {
        let [_, to, from, ..] = call.arguments;
        let Some(open) = self.descriptors.open(call.int(0)) else {
            return if self.descriptors.get(call.int(0)).is_some() { ESPIPE } else { EBADF };
        };
        let base = match from {
            0 => 0,
            1 => open.offset,
            2 => self.host.files.get(open.file).size,
            _ => return EINVAL,
        };
        let Some(offset) = base.checked_add_signed(to.cast_signed()).filter(|&at| at <= 1 << 44)
        else {
            return EINVAL;
        };
        open.offset = offset;
        offset.cast_signed()
    }
}

/// "Relative to the current folder", which is always the root.
const AT_FDCWD: u64 = -100i64 as u64;
