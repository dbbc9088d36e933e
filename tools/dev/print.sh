# What ./dev prints: colours, errors, one line for each stage.
# shellcheck shell=bash

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  RED=$'\e[31m' GREEN=$'\e[32m' BOLD=$'\e[1m' PLAIN=$'\e[0m'
else
  RED='' GREEN='' BOLD='' PLAIN=''
fi

fail() { printf '%serror:%s %s\n' "$RED" "$PLAIN" "$1" >&2; exit "${2:-1}"; }

# stage LABEL LOG COMMAND...: prints one line, writes the output to LOG, and prints the end of LOG if COMMAND fails.
stage() {
  local label=$1 log=$2 began=$SECONDS
  shift 2
  printf '%-34s ' "$label"
  if "$@" >>"$log" 2>&1 </dev/null; then
    printf '%sok%s %5d s\n' "$GREEN" "$PLAIN" $((SECONDS - began))
    return 0
  fi
  printf '%sfailed%s after %d s; the end of %s:\n' "$RED" "$PLAIN" $((SECONDS - began)) "$log"
  tail -n 40 "$log" | sed 's/^/  | /'
  return 1
}

# have PROGRAM...: all of them are here.
have() {
  local program
  for program; do command -v "$program" >/dev/null || return 1; done
}

elapsed() { printf '%d min %d s' $((SECONDS / 60)) $((SECONDS % 60)); }
