#!/usr/bin/env bash
# Installs the library for C and C++: headers, shared and static library, flashlane.pc. `make install` calls it.
# Usage: install-c.sh FOLDER PREFIX    FOLDER has libflashlane_capi.so and .a; DESTDIR goes before PREFIX, as usual.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$1
target=${DESTDIR:-}$2
case $2 in
/*) ;;
*)
    echo "PREFIX: found $2, allowed: an absolute path" >&2
    exit 2
    ;;
esac
source=crates/flashlane-capi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
abi=$(sed -n 's/^#define FLASHLANE_ABI_VERSION //p' $source/include/flashlane.h)
# What programs need that are linked statically: the libraries of Rust's own library, and those of the system that
# the shared library was linked with (liblzma, where the system has it for developers).
private='-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc'
needed=$(LC_ALL=C readelf -d "$built/libflashlane_capi.so" | sed -n 's/.*(NEEDED).*\[lib\([^]]*\)\.so.*/-l\1/p')
for library in $needed; do
    case " $private " in
    *" $library "*) ;;
    *) private="$library $private" ;;
    esac
done

install -d "$target/include" "$target/lib/pkgconfig"
install -m 644 $source/include/flashlane.h $source/include/flashlane_nvme.h $source/include/flashlane.hpp \
    "$target/include"
install -m 644 "$built/libflashlane_capi.a" "$target/lib/libflashlane.a"
install -m 755 "$built/libflashlane_capi.so" "$target/lib/libflashlane.so.$abi.$version"
ln -sf "libflashlane.so.$abi.$version" "$target/lib/libflashlane.so.$abi"
ln -sf "libflashlane.so.$abi" "$target/lib/libflashlane.so"
sed "s|@VERSION@|$version|; s|@PRIVATE@|$private|" $source/flashlane.pc.in > "$target/lib/pkgconfig/flashlane.pc"
chmod 644 "$target/lib/pkgconfig/flashlane.pc"
