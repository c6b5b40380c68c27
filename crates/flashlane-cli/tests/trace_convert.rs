//! `flashlane trace convert`: formats, what is done on the way, and what is refused.

use std::path::Path;
use std::process::Output;

use crate::common::{flashlane, folder_with, succeeds, text};

fn convert(folder: &Path, arguments: &[&str]) -> Output {
    flashlane(folder, &[&["trace", "convert"], arguments].concat())
}

/// Converts, and returns what is said on standard error.
fn good(folder: &Path, arguments: &[&str]) -> String {
    let (stdout, stderr) = succeeds(folder, &[&["trace", "convert"], arguments].concat());
    assert_eq!(stdout, "");
    stderr
}

const HEADER: &str = "# t_us,op(R/W),offset_bytes,size_bytes,device\n";
const ROWS: &str =
    "0.000,R,0,4096,4\n10.000,W,1048576,8192,5\n10.500,T,4096,4096,4\n1000.000,F,0,0,4\n";

fn folder() -> tempfile::TempDir {
    folder_with("a.csv", &format!("{HEADER}{ROWS}"))
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a file")
}

#[test]
fn every_format_is_written_and_read_back() {
    let folder = folder();
    let folder = folder.path();
    for name in ["b.csv.gz", "b.parquet", "b.csv.bz2", "b.csv.xz", "b.csv.zst"] {
        good(folder, &["a.csv", name]);
        good(folder, &[name, "c.csv", "--quiet"]);
        assert_eq!(read(folder, "c.csv"), read(folder, "a.csv"), "{name}");
    }
    good(folder, &["a.csv", "b.iolog", "--fio-file", "/dev/a,/dev/b"]);
    let log = read(folder, "b.iolog");
    assert!(log.starts_with(
        "fio version 3 iolog\n0 device4 add\n0 device4 open\n0 device4 read 0 4096\n"
    ));
    assert!(
        log.contains("\n10 device4 trim 4096 4096\n1000 device4 sync 0 0\n1000 device4 close\n")
    );
    let said = good(folder, &["a.csv", "b.trace"]);
    assert_eq!(read(folder, "b.trace"), "0 4 0 8 1\n10000 5 2048 16 0\n");
    assert!(said.contains("a.csv: csv; 2 requests written"), "{said}");
    assert!(said.contains("left out (trims and flushes): 2"), "{said}");
    good(folder, &["a.csv", "log", "--to", "fio-v2"]);
    assert!(read(folder, "log").contains("\ndevice4 wait 1 0\ndevice4 sync 0 0\ndevice4 close\n"));
}

#[test]
fn requests_change_on_the_way_as_they_are_told() {
    let folder = folder();
    let folder = folder.path();
    let rows = |arguments: &[&str]| {
        good(folder, &[&["a.csv", "o.csv"], arguments].concat());
        read(folder, "o.csv").strip_prefix(HEADER).expect("the header").to_owned()
    };
    assert_eq!(
        rows(&["--time-scale", "0.5", "--limit", "2"]),
        "0.000,R,0,4096,4\n5.000,W,1048576,8192,5\n"
    );
    assert_eq!(rows(&["--devices", "5"]), "10.000,W,1048576,8192,5\n");
    assert_eq!(
        rows(&["--map-devices", "4=0,5=1", "--limit", "2"]),
        "0.000,R,0,4096,0\n10.000,W,1048576,8192,1\n"
    );
    assert_eq!(
        rows(&["--device-stride", "2MiB", "--limit", "2"]),
        "0.000,R,0,4096,0\n10.000,W,3145728,8192,0\n"
    );
    assert_eq!(
        rows(&["--space", "1020KiB", "--limit", "2"]),
        "0.000,R,0,4096,4\n10.000,W,4096,8192,5\n"
    );
    let said = good(folder, &["a.csv", "o.csv", "--space", "1MiB", "--out-of-range", "clip"]);
    assert!(said.contains("dropped beyond the space: 1"), "{said}");
    assert_eq!(read(folder, "o.csv").matches('W').count(), 1, "the one of the header");
}

#[test]
fn rejected_lines_are_reported() {
    let folder = folder();
    let folder = folder.path();
    let many = "5.000,R,0,512,0\n".repeat(300);
    std::fs::write(folder.join("b.csv"), format!("{HEADER}{many}5.000,X,0,512,0\n")).expect("room");
    let said = good(folder, &["b.csv", "o.csv"]);
    assert!(said.contains("rejected: 1 for unknown operation"), "{said}");
    assert!(said.contains("line 302: unknown operation in `5.000,X,0,512,0`"), "{said}");
    assert_eq!(good(folder, &["b.csv", "o.csv", "--quiet"]), "");
}

#[test]
fn what_is_wrong_is_refused_and_leaves_nothing() {
    let folder = folder();
    let folder = folder.path();
    std::fs::write(folder.join("bad.csv"), format!("{HEADER}{ROWS}rubbish\n")).expect("room");
    std::fs::write(folder.join("flush.csv"), format!("{HEADER}0,F,0,0,0\n")).expect("room");
    for (arguments, expected) in [
        (&["none.csv", "o.csv"][..], "none.csv: cannot open"),
        (&["a.csv", "o.dat"], "o.dat: the name does not tell the format"),
        (&["a.csv", "o.dat", "--to", "parket"], "did you mean `parquet`?"),
        (&["a.csv", "o.parquet.gz"], "Parquet is compressed inside"),
        (&["a.csv", "a.csv"], "a.csv: is the input"),
        (&["a.csv", "no/such/o.csv"], "no/such/o.csv: cannot be written"),
        (&["a.csv", ".", "--to", "csv"], ".: is a folder"),
        (&["bad.csv", "o.csv"], "line 6: wrong number of fields in `rubbish`"),
        (&["flush.csv", "o.trace"], "no request is left to write"),
        (&["a.csv", "o.csv", "--devices", "9"], "found no record of device 9"),
        (&["a.csv", "o.csv", "--time-scale", "0"], "--time-scale: found 0"),
        (&["a.csv", "o.csv", "--space", "1B"], "--space: found 1B, allowed: 512B to 1EiB"),
        (&["a.csv", "o.csv", "--space", "5"], "has no unit"),
        (&["a.csv", "o.csv", "--out-of-range", "clip"], "--space"),
        (
            &["a.csv", "o.csv", "--map-devices", "4:0"],
            "--map-devices: found \"4:0\", allowed: OLD=NEW",
        ),
        (&["a.csv", "o.csv", "--device-stride", "2000000TiB"], "--device-stride"),
        (&["a.csv"], "required"),
    ] {
        let run = convert(folder, arguments);
        let message = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {expected}: {message}");
    }
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["a.csv", "bad.csv", "flush.csv"], "nothing was written");
}
