#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_exports.sh [--update] [LIBRARY]: four lists of names must be one list: what the public headers declare, what
# src/host/aclshmem.map exports, what tests/abi/exports.txt remembers, and what LIBRARY really has. --update writes the
# names of the map to tests/abi/exports.txt, so that a change of the interface shows in the commit that makes it.
set -eu
. "$(dirname "$0")/files.sh"

map=src/host/aclshmem.map list=tests/abi/exports.txt update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
library=${1-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

names_of_map() {
    sed -e 's,/\*.*\*/,,' "$map" | awk '/global:/ { on = 1; next } /local:/ { on = 0 } on' | tr ';' '\n' | tr -d ' \t' | grep -v '^$' | sort
}
# The name after the export mark and the type, before the bracket.
names_of_headers() {
    echo '#include "shmem.h"' | ${CC:-cc} -E -P -x c '-DACLSHMEM_HOST_API=@NAME@' -DACLSHMEM_NO_SHMEM_ALIASES -Iinclude -Icpurt/include - |
        tr '\n' ' ' | sed 's/@NAME@/\n&/g' | sed -n 's/^@NAME@ \([^(]*[ *]\)\{0,1\}\([a-z_0-9A-Z]*\) *(.*/\2/p' | sort -u
}
names_of_library() {
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u
}
# only A B: the lines of A that B lacks
only() { comm -23 "$1" "$2" | sed 's/^/  /'; }
compare() { # text for names only in the first, first, second
    more=$(only "$2" "$3")
    if [ -n "$more" ]; then
        printf '%s:\n%s\n' "$1" "$more"
        failed=1
    fi
}

names_of_map > "$work/map"
if [ $update = yes ]; then
    {
        echo "# SPDX-License-Identifier: Apache-2.0"
        echo "# Every name libshmem.so exports. Written by scripts/check_exports.sh --update, read by the test of the same name."
        cat "$work/map"
    } > "$list"
fi
grep -v '^#' "$list" | sort > "$work/list"
names_of_headers > "$work/headers"
[ -s "$work/headers" ] || { echo "no declaration found in the headers: the reading of check_exports.sh is broken" && exit 1; }
# Aliases for plug-ins are exported under short names that the headers only have as macros.
{
    cat "$work/headers"
    sed -n 's/^#define \(shmemx*_[a-z0-9_]*\)  *\(aclshmem[a-z0-9_]*\|util_get_ffts_config\)$/\1/p' include/host_device/shmem_short_names.h
} | sort -u > "$work/may"

compare "declared in a public header, not in $map" "$work/headers" "$work/map"
compare "in $map, not declared in any public header" "$work/map" "$work/may"
compare "in $map, not in $list (new: run scripts/check_exports.sh --update)" "$work/map" "$work/list"
compare "in $list, gone from $map (removing a name breaks programs)" "$work/list" "$work/map"
if [ -n "$library" ]; then
    names_of_library "$library" > "$work/library"
    compare "in $map, not in $library" "$work/map" "$work/library"
    compare "exported by $library, not in $map" "$work/library" "$work/map"
fi
grep -vE '^(aclshmem_|aclshmemx_|shmem_|shmemx_)[a-z0-9_]+$|^util_get_ffts_config$' "$work/map" > "$work/odd" || true
if [ -s "$work/odd" ]; then
    echo "without one of our prefixes:"
    sed 's/^/  /' "$work/odd"
    failed=1
fi
exit $failed
