//! `flashlane fit`: files, the table, and what is refused.

use std::fs;

use crate::common::{folder_with, refused, succeeds};

const CURVES: &str = "op,pattern,size,depth,metric,value\nread,random,4KiB,1,mean_us,80\n\
                      read,random,4KiB,16,kiops,165\n";

#[test]
fn a_table_of_figures_becomes_a_device_at_any_thread_count() {
    let folder = folder_with("curves.csv", CURVES);
    let fit = |threads: &str, out: &str| {
        let base = ["fit", "curves.csv", "--base", "zn540", "--effort", "0.02"];
        let more = ["--threads", threads, "--out", out];
        succeeds(folder.path(), &[&base[..], &more].concat()).0
    };
    let (one, three) = (fit("1", "one/fitted.toml"), fit("3", "three/fitted.toml"));
    assert_eq!(one, three);
    assert!(one.contains("interface.firmware_time") && one.contains("\nfits: "), "{one}");
    assert!(one.contains("from the base: ") && one.contains("flash.channels = 8"), "{one}");
    for name in ["fitted.toml", "fit.json", "fit.html"] {
        let read = |run: &str| fs::read(folder.path().join(run).join(name)).expect("it is there");
        assert_eq!(read("one"), read("three"), "{name}");
    }
    succeeds(folder.path(), &["check", "one/fitted.toml"]);
}

#[test]
fn without_a_base_the_nearest_presets_are_fitted() {
    let folder = folder_with("curves.csv", CURVES);
    let fit = ["fit", "curves.csv", "--effort", "0.02", "--out", "out/fitted.toml"];
    let text = succeeds(folder.path(), &fit).0;
    let line = text.lines().find(|line| line.starts_with("base: ")).expect("it says the base");
    let (base, tried) =
        line["base: ".len()..].split_once("; nearest first: ").expect("it lists them");
    let tried: Vec<&str> = tried.split(", ").collect();
    assert!(tried.len() > 4 && tried[..2].contains(&base), "{line}");
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).expect("is");
    let json: serde_json::Value = serde_json::from_str(&read("fit.json")).expect("it is JSON");
    assert_eq!(json["base"], base);
    let listed = json["tried"].as_array().expect("a list").iter().map(|one| &one["base"]);
    assert!(listed.eq(tried.iter().copied()));
    assert!(read("fitted.toml").contains(&format!("base = \"{base}\"")));
    succeeds(folder.path(), &["check", "out/fitted.toml"]);
}

#[test]
fn bad_tables_keys_and_bases_are_refused() {
    let says = |curves: &str, more: &[&str], words: &str| {
        let folder = folder_with("curves.csv", curves);
        let fit = ["fit", "curves.csv", "--effort", "0.02", "--out", "out/fitted.toml"];
        let error = refused(folder.path(), &[&fit[..], more].concat());
        assert!(error.contains(words), "{error}");
        assert!(!folder.path().join("out").exists());
    };
    says(&format!("{CURVES}read,random,4KiB,1,mean,80\n"), &["--base", "zn540"], "csv:4: metric");
    says(CURVES, &["--base", "zn541"], "zn540");
    says(CURVES, &["--base", "zn540", "--vary", "flash.chanels"], "--vary flash.chanels");
    says(CURVES, &["--base", "zn540", "--evaluations", "3"], "3 evaluations are allowed");
}
