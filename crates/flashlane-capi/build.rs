//! Gives the shared library the name by which programs find it when they start, and warns where a
//! panic could not be caught.

use std::env::var;

/// As `FLASHLANE_ABI_VERSION`; a test compares them.
const ABI_VERSION: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libflashlane.so.{ABI_VERSION}");
    }
    if var("CARGO_CFG_PANIC").as_deref() != Ok("unwind") {
        println!(
            "cargo::warning=a panic in this library ends the process, because the profile has \
             panic = \"abort\"; build it with `make install`, which uses `--profile capi`"
        );
    }
}
