#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the whole list of tests four times: release with gcc, debug with clang, address
# and undefined behaviour sanitizers, thread sanitizer. Ends with "N passed, N failed, N skipped" over all runs; the exit
# code is 0 when none failed.
#   --quick          the release run only
#   --only PRESET    one run: release, clang, asan, tsan, dev; may be given several times
#   --minutes N      stop when this much time is used up (default 55)
#   --no-install     only say what is missing
#   -R REGEX         only tests whose names match
set -uo pipefail

usage() { sed -n '3,10s/^# \{0,1\}//p' "$0"; }
INSTALL=yes minutes=55 filter=() presets=()
while [ $# -gt 0 ]; do
    case $1 in
    --quick) presets=(release) ;;
    --only)
        case ${2-} in
        release | clang | asan | tsan | dev) presets+=("$2") && shift ;;
        *) echo "test.sh: --only wants release, clang, asan, tsan or dev, not \"${2-}\"" >&2 && exit 2 ;;
        esac
        ;;
    --minutes)
        case ${2-} in
        '' | *[!0-9]*) echo "test.sh: --minutes wants a number, not \"${2-}\"" >&2 && exit 2 ;;
        *) minutes=$2 && shift ;;
        esac
        ;;
    -R)
        [ $# -ge 2 ] || { echo "test.sh: -R wants a regular expression" >&2 && exit 2; }
        filter=(-R "$2") && shift
        ;;
    --no-install) INSTALL=no ;;
    -h | --help) usage && exit 0 ;;
    *) echo "test.sh: unknown option $1" >&2 && usage >&2 && exit 2 ;;
    esac
    shift
done
[ ${#presets[@]} -gt 0 ] || presets=(release clang asan tsan)
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

passed=0 failed=0 skipped=0 names=()

# count PRESET LOG [SECOND_LOG]: adds up the lines ctest writes per test. SECOND_LOG is of the tests that failed under the load of
# the others and ran again alone: what passes there is named, and counts as passed.
count() {
    local p f s again=0
    read -r p f s < <(awk '
        /^ *[0-9]+\/[0-9]+ Test +#[0-9]+:/ {
            if (/ Passed /) p++; else if (/\*\*\*Skipped/ || /Not Run \(Disabled\)/) s++; else f++
        }
        END { print p + 0, f + 0, s + 0 }' "$2")
    if [ -n "${3-}" ]; then
        again=$(grep -c '^ *[0-9]*/[0-9]* Test *#[0-9]*: .* Passed ' "$3")
        say "$1: $again of $f failed tests passed when they ran again alone: $(sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) .* Passed .*/\1/p' "$3" | tr '\n' ' ')"
        p=$((p + again)) f=$((f - again))
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    while read -r name; do
        names+=("$1: $name")
    done < <(awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+:/ && !/ Passed / && !/\*\*\*Skipped/ && !/Not Run \(Disabled\)/ { sub(/.*#[0-9]+: /, ""); print $1 }' "${3:-$2}")
    say "$1: $p passed, $f failed, $s skipped"
}
fail_run() { # PRESET TEXT
    failed=$((failed + 1))
    names+=("$1: $2")
}
skip_run() {
    skipped=$((skipped + 1))
    warn "the run $1 is skipped: $2"
}

# sanitizer_runs COMPILER FLAG [PREFIX...]: does a program with it get as far as main here?
sanitizer_runs() {
    local compiler=$1 flag=$2 dir rc
    shift 2
    dir=$(mktemp -d) || return 1
    echo 'int main(void) { return 0; }' > "$dir/t.c"
    "$compiler" "-fsanitize=$flag" "$dir/t.c" -o "$dir/t" > /dev/null 2>&1 && "$@" "$dir/t" > /dev/null 2>&1
    rc=$?
    rm -rf "$dir"
    return $rc
}

# run PRESET: build and ctest; before holds what ctest is started with
run() {
    local preset=$1 log=$LOGS/test-$1.log left before=() options=(-DACLSHMEM_BUILD_TESTS=ON)
    local compiler=cc
    case $preset in
    clang)
        command -v clang > /dev/null || { skip_run clang "clang is not here" && return; }
        compiler=clang
        can_link clang -fsanitize=fuzzer,address 2> /dev/null || options+=(-DACLSHMEM_BUILD_FUZZERS=OFF)
        ;;
    asan)
        if ! sanitizer_runs cc address; then
            # Looking for leaks needs ptrace, which some containers forbid.
            ASAN_OPTIONS=detect_leaks=0 sanitizer_runs cc address || { skip_run asan "programs with it do not start here" && return; }
            export ASAN_OPTIONS=detect_leaks=0
            warn "asan without its search for leaks: this container forbids ptrace"
        fi
        ;;
    tsan)
        if ! sanitizer_runs cc thread; then
            # Old runtimes do not know the address layout of new kernels.
            sanitizer_runs cc thread setarch "$(uname -m)" -R || { skip_run tsan "programs with it do not start here" && return; }
        fi
        # Once in a while they do: the layout is random, so it is fixed whenever the system lets us.
        if setarch "$(uname -m)" -R true 2> /dev/null; then
            before=(setarch "$(uname -m)" -R)
        fi
        ;;
    esac
    compiler_is_known $compiler || options+=(-DACLSHMEM_WERROR=OFF)
    build "$preset" "${options[@]}" || { fail_run "$preset" "the build" && return; }
    left=$((minutes * 60 - (SECONDS - STARTED)))
    [ $left -gt 0 ] || { fail_run "$preset" "no time left of $minutes minutes (--minutes)" && return; }
    timeout -k 30 $left "${before[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$JOBS" --timeout 300 \
        "${filter[@]}" < /dev/null 2>&1 | tee "$log"
    local code=${PIPESTATUS[0]} second=
    left=$((minutes * 60 - (SECONDS - STARTED)))
    if [ "$code" = 8 ] && [ $left -gt 0 ] && [ "$(grep -c '\*\*\*Failed\|\*\*\*Timeout\|\*\*\*Exception' "$log")" -le 8 ]; then
        second=$LOGS/test-$preset-again.log
        timeout -k 30 $left "${before[@]}" ctest --test-dir "build/$preset" --rerun-failed --output-on-failure -j 1 --timeout 300 \
            < /dev/null 2>&1 | tee "$second"
    fi
    case $code in
    0 | 8) ;; # 8: some tests failed, which count sees
    124 | 137) fail_run "$preset" "stopped in the middle, $minutes minutes are used up (--minutes)" ;;
    *) grep -q '^ *[0-9]*/[0-9]* Test' "$log" || fail_run "$preset" "ctest did not start" ;;
    esac
    count "$preset" "$log" "$second"
}

need "base test more"
for preset in "${presets[@]}"; do
    say "--- $preset, after $(elapsed)"
    run "$preset"
done

for name in "${names[@]}"; do
    say "failed: $name"
done
say "took $(elapsed); logs in build/logs"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
