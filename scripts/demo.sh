#!/usr/bin/env bash
# Builds the command, runs the demonstration, and then makes the part of its page that runs in the browser: what is seen first
# does not wait for it. `make demo` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

# `flashlane exec` is left out where there is no C++ compiler.
features=()
command -v "${CXX:-c++}" >/dev/null || features=(--no-default-features)
cargo build --release --locked -p flashlane-cli "${features[@]}"
demo=(./target/release/flashlane demo --out out/demo --overwrite)
"${demo[@]}"

# Beside the program, where all its reports find it.
beside=target/release/what-if.b64
echo $'\nMaking the simulator for browsers, with which the page runs its scenario again under other settings …' >&2
packed=$(WHAT_IF_PROGRESS=1 scripts/what-if.sh)
if [ -n "$packed" ]; then
    cp "$packed" "$beside"
    "${demo[@]}" --quiet >/dev/null
    echo "The page has it now: out/demo/report.html" >&2
fi
