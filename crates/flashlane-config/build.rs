//! Copies the presets for the module for browsers, without their comments: it is inside every
//! report, where nobody reads them. Lines keep their numbers, which messages name.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=presets");
    let for_browsers = env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    for entry in fs::read_dir("presets").expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a preset");
        let line = |line: &str| match for_browsers && line.starts_with('#') {
            true => "\n".to_owned(),
            false => format!("{line}\n"),
        };
        let text: String = text.lines().map(line).collect();
        let name = path.file_name().expect("a file");
        fs::write(Path::new(&out).join(name), text).expect("the build has a folder");
    }
}
