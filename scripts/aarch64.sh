#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds for aarch64 with Debian's cross compiler and runs the unit tests and the kernel tests of one PE under qemu's user
# emulation. Needs root once, for packages and to make a folder with that architecture's libraries (build/aarch64/root).
#   --build   stop when it is built
#   -R REGEX  only unit tests whose names match
set -uo pipefail

usage() { sed -n '3,6s/^# \{0,1\}//p' "$0"; }
filter=() only_build=no
while [ $# -gt 0 ]; do
    case $1 in
    --build) only_build=yes ;;
    -R)
        [ $# -ge 2 ] || { echo "aarch64.sh: -R wants a regular expression" >&2 && exit 2; }
        filter=(-R "$2") && shift
        ;;
    -h | --help) usage && exit 0 ;;
    *) echo "aarch64.sh: unknown option $1" >&2 && usage >&2 && exit 2 ;;
    esac
    shift
done
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

HERE=$ROOT/build/aarch64
SYSROOT=$HERE/root
LIBRARIES=(libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libssl3 libssl-dev libcmocka0 libcmocka-dev zlib1g zlib1g-dev libhwloc15
    libhwloc-dev libjansson4 libjansson-dev libnuma1 libnuma-dev libltdl7 libltdl-dev libudev1)

# What the emulator does not have: other processes' memory and mappings (share, namespace, secrets), copies that fail instead of
# faulting (dma and engine_names, which use wrong addresses on purpose), sizes of the host's address space (vmm), its own
# name and programs started again by name (log, net, npu_test, meet), name servers in a network of their own (address),
# and enough speed for time-outs of the store.
LEFT_OUT='^(cpurt\.(share|namespace|vmm|dma|dialect|tools|debug).*|unit\.(utils_log|utils_net|npu_test|address_test|meet_.*|store_.*|tls_(memory|strangers)_test|hybm_test|launch_test))$'

tools() {
    local missing=()
    command -v aarch64-linux-gnu-gcc > /dev/null || missing+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    command -v qemu-aarch64-static > /dev/null || missing+=(qemu-user-static)
    command -v debootstrap > /dev/null || [ -x /usr/sbin/debootstrap ] || missing+=(debootstrap)
    [ ${#missing[@]} -eq 0 ] && return 0
    mkdir -p "$LOGS"
    say "installing ${missing[*]}"
    command -v apt-get > /dev/null && apt_install "${missing[@]}" && return 0
    die "${missing[*]} could not be installed" "install them by hand; they are packages of Debian and Ubuntu"
}

# A Debian of the other architecture, unpacked and never started.
sysroot() {
    local package release=bookworm include deb
    [ ! -e "$SYSROOT/made" ] || return 0
    include=$(IFS=, && echo "${LIBRARIES[*]}")
    say "making $SYSROOT, about a minute"
    rm -rf "$SYSROOT"
    mkdir -p "$HERE"
    as_root /usr/sbin/debootstrap --foreign --arch=arm64 --variant=minbase --include="$include" $release "$SYSROOT" \
        > "$LOGS/aarch64-root.log" 2>&1 || die "debootstrap failed, $LOGS/aarch64-root.log" "look at its last lines"
    for package in "${LIBRARIES[@]}"; do
        for deb in "$SYSROOT/var/cache/apt/archives/$package"_*.deb; do
            [ ! -e "$deb" ] || dpkg-deb --fsys-tarfile "$deb" | as_root tar -x -C "$SYSROOT" --keep-directory-symlink
        done
    done
    as_root touch "$SYSROOT/made"
}

configure_and_build() {
    cmake -S . -B "$HERE/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$ROOT/cmake/aarch64.cmake" -DACLSHMEM_ROOT="$SYSROOT" \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DACLSHMEM_WERROR=ON -DACLSHMEM_MPI=OFF -DACLSHMEM_BUILD_TESTS=ON > "$LOGS/aarch64.log" 2>&1 ||
        die "cmake failed, $LOGS/aarch64.log" "look at its last lines"
    ninja -C "$HERE/build" -j "$JOBS" -k 0 >> "$LOGS/aarch64.log" 2>&1 || die "the build failed, $LOGS/aarch64.log" "look for FAILED in it"
    say "built after $(elapsed)"
}

# Kernel tests start PEs with the launcher, which cannot start programs of another architecture; alone they are one PE.
kernel_tests() {
    local program name
    for program in "$HERE"/build/bin/device_*; do
        name=${program##*/}
        case $name in *_segment | *late* | *engine_names) continue ;; esac
        if SHMEM_CYCLE_PROF_PE=0 timeout 300 qemu-aarch64-static -L "$SYSROOT" "$program" > "$LOGS/aarch64-$name.log" 2>&1; then
            passed=$((passed + 1))
        elif [ $? -eq 77 ]; then
            skipped=$((skipped + 1))
        else
            failed=$((failed + 1))
            say "failed: $name, $LOGS/aarch64-$name.log"
        fi
    done
}

mkdir -p "$LOGS" || die "cannot write to $LOGS" "run it in a folder of your own"
need "base test"
tools
sysroot
configure_and_build
[ $only_build = no ] || exit 0

passed=0 failed=0 skipped=0
ctest --test-dir "$HERE/build" -L unit -E "$LEFT_OUT" "${filter[@]}" --output-on-failure -j "$JOBS" --timeout 300 < /dev/null 2>&1 |
    tee "$LOGS/test-aarch64.log"
read -r passed failed skipped < <(awk '
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+:/ { if (/ Passed /) p++; else if (/\*\*\*Skipped/) s++; else f++ }
    END { print p + 0, f + 0, s + 0 }' "$LOGS/test-aarch64.log")
[ ${#filter[@]} -gt 0 ] || kernel_tests
say "took $(elapsed)"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
