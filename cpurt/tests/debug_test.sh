#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# debug_test.sh PROGRAM HOW: do debuggers and checkers see into kernels? HOW is gdb, valgrind, address (with undefined) or
# thread; the last two are what PROGRAM and the runtime were built with.
set -u
program=$1 how=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip()
{
    echo "skipped: $*"
    exit 77
}

failed()
{
    echo "failed: $*"
    cat "$work/out"
    exit 1
}

# Runs what follows, which must fail and say the words.
says()
{
    local words=$1
    shift
    "$@" > "$work/out" 2>&1 && failed "$* ended well"
    grep -q -- "$words" "$work/out" || failed "$* did not say \"$words\""
}

ends_well()
{
    "$@" > "$work/out" 2>&1 || failed "$* ended badly"
}

case $how in
gdb)
    command -v gdb > /dev/null || skip "no gdb"
    # Containers may forbid one process to trace another.
    gdb -nx -batch -ex run -ex quit --args true > "$work/out" 2>&1
    grep -q "exited normally" "$work/out" || skip "gdb cannot run a program here"
    ends_well gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'tbreak debug_fine_body' -ex run \
        -ex 'frame function debug_fine_body' -ex 'print words' -ex 'frame function run_context' \
        -ex 'print core->seen' -ex 'info threads' -ex backtrace -ex continue --args "$program" debug_fine
    grep -q '= 64' "$work/out" || failed "gdb did not print an argument of the kernel"
    grep -q 'block_count = 4' "$work/out" || failed "gdb did not print the core"
    grep -q 'acl-core\|acl-stream' "$work/out" || failed "gdb did not list a core by name"
    grep -q 'debug_fine_entry' "$work/out" || failed "gdb did not show who calls the kernel"
    grep -q 'exited normally' "$work/out" || failed "the program did not end under gdb"
    ;;
valgrind)
    command -v valgrind > /dev/null || skip "no valgrind"
    # The debug information of newer compilers than it knows makes valgrind give up.
    valgrind "$program" > "$work/out" 2>&1
    grep -q 'debuginfo reader' "$work/out" && skip "valgrind cannot read what this compiler wrote"
    ends_well valgrind --error-exitcode=9 --leak-check=full "$program" debug_fine
    says 'Invalid write' valgrind --error-exitcode=9 "$program" debug_copy_overrun
    grep -q 'debug_copy_overrun_body' "$work/out" || failed "valgrind did not name the kernel"
    ;;
address)
    ends_well "$program" debug_fine
    says 'heap-buffer-overflow' "$program" debug_overrun
    grep -q 'debug_overrun_body' "$work/out" || failed "the sanitizer did not name the kernel"
    says 'heap-buffer-overflow' "$program" debug_copy_overrun
    grep -q 'debug_copy_overrun_body' "$work/out" || failed "the sanitizer did not name the kernel"
    says 'signed integer overflow' "$program" debug_undefined
    ;;
thread)
    ends_well "$program" debug_fine
    says 'data race' "$program" debug_race
    grep -q 'debug_race_body' "$work/out" || failed "the sanitizer did not name the kernel"
    ;;
*)
    failed "unknown way to look: $how"
    ;;
esac
