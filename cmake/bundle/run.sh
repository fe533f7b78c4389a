#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes the tour: everything that holdfast can say about one machine, step by step. A step that fails, or does not end in
# its time, stops none of the later ones.
# shellcheck disable=SC2317  # steps are called by their names
set -uo pipefail

# step, its time limit in seconds, the limit with --quick, what it does
readonly steps='
smoke            300  180  every suite runs its smallest cases and is right
gpu_tests        300  120  the tests that need a GPU
dry_equals_real  900  300  counts and compiled code on the GPU are those of cuda-dry
gate_1          1200  300  the gate tier, judged
gate_2          1200  300  again, for baselines that know their spread
gate_3          1200  300  again
counts           600  300  counts of CUPTI against the ledger
memcheck         600  300  compute-sanitizer: memory errors in smoke cases
racecheck        600  300  compute-sanitizer: races in shared memory in smoke cases
calibrations     120   60  what the machine can do at best, three times
full            1200  300  the larger sizes, held to their bounds
profiles         900  300  profiles, traces, memory profiles and kernels of the gate cases
'

usage() {
  cat << END
usage: ./run.sh [options]
Runs everything that holdfast can say about one machine, each step with its own time limit, and leaves results, traces,
logs, summary.txt and summary.json.

options:
  --out=DIR       receives all of it (default: tour); steps run again replace what they left there
  --device=D      cuda (default), cuda:N, or cuda-dry:sm_NN, which needs no GPU and skips what does
  --only=STEP,..  those steps alone
  --quick         the smoke tier in place of the gate and full tiers, in one process
  --help          print this

steps (seconds, seconds with --quick):
$steps
Exit codes: 0 well, 1 a regression or a wrong result, 2 usage or no CUDA 13, 3 incomplete, 4 undecided, 77 no such device.

examples:
  ./run.sh --out=/scratch/\$USER/tour
  ./run.sh --device=cuda-dry:sm_90 --quick
  ./run.sh --only=smoke,gate_1 --out=tour
END
}

fail() {
  echo "run.sh: $1" >&2
  exit 2
}

bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=tour device=cuda only='' quick=no step=''
for argument in "$@"; do
  case "$argument" in
    --out=?*) out=${argument#*=} ;;
    --device=cuda | --device=cuda:[0-9]* | --device=cuda-dry:sm_[0-9]*) device=${argument#*=} ;;
    --device=*) fail "$argument: the devices are cuda, cuda:N and cuda-dry:sm_NN" ;;
    --only=?*) only=${argument#*=} ;;
    --quick) quick=yes ;;
    --step=?*) step=${argument#*=} ;;  # what this script starts for each step: that one, here, without a limit
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option $argument" ;;
  esac
done
for name in ${only//,/ }; do
  grep -q "^$name " <<< "$steps" || fail "--only=$only: there is no step $name; --help lists them"
done
mkdir -p "$out/logs" || fail "cannot write to --out=$out; name a folder that you may write to"
out=$(cd "$out" && pwd)

tier=gate processes=()
if [ "$quick" = yes ]; then tier=smoke processes=(--processes=1); fi
dry=no
[[ $device != cuda-dry:* ]] || dry=yes
suites=()
for list in "$bundle"/bin/*.list.json; do suites+=("$(basename "$list" .list.json)"); done

# ---- exit codes ----

# The project's codes; a crash, a signal or a time limit left the step incomplete.
as_code() {  # CODE
  case "$1" in
    0 | 1 | 2 | 3 | 4 | 77) echo "$1" ;;
    *) echo 3 ;;
  esac
}

worse() {  # CODE CODE
  local code
  for code in 2 3 1 4 77; do
    if [ "$1" -eq $code ] || [ "$2" -eq $code ]; then
      echo $code
      return
    fi
  done
  echo 0
}

# Runs a command of a step, shows it, and keeps the worst code in `code`.
code=0
attempt() {
  local result=0
  printf '$'
  printf ' %q' "$@"
  echo
  "$@" || result=$?
  code=$(worse "$code" "$(as_code "$result")")
  [ "$result" -eq 0 ]
}

# Ends a step that this machine cannot take.
skip() {
  echo "$*"
  exit 77
}
needs_gpu() {
  [ "$dry" = no ] || skip "$1"
}

fresh() {  # DIR
  rm -rf --one-file-system "${out:?}/$1"
  mkdir -p "$out/$1"
}

# ---- the steps: the last line that each prints is what the summary says ----

step_smoke() {
  local suite wrong=''
  fresh smoke
  for suite in "${suites[@]}"; do
    attempt "$suite" --device="$device" --tier=smoke --out="$out/smoke/$suite.json" || wrong+=" $suite"
    [ "$code" -ne 77 ] || return
  done
  [ -z "$wrong" ] || { echo "failed:$wrong"; return; }
  if [ "$dry" = yes ]; then
    echo "every suite was counted; no result is checked, since nothing was executed (${suites[*]})"
  else
    echo "every suite ran, and every result is right (${suites[*]})"
  fi
}

step_gpu_tests() {
  local test name failed='' skipped
  needs_gpu "nothing is executed on $device"
  fresh gpu_tests
  for test in "$bundle"/tests/*; do
    name=$(basename "$test")
    GTEST_OUTPUT="xml:$out/gpu_tests/$name.xml" attempt "$test" || failed+=" $name"
  done
  skipped=$(cat "$out"/gpu_tests/*.xml | grep -c 'result="skipped"')
  echo "$([ -n "$failed" ] && echo "failed:$failed" || echo "no test fails"), $skipped are skipped (gpu_tests/)"
}

step_dry_equals_real() {
  local architecture=${device#cuda-dry:}
  fresh real
  fresh dry
  attempt holdfast run "${suites[@]}" --device="$device" --tier="$tier" --processes=1 --out="$out/real"
  if [ "$dry" = no ]; then
    architecture=$(grep -rhoE '"sm": *"sm_[0-9]+' "$out/real" | head -n 1 | grep -oE 'sm_[0-9]+$')
    [ -n "$architecture" ] || { echo "no result says which architecture the GPU has"; code=3; return; }
  fi
  attempt holdfast run "${suites[@]}" --device="cuda-dry:$architecture" --tier="$tier" --out="$out/dry"
  holdfast diff "$out/real" "$out/dry" > "$out/dry-equals-real.txt"
  code=$(worse "$code" "$(as_code $?)")
  cat "$out/dry-equals-real.txt"
  echo "$device against cuda-dry:$architecture: $(grep -c '^  differs' "$out/dry-equals-real.txt") counts or code metrics" \
    "differ, $(grep -c '^  only in\|: only in' "$out/dry-equals-real.txt") cases or suites are on one side alone" \
    "(dry-equals-real.txt)"
}

gate() {  # NUMBER
  local root=$out/gate-$1
  fresh "gate-$1"
  attempt holdfast run "${suites[@]}" --device="$device" --tier="$tier" "${processes[@]}" --out="$root"
  attempt holdfast check "$root" --baselines="$bundle/baselines" --undecided=warn
}
step_gate_1() { gate 1; }
step_gate_2() { gate 2; }
step_gate_3() { gate 3; }

step_counts() {
  local suite
  needs_gpu "CUPTI counts nothing on $device"
  fresh counts
  for suite in "${suites[@]}"; do
    attempt "$suite" --device="$device" --tier="$tier" --variant=both --profile="$out/counts/fewer" --profile-steps=5
    attempt "$suite" --device="$device" --tier="$tier" --variant=both --profile="$out/counts/more" --profile-steps=15
  done
  attempt "$bundle/compare_counts.sh" "$out/counts/fewer" "$out/counts/more"
}

# The setting of OpenMP keeps a suite from starting itself again under the tool's feet.
sanitize() {  # TOOL
  local sanitizer suite found=0 unfinished=0 result
  needs_gpu "compute-sanitizer watches nothing on $device"
  sanitizer=$(PATH=${holdfast_cuda:+$holdfast_cuda/bin:$holdfast_cuda/compute-sanitizer:}$PATH type -P compute-sanitizer) ||
    skip "this machine has no compute-sanitizer, neither in PATH nor in ${holdfast_cuda:-/usr/local/cuda}"
  fresh "$1"
  for suite in "${suites[@]}"; do
    result=0
    GOMP_SPINCOUNT=1000 "$sanitizer" --tool "$1" --target-processes all --error-exitcode 99 \
      --log-file "$out/$1/$suite.txt" "$bundle/bin/$suite" --device="$device" --tier=smoke || result=$?
    case $result in
      0) ;;
      99) found=$((found + 1)) code=$(worse "$code" 1) ;;
      *) unfinished=$((unfinished + 1)) code=$(worse "$code" "$(as_code "$result")") ;;
    esac
  done
  echo "$1 complains about $found of ${#suites[@]} suites, $unfinished did not end well ($1/)"
}
step_memcheck() { sanitize memcheck; }
step_racecheck() { sanitize racecheck; }

# Every process calibrates: the ceilings stand in its result file.
step_calibrations() {
  local i suite=${suites[0]} first
  needs_gpu "a device that executes nothing has no ceilings"
  fresh calibrations
  first=$("$suite" --list | grep -m 1 "^smoke.*[[ ]cuda[],]" | tr -s ' ' | cut -d ' ' -f 2)
  for i in 1 2 3; do
    attempt "$suite" --device="$device" --tier=smoke --filter="^$first\$" --out="$out/calibrations/$i.json"
    sed -n '/^ "ceilings": {/,/^ },\{0,1\}$/p' "$out/calibrations/$i.json" > "$out/calibrations/ceilings-$i.txt"
    cat "$out/calibrations/ceilings-$i.txt"
  done
  echo "three sets of ceilings (calibrations/ceilings-*.txt)"
}

# Family by family, each in a process of its own: one that takes too long costs no other. Each is judged at once, in a root
# of its own, so that a limit of time costs no verdict either.
step_full() {
  local suite family root well judged=0 failed='' kind='[[ ]cuda[],]' largest=full
  [ "$dry" = no ] || kind='[[ ]cuda-dry[],]'
  [ "$quick" = no ] || largest=smoke
  fresh full
  for suite in "${suites[@]}"; do
    while read -r family; do
      root=$out/full/$suite.$family well=yes
      attempt holdfast run "$suite" --device="$device" --tier="$largest" --filter="^$suite/$family/" --processes=1 \
        --out="$root" || well=no
      attempt holdfast check "$root" --baselines="$bundle/baselines" --undecided=warn || well=no
      if [ "$well" = yes ]; then judged=$((judged + 1)); else failed+=" $suite/$family"; fi
    done < <("$suite" --list | grep "^$largest .*$kind" | tr -s ' ' | cut -d ' ' -f 2 | cut -d / -f 2 | sort -u)
  done
  echo "$judged families of cases measured and within their bounds${failed:+, failed:$failed} (full/)"
}

step_profiles() {
  local suite to sampled=()
  fresh profiles
  for suite in "${suites[@]}"; do
    to=$out/profiles/$suite
    [ "$dry" = yes ] || sampled=(--nvml-log="$out/profiles/$suite.nvml.csv")
    attempt "$suite" --device="$device" --tier="$tier" --variant=both --profile="$to" --trace="$to" --memory-profile="$to" \
      --dump-kernels="$to" "${sampled[@]}"
  done
  echo "$(find "$out/profiles" -name '*.profile.json' | wc -l) profiles, with traces for https://ui.perfetto.dev (profiles/)"
}

# ---- the tour ----

if [ -n "$step" ]; then
  "step_$step"
  exit "$code"
fi

# shellcheck source=cmake/bundle/environment.sh
. "$bundle/environment.sh" || fail "without CUDA 13's libraries no suite can start (see above)"
# A bundle may lie where nobody can write: what is compiled here goes to the results.
if [ ! -d "$out/cache" ]; then
  cp -r "$bundle/cache" "$out/cache" || fail "cannot copy the cache to $out"
  chmod -R go-w "$out/cache" # a cache that others can write to is none
fi
export HOLDFAST_CACHE_DIR=$out/cache

quoted() {  # a JSON string of a line
  local words=${1//\\/\\\\}
  words=${words//\"/\\\"}
  printf '"%s"' "$(tr -d '\000-\037' <<< "$words")"
}

# Steps of an earlier call with the same --out stay in the summary.
write_summary() {
  local name rest first=yes
  {
    printf '{"schema": "holdfast-tour/1", "device": "%s", "quick": %s, "exit": %s, "steps": [' "$device" \
      "$([ "$quick" = yes ] && echo true || echo false)" "$worst"
    while read -r name rest; do
      [ -f "$out/logs/$name.json" ] || continue
      [ $first = yes ] || printf ','
      first=no
      printf '\n  %s' "$(< "$out/logs/$name.json")"
    done <<< "$steps"
    printf ']}\n'
  } > "$out/summary.json"
  while read -r name rest; do
    [ ! -f "$out/logs/$name.txt" ] || cat "$out/logs/$name.txt"
  done <<< "$steps" > "$out/summary.txt"
}

{
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -a
  timeout 60 holdfast doctor
  ! type -P nvidia-smi > /dev/null || timeout 60 nvidia-smi
} > "$out/machine.txt" 2>&1

worst=0 taken=0 running=''
interrupted() {
  [ -z "$running" ] || kill "$running"
  write_summary
  exit 130
}
trap interrupted INT TERM
while read -r name limit quick_limit _; do
  [ -n "$name" ] || continue
  [ -z "$only" ] || [[ ,$only, == *,$name,* ]] || continue
  [ "$quick" = no ] || limit=$quick_limit
  switches=()
  [ "$quick" = no ] || switches=(--quick)
  log=$out/logs/$name.log
  begin=$SECONDS
  result=0
  timeout --kill-after=10 "$limit" "$BASH" "$bundle/run.sh" --step="$name" --out="$out" --device="$device" \
    "${switches[@]}" > "$log" 2>&1 < /dev/null &
  running=$!
  wait $running || result=$?
  running=''
  seconds=$((SECONDS - begin))
  says=$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)
  case $result in
    124 | 137) says="did not end within $limit s; the last line: $says" ;;
  esac
  result=$(as_code "$result")
  case $result in
    0) status=well ;;
    77) status=skipped ;;
    *) status=failed ;;
  esac
  printf '{"step": "%s", "status": "%s", "rc": %s, "seconds": %s, "says": %s}\n' "$name" $status "$result" $seconds \
    "$(quoted "$says")" > "$out/logs/$name.json"
  printf '%-15s  %-7s  %2s  %5s s  %s\n' "$name" $status "$result" $seconds "$says" | tee "$out/logs/$name.txt"
  # What is skipped for a reason does not fail a tour; a device that is not there ends it.
  if [ "$result" -ne 77 ]; then
    taken=$((taken + 1))
    worst=$(worse "$worst" "$result")
  elif [ "$name" = smoke ]; then
    break
  fi
done <<< "$steps"
[ $taken -gt 0 ] || worst=77
write_summary
echo "$out/summary.txt: exit $worst"
exit "$worst"
