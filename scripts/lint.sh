#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh BUILD-FOLDER: clang-tidy and cppcheck over what that folder compiles, shellcheck over the scripts; what is not
# installed is left out and said. "ninja lint" calls it.
set -u
. "$(dirname "$0")/files.sh"
build=$1 failed=0 jobs=$(nproc)
[ -f "$build/compile_commands.json" ] || {
    echo "lint: $build has no compile_commands.json; configure with a preset, or -DCMAKE_EXPORT_COMPILE_COMMANDS=ON" >&2
    exit 2
}
have() { command -v "$1" > /dev/null || { echo "lint: no $1, left out" && false; }; }

if have clang-tidy; then
    echo "lint: clang-tidy"
    sed -n 's/^ *"file": "\(.*\)".*/\1/p' "$build/compile_commands.json" | grep -v '/tests/' | sort -u |
        xargs -P "$jobs" -n 1 clang-tidy --quiet -p "$build" 2> /dev/null || failed=1
fi
if have cppcheck; then
    echo "lint: cppcheck"
    # missingIncludeSystem: system headers are not read. unusedFunction: exported functions look unused. The others fire on
    # style of their own. Single places are in scripts/cppcheck.txt, each with its reason.
    cppcheck --project="$build/compile_commands.json" -i "$PWD/tests" -j "$jobs" --quiet --inline-suppr --error-exitcode=1 \
        --enable=warning,performance,portability --suppress=missingIncludeSystem --suppressions-list=scripts/cppcheck.txt || failed=1
fi
if have shellcheck; then
    echo "lint: shellcheck"
    # shellcheck disable=SC2046
    shellcheck -S warning $(our_files 'scripts/*.sh' .ci/run cmake/set_env.sh.in) || failed=1
fi
[ $failed -eq 0 ] && echo "lint: nothing found"
exit $failed
