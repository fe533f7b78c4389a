#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adds judged results to the history on its branch:
#   cmake/ci/append.sh RESULTS [STORE]
# HOLDFAST is the command, HISTORY_REMOTE the branch's remote (default: origin), HISTORY_BRANCH the measured branch.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# //p' "${BASH_SOURCE[0]}"
  exit 0
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=${1:?name the results root, e.g. build/release/results}
store=${2:-build/history}
holdfast=${HOLDFAST:-build/release/bin/holdfast}
remote=${HISTORY_REMOTE:-origin}

facts=()
[ -z "${HISTORY_BRANCH:-}" ] || facts+=("--branch=$HISTORY_BRANCH")
[ -z "${GITHUB_RUN_ID:-}" ] ||
  facts+=("--ci=${GITHUB_SERVER_URL:?}/${GITHUB_REPOSITORY:?}/actions/runs/$GITHUB_RUN_ID")
# shellcheck source=cmake/ci/git_token.sh
. "$here/git_token.sh"
"$holdfast" history fetch --store="$store" --remote="$remote"
"$holdfast" history append "$results" --store="$store" "${facts[@]}"
"$holdfast" history push --store="$store" --remote="$remote"
