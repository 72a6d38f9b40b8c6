#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scenarios.sh [--update]: which behaviours of the specification have a test. Ids in square brackets, as in [H-07], in the
# comments of tests are the only source; --update writes the table to tests/scenarios.md, without it the two are compared.
set -eu
cd "$(dirname "$0")/.."
table() {
    echo '<!-- SPDX-License-''Identifier: Apache-2.0 -->'
    echo '# Scenarios'
    echo
    echo 'Behaviours of the host side that have a test, by id. Made by `scripts/scenarios.sh --update` from the tags in the tests.'
    echo
    echo '| id | tests |'
    echo '|---|---|'
    grep -rnoE '\[[A-Z]-[0-9]{2}[a-z]?\]' tests cpurt/tests --include='*.c' --include='*.h' --include='*.sh' |
        sed -E 's/^([^:]*):[0-9]+:\[(.*)\]$/\2 \1/' | sort -u |
        awk '{ if ($1 != id) { if (id != "") print "| " id " | " files " |"; id = $1; files = "`" $2 "`" } else files = files ", `" $2 "`" }
             END { if (id != "") print "| " id " | " files " |" }'
}
if [ "${1-}" = --update ]; then
    table > tests/scenarios.md
elif ! table | diff -u tests/scenarios.md -; then
    echo "scenarios.sh: tests/scenarios.md is not what the tags say; run scripts/scenarios.sh --update" >&2
    exit 1
fi
