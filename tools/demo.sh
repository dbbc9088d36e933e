#!/usr/bin/env bash
# What `./dev demo` shows: jank in a GTK program that nobody here wrote, then planted faults in sample/, caught, explained and
# collected. REQUIRES a release build. usage: tools/demo.sh [--keep]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BIN=build/release/bin
readonly FOLDER=$PWD/build/demo
readonly GTK_SECONDS=15
# Less than a frame at 60 Hz: on a fast machine few of the program's dispatches are longer. The 700 ms of production would show nothing here.
readonly GTK_SLOW_MS=10

keep=0
for word in "$@"; do
  case $word in
    --keep) keep=1 ;;
    *) echo "demo: unknown option $word (only --keep is known)" >&2; exit 2 ;;
  esac
done

collector_pid='' xvfb_pid='' gtk_pid=''
cleanup() {
  [ -n "$gtk_pid" ] && kill "$gtk_pid" 2>/dev/null || true
  [ -n "$xvfb_pid" ] && kill "$xvfb_pid" 2>/dev/null || true
  if [ -n "$collector_pid" ] && [ "$keep" = 0 ]; then kill "$collector_pid" 2>/dev/null || true; fi
}
trap cleanup EXIT

say() { printf '\n== %s\n' "$*"; }
die() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# Waits until `file` holds `pattern`; 10 s at most.
wait_for() {
  local file=$1 pattern=$2
  for _ in $(seq 100); do
    grep -q "$pattern" "$file" 2>/dev/null && return 0
    sleep 0.1
  done
  return 1
}

start_collector() {
  "$BIN/jankbox-collector" --listen 127.0.0.1:0 --data "$FOLDER/collector" >"$FOLDER/collector.log" 2>&1 &
  collector_pid=$!
  wait_for "$FOLDER/collector.log" 'listening on' || die "the collector did not start: $(cat "$FOLDER/collector.log")"
  url=$(grep -o 'http://[^, ]*' "$FOLDER/collector.log" | head -1)
}

start_xvfb() {
  Xvfb -displayfd 3 -screen 0 1280x900x24 -nolisten tcp 3>"$FOLDER/display" 2>"$FOLDER/xvfb.log" &
  xvfb_pid=$!
  wait_for "$FOLDER/display" '[0-9]' || die "Xvfb did not start: $(cat "$FOLDER/xvfb.log")"
  export DISPLAY=":$(cat "$FOLDER/display")"
}

# Uses the program as a hasty person would: other pages, other sizes, menus, scrolling, typing.
drive_gtk() {
  local window end now
  for _ in $(seq 100); do
    window=$(xdotool search --onlyvisible --class gtk3-widget-factory 2>/dev/null | tail -1 || true)
    [ -n "$window" ] && break
    sleep 0.1
  done
  [ -n "$window" ] || die "gtk3-widget-factory showed no window: $(tail -3 "$FOLDER/gtk.log")"
  end=$((SECONDS + GTK_SECONDS))
  local step=0
  while [ $SECONDS -lt $end ]; do
    now=$((end - SECONDS))
    [ -t 1 ] && printf '\r   driving it with xdotool: %2d s left ' "$now"
    step=$((step + 1))
    xdotool windowsize "$window" $((900 + step % 3 * 150)) $((650 + step % 2 * 150)) || true
    xdotool mousemove --window "$window" $((380 + step % 3 * 90)) 25 click 1 || true
    sleep 0.3
    xdotool mousemove --window "$window" $((100 + step * 37 % 700)) $((120 + step * 53 % 450)) click 1 || true
    xdotool click 5 click 5 click 4 || true
    xdotool type --delay 5 'jank' || true
    xdotool key Escape || true
    sleep 0.3
  done
  [ -t 1 ] && printf '\r%60s\r' ''
  return 0
}

run_gtk() {
  "$BIN/jankbox" run --dir "$FOLDER/gtk" --slow-ms $GTK_SLOW_MS --upload "$url" -- \
    gtk3-widget-factory >"$FOLDER/gtk.log" 2> >(tee "$FOLDER/gtk.err" | grep --line-buffered '^jankbox:' >&2) &
  gtk_pid=$!
  drive_gtk
  # To the command, which passes it on to the program and ends after it, when all is uploaded.
  kill -TERM $gtk_pid
  wait $gtk_pid || true
  gtk_pid=''
}

run_sample() {
  "$BIN/looper_faults" --dir "$FOLDER/sample"
  "$BIN/jankbox" run --quiet --dir "$FOLDER/sample" --upload "$url" -- true
}

# `count FILTER`: how many reports the collector has that match.
count() { "$BIN/jankbox" list --json "$url" | jq "[.[] | select($1)] | length"; }

rm -rf "$FOLDER"
mkdir -p "$FOLDER"
start_collector
start_xvfb

say "gtk3-widget-factory under jankbox run, slow from $GTK_SLOW_MS ms, for $GTK_SECONDS s"
run_gtk

say 'sample/looper_faults: planted faults in messages of the real android::Looper, for about 15 s'
run_sample

say 'What was caught, as the collector lists it'
"$BIN/jankbox" list "$url"

gtk=$(count '.process | startswith("gtk3-widget-fac")')
named=$(count '(.process | startswith("gtk3-widget-fac")) and ([.top_frames[].function] | any(test("^_?(gtk|g_|gdk|cairo|pango)")))')
sample=$(count '.process == "looper_faults"')
[ "$gtk" -ge 3 ] || die "only $gtk incidents of gtk3-widget-factory were caught (log: $FOLDER/gtk.err)"
[ "$named" -ge 1 ] || die "no incident names a function of GTK, GLib, cairo or pango"
[ "$sample" -eq 4 ] || die "$sample of the 4 planted faults were caught"

worst=$("$BIN/jankbox" list --json "$url" | jq -r 'max_by(.duration_ms).id')
"$BIN/jankbox" show --from "$url" "$worst"
"$BIN/jankbox" export --from "$url" "$worst" -o "$FOLDER/worst.pftrace" --force

say "$gtk incidents of gtk3-widget-factory ($named name GTK's own functions), 4 of 4 planted faults"
echo "worst trace:  $FOLDER/worst.pftrace   (open it in https://ui.perfetto.dev)"
if [ "$keep" = 1 ]; then
  echo "collector:    $url   (runs as pid $collector_pid; kill it when you are done)"
else
  echo "collector:    $url   (stops now; ./dev demo --keep leaves it running)"
fi
