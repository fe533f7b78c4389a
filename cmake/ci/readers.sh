#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads holdfast's exports with the programs that they are made for:
#   cmake/ci/readers.sh [BUILD]
# Installs Otava beside the build (BUILD/readers), from pinned wheels, and checks with Google Benchmark's compare.py
# (Debian's libbenchmark-tools) and CTest as well: the test gate.readers_test, which then skips nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
readers=$(mkdir -p "$build/readers" && cd "$build/readers" && pwd)
list=cmake/ci/readers-requirements.txt

if [ "$(cat "$readers/stamp" 2> /dev/null)" != "$(sha256sum < $list)" ]; then
  [ -x "$readers/bin/python3" ] || python3 -I -m venv "$readers"
  "$readers/bin/python3" -I -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
    --requirement "$list"
  sha256sum < "$list" > "$readers/stamp"
fi
HOLDFAST_READERS=$readers ctest --test-dir "$build" --no-tests=error --output-on-failure -R '^gate\.readers_test$'
