# ./dev lint: every program tools/checks/check_*. A new check needs no line here, unless it is slow.
# shellcheck shell=bash

readonly SLOW_CHECKS="check_android check_headers check_tidy"  # more than a minute: with --all only

# run_check CHECK ARGS...: one line with its seconds; all of its output if it fails.
run_check() {
  local check=$1 log="build/lint/$1.log" began=$SECONDS status=0
  shift
  printf '%-34s ' "$check"
  "tools/checks/$check" "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ $status = 0 ]; then
    printf '%sok%s %5d s  %s\n' "$GREEN" "$PLAIN" $((SECONDS - began)) "$(tail -n 1 "$log")"
  else
    printf '%sfailed%s after %d s:\n' "$RED" "$PLAIN" $((SECONDS - began))
    sed 's/^/  | /' "$log"
  fi
  return $status
}

# check_arguments CHECK: the arguments for it, one a line.
check_arguments() {
  case "$1" in
    check_exports) echo build/release/lib ;;
    check_android) [ -z "${JANKBOX_SOAK:-}" ] || printf '%s\n' --abi all ;;
  esac
}

command_lint() {
  local all='' status=0 path check arguments
  case "${1:-}" in --all) all=1 && shift ;; esac
  [ $# = 0 ] || fail "lint does not know $1; see ./dev lint --help" 2
  mkdir -p build/lint
  for path in tools/checks/check_*; do
    check=${path##*/}
    [ -n "$all" ] || case " $SLOW_CHECKS " in *" $check "*) continue ;; esac
    if [ "$check" = check_exports ] && [ ! -e build/release/lib/libjankbox.so ]; then
      printf '%-34s not run: build/release has no libjankbox.so\n' "$check"
      continue
    fi
    mapfile -t arguments < <(check_arguments "$check")
    run_check "$check" ${arguments[@]+"${arguments[@]}"} || status=1
  done
  return $status
}
