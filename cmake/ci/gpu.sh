#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a bundle's tour on the GPU machine, and collects the results to be judged in one results root:
#   cmake/ci/gpu.sh BUNDLE.tar.gz OUT [option of run.sh ...]
# OUT receives tour/ with everything, and results/ with the first of its three gates.
set -euo pipefail
bundle=${1:?name the bundle}
out=${2:?name the folder that receives the results}
shift 2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -xzf "$bundle" -C "$place" --strip-components=1
mkdir -p "$out"
rm -rf "${out:?}/results" "$out/tour/cache" # from an older tour
status=0
# In CI a cache is bound to one run or to a secret, lest a pull request leave programs in a folder that a later run restores.
# A bundle's cache is bound to neither, or no other machine could use it, and comes in the same archive as the programs that
# read it: whoever could change the one could change the other. It serves this tour alone.
env -u CI -u HOLDFAST_CACHE_SECRET "$place/run.sh" --out="$out/tour" "$@" || status=$?
if [ ! -d "$out/tour/gate_1" ]; then
  echo "gpu: the tour left no gate_1, so nothing was measured that a baseline could judge; see $out/tour" >&2
  exit $((status == 0 ? 3 : status))
fi
cp -r "$out/tour/gate_1" "$out/results"
exit $status
