#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_set_env.sh SET_ENV_SH LIBDIR: reads the file in each shell that is here and looks at the environment before, after,
# after a second time, through a link, by a relative path, and after unset_env.
set -u
script=$1 libdir=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
home="$work/a tree/home"
mkdir -p "$home/$libdir/pkgconfig" "$home/bin" || exit 1
cp "$script" "$home/set_env.sh" && ln -s "../a tree/home/set_env.sh" "$work/a tree/link.sh" || exit 1

# Runs inside each shell. $1: folder of the installation, $2: the file to read, $3: name of the libdir.
cat > "$work/inner.sh" <<'INNER'
home=$1 file=$2 libdir=$3 before=$PATH
die() { echo "  $*"; exit 1; }
has_once() { # variable folder
    eval "value=:\${$1-}:"
    case $value in *":$2:"*) ;; *) die "$1 lacks $2: $value" ;; esac
    rest=${value#*":$2:"}
    case ":$rest" in *":$2:"*) die "$1 has $2 twice: $value" ;; esac
    case $value in *::*) die "$1 has an empty part: $value" ;; esac
}
look() {
    [ "$SHMEM_HOME_PATH" = "$home" ] || die "SHMEM_HOME_PATH is $SHMEM_HOME_PATH, wanted $home"
    has_once PATH "$home/bin"
    has_once LD_LIBRARY_PATH "$home/$libdir"
    has_once PKG_CONFIG_PATH "$home/$libdir/pkgconfig"
    has_once CMAKE_PREFIX_PATH "$home"
    has_once PYTHONPATH "$home/$libdir/aclshmem/python"
    has_once MANPATH "$home/share/man"
    [ "$PATH" = "$home/bin:$before" ] || die "PATH is $PATH"
}
unset LD_LIBRARY_PATH PKG_CONFIG_PATH PYTHONPATH MANPATH SHMEM_HOME_PATH
CMAKE_PREFIX_PATH=/some/where
export CMAKE_PREFIX_PATH
set -eu
. "$file"
look
case $MANPATH in "$home/share/man") die "MANPATH hides every other page: $MANPATH" ;; esac
. "$file"
look
[ "$LD_LIBRARY_PATH" = "$home/$libdir" ] || [ -e /etc/ascend_install.info ] || die "LD_LIBRARY_PATH is $LD_LIBRARY_PATH"
unset_env
[ "$PATH" = "$before" ] || die "unset_env left PATH at $PATH"
[ "$CMAKE_PREFIX_PATH" = /some/where ] || die "unset_env left CMAKE_PREFIX_PATH at $CMAKE_PREFIX_PATH"
for name in LD_LIBRARY_PATH PKG_CONFIG_PATH PYTHONPATH MANPATH SHMEM_HOME_PATH; do
    eval "[ -z \"\${$name+x}\" ]" || die "unset_env left $name"
done
( . "$file" && look ) || die "not in a subshell"
rest=$(set | grep '^_aclshmem' || true)
[ -z "$rest" ] || die "left behind: $rest"
. "$file"
look
INNER

tried=0 failed=0
one() { # shell, file
    said=$(cd "$work/a tree" && "$1" "$work/inner.sh" "$home" "$2" "$libdir" 2>&1)
    code=$?
    if [ $code -ne 0 ] || [ -n "$said" ]; then
        printf '%s: reading %s failed (%s):\n%s\n' "$1" "$2" "$code" "$said"
        failed=$((failed + 1))
    fi
}
for shell in dash bash zsh; do
    if ! command -v $shell > /dev/null; then
        echo "$shell is not installed, not tried"
        continue
    fi
    tried=$((tried + 1))
    one $shell "$home/set_env.sh"
    one $shell ./home/set_env.sh
    one $shell ./link.sh
done
if [ $tried -eq 0 ]; then
    echo "skipped: neither bash, dash nor zsh"
    exit 77
fi
[ $failed -eq 0 ]
