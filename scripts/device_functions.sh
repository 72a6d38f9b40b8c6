#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# device_functions.sh [--update]: which tests call which function of kernels. The functions are what the headers under
# include/device declare, found by the preprocessor so that those grown from lists of types count each; calls are looked for
# in the kernels of tests/device in the same way. A function that no test calls is an error. --update writes the table to
# tests/device.md, without it the functions in the table are compared.
set -eu
export LC_ALL=C
. "$(dirname "$0")/files.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=tests/device.md
preprocess() { ${CC:-cc} -E -D__CCE_KT_TEST__ -D_GNU_SOURCE "$@" -Iinclude -Isrc -Icpurt/include -Itests; }

# Names of functions, each with its header; what a header includes is not its own. Overloads are C++ and call these.
headers=$(our_files 'include/device/*.h' | grep -v '/shmem_overloads')
{
    for header in $headers; do
        short=${header#include/}
        echo "#include \"$short\"" | preprocess -DACLSHMEM_DEVICE=@DEVICE@ -x c - |
            awk -v own="\"$header\"" '/^# [0-9]+ "/ { on = $3 == own; next } on' | tr '\n' ' ' | sed 's/@DEVICE@/\n&/g' |
            sed -n 's/^@DEVICE@ [^(]*[ *]\([a-z_0-9A-Z]*\) *(.*/\1/p' | sort -u | sed "s,\$, $short,"
        # Macros with arguments that are part of the interface.
        sed -n 's/^#define \(aclshmemx\{0,1\}_[a-z_0-9]*\|SHMEMI_PROF_[A-Z]*\)(.*/\1/p' "$header" | sort -u | sed "s,\$, $short,"
    done
} | sort -u > "$work/functions"
[ "$(wc -l < "$work/functions")" -gt 300 ] || { echo "device_functions.sh: the headers were not understood" && exit 1; }

# Words of the kernels of tests, as written and with macros expanded.
for file in $(our_files 'tests/device/*_kernels.c'); do
    { preprocess "$file" | awk -v own="\"$file\"" '/^# [0-9]+ "/ { on = $3 == own; next } on'; cat "$file"; } |
        tr -c 'a-zA-Z0-9_' '\n' | grep -E '^(aclshmem|SHMEMI|util)' | sort -u | sed "s,\$, ${file#tests/device/},"
done | sort > "$work/words"

# Functions that differ in type or width only are one row.
join -a 1 "$work/functions" "$work/words" | awk '
    {
        row = $1
        gsub(/_(u?int(8|16|32|64)|bfloat16|half|float|double|char)_/, "_NAME_", row)
        if (row ~ /^aclshmem_i?(put|get)(8|16|32|64|128)/) gsub(/(8|16|32|64|128)/, "BITS", row)
        key = $2 SUBSEP row
        if (!(($1, key) in counted)) { counted[$1, key]; count[key]++; }
        if (NF == 2) { print "no test in tests/device calls " $1 " (" $2 ")" > "/dev/stderr"; missing++ }
        else if (!((key, $3) in seen)) { seen[key, $3]; tests[key] = tests[key] (tests[key] == "" ? "" : ", ") "`" $3 "`" }
    }
    END {
        for (key in count) { split(key, part, SUBSEP); print part[1] "|" part[2] "|" count[key] "|" tests[key] }
        exit missing > 0
    }' > "$work/rows" || { echo "device_functions.sh: every function of kernels needs a test" >&2 && exit 1; }

# The families that run on each engine alone, as tests/device/CMakeLists.txt registers them: "family engine engine ...".
awk '
    /^foreach\(engine / { sub(/^foreach\(engine /, ""); sub(/\).*/, ""); engines = $0 }
    /^ *foreach\(family / { sub(/.*foreach\(family /, ""); sub(/\).*/, ""); n = split($0, f, " "); for (i = 1; i <= n; i++) print f[i], engines }
' tests/device/CMakeLists.txt > "$work/engines"
[ -s "$work/engines" ] || { echo "device_functions.sh: no families on engines in tests/device/CMakeLists.txt" >&2 && exit 1; }

{
    echo '<!-- SPDX-License-''Identifier: Apache-2.0 -->'
    echo '# Functions of kernels'
    echo
    echo "The functions that kernels may call and the tests that call them. Made by \`scripts/device_functions.sh --update\` from"
    echo 'the headers and the tests. NAME stands for the types of a list, BITS for the widths; the number says how many there are.'
    echo 'The engines are those on which these tests run; calls by the name of an engine are on that one.'
    sort "$work/rows" | awk -F'|' -v engines="$work/engines" '
        BEGIN { while ((getline line < engines) > 0) { split(line, part, " "); others[part[1]] = substr(line, length(part[1]) + 2) } }
        function engines_of(header, tests,    n, list, i, family, name) {
            if (match(header, /(mte|sdma|rdma|udma)\.h$/)) {
                name = substr(header, RSTART, RLENGTH - 2)
                return name == "rdma" ? "roce" : name
            }
            if (header ~ /team\/|def\.h/) return "none"
            n = split(tests, list, ", ")
            for (i = 1; i <= n; i++) {
                family = list[i]; gsub(/`/, "", family); sub(/_kernels\.c/, "", family)
                if (family in others) return "mte " others[family]
            }
            return "mte"
        }
        $1 != header { header = $1; printf "\n## %s\n\n| function | forms | engines | tests |\n|---|---|---|---|\n", header }
        { printf "| `%s` | %d | %s | %s |\n", $2, $3, engines_of($1, $4), $4 }'
} > "$work/table"
# That a further test calls a function too makes no table wrong.
functions_of() { sed -n 's/^| `\([^`]*\)` | \([0-9]*\) |.*/\1 \2/p' "$1"; }
if [ "${1-}" = --update ]; then
    cp "$work/table" "$table"
else
    functions_of "$table" > "$work/old"
    functions_of "$work/table" > "$work/new"
    diff "$work/old" "$work/new" || {
        echo "device_functions.sh: the functions of $table are not those of the headers; run scripts/device_functions.sh --update" >&2
        exit 1
    }
fi
