#!/usr/bin/env bash
# Builds the command, runs the demonstration, and then makes what it does without: the part of its page that runs in the browser, and
# `flashlane exec`, whose emulator is C++. What is seen first does not wait for them. `make demo` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { cargo build --release --locked -p flashlane-cli "$@"; }
demo() { ./target/release/flashlane demo --out out/demo --overwrite "$@"; }

# A program that was built whole before stays so.
if target/release/flashlane exec --help >/dev/null 2>&1; then build; else build --no-default-features; fi
demo

echo $'\nThe demonstration is done. Making the simulator for browsers: pages then run their scenarios again with other settings.' >&2
packed=$(WHAT_IF_PROGRESS=1 scripts/what-if.sh)
if [ -n "$packed" ]; then
    # Beside the program, where all its reports find it.
    cp "$packed" target/release/what-if.b64
    demo --quiet >/dev/null
    echo "The page has it now: out/demo/report.html" >&2
fi
if command -v "${CXX:-c++}" >/dev/null; then
    echo 'Adding flashlane exec, which runs programs on the drive.' >&2
    build
fi
