#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [E-03] check_install.sh BUILD-FOLDER: installs, moves the tree elsewhere, and uses it there as others do: CMake, pkg-config,
# set_env.sh. Looks for absolute paths in it, and takes an install back.
set -eu
. "$(dirname "$0")/files.sh"
build=$1
export CMAKE_GENERATOR=Ninja
root=$PWD
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
if [ -n "$(cache ACLSHMEM_SANITIZE)" ]; then
    echo "skipped: a library with sanitizers is not for plain programs"
    exit 77
fi
libdir=$(cache CMAKE_INSTALL_LIBDIR)
compiler=$(cache CMAKE_C_COMPILER)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
    echo "check_install: $*"
    exit 1
}
quietly() { "$@" > "$work/said" 2>&1 || { tail -n 40 "$work/said" && die "failed: $*"; }; }

# The manifests of the build folder belong to the user's own installs.
saved=$work/manifests
mkdir "$saved"
restore() {
    rm -f "$build"/install_manifest*.txt
    find "$saved" -name 'install_manifest*.txt' -exec mv {} "$build" \;
}
find "$build" -maxdepth 1 -name 'install_manifest*.txt' -exec mv {} "$saved" \;
trap 'restore; rm -rf "$work"' EXIT

# Install and take back: nothing of ours stays, something of others does.
quietly cmake --install "$build" --prefix "$work/back"
echo keep > "$work/back/include/other.h"
quietly cmake --build "$build" --target uninstall
rest=$(find "$work/back" -type f -o -type l)
[ "$rest" = "$work/back/include/other.h" ] || die "uninstall left or took too much:
$rest"

# By component: what a program needs at run time contains no header, devel and doc no library.
quietly cmake --install "$build" --prefix "$work/runtime" --component runtime
[ -e "$work/runtime/$libdir/libshmem.so.1" ] && [ -e "$work/runtime/$libdir/libascendcl.so" ] || die "runtime lacks a library"
[ -x "$work/runtime/bin/aclshmemrun" ] || die "runtime lacks the launcher"
[ ! -e "$work/runtime/include" ] || die "runtime has headers"
quietly cmake --install "$build" --prefix "$work/devel" --component devel
[ -z "$(find "$work/devel" -name '*.so.*' -type f)" ] || die "devel has a library"
quietly env DESTDIR="$work/dest" cmake --install "$build" --prefix /opt/aclshmem
[ -e "$work/dest/opt/aclshmem/$libdir/libshmem.so" ] || die "DESTDIR is not honoured"

# Install and move.
quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved-tree"
moved=$work/moved-tree
bad=$(grep -rIlE "$work|$root|$build" "$moved" || true)
[ -z "$bad" ] || die "absolute paths in:
$bad"
for file in "$moved/$libdir"/*.so "$moved"/bin/*; do
    path=$(readelf -d "$file" 2> /dev/null | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]/\2/p')
    case $path in '' | \$ORIGIN*) ;; *) die "$file looks for libraries in $path" ;; esac
done

# CMake
quietly cmake -S tests/abi/consumer -B "$work/cmake" "-DCMAKE_PREFIX_PATH=$moved" "-DCMAKE_C_COMPILER=$compiler"
quietly cmake --build "$work/cmake"
quietly ctest --test-dir "$work/cmake" --output-on-failure --no-tests=error
# The examples as they lie in the installed tree
quietly cmake -S "$moved/share/doc/aclshmem/examples" -B "$work/examples" "-DCMAKE_PREFIX_PATH=$moved" "-DCMAKE_C_COMPILER=$compiler"
quietly cmake --build "$work/examples"
quietly ctest --test-dir "$work/examples" --output-on-failure --no-tests=error
fails() { # TEXT-IN-THE-ERROR, line of CMake
    mkdir -p "$work/no"
    printf 'cmake_minimum_required(VERSION 3.19)\nproject(no LANGUAGES C)\n%s\n' "$2" > "$work/no/CMakeLists.txt"
    rm -rf "$work/no/b"
    if cmake -S "$work/no" -B "$work/no/b" "-DCMAKE_PREFIX_PATH=$moved" > "$work/said" 2>&1; then
        die "CMake accepts: $2"
    fi
    tr '\n' ' ' < "$work/said" | tr -s ' ' | grep -q "$1" || { cat "$work/said" && die "not the right words for: $2"; }
}
fails 'requested version "2.0"' 'find_package(aclshmem 2.0 REQUIRED)'
fails 'component "nonsense" is not in this installation' 'find_package(aclshmem 1.0 REQUIRED COMPONENTS nonsense)'
fails 'must be a number of PEs' 'find_package(aclshmem 1.0 REQUIRED)
aclshmem_add_test(x NPES none COMMAND true)'

# pkg-config and set_env.sh
use_it() {
    . "$moved/set_env.sh" && [ "$SHMEM_HOME_PATH" = "$moved" ] || return 1
    # shellcheck disable=SC2046
    "$compiler" tests/abi/consumer/consumer.c $(pkg-config --cflags --libs aclshmem) -lascendcl -o "$work/plain" || return 1
    [ "$(cd "$(dirname "$(pkg-config --variable=launcher aclshmem)")" && pwd)" = "$moved/bin" ] || return 1
    aclshmemrun -n 2 "$work/plain" 2
}
(use_it) > "$work/said" 2>&1 || { cat "$work/said" && die "pkg-config with set_env.sh"; }
echo "installed, moved and used: CMake, pkg-config, set_env.sh"
