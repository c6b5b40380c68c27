#!/usr/bin/env bash
# Prepares a virtual machine with a stock kernel of Debian: writes FOLDER/kernel and FOLDER/initrd, for QEMU. The initial file
# system holds modules for the network and for NVMe/TCP, the programs that the tests use, and the script INIT as the first process.
# The kernel is downloaded to target/guest, and not installed. The programs are those of this machine.
# Usage: guest.sh FOLDER INIT
# Ends with status 3, and one line that says what is missing, where the machine cannot be had.
set -euo pipefail
folder=$(realpath "$1")
init=$(realpath "$2")
cd "$(dirname "$0")/.."

lacks() {
    echo "$*"
    exit 3
}
[ "$(uname -sm)" = "Linux x86_64" ] || lacks "Linux on an x86-64 processor"
programs=(/bin/busybox)
missing=()
for program in qemu-system-x86_64 setpriv busybox nvme fio mkfs.ext4 e2fsck; do
    path=$(PATH="$PATH:/usr/sbin:/sbin" command -v "$program") || missing+=("$program")
    case "$program" in
        nvme | fio | mkfs.ext4 | e2fsck) programs+=("${path:-}") ;;
        busybox) programs[0]=${path:-} ;;
    esac
done
[ "${#missing[@]}" -eq 0 ] || lacks "${missing[*]}"
if ldd "${programs[0]}" >/dev/null 2>&1; then
    lacks "a busybox without shared libraries (Debian's busybox-static)"
fi

# The newest kernel for clouds that apt knows. A new folder appears under its name when it is complete.
cache=target/guest
package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -n 1) || true
if [ -n "$package" ] && [ ! -d "$cache/$package" ]; then
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    fetch() { (cd "$new" && timeout 240 apt-get -q download "$package") >"$new/log" 2>&1; }
    if fetch || { timeout 240 apt-get -q update >/dev/null 2>&1 && fetch; }; then
        busybox dpkg-deb -x "$new/$package"_*.deb "$new" 2>/dev/null || dpkg -x "$new/$package"_*.deb "$new"
        rm "$new/$package"_*.deb
        busybox depmod -b "$new" "$(ls "$new/lib/modules")"
        chmod 755 "$new"
        mv -T "$new" "$cache/$package" 2>/dev/null || true
    fi
fi
kernel=$(ls -d "$cache"/linux-image-* 2>/dev/null | sort -V | tail -n 1)
[ -n "$kernel" ] || lacks "the package linux-image-cloud-amd64 of Debian"

version=$(ls "$kernel/lib/modules")
modules=lib/modules/$version
root=$folder/root
mkdir -p "$root"/{bin,dev,etc/nvme,mnt,proc,run,sys,tmp,"$modules"}
cp "$kernel/$modules"/modules.{dep,alias,symbols} "$root/$modules"
for module in virtio_pci virtio_net nvme-tcp crc32c-intel; do
    # The module and those that it needs; those that are part of the kernel have no line.
    sed -n "s|^\(.*/$module\.ko\(\.[a-z]*\)\?\):|\1|p" "$kernel/$modules/modules.dep"
done | tr ' ' '\n' | sort -u | while read -r file; do
    [ -z "$file" ] || install -D -m 644 "$kernel/$modules/$file" "$root/$modules/$file"
done
cp "${programs[@]}" "$root/bin"
for program in "${programs[@]:1}"; do
    ldd "$program" | grep -o '/[^ ]*'
done | sort -u | while read -r library; do
    install -D -m 755 "$(realpath "$library")" "$root$library"
done
install -m 755 "$init" "$root/init"
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$folder/initrd"
rm -r "$root"
cp "$kernel/boot/vmlinuz-$version" "$folder/kernel"
echo "$version"
