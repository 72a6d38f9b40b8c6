#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the instructions of the hottest calls and compares them with what they were. Counts do not depend on the machine's
# mood; they depend on the compiler, so they are compared for the one they were recorded with.
#   instructions.sh PROGRAM RECORD
set -uo pipefail
program=$1 record=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

if ! repeats=$(valgrind -q --tool=callgrind --callgrind-out-file="$dir/out" "$program" 2> "$dir/err"); then
    if grep -q -i 'unrecognised instruction\|valgrind: fatal' "$dir/err"; then
        echo "skipped: valgrind cannot run this program here" && exit 77
    fi
    cat "$dir/err" && exit 1
fi
for dump in "$dir"/out.*; do
    awk '/^desc: Trigger: Client Request: / { name = $5 } /^summary:|^totals:/ { total = $2 } END { if (name != "") print name "\t" total }' "$dump"
done > "$dir/counts"
awk -F'\t' -v repeats="$repeats" '
    FNR == NR { total[$1] = $2; next }
    /^#/ { next }
    {
        if (!($1 in total)) { printf "%s: no count\n", $1; bad = 1; next }
        now = (total[$1] - total["nothing"]) / repeats
        printf "%-12s %6.1f instructions, recorded %d\n", $1, now, $2
        if (now > $2 * 1.1 + 1) { printf "%s takes more than a tenth more than recorded\n", $1; bad = 1 }
        if (now < $2 * 0.9 - 1) printf "%s has become faster: record it\n", $1
    }
    END { exit bad }' "$dir/counts" "$record"
