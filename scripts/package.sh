#!/usr/bin/env bash
# Makes what a release ships, in out/packages. Usage: package.sh program|wheel
set -euo pipefail
# The smallest module for browsers.
export CARGO_PROFILE_WASM_LTO=fat
cd "$(dirname "$0")/.."
mkdir -p out/packages
case "${1:?program or wheel}" in
program)
    # A static program for any Linux on x86-64. Without `flashlane exec`, whose emulator is in C++.
    target=x86_64-unknown-linux-musl
    cargo build --locked --profile dist -p flashlane-cli --no-default-features --features commands --target "$target"
    program=target/$target/dist/flashlane
    if ldd "$program" 2>/dev/null | grep -q '=>'; then
        echo "package.sh: $program is not static" >&2
        exit 1
    fi
    cp "$program" out/packages/flashlane-linux-x86_64
    # Beside the program: reports run their scenarios again with it.
    packed=$(scripts/what-if.sh)
    [ -z "$packed" ] || cp "$packed" out/packages/what-if.b64
    ;;
wheel)
    # One wheel for every Python from 3.11 on, for Linux with glibc 2.17 or later, guided by a profile of the benchmark.
    packed=$(scripts/what-if.sh)
    [ -z "$packed" ] || cp "$packed" python/flashlane/what_if.b64
    PORTABLE=1 PROFILE_ONLY=1 scripts/profile-guided.sh
    RUSTFLAGS="${RUSTFLAGS-} -Cprofile-use=$PWD/target/profile-guided/profile" \
        maturin build --locked --profile dist --zig --compatibility manylinux2014 --out out/packages
    auditwheel show out/packages/*.whl
    ;;
*)
    echo "package.sh: found $1, allowed: program, wheel" >&2
    exit 2
    ;;
esac
