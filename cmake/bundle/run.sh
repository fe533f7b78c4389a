#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes the tour: everything that holdfast can measure on one machine, step by step, the most valuable first. A step that
# fails or exceeds its time stops none of the later ones; a call that is killed loses only the step that it was in.
# shellcheck disable=SC2015,SC2317  # a && b || fail; what a trap calls
set -uo pipefail

# step, its share of the budget in percent, the seconds of one case or program, what it does (tour/steps.sh does it)
readonly steps='
smoke             12   60  every suite runs its smallest cases and is right
gpu_tests         20  120  the tests that need a GPU
gate_1            25   60  the gate tier, judged
dry_equals_real   20   60  its counts and compiled code are those of cuda-dry
counts            20  120  counts of CUPTI against the ledger
gate_2            25   60  again, for baselines that know their spread
gate_3            25   60  again
side_by_side      20   90  the suites in turn with plain formulations in JAX
memcheck          15  120  compute-sanitizer: memory errors in smoke cases
racecheck         15  120  compute-sanitizer: races in shared memory, of optimized variants
calibrations      10   60  what the machine can do at best, three times
profiles          25  120  profiles, traces, memory profiles and kernels of the gate cases
full             100  300  the larger sizes, family by family, held to their bounds
'
readonly three_hours=10800 least_seconds=5 most_tries=3

usage() {
  cat << END
usage: ./run.sh [options]
Runs everything that holdfast can say about one machine, and leaves results, traces, logs, summary.txt and summary.json.

options:
  --out=DIR          receives all of it (default: tour); steps taken again replace what they left there
  --device=D         cuda (default), cuda:N, or cuda-dry:sm_NN, which needs no GPU and skips what does
  --only=STEP,..     those steps alone
  --quick            the smoke tier in place of the gate and full tiers, in one process
  --budget=SECONDS   of this call, archive included (default: $three_hours); what it does not reach is left to another
  --case=SECONDS     of one case or program, in place of the steps' own
  --archive=FILE     keep all of it in FILE (.tar.gz), below 16 MiB, and up to three more beside it (FILE.2 ...): written anew
                     after each step, the steps in their order, and what finds no room is named
  --resume           take no step again that has ended, go on in one that was stopped; from the archive, where --out is gone
  --help             print this

steps (percent of the budget, seconds of a case or program):
$steps
Exit codes: 0 well, 1 a regression or a wrong result, 2 usage or no CUDA 13, 3 incomplete, 4 undecided, 77 no such device.

examples:
  ./run.sh --out=/scratch/\$USER/tour
  ./run.sh --budget=570 --archive=tour.tar.gz            # a visit of ten minutes ...
  ./run.sh --budget=570 --archive=tour.tar.gz --resume   # ... and another, on this machine or the next
  ./run.sh --device=cuda-dry:sm_90 --quick
  ./run.sh --only=smoke,gate_1 --out=tour
END
}

fail() {
  echo "run.sh: $1" >&2
  exit 2
}
whole() {  # OPTION=VALUE: the value, a whole number above zero
  [[ ${1#*=} =~ ^[1-9][0-9]{0,6}$ ]] || fail "$1: give whole seconds, at least 1"
  echo "${1#*=}"
}

bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=tour device=cuda only='' quick=no budget=$three_hours case_limit='' archive='' resume=no
for argument in "$@"; do
  case "$argument" in
    --out=?*) out=${argument#*=} ;;
    --device=cuda | --device=cuda:[0-9]* | --device=cuda-dry:sm_[0-9]*) device=${argument#*=} ;;
    --device=*) fail "$argument: the devices are cuda, cuda:N and cuda-dry:sm_NN" ;;
    --only=?*) only=${argument#*=} ;;
    --quick) quick=yes ;;
    --budget=*) budget=$(whole "$argument") || exit ;;
    --case=*) case_limit=$(whole "$argument") || exit ;;
    --archive=?*.tar.gz) archive=${argument#*=} ;;
    --archive=*) fail "$argument: name a file that ends in .tar.gz, e.g. --archive=tour.tar.gz" ;;
    --resume) resume=yes ;;
    -h | --help) usage; exit 0 ;;
    *) fail "unknown option $argument; --help lists them" ;;
  esac
done
# Steps as is_asked_for reads them: what it would not find must not pass for asked.
[[ -z $only || $only =~ ^[a-z0-9_]+(,[a-z0-9_]+)*$ ]] ||
  fail "--only=$only: name steps with commas between them; --help lists them"
for name in ${only//,/ }; do
  grep -q "^$name " <<< "$steps" || fail "--only=$only: there is no step $name; --help lists them"
done
[ -x "$bundle/bin/holdfast" ] || fail "there is no bundle in $bundle; pack it first: cmake --workflow --preset bundle"
mkdir -p "$out/logs" || fail "cannot write to --out=$out; name a folder that you may write to"
out=$(cd "$out" && pwd)
if [ -n "$archive" ]; then
  beside=$(mkdir -p "$(dirname "$archive")" && cd "$(dirname "$archive")" && pwd) && [ -w "$beside" ] ||
    fail "cannot write to --archive=$archive; name a file in a folder that you may write to"
  archive=$beside/$(basename "$archive")
fi

# shellcheck source=cmake/bundle/tour/codes.sh
. "$bundle/tour/codes.sh"
# shellcheck source=cmake/bundle/tour/summary.sh
. "$bundle/tour/summary.sh"
# shellcheck source=cmake/bundle/tour/archive.sh
. "$bundle/tour/archive.sh"
export HOLDFAST_CACHE_DIR=$out/cache
# shellcheck source=cmake/bundle/environment.sh
. "$bundle/environment.sh" || fail "without CUDA 13's libraries no suite can start (see above)"

# Seconds reserved for the next archive: what the slowest took, and first a fiftieth of the budget.
closing=$((1 + budget / 50))
keep() {  # [STEP]: that has just left results
  local begin=$SECONDS took
  write_summary
  [ -n "$archive" ] || return 0
  [ $# -eq 0 ] || cut_step "$1"
  write_archive "${names[@]}"
  took=$((SECONDS - begin + 1))
  [ $took -le $closing ] || closing=$took
}

# ---- the tour ----

mapfile -t names < <(awk 'NF { print $1 }' <<< "$steps")
is_asked_for() {  # STEP
  [ -z "$only" ] || [[ ,$only, == *,$1,* ]]
}

# An archive without its tour holds steps that this call keeps, unless it takes all of them anew.
[ "$resume$only" = no ] || [ -f "$out/logs/options" ] || [ -z "$archive" ] || read_archive
# What is kept of earlier calls, and what this one takes, are of one device and tier.
kept=$resume
for name in "${names[@]}"; do
  is_asked_for "$name" || [ ! -f "$out/logs/$name.begun" ] || kept=yes
done
[ $kept = no ] || [ ! -f "$out/logs/options" ] || [ "$(< "$out/logs/options")" = "$device $quick" ] ||
  fail "$out holds what was begun with $(sed 's/^/--device=/; s/ no$//; s/ yes$/ --quick/' "$out/logs/options"):\
 go on with these options, or name another --out"
if [ $resume = no ]; then
  for name in "${names[@]}"; do
    is_asked_for "$name" || continue
    rm -rf --one-file-system "${out:?}/$name" "$out/.pieces/$name" "$out/logs/$name".{txt,json,begun,log}
  done
  [ $kept = yes ] || rm -f "$out/machine.txt"
fi
echo "$device $quick" > "$out/logs/options"

# A bundle may lie on a read-only file system: what is compiled here goes to the results, which may be of an older bundle.
mkdir -p "$out/cache" && cp -r --update "$bundle/cache/." "$out/cache" || fail "cannot copy the cache to $out"
chmod -R go-w "$out/cache" # a cache that others can write to is not used
export bundle out device quick

{
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -a
  timeout 60 holdfast doctor
  ! type -P nvidia-smi > /dev/null || timeout 60 nvidia-smi
} >> "$out/machine.txt" 2>&1

running=''
interrupted() {
  trap '' INT TERM
  if [ -n "$running" ]; then
    kill "$running"
    wait "$running"
    note "$name" stopped 3 $((SECONDS - begin)) "the tour was interrupted here; --resume goes on"
  fi
  keep ${running:+"$name"}
  exit 130
}
trap interrupted INT TERM

# Changes with each part of a step that ends, and with each process of a stopped one that leaves results.
progress() {  # STEP
  (
    cd "$out" && {
      grep -lsx -d skip '[0-9]\+' "$1"/.parts/*
      find "$1" -name 'process-*.json' 2> /dev/null
    } | sort | cksum | cut -d ' ' -f 1
  )
}

# Sets `again`: whether an earlier call began the step, and `tries`: how often it was begun since it last came further.
read_begun() {  # STEP
  local reached=''
  again=no tries=0
  [ -f "$out/logs/$1.begun" ] || return 0
  again=yes
  read -r tries reached < "$out/logs/$1.begun"
  [ "$reached" = "$(progress "$1")" ] || tries=0
}

take() {  # STEP SECONDS CASE_SECONDS
  local log=$out/logs/$1.log result=0 status says
  export seconds=$2 case_seconds=$3 again
  echo "$((tries + 1)) $(progress "$1")" > "$out/logs/$1.begun"
  keep
  begin=$SECONDS
  timeout --kill-after=10 "$2" "$BASH" "$bundle/tour/steps.sh" "$1" > "$log" 2>&1 < /dev/null &
  running=$!
  wait $running || result=$?
  running=''
  says=$(grep -vx '[[:space:]]*\|Terminated' "$log" | tail -n 1)
  case $(as_code $result) in
    0) status=well ;;
    77) status=skipped ;;
    *) status=failed ;;
  esac
  if is_stopped $result; then
    status=stopped says="did not end within $2 s, and --resume goes on; the last line: $says"
  fi
  note "$1" $status "$(as_code $result)" $((SECONDS - begin)) "$says"
  keep "$1"
}

last=''  # the step that leaves its time to no other
for name in "${names[@]}"; do
  ! is_asked_for "$name" || ended "$name" || last=$name
done
number=0
while read -r name share of_case what; do
  [ -n "$name" ] || continue
  number=$((number + 1))
  is_asked_for "$name" || continue
  read_begun "$name"
  # A step that came no further in its share gets twice the share, then three times.
  limit=$((budget * share * (tries + 1) / 100)) room=$((budget > SECONDS + closing ? budget - SECONDS - closing : 0))
  [ $limit -le $room ] && [ "$name" != "$last" ] || limit=$room
  printf '[%2d/%d] %s: %s' $number ${#names[@]} "$name" "$what" >&2
  if ended "$name"; then
    echo " (taken before)" >&2
  elif [ "$tries" -ge $most_tries ]; then
    echo >&2
    note "$name" failed 3 0 "was begun $tries times and came no further"
  elif [ $limit -lt $least_seconds ]; then
    echo >&2
    note "$name" left 3 0 "not begun: of the $budget s of this call $room are left; --resume goes on"
  else
    echo " (at most $limit s; $room are left)" >&2
    take "$name" $limit "${case_limit:-$of_case}"
    # Without the device the tour ends.
    read -r _ status _ < "$out/logs/$name.txt"
    [ "$name $status" != "smoke skipped" ] || break
  fi
done <<< "$steps"
keep
cat "$out/summary.txt"
if [ -n "$archive" ]; then
  grep . "$out/left-out.txt"
  list_archive
fi
echo "$out/summary.txt: exit $worst"
exit "$worst"
