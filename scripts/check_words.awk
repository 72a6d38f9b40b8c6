# SPDX-License-Identifier: Apache-2.0
# The rules of check_words.sh: one search per mistake. A line that is right all the same says so, with the reason, in a
# comment that contains "allowed:" on the same line or the line above.

# rule(what is wrong, files it holds for, files it does not hold for, what to look for, what makes it right, look into quotes?)
function rule(text, files, others, pattern, unless, quotes) {
    n++
    rule_text[n] = text; rule_files[n] = files; rule_others[n] = others
    rule_pattern[n] = pattern; rule_unless[n] = unless; rule_quotes[n] = quotes
}
# call("a|b"): a call of one of these functions, not a member or a longer name
function call(names) { return "(^|[^A-Za-z0-9_.>])(" names ")[ ]?\\(" }

BEGIN {
    c = "\\.(c|h|inl)$"
    library = "^(src|cpurt)/.*\\.(c|h|inl)$"
    ours = "^(src|cpurt|tools)/.*\\.(c|h|inl)$"
    shipped = "^(include|src|cpurt|tools|examples|openshmem)/.*\\.(c|h|inl)$"
    no_test = "/tests/"
    itself = "^scripts/check_words|^CONTRIBUTING|^LICENSE$"

    rule("unfinished work", ".", itself, "(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)|for now([^a-z]|$)", "", 1)

    # The environment has one door.
    rule("getenv outside src/host/utils/env.c", "^src/.*" c, "^src/host/utils/env\\.c$", call("(secure_)?getenv"), "", 0)
    rule("a library does not change the environment", library, no_test, call("setenv|putenv|unsetenv|clearenv"), "", 0)

    # Calls that cannot be used right, or that have a better sister.
    rule("no bound: use snprintf or buf.h", shipped, no_test, call("v?sprintf|strcpy|strcat|stpcpy|gets|strncpy|strncat|alloca"), "", 0)
    rule("numbers are parsed strictly", shipped, no_test, call("atoi|atol|atoll|atof"), "", 0)
    rule("not thread safe", library, no_test,
         call("strtok|localtime|gmtime|ctime|asctime|inet_ntoa|gethostbyname|getpwuid|getpwnam|rand"), "", 0)
    rule("a library neither handles signals nor starts programs", library, no_test,
         call("signal|sigaction|system|popen|fork|vfork"), "", 0)
    rule("a library does not write to the output of the program", library, no_test, call("printf|puts|putchar|perror"), "", 0)
    rule("secrets are wiped with explicit_bzero", c, "", call("bzero|memset_s"), "", 0)

    # Descriptors do not survive exec; signals do not come from sockets.
    rule("no O_CLOEXEC, SOCK_CLOEXEC, MFD_CLOEXEC ...", ours, no_test,
         call("open|openat|socket|socketpair|accept4|pipe2|epoll_create1|eventfd|memfd_create|timerfd_create|inotify_init1|dup3"),
         "CLOEXEC", 0)
    rule("the form without close-on-exec", library, no_test, call("accept|pipe|epoll_create|dup|dup2|inotify_init|signalfd"), "", 0)
    rule("fopen without e, close-on-exec", ours, no_test, call("fopen|fdopen"), "\"[rwa][^\"]*e[^\"]*\"", 2)
    rule("send without MSG_NOSIGNAL", ours, no_test, call("send|sendto|sendmsg"), "MSG_NOSIGNAL", 0)
}

FNR == 1 {
    text = quoted = ""; allowed = in_comment = 0
    is_c = FILENAME ~ c
    m = 0
    for (i = 1; i <= n; i++)
        if (FILENAME ~ rule_files[i] && !(rule_others[i] != "" && FILENAME ~ rule_others[i])) active[++m] = i
}
/allowed:/ { allowed = 2 }
{
    look(1, $0, FNR)
    if (is_c) {
        # Calls span lines: a statement is put together before the patterns see it. Comments and texts are taken out.
        line = $0
        if (in_comment) { if (line !~ /\*\//) line = ""; else { sub(/.*\*\//, "", line); in_comment = 0 } }
        with_quotes = line
        gsub(/'(\\.|[^'\\])'/, "0", line)
        gsub(/"(\\.|[^"\\])*"/, "\"\"", line)
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
        sub(/\/\/.*/, "", line)
        if (line ~ /\/\*/) { sub(/\/\*.*/, "", line); in_comment = 1 }
        if (text == "") start = FNR
        if (allowed) let = 1
        text = text line " "; quoted = quoted with_quotes " "
        if (line ~ /[;{}][ \t]*$|^[ \t]*#|^[ \t]*$/ || line ~ /;/) {
            if (!let) { look(0, text, start); look(2, quoted, start) }
            text = quoted = ""; let = 0
        }
    }
    if (allowed) allowed--
}
# A declaration is not a call: "int open(...)" has a type before the name.
function look(quotes, t, line_number,    i, k) {
    if (quotes == 1 && allowed) return
    for (k = 1; k <= m; k++) {
        i = active[k]
        if (rule_quotes[i] != quotes || t !~ rule_pattern[i]) continue
        if (rule_unless[i] != "" && t ~ rule_unless[i]) continue
        sub(/^[ \t]+/, "", t)
        printf "%s:%d: %s: %s\n", FILENAME, line_number, rule_text[i], substr(t, 1, 100)
        wrong++
    }
}
END { exit wrong > 0 }
