//! An installed prefix, and compilers that find it through pkg-config.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use flashlane_testing::skip;

use crate::header::root;

/// Where the library is installed for the tests.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(install);

/// A folder with the library that panics, under the name by which programs look for the library.
static PANICKING: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-panicking");
    std::fs::create_dir_all(&folder).expect("a folder for the library");
    let unfinished = unfinished(&folder.join(LOADED));
    std::fs::copy(built().join("libflashlane_capi_panicking.so"), &unfinished)
        .expect("cargo has built the library that panics");
    std::fs::rename(unfinished, folder.join(LOADED)).expect("the folder can be written");
    folder
});

/// The name by which programs look for the library.
const LOADED: &str = "libflashlane.so.1";

/// What every program is compiled with.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"];

/// The folder of the running test program, where cargo has put the library as well.
fn built() -> PathBuf {
    let program = std::env::current_exe().expect("the program that runs has a path");
    program.parent().expect("it is in a folder").to_path_buf()
}

/// A name for a file until it is whole: the tests run as processes side by side.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}

/// A text that changes with each installed file.
fn state() -> String {
    let own = [
        "../../scripts/install-c.sh",
        "flashlane.pc.in",
        "include",
        "include/flashlane.h",
        "include/flashlane_nvme.h",
    ];
    let library = ["libflashlane_capi.so", "libflashlane_capi.a"].map(|name| built().join(name));
    let files = own.map(|name| root().join(name)).into_iter().chain(library);
    let of = |path: PathBuf| {
        let data = path.metadata().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        format!("{} {:?}\n", path.display(), data.modified().expect("files have a time"))
    };
    files.map(of).collect()
}

/// Installs the library as `make install` does, for a prefix in which it does not lie: flashlane.pc
/// has to find its place by itself. One process does it, and the others wait for it.
fn install() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (stage, prefix) = (folder.join("c-stage"), "/opt/flashlane");
    let mut lock = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join("c-stage.state"))
        .expect("the target folder can be written");
    lock.lock().expect("files can be locked");
    let (state, mut installed) = (state(), String::new());
    lock.read_to_string(&mut installed).expect("it can be read");
    if installed != state {
        let mut command = Command::new(root().join("../../scripts/install-c.sh"));
        command.arg(built()).arg(prefix).env("DESTDIR", &stage);
        said(&mut command);
        lock.set_len(0).and_then(|()| lock.rewind()).expect("it can be written");
        lock.write_all(state.as_bytes()).expect("it can be written");
    }
    stage.join(prefix.trim_start_matches('/'))
}

/// The standard output of a command that succeeds.
pub(crate) fn said(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{errors}");
    String::from_utf8(stdout).expect("programs print UTF-8")
}

/// Whether a tool is there.
pub(crate) fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Whether the tools are there that every program needs. Where they are not, the running test says
/// that it is skipped.
pub(crate) fn has_tools() -> bool {
    let missing = ["cc", "c++", "pkg-config"].into_iter().find(|tool| !has(tool));
    if let Some(tool) = missing {
        skip(tool);
    }
    missing.is_none()
}

/// Whether SystemC is there.
pub(crate) fn has_systemc() -> bool {
    let exists = Command::new("pkg-config").args(["--exists", "systemc"]).status();
    exists.is_ok_and(|status| status.success())
}

/// How a program is linked with the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// With the shared library of the prefix.
    Shared,
    /// With the static library of the prefix.
    Static,
    /// With the shared library that has a function that panics.
    Panicking,
}

/// A program in C or C++.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// From the crate's folder.
    pub(crate) source: &'static str,
    pub(crate) compiler: &'static str,
    pub(crate) link: Link,
    /// Compiled with AddressSanitizer, which looks for leaks as well.
    pub(crate) sanitized: bool,
}

impl Program {
    /// Compiles the program and returns its path.
    pub(crate) fn compile(&self) -> PathBuf {
        let name = Path::new(self.source).file_name().and_then(OsStr::to_str).expect("a name");
        let (compiler, link) = (self.compiler, format!("{:?}", self.link).to_lowercase());
        let sanitized = if self.sanitized { "-sanitized" } else { "" };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-programs");
        std::fs::create_dir_all(&folder).expect("a folder for programs");
        let program = folder.join(format!("{name}-{compiler}-{link}{sanitized}"));
        let standard = if self.source.ends_with(".c") { "-std=c11" } else { "-std=c++17" };
        let (mut command, unfinished) = (Command::new(compiler), unfinished(&program));
        let source = root().join(self.source);
        command.arg(standard).args(WARNINGS).arg(source).arg("-o").arg(&unfinished);
        if self.sanitized {
            command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        }
        command.args(self.flags());
        said(&mut command);
        std::fs::rename(unfinished, &program).expect("the folder can be written");
        program
    }

    /// What pkg-config says, so that the program finds header and library.
    fn flags(&self) -> Vec<String> {
        let mut flags = self.flags_of_library();
        if self.source.contains("/systemc/") {
            flags.push(format!("-I{}", root().join("../../integrations/systemc").display()));
            let mut command = Command::new("pkg-config");
            command.args(["--cflags", "--libs", "systemc"]);
            flags.extend(said(&mut command).split_whitespace().map(str::to_owned));
        }
        flags
    }

    fn flags_of_library(&self) -> Vec<String> {
        match self.link {
            Link::Shared => flags(&["--cflags", "--libs"]),
            Link::Static => {
                let mut all = flags(&["--cflags", "--static", "--libs"]);
                // The linker takes the static library if it is named by its file.
                for flag in all.iter_mut().filter(|flag| *flag == "-lflashlane") {
                    *flag = "-l:libflashlane.a".to_owned();
                }
                all
            }
            Link::Panicking => {
                let mut all = flags(&["--cflags"]);
                all.push(PANICKING.join(LOADED).display().to_string());
                all
            }
        }
    }

    /// Compiles the program, for a command that runs it, or runs it inside of another tool.
    pub(crate) fn command(&self, inside: &[&str]) -> Command {
        let program = self.compile();
        let mut command = match inside {
            [] => Command::new(program),
            [tool, arguments @ ..] => {
                let mut command = Command::new(tool);
                command.args(arguments).arg(program);
                command
            }
        };
        let folder = match self.link {
            Link::Panicking => PANICKING.clone(),
            Link::Shared | Link::Static => INSTALLED.join("lib"),
        };
        command.env("LD_LIBRARY_PATH", folder);
        command
    }
}

fn flags(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(arguments).arg("flashlane");
    // Alone: a library that the system has must not be found.
    command.env("PKG_CONFIG_LIBDIR", INSTALLED.join("lib/pkgconfig")).env_remove("PKG_CONFIG_PATH");
    said(&mut command).split_whitespace().map(str::to_owned).collect()
}

/// The symbols that the installed shared library offers.
pub(crate) fn symbols() -> Vec<String> {
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only"]).arg(INSTALLED.join("lib/libflashlane.so"));
    let lines = said(&mut command);
    let mut names: Vec<String> = lines
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}
