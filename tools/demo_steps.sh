# Steps that tools/demo.sh and tools/screenshot share: a collector, a virtual display, and a GTK program that xdotool drives.
# Sourced by both. REQUIRES a release build, and BIN (folder of the programs) and FOLDER (for logs and reports).
readonly GTK_SECONDS=15
# Less than a frame at 60 Hz: on a fast machine few of the program's dispatches take longer. The default of `jankbox run`, 100 ms,
# would record nothing here.
readonly GTK_SLOW_MS=10

collector_pid='' xvfb_pid='' gtk_pid=''
stop_programs() {
  [ -n "$gtk_pid" ] && kill "$gtk_pid" 2>/dev/null || true
  [ -n "$xvfb_pid" ] && kill "$xvfb_pid" 2>/dev/null || true
  if [ -n "$collector_pid" ] && [ "${KEEP_COLLECTOR:-0}" = 0 ]; then kill "$collector_pid" 2>/dev/null || true; fi
}
trap stop_programs EXIT

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Waits until FILE contains PATTERN, for 10 s at most.
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

# Uses the program as a hurried user does: switches pages, resizes, scrolls, clicks and types.
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
  # `jankbox run` forwards the signal to the program, uploads the reports and exits.
  kill -TERM $gtk_pid
  wait $gtk_pid || true
  gtk_pid=''
}
