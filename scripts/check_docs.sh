#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_docs.sh [--update] BUILD-FOLDER: is what the documents say so? docs/env.md is what aclshmem_info writes and
# docs/completion.md what the headers say (--update writes both), every declaration has a comment, manual pages are clean, links
# and paths lead to files, names are declared somewhere, and the programs of the READMEs are compiled, run, and print what is
# said there.
set -eu
. "$(dirname "$0")/files.sh"
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
bad() {
    echo "$*"
    failed=1
}

# Settings, as a page and as a manual page. Values of this machine do not belong there, so nothing is in the environment.
{
    echo '<!-- SPDX-License-Identifier: Apache-2.0 -->'
    env -i "$build/bin/aclshmem_info" -r md
} > "$work/env.md"
{
    echo '.\" SPDX-License-Identifier: Apache-2.0'
    env -i "$build/bin/aclshmem_info" -r man
} > "$work/shmem_environment.7"
sh scripts/reference.sh table > "$work/completion.md"
for pair in env.md:docs/env.md completion.md:docs/completion.md shmem_environment.7:docs/man/man7/shmem_environment.7; do
    made=$work/${pair%%:*} page=${pair#*:}
    if [ $update = yes ]; then
        cp "$made" "$page"
    elif ! diff -u "$page" "$made" > "$work/said" 2>&1; then
        head -n 20 "$work/said"
        bad "$page is not what aclshmem_info and the headers say: scripts/check_docs.sh --update $build"
    fi
done

# The manual page of aclshmem_info has the options of --help; manual pages are clean.
options() { grep -oE -- '(^|[ ,])-{1,2}[a-z][a-z-]*' | tr -d ' ,' | sort -u; }
"$build/bin/aclshmem_info" --help | grep '^ ' | sed 's/;.*//' | cut -c1-24 | options > "$work/help"
grep -E '^\.BR? ' docs/man/man1/aclshmem_info.1 | sed 's/\\-/-/g; s/\\f[A-Z]//g' | options > "$work/page"
echo -a >> "$work/help"
sort -u "$work/help" | diff - "$work/page" > "$work/said" || {
    cat "$work/said"
    bad "docs/man/man1/aclshmem_info.1 and --help have different options"
}
if command -v man > /dev/null; then
    for page in $(our_files 'docs/man/*.[1-8]'); do
        LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2> "$work/said" > /dev/null || true
        [ ! -s "$work/said" ] || bad "$page: $(cat "$work/said")"
    done
fi

# The pages of the calls, all at once; of one that only leads to another there is nothing to see.
if command -v groff > /dev/null; then
    # shellcheck disable=SC2046
    groff -man -ww -z -Tutf8 -K utf8 $(grep -L '^\.so ' "$build"/man3/*.3) > "$work/said" 2>&1 || true
    [ ! -s "$work/said" ] || bad "manual pages of the calls: $(head -n 5 "$work/said")"
fi
# The reference: every declaration of the host headers has a comment. Headers that miss a page or a field fail in reference.sh.
if command -v doxygen > /dev/null; then
    for side in docs/Doxyfile docs/Doxyfile.device; do
        ACLSHMEM_VERSION=check ACLSHMEM_DOCS_OUT=$work/reference doxygen $side > "$work/said" 2>&1 || {
            head -n 20 "$work/said"
            bad "Doxygen does not like the comments of the headers: $side"
        }
    done
    for call in aclshmem_float_put_nbi_rows aclshmemx_sdma_putmem_nbi aclshmem_uint64_wait_until_some_vector; do
        grep -q "$call" "$work"/reference/html-kernels/globals_func*.html || bad "the reference of kernels lacks $call"
    done
fi

pages=$(our_files '*.md')
for page in $pages; do
    folder=$(dirname "$page")
    # Links to files
    for link in $(sed -n 's/](\([^)#]*\)[^)]*)/\n@\1\n/gp' "$page" | sed -n 's/^@//p'); do
        case $link in http*:* | '') continue ;; esac
        [ -e "$folder/$link" ] || bad "$page: the link $link leads nowhere"
    done
    # Paths from the root, as far as they are plain
    for path in $(grep -o '`[^` ]*`' "$page" | tr -d '`' | grep -E '^(src|include|cpurt|tools|tests|scripts|docs|examples|benchmarks|cmake)/[A-Za-z0-9_./-]*$'); do
        [ -e "$path" ] || bad "$page: there is no $path"
    done
done

# Names of ours in the documents exist. Tools, packages and modules have names of the same form. tests/device.md has its own
# check, which knows the names that macros make.
find include -name "*.h" -exec cat {} + > "$work/headers"
cat "$work/headers" cmake/* src/host/utils/*.h scripts/*.sh 2> /dev/null | grep -oE 'aclshmemx?i?_[A-Za-z0-9_]+' | sort -u > "$work/known"
for page in $pages; do
    [ "$page" != tests/device.md ] || continue
    grep -oE '\baclshmemx?_[a-z0-9_]+' "$page" | sort -u | comm -23 - "$work/known" > "$work/unknown" || true
    while read -r name; do
        # Typed calls are made by macros: aclshmem_int32_p
        plain=$(echo "$name" | sed -E 's/_(float|double|u?int(8|16|32|64)|char)_/_##NAME##_/; s/_(sum|prod|min|max|and|or|xor)_reduce/_##OP##_reduce/')
        [ "$plain" != "$name" ] && grep -rqF "$plain" include && continue
        bad "$page: nothing is called $name"
    done < "$work/unknown"
done
# Variables stand in the table, or belong to the launcher.
for page in $pages; do
    for name in $(grep -oE '\bSHMEM_[A-Z][A-Z_0-9]*[A-Z0-9]\b' "$page" | sort -u); do
        grep -q "\"${name#SHMEM_}\"" src/host/utils/env.def && continue
        case $name in SHMEM_RUN_* | SHMEM_HOME_PATH) continue ;; esac
        bad "$page: there is no setting $name"
    done
done

# Programs: a block of C with a main, and the text it prints in the block of text after it; any order of lines.
extract() { # PAGE LANGUAGE: the first block
    awk -v want="\`\`\`$2" '$0 == want && !done { on = 1; next } /^```/ && on { on = 0; done = 1 } on' "$1"
}
if [ -z "$(sed -n 's/^ACLSHMEM_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")" ]; then
    libdir=$build/$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
    for page in README.md README.zh-CN.md; do
        extract $page c > "$work/first.c"
        extract $page text | sort > "$work/expected"
        pes=$(wc -l < "$work/expected")
        if ! ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -Icpurt/include "$work/first.c" "-L$libdir" -lshmem \
            "-Wl,-rpath,$libdir" -o "$work/first" > "$work/said" 2>&1; then
            cat "$work/said"
            bad "$page: the program does not compile"
        elif ! "$build/bin/aclshmemrun" -n "$pes" "$work/first" > "$work/printed" 2>&1; then
            cat "$work/printed"
            bad "$page: the program fails"
        elif ! sort "$work/printed" | diff - "$work/expected"; then
            bad "$page: the program prints something else"
        fi
    done
fi
exit $failed
