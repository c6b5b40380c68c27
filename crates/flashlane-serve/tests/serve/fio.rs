//! fio's nbd engine as the client.

use std::process::Command;

use flashlane_nvme::Tenancy;
use flashlane_serve::{Door, Pace};

use crate::run::{Running, config, replay};

/// True if fio with its nbd engine is installed.
fn is_there() -> bool {
    let engines = Command::new("fio").arg("--enghelp").output();
    engines.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).lines().any(|it| it.trim() == "nbd"))
}

#[test]
fn fio_verifies_what_it_has_written() {
    if !is_there() {
        flashlane_testing::skip("fio with the nbd engine");
        return;
    }
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    let address = server.port(Door::Nbd);
    let folder = tempfile::tempdir().expect("a folder");
    let job = Command::new("fio")
        .current_dir(folder.path())
        .args(["--name=verify", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--iodepth=32"])
        .args(["--verify=crc32c", "--size=1m", "--io_size=2m", "--randseed=3", "--numjobs=1"])
        .arg(format!("--uri=nbd://127.0.0.1:{}/", address.port()))
        .output()
        .expect("fio starts");
    let text = String::from_utf8_lossy(&job.stdout);
    assert!(job.status.success(), "{text}{}", String::from_utf8_lossy(&job.stderr));
    let kept = server.kept.clone();
    server.stop();
    assert!(replay(&kept, Tenancy::Queue) >= 512, "{text}");
}
