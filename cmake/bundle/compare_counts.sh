#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares CUPTI's counts with the ledger. CUPTI counts from a computation's construction on, but the ledger's row in a
# profile covers one step: so each case is profiled twice, with fewer and with more steps, and the differences are
# compared.
set -euo pipefail

usage() {
  cat << 'END'
usage: compare_counts.sh FEWER MORE
Compares two folders of profiles (holdfast-profile/1), of the same cases on a GPU, the second over more steps.

Exit codes: 0 all agree, 1 something differs, 2 usage or a bad file, 77 the device counted nothing.

example:
  suite=cubed_sphere_swe
  $suite --device=cuda --variant=both --profile=fewer --profile-steps=5
  $suite --device=cuda --variant=both --profile=more --profile-steps=15
  ./compare_counts.sh fewer more
END
}

fail() {
  echo "compare_counts: $1" >&2
  exit 2
}

# The number after a name in the text.
number() {  # TEXT NAME
  [[ $1 =~ \"$2\":\ ([0-9]+)[,[:space:]}] ]] || fail "$file has no whole number \"$2\""
  echo "${BASH_REMATCH[1]}"
}

# The object after a name; it must not contain another.
object() {  # TEXT NAME
  [[ $1 =~ \"$2\":\ \{([^{}]*)\} ]] || fail "$file has no object \"$2\""
  echo "${BASH_REMATCH[1]} "
}

# Sets `now` from one document; returns 1 if its device counted nothing.
declare -A now
read_profile() {  # FILE
  local document counts name
  file=$1
  document=$(< "$file")
  [[ $document =~ \"device_counts\":\ null ]] && return 1
  counts=$(object "$document" device_counts) || exit 2
  for name in kernels copied_bytes_h2d copied_bytes_d2h copied_bytes_d2d modules_loaded jit_runs memory_peak_bytes; do
    now[$name]=$(number "$counts" "$name") || exit 2
  done
  counts=$(object "$document" overview) || exit 2
  for name in launches library_calls h2d_bytes d2h_bytes programs; do
    now[$name]=$(number "$counts" "$name") || exit 2
  done
  counts=$(object "$document" d2d) || exit 2
  now[d2d_bytes]=$(number "$counts" bytes) || exit 2
  now[peak_bytes]=$(number "$document" peak_bytes) || exit 2
  [[ $document =~ $'\n'\ \"steps\":\ ([0-9]+) ]] || fail "$file does not say its steps"
  now[steps]=${BASH_REMATCH[1]}
  now[dropped]=$(number "$document" dropped) || exit 2
}

differs() {  # WHAT CUPTI LEDGER
  echo "differs  $case: $1: CUPTI counts $2, the ledger $3"
  differing=$((differing + 1))
}

# Compares the additional steps; `seen` is CUPTI's count, `told` the ledger's.
compare() {
  local steps=$((now[steps] - fewer[steps])) seen told way
  [ "$steps" -gt 0 ] || fail "$file has ${now[steps]} steps, its counterpart ${fewer[steps]}: the second must have more"
  seen=$((now[kernels] - fewer[kernels]))
  told=$((steps * now[launches]))
  # A library call may be several kernels.
  if [ "${now[library_calls]}" -eq 0 ]; then
    [ $seen -eq $told ] || differs "kernels in $steps steps" $seen $told
  else
    [ $seen -ge $told ] || differs "kernels in $steps steps" $seen "at least $told"
  fi
  for way in h2d d2h; do
    seen=$((${now[copied_bytes_$way]} - ${fewer[copied_bytes_$way]}))
    told=$((steps * ${now[${way}_bytes]}))
    [ $seen -eq $told ] || differs "bytes copied $way in $steps steps" $seen $told
  done
  # Copies on the device are summed over the verbs in a profile, which does not hold all of them if there are many.
  seen=$((now[copied_bytes_d2d] - fewer[copied_bytes_d2d]))
  told=$((now[d2d_bytes] - fewer[d2d_bytes]))
  if [ $((now[dropped] + fewer[dropped])) -gt 0 ]; then
    echo "not compared  $case: bytes copied on the device: the profile holds not all of its verbs"
    partial=$((partial + 1))
  else
    [ $seen -eq $told ] || differs "bytes copied on the device in $steps steps" $seen $told
  fi
  seen=$((now[modules_loaded] - fewer[modules_loaded]))
  told=$((steps * now[programs]))
  [ $seen -eq $told ] || differs "modules loaded in $steps steps" $seen $told
  [ "${now[jit_runs]}" -eq 0 ] || differs "just-in-time compilations by the driver" "${now[jit_runs]}" 0
  [ "${now[memory_peak_bytes]}" -ge "${now[peak_bytes]}" ] ||
    differs "peak of the memory" "${now[memory_peak_bytes]}" "${now[peak_bytes]}, which cannot be more"
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
compared=0 silent=0 differing=0 partial=0
declare -A fewer
shopt -s nullglob
for file in "$1"/*.profile.json; do
  case=$(basename "$file" .profile.json)
  [ -f "$2/$case.profile.json" ] || fail "$2 has no profile of $case"
  if ! read_profile "$file"; then
    silent=$((silent + 1))
    continue
  fi
  for name in "${!now[@]}"; do fewer[$name]=${now[$name]}; done
  if ! read_profile "$2/$case.profile.json"; then
    silent=$((silent + 1))
    continue
  fi
  compare
  compared=$((compared + 1))
done
for file in "$2"/*.profile.json; do
  [ -f "$1/$(basename "$file")" ] || fail "$1 has no profile of $(basename "$file" .profile.json)"
done
[ $((compared + silent)) -gt 0 ] || fail "$1 holds no profile"
if [ $compared -eq 0 ]; then
  echo "the device counted nothing in any of $silent profiles; \"silence\" in them says why, or nothing was executed"
  exit 77
fi
summary="$compared profiles compared"
[ $silent -eq 0 ] || summary+=", $silent without CUPTI's counts"
[ $partial -eq 0 ] || summary+=", $partial without copies on the device"
if [ $differing -gt 0 ]; then
  echo "$summary, $differing counts differ from the ledger"
  exit 1
fi
echo "$summary, CUPTI and the ledger agree"
