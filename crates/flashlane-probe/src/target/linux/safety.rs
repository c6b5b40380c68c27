//! Checks of devices and files before they are written: nobody may use them, and they must hold no
//! data.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::target::Kind;

/// The mark of a kind of contents of a device or a file.
struct Signature {
    name: &'static str,
    /// Offset of its bytes, from the start or, if negative, from the end. Unit: bytes.
    at: i64,
    bytes: &'static [u8],
}

const fn signature(name: &'static str, at: i64, bytes: &'static [u8]) -> Signature {
    Signature { name, at, bytes }
}

/// Signatures, as the formats define them.
const SIGNATURES: &[Signature] = &[
    signature("an ext2, ext3 or ext4 file system", 1024 + 56, &[0x53, 0xef]),
    signature("an XFS file system", 0, b"XFSB"),
    signature("a Btrfs file system", 65_536 + 64, b"_BHRfS_M"),
    signature("a FAT file system", 54, b"FAT1"),
    signature("a FAT file system", 82, b"FAT32"),
    signature("an NTFS file system", 3, b"NTFS    "),
    signature("an exFAT file system", 3, b"EXFAT   "),
    signature("an F2FS file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    signature("a swap area", 4096 - 10, b"SWAPSPACE2"),
    signature("a swap area", 4096 - 10, b"SWAP-SPACE"),
    signature("a swap area", 65_536 - 10, b"SWAPSPACE2"),
    signature("a physical volume of LVM", 512, b"LABELONE"),
    signature("a physical volume of LVM", 0, b"LABELONE"),
    signature("a part of a RAID (md 1.1)", 0, &MD),
    signature("a part of a RAID (md 1.2)", 4096, &MD),
    signature("an encrypted volume (LUKS)", 0, b"LUKS\xba\xbe"),
    signature("a cache set (bcache)", 4096 + 24, &BCACHE),
    signature("a GUID partition table", 512, b"EFI PART"),
    signature("a GUID partition table", 4096, b"EFI PART"),
    signature("the copy of a GUID partition table", -512, b"EFI PART"),
    signature("the copy of a GUID partition table", -4096, b"EFI PART"),
    signature("a ZFS pool", 128 * 1024, &ZFS),
    signature("a ZFS pool", 132 * 1024, &ZFS),
    signature("an ISO 9660 file system", 32_769, b"CD001"),
];

const MD: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
const ZFS: [u8; 8] = 0x00ba_b10c_u64.to_le_bytes();
const BCACHE: [u8; 16] = [
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];

/// Files of md 0.9 and 1.0 lie at a multiple of 64 KiB and of 4 KiB before the end.
fn md_at_end(size: u64) -> [u64; 2] {
    let old = (size & !0xffff).saturating_sub(0x1_0000);
    let new = (size.saturating_sub(8192)) & !0xfff;
    [old, new]
}

/// The name of the known contents of a device or a file of a size, if there are any. Unit: bytes.
fn found(file: &fs::File, size: u64) -> std::io::Result<Option<&'static str>> {
    let has = |at: u64, bytes: &[u8]| {
        let mut read = vec![0; bytes.len()];
        if at + bytes.len() as u64 > size {
            return Ok(false);
        }
        file.read_exact_at(&mut read, at).map(|()| read == bytes)
    };
    for one in SIGNATURES {
        let at =
            if one.at < 0 { size.saturating_sub(one.at.unsigned_abs()) } else { one.at as u64 };
        if has(at, one.bytes)? {
            return Ok(Some(one.name));
        }
    }
    for at in md_at_end(size) {
        if has(at, &MD)? {
            return Ok(Some("a part of a RAID (md)"));
        }
    }
    // An old-style partition table: its mark, and an entry that is not empty.
    let mut sector = [0; 512];
    file.read_exact_at(&mut sector, 0)?;
    let entries = sector[446..510].chunks_exact(16).any(|entry| entry[4] != 0);
    Ok((sector[510..] == [0x55, 0xaa] && entries).then_some("a partition table (MBR)"))
}

/// Places where a machine reports the devices in use.
pub(super) struct System {
    proc: PathBuf,
    sys: PathBuf,
}

impl System {
    pub(super) fn of_this_machine() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into() }
    }

    /// Refuses a device or file that is in use or holds data; the text says which.
    pub(super) fn check(&self, path: &Path, kind: Kind) -> Result<(), String> {
        let about = fs::metadata(path).map_err(|error| error.to_string())?;
        match kind {
            Kind::BlockDevice => self.device(about.rdev())?,
            _ => self.file(path, &about)?,
        }
        let file = fs::File::open(path).map_err(|error| error.to_string())?;
        let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
            .map_err(|error| error.to_string())?;
        match found(&file, size).map_err(|error| error.to_string())? {
            None => Ok(()),
            Some(what) => Err(format!(
                "bears {what}; allowed: what bears nothing that is known (wipefs can remove it)"
            )),
        }
    }

    fn device(&self, rdev: u64) -> Result<(), String> {
        let own = name(rdev);
        let folder = self.sys.join("dev/block").join(&own);
        let partitions = partitions(&folder);
        if let Some(partition) = partitions.first() {
            return Err(format!("has partitions, the first is {partition}"));
        }
        if let Some(mount) = self.mount(&own) {
            return Err(format!("is mounted at {mount}"));
        }
        if self.swaps().iter().any(|swap| fs::metadata(swap).is_ok_and(|one| one.rdev() == rdev)) {
            return Err("is in use as swap".to_owned());
        }
        match names(&folder.join("holders")).first() {
            Some(holder) => Err(format!("is held by {holder}, a RAID, LVM or mapped device")),
            None => Ok(()),
        }
    }

    fn file(&self, path: &Path, about: &fs::Metadata) -> Result<(), String> {
        let same = |one: fs::Metadata| (one.dev(), one.ino()) == (about.dev(), about.ino());
        if self.swaps().iter().any(|swap| fs::metadata(swap).is_ok_and(same)) {
            return Err("is in use as swap".to_owned());
        }
        let whole = fs::canonicalize(path).map_err(|error| error.to_string())?;
        for device in names(&self.sys.join("block")) {
            let file = self.sys.join("block").join(&device).join("loop/backing_file");
            let backing = fs::read_to_string(file).unwrap_or_default();
            if Path::new(backing.trim_end()) == whole {
                return Err(format!("is in use by {device}"));
            }
        }
        Ok(())
    }

    /// The mount point of a device, by its numbers `major:minor`.
    fn mount(&self, device: &str) -> Option<String> {
        let mounts = fs::read_to_string(self.proc.join("self/mountinfo")).unwrap_or_default();
        let of = |line: &str| {
            let mut fields = line.split(' ').skip(2);
            (fields.next()? == device).then(|| fields.nth(1).map(str::to_owned))?
        };
        mounts.lines().find_map(of)
    }

    fn swaps(&self) -> Vec<PathBuf> {
        let swaps = fs::read_to_string(self.proc.join("swaps")).unwrap_or_default();
        let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        names.map(PathBuf::from).collect()
    }
}

/// `major:minor` of a device.
fn name(rdev: u64) -> String {
    format!("{}:{}", rustix::fs::major(rdev), rustix::fs::minor(rdev))
}

/// Names of the entries of a folder, sorted; empty if there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn partitions(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| folder.join(name).join("partition").exists()).collect()
}

#[cfg(test)]
#[path = "safety_tests.rs"]
mod tests;
