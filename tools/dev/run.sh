# ./dev demo, bench, zoo, fuzz and aar.
# shellcheck shell=bash

command_demo() {
  local folder targets=()
  setup_unless_skipped build demo
  for folder in sdk collector tools sample; do
    [ ! -e "$folder/CMakeLists.txt" ] || targets+=("$folder/all")
  done
  build release "${targets[@]}"
  exec tools/demo.sh "$@"
}

command_bench() {
  local name='' json=() arguments=() bench benches=() status=0
  while [ $# -gt 0 ]; do
    local argument=$1
    shift
    case "$argument" in
      --json) json=(--json) ;;
      --) arguments+=("$@") && set -- ;;
      *)
        if [ -n "$name" ]; then arguments+=("$argument"); continue; fi
        case "$argument" in -*) fail "bench does not know $argument; see ./dev bench --help" 2 ;; esac
        name=$argument
        ;;
    esac
  done
  benches=(bench/*/main.cc)
  benches=("${benches[@]#bench/}") && benches=("${benches[@]%/main.cc}")
  if [ -n "$name" ]; then
    case " ${benches[*]} " in *" $name "*) benches=("$name") ;; *) fail "there is no bench $name; there are: ${benches[*]}" 2 ;; esac
  fi
  # Standard output is the benches' own: with --json a program reads it.
  setup_unless_skipped build bench >&2
  build release jankbox_benches >&2
  for bench in "${benches[@]}"; do
    "build/release/bin/bench_$bench" ${json[@]+"${json[@]}"} ${arguments[@]+"${arguments[@]}"} || status=1
  done
  return $status
}

command_zoo() {
  setup_unless_skipped build demo
  build release sdk/all tools/all
  exec tests/zoo/zoo.py "$@"
}

# fuzz_one FUZZER SECONDS: one line on what it did, and how many inputs it ran.
fuzz_one() {
  local fuzzer=$1 seconds=$2 name=${1##*/} corpus artifacts seeds=() status=0
  corpus=build/fuzz/corpus/$name artifacts=build/fuzz/artifacts/$name
  [ ! -d "tests/fuzz/seeds/$name" ] || seeds=("tests/fuzz/seeds/$name")
  mkdir -p "$corpus" "$artifacts"
  : >"build/fuzz/$name.log"
  # addr2line is there with every compiler; clang's own symbolizer is a package of 60 MB more.
  ASAN_OPTIONS=allow_addr2line=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:allow_addr2line=1 \
    stage "fuzz $name" "build/fuzz/$name.log" "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$artifacts/" -print_final_stats=1 "$corpus" ${seeds[@]+"${seeds[@]}"} || status=1
  sed -nE 's/^stat::number_of_executed_units: */  runs: /p' "build/fuzz/$name.log"
  return $status
}

# Runs as many at a time as there are processors; each prints its result at the end.
command_fuzz() {
  local seconds=${1:-60} fuzzer fuzzers running=0 status=0
  case "$seconds" in '' | *[!0-9]*) fail "fuzz takes a number of seconds, not $seconds" 2 ;; esac
  build fuzz tests/fuzz/all || return 1
  fuzzers=(build/fuzz/bin/*_fuzzer)
  printf '%d fuzzers, %d at a time, %d s each\n' "${#fuzzers[@]}" "$(nproc)" "$seconds"
  for fuzzer in "${fuzzers[@]}"; do
    if [ "$running" -ge "$(nproc)" ]; then
      wait -n || status=1
      running=$((running - 1))
    fi
    { output=$(fuzz_one "$fuzzer" "$seconds") && code=0 || code=1; printf '%s\n' "$output"; exit "$code"; } &
    running=$((running + 1))
  done
  while [ "$running" -gt 0 ]; do
    wait -n || status=1
    running=$((running - 1))
  done
  [ $status = 0 ] || printf 'inputs that failed: build/fuzz/artifacts/\n'
  return $status
}

command_aar() {
  have javac python3 || fail "no javac or no python3 here: run ./dev setup first"
  exec tools/build_aar --out build/jankbox.aar "$@"
}
