#!/usr/bin/env bash
# Runs the engine's tests of memory that is mapped from files under valgrind, since Miri knows no such files. Where
# valgrind cannot be had, says so and passes.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "skipped: the file mappings under valgrind, which is not installed" >&2
    exit 0
fi
program=$(cargo test --quiet -p flashlane-engine --lib --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/flashlane_engine-[^"]*\)".*/\1/p' | tail -n 1)
valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    "$program" --quiet memory:: table::
