#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# complete_test.sh ARCHIVE sm_NN...: every case of every suite runs on cuda-dry of these architectures, and the bundle holds
# each program that it compiles. Fails with the sentence of the first that does not.
set -euo pipefail

archive=$(realpath "$1")
shift
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
tar -xzf "$archive" -C "$place"
cd "$place/$(basename "$archive" .tar.gz)"

fail() {
  echo "bundle: $1" >&2
  exit 1
}
# shellcheck source=cmake/bundle/environment.sh
. ./environment.sh
export HOLDFAST_CACHE_DIR=$PWD/cache
unset CI HOLDFAST_CACHE_SECRET # as where the cache was filled, or all would be compiled anew

mapfile -t suites < <(basename -a -s .list.json bin/*.list.json)
programs() {
  find cache -type f | wc -l
}
packed=$(programs)
for architecture in "$@"; do
  for suite in "${suites[@]}"; do
    "$suite" --device="cuda-dry:$architecture" --tier=full > "$place/said" 2>&1 ||
      { tail -n 20 "$place/said"; fail "$suite --tier=full fails on cuda-dry:$architecture"; }
    found=$(programs)
    [ "$found" -eq "$packed" ] ||
      fail "$suite compiles $((found - packed)) programs for $architecture that cmake/bundle/compile.cmake did not"
  done
done
echo "bundle: holds all $packed programs of ${suites[*]} for $*"
