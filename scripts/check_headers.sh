#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [I-37] check_headers.sh: every public header alone, first and twice, as C11 and as C++17, with each compiler that is here; a
# header must not need another one before it, and must not warn in a program that is stricter than we are. Headers of kernels
# are compiled as kernels are, in every form of buffer pointers that a compiler has.
set -eu
. "$(dirname "$0")/files.sh"

flags="-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Werror -fsyntax-only -Iinclude -Icpurt/include"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tried=0 failed=0

one() { # compiler, language, standard, header, further flags
    printf '#include "%s"\n#include "%s"\nint aclshmem_header_check;\n' "$4" "$4" > "$work/h.$2"
    # shellcheck disable=SC2086
    if ! "$1" "-std=$3" $flags ${5-} "$work/h.$2" 2> "$work/said"; then
        echo "$4 alone, $1 -std=$3 ${5-}:"
        sed 's/^/  /' "$work/said"
        failed=$((failed + 1))
    fi
    tried=$((tried + 1))
}

headers=$(our_files 'include/*.h' 'cpurt/include/acl/*.h' | grep -v '^include/device/' | sed 's,^cpurt/include/,,; s,^include/,,')
for cc in gcc clang; do
    command -v $cc > /dev/null || { echo "$cc is not installed, not tried" && continue; }
    for header in $headers; do
        one $cc c c11 "$header"
    done
done
for cxx in g++ clang++; do
    command -v $cxx > /dev/null || { echo "$cxx is not installed, not tried" && continue; }
    for header in $headers; do
        one $cxx cpp c++17 "$header"
    done
done
# Kernels.
kernel="-D__CCE_KT_TEST__ -Isrc"
headers="shmem.h $(our_files 'include/device/*.h' | grep -v shmem_overloads | sed 's,^include/,,')"
case $(uname -m) in x86_64) segments=yes ;; *) segments= ;; esac
for cc in gcc clang; do
    command -v $cc > /dev/null || continue
    case $cc in gcc) gnu=gnu11 ;; *) gnu=c11 ;; esac
    for header in $headers; do
        one $cc c c11 "$header" "$kernel"
        [ -z "$segments" ] || one $cc c $gnu "$header" "$kernel -DAICORE_UB_SEGMENT"
    done
done
for cxx in g++ clang++; do
    command -v $cxx > /dev/null || continue
    for header in $headers; do
        one $cxx cpp c++17 "$header" "$kernel"
    done
    one $cxx cpp c++17 shmem.h "$kernel -DAICORE_UB_CLASS"
    one $cxx cpp c++17 device/shmem_overloads.h "$kernel -DAICORE_UB_CLASS"
done
# The layout is the same in C++.
if command -v g++ > /dev/null && ! g++ -std=c++17 -fsyntax-only -Iinclude -Icpurt/include -x c++ tests/abi/layout_test.c; then
    echo "tests/abi/layout_test.c does not hold in C++"
    failed=$((failed + 1))
fi
[ $tried -gt 0 ] || { echo "skipped: no compiler" && exit 77; }
[ $failed -eq 0 ]
