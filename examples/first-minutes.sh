#!/bin/sh
# The first fifteen minutes with the program, as a script: each command, its output and its time.
#
#   sh examples/first-minutes.sh [PYTHON]
#
# It installs this repository into a new environment in a temporary folder, with python3 or the
# Python that is given (3.11 or later), and removes the folder afterwards. Pip needs a package
# index or a warm cache; everything after it needs no network. On two processors that
# several other programs used it took 150 s on Python 3.11.7 (101 s of them the installation) and
# 116 s on 3.13.0 (75 s), with the same digests.
set -eu

python=${1:-python3}
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
begun=$(date +%s)

# Print a command, run it, and print how long it took.
step() {
    printf '\n$ %s\n' "$*"
    start=$(date +%s)
    code=0
    "$@" || code=$?
    printf '(%d s)\n' $(($(date +%s) - start))
    return $code
}

step "$python" --version
step "$python" -m venv env
step env/bin/python -m pip install --quiet --disable-pip-version-check -c "$source/constraints.txt" "$source"
PATH="$work/env/bin:$PATH"

# A first society, and what happened in it.
step society --version
step society list
step society run quickstart
step society show runs/quickstart-1
step society transcript runs/quickstart-1

# The same again is recognised, and a replay gives the same digest.
step society run quickstart
step society replay runs/quickstart-1
step society doctor runs/quickstart-1

# A scenario of one's own: write it, make a mistake, put it right, run it.
step society new mine
step society check mine.yaml --set protocol.turnz=3 || echo "(exit code $?: the message names the key)"
step society check mine.yaml
step society run mine.yaml --out runs/mine
step society show runs/mine

# A question: what happens to the same society when its three best-connected leave in the middle?
step society fork runs/quickstart-1 --at 26w --remove degree:3 --out runs/without
step society show runs/without
step society list runs

printf '\nEverything together: %d s\n' $(($(date +%s) - begun))
