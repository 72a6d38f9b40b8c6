#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures this library and the others that this machine has side by side: ours, theirs, ours, theirs. Every start probes how
# long a cache line takes from core to core, before and after. Starts whose two probes disagree are left out, and a table is made
# for each regime in which every library has a start.
#   -n PES      2 (default), 4, 8 ...
#   -r ROUNDS   starts of every library, default 5
#   -b DIR      the build folder, default build/release
#   -o FILE     keep the single results there
#   -l          rows of transfers up to 256 MiB (half a GiB of memory per PE) instead of the others
#   NAME        rows whose name starts so
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pes=2 rounds=5 build=$here/../build/release raw='' arguments=()
while getopts n:r:b:o:lh option; do
    case $option in
    n) pes=$OPTARG ;;
    r) rounds=$OPTARG ;;
    b) build=$OPTARG ;;
    o) raw=$OPTARG ;;
    l) arguments+=(large) ;;
    *) sed -n '3,12s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
arguments+=("$@")
[ -x "$build/benchmarks/ops" ] || { echo "compare.sh: $build/benchmarks/ops is missing; build the preset release first" >&2 && exit 2; }
keep=$raw
[ -n "$raw" ] || raw=$(mktemp)
: > "$raw"

# osc/rdma of Open MPI 4.1 crashes at the end of programs that used it on one host.
theirs=(mpirun --allow-run-as-root --oversubscribe --bind-to none --mca osc '^rdma' -x SHMEM_SYMMETRIC_HEAP_SIZE=2G -n "$pes")

# start LIBRARY COMMAND...: appends "library regime row bytes nanoseconds" per row
start() {
    local library=$1 out
    shift
    if ! out=$(timeout 300 "$@" "${arguments[@]}" 2> /dev/null); then
        echo "compare.sh: $library failed: $*" >&2
        return
    fi
    awk -F'\t' -v library="$library" '
        function regime(ns) { return ns < 200 ? "near" : "far" }
        /^#/ { n = split($0, word, " "); hop[++probes] = word[n]; next }
        NF == 3 { rows[++count] = $0 }
        END {
            if (probes != 2 || regime(hop[1]) != regime(hop[2])) {
                printf "%s: probes %s and %s ns disagree, this start is left out\n", library, hop[1], hop[2] > "/dev/stderr"
                exit
            }
            printf "%s: a line hops in %s and %s ns\n", library, hop[1], hop[2] > "/dev/stderr"
            for (i = 1; i <= count; i++) print library "\t" regime(hop[1]) "\t" rows[i]
        }' <<< "$out" >> "$raw"
}

for ((round = 0; round < rounds; round++)); do
    start ours "$build/bin/aclshmemrun" -n "$pes" --mem 1280M "$build/benchmarks/ops"
    [ -x "$build/benchmarks/ops_oshmem" ] && start oshmem "${theirs[@]}" "$build/benchmarks/ops_oshmem"
    [ -x "$build/benchmarks/ops_mpi" ] && [[ " ${arguments[*]-} " != *" large "* ]] &&
        start mpi "${theirs[@]}" "$build/benchmarks/ops_mpi"
done

awk -F'\t' -v pes="$pes" '
    function median(list, n, v, i, j, t) {
        n = split(list, v, " ")
        for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    }
    function shown(ns) { return ns < 1000 ? sprintf("%.1f ns", ns) : ns < 1e6 ? sprintf("%.2f us", ns / 1e3) : sprintf("%.2f ms", ns / 1e6) }
    FNR == NR { if ($0 !~ /^#/ && $1 == pes) target[$2 "\t" $3] = $4; next }
    {
        key = $3 "\t" $4
        if (!(key in seen)) { seen[key] = 1; order[++rows] = key }
        values[$1, $2, key] = values[$1, $2, key] " " $5
    }
    END {
        split("near far", regimes, " ")
        for (r = 1; r <= 2; r++) {
            regime = regimes[r]; any = 0
            for (i = 1; i <= rows; i++) {
                key = order[i]; split(key, part, "\t"); best = ""
                if (values["ours", regime, key] == "") continue
                mine = median(values["ours", regime, key])
                split("oshmem mpi", others, " ")
                for (o = 1; o <= 2; o++) {
                    if (values[others[o], regime, key] == "") continue
                    it = median(values[others[o], regime, key])
                    if (best == "" || it < best) { best = it; who = others[o] }
                }
                if (best == "") continue
                if (!any++) {
                    printf "\n%d PEs, %s regime\n\n| row | bytes | ours | best other | | ratio | target | |\n|---|---|---|---|---|---|---|---|\n", pes, regime
                }
                goal = target[key]
                printf "| %s | %s | %s | %s | %s | %.2f | %s | %s |\n", part[1], part[2], shown(mine), shown(best), who, mine / best, \
                    goal == "" ? "" : "<= " goal, goal == "" ? "" : mine / best <= goal + 0 ? "met" : "missed"
            }
        }
    }' "$here/targets.tsv" "$raw"
[ -n "$keep" ] || rm -f "$raw"
