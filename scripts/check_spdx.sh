#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_spdx.sh: every file of ours opens with one SPDX line, and C files with a comment that says what they are.
set -eu
. "$(dirname "$0")/files.sh"

# Not covered: the license itself, data, and formats without comments.
our_files | grep -vE '^LICENSE$|^\.gitignore$|\.(json|gz|csv|png|pem|bin|txt|seed)$|^tests/fuzz/corpus/' | xargs awk '
FNR == 1 { close_file(); file = FILENAME; found = 0; said = 0; c = file ~ /\.(c|h|inl)$/ }
FNR <= 3 && /SPDX-License-Identifier: Apache-2\.0/ { found++; where = FNR }
FNR > 3 && /SPDX-License-Identifier:/ && !/\/SPDX|SPDX-License-Identifier: Apache-2\\/ { found++ }
c && FNR > 1 && FNR <= 3 && /^\/\*/ { said = 1 }
function close_file() {
    if (file == "") return
    if (file ~ /^scripts\/check_/ && found > 1) found = 1
    if (found != 1) { print file ": wants one line \"SPDX-License-Identifier: Apache-2.0\" at its top, has " found; wrong++ }
    else if (c && !said) { print file ": wants a comment after the SPDX line that says what the file is"; wrong++ }
}
END { close_file(); exit wrong > 0 }
'
