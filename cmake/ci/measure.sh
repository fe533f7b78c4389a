#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures and judges suites of a build, as nights do:
#   cmake/ci/measure.sh TIER RESULTS [SUITE...]       (all suites of the build by default)
# BUILD is the build (default: build/release), DEVICES what to measure on (default: host cuda-dry:sm_90). The exit code is
# the gate's; what could not be measured fails as well.
set -euo pipefail
tier=${1:?name the tier: smoke, gate or full}
results=${2:?name the folder that receives the results}
shift 2
build=${BUILD:-build/release}
read -ra devices <<< "${DEVICES:-host cuda-dry:sm_90}"
suites=("$@")
if [ ${#suites[@]} = 0 ]; then
  for list in "$build"/bin/*.list.json; do suites+=("$(basename "$list" .list.json)"); done
fi

for device in "${devices[@]}"; do
  for suite in "${suites[@]}"; do
    "$build/bin/holdfast" run "$suite" --device="$device" --tier="$tier" --out="$results"
  done
done
"$build/bin/holdfast" check "$results" --baselines=baselines --undecided=warn
