#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_subproject.sh BUILD-FOLDER: our sources as a part of another project, by add_subdirectory, which is what FetchContent
# does after fetching. Builds everything once more, so only for the release build.
set -eu
. "$(dirname "$0")/files.sh"
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
build=$1
export CMAKE_GENERATOR=Ninja
if [ "$(cache CMAKE_BUILD_TYPE)" != RelWithDebInfo ] || [ -n "$(cache ACLSHMEM_SANITIZE)" ]; then
    echo "skipped: done in the release build"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() {
    "$@" > "$work/said" 2>&1 || {
        tail -n 40 "$work/said"
        echo "check_subproject: failed: $*"
        exit 1
    }
}
quietly cmake -G Ninja -S tests/abi/consumer -B "$work/b" "-DSOURCES=$PWD" "-DCMAKE_C_COMPILER=$(cache CMAKE_C_COMPILER)"
quietly cmake --build "$work/b"
quietly ctest --test-dir "$work/b" --output-on-failure --no-tests=error
# Ours stays ours: no test of ours in their list, nothing of ours in their install.
[ "$(ctest --test-dir "$work/b" -N | sed -n 's/^Total Tests: //p')" = 1 ] || { echo "our tests are in their list" && exit 1; }
quietly cmake --install "$work/b" --prefix "$work/i"
[ -z "$(find "$work/i" -type f 2> /dev/null)" ] || { echo "our files are in their install" && exit 1; }
echo "built and used as a part of another project"
