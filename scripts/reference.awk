# SPDX-License-Identifier: Apache-2.0
# Reads a public header: comments in the first column and the declarations under each, up to the next one. What is declared
# by macros for a list of types is shown once, with NAME, TYPE, BITS or OP in the place of the type. Fields of a comment
# (@who, @reuse, @done, @threads), of a call or as a default of its header, and what else is in it, become
#   -v mode=doxygen   the header as Doxygen shall see it
#   -v mode=table     rows of docs/completion.md
#   -v mode=man -v out=FOLDER -v version=X -v name_of_list=FILE   a manual page per comment; FILE gets "page name" lines
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
function name_of(declaration) { match(declaration, /[A-Za-z0-9_]+\(/); return substr(declaration, RSTART, RLENGTH - 1) }

# --- A comment: lines text[1..lines] without their stars, fields by name ---
function read_comment(    i, line, at) {
    lines = 0
    delete field
    at = ""
    for (i = 1; i <= raws; i++) {
        line = raw[i]
        sub(/^\/\*+ ?/, "", line)
        sub(/ *\*+\/ *$/, "", line)
        if (i > 1) sub(/^ *\*? ?/, "", line)
        if (match(line, /^@(who|reuse|done|threads) /)) {
            at = substr(line, 2, RLENGTH - 2)
            field[at] = trim(substr(line, RLENGTH))
        } else if (at != "" && line ~ /^ +[^ ]/) {
            field[at] = field[at] " " trim(line)
        } else {
            at = ""
            if (lines > 0 || line != "") text[++lines] = line
        }
    }
    while (lines > 0 && (text[lines] == "" || text[lines] ~ /^Unless a call says otherwise/)) lines--
}
function value(name) {
    if (name in field) return field[name]
    if (name in standard) return standard[name]
    print FILENAME ": nothing says @" name " of " declaration[1] > "/dev/stderr"
    failed = 1
    exit 1
}

# --- The three outputs of one comment with its declarations ---
function sentence(    s, i) { # the first one, without its full stop
    s = ""
    for (i = 1; i <= lines && text[i] != "" && text[i] !~ /^@/; i++) s = s (s == "" ? "" : " ") text[i]
    if (match(s, /[.;:]( |$)/)) s = substr(s, 1, RSTART - 1)
    return s
}
function cell(s) { gsub(/\|/, "\\|", s); return s }
function table_row(    i, names) {
    names = ""
    for (i = 1; i <= declarations; i++) names = names (i > 1 ? ", " : "") "`" name_of(declaration[i]) "`"
    print "| " names " | " cell(value("who")) " | " cell(value("reuse")) " | " cell(value("done")) " | " cell(value("threads")) " |"
}
function roff(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    if (s ~ /^[.']/) s = "\\&" s
    return s
}
function man_text(page, from, to,    i, word, filled) {
    filled = 1
    for (i = from; i <= to; i++) {
        if (text[i] ~ /^@param/) {
            word = text[i]
            sub(/^@param +/, "", word)
            match(word, /  +|, [a-z]+  +|$/)
            sub(/  +/, "\n", word)
            if (index(word, "\n") == 0) sub(/ /, "\n", word)
            print ".TP\n.I " roff(substr(word, 1, index(word, "\n") - 1)) "\n" roff(trim(substr(word, index(word, "\n") + 1))) > page
        } else if (text[i] ~ /^  / && filled && (i == from || text[i - 1] == "" || text[i - 1] ~ /^  /) && !parameters) {
            print ".PP\n.nf\n" roff(text[i]) > page
            filled = 0
        } else {
            if (!filled && text[i] !~ /^  /) { print ".fi" > page; filled = 1 }
            if (text[i] == "") { if (i < to && text[i + 1] !~ /^@param/) print ".PP" > page; parameters = 0 }
            else print roff(filled ? trim(text[i]) : text[i]) > page
        }
        if (text[i] ~ /^@param/) parameters = 1
    }
    if (!filled) print ".fi" > page
    parameters = 0
}
function man_field(page, title, s) { if (s != "" && s != "-") print ".TP\n.B " title "\n" roff(s) > page }
function man_page(    i, j, page, name, returns, names) {
    name = name_of(declaration[1])
    gsub(/_NAME|_OP/, "", name)
    page = out "/" name ".3"
    if (page in written) { print FILENAME ": two pages would be called " name > "/dev/stderr"; exit 1 }
    written[page] = 1
    for (i = 1; i <= declarations; i++) {
        names = names (i > 1 ? ", " : "") name_of(declaration[i])
        print name, name_of(declaration[i]) > name_of_list
    }
    print ".\\\" SPDX-License-" "Identifier: Apache-2.0" > page
    print ".\\\" Made from include/" FILENAME_shown " by scripts/reference.awk" > page
    print ".TH " name " 3 \"\" \"aclshmem " version "\" \"SHMEM\"\n.SH NAME\n" names " \\- " roff(sentence()) > page
    print ".SH SYNOPSIS\n.nf\n.B #include <shmem.h>\n.PP" > page
    for (i = 1; i <= declarations; i++) print ".B \"" roff(declaration[i]) "\"" > page
    print ".fi\n.SH DESCRIPTION" > page
    for (returns = 1; returns <= lines && text[returns] !~ /@return/; returns++) ;
    # A @return in the middle of a line belongs to that line
    if (returns <= lines && text[returns] !~ /^@return/) {
        held = text[returns]
        text[returns] = substr(held, 1, index(held, "@return") - 1)
        man_text(page, 1, returns)
        text[returns] = substr(held, index(held, "@return"))
    } else man_text(page, 1, returns - 1)
    if (returns <= lines) {
        print ".SH RETURN VALUE" > page
        sub(/^@return +/, "", text[returns])
        parameters = 1 # what is indented goes on, it is no example
        man_text(page, returns, lines)
    }
    print ".SH COMPLETION AND THREADS" > page
    man_field(page, "Who calls", value("who"))
    man_field(page, "Arguments may be reused", value("reuse"))
    man_field(page, "Complete", value("done"))
    man_field(page, "Threads", value("threads"))
    print ".SH NOTES\nFrom the head of\n.IR " FILENAME_shown "." > page
    print ".PP" > page
    for (i = 1; i <= header_lines; i++) text[i] = header[i]
    lines = header_lines
    man_text(page, 1, lines)
    print ".SH SEE ALSO\n.BR aclshmemrun (1),\n.BR aclshmem_info (1),\n.BR shmem_environment (7)" > page
    close(page)
}

# --- Walking through the file ---
function begin_comment_end(    i) { # a comment is complete
    comments++
    read_comment()
    if (comments == 2) {
        for (i in standard) delete standard[i]
        for (i in field) standard[i] = field[i]
        header_lines = lines
        for (i = 1; i <= lines; i++) header[i] = text[i]
        if (mode == "table") print "\n## " sentence() "\n\n`include/" FILENAME_shown "`\n\n| call | who calls | arguments may be reused | complete | threads |\n|---|---|---|---|---|"
        if (mode == "doxygen") {
            print "/**\n * @file"
            for (i = 2; i <= raws; i++) print raw[i]
            if (raws == 1) print " * " text[1] "\n */"
        }
        raws = 0
    } else if (comments == 1) {
        if (mode == "doxygen") print raw[1]
        raws = 0
    }
}
function end_block(    i) {
    if (raws == 0) { declarations = 0; return }
    if (declarations > 0) {
        read_comment()
        if (mode == "table") table_row()
        if (mode == "man") man_page()
    }
    if (mode == "doxygen") {
        if (declarations > 1) print "/**@{*/"
        if (declarations > 0) sub(/^\/\*+/, "/**", raw[1]) # one that stands alone stays a remark
        for (i = 1; i <= raws; i++) print raw[i]
        for (i = 1; i <= declarations; i++) print declaration[i]
        if (declarations > 1) print "/**@}*/"
    }
    raws = declarations = 0
}
function declare(s) {
    if (s !~ /ACLSHMEM_HOST_API/) return
    sub(/ACLSHMEM_HOST_API /, "", s)
    gsub(/ ?ACLSHMEM_DEFAULT_ARG\([A-Z_]*\)/, "", s)
    gsub(/[ \t]+/, " ", s)
    gsub(/\( /, "(", s)
    declaration[++declarations] = trim(s) ";"
}
function plain(line) {
    if (mode != "doxygen") return
    if (line ~ /\/\*[^*].*\*\/$/ && line !~ /^ *\/\*/) sub(/\/\* /, "/**< ", line)
    if (line ~ /^ +\/\*[^*]/) sub(/\/\*/, "/**", line)
    print line
}

FNR == 1 { FILENAME_shown = FILENAME; sub(/^.*include\//, "", FILENAME_shown); comments = raws = declarations = 0; inside = macro = 0; held_text = "" }
inside { raw[++raws] = $0; if (/\*\//) { inside = 0; begin_comment_end() } next }
/^\/\*/ {
    end_block()
    raws = 0
    raw[++raws] = $0
    if (/\*\//) begin_comment_end(); else inside = 1
    next
}
/^#define ACLSHMEM_DECLARE_/ { macro = 1; sub(/^#define [A-Z_]+\([^)]*\)/, "") }
macro || held_text != "" || /^ACLSHMEM_HOST_API/ {
    more = sub(/[ \t]*\\$/, "")
    if (macro) gsub(/##/, "")
    held_text = held_text " " $0
    while ((at = index(held_text, ";")) > 0) {
        declare(substr(held_text, 1, at - 1))
        held_text = substr(held_text, at + 1)
    }
    held_text = trim(held_text)
    if (macro && !more) { declare(held_text); held_text = ""; macro = 0 }
    next
}
/^#undef ACLSHMEM_|^ACLSHMEM_[A-Z0-9_]*FUNC\(/ { next }
mode == "doxygen" && /^ *XX\(/ {
    code = $0
    sub(/^ *XX\(/, "", code)
    split(code, part, /, */)
    match(code, /".*"/)
    errors = errors "    ACLSHMEM_" part[1] " = " part[2] ", /**< " substr(code, RSTART + 1, RLENGTH - 2) " */\n"
}
mode == "doxygen" && /^#define ACLSHMEM_ERROR_ENUM/ { next }
mode == "doxygen" && /ACLSHMEM_ERROR_MAP\(ACLSHMEM_ERROR_ENUM\)/ { printf "%s", errors; next }
/^$/ { end_block(); plain(""); next }
{
    # A definition takes its comment with it.
    if (declarations > 0) end_block()
    else if (raws > 0) { if (mode == "doxygen") { sub(/^\/\*+/, "/**", raw[1]); for (i = 1; i <= raws; i++) print raw[i] } raws = 0 }
    plain($0)
}
END { if (!failed) end_block(); exit failed }
