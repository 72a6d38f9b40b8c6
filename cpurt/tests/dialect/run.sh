#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER CFLAGS MODE...: compiles the programs of this folder with aclcpu-cc, once for each mode of buffer pointers
# (a mode may name a compiler: segment, class, class:clang++), and runs them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
flags=$2
shift 2
mkdir -p "$work"
ran=0

for mode in "$@"; do
    cxx=${mode#*:}
    [ "$cxx" != "$mode" ] || case $mode in segment) cxx=clang++ ;; *) cxx=g++ ;; esac
    mode=${mode%:*}
    if ! command -v "$cxx" > /dev/null; then
        echo "$cxx is not installed, $mode not tried"
        continue
    fi
    if [ "$mode" = segment ] && [ "$(uname -m)" != x86_64 ]; then
        echo "segments need x86-64, not tried"
        continue
    fi
    for program in queues core; do
        sources=$here/$program.cpp
        [ $program != core ] || sources="$sources $here/point.cpp"
        # shellcheck disable=SC2086
        "$here/../../aclcpu-cc" --ub="$mode" --cxx="$cxx" -g -Wall -Wextra -Werror $flags $sources -o "$work/$program.$mode" \
            -lascendcl
        "$work/$program.$mode"
    done
    ran=$((ran + 1))
done
[ $ran -gt 0 ] || exit 77
