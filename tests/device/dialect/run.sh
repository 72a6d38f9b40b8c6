#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh LAUNCHER FOLDER CFLAGS MODE[:COMPILER]...: compiles overloads.cpp with aclcpu-cc for each mode of buffer pointers and runs
# it on 1, 2 and 3 PEs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
launcher=$1
work=$2
flags=$3
shift 3
mkdir -p "$work"
ran=0

for mode in "$@"; do
    cxx=${mode#*:}
    [ "$cxx" != "$mode" ] || case $mode in segment) cxx=clang++ ;; *) cxx=g++ ;; esac
    mode=${mode%:*}
    if ! command -v "$cxx" > /dev/null || { [ "$mode" = segment ] && [ "$(uname -m)" != x86_64 ]; }; then
        echo "no $cxx that does $mode here, not tried"
        continue
    fi
    # shellcheck disable=SC2086
    "$here/../../../cpurt/aclcpu-cc" --ub="$mode" --cxx="$cxx" -g -Wall -Wextra -Werror $flags "$here/overloads.cpp" \
        -o "$work/overloads.$mode" -lshmem -lascendcl
    for n in 1 2 3; do
        "$launcher" -n $n "$work/overloads.$mode"
    done
    ran=$((ran + 1))
done
[ $ran -gt 0 ] || exit 77
