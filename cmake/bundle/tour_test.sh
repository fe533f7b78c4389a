#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tour_test.sh ARCHIVE: takes the tour of a bundle on a dry device, in an empty folder and an empty environment, with a suite
# of which one case hangs and one crashes, with calls that are killed and budgets that end. Fails with the sentence of the
# first promise that is broken.
set -euo pipefail

archive=$(realpath "$1") sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
tar -xzf "$archive" -C "$place"
bundle=$place/$(basename "$archive" .tar.gz)
cd "$bundle"

fail() {
  echo "tour: $1" >&2
  exit 1
}
tour() {  # OPTION...: what it says is in $place/said, its exit code in `code`
  code=0
  env -i PATH=/usr/bin:/bin HOME="$place" ${CUDA_HOME:+CUDA_HOME="$CUDA_HOME"} \
    bash ./run.sh --device=cuda-dry:sm_90 --quick "$@" > "$place/said" 2>&1 || code=$?
}
expect() {  # CODE PATTERN WHAT
  [ "$code" -eq "$1" ] || { cat "$place/said"; fail "$3: exit $code, not $1"; }
  grep -q -- "$2" "$place/said" || { cat "$place/said"; fail "$3: nobody says '$2'"; }
}
statuses() {  # FILE: of its cases, in a row
  grep -oE '"status": "(ok|timeout|crashed)"' "$1" | cut -d '"' -f 4 | paste -s -d ' '
}

# ---- what cannot be is one sentence ----

tour --frob
expect 2 '^run.sh: unknown option --frob; --help' "an option that is none"
[ "$(wc -l < "$place/said")" -eq 1 ] || fail "an option that is none takes more than its sentence"
code=0
bash "$sources/run.sh" --out="$place/none" > "$place/said" 2>&1 || code=$?
expect 2 'pack it first: cmake --workflow --preset bundle' "a tour of the source tree"
[ ! -e "$place/none" ] || fail "a tour of the source tree leaves a folder"

# ---- one real suite, and one that goes wrong in the step gate_1 ----

for list in bin/*.list.json; do
  suite=$(basename "$list" .list.json)
  [ "$suite" = cubed_sphere_swe ] || rm "bin/$suite" "$list" "baselines/policy/$suite.json"
done
cat > bin/planted << 'END'
#!/bin/bash
# Three cases: the first hangs, the second crashes where results go to the step gate_1, the third is well.
cases=(planted/hangs/n:1/f64 planted/crashes/n:1/f64 planted/well/n:1/f64) out='' filter='' done=''
for argument in "$@"; do
  case "$argument" in
    --list=json)
      for id in "${cases[@]}"; do
        rows+=${rows:+,}'{"id": "'$id'", "tier": "smoke", "reference": false, "limit": 1, "devices": {"cuda-dry": {"metrics": []}}}'
      done
      echo '{"schema": "holdfast-list/2", "suite": "planted", "metrics": {}, "cases": ['"$rows"']}'
      exit ;;
    --out=*) out=${argument#*=} ;;
    --filter=*) filter=${argument#*=} ;;
  esac
done
for id in "${cases[@]}"; do
  [[ $id =~ $filter ]] || continue
  echo "[1/3] $id" >&2
  case "$out $id" in
    */gate_1/*hangs*) sleep 100 ;;
    */gate_1/*crashes*) kill -SEGV $$ ;;
  esac
  done+=${done:+,}'{"id": "'$id'", "tier": "smoke", "status": "ok", "reason": null, "executed": false, "metrics": {}, "check": {"status": "not_executed", "error": null, "limit": 1, "oracle": "none"}, "variants": {}}'
  cat > "$out" << DONE
{"schema": "holdfast-results/1", "suite": "planted", "tier": "smoke", "partial": false, "run": {"processes": 1},
 "env": {"device_class": "cuda-dry-sm_90", "device_name": "cuda-dry:sm_90",
  "device": {"name": "dry sm_90", "sm": "sm_90", "sms": 132, "memory_bytes": null}, "driver": null, "cuda": null,
  "nvrtc": null, "nvjitlink": null, "compiler": null, "flags": null, "fingerprint": "planted",
  "host": {"cpu": null, "processor": "Planted-1-2", "threads": 1, "isa": null}},
 "quality": {"valid": true, "reasons": [], "load": null, "sm_clock_hz": null, "throttled": null, "temperature_c": null,
  "other_processes": null}, "ceilings": {}, "cases": [$done]}
DONE
done
END
chmod +x bin/planted
bin/planted --list=json > bin/planted.list.json

# ---- a case that hangs and one that crashes cost themselves alone ----

tour --out="$place/one" --only=smoke,gate_1,gate_2 --case=4 --archive="$place/one.tar.gz"
expect 3 'gate_1 *failed *3' "a hung and a crashed case leave the gate incomplete"
expect 3 'smoke *well *0' "the step before them is well"
expect 3 'gate_2 *well *0' "the step after them is taken"
[ "$(statuses "$place/one/gate_1/cuda-dry-sm_90/planted.json")" = "timeout crashed ok" ] ||
  fail "what hung, what crashed and what was well is not told apart"
[[ $(statuses "$place/one/gate_1/cuda-dry-sm_90/cubed_sphere_swe.json") =~ ^ok( ok)*$ ]] ||
  fail "the suite beside them was not measured"
grep -q '"step": "gate_1", "status": "failed", "rc": 3' "$place/one/summary.json" || fail "summary.json tells no failed step"
tour --out="$place/one" --only=smoke,gate_1 --resume
expect 3 'smoke: .* (taken before)' "what has ended is not taken again"
expect 3 'gate_1: .* (taken before)' "nor what has failed"

tour --out="$place/one" --only=dry_equals_real --resume
[ -e "$place/one/dry_equals_real/real" ] || fail "a gate that is not whole is compared"

# ---- a killed call loses the step that it was in; the next goes on from the archive, wherever it is ----

until_planted() {  # OUT: the tour there has come to the suite that hangs
  local tries
  for ((tries = 0; tries < 300; ++tries)); do
    ! grep -qs 'measure.*planted' "$1/logs/gate_1.log" || return 0
    sleep 0.1
  done
  fail "the tour to be stopped does not come to its step"
}
of_session() {  # SESSION: its processes
  local stat rest
  for stat in /proc/[0-9]*/stat; do
    read -r rest 2> /dev/null < "$stat" || continue
    read -r _ _ _ session _ <<< "${rest##*) }"
    [ "$session" != "$1" ] || cut -d / -f 3 <<< "$stat"
  done
}
env -i PATH=/usr/bin:/bin HOME="$place" ${CUDA_HOME:+CUDA_HOME="$CUDA_HOME"} setsid bash ./run.sh \
  --device=cuda-dry:sm_90 --quick --out="$place/two" --only=smoke,gate_1 --archive="$place/two.tar.gz" > /dev/null 2>&1 &
until_planted "$place/two"
of_session $! | xargs kill -KILL || fail "the tour to be killed does not run"
wait $! 2> /dev/null || true
gzip --test "$place/two.tar.gz" || fail "a killed call leaves half an archive"
before=$(sha256sum < "$place/two/smoke/cuda-dry-sm_90/planted.json")
rm -r "$place/two"
tour --out="$place/two" --only=smoke,gate_1 --case=1 --archive="$place/two.tar.gz" --resume
expect 3 'smoke: .* (taken before)' "the archive knows what has ended"
expect 3 'gate_1 *failed *3' "what was killed is taken again"
[ "$before" = "$(sha256sum < "$place/two/smoke/cuda-dry-sm_90/planted.json")" ] || fail "results do not survive in the archive"
mkdir "$place/unpacked"
tar -xzf "$place/two.tar.gz" -C "$place/unpacked"
diff -r --exclude=cache --exclude=.pieces "$place/two" "$place/unpacked/two" || fail "the archive is not what the tour left"
rm -r "$place/two"
tour --out="$place/two" --only=smoke --archive="$place/two.tar.gz"
expect 3 'gate_1 *failed *3' "a step that is taken again elsewhere leaves the archive its others"
tar -tzf "$place/two.tar.gz" | grep 'gate_1/.*/planted.json' > /dev/null || fail "steps that were not asked for leave the archive"

# ---- a budget ----

tour --out="$place/three" --only=smoke,gate_2 --budget=1
expect 3 'gate_2 *left .* not begun' "a budget that is spent leaves steps"
tour --out="$place/three" --only=smoke,gate_2 --budget=300 --resume
expect 0 'gate_2 *well' "the next call takes what is left"
tour --out="$place/three" --only=dry_equals_real --resume --archive="$place/three.tar.gz"
expect 0 'dry_equals_real *well .* 0 counts or code metrics differ, 0 cases or suites' "without a gate each suite is measured to be compared"
twice=$(tar -tzf "$place/three.tar.gz" | sort | uniq -d)
[ -z "$twice" ] || fail "the archive holds twice $twice"
tour --out="$place/three" --only=gate_1,calibrations --budget=20 --case=90
expect 3 'gate_1 *stopped .* did not end within 5 s' "a step has a share of the budget"

touch "$place/three/gate_2/of_an_older_tour"
tour --out="$place/three" --only=gate_2 --resume --device=cuda-dry:sm_80
expect 2 'what was begun with --device=cuda-dry:sm_90 --quick: ' "another device does not go on in this one's tour"
cp "$place/three/summary.json" "$place/of_one_device.json"
tour --out="$place/three" --only=gate_2 --device=cuda-dry:sm_80
expect 2 'what was begun with --device=cuda-dry:sm_90 --quick: ' "a step of another device does not come beside this one's"
cmp "$place/of_one_device.json" "$place/three/summary.json" || fail "a tour that is refused changes what the earlier one said"
[ -e "$place/three/gate_2/of_an_older_tour" ] || fail "a tour that goes on takes away what it had"
echo compiled > cache/of_a_newer_bundle
tour --out="$place/three" --only=gate_2
expect 3 'gate_2 *well' "a step is taken again"
[ -e "$place/three/cache/of_a_newer_bundle" ] || fail "a tour goes on without the programs of a newer bundle"
[ ! -e "$place/three/gate_2/of_an_older_tour" ] || fail "a step that is taken again keeps what it left there before"

# ---- a device that is not there, and an interruption ----

tour --device=cuda:99 --out="$place/none" --only=smoke,gate_2
expect 77 'smoke *skipped *77' "a device that is not there is skipped"
[ ! -e "$place/none/logs/gate_2.txt" ] || fail "a device that is not there is asked for all steps"

env -i PATH=/usr/bin:/bin HOME="$place" ${CUDA_HOME:+CUDA_HOME="$CUDA_HOME"} bash ./run.sh --device=cuda-dry:sm_90 --quick \
  --out="$place/stopped" --only=gate_1 --archive="$place/stopped.tar.gz" > "$place/said" 2>&1 &
until_planted "$place/stopped"
kill -TERM $!
code=0
wait $! || code=$?
expect 130 'gate_1: ' "who is told to stop, stops"
grep -q 'gate_1 *stopped .* --resume goes on' "$place/stopped/summary.txt" || fail "the interrupted step is not named"
tar -tzf "$place/stopped.tar.gz" | grep 'gate_1/.*/cubed_sphere_swe.json' > /dev/null || fail "what an interrupted step had is lost"

# ---- what cannot be meant ----

tour --budget=0
expect 2 'give whole seconds' "a budget of nothing"
tour --archive=tour.zip
expect 2 'ends in .tar.gz' "another archive"
tour --only=nothing
expect 2 'there is no step nothing' "an unknown step"
for only in 'smoke gate_1' 'smok.' ',' 'smoke,' ''; do
  tour --only="$only"
  expect 2 '^run.sh: .*--only=.*--help lists them$' "steps that are none, --only='$only',"
done
echo broken > "$place/broken.tar.gz"
tour --out="$place/four" --archive="$place/broken.tar.gz" --resume
expect 2 'is no archive of a tour' "an archive that is none"

# ---- archives stay small; what is worth least is left out, and named ----

(
  export out=$place/five archive=$place/five.tar.gz most_bytes=700000 most_files=2 of_state=20000
  # shellcheck source=cmake/bundle/tour/archive.sh
  . tour/archive.sh
  mkdir -p "$out/logs" "$out"/{first,second,third}/deep "$out/first/.unfinished/suite.cuda/answers"
  head --bytes=600000 /dev/urandom > "$out/first/.unfinished/suite.cuda/answers/of_an_oracle.answer"
  for file in first/a first/b second/deep/c third/d; do head --bytes=250000 /dev/urandom > "$out/$file"; done
  head --bytes=900000 /dev/urandom > "$out/second/deep/large"
  head --bytes=300000 /dev/urandom > "$out/third/deep/e"
  write_archive first second third
)
for file in "$place"/five{,.2}.tar.gz; do
  [ "$(stat --format=%s "$file")" -le 700000 ] || fail "$file is larger than a file may be"
  tar -xzf "$file" -C "$place/unpacked"
done
[ "$(cd "$place/unpacked/five" && find first second third -type f | sort | paste -s -d ' ')" = \
  "first/a first/b second/deep/c third/d" ] || fail "the least worth is not what is left out"
[ "$(cut -d ' ' -f 1 "$place/five/left-out.txt" | sort | paste -s -d ' ')" = "second/deep/large third/deep/e" ] ||
  fail "what is left out is not named"

# ---- a step that was begun is told so ----

cp tour/steps.sh "$place/steps.sh"
cat > tour/steps.sh << 'END'
mkdir -p "$out/$1/.parts"
[ ! -e "$bundle/ends_a_part" ] || echo 0 > "$out/$1/.parts/$$"
echo "taken again: $again"
exit 124
END
begun() {  # OPTION...
  tour --out="$place/begun" --only=smoke,calibrations --budget=100 "$@"
}
begun
expect 3 'smoke *stopped .* within 12 s.* taken again: no' "the first call begins a step"
touch ends_a_part
for share in 24 12 12 12; do
  begun --resume
  expect 3 "smoke *stopped .* within $share s.* taken again: yes" "the next call goes on in it"
done
rm ends_a_part
for share in 12 24 36; do
  begun --resume
  expect 3 "smoke *stopped .* within $share s" "a step that came no further in its share gets more"
done
begun --resume
expect 3 'smoke *failed .* was begun 3 times and came no further' "what never ends is not begun for ever"
tour --out="$place/alone" --only=smoke --budget=100
expect 3 'smoke *stopped .* within 9[0-9] s' "a step that leaves its time to no other gets all of it"
mv "$place/steps.sh" tour/steps.sh

# ---- side by side, with a Python that has no JAX, and one that says that it has ----

mkdir "$place/python"
side_by_side() {
  rm -rf "$place/side"
  code=0
  PATH=$place/python:$PATH LD_LIBRARY_PATH=/ours holdfast_libraries_before=/theirs bundle=$bundle out=$place/side device=cuda quick=no seconds=9 case_seconds=9 again=no \
    bash tour/steps.sh side_by_side > "$place/said" 2>&1 || code=$?
}
printf '#!/bin/sh\nexit 1\n' > "$place/python/python3"
chmod +x "$place/python/python3"
rm bin/planted bin/planted.list.json
tour --out="$place/six" --only=gate_1,dry_equals_real
expect 0 'dry_equals_real *well .* 0 counts or code metrics differ' "a gate that was taken is compared"
[ ! -e "$place/six/dry_equals_real/real" ] || fail "a gate that was taken is measured once more to be compared"
tour --out="$place/six" --only=full
expect 0 'full *well' "the larger sizes are measured and judged"
grep -qF -- '--filter=\^\(cubed_sphere_swe/rhs/' "$place/six/logs/full.log" || fail "what a whole gate has measured is measured again"
echo another > "$place/six/gate_1/.parts/of"
tour --out="$place/six" --only=full
grep -qF -- '--filter=\^cubed_sphere_swe/rhs/' "$place/six/logs/full.log" || fail "what another bundle or device measured is left out"
tour --out="$place/six" --only=dry_equals_real
[ -e "$place/six/dry_equals_real/real" ] || fail "what another bundle or device measured is compared"
side_by_side
expect 77 'has no JAX to compare with' "a machine without JAX"
cat > "$place/python/python3" << 'END'
#!/bin/sh
echo "$LD_LIBRARY_PATH: $*"
for argument; do case "$argument" in --suite=*) "${argument#*=}" --out=/dev/stdout ;; esac; done
END
cat > bin/cubed_sphere_swe << 'END'
#!/bin/sh
echo "$LD_LIBRARY_PATH: the suite"
END
touch bin/a_new_one.list.json
side_by_side
expect 0 '1 of 2 workloads are timed' "a machine with JAX, and a workload without a plain formulation"
rm bin/a_new_one.list.json
of_suite=$place/side/side_by_side/cubed_sphere_swe.txt
grep -q '^/theirs: .*/cubed_sphere_swe.py --library=jax --device=cuda .* --n=384' "$of_suite" ||
  fail "the side by side asks for something else"
grep -q '^/ours: the suite' "$of_suite" || fail "beside JAX a suite does not find its libraries"

# ---- the worst of all codes ----

(
  # shellcheck source=cmake/bundle/tour/codes.sh
  . tour/codes.sh
  [ "$(worse 0 0) $(worse 77 0) $(worse 4 77) $(worse 1 4) $(worse 3 1) $(worse 3 2)" = "0 77 4 1 3 2" ] &&
    [ "$(worse 0 77) $(worse 77 4) $(worse 4 1) $(worse 1 3) $(worse 2 3)" = "77 4 1 3 2" ]
) || fail "the worse of two codes is another one"

# ---- what steps ask of holdfast, and of the tests ----

cat > "$place/python/holdfast" << 'END'
#!/bin/sh
echo "asked: $*"
[ "$1" != "$FAILS" ] || exit 3
END
chmod +x "$place/python/holdfast"
step() {  # STEP DEVICE AGAIN [VERB that fails]
  rm -rf "$place/asked"
  code=0
  FAILS=${4:-none} PATH=$place/python:$PATH bundle=$bundle out=$place/asked device=$2 quick=yes seconds=9 case_seconds=7 again=$3 \
    bash tour/steps.sh "$1" > "$place/said" 2>&1 || code=$?
}
asked="asked: run cubed_sphere_swe --device=cuda-dry:sm_90 --tier=smoke --timeout=7 --out=$place/asked"
step gate_2 cuda-dry:sm_90 no
expect 0 "^$asked/gate_2 --processes=1\$" "a gate measures each suite"
expect 0 "^asked: check $place/asked/gate_2 --baselines=$bundle/baselines --undecided=warn\$" "a gate is judged"
step gate_2 cuda-dry:sm_90 yes
expect 0 "^$asked/gate_2 --resume --processes=1\$" "a gate that was begun goes on in its suites"
step gate_2 cuda-dry:sm_90 no run
expect 3 '^asked: check ' "what could not be measured is told, though what follows it is well"
step dry_equals_real cuda-dry:sm_90 no
expect 0 "^asked: diff $place/asked/dry_equals_real/real $place/asked/dry_equals_real/dry\$" "the device is compared with a dry one"

# ---- what times nothing runs beside one another where there are CPUs for it, in a share below ten minutes ----

cp bin/cubed_sphere_swe bin/another
cp bin/cubed_sphere_swe.list.json bin/another.list.json
cat > "$place/python/compute-sanitizer" << 'END'
#!/bin/bash
# Ends well if that of the other suite has begun.
log=$8 program=$9
touch "$log.begun"
for ((tries = 0; tries < 10; ++tries)); do
  others=("${log%/*}"/*.begun)
  [ ${#others[@]} -lt 2 ] || break
  sleep 0.1
done
echo "ERROR SUMMARY: 0 errors" > "$log"
[ ${#others[@]} -eq 2 ] && [ "${program##*/}" != "$FAILS" ]
END
# shellcheck disable=SC2016  # expanded by it
printf '#!/bin/sh\necho $cpus\n' > "$place/python/nproc"
chmod +x "$place/python"/{compute-sanitizer,nproc}
export cpus=4
step memcheck cuda no
expect 0 '^memcheck complains about 0 of 2 suites, 0 did not end' "suites that are watched run beside one another"
step memcheck cuda no another
expect 1 '^another: ' "what fails beside others is told under its name"
cpus=2
step memcheck cuda no
expect 1 '^memcheck complains about 0 of 2 suites' "on two CPUs suites take turns"
cpus=4
printf '#!/bin/sh\necho Exclusive_Process\n' > "$place/python/nvidia-smi"
chmod +x "$place/python/nvidia-smi"
step memcheck cuda no
expect 1 '^memcheck complains about 0 of 2 suites' "on a GPU for one process suites take turns"
rm "$place/python/nvidia-smi"
rm bin/another bin/another.list.json

# ---- a GPU that is not the dry device's ----

cat > "$place/python/holdfast" << 'END'
#!/bin/sh
case "$1" in
  list) [ "$sm" != sm_103 ] || { echo "there is no such architecture" >&2; exit 2; } ;;
  diff) echo "$difference"; exit 1 ;;
  run)
    sms=$multiprocessors
    for argument; do
      case "$argument" in --out=*) out=${argument#*=} ;; --device=cuda-dry:*) sms=132 ;; esac
    done
    mkdir -p "$out/class"
    printf '{"sm": "%s", "sms": %s}\n' "$sm" "$sms" > "$out/class/suite.json" ;;
esac
END
of_gpu() {  # ARCHITECTURE MULTIPROCESSORS DIFFERENCE
  sm=$1 multiprocessors=$2 difference=$3 step dry_equals_real cuda no
}
differs='  differs  a/case  optimized  peak_bytes  2 -> 3'
of_gpu sm_90 114 "$differs"
expect 0 'this GPU has 114 multiprocessors, the dry device 132: what is sized by them differs$' "a smaller GPU is no defect"
grep -qx "$differs" "$place/asked/dry_equals_real/differences.txt" || fail "what differs on a smaller GPU is not kept"
of_gpu sm_90 132 "$differs"
expect 1 ' 1 counts or code metrics differ' "a difference on a GPU of the dry device's size is a defect"
! grep -q multiprocessors "$place/said" || fail "a GPU of the dry device's size is told to be of another"
of_gpu sm_90 114 '  only in the first   a/case'
expect 1 ' 1 cases or suites are on one side alone' "a case that is on one side alone has nothing to do with size"
of_gpu sm_90 114 '  no result           a/case'
expect 1 'against cuda-dry:sm_90' "nor has one without a right result"
of_gpu sm_103 114 "$differs"
expect 77 '^cuda-dry has no sm_103, so there is nothing to compare this GPU with$' "an architecture that is not dry is skipped"

rm -rf tests
mkdir tests
printf '#!/bin/sh\nexit 1\n' > tests/a_test
printf '#!/bin/sh\nexit 0\n' > tests/b_test
chmod +x tests/*
step gpu_tests cuda no
expect 1 '^failed: a_test, 0 are skipped' "a test that fails before one that passes"
cat > tests/a_test << 'END'
#!/bin/sh
echo "sees $CUDA_VISIBLE_DEVICES"
END
step gpu_tests cuda:1 no
expect 0 '^sees 1$' "tests take another GPU than the tour"
CUDA_VISIBLE_DEVICES=4,GPU-7a step gpu_tests cuda:1 no
expect 0 '^sees GPU-7a$' "tests take another GPU of those that are visible"
echo "tour: keeps what it promises"
