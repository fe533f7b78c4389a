# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For run.sh: what is known of each step, in files of logs/, so that a later call knows it too: STEP.txt (step, status, code,
# seconds, words), STEP.json (the same for programs), STEP.begun (how often it was begun since it last came further, and a sum
# of what had ended by then). And the summary of all.
# shellcheck disable=SC2154  # device, names, out and quick are run.sh's

ended() {  # STEP: whether no call takes it again
  local status
  [ -f "$out/logs/$1.txt" ] && read -r _ status _ < "$out/logs/$1.txt" && [[ $status =~ ^(well|failed|skipped)$ ]]
}

quoted() {  # a JSON string of a line
  local words=${1//\\/\\\\}
  words=${words//\"/\\\"}
  printf '"%s"' "$(tr -d '\000-\037' <<< "$words")"
}

note() {  # STEP STATUS CODE SECONDS WORDS
  printf '%-15s  %-7s  %2s  %5s s  %s\n' "$@" > "$out/logs/$1.txt"
  printf '{"step": "%s", "status": "%s", "rc": %s, "seconds": %s, "says": %s}\n' "${@:1:4}" "$(quoted "$5")" \
    > "$out/logs/$1.json"
  printf '        %s in %s s: %s\n' "$2" "$4" "$5" >&2
}

# Sets `worst` to the worst code of all known steps; a step that is skipped for a reason does not fail a tour.
judge_steps() {  # sets `worst`
  local name code
  worst=77
  for name in "${names[@]}"; do
    [ -f "$out/logs/$name.txt" ] || continue
    read -r _ _ code _ < "$out/logs/$name.txt"
    [ "$code" -eq 77 ] || worst=$(worse $((worst == 77 ? 0 : worst)) "$code")
  done
}

write_summary() {
  local name rows=()
  judge_steps
  for name in "${names[@]}"; do
    [ ! -f "$out/logs/$name.json" ] || rows+=("$(< "$out/logs/$name.json")")
  done
  {
    printf '{"schema": "holdfast-tour/1", "device": "%s", "quick": %s, "exit": %s, "steps": [' "$device" \
      "$([ "$quick" = yes ] && echo true || echo false)" "$worst"
    [ ${#rows[@]} -eq 0 ] || printf '\n  %s' "${rows[0]}"
    [ ${#rows[@]} -le 1 ] || printf ',\n  %s' "${rows[@]:1}"
    printf ']}\n'
  } > "$out/summary.json"
  for name in "${names[@]}"; do
    [ ! -f "$out/logs/$name.txt" ] || cat "$out/logs/$name.txt"
  done > "$out/summary.txt"
}
