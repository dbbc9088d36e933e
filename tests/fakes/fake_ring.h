// A ring in memory whose ticks are nanoseconds, and the slots of its watched threads as the threads
// themselves would write them, at moments that the test names.
#ifndef JANKBOX_TESTS_FAKES_FAKE_RING_H_
#define JANKBOX_TESTS_FAKES_FAKE_RING_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "tracer/ring/ring_file.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

class FakeRing {
 public:
  explicit FakeRing(uint32_t bytes = 1 << 20);

  RingFile* file() { return file_.get(); }
  RingHeader* header() { return file_->mutable_header(); }

  // Thread `tid` takes slot `index`.
  void Watch(size_t index, int32_t tid);
  // Its loop takes a message, and is done with it.
  void BeginDispatch(size_t index, std::string_view name, uint64_t now_ns);
  void EndDispatch(size_t index, uint64_t now_ns);
  // One that began and ended between two looks.
  void Dispatch(size_t index, std::string_view name, uint64_t from_ns, uint64_t to_ns);

  // What the threads of `window` recorded, as chunks that they are done with.
  void Store(const RingWindow& window);

  // A dispatch that takes as long is noted as slow when it ends.
  uint64_t slow_ns = 700'000'000;

 private:
  void StoreChunk(const WindowThread& thread, const WindowChunk& chunk, RingLane lane,
                  uint32_t index);

  std::unique_ptr<RingFile> file_;
  uint32_t stored_ = 0;  // chunks
};

// Words of a name, as a slot has them.
void StoreName(std::string_view name, std::atomic<uint64_t>* words, size_t count);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_FAKES_FAKE_RING_H_
