#!/usr/bin/env bash
# Checks that the program, the Python package and the C library compile with the oldest Rust that Cargo.toml promises.
# Installs that Rust with rustup; where it cannot be had, says so and passes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! rustup run "$version" rustc --version >/dev/null 2>&1 &&
    ! rustup toolchain install "$version" --profile minimal >/dev/null 2>&1; then
    echo "skipped: the check with Rust $version, which cannot be installed" >&2
    exit 0
fi
# The C++ of an emulator is compiled for this, but never runs.
# In a folder of its own, so that other builds go on meanwhile.
cargo "+$version" check --config 'profile.dev.package.libriscv_sys.opt-level=0' --locked --quiet --target-dir target/minimum-rust -p flashlane-cli -p flashlane-python -p flashlane-capi
echo "Rust $version compiles it"
