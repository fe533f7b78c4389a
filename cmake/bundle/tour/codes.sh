# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For the tour's scripts: exit codes, and what they say about a part or a step.

# The project's exit codes; a crash, a signal or a timeout counts as incomplete.
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

# Exit codes of `timeout`, and of a step that it stopped.
is_stopped() {  # CODE
  [ "$1" -eq 124 ] || [ "$1" -eq 137 ] || [ "$1" -eq 143 ]
}
