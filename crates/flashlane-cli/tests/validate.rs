//! `flashlane validate`: the table, the files, and what is refused.

use std::fs;

use crate::common::{folder_with, refused, succeeds};

/// Amplification of a small drive without superblocks, and reads of it as new.
const FACTS: &str = "drive,kind,op,pattern,size,depth,used,written,metric,value,role,source\n\
    tiny,waf,write,random,4KiB,,,2,waf,2.5,fitted,us\n\
    tiny,waf,write,zipf:0.9,4KiB,,,2,waf,2.0,predicted,us\n\
    tiny,waf,write,random,4KiB,,0.5,2,waf,1.1,predicted,us\n\
    tiny,write-rate,write,random,4KiB,32,,2,mb_per_s,500,fitted,us\n\
    tiny,write-rate,write,two-zones:90/10,4KiB,32,,2,mb_per_s,600,predicted,us\n\
    tiny,depth,read,random,4KiB,1,,,mean_us,80,predicted,us\n\
    tiny,depth,read,random,4KiB,1,,,p99_us,90,predicted,us\n";

/// A fill of a small drive with an SLC cache, and reads by a host with software of its own.
const FILL: &str = "drive,kind,op,pattern,size,depth,host,phase,metric,value,role,source\n\
    team-mp44s,cliff,write,sequential,1MiB,8,,1/2,fill_gb,231,fitted,us\n\
    team-mp44s,cliff,write,sequential,1MiB,8,,1/2,fill_mb_per_s,4000,fitted,us\n\
    team-mp44s,cliff,write,sequential,1MiB,8,,,fill_mb_per_s,122,predicted,us\n\
    tiny,depth,read,random,4KiB,128,io-uring,,kiops,370,predicted,us\n";

#[test]
fn fills_have_phases_and_reads_may_contain_the_software_of_a_host() {
    let folder = folder_with("facts.csv", FILL);
    let text = succeeds(folder.path(), &["validate", "--facts", "facts.csv"]).0;
    for words in [
        "fill, end of phase 1 of 2, GB",
        "fill, phase 1 of 2, MB/s",
        "fill, all of it, MB/s",
        "depth 128, io-uring, kIOPS",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for (from, to, error) in [
        ("1/2,fill_gb", "3/2,fill_gb", "phase: found 3/2, allowed: 2/3"),
        ("1/2,fill_gb", "2/2,fill_gb", "phase: found the last one"),
        ("1/2,fill_gb", ",fill_gb", "phase is empty"),
        ("1/2,fill_gb", "1/2,mb_per_s", "phase: found, allowed: with the metrics fill_gb"),
        (
            "sequential,1MiB,8,,1/2,fill_gb",
            "random,1MiB,8,,1/2,fill_gb",
            "metric: found one of a fill",
        ),
        ("io-uring", "libaio", "host: found libaio, allowed: io-uring, spdk"),
        (
            "read,random,4KiB,128,io",
            "read,sequential,4KiB,128,io",
            "host: found, allowed: with read",
        ),
    ] {
        fs::write(folder.path().join("bad.csv"), FILL.replacen(from, to, 1)).expect("written");
        let said = refused(folder.path(), &["validate", "--facts", "bad.csv"]);
        assert!(said.contains(error), "{said}");
    }
}

/// Reads beside other jobs of the same host.
const NEIGHBOURS: &str = "drive,kind,op,pattern,size,depth,host,neighbours,neighbour_op,\
    neighbour_size,neighbour_depth,drives,host_gb_per_s,metric,value,state,role,source\n\
    tiny,neighbour,read,random,4KiB,1,io-uring,3,read,64KiB,16,2,15,slowdown,9,fresh,predicted,us\n\
    tiny,neighbour,read,random,4KiB,1,io-uring,3,read,64KiB,16,2,15,p99_us,9,fresh,predicted,us\n";

#[test]
fn neighbours_slow_a_reader_down_and_are_named() {
    let folder = folder_with("facts.csv", NEIGHBOURS);
    let command =
        ["validate", "--facts", "facts.csv", "--effort", "0.1", "--out", "v", "--overwrite"];
    let text = succeeds(folder.path(), &command).0;
    for words in ["beside 3 jobs of 64KiB reads, slowdown", "what a read waits for"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let read = || {
        let text = fs::read_to_string(folder.path().join("v/validate.json")).expect("it is there");
        let points: Vec<serde_json::Value> = serde_json::from_str(&text).expect("points");
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let of = |part: &str| number(&points[0]["waited_us"][part]);
        [number(&points[0]["ours"]), of("neighbours"), of("link"), of("drive")]
    };
    let [slowdown, neighbours, link, drive] = read();
    assert!(slowdown > 2.0 && neighbours > 50.0 && drive < 1.0, "{slowdown} {neighbours} {drive}");
    assert!(link < 0.01 * neighbours, "a fast link: {link}");
    let slow = NEIGHBOURS.replace(",2,15,", ",2,0.5,");
    fs::write(folder.path().join("facts.csv"), slow).expect("written");
    succeeds(folder.path(), &command);
    assert!(read()[2] > 50.0, "a slow link: {:?}", read());
    for (from, to, error) in [
        (",3,read", ",65,read", "neighbours: found 65, allowed: 0 to 64"),
        (",3,read", ",3,", "neighbour_op is empty"),
        (",16,2,", ",16,0,", "drives: found 0, allowed: 1 to 64"),
        ("64KiB,16", "100B,16", "neighbour_size: found 100B, allowed: multiples of 512B"),
        (",15,slow", ",-1,slow", "host_gb_per_s: found -1, allowed: 0.01 to 100000"),
        (",15,slow", ",1e-12,slow", "host_gb_per_s: found 1e-12, allowed: 0.01 to 100000"),
        (",15,slow", ",,slow", "host_gb_per_s is empty"),
        (",io-uring,3", ",io-uring:2,3", "neighbours: found, allowed: with a host of one job"),
        ("3,read,64KiB,16,2,15,slow", ",,,,,,slow", "found slowdown, allowed: with neighbours"),
    ] {
        assert!(NEIGHBOURS.contains(from), "{from}");
        fs::write(folder.path().join("bad.csv"), NEIGHBOURS.replacen(from, to, 1))
            .expect("written");
        let said = refused(folder.path(), &["validate", "--facts", "bad.csv"]);
        assert!(said.contains(error), "{error}: {said}");
    }
}

#[test]
fn every_point_is_in_the_table_and_in_the_files_at_any_thread_count() {
    let folder = folder_with("facts.csv", FACTS);
    let run = |threads: &str, out: &str| {
        let base = ["validate", "--facts", "facts.csv", "--threads", threads, "--out", out];
        succeeds(folder.path(), &base).0
    };
    let (one, three) = (run("1", "one"), run("3", "three"));
    assert_eq!(one, three);
    assert!(one.contains("4 KiB random write, 50 % in use, written 2.0 times, WAF"), "{one}");
    assert!(one.contains("effects of patterns with the measured sign: "), "{one}");
    for name in ["validate.json", "validate.html"] {
        let read = |run: &str| fs::read(folder.path().join(run).join(name)).expect("it is there");
        assert_eq!(read("one"), read("three"), "{name}");
    }
    let text = fs::read_to_string(folder.path().join("one/validate.json")).expect("it is there");
    let points: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let points = points.as_array().expect("a list");
    assert_eq!(points.len(), 7);
    for point in points {
        let number = |key: &str| point[key].as_f64().expect("a number");
        let error = number("ours") / number("measured") - 1.0;
        assert!((number("error") - error).abs() < 1e-9, "{point}");
        assert_eq!(point["drive"], "tiny");
        assert!(number("ours") > 0.0, "{point}");
    }
    let ours = |index: usize| points[index]["ours"].as_f64().expect("a number");
    assert_eq!(points[1]["role"], "predicted");
    assert!(ours(0) > ours(2), "spare space lowers amplification: {} {}", ours(0), ours(2));
    assert!((ours(3) - 500.0).abs() < 1e-9, "the rate of uniform writes is the reference");
    assert!(ours(6) >= ours(5), "the 99th percentile is not below the mean");
}

#[test]
fn kinds_devices_and_names_choose_what_runs() {
    let folder = folder_with("facts.csv", FACTS);
    let base = ["validate", "tiny", "--facts", "facts.csv", "--kind", "depth"];
    let plain = succeeds(folder.path(), &base).0;
    assert!(!plain.contains("WAF") && plain.contains("depth 1, us"), "{plain}");
    let other = succeeds(folder.path(), &[&base[..], &["--device", "tiny=970-pro"]].concat()).0;
    assert_ne!(plain, other);
    let slower = ["--set", "interface.firmware_time=50us"];
    assert_ne!(plain, succeeds(folder.path(), &[&base[..], &slower].concat()).0);
    let mqsim = succeeds(folder.path(), &[&base[..], &["--compat", "mqsim"]].concat()).0;
    assert!(mqsim.contains("its error"), "{mqsim}");
}

#[test]
fn unknown_names_kinds_and_bad_tables_are_refused() {
    let folder = folder_with("facts.csv", &FACTS.replace("zipf:0.9", "zipf:x"));
    let says = |arguments: &[&str], words: &str| {
        let error = refused(folder.path(), &[&["validate"], arguments].concat());
        assert!(error.contains(words), "{error}");
    };
    says(&["970-prp"], "found 970-prp, allowed: micron-7450-max, solidigm-p5520");
    says(&["980-pro-filled", "--kind", "speed"], "--kind: found speed, allowed: waf, write-rate");
    says(&["980-pro-filled", "--kind", "waf"], "no figure of it");
    says(&["980-pro-filled", "--device", "tiny"], "--device: found tiny, allowed: NAME=FILE");
    says(&["--facts", "facts.csv"], "facts.csv:3: pattern: found zipf:x, allowed: random");
    fs::write(folder.path().join("none.csv"), "drive,op\n").expect("written");
    says(&["--facts", "none.csv"], "none.csv:1: column `kind` is missing");
}
