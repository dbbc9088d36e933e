# ./dev test: which stages there are, and their order.
# shellcheck shell=bash

readonly TEST_FUZZ_SECONDS=10
readonly RACE_SUITES="ring_test ring_faults_test hook_test hook_storm_test interpose_test rename_race_test fork_kinds_linked"
# The arguments of the clang build of ./dev test --all: what has locks, and the tests that use them. With --soak it builds all.
readonly CLANG_TARGETS="base/all monitors/all tracer/all diagnosis/all report/all sdk/all symbolize/all uploader/all collector/all base_test interpose_test"
# Under ASan and UBSan ./dev test --all builds and tests what runs inside an app and what reads files that may come from anywhere.
# With --soak, and ./dev test --all ARGS, all else, too: the command, and programs with it.
readonly ASAN_FOLDERS="base report tracer monitors uploader diagnosis sdk symbolize collector perfetto fakes"
readonly ASAN_WITHOUT='_e2e_test|^tools_|^importer|^android_|^binder_|^check/|^zoo|independent_reader'
# The arm64 suites of ./dev test --all: the clock, the ring's checksums, thread values, slots, stacks. ./dev arm64 runs all.
readonly TEST_ARM64_SUITES="base_test clock_test event_test hook_elf_test unwind_test"

# build_and_run_suite PRESET CTEST-ARGS...: two stages, its build and its tests.
build_and_run_suite() {
  local preset=$1 failed_before=$FAILED
  part "$preset build" build "$preset"
  [ "$FAILED" != "$failed_before" ] || run_suite "$@"
}

# Ring, hooks and interposed functions under TSan, because many threads write them at once. Tests that kill and fork, and
# tests that misuse locks on purpose, cannot run there.
run_race_checks() {
  local log=build/tsan/ring.log
  # shellcheck disable=SC2086
  build tsan $RACE_SUITES || return 1
  : >"$log"
  stage "ring under TSan" "$log" build/tsan/bin/ring_test --gtest_filter='-RingReader*:RingGolden*:RingDocument*:OpenCall*' &&
    stage "churn and restart under TSan" "$log" build/tsan/bin/ring_faults_test --gtest_filter='ThreadChurn*:ThreadExit*' &&
    stage "hooks under TSan" "$log" build/tsan/bin/hook_test --gtest_filter='-*Fork*:*DeathTest*' &&
    stage "hook storm under TSan" "$log" build/tsan/bin/hook_storm_test --gtest_filter='-HookForks*' &&
    stage "interposed functions under TSan" "$log" build/tsan/bin/interpose_test --gtest_filter='-LockDifferential*:*Fork*' &&
    stage "renamed loops under TSan" "$log" build/tsan/bin/rename_race_test &&
    stage "500 children under TSan" "$log" run_children_under_tsan
}

run_children_under_tsan() {
  local reports said
  reports=$(mktemp -d)
  said=$(JANKBOX_DIR=$reports TSAN_OPTIONS=die_after_fork=0 build/tsan/bin/fork_kinds_linked 504 forks)
  rm -rf "$reports"
  echo "$said"
  [ "$said" = "lost 0" ]
}

run_arm64_part() {
  if [ -n "${JANKBOX_SOAK:-}" ]; then
    run_arm64_suites && run_arm64_library
  else
    # shellcheck disable=SC2086
    run_arm64_suites $TEST_ARM64_SUITES
  fi
}

# Clang checks the locks (-Wthread-safety).
run_clang_build() {
  # shellcheck disable=SC2086
  if [ -n "${JANKBOX_SOAK:-}" ]; then build clang; else build clang $CLANG_TARGETS; fi
}

run_asan_part() {
  local failed_before=$FAILED targets=() folder
  if [ -n "${JANKBOX_SOAK:-}" ]; then
    build_and_run_suite asan-ubsan
    return
  fi
  for folder in $ASAN_FOLDERS; do targets+=("tests/$folder/all"); done
  part "asan-ubsan build" build asan-ubsan "${targets[@]}"
  [ "$FAILED" != "$failed_before" ] || run_suite asan-ubsan --exclude-regex "$ASAN_WITHOUT"
}

# Installs the package in a fresh Debian and runs the commands of README.md there.
run_package_test() { tests/tools/package/package_test.py build/release; }

# The stages that --all adds after the tests of the release preset and lint.
run_other_stages() {
  part clang run_clang_build
  run_asan_part
  part tsan run_race_checks
  part arm64 run_arm64_part
  part package run_package_test
  part fuzz command_fuzz "$TEST_FUZZ_SECONDS"
}

command_test() {
  local all=''
  while true; do
    case "${1:-}" in
      --all) all=--all && export JANKBOX_TEST_ALL=1 && shift ;;
      --soak) export JANKBOX_SOAK=1 && shift ;;
      *) break ;;
    esac
  done
  setup_unless_skipped build demo test
  mkdir -p build && : >build/skipped_tests && : >build/failed_tests
  rm -f build/*/failures.txt
  build_and_run_suite release "$@"
  if [ $# != 0 ]; then
    [ -z "$all" ] || build_and_run_suite asan-ubsan "$@"
  else
    # shellcheck disable=SC2086
    part lint command_lint $all
    [ -z "$all" ] || run_other_stages
  fi
  print_summary
}
