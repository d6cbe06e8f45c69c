#!/bin/sh
# Makes .venv or brings it up to date: `sh .ci/venv.sh run` to run the server, `... dev` to test and check too.
#
# .venv/.installed says for what it was made; it is written last, so an interrupted installation is seen and
# made anew. A second run with nothing to do ends at once.
set -eu
cd "$(dirname "$0")/.."
kind=${1:-run}
stamp=.venv/.installed
unfinished=.venv/.installing

usable='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))'
has_venv='import ensurepip, venv'

wanted() { # what .venv depends on: the two files, and where it lies (its programs name the path)
    { pwd; cat pyproject.toml constraints.txt; } | cksum
}

up_to_date() {
    [ -f "$stamp" ] && .venv/bin/python -c "$usable" 2>/dev/null || return 1
    case "$(cat "$stamp")" in
        "dev $(wanted)") return 0 ;;
        "run $(wanted)") [ "$kind" = run ] ;;
        *) return 1 ;;
    esac
}

find_python() { # prints the first usable interpreter, or says what is missing
    lacks_venv=
    for candidate in ${PYTHON:+"$PYTHON"} python3.14 python3.13 python3.12 python3.11 python3 python; do
        "$candidate" -c "$usable" >/dev/null 2>&1 || continue
        if "$candidate" -c "$has_venv" >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
        lacks_venv=${lacks_venv:-$candidate}
    done
    if [ -n "$lacks_venv" ]; then
        echo "make: $lacks_venv lacks the module venv; on Debian and Ubuntu: apt-get install python3-venv" >&2
    else
        echo "make: expected Python 3.11 to 3.14 on the PATH, got none; name one by: make serve PYTHON=/path/to/python3" >&2
    fi
    return 1
}

remake() {
    python=$(find_python) || exit 2
    echo "== making .venv with $("$python" --version)"
    rm -rf .venv
    mkdir .venv
    : >"$unfinished"
    "$python" -m venv .venv
}

if up_to_date; then exit 0; fi

# One at a time: a second `make` waits for the first. The lock lies on a file that is always there.
exec 9<"$PWD/.ci/venv.sh"
if command -v flock >/dev/null 2>&1; then
    flock -n 9 || { echo "== waiting for another make to finish installing"; flock 9; }
fi
if up_to_date; then exit 0; fi

if [ -e "$unfinished" ] || ! .venv/bin/python -c "$usable; import pip" 2>/dev/null; then remake; fi
: >"$unfinished"
rm -f "$stamp"
echo "== installing what Plyground needs into .venv (a minute or two the first time)"
target=.
if [ "$kind" = dev ]; then target=".[dev]"; fi
if ! .venv/bin/python -m pip install --disable-pip-version-check -c constraints.txt -e "$target" 9<&-; then
    echo "make: the installation failed, see above; run the same command again to retry" >&2
    exit 2
fi
echo "$kind $(wanted)" >"$stamp"
rm -f "$unfinished"
echo "== .venv is ready"
