#!/usr/bin/env bash
# `./dev demo`: records jank in gtk3-widget-factory and planted faults in sample/, sends the reports to a collector and prints them.
# REQUIRES a release build. usage: tools/demo.sh [--keep]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BIN=build/release/bin
readonly FOLDER=$PWD/build/demo

KEEP_COLLECTOR=0
for word in "$@"; do
  case $word in
    --keep) KEEP_COLLECTOR=1 ;;
    *) echo "demo: unknown option $word (the only option is --keep)" >&2; exit 2 ;;
  esac
done

# shellcheck source=tools/demo_steps.sh
. tools/demo_steps.sh

run_sample() {
  "$BIN/looper_faults" --dir "$FOLDER/sample"
  "$BIN/jankbox" run --quiet --dir "$FOLDER/sample" --upload "$url" -- true
}

# count FILTER: prints how many of the collector's reports match.
count() { "$BIN/jankbox" list --json "$url" | jq "[.[] | select($1)] | length"; }

rm -rf "$FOLDER"
mkdir -p "$FOLDER"
start_collector
start_xvfb

say "gtk3-widget-factory under jankbox run, threshold $GTK_SLOW_MS ms, for $GTK_SECONDS s"
run_gtk

say 'sample/looper_faults: faults in messages of the real android::Looper, about 15 s'
run_sample

say 'The reports that the collector received'
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
if [ "$KEEP_COLLECTOR" = 1 ]; then
  echo "collector:    $url   (process $collector_pid; kill it when you are done)"
else
  echo "collector:    $url   (stops now; ./dev demo --keep keeps it running)"
fi
