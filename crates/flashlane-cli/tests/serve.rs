//! `flashlane serve` as a process of its own, and clients of ours beside it.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::served::Served;
use crate::common::{has_fio_with_nbd, names, refused, succeeds, text};
use crate::nbd_client::Client;

const READ: (u16, u16) = (0, 0);
const WRITE: (u16, u16) = (1, 0);
const FLUSH: (u16, u16) = (3, 0);

/// Replays the recording in the folder `rec`.
const REPLAY: &str = "run --device rec/device.toml --workload rec/workload.toml \
                      --arrivals rec/arrivals.parquet";

/// A client of the first door, which is one for NBD.
fn connect(server: &Served) -> Client<TcpStream> {
    let stream = TcpStream::connect(server.address(0)).expect("the server listens");
    let client = Client::connect(stream, "", true);
    assert!(client.bytes > 16 << 20, "a share of the drive");
    client
}

/// Data that differs from block to block and from `salt` to `salt`.
fn block(number: u64, salt: u8) -> Vec<u8> {
    (0..4096).map(|at| (number * 7 + at / 512) as u8 ^ salt).collect()
}

/// Writes blocks, several at a time, and reads them back.
fn write_and_verify<S: std::io::Read + std::io::Write>(
    client: &mut Client<S>,
    blocks: std::ops::Range<u64>,
    salt: u8,
) {
    let all: Vec<u64> = blocks.collect();
    for some in all.chunks(8) {
        for &number in some {
            client.send(WRITE, number * 4096, 4096, &block(number, salt));
        }
        for _ in some {
            assert_eq!(client.reply(|_| 0).1, 0, "it is written");
        }
    }
    for &number in &all {
        let (error, data) = client.run(READ, number * 4096, 4096, &[]);
        assert_eq!(error, 0);
        assert!(data == block(number, salt), "block {number} comes back");
    }
}

#[test]
fn a_signal_ends_the_server_with_a_summary() {
    let folder = tempfile::tempdir().expect("a folder");
    for (signal, time) in [("-INT", "virtual"), ("-TERM", "real")] {
        let arguments = format!(
            "--nbd 127.0.0.1:0 --nvme-tcp 127.0.0.1:0 --nbd unix:sock --vfio-user unix:vfio \
             --time {time} --out out --blame"
        );
        let server = Served::start(folder.path(), 4, &arguments);
        let door = |index: usize| server.doors[index]["door"].as_str().expect("a name");
        // NVMe comes first.
        assert_eq!([door(0), door(1), door(2)], ["nvme-tcp", "nbd", "nbd"]);
        assert_eq!(server.doors[0]["nqn"], "nqn.2026-11.dev.flashlane:tiny");
        assert!(!server.address(1).ends_with(":0"), "the real port");
        assert_eq!(server.doors[2]["uri"], "nbd+unix:///?socket=sock");
        assert_eq!((door(3), &server.doors[3]["path"]), ("vfio-user", &"vfio".into()));
        let stream = UnixStream::connect(folder.path().join("sock")).expect("it listens");
        write_and_verify(&mut Client::connect(stream, "", true), 0..64, 3);
        let left = server.end(signal);
        let [summary, about] = left.results();
        assert_eq!(left.err, "", "it is quiet");
        assert_eq!(summary["flows"][0]["name"], "tenant-1");
        assert_eq!(summary["flows"][0]["requests"]["write"], 64);
        assert_eq!(summary["flows"][0]["requests"]["read"], 64);
        assert_eq!((&about["connections"], &about["time"]), (&1.into(), &time.into()));
        let late = if time == "real" { 128 } else { 0 };
        assert_eq!(about["lateness_us"]["count"], late);
        for socket in ["sock", "vfio"] {
            assert!(!folder.path().join(socket).exists(), "the socket is gone");
        }
        let out = folder.path().join("out");
        assert_eq!(names(&out), ["blame.json", "serve.json", "summary.json"]);
        let kept = std::fs::read_to_string(out.join("summary.json")).expect("a file");
        assert_eq!(kept.parse::<Value>().expect("JSON"), summary);
    }
}

/// What the live page of a server answers for a path.
fn look(server: &Served, door: usize, path: &str) -> String {
    let mut stream = TcpStream::connect(server.address(door)).expect("the page is served");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address(door));
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    answer.split_once("\r\n\r\n").expect("a head").1.to_owned()
}

#[test]
fn a_live_page_shows_the_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = "--nbd 127.0.0.1:0 --status 127.0.0.1:0 --time virtual";
    let server = Served::start(folder.path(), 2, arguments);
    assert_eq!(server.doors[1]["door"], "status");
    assert_eq!(server.doors[1]["uri"], format!("http://{}/", server.address(1)));
    assert_eq!(server.doors[1]["token"].as_str().map(str::len), Some(32));
    write_and_verify(&mut connect(&server), 0..10, 1);
    assert!(look(&server, 1, "/").contains("<title>Flashlane, live</title>"));
    let figures: Value = look(&server, 1, "/figures.json").parse().expect("JSON");
    assert_eq!(figures["tenants"][0]["requests"], 20);
    assert!(figures["tenants"][0]["waits"].is_null(), "without --blame");
    let metrics = look(&server, 1, "/metrics");
    let line = "flashlane_requests_total{tenant=\"tenant-1\",op=\"read\"} 10";
    assert!(metrics.lines().any(|it| it == line), "{metrics}");
    let [_, about] = server.end("-INT").results();
    assert_eq!(about["connections"], 1, "looking is not using");
}

#[test]
fn a_killed_client_does_not_hurt_another_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Served::start(folder.path(), 1, "--nbd 127.0.0.1:0 --time virtual");
    let mut good = connect(&server);
    for round in 0..20_u64 {
        let mut bad = connect(&server);
        bad.send(WRITE, 1 << 20, 65_536, &vec![1; 1000 + 3000 * round as usize]);
        bad.stream.shutdown(std::net::Shutdown::Both).expect("a socket");
        drop(bad);
        write_and_verify(&mut good, round * 4..round * 4 + 4, round as u8);
    }
    let (error, data) = good.run(READ, 1 << 20, 65_536, &[]);
    assert_eq!((error, data), (0, vec![0; 65_536]), "half a write is none");
    let [summary, about] = server.end("-INT").results();
    assert_eq!(summary["flows"][0]["requests"]["write"], 80);
    assert_eq!(about["connections"], 21);
}

#[test]
fn two_clients_are_two_tenants() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Served::start(folder.path(), 1, "--nbd 127.0.0.1:0 --time virtual");
    let [mut first, mut second] = [connect(&server), connect(&server)];
    let other = std::thread::spawn(move || write_and_verify(&mut second, 100..160, 2));
    write_and_verify(&mut first, 0..40, 1);
    other.join().expect("the other client verifies too");
    let [summary, _] = server.end("-INT").results();
    let writes = [0, 1].map(|flow: usize| &summary["flows"][flow]["requests"]["write"]);
    assert_eq!(writes, [&Value::from(40), &Value::from(60)]);
}

#[test]
fn a_sparse_file_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = "--nbd 127.0.0.1:0 --time virtual --store sparse:data";
    let server = Served::start(folder.path(), 1, arguments);
    let mut client = connect(&server);
    write_and_verify(&mut client, 0..16, 9);
    assert_eq!(client.run(FLUSH, 0, 0, &[]).0, 0);
    let serve = ["serve", "--device", "tiny", "--nbd", "127.0.0.1:0"];
    let with = |more: &[&'static str]| [&serve[..], more].concat();
    let second = refused(folder.path(), &with(&["--store", "sparse:data"]));
    assert!(second.contains("data: another process uses it"), "{second}");
    server.end("-INT").results();
    let server = Served::start(folder.path(), 1, arguments);
    let mut client = connect(&server);
    for number in 0..16 {
        assert!(client.run(READ, number * 4096, 4096, &[]).1 == block(number, 9));
    }
    server.end("-INT").results();
    let sizes = refused(folder.path(), &with(&["--store", "sparse:data", "--tenants", "1"]));
    assert!(sizes.contains("data: found the data of a drive of"), "{sizes}");
    std::fs::write(folder.path().join("letter"), "dear reader").expect("room");
    let letter = refused(folder.path(), &with(&["--store", "sparse:letter"]));
    assert!(letter.contains("letter: `flashlane serve` did not make this file"), "{letter}");
    assert_eq!(std::fs::read(folder.path().join("letter")).expect("a file"), b"dear reader");
}

/// Serves a client that writes, reads, trims and flushes, and records it.
fn record(folder: &Path, time: &str) {
    let arguments = format!("--nbd 127.0.0.1:0 --time {time} --record rec --seed 5");
    let server = Served::start(folder, 1, &arguments);
    let [mut first, mut second] = [connect(&server), connect(&server)];
    let other = std::thread::spawn(move || write_and_verify(&mut second, 100..200, 2));
    write_and_verify(&mut first, 0..100, 1);
    let forced = (1, 1);
    assert_eq!(first.run(forced, 8192, 4096, &block(2, 2)).0, 0);
    assert_eq!(first.run((4, 0), 1 << 20, 1 << 20, &[]).0, 0, "a trim");
    assert_eq!(first.run(FLUSH, 0, 0, &[]).0, 0);
    other.join().expect("the other client verifies too");
    server.end("-INT").results();
}

#[test]
fn a_recording_replays_to_the_picosecond() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let with = |more: &str| -> (String, String) {
        let line = format!("{REPLAY} {more}");
        succeeds(folder, &line.split_whitespace().collect::<Vec<_>>())
    };
    for time in ["virtual", "real", "dilated=3"] {
        record(folder, time);
        let rec = folder.join("rec");
        assert_eq!(names(&rec), ["arrivals.parquet", "device.toml", "workload.toml"]);
        let (told, _) = with("--seed 5 --out out --requests --check");
        // 200 blocks are written and read; then come a write with its flush, a trim and a flush.
        let line = told.lines().last().expect("a line");
        let (equal, rest) = line.split_once(" of ").expect("a count");
        let (all, _) = rest.split_once(' ').expect("a count");
        assert_eq!(equal, all, "{line}");
        assert!(all.parse::<u64>().expect("a number") >= 404, "{line}");
        assert_eq!(names(&folder.join("out")), ["requests.parquet", "summary.json"]);
        let (told, _) = with("--seed 5 --set flash.program_time=[\"300us\"]");
        let line = told.lines().last().expect("a line");
        assert!(!line.starts_with(&format!("{all} of")), "another drive has other times: {line}");
    }
    let (told, _) = succeeds(folder, &["trace", "inspect", "rec/arrivals.parquet"]);
    assert!(told.contains("parquet; plain"), "it is a trace as well: {told}");
    let line = format!("{REPLAY} --slo tenant-1:p99=1us");
    let goals = refused(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert!(goals.contains("cannot be used with"), "{goals}");
    let line = format!("{REPLAY} --scheduler fcfs --format json --quiet");
    let (told, _) = succeeds(folder, &line.split_whitespace().collect::<Vec<_>>());
    let summary: Value = told.trim_end().parse().expect("one line of JSON");
    assert_eq!(summary["scheduler"], "fcfs");
}

#[test]
fn bad_input_is_refused_with_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = format!("--nbd {}", taken.local_addr().expect("an address"));
    std::fs::write(folder.path().join("w.toml"), "[[flow]]\nname = \"a\"\n").expect("room");
    let port = "--nbd 127.0.0.1:0";
    let cases = [
        ("", "doors: found none, allowed: --nvme-tcp ADDR:PORT, --nbd ADDR:PORT, --nbd unix:PATH"),
        ("--nbd localhost", "found `localhost`, allowed: ADDRESS:PORT"),
        ("--nbd 0.0.0.0:0", "found 0.0.0.0:0, allowed: addresses of this machine only"),
        (
            &format!("{port} --status 0.0.0.0:0"),
            "found 0.0.0.0:0, allowed: addresses of this machine only",
        ),
        (&format!("{port} --status page"), "found `page`, allowed: ADDRESS:PORT"),
        ("--status 127.0.0.1:0", "doors: found none"),
        ("--nvme-tcp unix:x", "--nvme-tcp: found unix:x, allowed: ADDRESS:PORT"),
        ("--vfio-user 127.0.0.1:0", "--vfio-user: found 127.0.0.1:0, allowed: unix:PATH"),
        ("--vfio-user unix:w.toml", "unix:w.toml: cannot listen"),
        ("--vfio-user unix:v --queues 512", "--queues: found 512, allowed with --vfio-user"),
        (&taken, "cannot listen"),
        (
            &format!("{port} --allow 10.0.0.0"),
            "found `10.0.0.0`, allowed: an address with a prefix",
        ),
        (&format!("{port} --store disk"), "found `disk`, allowed: memory, sparse:FILE, pattern"),
        (&format!("{port} --time dilated=0"), "allowed: real, virtual, dilated=N"),
        (&format!("{port} --block 1000"), "block size: found 1000 bytes, allowed: 512, 4096"),
        (&format!("{port} --tenants 0"), "0 is not in 1..=1024"),
        (&format!("{port} --workload w.toml --tenants 3"), "cannot be used with"),
        (&format!("{port} --workload none.toml"), "none.toml"),
        (&format!("{port} --request-data 1KiB"), "allowed: 4KiB to 1GiB"),
        (&format!("{port} --out x --record x"), "--record: found the folder of --out"),
        (&format!("{port} --set flash.chanels=2"), "flash.chanels"),
    ];
    for (arguments, expected) in cases {
        let line = format!("serve --device tiny {arguments}");
        let error = refused(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert!(error.contains(expected), "{arguments}: {error}");
        let errors = error.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(errors, 1, "{arguments}: {error}");
    }
    assert_eq!(names(folder.path()), ["w.toml"], "nothing is left");
    let run = "run --device tiny --workload w.toml --arrivals w.toml";
    let error = refused(folder.path(), &run.split_whitespace().collect::<Vec<_>>());
    assert!(error.contains("w.toml: found no Parquet"), "{error}");
    let alone = format!("{run} --alone");
    let error = refused(folder.path(), &alone.split_whitespace().collect::<Vec<_>>());
    assert!(error.contains("cannot be used with"), "{error}");
}

#[test]
fn fio_verifies_over_two_connections() {
    if !has_fio_with_nbd("the client") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let server = Served::start(folder.path(), 1, "--nbd 127.0.0.1:0 --time virtual --record rec");
    let uri = server.doors[0]["uri"].as_str().expect("a URI");
    let job = Command::new("fio")
        .current_dir(folder.path())
        .args(["--name=verify", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--iodepth=32"])
        .args(["--verify=crc32c", "--size=4m", "--numjobs=2", "--offset_increment=4m"])
        .arg(format!("--uri={uri}"))
        .output()
        .expect("fio starts");
    assert!(job.status.success(), "{}{}", text(&job.stdout), text(&job.stderr));
    let [summary, _] = server.end("-INT").results();
    let all = summary["requests_completed"].as_u64().expect("a number");
    assert!(all >= 4096, "{all} requests");
    let (told, _) = succeeds(folder.path(), &REPLAY.split_whitespace().collect::<Vec<_>>());
    let expected = format!("{all} of {all} commands completed at the recorded picosecond");
    assert!(told.contains(&expected), "{told}");
}
