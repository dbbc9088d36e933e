#include "tools/ring/ring_threads.h"

#include <algorithm>
#include <cstdio>
#include <deque>

namespace jankbox::tools {
namespace {

using nlohmann::json;

const char* KindName(EventKind kind) {
  switch (kind) {
    case EventKind::kBegin:
      return "begin";
    case EventKind::kEnd:
      return "end";
    case EventKind::kAsyncBegin:
      return "async_begin";
    case EventKind::kAsyncEnd:
      return "async_end";
    case EventKind::kCounter:
      return "counter";
    case EventKind::kInstant:
      return "instant";
    case EventKind::kDispatchBegin:
      return "dispatch_begin";
    case EventKind::kDispatchEnd:
      return "dispatch_end";
    case EventKind::kFrame:
      return "frame";
    case EventKind::kStackSample:
      return "stack_sample";
    case EventKind::kMarker:
      return "marker";
    case EventKind::kWait:
      return "wait";
    case EventKind::kThread:
      return "thread";
    default:
      return "unknown";
  }
}

void SetName(json* object, const RingNames& names, uint32_t id) {
  const auto found = names.find(id);
  if (found != names.end()) (*object)["name"] = found->second;
}

json MarkerJson(const EventRecord& event) {
  json object = {{"ticks", event.ticks}, {"kind", KindName(event.kind)}};
  if (event.kind == EventKind::kMarker) {
    object["carried"] = (event.id & kCarriedMarker) != 0;
    object["text"] = MarkerText(event);
    return object;
  }
  object["id"] = event.id;
  object["payload"] = json::array();
  for (uint64_t word : event.payload) object["payload"].push_back(PayloadOf(word));
  return object;
}

json EventJson(const EventRecord& event, const RingNames& names) {
  json object = {{"ticks", event.ticks}, {"kind", KindName(event.kind)}};
  switch (event.kind) {
    case EventKind::kDispatchBegin:
      object["name"] = DispatchName(event);
      break;
    case EventKind::kCounter:
      object["value"] = static_cast<int64_t>(JoinPayload(event.payload[0], event.payload[1]));
      break;
    case EventKind::kAsyncBegin:
    case EventKind::kAsyncEnd:
      object["cookie"] = JoinPayload(event.payload[0], event.payload[1]);
      break;
    case EventKind::kFrame:
      object["id"] = event.id;
      [[fallthrough]];
    case EventKind::kStackSample:
      for (uint64_t word : event.payload) object["payload"].push_back(PayloadOf(word));
      break;
    default:
      break;
  }
  const bool named = event.kind != EventKind::kDispatchBegin &&
                     event.kind != EventKind::kDispatchEnd && event.kind != EventKind::kFrame &&
                     event.kind != EventKind::kStackSample;
  if (named) {
    object["id"] = event.id;
    SetName(&object, names, event.id);
  }
  return object;
}

// The calls that are open after `event`: an end closes its own begin and what was left above it.
void Apply(const EventRecord& event, std::vector<OpenCall>* open) {
  const bool method = event.kind == EventKind::kBegin || event.kind == EventKind::kEnd;
  const uint32_t id = method ? event.id : 0;
  const EventKind begin = method ? EventKind::kBegin : EventKind::kDispatchBegin;
  if (event.kind == begin) {
    open->push_back({id, begin, event.ticks});
  } else if (event.kind == EventKind::kEnd || event.kind == EventKind::kDispatchEnd) {
    const auto match = std::find_if(
        open->rbegin(), open->rend(),
        [id, begin](const OpenCall& call) { return call.id == id && call.kind == begin; });
    if (match != open->rend()) open->erase(match.base() - 1, open->end());
  }
}

json OpenCallsJson(const std::vector<OpenCall>& calls, const RingNames& names) {
  json array = json::array();
  for (const OpenCall& call : calls) {
    json object = {{"ticks", call.ticks}, {"kind", KindName(call.kind)}, {"id", call.id}};
    SetName(&object, names, call.id);
    array.push_back(std::move(object));
  }
  return array;
}

// The events of the marker lane, the last `events_per_thread` of them in full.
json MarkersJson(const WindowThread& thread, size_t events_per_thread, RingThreads* sums,
                 uint64_t* torn) {
  uint64_t count = 0;
  std::deque<json> last;
  for (const WindowChunk& chunk : thread.markers) {
    EventCursor cursor(chunk);
    EventRecord event;
    while (cursor.Next(&event)) {
      ++count;
      sums->newest_ticks = std::max(sums->newest_ticks, event.ticks);
      if (events_per_thread == 0) continue;
      if (last.size() == events_per_thread) last.pop_front();
      last.push_back(MarkerJson(event));
    }
    *torn += cursor.torn() ? 1 : 0;
  }
  sums->words_missing += thread.marker_words_missing;
  json object = {{"chunks", thread.markers.size()},
                 {"words_before", thread.marker_words_before},
                 {"words_missing", thread.marker_words_missing},
                 {"event_count", count}};
  if (events_per_thread > 0) object["events"] = std::vector<json>(last.begin(), last.end());
  return object;
}

json ThreadJson(const WindowThread& thread, const RingNames& names, size_t events_per_thread,
                RingThreads* sums) {
  uint64_t words = 0, count = 0, torn = 0;
  std::deque<json> last;
  std::vector<OpenCall> open;
  for (const WindowChunk& chunk : thread.chunks) {
    words += chunk.words.size();
    if (&chunk == &thread.chunks.front() || chunk.gap_before) open = chunk.open_calls;
    EventCursor cursor(chunk);
    EventRecord event;
    while (cursor.Next(&event)) {
      ++count;
      Apply(event, &open);
      sums->newest_ticks = std::max(sums->newest_ticks, event.ticks);
      if (events_per_thread == 0) continue;
      if (last.size() == events_per_thread) last.pop_front();
      last.push_back(EventJson(event, names));
    }
    torn += cursor.torn() ? 1 : 0;
  }
  const json markers = MarkersJson(thread, events_per_thread, sums, &torn);
  sums->words_missing += thread.words_missing;
  sums->torn_events += torn;
  json object = {{"tid", thread.tid},
                 {"serial", thread.serial},
                 {"name", thread.name},
                 {"watched", thread.ui},
                 {"chunks", thread.chunks.size()},
                 {"words", words},
                 {"words_before", thread.words_before},
                 {"words_missing", thread.words_missing},
                 {"event_count", count},
                 {"torn_events", torn},
                 {"markers", markers},
                 {"open_calls", OpenCallsJson(open, names)}};
  if (events_per_thread > 0) object["events"] = std::vector<json>(last.begin(), last.end());
  return object;
}

}  // namespace

RingNames NamesOf(const RingReader& reader) {
  RingNames names;
  for (MethodRegistry::Entry& entry : reader.Names()) {
    if (entry.name.empty() && entry.address != 0) {
      char text[32];
      snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(entry.address));
      entry.name = text;
    }
    names[entry.id] = std::move(entry.name);
  }
  return names;
}

RingThreads ThreadsOf(const RingWindow& window, const RingNames& names, size_t events_per_thread) {
  RingThreads sums;
  for (const WindowThread& thread : window.threads) {
    sums.threads.push_back(ThreadJson(thread, names, events_per_thread, &sums));
  }
  return sums;
}

}  // namespace jankbox::tools
