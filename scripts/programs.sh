#!/usr/bin/env bash
# Builds the programs that `flashlane exec` is shipped with, for the emulated processor: scripts/programs.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${1:-out/programs}")
if ! command -v "${CROSS:-riscv64-linux-gnu-}gcc" >/dev/null; then
    echo "needs riscv64-linux-gnu-gcc: on Debian the packages gcc-riscv64-linux-gnu and libc6-dev-riscv64-cross" >&2
    exit 2
fi
make -s -C crates/flashlane-exec/programs OUT="$out" all
make -s -C crates/flashlane-exec/programs OUT="$out" SQLITE="$(scripts/sqlite-sources.sh)" sqlite
ls "$out"
