#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether this tree is slower than the one that it started from, on this machine and in this hour:
#   cmake/ci/compare.sh [BUILD [options of holdfast run]]
# Builds the merge base with main in a worktree under build/, by the presets there, runs both builds in turn, times what is
# suspect in lock step, and draws the report. Where the merge base is HEAD, the base is HEAD if the tree is changed, else its
# parent; HOLDFAST_BASE names another commit. Results and report stand in BUILD/compare. Ends as `holdfast check` does; with
# HOLDFAST_UNDECIDED=warn what the machine leaves undecided is no failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# In a git hook these name the caller's repository and index, which the base's checkout would then change.
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE
build=${1:-build/release}
[ $# -gt 0 ] && shift
holdfast=$build/bin/holdfast

refuse() {
  echo "compare: $1" >&2
  exit 2
}
[ -x "$holdfast" ] || refuse "there is no $holdfast; build first, or type cmake --workflow --preset compare"

# Choose the base, and say why.
if [ -n "${HOLDFAST_BASE:-}" ]; then
  base=$(git rev-parse --verify --quiet "$HOLDFAST_BASE^{commit}") ||
    refuse "HOLDFAST_BASE=$HOLDFAST_BASE is no commit of this repository; name one, e.g. HOLDFAST_BASE=HEAD~3"
  why="HOLDFAST_BASE=$HOLDFAST_BASE"
else
  main=origin/main
  git rev-parse --verify --quiet "$main^{commit}" >/dev/null || main=main
  base=$(git merge-base HEAD "$main" 2>/dev/null) ||
    refuse "there is no merge base of HEAD and $main (a shallow clone has none); name the base: HOLDFAST_BASE=REF"
  why="the merge base with $main"
  if [ "$base" = "$(git rev-parse HEAD)" ]; then
    if [ -n "$(git status --porcelain)" ]; then
      why="HEAD, which this tree changes"
    else
      base=$(git rev-parse --verify --quiet 'HEAD^{commit}^') ||
        refuse "HEAD is the first commit and nothing is changed, so there is nothing to compare with"
      why="the parent of HEAD"
    fi
  fi
fi
echo "compare: against $(git log -1 --format='%h %s' "$base"), $why"

# One worktree for all bases, so that only what differs between them is rebuilt.
mkdir -p "$build/compare"
tree=$(cd "$build" && pwd)/base
log=$build/compare/base.log
git worktree prune
if [ -e "$tree/.git" ]; then
  git -C "$tree" checkout --quiet --force --detach "$base"
else
  rm -rf "$tree"
  git worktree add --quiet --force --detach "$tree" "$base"
fi
cached() { sed -n "s/^$1:[A-Z]*=//p" "${2:-$build}/CMakeCache.txt" 2>/dev/null || true; }
# The base has its own presets and CMake lists: a compiler, flag or library that this tree's set or find is part of the change.
# What this tree found inside itself, and Python, serve the base too: it has no .venv with CUDA's wheels.
configured=()
places=()
while IFS= read -r name; do
  places+=("$name")
  if [[ $(cached "$name") = "$PWD"/* ]]; then configured+=("-D$name=$(cached "$name")"); fi
done < <(sed -nE 's/^(HOLDFAST_[A-Z0-9_]+):(FILE)?PATH=.*/\1/p' "$build/CMakeCache.txt" 2>/dev/null)
if [ -x .venv/bin/python3 ]; then configured+=("-DPython3_EXECUTABLE=$PWD/.venv/bin/python3"); fi
# Variables that a preset of this tree sets are also set for targets of its build, so they are unset for the base. Presets
# include others, so every JSON file but the user's own is searched; what is unset in vain is restored below.
foreign=()
for name in CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CMAKE_TOOLCHAIN_FILE; do
  if git grep -q --untracked "\"$name\" *:" -- '*.json' ':!CMakeUserPresets.json'; then foreign+=(-u "$name"); fi
done
generator=$(cached CMAKE_GENERATOR)
fails() {
  tail -n 20 "$log" >&2
  echo "compare: the base does not build ($log has all of it); name another: HOLDFAST_BASE=REF" >&2
  exit 3
}
start=$SECONDS
# Configures a tree in a build folder with options; afresh, because the cache keeps what other presets set.
configure() {
  local preset=(--preset release)
  [ -e "$1/CMakePresets.json" ] || preset=(-DCMAKE_BUILD_TYPE=Release ${generator:+-G "$generator"})
  env "${foreign[@]}" cmake --fresh -S "$1" -B "$2" "${preset[@]}" "${configured[@]}" "${@:3}" >"$log" 2>&1
}
# What was set by hand applies to both builds: the settings in which this build differs from a fresh configuration of this
# tree by its presets, CMake lists and toolchain file, unless a preset of either tree for this folder sets them. If that does
# not configure, e.g. for lack of a compiler, the cache still has most of it.
plain=$build/compare/plain
toolchain=$(cached CMAKE_TOOLCHAIN_FILE)
configure . "$plain" ${toolchain:+"-DCMAKE_TOOLCHAIN_FILE=$toolchain"} || true
of_presets=$(for at in . "$tree"; do
  for preset in release ci; do (cd "$at" && cmake -N --preset "$preset" 2>/dev/null) || true; done
done)
by_hand=()
for names in CMAKE_CXX_COMPILER/CXX CMAKE_CXX_FLAGS/CXXFLAGS CMAKE_CXX_FLAGS_RELEASE CMAKE_EXE_LINKER_FLAGS/LDFLAGS \
  HOLDFAST_UNITY "${places[@]}"; do
  name=${names%/*}
  grep -q "^$name:" "$build/CMakeCache.txt" || continue
  if [ "$(cached "$name")" = "$(cached "$name" "$plain")" ]; then continue; fi
  if ! grep -qE "^ +(${names/\//|})[:=]" <<<"$of_presets"; then by_hand+=("-D$name=$(cached "$name")"); fi
done
# If warnings are errors here, they are in the base too, so that the same commands compile both; a base that has warnings is
# then built without that.
build_base() {
  configure "$tree" "$tree/build/release" "${by_hand[@]}" -DCMAKE_COMPILE_WARNING_AS_ERROR="$1" || return
  env "${foreign[@]}" cmake --build "$tree/build/release" --target perf --parallel "$(nproc)" >>"$log" 2>&1
}
strictness=$(cached CMAKE_COMPILE_WARNING_AS_ERROR)
build_base "${strictness:-OFF}" || build_base OFF || fails
echo "compare: built the base in $((SECONDS - start)) s$(if command -v ccache >/dev/null; then echo ', with ccache'; fi)"

# Both sides, suite by suite.
suites=()
for list in "$build"/bin/*.list.json; do suites+=("$(basename "$list" .list.json)"); done
devices=(host)
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then devices+=(cuda); fi
results=$build/compare/results
# Case durations are kept: they set the time limits of the next run.
mkdir -p "$results"
find "$results" -mindepth 1 -maxdepth 1 ! -name .history -exec rm -rf {} +
for device in "${devices[@]}"; do
  counting=()
  if [ "$device" = host ]; then counting=(--count-instructions-if-possible); fi
  ended=0
  "$holdfast" run "${suites[@]}" --device="$device" --bin-dir="$build/bin" --beside="$tree/build/release" \
    "${counting[@]}" --out="$results" "$@" || ended=$?
  if [ "$device $ended" = "cuda 77" ]; then
    echo "compare: the GPU cannot be used (see above), so the host alone is judged" >&2
  elif [ $ended -ne 0 ]; then
    exit $ended
  fi
done
status=0
"$holdfast" check "$results" --confirm="$tree/build/release" --lists="$build/bin" --baselines=baselines \
  --undecided="${HOLDFAST_UNDECIDED:-fail}" || status=$?

python=.venv/bin/python3
[ -x "$python" ] || python=python3
PYTHONPATH=reporting "$python" -m holdfast_report --results="$results" --store="$build/history" --out="$build/compare/report" \
  --baselines=baselines --holdfast="$holdfast" || echo "compare: no report was drawn; the verdict stands above" >&2
exit $status
