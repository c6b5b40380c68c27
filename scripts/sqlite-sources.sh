#!/usr/bin/env bash
# Prints the folder with SQLite's sources: those that the crate libsqlite3-sys bundles, in the version of Cargo.lock.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo metadata --format-version 1 --locked --features flashlane-exec/sqlite-sources 2>/dev/null |
    tr ',' '\n' | sed -n 's|.*"manifest_path":"\(.*/libsqlite3-sys-[^/]*\)/Cargo.toml".*|\1/sqlite3|p' | head -n 1
