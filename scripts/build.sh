#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh [SWITCH...]: configure, build and install into ./install. Every switch is taken with one dash or two.
#   -release            optimized, with line numbers (the default)
#   -debug              not optimized, checks on
#   -asan, -tsan        with address and undefined behaviour, or thread sanitizer
#   -examples           build the examples too (they are built by default; -noexamples leaves them out)
#   -tests, -uttests    build the tests too
#   -benchmarks         build the benchmarks too
#   -package            make the archive and the Debian packages in build/<preset>
#   -install-path DIR   install there instead of ./install
#   -clean              start from an empty build folder
#   -jobs N             compile N files at a time
#   -install-needs      install missing packages first
#   -help               this text
set -uo pipefail
usage() { sed -n '3,16s/^# \{0,1\}//p' "$0"; }
bad() {
    printf 'build.sh: %s\n' "$1" >&2
    usage >&2
    exit 2
}
preset=release tests=OFF examples=ON benchmarks=OFF package=no clean=no target='' jobs='' needs=no
while [ $# -gt 0 ]; do
    switch=${1#-}
    switch=${switch#-}
    case $1 in -*) ;; *) bad "what is \"$1\"? switches begin with a dash" ;; esac
    case $switch in
    release) preset=release ;;
    debug) preset=dev ;;
    asan | tsan) preset=$switch ;;
    examples) examples=ON ;;
    noexamples) examples=OFF ;;
    tests | uttests) tests=ON ;;
    benchmarks) benchmarks=ON ;;
    package) package=yes ;;
    clean) clean=yes ;;
    install-needs) needs=yes ;;
    install-path=*) target=${switch#*=} ;;
    install-path) [ $# -ge 2 ] && target=$2 && shift || bad "-install-path wants a folder" ;;
    jobs=*) jobs=${switch#*=} ;;
    jobs) [ $# -ge 2 ] && jobs=$2 && shift || bad "-jobs wants a number" ;;
    help | h) usage && exit 0 ;;
    *) bad "unknown switch $1" ;;
    esac
    shift
done
case $jobs in *[!0-9]*) bad "-jobs wants a number, not \"$jobs\"" ;; esac
case $target in '' | /*) ;; *) target=$PWD/$target ;; esac
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
INSTALL=$needs
JOBS=${jobs:-$JOBS}
target=${target:-$ROOT/install}

need "base$([ $tests = OFF ] || echo ' test')"
[ $clean = no ] || rm -rf "build/$preset"
build $preset -DACLSHMEM_WERROR=OFF -DACLSHMEM_BUILD_TESTS=$tests -DACLSHMEM_BUILD_EXAMPLES=$examples \
    -DACLSHMEM_BUILD_BENCHMARKS=$benchmarks || die "the build stopped" "see the lines above and the logs in build/logs"
cmake --install "build/$preset" --prefix "$target" > "$LOGS/install.log" 2>&1 ||
    die "installing into $target" "look at build/logs/install.log"
if [ $package = yes ]; then
    (cd "build/$preset" && cpack) > "$LOGS/package.log" 2>&1 || die "making packages" "look at build/logs/package.log"
    ls "build/$preset"/*.tar.gz "build/$preset"/*.deb 2> /dev/null | sed "s/^/$NAME: made /"
fi
say "done: installed into $target in $(elapsed); for a shell: . $target/set_env.sh"
