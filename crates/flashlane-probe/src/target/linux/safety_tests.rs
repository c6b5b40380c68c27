//! Refusals to write, on images and machines that the tests make.

use std::io::{Seek, SeekFrom, Write};

use super::*;

const SIZE: u64 = 1 << 20;

fn image(at: u64, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("image");
    let mut file = fs::File::create(&path).expect("room");
    file.set_len(SIZE).expect("room");
    file.seek(SeekFrom::Start(at)).expect("it is a file");
    file.write_all(bytes).expect("room");
    (folder, path)
}

#[test]
fn everything_known_is_refused_by_its_name() {
    let system = System::of_this_machine();
    for one in SIGNATURES {
        let at = if one.at < 0 { SIZE - one.at.unsigned_abs() } else { one.at as u64 };
        let (_folder, path) = image(at, one.bytes);
        let error = system.check(&path, Kind::File).expect_err(one.name);
        assert!(error.contains(one.name), "{error}");
    }
    for at in md_at_end(SIZE) {
        let (_folder, path) = image(at, &MD);
        let error = system.check(&path, Kind::File).expect_err("a part of a RAID");
        assert!(error.contains("RAID"), "{error}");
    }
    let mut sector = [0; 512];
    (sector[450], sector[510], sector[511]) = (0x83, 0x55, 0xaa);
    let (_folder, path) = image(0, &sector);
    let error = system.check(&path, Kind::File).expect_err("partitions");
    assert!(error.contains("MBR"), "{error}");
    let (_folder, path) = image(0, b"nothing that is known");
    system.check(&path, Kind::File).expect("it bears nothing");
}

/// A machine whose devices in use are given by the test.
fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("room");
        fs::write(path, text).expect("room");
    }
    let system = System { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
    (folder, system)
}

#[test]
fn devices_in_use_are_refused() {
    // 8:16.
    let rdev = rustix::fs::makedev(8, 16);
    let refused = |files: &[(&str, &str)], says: &str| {
        let (_folder, system) = machine(files);
        let error = system.device(rdev).expect_err(says);
        assert!(error.contains(says), "{error}");
    };
    let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 8:16 / /data rw - ext4 /dev/sdb rw\n";
    refused(&[("proc/self/mountinfo", mounts)], "mounted at /data");
    refused(&[("sys/dev/block/8:16/sdb1/partition", "1\n")], "partitions, the first is sdb1");
    refused(&[("sys/dev/block/8:16/holders/md0/dev", "9:0\n")], "held by md0");
    let (_folder, system) = machine(&[("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 a rw\n")]);
    system.device(rdev).expect("nobody uses it");
}

#[test]
fn files_in_use_are_refused() {
    let (_image, path) = image(0, &[]);
    let whole = fs::canonicalize(&path).expect("it is there").display().to_string();
    let swaps = format!("Filename Type Size Used Priority\n{whole} file 1 0 -2\n");
    let (_folder, system) = machine(&[("proc/swaps", &swaps)]);
    let error = system.check(&path, Kind::File).expect_err("swap");
    assert!(error.contains("swap"), "{error}");
    let backing = format!("{whole}\n");
    let (_folder, system) = machine(&[("sys/block/loop7/loop/backing_file", &backing)]);
    let error = system.check(&path, Kind::File).expect_err("a loop device");
    assert!(error.contains("loop7"), "{error}");
}
