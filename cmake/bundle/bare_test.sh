#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bare_test.sh ARCHIVE: unpacks a bundle into an empty folder and holds it, with an empty environment, to what it promises.
# Fails with the sentence of the first promise that is broken.
set -euo pipefail

archive=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
tar -xzf "$archive" -C "$place"
bundle=$place/$(basename "$archive" .tar.gz)
cd "$bundle"

fail() {
  echo "bundle: $1" >&2
  exit 1
}
bare() {  # COMMAND...: with the bundle's environment and nothing of this one
  env -i PATH=/usr/bin:/bin HOME="$place" ${CUDA_HOME:+CUDA_HOME="$CUDA_HOME"} \
    bash -c '. ./environment.sh && "$@"' bash "$@"
}
nvrtc_runs() {  # SUITE: with the device code that lies in kernels/
  bare env HOLDFAST_SOURCES=kernels "$1" --device=cuda-dry:sm_90 --tier=smoke --out="$place/sources.json" > /dev/null
  tr -d ' \n' < "$place/sources.json" | grep -oE '"nvrtc_runs":\{[^}]*\}'
}

! tar -tvzf "$archive" | grep -v '^.....-..-. root/root ' || fail "packed files may be written to by others, or are not root's"

# What CUDA and the C library are is the machine's; all else comes from the bundle, whatever this machine has installed.
for program in bin/* tests/*; do
  [[ $program != *.json ]] || continue
  needed=$(bare ldd "$program") || fail "the loader refuses $program"
  ! grep 'not found' <<< "$needed" || fail "$program lacks a library"
  while read -r library _ path _; do
    [[ $path == /* ]] || continue
    [[ $library =~ ^lib(c|m|mvec|dl|pthread|rt)\.so\.[0-9]+$ ]] && continue
    grep -qx "$library" lib/cuda-libraries && continue
    [[ $(realpath "$path") == "$bundle"/lib/* ]] || fail "$program takes $library from $path, outside the bundle"
  done <<< "$needed"
done
while read -r library; do
  [ ! -e "lib/$library" ] || fail "lib/ holds $library, which is the machine's"
done < lib/cuda-libraries

# A library that programs open at run time is missed before they start.
cp lib/cuda-libraries "$place"
echo libnobody.so.13 >> lib/cuda-libraries
! said=$(bare true 2>&1) || fail "a library that this machine lacks is not missed"
[[ $said == *libnobody.so.13* ]] || fail "what this machine lacks is not named: $said"
mv "$place/cuda-libraries" lib

bare holdfast --help > help.txt || fail "holdfast --help fails"
mapfile -t suites < <(basename -a -s .list.json bin/*.list.json)
for suite in "${suites[@]}"; do
  bare "$suite" --tier=smoke --out="$place/host-$suite.json" > /dev/null || fail "$suite --tier=smoke fails on the host"
  bare "$suite" --device=cuda-dry:sm_90 --tier=smoke --out="$place/dry-$suite.json" > /dev/null ||
    fail "$suite --tier=smoke fails on cuda-dry:sm_90"
  runs=$(tr -d ' \n' < "$place/dry-$suite.json" | grep -oE '"nvrtc_runs":\{[^}]*\}') ||
    fail "$suite says nothing about nvrtc_runs"
  ! grep -v '"value":0}' <<< "$runs" || fail "$suite runs NVRTC although the bundle holds its programs"
  # Packed device code is what the programs were compiled from.
  runs=$(nvrtc_runs "$suite")
  ! grep -v '"value":0}' <<< "$runs" || fail "kernels/ does not hold what $suite was built from"
done
echo '// tuned' >> kernels/cubed_sphere_swe/device/optimized.cu
grep -q '"value":1}' <<< "$(nvrtc_runs cubed_sphere_swe)" || fail "HOLDFAST_SOURCES=kernels does not compile what was changed"

# The tour without a GPU: each step ends well, or says why it is skipped.
code=0
bare ./run.sh --device=cuda-dry:sm_90 --quick --out="$place/tour" || code=$?
if [ $code -ne 0 ]; then
  while read -r step status _; do
    [ "$status" != failed ] || tail -n 20 "$place/tour/logs/$step.log"
  done < "$place/tour/summary.txt"
  fail "the tour on cuda-dry:sm_90 ends with $code"
fi
[ "$(grep -c '"status": "well"' "$place/tour/summary.json")" -eq 7 ] || fail "a step of the tour is skipped without need"
for family in "$place"/tour/full/*/; do
  [ -f "$family/verdict.json" ] || fail "the larger sizes of $(basename "$family") are measured and not judged"
done
bare holdfast run "${suites[@]}" --device=cuda-dry:sm_90 --out="$place/gate" > /dev/null
bare holdfast check "$place/gate" --baselines=baselines --require-baseline --quiet ||
  fail "the gate tier does not agree with the bundle's own baselines"

# CUPTI's counts against the ledger, on what a device could have said of a computation of 3 launches and 7 before.
profile() {  # FOLDER STEPS KERNELS [DROPPED [D2D]]
  mkdir -p "$place/$1"
  cat > "$place/$1/case.optimized.profile.json" << END
{
 "device_counts": {
  "copied_bytes_d2d": $((64 * $2)), "copied_bytes_d2h": 8, "copied_bytes_h2d": 4096, "jit_runs": 0, "kernels": $3,
  "memory_peak_bytes": 2097152, "modules_loaded": 1
 },
 "dropped": ${4:-0},
 "memory": {"peak_bytes": 1048576, "peak_by_site": {"state": 1048576}},
 "overview": {"d2h_bytes": 0, "h2d_bytes": 0, "launches": 3, "library_calls": 0, "programs": 0},
 "steps": $2,
 "transfers": {"d2d": {"bytes": ${5:-$((64 * $2))}, "count": $2}, "h2d": {"bytes": 0, "count": 0}}
}
END
}
profile fewer 5 22
profile more 15 52
./compare_counts.sh "$place/fewer" "$place/more" || fail "counts that agree are told to differ"
profile more 15 52 0 700
! ./compare_counts.sh "$place/fewer" "$place/more" || fail "bytes copied on the device that differ are not seen"
profile more 15 52 7 700
grep -q ', 1 without copies on the device, .* agree' <<< "$(./compare_counts.sh "$place/fewer" "$place/more")" ||
  fail "what a profile does not hold is told to differ, or not told"
cp "$place/more/case.optimized.profile.json" "$place/more/other.optimized.profile.json"
! ./compare_counts.sh "$place/fewer" "$place/more" 2> /dev/null || fail "a profile that only one folder holds is not missed"
rm "$place/more/other.optimized.profile.json"
profile more 15 53
! ./compare_counts.sh "$place/fewer" "$place/more" || fail "one kernel too many is not seen"
echo "bundle: keeps what it promises"
