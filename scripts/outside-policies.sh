#!/usr/bin/env bash
# Builds a crate outside of the workspace that brings a scheduler along, by itself, and runs its tests. It compiles the simulator
# once more: `make outside` runs the same programs as part of the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."

crate=examples/fair-turns/Cargo.toml
run() { cargo "$1" --release --locked --quiet --manifest-path "$crate" --target-dir target "${@:2}"; }
run run -- conformance fair-turns
run test
