# What the runs of editors in a terminal share; they set `here` and `root`. The editor tells in the file $DAPPLE_REPORT what has happened; its last line is "passed",
# or what failed.

# Installs packages of Debian's.
install_packages() {
    local root=()
    if [ "$(id -u)" -ne 0 ]; then root=(sudo -n); fi
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Makes a folder for the run NAME, with the adapter on the PATH, a user without configuration, and a program to debug.
prepare() {
    work=$root/target/e2e/$1
    rm -rf "$work"
    mkdir -p "$work/bin" "$work/home"
    if [ -z "${DAPPLE:-}" ]; then
        (cd "$root" && cargo build --package dapple-cli --bin dapple)
        DAPPLE=${CARGO_TARGET_DIR:-$root/target}/debug/dapple
    fi
    ln -s "$(realpath "$DAPPLE")" "$work/bin/dapple"
    rustc -g --edition 2024 -o "$work/tour" "$root/fixtures/tour.rs"
    export DAPPLE_PROGRAM=$work/tour DAPPLE_SOURCE=$root/fixtures/tour.rs DAPPLE_REPORT=$work/report
}

# The first block of LANGUAGE behind HEADING in PAGE: what users paste.
page_text() {
    awk -v heading="$2" -v fence="\`\`\`$3" '
        $0 == heading { here = 1 }
        here && $0 == "```" && inside { found = 1; exit }
        inside { print }
        here && $0 == fence { inside = 1 }
        END { exit !found }
    ' "$1"
}

# Runs an editor in a terminal of its own, with a user's folder of its own.
in_terminal() {
    local command
    command=$(printf '%q ' "$@")
    HOME=$work/home PATH="$work/bin:$PATH" TERM=xterm \
        timeout 120 script --quiet --return --command "$command" "$work/screen" </dev/null >/dev/null || true
}

# Says how it went, and that nothing of the session is left.
finish() {
    cat "$DAPPLE_REPORT" || echo 'the editor has told nothing'
    local left
    left=$(find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$DAPPLE_PROGRAM*" 2>/dev/null || true)
    if [ -n "$left" ]; then
        echo "the program is left: $left"
        exit 1
    fi
    [ "$(tail -n 1 "$DAPPLE_REPORT")" = passed ]
}
