#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the tools and libraries that holdfast needs, from the distribution and from pinned Python
# wheels. Running it again installs only what is missing.
set -euo pipefail

usage() {
  cat <<'END'
usage: cmake/bootstrap.sh [--cuda] [--lint] [--check]

  (no option)  installs what is missing of the Debian packages and the Python wheels in .venv; nvdisasm is among them
               where CUDA is
  --cuda       also installs the CUDA 13.0 pieces (NVRTC, nvJitLink, cudart, cuBLAS, cuFFT, CUPTI) as wheels in
               .venv, unless a toolkit of CUDA 13 is there; no driver and no GPU is needed for cuda-dry
  --lint       also installs what preset lint runs: clang-format and shellcheck, and the wheels of
               cmake/ci/requirements.txt (clang-tidy, ruff, mypy, zizmor, check-jsonschema) in .venv
  --check      installs nothing, says in one line what is missing, and exits 1 if anything is

examples:
  ./cmake/bootstrap.sh && cmake --workflow --preset perf
  ./cmake/bootstrap.sh --cuda && cmake --workflow --preset test
END
}

fail() {
  echo "bootstrap: $1" >&2
  exit "${2:-1}"
}

cuda=no
lint=no
check=no
for argument in "$@"; do
  case "$argument" in
    --cuda) cuda=yes ;;
    --lint) lint=yes ;;
    --check) check=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option '$argument'" 2 ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages=(g++ cmake ninja-build git ca-certificates python3 python3-venv
  libbenchmark-dev libgtest-dev libgmock-dev nlohmann-json3-dev libssl-dev libprotozero-dev libre2-dev zlib1g-dev
  libfftw3-dev libopenblas-openmp-dev libboost-context-dev valgrind chromium)
[ $lint = yes ] && packages+=(clang-format shellcheck)

command -v dpkg-query > /dev/null ||
  fail "this is not a Debian system; install by hand: ${packages[*]}, then run it in a Debian 12 container to compare"

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

# An installed toolkit counts as present if it has the headers that the build needs, of CUDA 13 (as in Dependencies.cmake).
has_toolkit() {
  local place header version
  for place in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda; do
    for header in nvrtc.h nvJitLink.h cuda_runtime_api.h cublas_v2.h cufft.h; do
      [ -f "$place/include/$header" ] || continue 2
    done
    version=$(sed -nE '/^#define CUDART_VERSION +[0-9]/{s/[^0-9]*([0-9]+).*/\1/p;q}' "$place/include/cuda_runtime_api.h")
    [ "${version:-0}" -lt 13000 ] || return 0
  done
  return 1
}

# A stamp beside the wheels holds the hash of the list they were installed from.
wheels_missing() {  # LIST STAMP
  [ "$(cat "$root/.venv/$2" 2> /dev/null)" != "$(sha256sum < "$1")" ]
}

# CUDA's wheels are needed with --cuda and without a toolkit.
cuda_wheels_missing() {
  [ $cuda = yes ] && ! has_toolkit && wheels_missing "$root/cmake/cuda-requirements.txt" cuda.stamp
}

# If device code is compiled, its instructions are counted, by one version of nvdisasm.
disassembler_missing() {
  { [ $cuda = yes ] || has_toolkit || [ -f "$root/.venv/cuda.stamp" ]; } &&
    wheels_missing "$root/cmake/disassembler-requirements.txt" disassembler.stamp
}

lint_wheels_missing() {
  [ $lint = yes ] && wheels_missing "$root/cmake/ci/requirements.txt" lint.stamp
}

lacks=("${missing[@]}")
if wheels_missing "$root/reporting/requirements.txt" reporting.stamp; then
  lacks+=("the wheels of reporting/requirements.txt")
fi
if cuda_wheels_missing; then lacks+=("the wheels of cmake/cuda-requirements.txt"); fi
if lint_wheels_missing; then lacks+=("the wheels of cmake/ci/requirements.txt"); fi

if disassembler_missing; then lacks+=("the wheel of cmake/disassembler-requirements.txt"); fi

if [ $check = yes ]; then
  [ ${#lacks[@]} -eq 0 ] && echo "bootstrap: nothing is missing" && exit 0
  printf -v list '%s, ' "${lacks[@]}"
  fail "missing: ${list%, }"
fi

if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null ||
      fail "not root and no sudo; ask for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  echo "bootstrap: installing ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  "${as_root[@]}" apt-get update -qq > "$log" 2>&1 ||
    { tail -n 5 "$log" >&2; fail "apt-get update failed; is the network there?"; }
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" > "$log" 2>&1 ||
    { tail -n 5 "$log" >&2; fail "apt-get could not install: ${missing[*]}"; }
fi

install_wheels() {  # LIST STAMP
  # -I: keeps modules in the current folder from replacing Python's own.
  [ -x "$root/.venv/bin/python3" ] || /usr/bin/python3 -I -m venv "$root/.venv"
  echo "bootstrap: installing the wheels of ${1#"$root"/}"
  "$root/.venv/bin/python3" -I -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
    --requirement "$1" ||
    fail "pip could not install the wheels of ${1#"$root"/}"
  sha256sum < "$1" > "$root/.venv/$2"
}
if wheels_missing "$root/reporting/requirements.txt" reporting.stamp; then
  install_wheels "$root/reporting/requirements.txt" reporting.stamp
fi
if cuda_wheels_missing; then
  install_wheels "$root/cmake/cuda-requirements.txt" cuda.stamp
fi

if lint_wheels_missing; then
  install_wheels "$root/cmake/ci/requirements.txt" lint.stamp
fi

if disassembler_missing; then
  install_wheels "$root/cmake/disassembler-requirements.txt" disassembler.stamp
fi

if has_toolkit || [ -f "$root/.venv/cuda.stamp" ]; then
  echo "bootstrap: ready (host and cuda-dry; cuda where there is a driver)"
else
  echo "bootstrap: ready, without the CUDA toolkit: host only (./cmake/bootstrap.sh --cuda adds cuda-dry)"
fi
