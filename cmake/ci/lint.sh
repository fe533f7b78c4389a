#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the tree against its own rules; each tool runs over all of git's files of its kind, mypy over the report alone:
#   cmake/ci/lint.sh [format] [shell] [workflows] [python] [tidy]     (all but tidy by default)
# Preset `lint` runs them all. Needs what bootstrap.sh --lint installs; `tidy` needs a configured build (BUILD, default:
# build/lint) with what it generates, and takes minutes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
[ -d .venv/bin ] && PATH=$PWD/.venv/bin:$PATH
parts=("$@")
[ ${#parts[@]} = 0 ] && parts=(format shell workflows python)
failed=()

# Runs a tool; a missing tool is a failure.
hold() {
  local part=$1
  shift
  if ! command -v "$1" > /dev/null; then
    echo "lint: $1 is not installed; see the head of cmake/ci/lint.sh" >&2
    failed+=("$part")
    return
  fi
  "$@" || failed+=("$part")
}
# Lists git's files of a kind in `listed`. An empty list is a failure, e.g. in a tree that git does not know.
list() {
  mapfile -d '' -t listed < <(git ls-files -z -- "${@:2}")
  [ ${#listed[@]} -gt 0 ] && return
  echo "lint: git lists no file for $1" >&2
  failed+=("$1")
  return 1
}

for part in "${parts[@]}"; do
  echo "== $part"
  case "$part" in
    format)
      list format '*.cpp' '*.hpp' '*.cu' '*.cuh' && hold format clang-format --dry-run --Werror "${listed[@]}"
      ;;
    shell)
      list shell '*.sh' '*.sbatch' .ci/run && hold shell shellcheck --external-sources "${listed[@]}"
      ;;
    workflows)
      list workflows '.github/workflows/*.yml' || continue
      hold workflows zizmor --pedantic --offline --quiet "${listed[@]}"
      hold workflows check-jsonschema --builtin-schema vendor.github-workflows "${listed[@]}"
      ;;
    python)
      list python '*.py' || continue
      hold python ruff check --quiet "${listed[@]}"
      hold python mypy --no-error-summary reporting/holdfast_report
      ;;
    tidy)
      hold tidy python3 cmake/ci/tidy.py "${BUILD:-build/lint}"
      ;;
    *)
      echo "lint: there is no part '$part'; the parts are format, shell, workflows, python and tidy" >&2
      exit 2
      ;;
  esac
done
[ ${#failed[@]} = 0 ] && echo "lint: clean" && exit 0
echo "lint: ${failed[*]}" >&2
exit 1
