#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays a bundle out as a release:
#   cmake/ci/release.sh BUNDLE.tar.gz OUT
# OUT receives the bundle, the notices of what it contains, and the checksums of both.
set -euo pipefail
bundle=${1:?name the bundle}
out=${2:?name the folder that receives the release}
mkdir -p "$out"
name=$(basename "$bundle")
cp "$bundle" "$out/$name"
notices=$(tar -tzf "$bundle" | grep -E '^[^/]+/(LICENSE|licences/.+[^/])$' || true)
if [ -z "$notices" ]; then
  echo "release: $bundle has no licences/, and holdfast gives nothing away without the terms of what is in it" >&2
  exit 3
fi
while read -r notice; do
  printf '==== %s\n\n' "${notice#*/}"
  tar -xzOf "$bundle" "$notice"
  printf '\n'
done <<< "$notices" > "$out/NOTICES.txt"
(cd "$out" && sha256sum "$name" NOTICES.txt > SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
echo "$out: $name, $(wc -l <<< "$notices") notices, SHA256SUMS"
