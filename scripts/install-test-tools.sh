#!/usr/bin/env bash
# Installs the tools that some tests compare with (fio, blkparse), where they are missing and apt-get is usable. Where they cannot
# be had, those tests say so and pass.
set -euo pipefail

missing=()
command -v fio >/dev/null || missing+=(fio)
command -v blkparse >/dev/null || missing+=(blktrace)
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "not installed, tests that need them are skipped: ${missing[*]}" >&2
    exit 0
fi
{ apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >/dev/null ||
    echo "cannot be installed, tests that need them are skipped: ${missing[*]}" >&2
