# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For bash: `. ./environment.sh` puts the bundle's programs into PATH, their compiled programs into HOLDFAST_CACHE_DIR, and
# CUDA 13's libraries of this machine into LD_LIBRARY_PATH. Where a library is missing it says which, and returns 2.

holdfast_bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Where CUDA may be, by priority.
holdfast_cuda_roots() {
  local python
  [ -z "${CUDA_HOME:-}" ] || echo "$CUDA_HOME"
  echo /usr/local/cuda
  compgen -G '/usr/local/cuda-13*' || true
  for python in "${VIRTUAL_ENV:-}/bin/python3" "${CONDA_PREFIX:-}/bin/python3" python3; do
    "$python" -c 'import nvidia.cu13; print(list(nvidia.cu13.__path__)[0])' 2> /dev/null || true
  done
}

holdfast_cuda_folders() {  # ROOT
  local folder
  for folder in lib64 lib targets/x86_64-linux/lib extras/CUPTI/lib64; do
    [ ! -d "$1/$folder" ] || echo "$1/$folder"
  done
}

# Those libraries named on the standard input that are in none of the folders.
holdfast_lacks() {  # FOLDER...
  local library folder
  while read -r library; do
    for folder in "$@"; do
      [ ! -e "$folder/$library" ] || continue 2
    done
    echo "$library"
  done
}

holdfast_find_cuda() {
  local root looked='' missing nearest='' folders
  while read -r root; do
    mapfile -t folders < <(holdfast_cuda_folders "$root")
    looked+=" $root"
    [ ${#folders[@]} -gt 0 ] || continue
    missing=$(holdfast_lacks "${folders[@]}" < "$holdfast_bundle/lib/cuda-libraries")
    if [ -z "$missing" ]; then
      holdfast_cuda=$root
      LD_LIBRARY_PATH=$(IFS=:; echo "${folders[*]}")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
      export LD_LIBRARY_PATH
      holdfast_lacks "${folders[@]}" <<< libcupti.so.13 |
        sed 's|^|note: profiles will have no times of the device: |; s|$| of CUDA 13 is missing|' >&2
      return 0
    fi
    nearest=${nearest:-" ($root lacks ${missing//$'\n'/, })"}
  done < <(holdfast_cuda_roots)
  # The loader may find them through its own configuration.
  missing=$(LD_TRACE_LOADED_OBJECTS=1 LD_PRELOAD=$(tr '\n' ' ' < "$holdfast_bundle/lib/cuda-libraries") /bin/true 2>&1 |
    grep 'cannot be preloaded') || return 0
  echo "there is no complete CUDA 13 in$looked$nearest: install its toolkit or its Python wheels, or set CUDA_HOME;" \
    "needed are" "$(tr '\n' ' ' < "$holdfast_bundle/lib/cuda-libraries")" >&2
  return 2
}

# Programs use no cache that is neither their user's nor root's, or that others may write to; they use a copy of it.
holdfast_find_cache() {
  local own=${XDG_CACHE_HOME:-${HOME:-}/.cache}/holdfast.bundle
  HOLDFAST_CACHE_DIR=$holdfast_bundle/cache
  find "$HOLDFAST_CACHE_DIR" -maxdepth 0 \( -user 0 -o -user "$EUID" \) ! -perm /022 | grep -q . && return
  if mkdir -p "$own" && cp -r --update "$HOLDFAST_CACHE_DIR/." "$own" && chmod go-w "$own"; then HOLDFAST_CACHE_DIR=$own; fi
}

export PATH=$holdfast_bundle/bin:$PATH
[ -n "${HOLDFAST_CACHE_DIR:-}" ] || holdfast_find_cache
export HOLDFAST_CACHE_DIR
export holdfast_cuda=''  # the root of the CUDA that was found
export holdfast_libraries_before=${LD_LIBRARY_PATH:-}
holdfast_find_cuda
