#!/usr/bin/env bash
# Installs what the tests need beside Rust and Python, where it is missing and can be had: rustfmt and clippy, compilers for C and
# C++, a cross compiler for the programs of `flashlane exec`, SystemC, pkg-config, valgrind, and the tools that some tests compare with
# (fio and its examples, blkparse), Slurm, of which a test starts one node, and QEMU with what its virtual machine runs. Where one
# cannot be had, what needs it says so and passes.
set -euo pipefail

cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

missing=()
{ command -v cc && command -v c++; } >/dev/null || missing+=(gcc g++)
command -v riscv64-linux-gnu-gcc >/dev/null || missing+=(gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)
command -v pkg-config >/dev/null || missing+=(pkg-config)
pkg-config --exists systemc 2>/dev/null || missing+=(libsystemc-dev)
command -v valgrind >/dev/null || missing+=(valgrind)
command -v fio >/dev/null || missing+=(fio)
[ -d /usr/share/doc/fio/examples ] || missing+=(fio-examples)
command -v blkparse >/dev/null || missing+=(blktrace)
# By itself: where it cannot be had, the others can.
slurm=()
command -v sbatch >/dev/null || slurm+=(slurm-wlm)
command -v munged >/dev/null || slurm+=(munge)
guest=()
if [ "$(uname -m)" = x86_64 ]; then
    command -v qemu-system-x86_64 >/dev/null || guest+=(qemu-system-x86)
    PATH="$PATH:/usr/sbin" command -v nvme >/dev/null || guest+=(nvme-cli)
    command -v busybox >/dev/null || guest+=(busybox-static)
    PATH="$PATH:/usr/sbin:/sbin" command -v mkfs.ext4 >/dev/null || guest+=(e2fsprogs)
fi
if [ "${#missing[@]}" -eq 0 ] && [ "${#slurm[@]}" -eq 0 ] && [ "${#guest[@]}" -eq 0 ]; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "not installed, tests that need them are skipped: ${missing[*]} ${slurm[*]} ${guest[*]}" >&2
    exit 0
fi
install() {
    [ "$#" -eq 0 ] || apt-get install -y --no-install-recommends "$@" >/dev/null ||
        echo "cannot be installed, tests that need them are skipped: $*" >&2
}
apt-get update >/dev/null || true
install "${missing[@]}"
install "${slurm[@]}"
install "${guest[@]}"
