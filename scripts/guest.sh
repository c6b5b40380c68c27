#!/usr/bin/env bash
# Prepares a virtual machine with a stock kernel of Debian: writes FOLDER/kernel and FOLDER/initrd, for QEMU. The initial file
# system holds the kernel's modules for the network and for NVMe/TCP, the programs that the tests use, and the script INIT as the first
# process. The kernel is downloaded to target/guest, and not installed. The programs are those of this machine.
# Usage: guest.sh FOLDER INIT
# Ends with status 3, and one line on standard output that says what is missing, where the machine cannot be had.
set -euo pipefail
folder=$(realpath "$1")
init=$(realpath "$2")
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin:/sbin"

lacks() {
    echo "$*"
    exit 3
}
[ "$(uname -sm)" = "Linux x86_64" ] || lacks "Linux on an x86-64 processor"
missing=()
for program in qemu-system-x86_64 setpriv busybox nvme fio mkfs.ext4 e2fsck; do
    command -v "$program" >/dev/null || missing+=("$program")
done
[ "${#missing[@]}" -eq 0 ] || lacks "${missing[*]}"
! ldd "$(command -v busybox)" >/dev/null 2>&1 || lacks "a busybox without shared libraries (Debian's busybox-static)"

# Downloads the package $1 to the folder $2, and keeps what the virtual machine needs: the kernel, and its modules in `root`.
unpack() {
    (cd "$2" && timeout 240 apt-get -q download "$1") >/dev/null 2>&1 || return
    busybox dpkg-deb -x "$2/$1"_*.deb "$2/all" || return
    local version
    version=$(ls "$2/all/lib/modules")
    busybox depmod -b "$2/all" "$version" || return
    local from=$2/all/lib/modules/$version to=$2/root/lib/modules/$version
    mkdir -p "$to"
    cp "$from"/modules.{dep,alias,symbols} "$to"
    for module in virtio_pci virtio_net nvme-tcp crc32c-intel; do
        # The module, and those that it needs. What is part of the kernel has no line.
        sed -n "s|^\(.*/$module\.ko[.a-z]*\):|\1|p" "$from/modules.dep"
    done | xargs -n 1 | sort -u | while read -r file; do
        install -D -m 644 "$from/$file" "$to/$file"
    done
    cp "$2/all/boot/vmlinuz-$version" "$2/kernel" || return
    rm -r "$2/all" "$2/$1"_*.deb
}

# The newest kernel for clouds that apt knows, or one that was downloaded before. A folder gets its name when it is complete, since
# several tests may do this at a time.
cache=target/guest
package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1) || true
if [ -n "$package" ] && [ ! -d "$cache/$package" ]; then
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    if unpack "$package" "$new"; then
        mv -T "$new" "$cache/$package" 2>/dev/null || true
    fi
fi
kernel=$(find "$cache" -maxdepth 1 -name 'linux-image-*' 2>/dev/null | sort -V | tail -n 1) || true
[ -n "$kernel" ] || lacks "the package linux-image-cloud-amd64 of Debian"

root=$folder/root
mkdir -p "$root"/{bin,dev,etc/nvme,mnt,proc,run,sys,tmp}
cp -r "$kernel/root/." "$root"
cp "$(command -v busybox)" "$root/bin"
for program in nvme fio mkfs.ext4 e2fsck; do
    path=$(command -v "$program")
    cp "$path" "$root/bin"
    ldd "$path" | grep -o '/[^ ]*'
done | sort -u | while read -r library; do
    install -D -m 755 "$(realpath "$library")" "$root$library"
done
install -m 755 "$init" "$root/init"
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$folder/initrd"
rm -r "$root"
cp "$kernel/kernel" "$folder/kernel"
