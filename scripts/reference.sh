#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reference.sh table | man FOLDER VERSION: what the comments of the public headers say, as the table of docs/completion.md or
# as manual pages. Every function of the interface has a page; where one page is about several, the others lead to it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
headers="include/host/init/shmem_host_init.h include/host/mem/shmem_host_heap.h include/host/team/shmem_host_team.h
    include/host/data_plane/shmem_host_rma.h include/host/data_plane/shmem_host_so.h
    include/host/data_plane/shmem_host_p2p_sync.h include/host/data_plane/shmem_host_cc.h
    include/host/data_plane/shmem_host_amo.h include/host/data_plane/shmem_host_coll.h include/host/utils/shmem_log.h"

table() {
    echo '<!-- SPDX-License-''Identifier: Apache-2.0 -->'
    cat << 'END'
# Who calls, and when it is complete

Every host call of the interface: who has to call it, from when on its arguments may be changed, when its effect is there and
for whom, and which threads may call. Made by `scripts/check_docs.sh --update` from the fields in the headers' comments, which
say what else there is to know. `NAME` stands for a type (`int32`, `float`, ...), `BITS` for a width, `OP` for an operation.

"Quiet" below covers what this PE issued itself; a barrier covers what all its members issued. "Visible" is meant for
programs that look after they were told, by a signal, a wait or a barrier; looking without being told promises nothing.
END
    for header in $headers; do awk -v mode=table -f scripts/reference.awk "$header"; done
}

# Concrete names of a line "page name-with-NAME-BITS-OP", from the list of exported names
names_of() {
    sed -e 's/NAME/(float|double|u?int(8|16|32|64)|char|half|bfloat16)/' -e 's/BITS/(8|16|32|64|128)/' \
        -e 's/OP/(sum|prod|min|max|and|or|xor)/'
}

man_pages() { # FOLDER VERSION
    mkdir -p "$1"
    rm -f "$1"/*.3
    list=$(mktemp)
    trap 'rm -f "$list"' EXIT
    for header in $headers; do
        : > "$list.one"
        awk -v mode=man -v out="$1" -v version="$2" -v name_of_list="$list.one" -f scripts/reference.awk "$header"
        cat "$list.one" >> "$list"
        rm -f "$list.one"
    done
    while read -r page pattern; do
        grep -xE "$(echo "$pattern" | names_of)" tests/abi/exports.txt | while read -r name; do
            [ "$name" = "$page" ] || [ -e "$1/$name.3" ] || echo ".so man3/$page.3" > "$1/$name.3"
        done
    done < "$list"
    # Who exports without a page is told here rather than by a user
    missing=$(grep -v -e '^#' -e '^shmem' tests/abi/exports.txt | while read -r name; do [ -e "$1/$name.3" ] || echo "$name"; done)
    if [ -n "$missing" ]; then
        echo "no manual page for, among others:" $(echo "$missing" | head -n 5) >&2
        exit 1
    fi
}

case ${1-} in
table) table ;;
man) man_pages "$2" "$3" ;;
*)
    sed -n '3,4s/^# //p' "$0" >&2
    exit 2
    ;;
esac
