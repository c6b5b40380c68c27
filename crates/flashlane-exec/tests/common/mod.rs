//! Builds programs with the cross compiler, and runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_exec::{ExecConfig, ExecOptions, Results, execute};

/// The cross compiler.
const COMPILER: &str = "riscv64-linux-gnu-gcc";

/// Builds a C file of the crate, unless the one that is there is newer. `None`, and the running
/// test says that it is skipped: there is no cross compiler.
pub(crate) fn build(source: &str, more: &[&str]) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (source, programs) = (root.join(source), root.join("programs"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("riscv");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let program = folder.join(source.file_stem().expect("a file"));
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let inputs = [source.clone(), programs.join("common.h"), programs.join("fileset.h")];
    let newest = inputs.iter().filter_map(|path| changed(path)).max();
    if changed(&program).is_some_and(|built| newest < Some(built)) {
        return Some(program);
    }
    if Command::new(COMPILER).arg("--version").output().is_err() {
        flashlane_testing::skip("riscv64-linux-gnu-gcc (gcc-riscv64-linux-gnu, libc6-dev-riscv64-cross)");
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
