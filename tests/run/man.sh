#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# man.sh LAUNCHER PAGE: every option of --help all has an entry in the manual page, and the reverse; the page is clean.
set -eu
launcher=$1 page=$2 failed=0
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

"$launcher" --help all | grep -E '^ -' | sed -E 's/  .*//' | grep -oE -- '-{1,2}[A-Za-z][a-z-]*' |
    grep -v -- '^-list' | sort -u > "$folder/help"
awk '/^\.SH/ { options = /OPTIONS/ } options && tp { print } { tp = /^\.TP/ }' "$page" | sed 's/\\-/-/g' |
    grep -oE -- '(^\.B[RI]?| ")? -{1,2}[A-Za-z][a-z-]*' | grep -oE -- '-{1,2}[A-Za-z][a-z-]*' | sort -u > "$folder/page"
for option in $(comm -23 "$folder/help" "$folder/page"); do
    echo "$option is in --help and not in $page" && failed=1
done
for option in $(comm -13 "$folder/help" "$folder/page"); do
    echo "$option is in $page and not in --help" && failed=1
done
[ "$(wc -l < "$folder/help")" -gt 30 ] || { echo "only $(wc -l < "$folder/help") options found in --help" && failed=1; }
if command -v man > /dev/null; then
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2> "$folder/warnings" > /dev/null || true
    if [ -s "$folder/warnings" ]; then
        cat "$folder/warnings" && failed=1
    fi
fi
exit $failed
