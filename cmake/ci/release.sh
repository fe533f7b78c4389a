#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays a bundle out as a release:
#   cmake/ci/release.sh TAG BUNDLE.tar.gz OUT
# TAG is v and the bundle's version. OUT receives the bundle, the notices of what it contains, and the checksums of both.
set -euo pipefail
tag=${1:?name the tag}
bundle=${2:?name the bundle}
out=${3:?name the folder that receives the release}
name=$(basename "$bundle")
if ! [[ $tag =~ ^v[0-9]+(\.[0-9]+)*$ && $name == "holdfast-${tag#v}-"* ]]; then
  echo "release: the tag $tag is not v and the version of $name; tag the commit whose CMakeLists.txt has that version" >&2
  exit 3
fi
mkdir -p "$out"
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
