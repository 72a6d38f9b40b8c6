#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scenarios.sh [--update]: which behaviours of the specification, and which classes of trouble known from the field, have a
# test. Ids in square brackets in the comments of tests are the only source: as in [H-07] for a behaviour, [R-15] for a class;
# tests/scenarios.txt says why others have none;
# --update writes the tables to tests/scenarios.md and tests/robustness.md, without it they are compared.
set -eu
cd "$(dirname "$0")/.."
tags() {
    grep -rnoE "\\[$1-[0-9]{2}[a-z]?\\]" tests cpurt/tests scripts --include='*.c' --include='*.h' --include='*.sh' --exclude=scenarios.sh |
        sed -E 's/^([^:]*):[0-9]+:\[(.*)\]$/\2 \1/' | sort -u
}
rows() {
    awk '{ if ($1 != id) { if (id != "") print "| " id " | " files " |"; id = $1; files = "`" $2 "`" } else files = files ", `" $2 "`" }
         END { if (id != "") print "| " id " | " files " |" }'
}
scenarios() {
    echo '<!-- SPDX-License-''Identifier: Apache-2.0 -->'
    echo '# Scenarios'
    echo
    echo 'Behaviours of the host side that have a test, by id. Made by `scripts/scenarios.sh --update` from the tags in the tests.'
    echo
    echo '| id | tests |'
    echo '|---|---|'
    tags '[A-QS-Z]' | rows
    echo
    echo 'Those that no test of this tree can show, from `tests/scenarios.txt`:'
    echo
    echo '| id | why |'
    echo '|---|---|'
    sed -n '/^[A-Z]-[0-9]/s/^\([^ ]*\)  *\(.*\)$/| \1 | \2 |/p' tests/scenarios.txt
}
classes='R-01 Waiting and deadlines
R-02 Start-up as one decision
R-03 Address syntax and families
R-04 Strangers on the port
R-05 Choice of interface, port and path
R-06 Start/stop cycles
R-07 Fork, exec and signals of the application
R-08 Shared memory in containers
R-09 The symmetric heap
R-10 Limits set by the operating system
R-11 Sizes and limits
R-12 Alignment, strides, overlap
R-13 Any PE count
R-14 Zero length and null
R-15 Completion
R-16 Signals and waits
R-17 Atomic width and representation
R-18 Barriers, and more PEs than cores
R-19 Streams and device kernels
R-20 Teams
R-21 Death and job exit
R-22 Threads
R-23 MPI and other libraries
R-24 Python lifetime
R-25 Packages and versions
R-26 Errors, logs, settings'
robustness() {
    echo '<!-- SPDX-License-''Identifier: Apache-2.0 -->'
    echo '# Robustness'
    echo
    echo 'What goes wrong in the field with libraries of this kind, in classes, and the tests that look for it here. Made by'
    echo '`scripts/scenarios.sh --update` from the tags in the tests. A dash: nothing carries the tag yet.'
    echo
    echo '| class | tests |'
    echo '|---|---|'
    found=$(tags R | rows)
    echo "$classes" | while read -r id name; do
        files=$(echo "$found" | sed -n "s/^| $id | \\(.*\\) |\$/\\1/p")
        echo "| $name | ${files:--} |"
    done
}
status=0
table() { # name file
    if [ "$3" = --update ]; then
        "$1" > "$2"
    elif ! "$1" | diff -u "$2" -; then
        echo "scenarios.sh: $2 is not what the tags say; run scripts/scenarios.sh --update" >&2
        status=1
    fi
}
table scenarios tests/scenarios.md "${1-}"
table robustness tests/robustness.md "${1-}"
# A reason that a test has made untrue
tags '[A-QS-Z]' | cut -d' ' -f1 | sort -u > "${TMPDIR:-/tmp}/scenarios.$$"
both=$(sed -n 's/^\([A-Z]-[0-9]*[a-z]*\) .*/\1/p' tests/scenarios.txt | sort | comm -12 - "${TMPDIR:-/tmp}/scenarios.$$")
rm -f "${TMPDIR:-/tmp}/scenarios.$$"
if [ -n "$both" ]; then
    echo "scenarios.sh: tests/scenarios.txt says these have no test, but they have:" $both >&2
    status=1
fi
exit $status
