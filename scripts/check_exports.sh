#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_exports.sh [--update] [LIBRARY]: [I-40] four lists of names must be one list: what the public headers declare, what
# src/host/aclshmem.map exports, what tests/abi/exports.txt remembers, and what LIBRARY really has. What the headers say about
# them, prototypes, types and numbers, must be what tests/abi/interface.txt remembers. --update writes both lists, so that a
# change of the interface shows in the commit that makes it.
set -eu
. "$(dirname "$0")/files.sh"

map=src/host/aclshmem.map list=tests/abi/exports.txt interface=tests/abi/interface.txt update=no
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
# Everything the headers say, comments apart, in a form that compilers and formatting do not change: one line per macro
# (sorted), declaration and type (in their order). What the headers of AscendCL and the system say is none of it.
interface_of_headers() {
    headers=$(cd include && our_files '*.h' | grep -v '^device/')
    echo "# SPDX-License-Identifier: Apache-2.0"
    echo "# What the host headers declare. Written by scripts/check_exports.sh --update, read by the test of the same name."
    for header in $headers; do
        # A continued line is one line; a macro that is taken back in the same file is none.
        sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "include/$header"
    done | sed -e 's,/\*.*\*/,,g' | awk '
        /^ *# *define / { sub(/^ *# *define +/, ""); name = $1; sub(/\(.*/, "", name); text[name] = $0; next }
        /^ *# *undef /  { delete text[$3]; delete text[$2] }
        END { for (name in text) if (name !~ /_H$/) print "#define " text[name] }' | tr -s ' \t' ' ' | sed 's/ $//' | LC_ALL=C sort
    for header in $headers; do echo "#include \"$header\""; done |
        ${CC:-cc} -E -x c -DACLSHMEM_HOST_API= -DACLSHMEM_NO_SHMEM_ALIASES -Iinclude -Icpurt/include - |
        awk '/^# [0-9]+ "/ { on = $3 ~ /^"include\//; next } on' | tr -s ' \n\t' ' ' |
        sed -e 's/ *\([][(){},;*=:]\) */\1/g' -e 's/;/;\n/g' | awk '
        { open += gsub(/{/, "{"); open -= gsub(/}/, "}"); held = held $0 " "; if (open == 0) { gsub(/^ +| +$/, "", held); gsub(/0x7fffffff/, "2147483647", held); if (held != "") print held; held = "" } }'
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
# Short names, which the headers only have as macros, are exported as weak symbols; those of types are none.
sed -n 's/^#define \(shmemx*_[a-z0-9_]*\)  *\(aclshmem[a-z0-9_]*\|util_get_ffts_config\)$/\1 \2/p' include/host_device/shmem_short_names.h |
    while read -r short target; do
        ! grep -qx "$target" "$work/headers" || echo "$short"
    done | sort > "$work/short"
sort -u "$work/headers" "$work/short" > "$work/all"
interface_of_headers > "$work/interface"
[ $update = no ] || cp "$work/interface" "$interface"
if ! diff -u "$interface" "$work/interface" > "$work/said"; then
    grep '^[-+]' "$work/said" | head -n 40
    echo "the headers say something else than $interface (meant: run scripts/check_exports.sh --update)"
    failed=1
fi

compare "declared in a public header, or a short name there, not in $map" "$work/all" "$work/map"
compare "in $map, not declared in any public header" "$work/map" "$work/all"
compare "in $map, not in $list (new: run scripts/check_exports.sh --update)" "$work/map" "$work/list"
compare "in $list, gone from $map (removing a name breaks programs)" "$work/list" "$work/map"
if [ -n "$library" ]; then
    names_of_library "$library" > "$work/library"
    compare "in $map, not in $library" "$work/map" "$work/library"
    compare "exported by $library, not in $map" "$work/library" "$work/map"
    nm -D --defined-only "$library" | awk '$2 == "W" { sub(/@.*/, "", $3); print $3 }' | sort > "$work/weak"
    compare "a short name that is not weak" "$work/short" "$work/weak"
    compare "weak, but no short name" "$work/weak" "$work/short"
fi
grep -vE '^(aclshmem_|aclshmemx_|shmem_|shmemx_)[a-z0-9_]+$|^util_get_ffts_config$' "$work/map" > "$work/odd" || true
if [ -s "$work/odd" ]; then
    echo "without one of our prefixes:"
    sed 's/^/  /' "$work/odd"
    failed=1
fi
exit $failed
