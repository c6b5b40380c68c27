//! The descriptors of a program, and the things that they refer to.

use std::collections::BTreeMap;

use crate::host::ReadAhead;

/// An open file. Copies of a descriptor by `dup` share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) append: bool,
    pub(crate) direct: bool,
    pub(crate) synchronous: bool,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) ahead: ReadAhead,
    pub(super) flags: u64,
    pub(super) descriptors: u32,
}

/// The thing that a descriptor refers to.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Standard output and error; reading gives nothing.
    Console,
    /// `/dev/null`.
    Null,
    /// `/dev/urandom`.
    Random,
    /// A file, by the number of its [`Open`].
    File(u64),
    /// A folder, with the number of its names that were read.
    Folder(String, usize),
}

/// The descriptors of a program.
#[derive(Debug)]
pub(crate) struct Descriptors {
    pub(super) targets: BTreeMap<i32, Target>,
    opens: BTreeMap<u64, Open>,
    next: u64,
}

impl Default for Descriptors {
    fn default() -> Self {
        let targets = (0..3).map(|number| (number, Target::Console)).collect();
        Self { targets, opens: BTreeMap::new(), next: 0 }
    }
}

impl Descriptors {
    /// The thing that a descriptor refers to.
    pub(crate) fn get(&self, descriptor: i32) -> Option<&Target> {
        self.targets.get(&descriptor)
    }

    /// The open file of a descriptor.
    pub(crate) fn open(&mut self, descriptor: i32) -> Option<&mut Open> {
        match self.targets.get(&descriptor)? {
            Target::File(open) => self.opens.get_mut(open),
            _ => None,
        }
    }

    /// The file of a descriptor.
    pub(crate) fn file(&mut self, descriptor: i32) -> Option<u32> {
        self.open(descriptor).map(|open| open.file)
    }

    /// Opens a file: a new descriptor for it.
    pub(super) fn add_open(&mut self, open: Open) -> i32 {
        let number = self.next;
        self.next += 1;
        self.opens.insert(number, open);
        self.add(Target::File(number), 0)
    }

    /// Makes a descriptor: the smallest free one from `from` on.
    pub(super) fn add(&mut self, target: Target, from: i32) -> i32 {
        let number = (from..).find(|number| !self.targets.contains_key(number));
        let number = number.expect("there are fewer descriptors than numbers");
        self.put(number, target);
        number
    }

    pub(super) fn put(&mut self, number: i32, target: Target) {
        if let Target::File(open) = &target {
            self.opens.get_mut(open).expect("an open file").descriptors += 1;
        }
        self.targets.insert(number, target);
    }

    /// Closes a descriptor. `Some(Some(file))` if this also closed the file.
    pub(super) fn close(&mut self, descriptor: i32) -> Option<Option<u32>> {
        let Target::File(number) = self.targets.remove(&descriptor)? else { return Some(None) };
        let open = self.opens.get_mut(&number).expect("an open file");
        open.descriptors -= 1;
        if open.descriptors > 0 {
            return Some(None);
        }
        Some(self.opens.remove(&number).map(|open| open.file))
    }
}
