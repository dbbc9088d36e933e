#include "tests/tracer/snapshot/random_trace.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tracer/perfetto/event_sequence.h"

namespace jankbox::testing {
namespace {

uint64_t Below(Random* random, uint64_t limit) { return (*random)() % limit; }

std::string Words(Random* random, size_t bytes) {
  static constexpr const char* kWords[] = {
      "layout", "Window", "render::", "Paint", "a", "::update"};
  std::string text;
  while (text.size() < bytes) text += kWords[Below(random, std::size(kWords))];
  return text;
}

}  // namespace

std::string SliceTrace(Random* random, size_t bytes) {
  std::string out;
  PacketWriter writer([&](std::string_view piece) {
    out += piece;
    return Status::Ok();
  });
  EventSequence sequence(&writer, {.sequence_id = static_cast<uint32_t>(Below(random, 400) + 1),
                                   .unit_ns = Below(random, 2) == 0 ? 1u : 128u});
  uint64_t now = Below(random, uint64_t{1} << 40);
  sequence.Start(now);
  std::vector<uint64_t> iids;
  while (writer.bytes() < bytes) {
    now += Below(random, uint64_t{1} << Below(random, 20));
    if (iids.empty() || Below(random, 50) == 0) iids.push_back(sequence.AddName(Words(random, 30)));
    if (Below(random, 2) == 0) {
      sequence.Begin(now, Category::kMethod, iids[Below(random, iids.size())]);
    } else {
      sequence.End(now);
    }
  }
  if (!writer.Finish().ok()) abort();
  return out;
}

std::string TextTrace(Random* random, size_t bytes) {
  std::string out;
  while (out.size() < bytes) {
    const std::string text = Words(random, Below(random, 20) == 0 ? Below(random, 9000) : 100);
    uint8_t head[16] = {0x0a};
    const uint8_t* const end = WriteVarint(head + 1, text.size());
    out.append(reinterpret_cast<const char*>(head), static_cast<size_t>(end - head)).append(text);
  }
  return out;
}

std::string MixedTrace(Random* random, size_t bytes) {
  std::string out;
  while (out.size() < bytes) {
    const size_t run = Below(random, 40) == 0 ? Below(random, 200'000) : Below(random, 600);
    const uint64_t kind = Below(random, 64);
    if (kind < 4) {
      out += TextTrace(random, run);
    } else if (kind < 8) {
      out.append(run, static_cast<char>(Below(random, 256)));
    } else if (kind == 8) {
      for (size_t i = 0; i < run; ++i) out += static_cast<char>(Below(random, 256));
    } else {
      out += SliceTrace(random, run).substr(0, run);
    }
  }
  out.resize(bytes);
  return out;
}

}  // namespace jankbox::testing
