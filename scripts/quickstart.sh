#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh machine to the main job: installs what is missing, builds, and trains a small network on handwritten digits
# with 4 PEs that share symmetric memory. Options: --no-install (only say what is missing), --help.
set -uo pipefail
INSTALL=yes
for option in "$@"; do
    case $option in
    --no-install) INSTALL=no ;;
    -h | --help)
        sed -n '3,4s/^# //p' "$0"
        exit 0
        ;;
    *)
        echo "quickstart.sh: unknown option $option; --no-install and --help are known" >&2
        exit 2
        ;;
    esac
done
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

say "1/3 looking at what this machine has"
need base
say "2/3 building"
build release -DACLSHMEM_WERROR=OFF -DACLSHMEM_BUILD_TESTS=OFF ||
    die "the build stopped" "see the lines above and the logs in build/logs"

run=build/release/bin/aclshmemrun job=build/release/examples/digits_train
say "3/3 $run -n 4 $job"
start=$SECONDS
"$run" -n 4 "$job" < /dev/null 2>&1 | tee "$LOGS/digits_train.log"
code=${PIPESTATUS[0]}
if [ "$code" -ne 0 ]; then
    die "the job ended with exit code $code" "run $run -n 4 $job again with SHMEM_LOG_LEVEL=INFO, and build/release/bin/aclshmem_info to see the machine"
fi
result=$(grep '^accuracy on' "$LOGS/digits_train.log" || grep -v '^[[:space:]]*$' "$LOGS/digits_train.log" | tail -n 1)
say "done in $(elapsed): 4 PEs trained on handwritten digits in $((SECONDS - start)) s, $result"
