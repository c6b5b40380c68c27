#!/usr/bin/env bash
# Builds a crate outside of the workspace that brings a scheduler along, checks that the scheduler keeps the rules, and counts
# the instructions of one from outside against a built-in one.
set -euo pipefail
cd "$(dirname "$0")/.."

crate=examples/fair-turns/Cargo.toml
run() { cargo "$1" --release --locked --quiet --manifest-path "$crate" --target-dir target "${@:2}"; }
run run -- conformance fair-turns
run test
