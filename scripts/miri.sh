#!/usr/bin/env bash
# Runs the tests of the engine under Miri, which finds look-ups beyond the end, use of freed memory and broken rules of
# references in the unsafe code. Miri is part of the nightly toolchain; where it cannot be had, says so and passes.
#
# Sources that passed are not run again: their digest is in miri-passed.txt, which this script writes and git keeps.
# MIRI=always runs them all the same, as `make long` does.
set -euo pipefail
cd "$(dirname "$0")/.."
passed=crates/flashlane-engine/miri-passed.txt
digest=$(find crates/flashlane-engine/src -name '*.rs' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)

if [ "${MIRI:-}" != always ] && [ "$digest" = "$(cat "$passed" 2>/dev/null)" ]; then
    echo "Miri has passed these sources of the engine (MIRI=always: again)"
    exit 0
fi
if ! cargo +nightly miri --version >/dev/null 2>&1 &&
    ! rustup toolchain install nightly --profile minimal -c miri -c rust-src >/dev/null 2>&1; then
    echo "skipped: the engine under Miri, which cannot be installed" >&2
    exit 0
fi
cargo +nightly miri test --quiet -p flashlane-engine --lib
echo "$digest" > "$passed"
