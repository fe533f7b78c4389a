#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Judges results of this tree with the `holdfast` of the merge base, which the change cannot have weakened:
#   cmake/ci/judge_by_base.sh origin/main [BUILD]
# If it cannot read this tree's policy or baselines, it judges by those of the merge base. If it does not know the format of
# this tree's results, it says so and leaves the verdict to this tree's `holdfast`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE # in a git hook, those of the caller
reference=${1:?name what the change is to be merged into, e.g. origin/main}
build=${2:-build/release}

base=$(git merge-base -- HEAD "$reference") # keeps git from taking the reference for an option
place=$(mktemp -d)
trap 'git worktree remove --force "$place/tree" 2>/dev/null || true; rm -rf "$place"' EXIT
git worktree add --quiet --detach "$place/tree" "$base"
cmake -S "$place/tree" -B "$place/build" -DCMAKE_BUILD_TYPE=Release >"$place/log" ||
  { cat "$place/log" && exit 2; }
cmake --build "$place/build" --target holdfast --parallel "$(nproc)" >"$place/log" || { cat "$place/log" && exit 2; }

cp -r "$build/results" "$place/results" # a copy, so that its verdict does not replace this tree's
holdfast=$place/build/bin/holdfast
# judge BASELINES: exits with the verdict, unless something cannot be read.
judge() {
  local status=0
  "$holdfast" check "$place/results" --lists="$build/bin" --baselines="$1" --baseline-ref="$reference" --undecided=warn \
    --quiet || status=$?
  if [ $status != 2 ]; then exit $status; fi
}
judge baselines
echo "the merge base's holdfast does not read this change's policy or baselines: its own judge"
judge "$place/tree/baselines"

formats=(baselines/formats baselines/gate/documents)
read=0
"$holdfast" diff "$place/results" "$place/results" >/dev/null 2>&1 || read=$?
if [ $read = 2 ] && ! git diff --quiet "$base" -- "${formats[@]}"; then
  echo "::warning title=holdfast::the merge base's holdfast does not read results in this change's format;" \
    "its own verdict stands alone"
  exit 0
fi
echo "::error title=holdfast::the merge base's holdfast cannot judge this change, and no format of results is why;" \
  "it says so above"
exit 2
