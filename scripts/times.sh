#!/usr/bin/env bash
# Measures the parts of `make test`, or those that are named, one after the other, and prints a table: minutes of processor time and
# of waiting. What an earlier part builds, later ones use. Usage: times.sh [--clean] [PART ...]
#
# --clean   in a folder of its own, so that everything is built from nothing; target/ stays as it is
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1-}" = --clean ]; then
    shift
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    git clone --quiet . "$folder/flashlane"
    [ ! -d ../shared ] || ln -s "$(realpath ../shared)" "$folder/shared"
    cd "$folder/flashlane"
    # As .ci/run builds.
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
fi
parts=("$@")
[ "$#" -gt 0 ] || parts=(tools lint release bench-check outside miri memcheck site dependencies test-python test-rust)

echo '| part | processor minutes | minutes |'
echo '| --- | --- | --- |'
failed=0
TIMEFORMAT='%U %S %R'
for part in "${parts[@]}"; do
    log=$(mktemp)
    # What is timed includes the programs that make starts and waits for.
    times=$({ time make --no-print-directory "$part" >"$log" 2>&1; } 2>&1) || { cat "$log" >&2; failed=1; }
    rm -f "$log"
    echo "$times" | awk -v part="$part" '{ printf "| `make %s` | %.1f | %.1f |\n", part, ($1 + $2) / 60, $3 / 60 }'
done
exit "$failed"
