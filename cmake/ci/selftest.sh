#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares suites of a build with themselves, as the nightly workflow does; the outcome lies beside their host results:
#   cmake/ci/selftest.sh RESULTS [SUITE...]       (by default all suites with results of the host)
# BUILD is the build (default: build/release), TIER the cases (default: smoke), TRIALS the decisions of a suite (default: 20)
# and BUDGET the seconds of each (default: 15). The outcome is RESULTS/<device class>/<suite>.selftest.json, which enters
# the history with the results; <suite>.selftest.txt has each decision. Fails, after all suites, if one has more false
# alarms than its comparisons allow, or could not be tested.
set -euo pipefail
results=${1:?name the results root, e.g. build/release/results}
shift
build=${BUILD:-build/release}
trials=${TRIALS:-20}
budget=${BUDGET:-15}
# A decision ends with the pair of processes in which its budget runs out.
limit=$((trials * 2 * budget + 300))

shopt -s nullglob
status=0
tested=()
for file in "$results"/host-*/*.json; do
  suite=$(basename "$file" .json)
  [[ $suite != *.* ]] || continue # a list, or an older self-test
  [[ $# = 0 || " $* " == *" $suite "* ]] || continue
  tested+=("$suite")
  beside=${file%.json}.selftest
  code=0
  timeout --kill-after=60 "$limit" "$build/bin/holdfast" ab "$build/bin/$suite" --selftest --device=host \
    --tier="${TIER:-smoke}" --trials="$trials" --budget="$budget" --out="$beside.json" > "$beside.txt" || code=$?
  cat "$beside.txt"
  said=$(grep '^A against A' "$beside.txt" || true)
  case $code in
    0) ;;
    4) said+=" (nothing was decided: the machine is too busy)" ;;
    124) said="no end within $limit s" ;;
    *) said=${said:-"could not be tested (exit $code)"} ;;
  esac
  [ -z "${GITHUB_STEP_SUMMARY:-}" ] || echo "- $suite: $said" >> "$GITHUB_STEP_SUMMARY"
  [[ $code = 0 || $code = 4 ]] && continue
  echo "selftest: $suite: $said" >&2
  status=$code
done
missing=()
for suite in "$@"; do [[ " ${tested[*]} " == *" $suite "* ]] || missing+=("$suite"); done
if [ ${#tested[@]} = 0 ] || [ ${#missing[@]} != 0 ]; then
  echo "selftest: $results has no results of the host${missing:+ for ${missing[*]}}; measure first: cmake/ci/measure.sh" >&2
  exit 3
fi
exit $status
