#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_words.sh: looks for mistakes that can be found by looking at words; the list is in check_words.awk.
set -eu
. "$(dirname "$0")/files.sh"

our_files | grep -vE '\.(gz|png|pem|bin|seed)$|^tests/fuzz/corpus/' | xargs awk -f scripts/check_words.awk || {
    echo "check_words: see above; a line that is right all the same says why in a comment with \"allowed: why\""
    exit 1
}
