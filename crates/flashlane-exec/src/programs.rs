//! Programs that are shipped as source, and the cross compiler that builds them.

use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane::Error;

/// Environment variable for the cross compiler.
pub const COMPILER: &str = "FLASHLANE_RISCV_CC";

/// Headers.
const HEADERS: [(&str, &str); 2] = [
    ("common.h", include_str!("../programs/common.h")),
    ("fileset.h", include_str!("../programs/fileset.h")),
];

/// Programs by name.
const PROGRAMS: [(&str, &str); 5] = [
    ("fileserver", include_str!("../programs/fileserver.c")),
    ("mailserver", include_str!("../programs/mailserver.c")),
    ("webserver", include_str!("../programs/webserver.c")),
    ("iozone", include_str!("../programs/iozone.c")),
    ("odirect_loop", include_str!("../programs/odirect_loop.c")),
];

/// The cross compiler: that of the environment, or else that of Debian's package.
fn compiler() -> String {
    std::env::var(COMPILER).unwrap_or_else(|_| "riscv64-linux-gnu-gcc".to_owned())
}

/// A description of the tools that are missing for building programs, if any are.
#[must_use]
pub fn missing() -> Option<String> {
    let compiler = compiler();
    let found = Command::new(&compiler).arg("--version").output().is_ok_and(|o| o.status.success());
    (!found).then(|| {
        format!(
            "needs the cross compiler {compiler} (Debian: gcc-riscv64-linux-gnu and \
             libc6-dev-riscv64-cross; another one: set {COMPILER})"
        )
    })
}

/// Builds a shipped program in a folder. Returns its path.
///
/// # Errors
///
/// [`Error::Config`] if there is no such program, no compiler, or the folder cannot be written.
pub fn build(name: &str, folder: &Path) -> Result<PathBuf, Error> {
    let refuse = |message: String| Error::config(format!("program {name}"), message);
    if let Some(missing) = missing() {
        return Err(refuse(missing));
    }
    let Some((_, source)) = PROGRAMS.iter().find(|one| one.0 == name) else {
        let names: Vec<&str> = PROGRAMS.iter().map(|one| one.0).collect();
        return Err(refuse(format!("is not shipped; allowed: {}", names.join(", "))));
    };
    let file = folder.join(name).with_extension("c");
    let texts = HEADERS.iter().map(|&(header, text)| (folder.join(header), text));
    for (path, text) in texts.chain([(file.clone(), *source)]) {
        std::fs::write(&path, text)
            .map_err(|error| refuse(format!("{}: cannot be written: {error}", path.display())))?;
    }
    let program = folder.join(name);
    let built = Command::new(compiler())
        .args(["-O2", "-static", "-no-pie", "-pthread", "-o"])
        .args([&program, &file])
        .arg("-lm")
        .output()
        .map_err(|error| refuse(format!("the cross compiler does not run: {error}")))?;
    if !built.status.success() {
        let text = String::from_utf8_lossy(&built.stderr);
        return Err(refuse(format!("is not compiled: {}", text.trim().replace('\n', "; "))));
    }
    Ok(program)
}
