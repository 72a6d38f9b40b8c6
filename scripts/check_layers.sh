#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_layers.sh: does every include line point in the allowed direction? The rules stand in docs/architecture.md, the
# table below is their working copy. Lines are judged as they are written, so no compiler is needed.
set -eu
. "$(dirname "$0")/files.sh"

our_files '*.c' '*.h' '*.inl' '*.def' '*.cpp' | {
    headers=$(our_files 'include/*' 'src/*' 'cpurt/include/*' | sed -n 's/^include\///p; s/^src\///p; s/^cpurt\/include\///p')
    HEADERS=$headers
    export HEADERS
    xargs awk '
BEGIN {
    # Module of src/host -> modules of src/host it may see. Every module sees the public headers and host_device.
    may["utils"] = "utils"
    may["npu"] = "npu utils"
    may["bootstrap"] = "bootstrap utils"
    may["hybm"] = "hybm npu utils"
    may["transport"] = "transport npu utils"
    engine = "bootstrap hybm transport npu utils"
    may["instance"] = "instance mem " engine
    may["sync"] = "sync instance mem " engine
    may["bridge"] = "bridge " may["sync"]
    may["team"] = "team " may["bridge"]
    may["mem"] = "team " may["bridge"]
    may["data_plane"] = "data_plane " may["team"]
    may["init"] = "init " may["data_plane"]
    may["python_wrapper"] = ""
    # Doors: what other folders may include of a module; by default the header with the name of its folder.
    door["host/mem/heap.h"] = door["host/mem/space.h"] = door["host/bootstrap/address.h"] = 1
    n = split(ENVIRON["HEADERS"], list, "\n")
    for (i = 1; i <= n; i++) exists[list[i]] = 1
}
function bad(why) { printf "%s:%d: %s: %s\n", FILENAME, FNR, why, $0; wrong++ }
function module_of(path,    part) { # host/<module>/... or host/<file>
    split(path, part, "/")
    if (part[3] == "") { sub(/\..*/, "", part[2]) }
    return part[2]
}
function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
# The doors of folders inside a module are for init, which puts the parts together.
function is_door(mine, path,    base, dir, part) {
    if (mine != "init" && split(path, part, "/") > 3) return 0
    base = path; sub(/.*\//, "", base); sub(/\.[a-z]*$/, "", base)
    dir = folder(path); sub(/.*\//, "", dir)
    return (path in door) || base == dir
}
function allowed(from, to) { return index(" " may[from] " ", " " to " ") > 0 }
function is_public(path,    cmd) { return path ~ /(^|\/)shmem(_[a-z0-9_]*)?\.h$/ || path ~ /^acl\// }

# Rules for a line in src/host
function check_host(self, inc,    mine, other) {
    mine = module_of(self)
    if (!(mine in may)) { bad("module \"" mine "\" has no row in scripts/check_layers.sh"); return }
    if (inc ~ /^acl\//) { if (mine != "npu") bad("only npu/ includes the headers of AscendCL"); return }
    if (inc ~ /^device\//) { bad("host code never includes device/"); return }
    if (inc ~ /^host_device\// || is_public(inc)) return
    if (inc !~ /^host\//) { bad("include lines start at include/ or src/"); return }
    other = module_of(inc)
    if (!allowed(mine, other)) { bad(mine " may not include " other); return }
    if (mine != other && other != "utils" && other != "instance" && !is_door(mine, inc)) bad("not the door of " other)
}
function check_public(self, inc) {
    if (inc ~ /^acl\// || (inc ~ /^(aicore\/|kernel_operator\.h$)/ && self ~ /^include\/device\//)) return
    if (!is_public(inc) && inc !~ /^(device|host_device)\//) { bad("a public header includes public headers only"); return }
    if (self ~ /^include\/device\// && inc ~ /^host\//) bad("device headers never include host/")
    if (self ~ /^include\/host\// && inc ~ /^device\//) bad("host headers never include device/")
    if (self ~ /^include\/host_device\// && inc !~ /^host_device\//) bad("host_device/ includes host_device/ only")
}

/^[ \t]*#[ \t]*include[ \t]*</ {
    inc = $0; sub(/^[^<]*</, "", inc); sub(/>.*/, "", inc)
    if (FILENAME ~ /^src\/host\/utils\// && inc ~ /^(openssl|rdma|jansson|hwloc|mpi|pmix)/) bad("utils needs libc only")
    if (FILENAME ~ /^src\/host\// && inc ~ /^openssl\// && FILENAME !~ /^src\/host\/bootstrap\//) bad("only bootstrap/ uses OpenSSL")
    if (FILENAME ~ /^include\// && inc !~ /^(std(bool|def|int)|limits|assert)\.h$/) bad("a public header needs no system header but the plain C ones")
    next
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    inc = $0; sub(/^[^"]*"/, "", inc); sub(/".*/, "", inc)
    if (inc ~ /(^|\/)\.\.?\//) { bad("no relative paths"); next }
    rooted = (inc in exists)
    if (FILENAME ~ /^src\/host_device\//) {
        if (inc !~ /^host_device\//) bad("the bridge includes host_device/ only")
    } else if (FILENAME ~ /^src\/host\//) {
        self = FILENAME; sub(/^src\//, "", self)
        if (!rooted) bad("no such file under include/, src/ or cpurt/include/")
        else check_host(self, inc)
    } else if (FILENAME ~ /^src\/device\//) {
        if (inc !~ /^(device|host_device|aicore)\//) bad("device code includes device/, host_device/ and the AICore header")
    } else if (FILENAME ~ /^include\//) {
        if (!rooted) bad("no such file under include/ or cpurt/include/")
        else check_public(FILENAME, inc)
    } else if (FILENAME ~ /^cpurt\//) {
        if (inc ~ /^(host|host_device|device)\// || inc ~ /(^|\/)shmem(_[a-z]*)?\.h$/) bad("cpurt knows nothing of the library")
    } else if (FILENAME ~ /^(tools|examples|benchmarks|openshmem)\//) {
        if (FILENAME ~ /^tools\/aclshmemrun\// && inc == "host/utils/env.def") next
        if (inc ~ /^(host|host_device|device)\// && !is_public(inc)) bad("programs see include/ only")
    }
}
END { exit wrong > 0 }
'
} || {
    echo "check_layers: the lines above point the wrong way; who may include whom stands in docs/architecture.md"
    exit 1
}
