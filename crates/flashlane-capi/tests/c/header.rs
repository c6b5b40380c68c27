//! The committed header is the one that cbindgen makes, and says what the library does.

use std::path::{Path, PathBuf};

/// The crate's own folder.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The header of the sources as they are.
fn generated() -> String {
    let root = root();
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["error", "types", "drive", "zones", "snapshot", "text"] {
        builder = builder.with_src(root.join(format!("src/{file}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().expect("cbindgen reads the sources").write(&mut header);
    String::from_utf8(header).expect("the sources are UTF-8")
}

/// The header of the controller.
fn generated_of_nvme() -> String {
    let root = root();
    let config = cbindgen::Config::from_file(root.join("cbindgen-nvme.toml"));
    let builder = cbindgen::Builder::new().with_config(config.expect("a configuration"));
    let mut header = Vec::new();
    let made = builder.with_src(root.join("src/nvme.rs")).generate();
    made.expect("cbindgen reads the sources").write(&mut header);
    String::from_utf8(header).expect("the sources are UTF-8")
}

#[test]
fn the_headers_are_those_of_the_sources() {
    compare("flashlane.h", generated());
    compare("flashlane_nvme.h", generated_of_nvme());
}

fn compare(name: &str, generated: String) {
    let path = root().join("include").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = read(&path);
    assert!(committed == generated, "include/{name} is not up to date: run make docs");
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The functions that the headers declare, sorted.
pub(crate) fn functions() -> Vec<String> {
    let headers = ["flashlane.h", "flashlane_nvme.h"];
    let header = headers.map(|name| read(&root().join("include").join(name))).concat();
    let code = header.lines().filter(|line| !line.starts_with([' ', '/', '#', '}']));
    let mut names: Vec<String> = code
        .filter_map(|line| line.split_once('('))
        .filter_map(|(before, _)| before.rsplit([' ', '*']).next())
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn one_number_names_the_version_of_the_interface() {
    let number = flashlane_capi::FLASHLANE_ABI_VERSION;
    let build = read(&root().join("build.rs"));
    assert!(build.contains(&format!("const ABI_VERSION: u32 = {number};")), "build.rs");
    let header = read(&root().join("include/flashlane.h"));
    assert!(header.contains(&format!("#define FLASHLANE_ABI_VERSION {number}\n")));
    assert!(functions().len() > 15, "{:?}", functions());
}

/// A panic can be caught only where the profile lets it unwind.
#[test]
fn the_profile_of_the_library_unwinds() {
    let manifest = read(&root().join("../../Cargo.toml"));
    let (_, profile) = manifest.split_once("[profile.release]\n").expect("the profile");
    let profile = profile.split("\n[").next().unwrap_or(profile);
    assert!(!profile.contains("panic"), "without a word of it they unwind: {profile}");
    let commands = read(&root().join("../../Makefile"));
    assert!(commands.contains("--release -p flashlane-capi"), "make install uses it");
}
