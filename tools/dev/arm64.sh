# ./dev arm64: the unit tests of the in-app code for arm64 Linux, under qemu-user.
# shellcheck shell=bash

# Unit tests for arm64, all or the named ones. Skipped, and listed as such, if the packages cannot be downloaded.
run_arm64_suites() {
  local log=build/arm64-test.log status=0 targets=("$@")
  have aarch64-linux-gnu-g++ qemu-aarch64 || fail "no cross compiler or no qemu-aarch64 here: run ./dev setup first"
  tools/cross_packages arm64 >build/cross_packages.log || status=$?
  if [ "$status" = 77 ]; then
    tail -n 1 build/cross_packages.log
    echo "arm64: its packages cannot be had" >>build/skipped_tests
    return 0
  fi
  [ $# != 0 ] || targets=(tests/all)
  build arm64-test "${targets[@]}" || return 1
  python3 -B tests/arm64/run_suites.py --native build/release --filter "${ARM64_FILTER:-*}" build/arm64-test "$@" | tee -a "$log"
}

run_arm64_library() {
  build linux-arm64 jankbox jankbox_agent && tools/checks/check_exports build/linux-arm64/lib
}

command_arm64() {
  local suites=() ARM64_FILTER=''
  while [ $# -gt 0 ]; do
    local argument=$1
    shift
    case "$argument" in
      --filter) [ $# -gt 0 ] || fail "--filter needs a pattern" 2; ARM64_FILTER=$1; shift ;;
      --filter=*) ARM64_FILTER=${argument#*=} ;;
      -*) fail "unknown option $argument: ./dev arm64 --help lists them" 2 ;;
      *) suites+=("$argument") ;;
    esac
  done
  setup_unless_skipped build test
  run_arm64_suites ${suites[@]+"${suites[@]}"} || return 1
  [ "${#suites[@]}" != 0 ] || [ -n "$ARM64_FILTER" ] || run_arm64_library
}
