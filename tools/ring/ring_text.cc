#include "tools/ring/ring_text.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

#include "tools/terminal/table.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

std::string TextOf(const json& object, const char* key) {
  return Printable(object.at(key).get<std::string>());
}

std::string Number(const json& value) { return value.dump(); }

std::string Line(const TextStyle& style, std::string label, const std::string& value) {
  constexpr size_t kLabelWidth = 10;
  label.resize(std::max(kLabelWidth, label.size()), ' ');
  return Paint(style, Colour::kBold, label) + value + "\n";
}

std::string Milliseconds(double ms) {
  char text[64];
  snprintf(text, sizeof(text), "%.6f ms", ms);
  return text;
}

// Of `ticks`, counted from the ring's end: 0 or before it.
std::string BeforeEnd(const json& clock, const json& ticks) {
  const auto behind =
      static_cast<int64_t>(ticks.get<uint64_t>() - clock.at("end_ticks").get<uint64_t>());
  return Milliseconds(static_cast<double>(behind) * clock.at("ns_per_tick").get<double>() / 1e6);
}

std::string WallTime(const json& realtime_ns) {
  const auto seconds = static_cast<time_t>(realtime_ns.get<uint64_t>() / 1'000'000'000);
  tm local{};
  char text[64];
  if (localtime_r(&seconds, &local) == nullptr) return "an unknown time";
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

std::string Process(const json& process) {
  std::string text = TextOf(process, "name") + " (pid " + Number(process.at("pid")) + ")";
  const std::string app = TextOf(process, "app_name");
  if (!app.empty()) text += ", app " + app + " " + TextOf(process, "app_version");
  const std::string loop = TextOf(process, "loop");
  if (!loop.empty()) text += ", loop " + loop;
  return text + ", boot " + TextOf(process, "boot_id");
}

std::string Clock(const json& clock) {
  char rate[64];
  snprintf(rate, sizeof(rate), "%.6f ns a tick", clock.at("ns_per_tick").get<double>());
  std::string text = TextOf(clock, "source") + ", " + rate;
  if (clock.at("ns_per_tick_measured_now") == true) {
    text += " (measured now: the ring has only one reading)";
  }
  return text + ", started " + WallTime(clock.at("start").at("realtime_ns"));
}

std::string Modes(const json& ring) {
  std::string text;
  for (const json& mode : ring.at("modes")) {
    text += (text.empty() ? "" : "; ") + TextOf(mode, "mode") + " from " +
            BeforeEnd(ring.at("clock"), mode.at("from_ticks")) + " (" + TextOf(mode, "reason") +
            ")";
  }
  return text.empty() ? "exact" : text;
}

std::string Losses(const json& losses) {
  std::string text;
  for (const auto& [name, count] : losses.items()) {
    if (count == 0) continue;
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + Number(count) + " " + words;
  }
  return text.empty() ? "nothing lost" : text;
}

std::string Head(const TextStyle& style, const std::string& path, const json& ring) {
  char bytes[64];
  snprintf(bytes, sizeof(bytes), "%.1f MiB",
           static_cast<double>(ring.at("file_bytes").get<uint64_t>()) / (1 << 20));
  std::string text = Paint(style, Colour::kBold, Printable(path)) + "  " + TextOf(ring, "state") +
                     ", " + bytes + ", version " + Number(ring.at("version")) + "\n\n";
  text += Line(style, "Process", Process(ring.at("process")));
  text += Line(style, "Clock", Clock(ring.at("clock")));
  char window[96];
  snprintf(window, sizeof(window), "%.3f s, slow from %.0f ms",
           static_cast<double>(ring.at("window_ns").get<uint64_t>()) / 1e9,
           static_cast<double>(ring.at("slow_threshold_ns").get<uint64_t>()) / 1e6);
  text += Line(style, "Window", window);
  text += Line(style, "Recording", Modes(ring));
  text += Line(style, "Chunks",
               Number(ring.at("chunk_count")) + ", " + Number(ring.at("chunks_ready")) +
                   " with space, " + std::to_string(ring.at("chunks").size()) + " in use");
  text += Line(style, "Losses", Losses(ring.at("losses")));
  for (const json& watched : ring.at("watched")) {
    const bool running = watched.at("dispatch_begin_ticks") != 0;
    text += Line(style, "Watched",
                 "tid " + Number(watched.at("tid")) + ", " + Number(watched.at("dispatch_count")) +
                     " dispatches, " +
                     (running ? "in \"" + TextOf(watched, "what") + "\" since " +
                                    BeforeEnd(ring.at("clock"), watched.at("dispatch_begin_ticks"))
                              : "waiting"));
  }
  for (const json& incident : ring.at("incidents")) {
    text += Line(style, "Incident", TextOf(incident, "id") + ", " + TextOf(incident, "state"));
  }
  return text + "\n";
}

std::string ThreadTable(const TextStyle& style, const json& ring) {
  Table table({{.title = "TID", .right_aligned = true},
               {.title = "SERIAL", .drop_order = 2, .right_aligned = true},
               {.title = "THREAD", .min_width = 8},
               {.title = "SHARE", .drop_order = 1},
               {.title = "CHUNKS", .right_aligned = true},
               {.title = "WORDS", .right_aligned = true},
               {.title = "BEFORE", .right_aligned = true},
               {.title = "MISSING", .right_aligned = true},
               {.title = "MARKERS", .drop_order = 3, .right_aligned = true},
               {.title = "OPEN CALLS", .min_width = 10}});
  for (const json& thread : ring.at("threads")) {
    std::string open;
    for (const json& call : thread.at("open_calls")) {
      const std::string name = call.contains("name") ? TextOf(call, "name")
                               : call.at("id") == 0  ? "(dispatch)"
                                                     : "id " + Number(call.at("id"));
      open += (open.empty() ? "" : " > ") + name;
    }
    table.AddRow({{Number(thread.at("tid"))},
                  {Number(thread.at("serial"))},
                  {TextOf(thread, "name"), Colour::kCyan},
                  {thread.at("watched") == true ? "watched" : "shared"},
                  {Number(thread.at("chunks"))},
                  {Number(thread.at("words"))},
                  {Number(thread.at("words_before"))},
                  {Number(thread.at("words_missing"))},
                  {Number(thread.at("markers").at("event_count"))},
                  {open}});
  }
  return table.Render(style) + "\n";
}

std::string ChunkTable(const TextStyle& style, const json& ring) {
  Table table({{.title = "CHUNK", .right_aligned = true},
               {.title = "SEQUENCE", .right_aligned = true},
               {.title = "STATE"},
               {.title = "LANE", .drop_order = 3},
               {.title = "TID", .right_aligned = true},
               {.title = "NTH", .right_aligned = true},
               {.title = "OPEN", .drop_order = 2, .right_aligned = true},
               {.title = "WORDS", .right_aligned = true},
               {.title = "BEGINS", .right_aligned = true},
               {.title = "CHECKSUM", .drop_order = 1}});
  for (const json& chunk : ring.at("chunks")) {
    const bool wrong = chunk.at("checksum") == "wrong";
    table.AddRow({{Number(chunk.at("index"))},
                  {Number(chunk.at("sequence"))},
                  {TextOf(chunk, "state")},
                  {TextOf(chunk, "lane")},
                  {Number(chunk.at("tid"))},
                  {Number(chunk.at("thread_chunk_index"))},
                  {Number(chunk.at("open_calls"))},
                  {Number(chunk.at("words"))},
                  {BeforeEnd(ring.at("clock"), chunk.at("base_ticks"))},
                  {TextOf(chunk, "checksum"), wrong ? Colour::kRed : Colour::kNone}});
  }
  return table.Render(style);
}

std::string EventLine(const TextStyle& style, const json& clock, const json& event) {
  std::string time = BeforeEnd(clock, event.at("ticks"));
  std::string kind = TextOf(event, "kind");
  time.insert(0, 18 - std::min<size_t>(18, time.size()), ' ');
  kind.resize(std::max<size_t>(kind.size(), 15), ' ');
  std::string what;
  if (event.contains("text")) {
    what = TextOf(event, "text");
  } else if (event.contains("name")) {
    what = TextOf(event, "name");
  } else if (event.contains("id")) {
    what = "id " + Number(event.at("id"));
  }
  if (event.contains("value")) what += " = " + Number(event.at("value"));
  if (event.contains("cookie")) what += " cookie " + Number(event.at("cookie"));
  if (event.contains("payload")) {
    for (const json& word : event.at("payload")) what += (what.empty() ? "" : " ") + Number(word);
  }
  return Paint(style, Colour::kDim, time) + "  " + Paint(style, Colour::kCyan, kind) + " " + what +
         "\n";
}

}  // namespace

std::string RenderRing(const TextStyle& style, const std::string& path, const json& ring) {
  std::string text = Head(style, path, ring);
  if (ring.at("threads").empty()) return text + "No thread has recorded anything.\n";
  text += ThreadTable(style, ring) + ChunkTable(style, ring);
  for (const json& thread : ring.at("threads")) {
    if (!thread.contains("events")) continue;
    text += "\n" + Paint(style, Colour::kBold, TextOf(thread, "name")) + " (tid " +
            Number(thread.at("tid")) + "), the last " + std::to_string(thread.at("events").size()) +
            " of " + Number(thread.at("event_count")) + " events, by time before the ring's end\n";
    for (const json& event : thread.at("events")) {
      text += EventLine(style, ring.at("clock"), event);
    }
    const json& markers = thread.at("markers");
    if (markers.at("events").empty()) continue;
    text += "  the last " + std::to_string(markers.at("events").size()) + " of " +
            Number(markers.at("event_count")) + " markers, waits and names\n";
    for (const json& event : markers.at("events")) {
      text += EventLine(style, ring.at("clock"), event);
    }
  }
  return text;
}

}  // namespace jankbox::tools
