# One run of the tests by ctest, and the counts of all stages of ./dev test.
# shellcheck shell=bash

SUMMARY=()
PASSED=0 FAILED=0 SKIPPED=0

# Most of the time of the tests is waiting, for a program or for a time: many more at once than there are processors.
test_jobs() { echo $(($(nproc) + 4)); }

# run_ctest PRESET LOG CTEST-ARGS...
run_ctest() {
  local preset=$1 log=$2 progress=()
  shift 2
  # Sanitizers, and the library that must come first if a test loads the agent into a program built without them.
  local -x ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:check_initialization_order=1:${ASAN_OPTIONS:-}"
  local -x UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
  if [ "$preset" = asan-ubsan ]; then
    local -x JANKBOX_TEST_PRELOAD
    JANKBOX_TEST_PRELOAD=$(gcc -print-file-name=libasan.so)
  fi
  [ ! -t 1 ] || progress=(--progress)
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(test_jobs)" --timeout 300 --output-log "$log" \
    ${progress[@]+"${progress[@]}"} "$@"
}

# run_suite PRESET CTEST-ARGS...: runs the tests once and adds their counts to the summary.
run_suite() {
  local preset=$1 log="$PWD/build/$1/ctest.log" began=$SECONDS failed total skipped
  shift
  printf '\n%s%s: the tests%s\n' "$BOLD" "$preset" "$PLAIN"
  rm -f "$log"
  run_ctest "$preset" "$log" "$@" || true
  read -r failed total < <(failed_and_total "$log") || { failed=1 total=1 && echo "$preset: ctest" >>build/failed_tests; }
  failed_names "$log" | sed "s/^/$preset /" >>build/failed_tests
  report_failures "$log" >"build/$preset/failures.txt"
  skipped=$(sed -nE 's/^\t *[0-9]+ - (.*) \(Skipped\)$/\1/p' "$log" | tee -a build/skipped_tests | wc -l)
  count "$preset" $((total - failed - skipped)) "$failed" "$skipped" $((SECONDS - began))
}

failed_and_total() { sed -nE 's/.* ([0-9]+) tests failed out of ([0-9]+).*/\1 \2/p' "$1" | tail -n 1; }
failed_names() { sed -nE '/^The following tests FAILED:/,/^$/s/^\t *[0-9]+ - (.*) \([^()]*\)$/\1/p' "$1"; }

# report_failures CTEST-LOG: the end of the output of each failed test.
report_failures() {
  awk '
    function print_end(i) { for (i = n > 30 ? n - 30 : 0; i < n; i++) print "  | " line[i]; n = 0 }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { print_end(); on = /\*\*\*/ && !/\*\*\*Skipped/; gsub(/\.\.\.+/, " "); if (on) print; next }
    /^ +Start +[0-9]+: / { print_end(); on = 0 }
    /tests passed, .* tests failed out of/ { print_end(); on = 0 }
    on { line[n++] = $0 }' "$1"
}

# count NAME PASSED FAILED SKIPPED SECONDS
count() {
  PASSED=$((PASSED + $2)) FAILED=$((FAILED + $3)) SKIPPED=$((SKIPPED + $4))
  SUMMARY+=("$(printf '%-18s %5d passed, %d failed, %d skipped %6d s' "$@")")
}

# part NAME COMMAND...: counts as one test, a skipped one if the status is 77: the command has said why. Its own `set -e` does not
# work here: it returns its status.
part() {
  local name=$1 began=$SECONDS status=0
  shift
  printf '\n%s%s%s\n' "$BOLD" "$name" "$PLAIN"
  "$@" || status=$?
  case $status in
    0) count "$name" 1 0 0 $((SECONDS - began)) ;;
    77) count "$name" 0 0 1 $((SECONDS - began)) && echo "$name" >>build/skipped_tests ;;
    *) count "$name" 0 1 0 $((SECONDS - began)) && echo "$name" >>build/failed_tests ;;
  esac
}

# Returns 1 if a test failed.
print_summary() {
  printf '\n%s./dev test%s in %s\n' "$BOLD" "$PLAIN" "$(elapsed)"
  printf '  %s\n' "${SUMMARY[@]}"
  sort -u build/skipped_tests | sed 's/^/  skipped: /'
  sed 's/^/  failed: /' build/failed_tests
  cat build/*/failures.txt 2>/dev/null || true
  if [ "$FAILED" = 0 ]; then printf '%sall tests passed%s\n' "$GREEN" "$PLAIN"; else printf '%stests failed%s\n' "$RED" "$PLAIN"; fi
  printf '%d passed, %d failed, %d skipped\n' "$PASSED" "$FAILED" "$SKIPPED"
  [ "$FAILED" = 0 ]
}
