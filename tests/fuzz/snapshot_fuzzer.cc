// Any window at all must make a snapshot without a crash, and every begin its end: the encoder sees
// rings that dead processes left.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/perfetto/trace_reader.h"
#include "tracer/snapshot/snapshot.h"

namespace {

// Takes values off the front of the input; zeros once it is used up.
class Input {
 public:
  Input(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}

  template <typename T>
  T Take() {
    T value{};
    const size_t size = left_ < sizeof(T) ? left_ : sizeof(T);
    memcpy(&value, bytes_, size);
    bytes_ += size;
    left_ -= size;
    return value;
  }
  bool empty() const { return left_ == 0; }

 private:
  const uint8_t* bytes_;
  size_t left_;
};

jankbox::WindowChunk TakeChunk(Input* input) {
  jankbox::WindowChunk chunk;
  const uint8_t flags = input->Take<uint8_t>();
  chunk.base_ticks = (flags & 1) != 0 ? input->Take<uint64_t>() : input->Take<uint16_t>();
  chunk.gap_before = (flags & 2) != 0;
  if ((flags & 4) != 0) chunk.open_calls_truncated = input->Take<uint32_t>();
  for (uint8_t n = flags >> 6; n > 0; --n) {
    const auto kind = static_cast<jankbox::EventKind>(input->Take<uint8_t>() & 15);
    chunk.open_calls.push_back({input->Take<uint8_t>(), kind, input->Take<uint16_t>()});
  }
  for (uint8_t n = input->Take<uint8_t>(); n > 0 && !input->empty(); --n) {
    chunk.words.push_back(input->Take<uint64_t>());
  }
  return chunk;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  jankbox::RingWindow window;
  window.from_ticks = input.Take<uint16_t>();
  window.to_ticks = window.from_ticks + input.Take<uint32_t>();
  const uint32_t unit_ns = (input.Take<uint8_t>() & 1) != 0 ? 128 : 1;
  while (!input.empty()) {
    const uint8_t tid_and_lane = input.Take<uint8_t>();
    const int32_t tid = tid_and_lane & 127;
    if (window.threads.empty() || window.threads.back().tid != tid) {
      window.threads.push_back({.tid = tid, .name = "fuzz"});
    }
    jankbox::WindowThread& thread = window.threads.back();
    ((tid_and_lane & 128) != 0 ? thread.markers : thread.chunks).push_back(TakeChunk(&input));
  }
  jankbox::MethodNames names;
  names.Set(1, "named");
  jankbox::SnapshotInput snapshot;
  snapshot.window = &window;
  snapshot.names = &names;
  snapshot.process = {.pid = 1, .name = "fuzz"};
  snapshot.time_unit_ns = unit_ns;
  std::string file;
  const jankbox::Result<jankbox::SnapshotStats> stats =
      jankbox::WriteSnapshot(snapshot, [&](std::string_view piece) {
        file += piece;
        return jankbox::Status::Ok();
      });
  if (!stats.ok()) abort();
  std::string error;
  const jankbox::testing::TraceContent trace = jankbox::testing::ReadTrace(file, &error);
  if (!error.empty() || trace.slices.size() != stats.value().slices) abort();
  return 0;
}
