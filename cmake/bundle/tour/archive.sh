# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For run.sh: what a tour left, in a few files that are small enough to be carried away, the most worth first.
#
# A piece is what a step left, or a part of it: entries of an archive without its end, compressed by themselves. Pieces in a
# row and an end are an archive again, so each is compressed once, and writing all of it again after each step is copying.
# shellcheck disable=SC2015,SC2154  # a && b || c; archive and out are run.sh's

most_files=${most_files:-4}
most_bytes=${most_bytes:-$((16 * 1024 * 1024 - 65536))}  # of a file
of_state=${of_state:-$((512 * 1024))}                      # of them, for the summary and what a later call goes on from

bytes_of() {  # PATH
  du --summarize --apparent-size --block-size=1 "$1" | cut -f 1
}

# Leaves out the oracle answers of a stopped run, which are large and can be recomputed.
compress() {  # FILE PATH...: a piece of paths within the tour
  local file=$1 paths=("${@:2}")
  tar --create --blocking-factor=1 --exclude='*/.unfinished/*/answers' --directory="$(dirname "$out")" \
    "${paths[@]/#/$(basename "$out")/}" |
    head --bytes=-1024 | gzip > "$file"
}

# Cuts a path of the tour into pieces of `step`, small ones, so that files can be filled with them. A single file that is
# too large is left out, with a message.
cut_path() {  # PATH
  local path=$1 folder=$out/.pieces/$step piece child most=$((most_bytes - of_state))
  [ ! -d "$out/$path" ] || most=$((most_bytes / 8))
  if [ ! -d "$out/$path" ] || [ "$(bytes_of "$out/$path")" -le $((10 * most)) ]; then
    piece=$(wc -l < "$folder/index").gz
    compress "$folder/$piece" "$path"
    if [ "$(bytes_of "$folder/$piece")" -le $most ]; then
      echo "$piece $path" >> "$folder/index"
      return
    fi
    rm "$folder/$piece"
  fi
  if [ ! -d "$out/$path" ]; then
    echo "$path is left out: compressed it is larger than a file may be" >> "$folder/left-out"
    return
  fi
  while IFS= read -r child; do
    cut_path "$path/$child"
  done < <(find "$out/$path" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)
}

# Makes the pieces of what a step left so far.
cut_step() {  # STEP
  local step=$1 path
  rm -rf --one-file-system "${out:?}/.pieces/$step"
  mkdir -p "$out/.pieces/$step"
  : > "$out/.pieces/$step/index"
  for path in "$step" "logs/$step.log"; do
    [ ! -e "$out/$path" ] || cut_path "$path"
  done
}

file_name() {  # NUMBER
  [ "$1" -eq 1 ] && echo "$archive" || echo "${archive%.tar.gz}.$1.tar.gz"
}

# Writes new files and renames them into place: the pieces of each step, in the order of the steps, as far as there is room.
write_archive() {  # STEP...
  local step piece path bytes k used=() held=() left_out=()
  for ((k = 1; k <= most_files; ++k)); do used[k]=$of_state held[k]=''; done
  mkdir -p "$out/.pieces"
  for step in "$@"; do
    [ -d "$out/.pieces/$step" ] || [ ! -d "$out/$step" ] || cut_step "$step"
    [ -d "$out/.pieces/$step" ] || continue
    [ ! -f "$out/.pieces/$step/left-out" ] || mapfile -t -O ${#left_out[@]} left_out < "$out/.pieces/$step/left-out"
    while read -r piece path; do
      bytes=$(bytes_of "$out/.pieces/$step/$piece")
      for ((k = 1; k <= most_files; ++k)); do
        [ $((used[k] + bytes)) -le "$most_bytes" ] || continue
        used[k]=$((used[k] + bytes))
        held[k]+="$out/.pieces/$step/$piece"$'\n'
        continue 2
      done
      left_out+=("$path is left out: what comes before it fills $most_files files")
    done < "$out/.pieces/$step/index"
  done
  printf '%s\n' "${left_out[@]}" > "$out/left-out.txt"
  write_files
}

write_files() {
  local k state file
  mapfile -t state < <(cd "$out" && find . -maxdepth 2 \( -path './logs/*.txt' -o -path './logs/*.json' -o -path './logs/*.begun' \
    -o -path './logs/options' -o -regex '\./[^/]*\.txt' -o -path './summary.json' \) -type f -printf '%P\n' | sort)
  compress "$out/.pieces/state.gz" "${state[@]}"
  for ((k = 1; k <= most_files; ++k)); do
    file=$(file_name $k)
    if [ $k -gt 1 ] && [ -z "${held[k]}" ]; then
      rm -f "$file"
      continue
    fi
    {
      [ $k -gt 1 ] || cat "$out/.pieces/state.gz"
      while IFS= read -r piece; do cat "$piece"; done < <(printf '%s' "${held[k]}")
      head --bytes=1024 /dev/zero | gzip
    } > "$file.new" && mv "$file.new" "$file"
  done
}

# Unpacks what earlier calls wrote, if the tour's folder has none of it.
read_archive() {
  local k file
  for ((k = 1; k <= most_files; ++k)); do
    file=$(file_name $k)
    [ -f "$file" ] || continue
    tar --extract --gzip --file="$file" --directory="$out" --strip-components=1 ||
      fail "$file is no archive of a tour; take it away, or name another with --archive"
  done
}

list_archive() {
  local k file
  for ((k = 1; k <= most_files; ++k)); do
    file=$(file_name $k)
    [ ! -f "$file" ] || echo "$file: $(($(bytes_of "$file") / 1024)) KiB"
  done
}
