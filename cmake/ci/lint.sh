#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds the tree to what it says of itself; each tool over all that git has of its kind:
#   cmake/ci/lint.sh [format] [shell] [workflows] [python] [tidy]     (all but tidy by default)
# Preset `lint` runs them all. Needs what bootstrap.sh --lint installs; `tidy` needs a configured build (BUILD, default:
# build/lint) with what it generates, and takes minutes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
[ -d .venv/bin ] && PATH=$PWD/.venv/bin:$PATH
parts=("$@")
[ ${#parts[@]} = 0 ] && parts=(format shell workflows python)
failed=()

# Runs a tool, and tells what is missing rather than passing without it.
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
files() { git ls-files -z -- "$@"; }

for part in "${parts[@]}"; do
  echo "== $part"
  case "$part" in
    format)
      mapfile -d '' -t sources < <(files '*.cpp' '*.hpp' '*.cu' '*.cuh')
      hold format clang-format --dry-run --Werror "${sources[@]}"
      ;;
    shell)
      mapfile -d '' -t scripts < <(files '*.sh' .ci/run)
      hold shell shellcheck --external-sources "${scripts[@]}"
      ;;
    workflows)
      mapfile -d '' -t workflows < <(files '.github/workflows/*.yml')
      hold workflows zizmor --pedantic --offline --quiet "${workflows[@]}"
      hold workflows check-jsonschema --builtin-schema vendor.github-workflows "${workflows[@]}"
      ;;
    python)
      mapfile -d '' -t programs < <(files '*.py')
      hold python ruff check --quiet "${programs[@]}"
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
