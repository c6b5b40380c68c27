#!/bin/busybox sh
# The first process of the virtual machine of guest.rs. The command line of the kernel has the ports of servers, and each brings its
# steps: $files with a file of $mib MiB, $alone, $flood and $written. A step prints "@ NAME", its output and "@ NAME ended STATUS" on the
# serial console. The machine ends with the first step that fails.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
host=10.0.2.2

step() {
    step_name=$1
    shift
    printf '\n@ %s\n' "$step_name"
    "$@" 2>&1
    step_status=$?
    printf '\n@ %s ended %s\n' "$step_name" "$step_status"
    if [ "$step_status" -ne 0 ]; then
        dmesg | tail -n 30
        poweroff -f
    fi
}

network() {
    modprobe virtio_pci && modprobe virtio_net && modprobe nvme-tcp && modprobe crc32c-intel || return
    ip link set lo up && ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0
}

discover() {
    nvme discover -t tcp -a $host -s "$1" >/tmp/discovered || return
    cat /tmp/discovered
    name=$(sed -n 's/^subnqn: *//p' /tmp/discovered)
}

# Sets $disk, the namespace, and $controller.
connect() {
    nvme connect -t tcp -a $host -s "$1" -n "$name" --nr-io-queues=2 || return
    for _ in $(seq 100); do
        disk=$(ls /dev/nvme*n1 2>/dev/null)
        [ -b "$disk" ] && break
        usleep 100000
    done
    controller=/dev/$(ls /sys/class/nvme)
    echo "queues $(cat /sys/class/nvme/*/queue_count)"
    [ -b "$disk" ]
}

disconnect() {
    nvme disconnect -n "$name" && ! ls /dev/nvme*n1 2>/dev/null
}

# fio writes a file of $1 MiB and verifies it. With --verify_only as $2 it only verifies.
file() {
    fio --name=data --directory=/mnt --size="$1m" --rw=randwrite --bsrange=4k-32k --direct=1 --ioengine=libaio --iodepth=16 --thread \
        --verify=crc32c --do_verify=1 --verify_fatal=1 --randseed=7 --output-format=terse $2 && sha256sum /mnt/data.0.0
}

logs() {
    step "$1 smart" nvme smart-log "$controller" -o json
    step "$1 ocp" nvme ocp smart-add-log "$controller" -o json
}

# A file system on the server at port $1, with a file of $2 MiB.
files() {
    step discover discover "$1"
    step connect connect "$1"
    step id-ctrl nvme id-ctrl "$controller" -o json
    step id-ns nvme id-ns "$disk" -o json
    logs before
    step mkfs mkfs.ext4 -q "$disk"
    step mount mount "$disk" /mnt
    step write file "$2"
    step umount umount /mnt
    step disconnect disconnect
    step reconnect connect "$1"
    step check e2fsck -fn "$disk"
    step mount mount "$disk" /mnt
    step verify file "$2" --verify_only
    step umount umount /mnt
    step discard blkdiscard "$disk"
    logs after
    step errors nvme error-log "$controller" -o json
    step disconnect disconnect
}

# Reads alone on the first processor, which has the first queue. With $2, a flood of writes on the second one.
reads() {
    step discover discover "$1"
    step connect connect "$1"
    if [ -n "$2" ]; then
        taskset 2 fio --name=flood --filename="$disk" --rw=randwrite --bs=16k --direct=1 --ioengine=libaio --iodepth=32 --thread \
            --time_based --runtime=60 --output=/tmp/flood &
        flood=$!
        sleep 2
    fi
    step "reads$2" taskset 1 fio --name=reads --filename="$disk" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=1 \
        --thread --number_ios=500 --output-format=terse
    if [ -n "$2" ]; then
        kill -INT $flood
        wait $flood
    fi
    step disconnect disconnect
}

# Writes all blocks five times at random, and flushes after each round, so that the write cache absorbs no write. That is 1000 sectors a
# whole number of times, as the health log counts.
written() {
    step discover discover "$1"
    step connect connect "$1"
    pieces=$(($(cat "/sys/block/${disk#/dev/}/size") / 32))
    step rounds fio --name=rounds --filename="$disk" --rw=randwrite --bs=16k --direct=1 --ioengine=libaio --iodepth=16 --thread \
        --number_ios=$((pieces * 5)) --io_size=1g --fsync=$pieces --randseed=3 --output-format=terse
    step flush nvme flush "$disk"
    logs written
    step disconnect disconnect
}

step network network
[ -z "$files" ] || files "$files" "$mib"
[ -z "$alone" ] || reads "$alone"
[ -z "$flood" ] || reads "$flood" -beside-a-flood
[ -z "$written" ] || written "$written"
dmesg | grep -iE 'nvme|ext4|error|warn|bug' >/tmp/log
step log cat /tmp/log
step uptime cat /proc/uptime
poweroff -f
