#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# on_gpu.sh COMMAND...: runs a command on the GPU that CTest assigned to it, as `cuda`. With `ctest --resource-spec-file=FILE`
# CTest assigns one of those that `holdfast doctor --ctest-resources=FILE` wrote: the N-th that was visible to it. Without a
# file the command runs unchanged.
set -euo pipefail

given=${CTEST_RESOURCE_GROUP_0_GPUS:-} # id:1,slots:1
if [ -n "$given" ]; then
  id=${given#id:} id=${id%%,*}
  if ! [[ $id =~ ^[0-9]+$ ]]; then
    echo "on_gpu.sh: CTest gives the GPU '$id', which is no number; holdfast doctor --ctest-resources=FILE writes such a file" >&2
    exit 2
  fi
  if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
    IFS=, read -ra visible <<< "$CUDA_VISIBLE_DEVICES"
    if [ "$id" -ge ${#visible[@]} ]; then
      echo "on_gpu.sh: CTest gives GPU $id, and CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES shows ${#visible[@]}" >&2
      exit 2
    fi
    id=${visible[id]}
  fi
  export CUDA_VISIBLE_DEVICES=$id
fi
exec "$@"
