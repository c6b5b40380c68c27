//! Files of a simulated host: names, contents, extents. Contents are kept in memory. The page cache
//! is separate, and only decides when the drive is used.

use std::collections::{BTreeMap, BTreeSet};

use super::PAGE;
use super::space::Space;

/// Contents are kept in pieces of this size. A piece that was never written takes no memory.
const CHUNK: u64 = 64 << 10;

/// A file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) size: u64,
    /// Extents by their first page: first block and length.
    extents: BTreeMap<u64, (u64, u64)>,
    chunks: BTreeMap<u64, Box<[u8]>>,
    /// True if the file has a name.
    named: bool,
    opens: u32,
    /// What the program told of the lifetime of the data; 0 if it told nothing.
    pub(crate) hint: u64,
    /// True if size or extents have changed since the last journal write.
    pub(crate) metadata_dirty: bool,
}

impl File {
    /// The block of a page, and the number of pages from it on that follow each other on the drive.
    pub(crate) fn block(&self, page: u64) -> Option<(u64, u64)> {
        let (&first, &(block, length)) = self.extents.range(..=page).next_back()?;
        (page < first + length).then(|| (block + page - first, first + length - page))
    }

    /// Copies contents. Bytes behind the end, or never written, are zero.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) {
        bytes.fill(0);
        self.pieces(offset, bytes.len(), |chunk, within, at, length| {
            if let Some(piece) = self.chunks.get(&chunk) {
                bytes[at..at + length].copy_from_slice(&piece[within..within + length]);
            }
        });
    }

    /// Changes contents, but not the size.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let mut chunks = std::mem::take(&mut self.chunks);
        self.pieces(offset, bytes.len(), |chunk, within, at, length| {
            let piece = chunks.entry(chunk).or_insert_with(|| vec![0; CHUNK as usize].into());
            piece[within..within + length].copy_from_slice(&bytes[at..at + length]);
        });
        self.chunks = chunks;
    }

    /// Cuts a range into pieces: number of the chunk, place in it, place in the range, length.
    fn pieces(&self, offset: u64, length: usize, mut each: impl FnMut(u64, usize, usize, usize)) {
        let mut at = 0;
        while at < length {
            let place = offset + at as u64;
            let within = (place % CHUNK) as usize;
            let size = (CHUNK as usize - within).min(length - at);
            each(place / CHUNK, within, at, size);
            at += size;
        }
    }
}

/// Files by name, and the free space.
#[derive(Debug)]
pub(crate) struct Files {
    all: BTreeMap<u32, File>,
    names: BTreeMap<String, u32>,
    folders: BTreeSet<String>,
    space: Space,
    next: u32,
    /// Number of pages by which a file grows.
    extent: u64,
}

impl Files {
    /// No files.
    pub(crate) fn new(space: Space, extent: u64) -> Self {
        let folders = BTreeSet::from(["/".to_owned(), "/tmp".to_owned()]);
        let (all, names) = Default::default();
        Self { all, names, folders, space, next: 1, extent }
    }

    /// A file that must exist.
    pub(crate) fn get(&self, file: u32) -> &File {
        &self.all[&file]
    }

    /// A file, for changes; `None` if it does not exist any more.
    pub(crate) fn find_mut(&mut self, file: u32) -> Option<&mut File> {
        self.all.get_mut(&file)
    }

    /// A file that must exist, for changes.
    pub(crate) fn get_mut(&mut self, file: u32) -> &mut File {
        self.all.get_mut(&file).expect("an open file is there")
    }

    /// Numbers of all files.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.all.keys().copied()
    }

    /// The file with a name.
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        self.names.get(path).copied()
    }

    /// True if there is a folder with that name.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.folders.contains(path)
    }

    /// True if the folder of a path exists.
    pub(crate) fn has_parent(&self, path: &str) -> bool {
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
        self.is_folder(if parent.is_empty() { "/" } else { parent })
    }

    /// A new file, empty.
    pub(crate) fn create(&mut self, path: &str) -> u32 {
        let number = self.next;
        self.next += 1;
        self.all.insert(number, File { named: true, metadata_dirty: true, ..File::default() });
        self.names.insert(path.to_owned(), number);
        number
    }

    /// A new folder.
    pub(crate) fn make_folder(&mut self, path: &str) {
        self.folders.insert(path.to_owned());
    }

    /// Removes an empty folder; false if it is not empty.
    pub(crate) fn remove_folder(&mut self, path: &str) -> bool {
        if !self.entries(path).is_empty() {
            return false;
        }
        self.folders.remove(path)
    }

    /// Names in a folder: name, number, and whether it is a folder.
    pub(crate) fn entries(&self, folder: &str) -> Vec<(String, u32, bool)> {
        let prefix = if folder == "/" { "/".to_owned() } else { format!("{folder}/") };
        let inside = |path: &str| {
            let name = path.strip_prefix(&prefix)?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        let from = |prefix: &String| prefix.clone()..;
        let files =
            self.names.range(from(&prefix)).take_while(|(path, _)| path.starts_with(&prefix));
        let files = files.filter_map(|(path, &number)| Some((inside(path)?, number, false)));
        let folders = self.folders.range(from(&prefix));
        let folders = folders.take_while(|path| path.starts_with(&prefix));
        files.chain(folders.filter_map(|path| Some((inside(path)?, 0, true)))).collect()
    }

    /// Renames a file. Returns the number of a file that had the new name before.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Option<u32> {
        let number = self.names.remove(from).expect("the file has this name");
        self.get_mut(number).metadata_dirty = true;
        self.names.insert(to.to_owned(), number).filter(|&old| old != number)
    }

    /// Removes a name. Returns the number of the file.
    pub(crate) fn unlink(&mut self, path: &str) -> Option<u32> {
        self.names.remove(path)
    }

    /// Notes that a file is opened.
    pub(crate) fn opened(&mut self, file: u32) {
        self.get_mut(file).opens += 1;
    }

    /// Notes that a file is closed.
    pub(crate) fn closed(&mut self, file: u32) {
        let file = self.get_mut(file);
        assert!(file.opens > 0, "a file is closed as often as it was opened");
        file.opens -= 1;
    }

    /// Notes that a file lost its name.
    pub(crate) fn nameless(&mut self, file: u32) {
        self.get_mut(file).named = false;
    }

    /// Forgets a file that has no name and is not open. Returns its extents, which are free now.
    pub(crate) fn drop_unused(&mut self, file: u32) -> Option<Vec<(u64, u64)>> {
        let unused = self.all.get(&file).is_some_and(|one| !one.named && one.opens == 0);
        if !unused {
            return None;
        }
        let file = self.all.remove(&file).expect("it was there");
        let extents: Vec<(u64, u64)> = file.extents.into_values().collect();
        for &(start, length) in &extents {
            self.space.release(start, length);
        }
        Some(extents)
    }

    /// Makes sure that the pages of a range have blocks. False if there is no room; then nothing
    /// has changed.
    #[must_use]
    pub(crate) fn allocate(&mut self, file: u32, first: u64, end: u64) -> bool {
        let Self { all, space, extent, .. } = self;
        let file = all.get_mut(&file).expect("an open file is there");
        // Allocates whole extents, so that files which grow at the same time stay contiguous.
        let (first, end) = (first / *extent * *extent, end.div_ceil(*extent) * *extent);
        let mut missing = Vec::new();
        let mut page = first;
        while page < end {
            match file.block(page) {
                Some((_, length)) => page += length,
                None => {
                    let next =
                        file.extents.range(page..).next().map_or(end, |(&at, _)| at.min(end));
                    missing.push((page, next - page));
                    page = next;
                }
            }
        }
        if missing.iter().map(|one| one.1).sum::<u64>() > space.blocks() {
            return false;
        }
        for (mut page, length) in missing {
            let before = file.extents.range(..page).next_back();
            let goal = before.map_or(0, |(_, &(block, length))| block + length);
            for (block, taken) in space.take(length, goal).expect("room was counted") {
                file.add(page, block, taken);
                page += taken;
            }
            file.metadata_dirty = true;
        }
        true
    }

    /// Changes the size. Returns the extents that are free now.
    pub(crate) fn resize(&mut self, file: u32, size: u64) -> Vec<(u64, u64)> {
        let Self { all, space, extent, .. } = self;
        let file = all.get_mut(&file).expect("an open file is there");
        let grows = size >= file.size;
        file.size = size;
        file.metadata_dirty = true;
        if grows {
            return Vec::new();
        }
        file.chunks.split_off(&size.div_ceil(CHUNK));
        if let Some(piece) = file.chunks.get_mut(&(size / CHUNK)) {
            piece[(size % CHUNK) as usize..].fill(0);
        }
        let keep = size.div_ceil(PAGE).div_ceil(*extent) * *extent;
        let mut freed: Vec<(u64, u64)> = file.extents.split_off(&keep).into_values().collect();
        if let Some(mut last) = file.extents.last_entry() {
            let first = *last.key();
            let (block, length) = last.get_mut();
            if first + *length > keep {
                let kept = keep - first;
                freed.push((*block + kept, *length - kept));
                *length = kept;
            }
        }
        for &(start, length) in &freed {
            space.release(start, length);
        }
        freed
    }
}

impl File {
    /// Adds an extent, joined with the extent before it if they are contiguous.
    fn add(&mut self, page: u64, block: u64, length: u64) {
        if let Some((&first, before)) = self.extents.range_mut(..page).next_back()
            && first + before.1 == page
            && before.0 + before.1 == block
        {
            before.1 += length;
            return;
        }
        self.extents.insert(page, (block, length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_grow_by_extents_and_give_them_back() {
        let mut files = Files::new(Space::new(100, 200), 16);
        let (a, b) = (files.create("/a"), files.create("/b"));
        assert!(files.allocate(a, 0, 1));
        assert!(files.allocate(b, 0, 17));
        assert!(files.allocate(a, 15, 17));
        assert_eq!(files.get(a).block(15), Some((115, 1)));
        assert_eq!(files.get(a).block(16), Some((148, 16)));
        assert_eq!(files.get(b).block(3), Some((119, 29)));
        assert_eq!(files.get(b).block(32), None);
        assert!(!files.allocate(b, 0, 100), "there is room for 36 blocks only");
        files.get_mut(a).size = 17 * PAGE;
        assert_eq!(files.resize(a, 5), [(148, 16)]);
        files.unlink("/b");
        files.nameless(b);
        assert_eq!(files.drop_unused(b), Some(vec![(116, 32)]));
        assert_eq!(files.space.blocks(), 84);
    }

    #[test]
    fn contents_survive_and_holes_are_zero() {
        let mut files = Files::new(Space::new(0, 100), 1);
        let file = files.create("/a");
        let one = files.get_mut(file);
        one.write(CHUNK - 2, b"abcd");
        one.size = CHUNK + 10;
        let mut bytes = [9; 6];
        one.read(CHUNK - 3, &mut bytes);
        assert_eq!(&bytes, b"\0abcd\0");
        files.resize(file, CHUNK - 1);
        files.resize(file, CHUNK + 10);
        files.get(file).read(CHUNK - 3, &mut bytes);
        assert_eq!(&bytes, b"\0a\0\0\0\0");
    }
}
