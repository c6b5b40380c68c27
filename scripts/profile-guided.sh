#!/usr/bin/env bash
# A build for this machine, guided by a profile of the benchmark's cases: target/profile-guided/flashlane and flashlane-bench.
# The programs compute the same as those of a plain release build.
#
# PORTABLE=1 leaves out instructions that only newer processors have. PROFILE_ONLY=1 measures, and builds nothing with it:
# target/profile-guided/profile is for other builds.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$PWD/target/profile-guided
tools=$(rustc --print target-libdir)/../bin
[ -x "$tools/llvm-profdata" ] || rustup component add llvm-tools
triple=$(rustc -vV | sed -n 's/^host: //p')
flags=${RUSTFLAGS-}
[ -n "${PORTABLE-}" ] || flags+=" -Ctarget-cpu=native"

# With a target named, flags leave build scripts and macros alone.
build() {
  RUSTFLAGS="$flags $1" cargo build --release -q --target "$triple" --target-dir "$2" -p flashlane-cli -p flashlane-bench
}

rm -rf "$out/profiles"
build "-Cprofile-generate=$out/profiles" "$out/measured"
bench=$out/measured/$triple/release/flashlane-bench
# Requests of each case in thousands: about the same time for every one.
for case in backend-2-2:400 backend-2-16:400 backend-2-256:400 mqsim-default:200 gc-writes:60 flin-bursts:60 \
            sequential:20 xpoint-qd1:100 flows-64:200 waf-only:400; do
  "$bench" small "${case%:*}" "${case#*:}000" >/dev/null
done
"$tools/llvm-profdata" merge -o "$out/profile" "$out/profiles"
rm -rf "$out/profiles"
[ -z "${PROFILE_ONLY-}" ] || exit 0
build "-Cprofile-use=$out/profile" "$out/guided"
cp "$out/guided/$triple/release/"{flashlane,flashlane-bench} "$out/"
echo "target/profile-guided/flashlane"
