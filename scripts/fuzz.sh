#!/usr/bin/env bash
# fuzz.sh [SECONDS [TARGET...]]: runs each fuzz target that long (default 60 s; make fuzz builds them) and fails on any crash,
# leak, hang or runaway memory. Inputs that fail stay in build-fuzz/failures; what was learnt stays in build-fuzz/corpus.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
build=${LOWTIDE_FUZZ_BUILD:-build-fuzz}
targets=("$@")
((${#targets[@]})) || targets=(hlo_text stablehlo_text bytecode proto any_input dump_reports safetensors program)
python=${LOWTIDE_PYTHON:-.venv/bin/python}
[[ -x $python ]] || python=python3
"$python" tests/fuzz/make_seeds.py "$build/seeds" || exit 1
mkdir -p "$build/failures"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:allocator_may_return_null=0}
failed=0
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target"
  words=()
  case $target in
    hlo_text | any_input) words=(-dict="$build/seeds/hlo.dict") ;;
    stablehlo_text) words=(-dict="$build/seeds/stablehlo.dict") ;;
  esac
  log=$build/failures/$target.log
  nice -n 10 "$build/tests/fuzz/fuzz_$target" "$build/corpus/$target" "$build/seeds/$target" "${words[@]}" \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2560 -malloc_limit_mb=1024 -max_len=16384 -len_control=20 \
    -artifact_prefix="$build/failures/$target-" -print_final_stats=1 >"$log" 2>&1
  code=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  features=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
  if ((code == 0)); then
    echo "ok      $target: ${runs:-0} inputs in $seconds s, ${features:-no coverage}"
  else
    echo "FAILED  $target (exit $code): $log"
    grep -aE 'ERROR|SUMMARY|assert|runtime error|Test unit written|our own|fixpoint' "$log" | head -6
    failed=1
  fi
done
exit $failed
