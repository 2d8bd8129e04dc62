#!/bin/sh
# Makes .venv beside this file, installs Second Brain into it, and starts the product or its gate.
# Safe to repeat, to start twice at once, and to call from any folder.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
venv=$here/.venv
stamp=$venv/.second-brain-installed
log=$venv/setup.log

usage() {
    cat <<'TEXT'
Usage: sh setup.sh run [VAULT] [QUESTION]   index VAULT (default: the demo vault) and answer QUESTION, or show the vault
       sh setup.sh test                     run every check of the project
       sh setup.sh help                     show this text

Both need Python 3.11 or newer. On Debian, Ubuntu and their kin a missing one is installed with apt-get.
Everything else goes into .venv beside this file; delete that folder to undo it.
TEXT
}

say() { printf 'setup: %s\n' "$*" >&2; }

die() { # MESSAGE WAY_OUT
    say "$1"
    say "$2"
    exit 1
}

# Runs a command with its output in the log. It inherits the lock, so that a killed setup keeps it until its pip has ended.
logged() {
    printf '$ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null
}

show_log() {
    say "the last lines of $log:"
    tail -n 15 "$log" | sed 's/^/    /' >&2
}

# --- one setup at a time ---------------------------------------------------------------------------------------------

lock() {
    if command -v flock >/dev/null 2>&1; then
        exec 9<"$here/setup.sh" # a lock on this very file leaves nothing behind, however the process ends
        flock -n 9 && return
        say "waiting for another setup of this folder to finish"
        flock 9
        return
    fi
    folder=$here/build/setup.lock
    mkdir -p "$here/build"
    if ! mkdir "$folder" 2>/dev/null; then
        say "waiting for another setup of this folder to finish (when there is none, delete $folder)"
        until mkdir "$folder" 2>/dev/null; do sleep 1; done
    fi
    lock_folder=$folder
    trap 'rmdir "$lock_folder"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

unlock() {
    exec 9<&-
    if [ -n "${lock_folder-}" ]; then
        rmdir "$lock_folder"
        trap - EXIT HUP INT TERM
    fi
}

# --- Python ----------------------------------------------------------------------------------------------------------

# Prints the first usable Python. Debian's python3 lacks ensurepip until python3-venv is there.
find_python() {
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

apt_install() {
    logged $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

# Installs what is missing as far as this system can; whether that was enough is for the caller to see.
install_packages() {
    command -v apt-get >/dev/null 2>&1 || return 0
    missing=
    find_python >/dev/null || missing="python3 python3-venv"
    [ -s /etc/ssl/certs/ca-certificates.crt ] || missing="${missing:+$missing }ca-certificates"
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            say "missing: $missing; only root can install them, and there is no sudo"
            return 0
        fi
        sudo -v || return 0
        as_root=sudo
    fi
    say "installing with apt-get: $missing"
    logged $as_root apt-get -o DPkg::Lock::Timeout=300 update || say "apt-get update failed; trying with the lists that are here"
    # shellcheck disable=SC2086 # a list of package names
    apt_install $missing || show_log
    find_python >/dev/null && return 0
    for version in 3.13 3.12 3.11; do # an older release may carry a newer Python beside its own
        if apt-cache show "python$version-venv" >/dev/null 2>&1; then
            say "installing with apt-get: python$version python$version-venv"
            apt_install "python$version" "python$version-venv" || show_log
            return 0
        fi
    done
}

# --- the environment -------------------------------------------------------------------------------------------------

# What the installation depends on; the folder counts because an editable install remembers it.
fingerprint() {
    { printf '%s\n' "$here" && cat "$here/pyproject.toml" "$here/constraints.txt"; } | cksum
}

# True when .venv was made here (its scripts hold absolute paths) and its Python is still the one it was made with.
venv_works() {
    grep -qF -- "-m venv $venv" "$venv/pyvenv.cfg" 2>/dev/null && "$venv/bin/python" -I -c 'import pip' >/dev/null 2>&1
}

installed() { # EXTRAS ("" or "dev"; an installation with "dev" serves both)
    [ -f "$stamp" ] || return 1
    found=$(cat "$stamp")
    [ "$found" = "$wanted $1" ] || [ "$found" = "$wanted dev" ] || return 1
    "$venv/bin/python" -I -c 'import second_brain' >/dev/null 2>&1
}

# Leaves an empty log, no stamp, and of .venv what can still be used.
clear_venv() {
    if ! venv_works; then rm -rf "$venv" || return; fi
    mkdir -p "$venv" && rm -f "$stamp" && (: >"$log")
}

make_venv() {
    python=$(find_python) || die "no Python 3.11 or newer with its venv and ensurepip modules was found" \
        "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), then start this again."
    say "making .venv with $("$python" --version)"
    if ! logged "$python" -m venv "$venv"; then
        show_log
        die "the virtual environment could not be made" "Delete $venv, see that the disk has room, then start this again."
    fi
}

install_project() { # EXTRAS
    say "installing Second Brain${1:+ and the tools of its gate} (the first time takes a minute or two)"
    cd "$here"
    if ! logged "$venv/bin/python" -m pip install --no-input --disable-pip-version-check --only-binary :all: \
        -c constraints.txt -e ".${1:+[$1]}"; then
        show_log
        die "pip could not install the packages" \
            "Check the network, the disk and pip's own settings (pip config list), then start this again: it goes on from there."
    fi
}

ensure_installed() { # EXTRAS
    wanted=$(fingerprint)
    if installed "$1"; then return; fi
    lock
    if ! installed "$1"; then # another setup may just have done it
        clear_venv || die "$venv cannot be written" "Use a folder that you may write to, on a disk with room."
        install_packages
        venv_works || make_venv
        (install_project "$1")
        printf '%s\n' "$wanted $1" >"$stamp"
    fi
    unlock
}

# --- commands --------------------------------------------------------------------------------------------------------

misuse() {
    say "$1"
    usage >&2
    exit 2
}

[ $# -gt 0 ] || misuse "say what to do"
command=$1
shift
case $command in
    help | -h | --help)
        usage
        exit 0
        ;;
    run)
        [ $# -le 2 ] || misuse "run takes a vault and one question; put the question in quotes"
        case ${1-} in -*) misuse "unknown option: $1" ;; esac
        extras=
        ;;
    test)
        [ $# -eq 0 ] || misuse "test takes no arguments, got: $*"
        extras=dev
        ;;
    *) misuse "unknown command: $command" ;;
esac

if [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ] && [ "$(uname)" != Darwin ]; then
    export QT_QPA_PLATFORM="${QT_QPA_PLATFORM:-offscreen}"
fi

ensure_installed "$extras"

if [ "$command" = run ]; then
    exec "$venv/bin/second-brain" try "$@"
fi
cd "$here"
exec "$venv/bin/python" tests/gate.py
