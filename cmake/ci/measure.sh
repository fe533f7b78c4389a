#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures and judges suites of a build, as the nightly workflow does:
#   cmake/ci/measure.sh TIER RESULTS [SUITE...]       (by default all suites of the build, on the devices that they have cases for)
# BUILD is the build (default: build/release), DEVICES what to measure on (default: host cuda-dry:sm_90). The exit code is
# the gate's; what could not be measured fails as well, after all the others have been measured and judged.
set -euo pipefail
tier=${1:?name the tier: smoke, gate or full}
results=${2:?name the folder that receives the results}
shift 2
build=${BUILD:-build/release}
read -ra devices <<< "${DEVICES:-host cuda-dry:sm_90}"
named=("$@")
if [ ${#devices[@]} = 0 ]; then
  echo "measure: DEVICES='$DEVICES' names no device" >&2
  exit 3
fi

# Suites of the build with a case of this tier for a device; a larger tier includes the smaller ones.
with_cases_for() {
  python3 - "$1" "$tier" "$build"/bin/*.list.json <<'END'
import json, pathlib, sys
device, tier, *lists = sys.argv[1:]
kind = device.partition(":")[0]  # cuda-dry:sm_90 -> cuda-dry
tiers = ("smoke", "gate", "full")
for path in map(pathlib.Path, lists):
    cases = json.loads(path.read_text("utf-8"))["cases"]
    if any(kind in case["devices"] and tiers.index(case["tier"]) <= tiers.index(tier) for case in cases):
        print(path.name.removesuffix(".list.json"))
END
}

status=0
for device in "${devices[@]}"; do
  suites=("${named[@]}")
  if [ ${#named[@]} = 0 ]; then
    listed=$(with_cases_for "$device")
    mapfile -t suites < <(printf '%s' "${listed:+$listed$'\n'}")
  fi
  if [ ${#suites[@]} = 0 ]; then
    echo "measure: no suite of $build has a case of the tier $tier for $device; is the device spelled so?" >&2
    status=3
  fi
  for suite in "${suites[@]}"; do
    "$build/bin/holdfast" run "$suite" --device="$device" --tier="$tier" --out="$results" || status=$?
  done
done
"$build/bin/holdfast" check "$results" --baselines=baselines --undecided=warn || exit $?
exit $status
