# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Read by quickstart.sh, test.sh and build.sh: finding out what a machine lacks, installing it, building with progress.
# Everything here works without a terminal and without input, as root and as a user with sudo.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 1
cd "$ROOT" || exit 1
NAME=$(basename "$0" .sh)
LOGS=$ROOT/build/logs
JOBS=$(nproc 2> /dev/null || echo 2)
STARTED=$SECONDS

say() { printf '%s: %s\n' "$NAME" "$*"; }
warn() { printf '%s: note: %s\n' "$NAME" "$*"; }
# die WHAT WHAT-TO-DO: the last line says both
die() {
    printf '%s: failed: %s; %s\n' "$NAME" "$1" "$2"
    exit 1
}
elapsed() { echo "$((SECONDS - STARTED)) s"; }

# --- What is needed ---
# probe | Debian and Ubuntu | Fedora, RHEL, openEuler | kind | what for
#   probe  cmd:NAME  a program;  ver:NAME:V  one that is at least V;  pc:MODULE:V  a library;  hdr:FILE  a header
#   kind   base: nothing works without; test: the tests do not build without; more: something is left out without
needs() {
    cat << 'TABLE'
cmd:cc|gcc libc6-dev|gcc glibc-devel|base|compiling
ver:cmake:3.20|cmake|cmake|base|configuring the build
cmd:ninja|ninja-build|ninja-build|base|running the build
cmd:pkg-config|pkg-config|pkgconf-pkg-config|base|finding libraries
pc:openssl:3.0|libssl-dev|openssl-devel|base|TLS of the control plane
pc:hwloc:2.0|libhwloc-dev|hwloc-devel|base|placing processes on cores
pc:jansson:2.10|libjansson-dev|jansson-devel|base|JSON of the tools
pc:zlib:1.2|zlib1g-dev|zlib-devel|base|reading the data of the examples
pc:openblas:0.3|libopenblas-dev|openblas-devel|more|the matrix operators among the examples
hdr:cmocka.h|libcmocka-dev|libcmocka-devel|test|unit tests
cmd:c++|g++|gcc-c++|test|checking the headers as C++
cmd:openssl|openssl|openssl|test|certificates for the TLS tests
cmd:clang|clang|clang|more|the run with clang
san:clang|libclang-rt-dev|compiler-rt|more|the fuzzers
san:cc|gcc|libasan libubsan libtsan|more|the runs with sanitizers
cmd:ip|iproute2|iproute|more|tests with several networks
cmd:tcpdump|tcpdump|tcpdump|more|a test that looks at the wire
cmd:zsh|zsh|zsh|more|set_env.sh in zsh
cmd:clang-format|clang-format|clang-tools-extra|more|the check of the layout
TABLE
}

at_least() { # HAVE WANT, as dotted numbers
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# can_link COMPILER FLAGS...: does a small program compile, link and run?
can_link() {
    local compiler=$1 dir rc
    shift
    dir=$(mktemp -d) || return 1
    echo 'int main(void) { return 0; }' > "$dir/t.c"
    "$compiler" "$@" "$dir/t.c" -o "$dir/t" > /dev/null 2>&1
    rc=$?
    rm -rf "$dir"
    return $rc
}

have() { # PROBE
    local kind rest name
    kind=${1%%:*} rest=${1#*:}
    name=${rest%%:*}
    case $kind in
    cmd) command -v "$name" > /dev/null || [ -x "/usr/sbin/$name" ] || [ -x "/sbin/$name" ] ;;
    ver) command -v "$name" > /dev/null && at_least "$("$name" --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')" "${rest#*:}" ;;
    pc) command -v pkg-config > /dev/null && pkg-config --exists "$name >= ${rest#*:}" ;;
    hdr) command -v cc > /dev/null && echo "#include <$name>" | cc -E -xc -include stddef.h -include stdarg.h -include setjmp.h -include stdint.h - > /dev/null 2>&1 ||
        [ -n "$(find /usr/include -maxdepth 3 -name "$name" -print -quit 2> /dev/null)" ] ;;
    san) command -v "$name" > /dev/null && can_link "$name" -fsanitize=address,undefined && can_link "$name" -fsanitize=thread ;;
    esac
}

# missing KINDS: the rows of these kinds whose probe fails
missing() {
    local probe deb rpm kind what
    while IFS='|' read -r probe deb rpm kind what; do
        case " $1 " in *" $kind "*) have "$probe" || echo "$probe|$deb|$rpm|$kind|$what" ;; esac
    done < <(needs)
}

# as_root COMMAND...: directly, or with sudo; sudo may ask only when somebody can answer
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo > /dev/null; then
        return 127
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

install_command() { # how a person would do it, for messages
    local manager=$1
    shift
    echo "$([ "$(id -u)" -eq 0 ] || echo 'sudo ')$manager install -y $*"
}

apt_install() {
    local package wanted=() rc=0
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update < /dev/null >> "$LOGS/packages.log" 2>&1 ||
        warn "apt-get update failed, going on with the lists that are here ($LOGS/packages.log)"
    # What this release does not have is left out: its parts are in another package, or it is said below.
    for package in "$@"; do
        if apt-cache show "$package" > /dev/null 2>&1; then
            wanted+=("$package")
        fi
    done
    [ ${#wanted[@]} -eq 0 ] || as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${wanted[@]}" \
        < /dev/null >> "$LOGS/packages.log" 2>&1 || rc=$?
    return $rc
}

dnf_install() {
    local manager=$1 package rc=0
    shift
    for package in "$@"; do
        # One by one: an unknown name must not keep the others away.
        as_root "$manager" install -y "$package" < /dev/null >> "$LOGS/packages.log" 2>&1 || rc=$?
    done
    return $rc
}

# need KINDS: installs what the probes miss, says what and why, and ends the script when a base or test row stays missing.
need() {
    local rows probe deb rpm kind what column manager packages=()
    mkdir -p "$LOGS" || die "cannot write to $LOGS" "run it in a folder of your own"
    rows=$(missing "$1")
    [ -n "$rows" ] || return 0
    if command -v apt-get > /dev/null; then
        manager=apt-get column=deb
    elif command -v dnf > /dev/null; then
        manager=dnf column=rpm
    elif command -v yum > /dev/null; then
        manager=yum column=rpm
    else
        manager="" column=deb
    fi
    while IFS='|' read -r probe deb rpm kind what; do
        # shellcheck disable=SC2206
        [ $column = deb ] && packages+=($deb) || packages+=($rpm)
        printf '%s:   %-28s for %s\n' "$NAME" "$([ $column = deb ] && echo "$deb" || echo "$rpm")" "$what"
    done <<< "$rows"
    if [ -z "$manager" ]; then
        warn "neither apt-get nor dnf here: install the above (Debian's names) yourself"
    elif [ "$INSTALL" = no ]; then
        warn "not installed because of --no-install: $(install_command $manager "${packages[@]}")"
    else
        say "installing the above with $manager (log: build/logs/packages.log)"
        if [ $manager = apt-get ]; then
            apt_install "${packages[@]}"
        else
            dnf_install $manager "${packages[@]}"
        fi || warn "$manager reported an error: $(tail -n 1 "$LOGS/packages.log")"
    fi
    rows=$(missing "$1")
    while IFS='|' read -r probe deb rpm kind what; do
        [ -n "$probe" ] || continue
        [ $column = deb ] || deb=$rpm
        case $kind in
        more) warn "no $deb: $what is left out" ;;
        *) die "$deb is missing (${probe#*:}, for $what)" "run: $(install_command ${manager:-apt-get} "$deb")" ;;
        esac
    done <<< "$rows"
}

# --- Building ---

# compiler_is_known CC: one whose warnings we have seen all of; with others a new warning must not stop a user
compiler_is_known() {
    case $("$1" --version 2> /dev/null | head -n 1) in
    *gcc*' 12.'* | *gcc*' 14.'* | *cc*'Debian 12.'* | *cc*'Debian 14.'* | *clang*' 14.'* | *clang*' 19.'*) return 0 ;;
    esac
    return 1
}

# build PRESET [CMAKE-OPTION...]: configure and build into build/PRESET; on failure the end of the log is shown
build() {
    local preset=$1 log=$LOGS/build-$1.log start=$SECONDS
    shift
    mkdir -p "$LOGS"
    if ! cmake --preset "$preset" "$@" < /dev/null > "$log" 2>&1; then
        # A build tree made elsewhere, or by another compiler, cannot be used again.
        rm -rf "build/$preset/CMakeCache.txt" "build/$preset/CMakeFiles"
        cmake --preset "$preset" "$@" < /dev/null > "$log" 2>&1 || {
            tail -n 30 "$log"
            return 1
        }
    fi
    ninja -C "build/$preset" -j "$JOBS" < /dev/null > "$log.ninja" 2>&1 &
    watch_build $! "$log.ninja" "$preset" || {
        grep -E -A 12 '^FAILED|error:|ld: ' "$log.ninja" | cut -c 1-300 | head -n 60
        say "the whole log: $log.ninja"
        return 1
    }
    say "built $preset in $((SECONDS - start)) s"
}

# watch_build PID LOG PRESET: a line every ten seconds, or one that is written over on a terminal
watch_build() {
    local tick=0 now
    while kill -0 "$1" 2> /dev/null; do
        sleep 0.5
        tick=$((tick + 1))
        now=$(tail -c 400 "$2" 2> /dev/null | tr '\r' '\n' | sed -n 's/^\(\[[0-9]*\/[0-9]*\]\).*/\1/p' | tail -n 1)
        if [ -t 1 ]; then
            printf '\r%s: building %s %s ' "$NAME" "$3" "$now"
        elif [ $((tick % 20)) -eq 0 ]; then
            say "building $3 $now"
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
    wait "$1"
}
