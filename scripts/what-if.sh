#!/usr/bin/env bash
# Makes the simulator for browsers, packed for pages, and prints where it is: reports with it beside them run their scenarios
# again with other settings. Prints nothing where Rust has no libraries for browsers and cannot get them. WHAT_IF_PROGRESS=1
# shows what cargo builds.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && ! rustup target add "$target" >/dev/null 2>&1; then
    echo "what-if.sh: Rust has no libraries for $target here: reports do without" >&2
    exit 0
fi
# A folder of its own: its artifacts are of no use to other builds.
quiet=--quiet
[ -z "${WHAT_IF_PROGRESS-}" ] || quiet=
cargo build $quiet --locked -p flashlane-wasm --target "$target" --profile wasm --target-dir target/wasm
packed=target/wasm/what-if.b64
cargo run $quiet --locked -p flashlane-pack --release --target-dir target/wasm \
    < "target/wasm/$target/wasm/flashlane_wasm.wasm" | base64 -w0 > "$packed.new"
mv "$packed.new" "$packed"
echo "$PWD/$packed"
