#!/usr/bin/env bash
# Runs the tests of the engine under Miri, which finds look-ups beyond the end, use of freed memory and broken rules of
# references in the unsafe code. Miri is part of the nightly toolchain; where it cannot be had, says so and passes.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1 &&
    ! rustup toolchain install nightly --profile minimal -c miri -c rust-src >/dev/null 2>&1; then
    echo "skipped: the engine under Miri, which cannot be installed" >&2
    exit 0
fi
cargo +nightly miri test --quiet -p flashlane-engine --lib
