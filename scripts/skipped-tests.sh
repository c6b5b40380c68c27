#!/usr/bin/env bash
# Prints how many Rust tests were skipped, and what each needs, from the list that flashlane_testing::skip writes.
# Usage: skipped-tests.sh LIST
set -euo pipefail

if [ ! -s "$1" ]; then
    echo "Rust tests skipped: none"
    exit 0
fi
whole=$(grep -c '^skipped: ' "$1" || true)
part=$(grep -c '^skipped in part: ' "$1" || true)
echo "Rust tests skipped: $whole, skipped in part: $part"
LC_ALL=C sort -u "$1" | sed -n 's/^skipped: /  &/p'
LC_ALL=C sort -u "$1" | sed -n 's/^skipped in part: /  &/p'
