//! fio's nbd engine as the client.

use std::process::Command;

use flashlane::config::load::{Overrides, device};
use flashlane_nvme::{MediaConfig, Tenancy};
use flashlane_serve::{Door, Pace};

use crate::run::{Running, config, is_whole, media, replay, replay_on};

/// True if fio with its nbd engine is installed.
fn is_there() -> bool {
    let engines = Command::new("fio").arg("--enghelp").output();
    engines.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).lines().any(|it| it.trim() == "nbd"))
}

/// Runs fio on a server: random writes at depth 32, all of which are read and verified.
fn verify(server: &Running, options: &[&str]) {
    let address = server.port(Door::Nbd);
    let folder = tempfile::tempdir().expect("a folder");
    let job = Command::new("fio")
        .current_dir(folder.path())
        .args(["--name=verify", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--iodepth=32"])
        .args(["--verify=crc32c", "--randseed=3"])
        .args(options)
        .arg(format!("--uri=nbd://127.0.0.1:{}/", address.port()))
        .output()
        .expect("fio starts");
    let text = String::from_utf8_lossy(&job.stdout);
    assert!(job.status.success(), "{text}{}", String::from_utf8_lossy(&job.stderr));
}

#[test]
fn fio_verifies_what_it_has_written() {
    if !is_there() {
        flashlane_testing::skip("fio with the nbd engine");
        return;
    }
    let server = Running::start(config(Pace::Virtual, Tenancy::Queue));
    verify(&server, &["--size=1m", "--io_size=2m", "--numjobs=1"]);
    let kept = server.kept.clone();
    server.stop();
    assert!(replay(&kept, Tenancy::Queue) >= 512);
}

/// A drive on which a tenant has more than 256 MiB.
fn large() -> MediaConfig {
    let sets = vec!["flash.blocks_per_plane=1024".to_owned()];
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = device("tiny", &overrides).expect("a preset").config;
    MediaConfig { device, ..media(Tenancy::Queue) }
}

/// Each job has a connection of its own, and half of the data.
#[test]
fn fio_verifies_over_two_connections_and_the_replay_has_the_same_latencies() {
    if !is_there() {
        flashlane_testing::skip("fio with the nbd engine");
        return;
    }
    let mib: usize = if is_whole() { 128 } else { 2 };
    let mut config = config(Pace::Virtual, Tenancy::Queue);
    config.media = large();
    let server = Running::start(config);
    let (size, increment) = (format!("--size={mib}m"), format!("--offset_increment={mib}m"));
    verify(&server, &["--numjobs=2", "--group_reporting", &size, &increment]);
    let kept = server.kept.clone();
    let served = server.stop().summary;
    let (count, replayed) = replay_on(&large(), &kept);
    // Two jobs write each of their blocks once, and read each of them once.
    assert!(count >= 2 * 2 * mib * 256, "{count} commands");
    for (served, replayed) in served.flows.iter().zip(&replayed.flows) {
        assert!(served.read_response_time_us.count >= mib as u64 * 256, "a job reads all");
        assert!(served.write_response_time_us.count >= mib as u64 * 256, "a job writes all");
        assert_eq!(served.read_response_time_us, replayed.read_response_time_us);
        assert_eq!(served.write_response_time_us, replayed.write_response_time_us);
    }
    if is_whole() {
        println!("{count} commands completed at the picosecond of the replay");
    }
}
