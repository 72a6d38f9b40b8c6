#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check] [FILE...]: lays out C files as .clang-format says; --check only tells, and exits with 1 if one differs.
# The layout is that of clang-format 14; other versions differ in details, and then --check exits with 77 (skipped).
set -eu
. "$(dirname "$0")/files.sh"

check=no
case ${1-} in
--check) check=yes && shift ;;
-h | --help)
    sed -n '3,4s/^# //p' "scripts/format.sh"
    exit 0
    ;;
-*)
    echo "format.sh: unknown option $1; the only one is --check" >&2
    exit 2
    ;;
esac

tool=
for name in clang-format-14 clang-format; do
    if command -v $name > /dev/null && $name --version | grep -q 'version 14\.'; then
        tool=$name
        break
    fi
done
if [ -z "$tool" ]; then
    echo "skipped: no clang-format 14 here (Debian 12: apt-get install clang-format)"
    exit 77
fi

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046
    set -- $(our_files "*.c" "*.h" "*.inl")
fi
if [ $check = no ]; then
    exec $tool -i "$@"
fi
if ! $tool --dry-run -Werror "$@" 2>&1 | awk '/error:/ { split($0, p, ":"); if (!(p[1] in seen)) { seen[p[1]] = 1; print p[1] ":" p[2] ": not laid out; scripts/format.sh does it"; n++ } } END { exit n > 0 }'; then
    exit 1
fi
