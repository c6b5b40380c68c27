#!/usr/bin/env bash
# Builds the command and runs the demonstration. What is seen first waits for nothing that the demonstration does without: the first
# build knows `flashlane demo` alone. Then follow the other commands, with a compiler for C++ `flashlane exec`, too, and the part of
# the page that runs in the browser. `make demo` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { cargo build --release --locked -p flashlane-cli "$@"; }
demo() { ./target/release/flashlane demo --out out/demo --overwrite "$@"; }

# `flashlane exec`, which is among the default features, has an emulator in C++.
whole=(--features exec)
command -v "${CXX:-c++}" >/dev/null || whole=(--no-default-features --features commands)

# A program that was built whole before stays so.
if target/release/flashlane run --help >/dev/null 2>&1; then build "${whole[@]}"; else build --no-default-features; fi
demo

echo $'\nThe demonstration is done. Adding the other commands of flashlane.' >&2
build "${whole[@]}"
echo 'Making the simulator for browsers: pages then run their scenarios again with other settings.' >&2
packed=$(WHAT_IF_PROGRESS=1 scripts/what-if.sh)
if [ -n "$packed" ]; then
    # Beside the program, where all its reports find it.
    cp "$packed" target/release/what-if.b64
    demo --quiet >/dev/null
    echo "The page has it now: out/demo/report.html" >&2
fi
