#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# steps.sh STEP: takes one step of the tour, as run.sh starts it, under a limit of time. The last line that a step prints is
# what the summary says of it. What run.sh exports: bundle, out, device, quick, seconds (the limit), case_seconds (the limit
# of a case or of a program), and again: yes where an earlier call began the step, which then goes on with what it left.
# shellcheck disable=SC2154,SC2317  # exported by run.sh; called by their names
set -uo pipefail
# shellcheck source=cmake/bundle/tour/codes.sh
. "$bundle/tour/codes.sh"
# A stopped step ends when its running programs, which are stopped as well, have ended.
trap 'wait; exit 143' TERM

place=$out/$1
mkdir -p "$place/.parts"
dry=no tier=gate largest=full processes=() resume=()
[[ $device != cuda-dry:* ]] || dry=yes
if [ "$quick" = yes ]; then tier=smoke largest=smoke processes=(--processes=1); fi
[ "$again" = no ] || resume=(--resume)
mapfile -t suites < <(basename -a -s .list.json "$bundle"/bin/*.list.json)

# The plain formulation of a workload that has one: as large as its users' own, or as the largest with a published result.
declare -A beside=(
  [clusterless_kde]=--size=large [cubed_sphere_swe]=--n=384 [galaxy_shear]=--psf=moffat [gpt_train]=--model=small
  [xpcs_fit]=--size=l
)

# Which cases are checked for races, if not all: a loop launches a step's kernels a hundred times, which would take minutes.
declare -A raced=([cubed_sphere_swe]='/(rhs|rk4_step)/')

# ---- what steps are made of ----

# Runs and shows a part of the step, and keeps the worst exit code in `code`. Parts that finished before an earlier call was
# stopped are not repeated.
code=0 room=1
part() {  # NAME COMMAND...
  local name=$1 kept=$place/.parts/$1 result=0
  shift
  if [ ! -f "$kept" ]; then
    if [ "$room" -gt 1 ]; then
      until [ "$(jobs -rp | wc -l)" -lt "$room" ]; do wait -n; done
      room=1 part "$name" "$@" 2>&1 | sed "s/^/$name: /" &
      return
    fi
    printf '$'
    printf ' %q' "$@"
    echo
    "$@" || result=$?
    as_code "$result" > "$kept"
  fi
  result=$(< "$kept")
  code=$(worse "$code" "$result")
  [ "$result" -eq 0 ]
}

# Whether a GPU serves one process at a time.
is_exclusive() {
  nvidia-smi --query-gpu=compute_mode --format=csv,noheader 2> /dev/null | grep -q Exclusive
}

# Runs parts that time nothing: on a short visit beside one another, one for two CPUs, each line of theirs under its part's
# name. Their codes are taken, in their order, when all have ended.
at_once() {  # COMMAND...: consists of parts
  [ "$seconds" -ge 600 ] || is_exclusive || room=$(($(nproc) / 2)) "$@"
  wait
  "$@"
}

# Runs a program that has no time limits of its own, within that of a case.
within() {  # COMMAND...
  timeout --foreground --kill-after=5 "$case_seconds" "$@"
}

# Runs a program that takes the first GPU that it sees.
on_gpu() {  # COMMAND...
  local visible=() ordinal=${device#cuda:}
  [[ $device == cuda:* ]] || { "$@"; return; }
  IFS=, read -ra visible <<< "${CUDA_VISIBLE_DEVICES:-}"
  CUDA_VISIBLE_DEVICES=${visible[ordinal]:-$ordinal} "$@"
}

into() {  # FILE COMMAND...
  "${@:2}" 2>&1 | tee "$1"
}

# Measures a suite in processes of its own: a case that hangs or crashes costs only itself.
measure() {  # ROOT DEVICE TIER SUITE [option of holdfast run]...
  holdfast run "$4" --device="$2" --tier="$3" --timeout="$case_seconds" --out="$1" "${resume[@]}" "${@:5}"
}
judge() {  # ROOT
  holdfast check "$1" --baselines="$bundle/baselines" --undecided=warn
}

# Skips a step that this machine cannot run.
skip() {
  echo "$*"
  exit 77
}
needs_gpu() {
  [ "$dry" = no ] || skip "$1"
}

# ---- the steps ----

step_smoke() {
  local suite
  for suite in "${suites[@]}"; do
    part "$suite" measure "$place" "$device" smoke "$suite" --processes=1
    [ "$code" -ne 77 ] || return
  done
  part judge judge "$place"
}

step_gpu_tests() {
  local test name failed='' skipped
  needs_gpu "nothing is executed on $device"
  for test in "$bundle"/tests/*; do
    name=$(basename "$test")
    GTEST_OUTPUT="xml:$place/$name.xml" part "$name" on_gpu within "$test" || failed+=" $name"
  done
  skipped=$(cat "$place"/*.xml | grep -c 'result="skipped"')
  echo "$([ -n "$failed" ] && echo "failed:$failed" || echo "no test fails"), $skipped are skipped (gpu_tests/)"
}

# What a gate was measured with: one of another device, tier or bundle cannot be compared.
what_is_measured() {
  echo "$device $tier $(cksum < "$bundle/bin/content.json")"
}
# Nor can one that could not be judged or was incomplete.
is_whole_gate() {  # ROOT
  [ "$(cat "$1/.parts/of" 2> /dev/null)" = "$(what_is_measured)" ] &&
    [[ $(cat "$1/.parts/judge" 2> /dev/null) =~ ^[014]$ ]]
}

of_device() {  # ROOT KEY PATTERN: what its first result says of the device
  grep -rhoE "\"$2\": *\"?$3" "$1" | head -n 1 | grep -oE "$3\$"
}

# Passes over differences where the two devices have different numbers of multiprocessors, by which grids and work areas are
# sized; not over a case that is on one side alone or has no right result.
compare_folders() {  # REPORT REAL DRY
  local result=0
  into "$1" holdfast diff "$2" "$3" || result=$?
  if [ "$result" -eq 1 ] && [ -n "$otherwise_sized" ] && ! grep -q '^  only in\|: only in\|^  no result' "$1"; then
    result=0
  fi
  return "$result"
}

# Compares the gate that was already run; if there is none, or it is incomplete, each suite is measured once.
step_dry_equals_real() {
  local suite architecture=${device#cuda-dry:} real=$out/gate_1 report=$place/differences.txt
  local of_real of_dry otherwise_sized=''
  if ! is_whole_gate "$real"; then
    real=$place/real
    for suite in "${suites[@]}"; do
      part "$suite.real" measure "$real" "$device" "$tier" "$suite" --processes=1
    done
  fi
  if [ "$dry" = no ]; then
    architecture=$(of_device "$real" sm 'sm_[0-9]+')
    [ -n "$architecture" ] || { echo "no result says which architecture the GPU has"; code=3; return; }
    if ! holdfast list "${suites[0]}" --device="cuda-dry:$architecture" > /dev/null; then
      echo "cuda-dry has no $architecture, so there is nothing to compare this GPU with"
      code=$(worse "$code" 77)
      return
    fi
  fi
  for suite in "${suites[@]}"; do
    part "$suite.dry" measure "$place/dry" "cuda-dry:$architecture" "$tier" "$suite"
  done
  of_real=$(of_device "$real" sms '[0-9]+') of_dry=$(of_device "$place/dry" sms '[0-9]+')
  [ -z "$of_real" ] || [ -z "$of_dry" ] || [ "$of_real" = "$of_dry" ] ||
    otherwise_sized="; this GPU has $of_real multiprocessors, the dry device $of_dry: what is sized by them differs"
  part diff compare_folders "$report" "$real" "$place/dry"
  echo "$device against cuda-dry:$architecture: $(grep -c '^  differs' "$report") counts or code metrics differ," \
    "$(grep -c '^  only in\|: only in' "$report") cases or suites are on one side alone" \
    "(dry_equals_real/differences.txt)$otherwise_sized"
}

count_each() {
  local suite to
  for suite in "${suites[@]}"; do
    for to in fewer=5 more=15; do
      part "$suite.${to%=*}" within "$suite" --device="$device" --tier="$tier" --variant=both \
        --profile="$place/${to%=*}" --profile-steps="${to#*=}"
    done
  done
}
step_counts() {
  needs_gpu "CUPTI counts nothing on $device"
  at_once count_each
  part compare "$bundle/compare_counts.sh" "$place/fewer" "$place/more"
}

# On a short visit each suite runs in one process, which takes a minute for the largest. On a longer one the budget limits
# three gates: no process of a suite begins after its share.
step_gate() {
  local suite share=$((seconds * 8 / 10 / ${#suites[@]}))
  [ "$seconds" -ge 600 ] || processes=(--processes=1)
  [ ${#processes[@]} -gt 0 ] || processes=(--budget=$((share > 120 ? 120 : share)))
  what_is_measured > "$place/.parts/of"
  for suite in "${suites[@]}"; do
    part "$suite" measure "$place" "$device" "$tier" "$suite" "${processes[@]}"
  done
  part judge judge "$place"
}
step_gate_1() { step_gate; }
step_gate_2() { step_gate; }
step_gate_3() { step_gate; }

# JAX brings its own CUDA libraries, while the suites use the machine's: each must find only its own.
step_side_by_side() {
  local python suite own compared=0
  needs_gpu "nothing is executed on $device"
  python=$(type -P python3) || skip "this machine has no python3, so there is no JAX to compare with"
  LD_LIBRARY_PATH=${holdfast_libraries_before:-} "$python" -c 'import numpy, jax' || skip "$python has no JAX to compare with: activate an environment that has it"
  for suite in "${suites[@]}"; do
    [ -n "${beside[$suite]:-}" ] || continue
    own=$place/.parts/$suite.sh
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "${LD_LIBRARY_PATH:-}" "$bundle/bin/$suite" > "$own"
    chmod +x "$own"
    part "$suite" into "$place/$suite.txt" on_gpu within env LD_LIBRARY_PATH="${holdfast_libraries_before:-}" \
      "$python" "$bundle/side_by_side/$suite.py" --library=jax --device=cuda --budget=5 --suite="$own" "${beside[$suite]}" &&
      compared=$((compared + 1))
  done
  echo "$compared of ${#suites[@]} workloads are timed in turn with a plain formulation in JAX (side_by_side/)"
}

# Cases are built, checked and stepped once, but not timed: that takes minutes under such a tool. The OpenMP setting keeps a
# suite from restarting itself under the tool. Races are searched only in optimized variants, whose threads share memory; a
# reference launches up to hundreds of kernels per step, each slowed down by the tool.
watch_each() {  # SANITIZER TOOL
  local suite variant=both some
  [ "$2" != racecheck ] || variant=optimized
  for suite in "${suites[@]}"; do
    some=''
    [ "$2" != racecheck ] || some=${raced[$suite]:-}
    GOMP_SPINCOUNT=1000 part "$suite" within "$1" --tool "$2" --target-processes all --error-exitcode 1 \
      --log-file "$place/$suite.txt" "$bundle/bin/$suite" --device="$device" --tier=smoke --variant="$variant" \
      --memory-profile="$place/.parts/$suite.memory" --profile-steps=1 ${some:+--filter="$some"}
  done
}
sanitize() {  # TOOL
  local sanitizer suite complaints silent=0
  needs_gpu "compute-sanitizer watches nothing on $device"
  sanitizer=$(PATH=${holdfast_cuda:+$holdfast_cuda/bin:$holdfast_cuda/compute-sanitizer:}$PATH type -P compute-sanitizer) ||
    skip "this machine has no compute-sanitizer, neither in PATH nor in ${holdfast_cuda:-/usr/local/cuda}"
  at_once watch_each "$sanitizer" "$1"
  complaints=$(grep -ls 'ERROR SUMMARY: [1-9]\|RACECHECK SUMMARY: [1-9]' "$place"/*.txt | wc -l)
  for suite in "${suites[@]}"; do
    grep -qs 'SUMMARY: ' "$place/$suite.txt" || silent=$((silent + 1))
  done
  [ "$silent" -eq 0 ] || code=$(worse "$code" 3)
  echo "$1 complains about $complaints of $((${#suites[@]} - silent)) suites, $silent did not end ($1/)"
}
step_memcheck() { sanitize memcheck; }
step_racecheck() { sanitize racecheck; }

# Every process calibrates: the ceilings are in its result file.
step_calibrations() {
  local i suite=${suites[0]} first
  needs_gpu "a device that executes nothing has no ceilings"
  first=$("$suite" --list | grep -m 1 "^smoke.*[[ ]cuda[],]" | tr -s ' ' | cut -d ' ' -f 2)
  for i in 1 2 3; do
    part "$i" within "$suite" --device="$device" --tier=smoke --filter="^$first\$" --out="$place/$i.json"
    sed -n '/^ "ceilings": {/,/^ },\{0,1\}$/p' "$place/$i.json" | tee "$place/ceilings-$i.txt"
  done
  echo "three sets of ceilings (calibrations/ceilings-*.txt)"
}

step_profiles() {
  local suite to sampled=()
  for suite in "${suites[@]}"; do
    to=$place/$suite
    [ "$dry" = yes ] || sampled=(--nvml-log="$place/$suite.nvml.csv")
    part "$suite" within "$suite" --device="$device" --tier="$tier" --variant=both --profile="$to" --trace="$to" \
      --memory-profile="$to" --dump-kernels="$to" "${sampled[@]}"
  done
  echo "$(find "$place" -name '*.profile.json' | wc -l) profiles, with traces for https://ui.perfetto.dev (profiles/)"
}

# The ids of a suite's largest cases that the device has.
largest_cases() {  # SUITE
  local kind='[[ ]cuda[],]'
  [ "$dry" = no ] || kind='[[ ]cuda-dry[],]'
  "$1" --list | grep "^$largest .*$kind" | tr -s ' ' | cut -d ' ' -f 2
}

# Runs family by family, each judged at once in its own root, so that a slow family costs no other its verdict. The suites
# take turns, so that a stopped step has covered some of each. What a whole gate has measured is left out, from the step's
# begin to its end.
step_full() {
  local suite family root judged=0 failed='' families cases beyond=$place/.parts/beyond_the_gate
  if [ "$again" = no ] && is_whole_gate "$out/gate_1"; then touch "$beyond"; fi
  families=$(for suite in "${suites[@]}"; do
    largest_cases "$suite" | cut -d / -f 2 | sort -u |
      awk -v suite="$suite" '{ print NR, suite, $0 } END { exit NR == 0 }' || echo "0 $suite -"
  done | sort -n)
  while read -r _ suite family; do
    if [ "$family" = - ]; then
      code=$(worse "$code" 3) failed+=" $suite, which lists no such cases"
      continue
    fi
    root=$place/$suite.$family cases="^$suite/$family/"
    [ ! -e "$beyond" ] || cases="^($(largest_cases "$suite" | grep "$cases" | paste -s -d '|'))\$"
    part "$suite.$family" measure "$root" "$device" "$largest" "$suite" --filter="$cases" --processes=1
    if part "$suite.$family.judge" judge "$root"; then judged=$((judged + 1)); else failed+=" $suite/$family"; fi
  done <<< "$families"
  echo "$judged families of cases measured and within their bounds${failed:+, failed:$failed} (full/)"
}

"step_$1"
exit "$code"
