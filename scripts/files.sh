# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Read by the checks: goes to the root of the sources and lists our own files, with and without git.
cd "$(dirname "$0")/.." || exit 1

# our_files [PATTERN...]: paths from the root, one a line, of files whose name matches one of the shell patterns
our_files() {
    if [ -e .git ] && command -v git > /dev/null && git ls-files > /dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard
    else
        find . -type d \( -name build -o -name 'build-*' -o -name out -o -name .git -o -name .cache \) -prune -o -type f -print |
            sed 's|^\./||'
    fi | sort | while IFS= read -r file; do
        [ -f "$file" ] || continue
        [ $# -gt 0 ] || echo "$file"
        for pattern in "$@"; do
            # shellcheck disable=SC2254
            case $file in
            $pattern)
                echo "$file"
                break
                ;;
            esac
        done
    done
}
