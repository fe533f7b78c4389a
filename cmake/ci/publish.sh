#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the site from the history on its branch:
#   cmake/ci/publish.sh OUT [STORE]
# HOLDFAST is the command, HISTORY_REMOTE the branch's remote (default: origin).
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# //p' "${BASH_SOURCE[0]}"
  exit 0
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${1:?name the folder that receives the site}
store=${2:-build/history}
holdfast=${HOLDFAST:-$root/build/release/bin/holdfast}
python=$root/.venv/bin/python3

# shellcheck source=cmake/ci/git_token.sh
. "$root/cmake/ci/git_token.sh"
"$holdfast" history fetch --store="$store" --remote="${HISTORY_REMOTE:-origin}"
# What git keeps in the store is no history; hidden folders above the store say nothing.
if [ -z "$(cd "$store" && find . -name '*.ndjson' -not -path '*/.*' -print -quit)" ]; then
  echo "::warning title=holdfast::there is no history yet; the nightly workflow begins it"
  exit 3
fi
PYTHONPATH=$root/reporting "$python" -m holdfast_report site --store="$store" --out="$out" --holdfast="$holdfast"
