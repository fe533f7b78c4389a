# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For the tour's scripts: exit codes, and what is known of a part or a step by its code.

# The project's codes; a crash, a signal or a limit of time left the part incomplete.
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

# What `timeout` ends with, and a step that it told to stop.
is_stopped() {  # CODE
  [ "$1" -eq 124 ] || [ "$1" -eq 137 ] || [ "$1" -eq 143 ]
}
