//! Builds programs with the cross compiler, and runs them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_exec::{ExecConfig, ExecOptions, Results, execute};

/// The cross compiler.
const COMPILER: &str = "riscv64-linux-gnu-gcc";

/// Waits until no other test builds a program: tests are processes side by side, and a large
/// program is built once.
fn alone(folder: &Path) -> File {
    let lock = File::create(folder.join("lock")).expect("the target folder can be written");
    lock.lock().expect("files can be locked");
    lock
}

/// Builds a C file of the crate, unless the one that is there is newer. `None`, and the running
/// test says that it is skipped: there is no cross compiler.
pub(crate) fn build(source: &str, more: &[&str]) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (source, programs) = (root.join(source), root.join("programs"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("riscv");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let _alone = alone(&folder);
    let program = folder.join(source.file_stem().expect("a file"));
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let inputs = [source.clone(), programs.join("common.h"), programs.join("fileset.h")];
    let newest = inputs.iter().filter_map(|path| changed(path)).max();
    if changed(&program).is_some_and(|built| newest < Some(built)) {
        return Some(program);
    }
    if Command::new(COMPILER).arg("--version").output().is_err() {
        flashlane_testing::skip(
            "riscv64-linux-gnu-gcc (gcc-riscv64-linux-gnu, libc6-dev-riscv64-cross)",
        );
        return None;
    }
    // Under a name of its own first: tests run side by side.
    let unfinished = folder.join(format!(
        "{}.{}.{:?}",
        program.file_name().expect("a name").to_string_lossy(),
        std::process::id(),
        std::thread::current().id()
    ));
    let status = Command::new(COMPILER)
        .args(["-O2", "-static", "-no-pie", "-pthread", "-I"])
        .args([programs.as_os_str(), "-o".as_ref(), unfinished.as_os_str(), source.as_os_str()])
        .args(more)
        .arg("-lm")
        .status()
        .expect("the cross compiler runs");
    assert!(status.success(), "{} is compiled", source.display());
    std::fs::rename(&unfinished, &program).expect("the target folder can be written");
    Some(program)
}

/// The folder with SQLite's sources, in the crate whose version `Cargo.lock` names. `None`, and the
/// running test says that it is skipped: it cannot be had.
pub(crate) fn sqlite_sources() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/sqlite-sources.sh");
    let output = Command::new(script).output().expect("a shell");
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if folder.join("sqlite3.c").exists() {
        return Some(folder);
    }
    flashlane_testing::skip("the crate libsqlite3-sys, which cannot be downloaded");
    None
}

/// The SQLite workload: for the emulated processor, and for this machine.
pub(crate) fn sqlite() -> Option<(PathBuf, PathBuf)> {
    let sources = sqlite_sources()?;
    let file = sources.join("sqlite3.c").display().to_string();
    let include = format!("-I{}", sources.display());
    let options = [&*include, "-O0", "-w", "-DSQLITE_OMIT_LOAD_EXTENSION", &file];
    let guest = build("programs/sqlite.c", &options)?;
    let native = guest.with_extension("native");
    let _alone = alone(guest.parent().expect("it is in a folder"));
    let newest = guest.metadata().and_then(|data| data.modified()).expect("it was built");
    let built = native.metadata().and_then(|data| data.modified());
    if built.is_ok_and(|built| built >= newest) {
        return Some((guest, native));
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/sqlite.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-pthread", "-o"]).args([&native, &source]).args(options).arg("-lm");
    match compiler.status() {
        Ok(status) => assert!(status.success(), "the workload is compiled"),
        Err(_) => {
            flashlane_testing::skip("cc");
            return None;
        }
    }
    Some((guest, native))
}

/// A program of the folder `programs`.
pub(crate) fn shipped(name: &str) -> Option<PathBuf> {
    build(&format!("programs/{name}.c"), &[])
}

/// A program that only tests use.
pub(crate) fn testing(name: &str) -> Option<PathBuf> {
    build(&format!("tests/programs/{name}.c"), &[])
}

/// A configuration of programs: name, executable, arguments.
pub(crate) fn config(programs: &[(&str, &Path, &[&str])], more: &str) -> ExecConfig {
    let mut text = format!("device = \"tiny\"\n{more}\n");
    for (name, elf, arguments) in programs {
        text.push_str(&format!(
            "[[program]]\nname = \"{name}\"\nelf = \"{}\"\nargs = {arguments:?}\n",
            elf.display()
        ));
    }
    ExecConfig::from_toml(&text, Path::new("test.toml")).expect("a valid configuration")
}

/// Runs it.
pub(crate) fn run(config: &ExecConfig, options: &ExecOptions) -> Result<Results, Error> {
    let overrides = Overrides { sets: config.set.clone(), ..Overrides::default() };
    let device = load::device(&config.device, &overrides)?;
    execute(config, &device.config, options)
}
